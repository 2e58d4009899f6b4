#!/usr/bin/env bash
# nima.h compiles alone, needs nothing but the C library, and a model that uses all of its macros compiles, as C17 and as
# C++20. Usage: header.sh COMPILER STANDARD
set -euo pipefail
cd "$(dirname "$0")/../.."
compiler=$1 standard=$2
language=c
[[ $standard != c++* ]] || language=c++
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags=("-std=$standard" -Wall -Wextra -Wconversion -Wshadow -Werror -fPIC)
cp actors/nima.h "$work"                # alone: no neighbour to lean on
echo '#include "nima.h"' >"$work/alone.c"
"$compiler" -x "$language" "${flags[@]}" -fsyntax-only "$work/alone.c"
"$compiler" -x "$language" "${flags[@]}" -I "$work" -O2 -shared -o "$work/everything.so" check/repository/everything.c
# A model exports its description and nothing else of its own (the linker adds the two ends of the section of parts).
exported=$(nm -D --defined-only "$work/everything.so" | awk '$3 !~ /^__(start|stop)_nima_parts$/ { print $3 }')
[[ $exported == nima_model_ ]] || { echo "a model exports:" "$exported"; exit 1; }
