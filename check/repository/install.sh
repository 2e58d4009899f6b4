#!/usr/bin/env bash
# An installed copy serves a project outside this repository: a model and an embedding program are built with what
# FINDER (pkg-config or cmake) says of it, and run; `nima run` agrees with them. Usage: install.sh BUILD FINDER
set -euo pipefail
build=$(realpath "$1") finder=$2
external=$(realpath "$(dirname "$0")/external")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/prefix"         # an installed tree may be moved
cp -r "$external" "$work/project"
cd "$work/project"
case $finder in
    pkg-config)
        PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name nima.pc)")
        export PKG_CONFIG_PATH
        read -ra cflags <<<"$(pkg-config --cflags nima)"
        read -ra libs <<<"$(pkg-config --libs nima)"
        cc -O2 -Wall -Wextra -Werror -shared -fPIC "${cflags[@]}" echo.c -o echo.so
        cc -O2 -Wall -Wextra -Werror "${cflags[@]}" host.c -o host "${libs[@]}"
        ;;
    cmake)
        cmake -G Ninja -S . -B . -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
        cmake --build . >/dev/null
        ;;
esac
LD_LIBRARY_PATH=$(dirname "$(find "$work/prefix" -name libnima.so)")
export LD_LIBRARY_PATH
found=$(./host ./echo.so)
[[ $found == 'visits 1000 fingerprint '* ]] || { echo "the embedded run says: $found"; exit 1; }
unset LD_LIBRARY_PATH                   # the tool finds its own library
export XDG_CACHE_HOME=$work/cache
last=$("$work/prefix/bin/nima" run ./echo.c -p hops=1000 --seed 7 --json --out "$work/run" | tail -n 1)
[[ $last == *"\"fingerprint\":\"${found##* }\""* || $last == *"\"fingerprint\": \"${found##* }\""* ]] ||
    { echo "the embedded run says $found, nima run says $last"; exit 1; }
