#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Kernel times come from CUPTI 12 in a program of CUDA 12, though 13's lies beside it and the driver would serve it.
# usage: check_cupti.sh SHIM HOST DUMP FOLDER
set -eu
shim=$1 host=$2 dump=$3 folder=$4
rm -rf "$folder"
mkdir -p "$folder/trace"
status=0
LD_PRELOAD=$shim CUDA_INJECTION64_PATH=$shim ROOFTAP_DIR=$folder/trace "$host" seven || status=$?
[ "$status" -eq 7 ] || { echo "exit status $status, expected 7" >&2; exit 1; }
"$dump" "$folder/trace" >"$folder/trace.json"
grep '"record":"note"' "$folder/trace.json" | grep -q 'CUDA 12\.8' || {
    echo "no note names CUPTI of CUDA 12.8:" >&2
    grep '"record":"note"' "$folder/trace.json" >&2
    exit 1
}
grep -q '"record":"kernel"' "$folder/trace.json" || { echo "no kernel was timed" >&2; exit 1; }
grep '"record":"note"' "$folder/trace.json" | grep -o 'CUDA 12\.8[^"]*'
