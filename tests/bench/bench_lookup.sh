#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the shim adds to dlsym() of a name that is none of ours: instructions by callgrind, nanoseconds (of this
# machine, now). Aim: 50 ns. Fails only if a count of instructions has grown past what is given below, some 40 above the
# usual: for two seconds after a dlopen() a look-up costs a little more.
# usage: bench_lookup.sh SHIM PROGRAM FOLDER [BUILD-TYPE]
set -eu
shim=$1 program=$2 folder=$3 build_type=${4:-Release}
. "$(dirname "$0")/../own_folder.sh"
own_folder "$folder"
mkdir -p "$folder"
with_shim() { LD_PRELOAD=$shim ROOFTAP_DIR=$folder "$@"; }
plain() { "$@"; }
best_of() { for _ in 1 2 3 4 5 6 7 8 9; do "$@"; done | sort -n | head -1; }
total() { # of main()
    rm -f "$folder"/callgrind.out*
    "$1" valgrind --tool=callgrind --toggle-collect=main --callgrind-out-file="$folder/callgrind.out" "$program" "$2" "$3" \
        >/dev/null 2>&1
    sed -n 's/^totals: \([0-9]*\).*/\1/p' "$folder/callgrind.out"
}
instructions() { echo $((($(total "$1" "$2" 5000) - $(total "$1" "$2" 1000)) / 4000)); }

failed=0
for case in "sin 60" "cos 60" "cudnnCreate 220"; do # the last is not there, and takes us longest
    name=${case% *} most=${case#* }
    line="dlsym of $name: $(echo "$(best_of with_shim "$program" "$name" 200000) $(best_of plain "$program" "$name" 200000)" |
        awk '{printf "+ %.1f ns to %.1f", $1 - $2, $2}')"
    if command -v valgrind >/dev/null; then
        added=$(($(instructions with_shim "$name") - $(instructions plain "$name")))
        line="$line, + $added instructions"
        case $build_type in
        Rel*) [ "$added" -le "$most" ] || { line="$line, MORE THAN $most"; failed=1; } ;;
        esac
    fi
    echo "$line (aim: 50 ns)"
done
exit $failed
