#!/usr/bin/env bash
# Executes the ```sh blocks of a document, in order, in one shell, in a scratch copy of the repository: what the document
# tells a reader to type works. Any failing command fails the test. Usage: shell_blocks.sh DOCUMENT
# The blocks find a display of nothing and a terminal of nobody; NIMA_INSIDE_TEST keeps `./dev test` from coming back here.
set -euo pipefail
document=$1
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$here/copy.sh" "$scratch/nima"
cd "$scratch/nima"
{
    echo 'set -euo pipefail'
    awk '/^```sh$/ { block = 1; print "printf \"\\n=== block, line %s\\n\" " NR; next } /^```/ { block = 0 } block' "$document"
} >"$scratch/blocks"
blocks=$(grep -c '^printf "\\n=== block' "$scratch/blocks" || true)
((blocks > 0)) || { echo "$document has no sh block"; exit 1; }
unset NIMA_BUILD_DIR
NIMA_INSIDE_TEST=1 bash -v "$scratch/blocks" </dev/null
echo "$blocks blocks of $document"
