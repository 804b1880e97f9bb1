#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every entry point with and without the shim: the program must see the same, the trace must hold what was called.
# usage: run_calls.sh SHIM CALLS DUMP COMPARE FOLDER [compare options]; FAKE_* are passed on
set -eu
shim=$1 calls=$2 dump=$3 compare=$4 folder=$5
shift 5
. "$(dirname "$0")/../own_folder.sh"
own_folder "$folder"
mkdir -p "$folder/trace"
status=0
SIMGPU_LEDGER=$folder/ledger.without "$calls" >"$folder/without" || status=$?
[ "$status" -eq 7 ] || { echo "without the shim: exit status $status, expected 7" >&2; exit 1; }
status=0
SIMGPU_LEDGER=$folder/ledger LD_PRELOAD=$shim ROOFTAP_DIR=$folder/trace "$calls" >"$folder/with" 2>"$folder/stderr" || status=$?
[ "$status" -eq 7 ] || { echo "with the shim: exit status $status, expected 7" >&2; cat "$folder/stderr" >&2; exit 1; }
[ ! -s "$folder/stderr" ] || { echo "the shim spoke on standard error:" >&2; cat "$folder/stderr" >&2; exit 1; }
sed '/^stream /d' "$folder/without" >"$folder/without.same" # an address, another in each run
sed '/^stream /d' "$folder/with" | diff "$folder/without.same" - >&2 || { echo "the program saw a difference" >&2; exit 1; }
"$dump" "$folder/trace" >"$folder/trace.json"
if [ -e "$folder/ledger" ]; then
    set -- "$@" --ledger "$folder/ledger"
fi
python3 "$compare" "$folder/with" "$folder/trace.json" "$@"
