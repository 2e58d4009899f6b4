#!/usr/bin/env bash
# Searches clock.pml completely. `run.sh safe`: as the clock is meant, it must hold in all states. `run.sh UNSAFE` and the
# other canaries of clock.pml: a variant that leaves a part of it out must be found wrong. `--show` prints how it goes wrong.
set -euo pipefail
model=$(dirname "$(readlink -f "$0")")/clock.pml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# search NAME DEFINES...: builds the verifier and searches; its report is NAME/report
search() {
    local name=$1; shift
    mkdir "$name"
    cp "$model" "$name"
    (cd "$name" && spin -a "$@" clock.pml >spin.txt && gcc -w -O2 -DSAFETY -DCOLLAPSE -o pan pan.c &&
        timeout 100 ./pan -m10000 -w24 >report 2>&1 && grep -q 'errors:' report) || {
        printf 'model: the search of %s did not come to an end\n' "$name" >&2
        tail -n 5 "$name"/spin.txt "$name"/report >&2
        return 1
    }
}

# show NAME DEFINES...: the steps that lead to the error
show() {
    local name=$1; shift
    (cd "$name" && spin -t -p -g "$@" clock.pml)
}

safe() {
    local lookahead name
    for lookahead in 1 2; do
        name=safe_$lookahead
        search "$name" "-DLOOKAHEAD=$lookahead" "-DEVENTS=$((3 + lookahead))"
        if ! grep -q 'errors: 0' "$name/report" || grep -Eq 'depth too small|not completed' "$name/report"; then
            cat "$name/report" >&2
            show "$name" "-DLOOKAHEAD=$lookahead" "-DEVENTS=$((3 + lookahead))" >&2
            return 1
        fi
        printf 'clock, lookahead %d: holds in all %s states\n' "$lookahead" \
            "$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' "$name/report")"
    done
}

canary() {
    local name=$1
    search "$name" "-D$name" -DEVENTS=5
    if grep -q 'errors: 0' "$name/report"; then
        printf 'model: nothing is found wrong with the clock %s\n' "$name" >&2
        return 1
    fi
    printf 'clock %s: %s\n' "$name" "$(sed -n 's/^pan:1: //p' "$name/report")"
    [[ ! $steps ]] || show "$name" "-D$name" -DEVENTS=5
}

steps=
for variant; do
    case $variant in
        --show) steps=yes ;;
        safe) safe ;;
        *) canary "$variant" ;;
    esac
done
