#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the shim adds to a call, timing off: instructions by callgrind (exact), nanoseconds (of this machine, now), and those
# as a multiple of the least that a record can cost here: two readings of the clock and 64 bytes. The fake libraries do next
# to nothing, so the difference is ours. Prints one line each, with what was aimed at on a machine where the least is 17 ns;
# fails only if a count of instructions has grown past what is given below, 2 to 3 % above the usual: how often a block is
# changed within the calls that are counted is a matter of time.
# usage: bench_call.sh SHIM HOST FLOOR FOLDER [BUILD-TYPE]: without optimisation nothing is held against the counts.
set -eu
shim=$1 host=$2 floor=$3 folder=$4 build_type=${5:-Release}
. "$(dirname "$0")/../own_folder.sh"
own_folder "$folder"
mkdir -p "$folder"
repeats=${BENCH_CALLS:-20000} # fewer than the blocks kept ready hold: a drop would be another path

with_shim() {
    rm -rf "$folder/trace" && mkdir "$folder/trace"
    LD_PRELOAD=$shim ROOFTAP_DIR=$folder/trace ROOFTAP_TIMING=off "$@"
}
best_of() { # the least disturbed run
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do "$@"; done | sort -n | head -1
}
collected() { # of the main thread, in main(): neither the helper's work nor that at exit is on the call path
    rm -f "$folder"/callgrind.out*
    "$@" >/dev/null 2>&1
    sed -n 's/^totals: \([0-9]*\).*/\1/p' "$folder/callgrind.out-01"
}
valgrind_run() {
    valgrind --tool=callgrind --separate-threads=yes --toggle-collect=main --callgrind-out-file="$folder/callgrind.out" "$host" "$1" "$2"
}
instructions() { # per call, of a difference, so that start and end drop out
    few=$(collected "$1" valgrind_run "$2" 1000)
    many=$(collected "$1" valgrind_run "$2" 5000)
    echo $(((many - few) / 4000))
}
plain() { "$@"; }

failed=0
floor_ns=$(best_of "$floor")
echo "two readings of the clock and a store of 64 bytes: $floor_ns ns"
bench() { # MODE TITLE AIM INSTRUCTIONS-AT-MOST
    without_ns=$(best_of plain "$host" "$1" "$repeats")
    with_ns=$(best_of with_shim "$host" "$1" "$repeats")
    line="$2: $(echo "$with_ns $without_ns $floor_ns" |
        awk '{added = $1 - $2; printf "+ %.0f ns, %.1f times the least", added, added / $3}')"
    if command -v valgrind >/dev/null; then
        added=$(($(instructions with_shim "$1") - $(instructions plain "$1")))
        line="$line, + $added instructions"
        case $build_type in
        Rel*) [ "$added" -le "$4" ] || { line="$line, MORE THAN $4"; failed=1; } ;;
        esac
    fi
    echo "$line (aim: $3)"
}
bench count "cuBLAS call" "60 ns, 300 instructions" 304
bench lt "cuBLASLt call, shape remembered" "200 ns" 655
bench lt_new "cuBLASLt call, shape read" "1000 ns with the real getters" 4400
bench launch "kernel launch" "40 ns" 222
bench launch_values "kernel launch, 19 parameters kept" "120 ns, 500 instructions" 500
exit $failed
