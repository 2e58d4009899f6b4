#!/usr/bin/env bash
# Random models on several dispatchers give what they give on one: in one leg, several, by steps, with messages posted from outside.
#   random.sh DISPATCHED REFERENCE [FIRST [COUNT]]
# DISPATCHED is dispatched.c, REFERENCE the plain executor. NIMA_LONG=1: many cases.
set -euo pipefail
dispatched=$1 reference=$2 first=${3:-1} count=${4:-30}
[[ ${NIMA_LONG:-} && -z ${4:-} ]] && count=1000
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
for mode in "--legs 1" "--legs 3" "--steps"; do
    # shellcheck disable=SC2086  # a mode is one word or two
    if [[ $mode == --steps ]]; then NIMA_DISPATCHERS=1 "$dispatched" $mode --first "$first" --count "$count" >"$folder/expected"
    else "$reference" $mode --first "$first" --count "$count" >"$folder/expected"; fi
    for dispatchers in 2 4; do
        threads=$((dispatchers == 2 ? 2 : 1)) status=0
        # shellcheck disable=SC2086
        NIMA_DISPATCHERS=$dispatchers "$dispatched" $mode --threads $threads --first "$first" --count "$count" \
            >"$folder/found" 2>"$folder/errors" || status=$?
        cmp -s "$folder/expected" "$folder/found" && ((status == 0)) && continue
        echo "DIFFERENT: $mode on $dispatchers dispatchers of $threads threads (exit $status)"
        diff "$folder/expected" "$folder/found" | cut -c 1-200 | head -n 4
        head -n 3 "$folder/errors"
        failed=1
    done
done
((failed)) || echo "$count cases from $first: equal on 1, 2 and 4 dispatchers, in 1 and 3 legs and by steps"
exit "$failed"
