#!/usr/bin/env bash
# The long form of "a stranger clones it on a fresh Debian 12": debootstrap makes a bare root, a clean clone of HEAD is put
# into it, and `./dev run` and `./dev test` run there, in a mount namespace that leaves no mount behind. Needs root.
# The mirror, and the further archives, are those that apt uses on this machine.
# Usage: clean_root.sh [FOLDER]; a FOLDER is kept and used again, without one a temporary one is removed at the end.
set -euo pipefail
cd "$(dirname "$0")/../.."
((EUID == 0)) || { echo "clean_root.sh: root is needed" >&2; exit 1; }
release=bookworm

if (($#)); then
    root=$1
    mkdir -p "$root"
else
    root=$(mktemp -d)
    trap 'rm -rf --one-file-system "$root"' EXIT
fi

# sources SUITE: the address that apt takes SUITE from, of both formats of apt's lists
sources() {
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
        awk -v suite="$1" '$1 == "deb" { for (i = 2; i < NF; i++) if ($(i + 1) == suite) print $i }'
    cat /etc/apt/sources.list.d/*.sources 2>/dev/null |
        awk -v suite="$1" '/^URIs:/ { uri = $2 } /^Suites:/ { for (i = 2; i <= NF; i++) if ($i == suite) print uri }'
}
mirror=$(sources $release | head -n 1)
security=$(sources $release-security | head -n 1)
[[ $mirror ]] || { echo "clean_root.sh: apt has no source for $release" >&2; exit 1; }

if [[ ! -e $root/etc/debian_version ]]; then
    debootstrap --variant=minbase $release "$root" "$mirror" >"$root.log" 2>&1 || { tail "$root.log"; exit 1; }
    rm -f "$root.log"
fi
{
    echo "deb $mirror $release main"
    [[ ! $security ]] || echo "deb $security $release-security main"
} >"$root/etc/apt/sources.list"
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"      # packages start no service there
chmod +x "$root/usr/sbin/policy-rc.d"
cp /etc/resolv.conf /etc/hosts "$root/etc/"
rm -rf "$root/root/nima"
git clone -q --no-hardlinks . "$root/root/nima"

cat >"$root/root/go" <<'IN'
#!/bin/bash
set -euo pipefail
cd /root/nima
export LANG=C.UTF-8
for verb in run test; do
    ./dev $verb </dev/null
done
IN
chmod +x "$root/root/go"
# shellcheck disable=SC2016  # $1 belongs to the inner shell
unshare --mount --propagation private --pid --fork bash -euo pipefail -c '
    mount -t proc proc "$1/proc"
    mount --rbind /sys "$1/sys"
    mount --bind /dev "$1/dev"
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$1/dev/pts"
    mount -t tmpfs tmpfs "$1/dev/shm"
    mount -t tmpfs tmpfs "$1/run"
    exec chroot "$1" /usr/bin/env -i HOME=/root TERM=dumb PATH=/usr/sbin:/usr/bin:/sbin:/bin /root/go
' clean-root "$root"
