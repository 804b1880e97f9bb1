#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each record says what its call asked, however many calls before it asked nearly the same:
# run_repeat.sh SHIM HOST DUMP COMPARE FOLDER
set -eu
shim=$1 host=$2 dump=$3 compare=$4 folder=$5
. "$(dirname "$0")/../own_folder.sh"
own_folder "$folder"
mkdir -p "$folder/trace"
LD_PRELOAD=$shim ROOFTAP_DIR=$folder/trace ROOFTAP_TIMING=off "$host" 20000 >"$folder/expected"
"$dump" "$folder/trace" >"$folder/recorded"
python3 "$compare" "$folder/expected" "$folder/recorded"
