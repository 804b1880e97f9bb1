#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` makes works from any folder, also one whose name LD_PRELOAD can't carry. BUILD is the build tree.
. "$(dirname "$0")/common.sh"
: "${BUILD:?the build folder}"

check_tree() { # PREFIX
    "$1/bin/rooftap" --version >/dev/null || fail "$1/bin/rooftap"
    "$1/bin/rooftap" record -q -o "$2" -- sh -c 'grep -c librooftap.so /proc/self/maps' >mapped 2>err
    expect "status in $1" 0 $?
    [ "$(cat mapped)" -gt 0 ] || fail "librooftap.so of $1 was not loaded: $(cat err)"
    grep -q "cannot be preloaded" err && fail "the loader complains in $1: $(cat err)"
    if [ -d "$1/lib/rooftap/sim" ]; then
        "$1/bin/rooftap" record -q -o "$2.sim" --simulate unit -- true 2>err || fail "--simulate in $1: $(cat err)"
        grep -q "cannot be preloaded" err && fail "the loader complains of a stand-in in $1: $(cat err)"
    fi
}

cmake --install "$BUILD" --prefix "$scratch/usr" >log 2>&1 || fail "cmake --install: $(tail -3 log)"
cd usr && find . -type f -o -type l | sort >../files && cd ..
for file in ./bin/rooftap ./lib/rooftap/librooftap.so ./lib/rooftap/librooftap-audit.so; do
    grep -qx "$file" files || fail "$file is not installed"
done
[ ! -d "$BUILD/lib/rooftap/sim" ] || grep -q '^./lib/rooftap/sim/libcuda.so.1$' files || fail "the stand-ins are not installed"
check_tree "$scratch/usr" plain
# P08: called by a relative path, on which a child that changes its folder must not depend.
(cd usr/bin && ../bin/rooftap record -q -o "$scratch/relative" -- sh -c 'cd / && grep -c librooftap.so /proc/self/maps') >mapped 2>err
expect "status by a relative path" 0 $?
[ "$(cat mapped)" -gt 0 ] || fail "librooftap.so was not loaded by a relative path"
expect "complaints by a relative path" "" "$(cat err)"
mkdir "$scratch/a b:c" && mv usr "a b:c/"
check_tree "$scratch/a b:c/usr" odd
expect "one line tells of the link" 1 "$("a b:c/usr/bin/rooftap" record -q -o told -- true 2>&1 | grep -c stands)"
# The session folder can't carry the link either: it goes to the temporary folder.
"a b:c/usr/bin/rooftap" record -q -o "x y" -- sh -c 'grep -c librooftap.so /proc/self/maps' >mapped 2>err
[ "$(cat mapped)" -gt 0 ] || fail "librooftap.so was not loaded through the temporary folder: $(cat err)"
rm -rf "$(dirname "$(sed -n "s/.*'\(\/tmp\/rooftap-lib-[^']*\)' stands.*/\1/p" err)")"
finish
