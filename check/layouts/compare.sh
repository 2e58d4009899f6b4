#!/usr/bin/env bash
# Runs the same random models with the engine and with the reference executor, and shows the first that differ.
#   compare.sh ENGINE REFERENCE [FIRST [COUNT]]
# ENGINE and REFERENCE are random_driver.c linked with either. NIMA_LONG=1: thousands of cases.
set -euo pipefail
engine=$1 reference=$2 first=${3:-1} count=${4:-200}
[[ ${NIMA_LONG:-} && -z ${4:-} ]] && count=10000
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# differs WHAT FILE_A FILE_B COMMAND_A COMMAND_B: the first case that differs, with what replays it
differs() {
    local what=$1 a=$2 b=$3 line number
    cmp -s "$a" "$b" && return
    line=$(cmp "$a" "$b" 2>&1 | sed -n 's/.*line \([0-9]*\).*/\1/p') || true
    number=$(sed -n "${line:-1},\$p" "$b" | sed -n 's/^\([0-9]*\):.*/\1/p' | head -n 1)
    echo "DIFFERENT: $what, case ${number:-?}"
    echo "  expected: $(sed -n "${line:-1}p" "$a")"
    echo "  found:    $(sed -n "${line:-1}p" "$b")"
    echo "  replay:   $4 --first ${number:-?} --count 1 --trace"
    echo "  against:  $5 --first ${number:-?} --count 1 --trace"
    failed=1
}

for mode in "--legs 1" "--legs 2" "--legs 3" "--steps"; do
    expected=$folder/expected
    # shellcheck disable=SC2086  # a mode is one word or two
    "$reference" $mode --first "$first" --count "$count" >"$expected"
    if [[ $mode == "--legs 1" ]]; then cp "$expected" "$folder/one_leg"; fi
    if [[ $mode == --legs* ]]; then
        differs "the reference with $mode and in one leg" "$folder/one_leg" "$expected" "$reference $mode" "$reference"
    fi
    for threads in 1 2 4 7; do
        found=$folder/found status=0
        # shellcheck disable=SC2086
        "$engine" $mode --threads $threads --first "$first" --count "$count" >"$found" || status=$?
        ((status == 0)) || { echo "engine $mode --threads $threads: exit $status"; failed=1; }
        differs "engine $mode --threads $threads" "$expected" "$found" "$engine $mode --threads $threads" "$reference $mode"
    done
done
((failed)) || echo "$count cases from $first: equal to the reference on 1, 2, 4 and 7 threads, in 1, 2 and 3 legs and by steps"
exit "$failed"
