#!/usr/bin/env bash
# The documents that walk through the source (message_path, concurrency) name functions that exist in it: each word in
# backticks that looks like a function or field is found as a word in actors, runtime, transport or gpu.
set -euo pipefail
cd "$(dirname "$0")/../.."
wrong=0
for document in docs/message_path.md docs/concurrency.md; do
    # shellcheck disable=SC2016  # the backticks are what is looked for
    while IFS= read -r name; do
        grep -rqwF --include='*.[ch]' -- "$name" actors runtime || { echo "$document names $name, which is nowhere"; wrong=1; }
    done < <(grep -oP '`\K[a-z]+(_[a-z]+)+(?=`)' "$document" | grep -v '^call_' | sort -u)
done
exit "$wrong"
