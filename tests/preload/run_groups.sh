#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Grouped calls: run_groups.sh SHIM HOST DUMP COMPARE FOLDER
set -eu
shim=$1 host=$2 dump=$3 compare=$4 folder=$5
. "$(dirname "$0")/../own_folder.sh"
own_folder "$folder"
mkdir -p "$folder/trace"
LD_PRELOAD=$shim ROOFTAP_DIR=$folder/trace ROOFTAP_TIMING=off "$host" >"$folder/calls"
"$dump" "$folder/trace" >"$folder/trace.json"
python3 "$compare" "$folder/calls" "$folder/trace.json"
