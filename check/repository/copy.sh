#!/usr/bin/env bash
# Copies the repository as a fresh clone of the present state would be: tracked files, and new ones that git does not
# ignore. Usage: copy.sh FOLDER
set -euo pipefail
cd "$(dirname "$0")/../.."
mkdir -p "$1"
git ls-files -z --cached --others --exclude-standard |
    while IFS= read -r -d '' file; do [[ ! -e $file ]] || printf '%s\0' "$file"; done |
    xargs -0 cp --parents -a -t "$1"
