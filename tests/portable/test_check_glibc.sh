#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_glibc.sh must refuse a newer version and a private one, and take an old one: libraries that need them are made here.
# usage: test_check_glibc.sh CC FLOOR
set -eu
cc=$1 floor=$2
check=$(dirname "$0")/check_glibc.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for version in 2.17 "$floor" 2.29 2.34 PRIVATE; do
    mkdir "$scratch/$version"
    echo "GLIBC_$version { global: *; };" >"$scratch/map"
    echo 'void rooftap_needed(void); void rooftap_needed(void) {}' >"$scratch/provider.c"
    echo 'void rooftap_needed(void); void rooftap_needing(void); void rooftap_needing(void) { rooftap_needed(); }' >"$scratch/user.c"
    "$cc" -shared -fPIC -nostdlib -Wl,-soname,libc.so.6 -Wl,--version-script="$scratch/map" "$scratch/provider.c" -o "$scratch/provider"
    "$cc" -shared -fPIC -nostdlib "$scratch/user.c" "$scratch/provider" -o "$scratch/$version/libuser.so"
    status=0
    sh "$check" "$floor" "$scratch/$version" >"$scratch/out" 2>&1 || status=$?
    case $version in
    2.17 | "$floor") wanted=0 ;;
    *) wanted=1 ;;
    esac
    [ "$status" -eq "$wanted" ] || { echo "GLIBC_$version: status $status, expected $wanted: $(cat "$scratch/out")" >&2; exit 1; }
done
mkdir "$scratch/empty"
if sh "$check" "$floor" "$scratch/empty" 2>/dev/null; then echo "an empty folder is taken" >&2; exit 1; fi
echo "refuses what is newer than $floor"
