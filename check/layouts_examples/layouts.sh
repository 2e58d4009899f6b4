#!/usr/bin/env bash
# Runs an example on one thread, then on other layouts, and compares the outcome and all files byte by byte.
#   layouts.sh BUILD EXAMPLE
# Layouts: 2, 4 and 7 threads (more than there are cores), two hwloc regions, log levels. The parameters below keep a run
# short under sanitizers, and large enough for several shards; an example without any runs as it is.
set -euo pipefail
build=$1 example=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# The facts of an outcome that no layout changes.
facts() {
    grep -oE '"(model|seed|shards|agents|events|virtual_time|births|deaths|dead_letters|unread|fingerprint|status|exit)": ("[^"]*"|[^,}]*)'
}

# once NAME [ENVIRONMENT...] -- OPTIONS: one run into $folder/NAME, its facts into $folder/NAME.facts
once() {
    local name=$1 environment=(); shift
    while [[ $1 != -- ]]; do environment+=("$1"); shift; done
    shift
    if ! env "${environment[@]}" "$build/bin/nima" run "$build/models/$example.so" "${parameters[@]}" --json --quiet \
        --out "$folder/$name" "$@" >"$folder/$name.out" 2>"$folder/$name.err"; then
        echo "$example ${parameters[*]} $*: failed"
        tail -n 20 "$folder/$name.err" "$folder/$name.out"
        exit 1
    fi
    tail -n 1 "$folder/$name.out" | facts >"$folder/$name.facts"
    grep -q fingerprint "$folder/$name.facts" || { echo "$example: no fingerprint in the last line"; exit 1; }
}

# same A B [WITHOUT]: all facts and files of both are equal, but for run.json, which tells of the machine, and WITHOUT
same() {
    local a=$1 b=$2 without=${3:-run.json}
    if ! diff -r -x run.json -x "$without" "$folder/$a" "$folder/$b" >"$folder/difference" ||
        ! diff "$folder/$a.facts" "$folder/$b.facts" >>"$folder/difference"; then
        echo "DIFFERENT: $example ${parameters[*]}: $a and $b"
        head -n 12 "$folder/difference"
        failed=1
    fi
}

on_all_layouts() {
    parameters=("$@")
    local two=(HWLOC_SYNTHETIC="numa:2 core:2 pu:1" HWLOC_THISSYSTEM=1) name
    once one -- --threads 1
    for threads in 2 4 7; do once "on_$threads" -- --threads "$threads"; done
    once regions_2 "${two[@]}" -- --threads 2
    once regions_4 "${two[@]}" -- --threads 4 --no-pin
    for name in on_2 on_4 on_7 regions_2 regions_4; do same one "$name"; done
    once errors -- --threads 2 --log error
    same one errors log.txt
    once debug_one -- --threads 1 --log debug
    once debug_4 -- --threads 4 --log debug
    same one debug_one log.txt
    same debug_one debug_4
    rm -rf "${folder:?}"/*
}

case $example in
    conveyor) on_all_layouts -p lines=6 --until 1h ;;
    create) on_all_layouts -p agents=20000 -p batch=1000 ;;
    heavy) on_all_layouts -p rounds=300 --until 20 ;;
    life)
        on_all_layouts -p size=100 --until 30
        on_all_layouts -p size=70 -p pattern=random --until 30 ;;
    mm1)
        on_all_layouts --until 20000s
        on_all_layouts -p servers=3 -p arrivals=2.5 -p patience=2 --until 5000s ;;
    phold)
        on_all_layouts -p agents=9000 --until 4000000
        on_all_layouts -p agents=5000 -p remote=0.3 -p lookahead=0 -p events=2 --until 100000 ;;
    pingpong)
        for variant in pingpong ring tokens counting all many; do
            on_all_layouts -p "variant=$variant" -p messages=5000
        done ;;
    randomwalk)
        on_all_layouts -p size=100 -p walkers=5000 -p max_steps=100
        on_all_layouts -p size=100 -p walkers=5000 -p max_steps=100 -p boundary=terminate -p neighborhood=8 ;;
    sir)
        on_all_layouts -p people=7000 --until 60day
        on_all_layouts -p people=5000 -p contact=mixing --until 10day ;;
    tasep) on_all_layouts -p sites=60 -p particles=30 --until 200s ;;
    wealth)
        on_all_layouts -p people=9000 --until 20
        on_all_layouts -p people=3000 -p order=asynchronous ;;
    *) on_all_layouts ;;
esac
((failed)) || echo "$example: equal on 1, 2, 4 and 7 threads, on two regions, with any log"
exit "$failed"
