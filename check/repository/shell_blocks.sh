#!/usr/bin/env bash
# Executes the ```sh blocks of a document, in order, in one shell, in a scratch copy of the repository: what the document
# tells a reader to type works. A block that names a file (```c rumour.c) is appended to that file before. Any failing
# command fails the test. NIMA_INSIDE_TEST keeps `./dev test` from coming back here.
# Usage: shell_blocks.sh DOCUMENT [BUILD]; with BUILD, a finished build folder, the copy need not build first.
set -euo pipefail
document=$(realpath "$1")
[[ ! ${2:-} ]] || build=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$here/copy.sh" "$scratch/nima"
cd "$scratch/nima"
{
    echo 'set -euo pipefail'
    awk '
        /^```sh$/ { kind = "sh"; print "printf \"\\n=== block, line %s\\n\" " NR; next }
        /^```[a-z]+ [^ ]+$/ { kind = "file"; print "cat >>" $2 " <<\047END-OF-BLOCK\047"; next }
        /^```/ { if (kind == "file") print "END-OF-BLOCK"; kind = kind ? "" : "other"; next }
        kind == "sh" || kind == "file"
    ' "$document"
} >"$scratch/blocks"
blocks=$(grep -c '^printf "\\n=== block' "$scratch/blocks" || true)
((blocks > 0)) || { echo "$document has no sh block"; exit 1; }
unset NIMA_BUILD_DIR
[[ ! ${2:-} ]] || ln -s "$build" build
NIMA_INSIDE_TEST=1 XDG_CACHE_HOME=$scratch/cache bash -v "$scratch/blocks" </dev/null
echo "$blocks blocks of $document"
