#!/usr/bin/env bash
# The documents that walk through the source (message_path, concurrency) name functions that exist in it: each word in
# backticks that looks like a function or field is found as a word in the source. And the guide names each function and macro
# of nima.h that is for models and programs.
set -euo pipefail
cd "$(dirname "$0")/../.."
wrong=0
for document in docs/message_path.md docs/concurrency.md; do
    # shellcheck disable=SC2016  # the backticks are what is looked for
    while IFS= read -r name; do
        grep -rqwF --include='*.[ch]' -- "$name" actors runtime transport || { echo "$document names $name, which is nowhere"; wrong=1; }
    done < <(grep -oP '`\K[a-z]+(_[a-z]+)+(?=`)' "$document" | grep -v '^call_' | sort -u)
done
while IFS= read -r name; do
    grep -qw -- "$name" docs/guide.md || { echo "docs/guide.md leaves out $name"; wrong=1; }
done < <({
    grep -oP '^(?!#).*?\b\Knima_[a-z0-9_]*[a-z0-9](?=\()' actors/nima.h | grep -vE '^nima_(callback|type_of)$'
    grep -oP '^#define \KNIMA_[A-Z_]*[A-Z](?=\()' actors/nima.h | grep -v '^NIMA_ERRORS$'
} | sort -u)
exit "$wrong"
