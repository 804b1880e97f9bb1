#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a stand-in exports is what the list of names says, under its version node; where the real library is found, that
# list is what the real one exports.
# Usage: check_exports.sh STANDIN NAMES PYTHON GENERATOR LIBRARY REAL
set -eu
standin=$1 names=$2 python=$3 generator=$4 library=$5 real=$6
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
exported() {
    nm -D --defined-only "$1" | sed -n 's/.* [TW] \([A-Za-z0-9_]*\)@@'"$(basename "$standin")"'$/\1/p' | LC_ALL=C sort -u
}
{ grep -v '^#' "$names"; "$python" "$generator" names "$library"; } | LC_ALL=C sort -u >"$scratch/listed"
exported "$standin" >"$scratch/exported"
diff "$scratch/listed" "$scratch/exported" || { echo "$standin does not export what is listed" >&2; exit 1; }
[ "$(wc -l <"$scratch/exported")" -gt 100 ]
if [ -e "$real" ]; then
    exported "$real" >"$scratch/real"
    grep -v '^#' "$names" | LC_ALL=C sort -u >"$scratch/names"
    diff "$scratch/names" "$scratch/real" || { echo "$names is not what $real exports" >&2; exit 1; }
    echo "$(wc -l <"$scratch/real") names of $real, all exported"
fi
