#!/usr/bin/env bash
# Every shell script of the repository, found by its first line, passes shellcheck.
set -euo pipefail
cd "$(dirname "$0")/../.."
mapfile -t scripts < <(git ls-files --cached --others --exclude-standard | while IFS= read -r file; do
    if [[ -f $file ]] && head -n 1 "$file" | grep -aqE '^#!.*\b(ba|da|)sh\b'; then echo "$file"; fi
done)
((${#scripts[@]} > 3)) || { echo "scripts not found"; exit 1; }
shellcheck "${scripts[@]}"
echo "${#scripts[@]} scripts"
