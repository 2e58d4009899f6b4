#!/usr/bin/env bash
# Every relative link of the documents leads to a file that is there, and to a heading of it if it names one.
# Files in backticks that look like a path of this repository (docs/guide.md, actors/queue.c) are there too.
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"
mapfile -t documents < <(find . -name '*.md' -not -path './build*' -not -path './.git/*' -not -path './runs/*' | sort)
((${#documents[@]})) || { echo "no documents"; exit 1; }

# anchors FILE: its headings as GitHub names them
anchors() {
    awk '/^```/ { code = !code } !code && /^#+ /' "$1" | sed -E 's/^#+ +//; s/[`*]//g' |
        tr '[:upper:]' '[:lower:]' | sed -E 's/[^[:alnum:] _-]//g; s/ /-/g'
}

wrong=0
complain() { echo "$*"; wrong=1; }
for document in "${documents[@]}"; do
    folder=${document%/*}
    while IFS= read -r link; do
        case $link in *://* | mailto:*) continue ;; esac
        path=${link%%#*} anchor=
        [[ $link != *#* ]] || anchor=${link#*#}
        target=$document
        [[ ! $path ]] || target=$folder/$path
        if [[ ! -e $target ]]; then complain "$document: no such file: $link"
        elif [[ $anchor ]] && ! anchors "$target" | grep -qxF -- "$anchor"; then complain "$document: no such heading: $link"
        fi
    done < <(awk '/^```/ { code = !code } !code' "$document" | grep -oP '\]\(\K[^) ]+(?=\))' || true)
    # shellcheck disable=SC2016  # the backticks are what is looked for
    while IFS= read -r path; do
        [[ -e $path || -e $folder/$path ]] || complain "$document: no such path: $path"
    done < <(awk '/^```/ { code = !code } !code' "$document" |
        grep -oP '`\K(actors|transport|gpu|runtime|examples|check|docs)/[\w./-]+\.(c|h|sh|md|in|js|cu|pml)(?=`)' || true)
done
exit "$wrong"
