#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the shim adds to a launch of a CUDA graph, timing off: nanoseconds of this machine, now, and instructions by callgrind.
# Fails only if the count of instructions has grown past what is given below, in builds with optimisation.
# usage: bench_graph_launch.sh SHIM HOST FOLDER [BUILD-TYPE]
set -eu
shim=$1 host=$2 folder=$3 build_type=${4:-Release}
most=180
. "$(dirname "$0")/../own_folder.sh"
own_folder "$folder"
mkdir -p "$folder"
launches=${BENCH_LAUNCHES:-200000}

with_shim() {
    rm -rf "$folder/trace" && mkdir "$folder/trace"
    LD_PRELOAD=$shim ROOFTAP_DIR=$folder/trace ROOFTAP_TIMING=off "$@"
}
plain() { "$@"; }
best_of() { for _ in 1 2 3 4 5 6 7 8 9; do "$@"; done | sort -n | head -1; }
collected() {
    rm -f "$folder"/callgrind.out*
    "$1" valgrind --tool=callgrind --separate-threads=yes --toggle-collect=main --callgrind-out-file="$folder/callgrind.out" \
        "$host" any "$2" >/dev/null 2>&1
    sed -n 's/^totals: \([0-9]*\).*/\1/p' "$folder/callgrind.out-01"
}
instructions() {
    few=$(collected "$1" 1000)
    many=$(collected "$1" 5000)
    echo $(((many - few) / 4000))
}

without_ns=$(best_of plain "$host" any "$launches")
with_ns=$(best_of with_shim "$host" any "$launches")
line=$(echo "$with_ns $without_ns" | awk '{printf "graph launch: + %.0f ns", $1 - $2}')
failed=0
if command -v valgrind >/dev/null; then
    added=$(($(instructions with_shim) - $(instructions plain)))
    line="$line, + $added instructions"
    case $build_type in
    Rel*) [ "$added" -le "$most" ] || { line="$line, MORE THAN $most"; failed=1; } ;;
    esac
fi
echo "$line (aim: 60 ns)"
exit $failed
