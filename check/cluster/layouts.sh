#!/usr/bin/env bash
# Every model that comes with nima: same fingerprint and same CSV bytes on 1, 2, 4 dispatchers of 1 and 2 threads.
#   layouts.sh BUILD [MODEL-FILE...]
set -euo pipefail
build=$1
shift
models=("$@")
((${#models[@]})) || models=("$build"/models/*.so "$(dirname "$0")"/models/memory.c)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# run MODEL DISPATCHERS THREADS: prints the fingerprint and a hash of all CSVs
run() {
    local out
    out=$folder/$(basename "$1")-$2-$3
    timeout 120 "$build/bin/nima" run "$1" --seed 7 --dispatchers "$2" --threads "$3" --json --quiet \
        --out "$out" >"$out.json" 2>"$out.err" || { echo "failed: $(head -n 1 "$out.err")"; return; }
    grep -o '"fingerprint": "[0-9a-f]*"' "$out.json" | tail -n 1 | tr -d '\n'
    (cd "$out" && find . -name '*.csv' -print0 | sort -z | xargs -0 cat) | sha256sum | cut -c 1-16
    rm -rf "$out"
}

for model in "${models[@]}"; do
    expected=$(run "$model" 1 1)
    [[ $expected == *fingerprint* ]] || { echo "$model: $expected"; failed=1; continue; }
    for layout in "1 2" "2 1" "2 2" "4 1" "4 2"; do
        read -r dispatchers threads <<<"$layout"
        found=$(run "$model" "$dispatchers" "$threads")
        [[ $found == "$expected" ]] && continue
        echo "DIFFERENT: $model on $dispatchers dispatchers of $threads threads: $found, expected $expected"
        failed=1
    done
done
((failed)) || echo "equal on 1, 2 and 4 dispatchers of 1 and 2 threads: ${models[*]}"
exit "$failed"
