#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a stand-in exports is what the lists say for its CUDA major, under its version node; where the real library is
# found, the list of names is what the real one exports.
# Usage: check_exports.sh STANDIN PYTHON GENERATOR LIBRARY MAJOR REAL
set -eu
standin=$1 python=$2 generator=$3 library=$4 major=$5 real=$6
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
exported() {
    nm -D --defined-only "$1" | sed -n 's/.* [TW] \([A-Za-z0-9_]*\)@@'"$(basename "$standin")"'$/\1/p' | LC_ALL=C sort -u
}
"$python" "$generator" exports "$library" "$major" | LC_ALL=C sort -u >"$scratch/names"
{ cat "$scratch/names"; "$python" "$generator" names "$library" "$major"; } | LC_ALL=C sort -u >"$scratch/listed"
exported "$standin" >"$scratch/exported"
diff "$scratch/listed" "$scratch/exported" || { echo "$standin does not export what is listed" >&2; exit 1; }
[ "$(wc -l <"$scratch/exported")" -gt 100 ]
if [ -e "$real" ]; then
    exported "$real" >"$scratch/real"
    diff "$scratch/names" "$scratch/real" || { echo "the list of $library's names is not what $real exports" >&2; exit 1; }
    echo "$(wc -l <"$scratch/real") names of $real, all exported"
fi
