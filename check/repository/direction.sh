#!/usr/bin/env bash
# Direction of dependence: actors, transport and gpu include only themselves; runtime includes all three; examples include
# the public headers and files of their own folder; nothing but check includes check.
# Usage: direction.sh [ROOT]. Prints each include that goes the wrong way; exit 1 if there is one.
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"

declare -A owners                       # base name of a header -> the paths that have it
while IFS= read -r header; do
    owners[${header##*/}]+="$header "
done < <(find actors transport gpu runtime examples check -name '*.h' 2>/dev/null | sort)

# resolve FROM NAME: the repository's files that FROM can mean by NAME; nothing for the system's headers
resolve() {
    local from=$1 name=$2 path own=
    if [[ -f ${from%/*}/$name ]]; then
        realpath --relative-to=. "${from%/*}/$name"
        return
    fi
    for path in ${owners[${name##*/}]:-}; do
        [[ /$path == */$name ]] || continue
        [[ ${path%%/*} != "${from%%/*}" ]] || own=$path
        [[ ! $own ]] || { echo "$own"; return; }
        echo "$path"
    done
}

# may FROM TO: does the rule let FROM include TO
may() {
    local from=${1%%/*} to=${2%%/*}
    case $from in
        actors | transport | gpu) [[ $to == "$from" ]] ;;
        runtime) [[ $to == actors || $to == transport || $to == gpu || $to == runtime ]] ;;
        examples) [[ ${2%/*} == "${1%/*}" || $2 == actors/nima.h || $2 == gpu/nima_places.h ]] ;;
        check) true ;;
    esac
}

wrong=0 seen=0
while IFS=: read -r from name; do
    seen=$((seen + 1))
    while IFS= read -r to; do
        may "$from" "$to" || { echo "$from includes $to"; wrong=1; }
    done < <(resolve "$from" "$name")
done < <(find actors transport gpu runtime examples check -type f -name '*.[chu]*' -print0 2>/dev/null |
    xargs -0 grep -HoP '^\s*#\s*include\s*["<]\K[^">]+(?=[">])' /dev/null)
((seen > 0)) || { echo "no include found: wrong folder?"; exit 1; }
exit "$wrong"
