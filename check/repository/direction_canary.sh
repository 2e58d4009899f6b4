#!/usr/bin/env bash
# Shows that direction.sh finds each kind of wrong include: a made-up tree with one of each, and one that is right.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root"/{actors,transport,gpu,runtime/clock,examples/a,examples/b,check/unit}
touch "$root"/{actors/{nima,queue}.h,transport/wire.h,gpu/nima_places.h,runtime/run.h,check/unit/oracle.h,examples/b/b.h}

put() { printf '#include %s\n' "${@:2}" >"$root/$1"; }
put runtime/clock/ca.c '"queue.h"' '"transport/wire.h"' '"nima_places.h"' '"run.h"' '<stdio.h>'
put examples/a/a.c '"nima.h"' '"nima_places.h"'
put check/unit/t.c '"run.h"' '"oracle.h"' '"queue.h"'
"$here/direction.sh" "$root"

refused() {
    put "$1" "$2"
    if "$here/direction.sh" "$root" >"$root/found"; then echo "not found: $1 includes $2"; exit 1; fi
    grep -q "^$1 includes" "$root/found"
    rm "${root:?}/$1"
}
refused actors/x.c '"wire.h"'
refused actors/x.c '"../runtime/run.h"'
refused transport/x.c '"queue.h"'
refused transport/x.c '<nima.h>'
refused gpu/x.cu '"actors/queue.h"'
refused runtime/x.c '"oracle.h"'
refused runtime/clock/x.c '"../../check/unit/oracle.h"'
refused examples/a/x.c '"queue.h"'
refused examples/a/x.c '"../b/b.h"'
refused examples/a/x.c '"runtime/run.h"'
