#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the shim costs a process that never uses CUDA: 300 of them at once, with and without it by turns, as a ratio; and by
# callgrind the instructions of one, the loader's included, and of the constructor. Fails only if a count of instructions
# has grown past what is given below: I16, starts that queue or a constructor that works, would show there.
# usage: bench_helpers.sh SHIM HELPERS FOLDER [BUILD-TYPE]
set -eu
shim=$1 helpers=$2 folder=$3 build_type=${4:-Release}
all_most=130000 constructor_most=8000 # usually 121 000 and 5 900, most of that a look at the environment for each setting
. "$(dirname "$0")/../own_folder.sh"
own_folder "$folder"
mkdir -p "$folder"
export ROOFTAP_DIR="$folder"

"$helpers" "$shim" 300 "${BENCH_ROUNDS:-7}"
[ -z "$(ls "$folder")" ] || { echo "a helper left a file" >&2; exit 1; }
command -v valgrind >/dev/null || exit 0
instructions() { # LIBRARY OPTION...: of one helper
    library=$1
    shift
    LD_PRELOAD=$library valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" "$helpers" 2>&1 |
        sed -n 's/.*Collected : *//p'
}
added=$(($(instructions "$shim") - $(instructions "")))
constructor=$(instructions "$shim" --toggle-collect=loaded)
echo "one process: + $added instructions, $constructor of them the constructor's (aim: 1 ms)"
case $build_type in
Rel*) [ "$added" -le "$all_most" ] && [ "$constructor" -le "$constructor_most" ] || { echo "MORE THAN $all_most or $constructor_most"; exit 1; } ;;
esac
