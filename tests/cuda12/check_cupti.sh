#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whose CUPTI timed a program of CUDA 12: its own, though 13's lies beside it and the driver would serve it, or the one that
# is mapped already (CUPTI=FILE); and the times of all kernels are the ledger's.
# usage: check_cupti.sh RELEASE SHIM HOST DUMP FOLDER
set -eu
release=$1 shim=$2 host=$3 dump=$4 folder=$5
. "$(dirname "$0")/../own_folder.sh"
own_folder "$folder"
mkdir -p "$folder/trace"
status=0
SIMGPU_LEDGER=$folder/ledger LD_PRELOAD=$shim${CUPTI:+:$CUPTI} CUDA_INJECTION64_PATH=$shim ROOFTAP_DIR=$folder/trace "$host" seven || status=$?
[ "$status" -eq 7 ] || { echo "exit status $status, expected 7" >&2; exit 1; }
"$dump" "$folder/trace" >"$folder/trace.json"
grep '"record":"note"' "$folder/trace.json" | grep -q "CUDA $release[,\" ]" || {
    echo "no note names CUPTI of CUDA $release:" >&2
    grep '"record":"note"' "$folder/trace.json" >&2
    exit 1
}
python3 - "$folder" <<'PY'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1] + "/ledger")]
wanted = sorted(l["end"] - l["start"] for l in lines if l["type"] == "kernel")
records = [json.loads(line) for line in open(sys.argv[1] + "/trace.json")]
got = sorted(r["ns"] for r in records if r["record"] == "kernel")
if not wanted or got != wanted:
    sys.exit(f"kernels recorded: {got}, in the ledger: {wanted}")
print(len(got), "kernels as in the ledger")
PY
grep '"record":"note"' "$folder/trace.json" | grep -o "CUDA $release[^\"]*"
