#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the shim costs a program that starts others, and one that ends: as ratios (bench_processes.c says of what), and by
# callgrind the instructions that a fork() takes more. Fails only if those have grown past what is given below.
# usage: bench_processes.sh SHIM PROGRAM FOLDER [BUILD-TYPE]
set -eu
shim=$1 program=$2 folder=$3 build_type=${4:-Release}
. "$(dirname "$0")/../own_folder.sh"
own_folder "$folder"
mkdir -p "$folder/traces"
export ROOFTAP_DIR="$folder/traces" ROOFTAP_TIMING=off

"$program" "$shim" "${BENCH_ROUNDS:-9}"
command -v valgrind >/dev/null || exit 0
total() { # LIBRARY MODE COUNT
    rm -f "$folder"/out*
    LD_PRELOAD=$1 valgrind --tool=callgrind --toggle-collect=one_child --callgrind-out-file="$folder/out.%p" \
        "$program" "$2" "$3" >/dev/null 2>"$folder/log" || { cat "$folder/log" >&2; exit 1; }
    # the children's files say nothing: they leave before they have come back
    sed -n 's/^totals: \([0-9]*\).*/\1/p' "$folder"/out.* | sort -n | tail -n 1
}
instructions() { echo $((($(total "$1" "$2" 30) - $(total "$1" "$2" 10)) / 20)); }
failed=0
for mode in "--fork 200" "--recorded 800"; do
    most=${mode#* } mode=${mode% *}
    added=$(($(instructions "$shim" "$mode") - $(instructions "" "$mode")))
    line="fork() ($mode): + $added instructions"
    case $build_type in
    Rel*) [ "$added" -le "$most" ] || { line="$line, MORE THAN $most"; failed=1; } ;;
    esac
    echo "$line"
done
exit $failed
