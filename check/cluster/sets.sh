#!/usr/bin/env bash
# Grow-only sets on several dispatchers: timed as on one; eventual and static end merged, and say that they are not
# reproducible; what is told is what is new.   sets.sh BUILD
set -euo pipefail
build=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# run SYNC DISPATCHERS THREADS: the line of --json
run() {
    timeout 120 "$build/bin/nima" run randomwalk -p "sync=$1" -p size=80 -p walkers=3500 -p max_steps=600 --seed 5 \
        --dispatchers "$2" --threads "$3" --json --quiet --out "$folder/$1-$2-$3" 2>"$folder/errors" | tail -n 1 \
        || head -n 1 "$folder/errors"
}

{ for sync in timed eventual static; do
    for layout in "1 1" "1 2" "2 1" "4 2"; do
        read -r dispatchers threads <<<"$layout"
        echo "$sync $dispatchers $threads $(run "$sync" "$dispatchers" "$threads")"
    done
done; } | python3 -c '
import json, sys
runs, wrong = {}, []
for line in sys.stdin:
    sync, dispatchers, threads, text = line.split(" ", 3)
    key = sync, int(dispatchers), int(threads)
    try: runs[key] = json.loads(text)
    except ValueError: sys.exit("%s %s %s: %s" % (sync, dispatchers, threads, text))
def expect(what, key):
    if not what: wrong.append((key, runs[key]))
for key, run in runs.items():
    sync, dispatchers, threads = key
    results, others = run["results"], dispatchers - 1
    expect(run["reproducible"] == (sync == "timed" or dispatchers * threads == 1), key)
    expect(results["boundary"] + results["neighbor"] + results["touched"] + results["max"] == 3500, key)
    expect(results["isolated"] == 0, key)
    expect(results["black"] <= results["neighbor"] + 1, key)
    if sync == "timed":
        expect(run["fingerprint"] == runs["timed", 1, 1]["fingerprint"], key)
        expect(results["grid_hash"] == runs["timed", 1, 1]["results"]["grid_hash"], key)
    if sync == "static": expect(results["broadcasts"] == 0, key)
    else:                                    # each black pixel once at least, and never more than once in each replica
        expect(results["broadcasts"] % others == 0 if others else results["broadcasts"] == 0, key)
        expect((results["black"] - 1) * others <= results["broadcasts"] <= (results["black"] - 1) * others * dispatchers, key)
# walkers who do not hear of the others meet fewer black pixels
expect(runs["static", 4, 2]["results"]["steps_total"] > 1.2 * runs["eventual", 4, 2]["results"]["steps_total"], ("static", 4, 2))
for key, run in wrong: print("WRONG", *key, run)
sys.exit(1 if wrong else 0)'
echo "sets of $(find "$folder" -mindepth 1 -maxdepth 1 -type d | wc -l) runs are as they should be"
for plot in grid paths steps survival; do    # of a timed run they are the same bytes everywhere
    cmp "$folder"/timed-{1-1,4-2}/$plot.svg || exit 1
done
for boundary in terminate wrap; do           # whoever hears of nobody still leaves no pixel by itself
    "$build/bin/nima" run randomwalk -p sync=static -p size=50 -p walkers=1500 -p neighborhood=8 -p boundary=$boundary \
        --dispatchers 3 --threads 1 --json --quiet --out "$folder/$boundary" | grep -q '"isolated": 0,' \
        || { echo "isolated pixels ($boundary)"; exit 1; }
done
"$build/bin/nima" verify randomwalk -p sync=eventual >"$folder/verified" 2>&1 \
    && { echo "verify takes what is not reproducible"; exit 1; }
grep -q "not timed" "$folder/verified" || { cat "$folder/verified"; exit 1; }
