#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# No library in a folder needs a glibc newer than FLOOR, or what glibc keeps to itself; whatever the section of needed
# versions names counts, also where no symbol shows it.
# usage: check_glibc.sh FLOOR FOLDER
set -eu
floor=$1 folder=$2
checked=0
for library in "$folder"/*.so; do
    [ -e "$library" ] || { echo "no library in $folder" >&2; exit 1; }
    versions=$(readelf -VW "$library" | sed -n 's/.*Name: \(GLIBC_[A-Za-z0-9.]*\).*/\1/p' | sort -u)
    if [ -z "$versions" ] && readelf -hW "$library" >/dev/null 2>&1 && ! readelf -dW "$library" | grep -q '(NEEDED)'; then
        echo "$(basename "$library"): needs nothing"
        checked=$((checked + 1))
        continue
    fi
    [ -n "$versions" ] || { echo "$library names no version of glibc: is it a library?" >&2; exit 1; }
    for version in $versions; do
        number=${version#GLIBC_}
        newest=$(printf '%s\n%s\n' "$number" "$floor" | sort -V | tail -n 1)
        case $number in
        [0-9]*) [ "$newest" = "$floor" ] && continue ;;
        esac
        echo "$library needs $version, expected none newer than GLIBC_$floor:" >&2
        readelf --dyn-syms -W "$library" | grep "@$version" >&2 || true
        exit 1
    done
    echo "$(basename "$library"): $(echo "$versions" | sort -V | tail -n 1)"
    checked=$((checked + 1))
done
echo "$checked libraries"
