#!/usr/bin/env bash
# Every atomic variable and lock of the engine has a row in docs/concurrency.md, and every row a variable: who writes it, who
# reads it, and what it pairs with is written down, or this fails.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck disable=SC2016  # Perl expands it
declared=$({ find actors transport gpu runtime -name '*.[ch]' -print0 2>/dev/null || true; } | xargs -0 perl -ne '
    s{/\*.*?(\*/|$)}{}g;
    while (/(?:_Atomic(?:\s+\w+|\([^)]*\))|pthread_(?:mutex|cond|rwlock)_t)\s+((?:\*?\w+(?:\[[^\]]*\])?\s*,\s*)*\*?\w+(?:\[[^\]]*\])?)\s*([;=])/g) {
        my $file = $ARGV;
        next if $2 eq "=" && substr($1, 0, 1) eq "*";     # a pointer to one that is declared elsewhere
        print map { s/\[.*//; s/\W//g; "$file $_\n" } split /,/, $1;
    }')
[[ $declared ]] || { echo "no atomic found: wrong folder?"; exit 1; }
rows=$(perl -ne 'print "$2 $1\n" if /^\| `(\w+)` \| `([\w.\/]+)` \|/' docs/concurrency.md)
diff <(sort -u <<<"$declared") <(sort -u <<<"$rows") >/dev/null && exit 0
echo "declared in the source (<), explained in docs/concurrency.md (>):"
diff <(sort -u <<<"$declared") <(sort -u <<<"$rows")
