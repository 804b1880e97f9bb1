#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh CACHE [tests]: the quickstart in a fresh minimal Debian, twice, timed; with `tests`, tests/run.sh --quick in its place,
# which takes long. A machine with a CUDA toolkit, or just with years of packages, hides a forgotten dependency; a root made
# by debootstrap a minute ago does not. Nothing of the host is mounted into it; what it takes to reach the package mirrors
# (proxies, certificates, indexes) is carried over.
set -eu -o pipefail
cache=${1:?folder for the cached root} what=${2:-quickstart}
case $what in
quickstart | tests) ;;
*)
    echo "run.sh: takes the cache's folder and perhaps 'tests', not '$what'" >&2
    exit 2
    ;;
esac
source=$(cd "$(dirname "$0")/../.." && pwd)

[ "$(id -u)" -eq 0 ] || { echo "needs root for chroot"; exit 77; }
command -v debootstrap >/dev/null || { echo "no debootstrap"; exit 77; }
unshare --mount true 2>/dev/null || { echo "may not make a mount namespace"; exit 77; }
. /etc/os-release
[ "${ID:-}" = debian ] || { echo "the mirror is asked of apt on Debian only"; exit 77; }

# "URI CODENAME" of each suite that apt uses of this release, main first.
suites=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' |
    awk -v release="$VERSION_CODENAME" '$3 == "main" && index($2, release) == 1 { print $1, $2 }' | sort -u -k2)
mirror=$(echo "$suites" | awk -v release="$VERSION_CODENAME" '$2 == release { print $1; exit }')
[ -n "$mirror" ] || { echo "apt has no main suite of $VERSION_CODENAME"; exit 77; }

mkdir -p "$cache"
root=$(mktemp -d "$cache/clean-root.XXXXXX")
trap 'rm -rf --one-file-system "$root"' EXIT
archive=$cache/clean-root-$VERSION_CODENAME.tar
if [ ! -e "$archive" ]; then
    debootstrap --variant=minbase "$VERSION_CODENAME" "$root" "$mirror" >"$cache/debootstrap.log" 2>&1 ||
        { tail -20 "$cache/debootstrap.log"; exit 1; }
    tar -C "$root" --exclude=./dev/* -cf "$archive.new" . && mv "$archive.new" "$archive"
else
    tar -C "$root" -xf "$archive"
fi

chmod 755 "$root" # made for its owner alone; inside it is everybody's

# ---- what the host knows about reaching the network ----
cp -L /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null || true
echo "$suites" | awk '{ print "deb", $1, $2, "main" }' >"$root/etc/apt/sources.list"
apt-config dump | grep '^Acquire::[^"]*[Pp]roxy\|^Acquire::https\?::' >"$root/etc/apt/apt.conf.d/99host" || true
certificates=/etc/ssl/host-certificates.crt
carried=(HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8)
if [ -e /etc/ssl/certs/ca-certificates.crt ]; then
    mkdir -p "$root/etc/ssl" && cp -L /etc/ssl/certs/ca-certificates.crt "$root$certificates"
    carried+=("SSL_CERT_FILE=$certificates" "PIP_CERT=$certificates" "REQUESTS_CA_BUNDLE=$certificates")
    echo "Acquire::https::CAInfo \"$certificates\";" >>"$root/etc/apt/apt.conf.d/99host"
fi
while IFS= read -r entry; do carried+=("$entry"); done < <(
    env | grep -Ei '^(PIP_[A-Z_]+|https?_proxy|no_proxy|all_proxy)=' | grep -v '^PIP_CERT=' || true)
for conf in /etc/pip.conf "$HOME/.pip/pip.conf" "$HOME/.config/pip/pip.conf"; do
    [ -e "$conf" ] && sed "s|^\( *cert *=\).*|\1 $certificates|" "$conf" >>"$root/etc/pip.conf"
done

# ---- the tree, as git knows it and as it lies here ----
mkdir "$root/rooftap"
(cd "$source" && git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do [ -e "$file" ] && printf '%s\0' "$file"; done |
    tar --null -T - -cf -) | tar -C "$root/rooftap" -xf -

# Habits are asked of a git tree.
git -C "$root/rooftap" init -q && git -C "$root/rooftap" add -A

# Mounts live in a namespace of their own and end with it; devices are the few that every program expects. The root has to be
# a mount itself, or nobody inside can make such a namespace.
in_root() {
    unshare --mount --pid --fork bash -c '
        root=$1; shift
        mount --bind "$root" "$root" || exit 125
        mount -t proc proc "$root/proc" && mount -t tmpfs tmpfs "$root/dev" && mkdir "$root/dev/shm" || exit 125
        for node in null zero full random urandom tty; do
            touch "$root/dev/$node" && mount --bind "/dev/$node" "$root/dev/$node"
        done
        mkdir "$root/dev/pts" && mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts" &&
            ln -s pts/ptmx "$root/dev/ptmx" || exit 125
        ln -s /proc/self/fd "$root/dev/fd" && ln -s fd/0 "$root/dev/stdin" && ln -s fd/1 "$root/dev/stdout" &&
            ln -s fd/2 "$root/dev/stderr" || exit 125
        exec chroot "$root" env -i "$@"' bash "$root" "${carried[@]}" "$@"
}

timed() { # WHAT COMMAND...
    local what=$1 begin status=0 start=$SECONDS
    shift
    begin=$(date +%s.%N)
    "$@" 2>&1 | while IFS= read -r line; do printf "%4d %s\n" "$((SECONDS - start))" "$line"; done >"$root/out" || status=$?
    printf '%s: %.1f s, status %d\n' "$what" "$(echo "$(date +%s.%N) - $begin" | awk '{ print $1 - $3 }')" "$status"
    awk "NR == 1 || \$1 >= last + 5 { print; last = \$1 }" "$root/out"; tail -25 "$root/out"
    return $status
}

[ ! -e "$root/usr/local/cuda" ] || { echo "a CUDA toolkit in the clean root"; exit 1; }
if [ "$what" = tests ]; then
    status=0
    timed "tests/run.sh --quick" in_root bash /rooftap/tests/run.sh --quick || status=$?
    cp "$root/out" "$cache/clean-root-tests.log"
    [ "$status" -eq 0 ] || echo "all of it: $cache/clean-root-tests.log"
    exit "$status"
fi
timed "first quickstart" in_root bash /rooftap/examples/quickstart.sh
timed "second quickstart" in_root bash /rooftap/examples/quickstart.sh
grep -q SIMULATED "$root/out" || { echo "the report does not say SIMULATED"; exit 1; }
in_root sh -c 'cd /rooftap && build/quickstart/bin/rooftap report --json' >"$root/report.json"
python3 - "$root/report.json" <<'PY'
import json, sys
report = json.load(open(sys.argv[1]))
assert report["simulated"] is True, report["simulated"]
rows = [row for row in report["operators"] if row["kind"] == "gemm"]
assert rows and all(row["calls"] > 0 and row["intensity"] for row in rows), report["operators"]
print(len(rows), "GEMM rows")
PY
strays=$(find "$root" -xdev \( -name 'libcudart*' -o -name 'libcublas*' -o -name 'libcuda.so*' \) -not -path "$root/rooftap/build/*")
[ -z "$strays" ] || { echo "vendor libraries in the clean root: $strays"; exit 1; }
