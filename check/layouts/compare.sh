#!/usr/bin/env bash
# Runs the same random models with the engine and with the reference executor, and shows the first that differ.
#   compare.sh ENGINE REFERENCE [COUNT [FIRST]]
# ENGINE and REFERENCE are random_driver.c linked with either. NIMA_LONG=1: fifty times as many cases.
set -euo pipefail
engine=$1 reference=$2 count=${3:-200} first=${4:-1}
[[ ${NIMA_LONG:-} ]] && count=$((50 * count))
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# must_equal WHAT EXPECTED FOUND COMMAND...: ends with the first case that differs, and with what replays it
must_equal() {
    local what=$1 expected=$2 found=$3 line number
    shift 3
    cmp -s "$expected" "$found" && return
    line=$(cmp "$expected" "$found" 2>&1 | sed -n 's/.*line \([0-9]*\).*/\1/p') || true
    line=${line:-1}
    number=$(sed -n "$line,\$p" "$expected" | sed -n 's/^\([0-9]*\):.*/\1/p' | head -n 1)
    echo "$what differs from the reference in case $number"
    echo "  expected: $(sed -n "${line}p" "$expected")"
    echo "  found:    $(sed -n "${line}p" "$found")"
    echo "  replay:   $* --first $number --count 1 --trace"
    exit 1
}

for mode in "--legs 1" "--legs 2" "--legs 3" --steps; do
    read -ra options <<<"$mode"
    options+=(--first "$first" --count "$count")
    "$reference" "${options[@]}" >"$folder/expected"
    if [[ $mode == "--legs 1" ]]; then cp "$folder/expected" "$folder/one_leg"; fi
    if [[ $mode == --legs* ]]; then
        must_equal "the reference with $mode" "$folder/one_leg" "$folder/expected" "$reference" "${options[@]:0:2}"
    fi
    for threads in 1 2 4 7; do
        status=0
        "$engine" "${options[@]}" --threads "$threads" >"$folder/found" || status=$?
        must_equal "the engine with $mode --threads $threads" "$folder/expected" "$folder/found" \
            "$engine --threads $threads $mode"
        ((status == 0)) || { echo "the engine with $mode --threads $threads: exit $status"; exit 1; }
    done
done
echo "$count cases from $first on: equal on 1, 2, 4 and 7 threads, in 1, 2 and 3 legs and step by step"
