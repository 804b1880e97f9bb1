#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Figures of GPUs that users give: `report --peak` and GPU tables, in a file that is named and in the usual place.
CONFIG=$(readlink -f "$(dirname "$0")/../predict/configs/llama-3-8b.json")
. "$(dirname "$0")/common.sh"
unset XDG_CONFIG_HOME
export HOME=$scratch

"$ROOFTAP" record -q -o known --simulate rtx4090 -- "$BUILD/examples/decode_loop/decode_loop" >/dev/null || fail "record"
"$ROOFTAP" record -q -o unknown --simulate rtx4090 --sim-option name=zzz9000 -- "$BUILD/examples/decode_loop/decode_loop" >/dev/null || fail "record"

# roof BF16_RIDGE SPEC SESSION OPTION...: of the report's first device
roof() {
    local ridge=$1 spec=$2 session=$3
    shift 3
    "$ROOFTAP" report --json "$@" "$session" >json || fail "report $*"
    python3 - "$ridge" "$spec" <<'PY' || fail "report $* $session"
import json, sys
document = json.load(open("json"))
device = document["devices"][0]
ridges = [roof["ridge"] for roof in device["roofs"] if (roof["type"], roof["unit"]) == ("bf16", "tensor")]
wanted = [] if sys.argv[1] == "none" else [float(sys.argv[1])]
assert len(ridges) == len(wanted) and all(abs(a / b - 1) < 1e-6 for a, b in zip(ridges, wanted)), ridges
assert str(device["spec"]) == sys.argv[2], device["spec"]
bounds = {operator["bound"] for operator in document["operators"]}
fractions = {operator["roof_fraction"] for operator in document["operators"]}
if not wanted:
    assert bounds == {"unknown"} and fractions == {None}, (bounds, fractions)
else:
    assert "unknown" not in bounds and None not in fractions, (bounds, fractions)
PY
}

# no row: no ridge, no class, no ratio; then what the user says
roof none None unknown
roof 163.888889 peak unknown --peak bf16=165.2,bw=1008
roof 163.888889 peak unknown --peak bf16=165.2T,bw=1.008T
roof 163.888889 peak unknown --peak 0:bf16=165.2,bw=1008
roof 200 peak unknown --peak bf16=100,bw=1000 --peak bw=500
# half of a roof is none, and that is what the report says is missing: the shapes are known
for half in bf16=200 bw=1000; do
    "$ROOFTAP" report --peak $half unknown | grep -q "in kernels whose roof is not known\.$" || fail "report --peak $half: the verdict"
done
# a row: by its number only, and what is not given stays
roof 163.888889 rtx4090 known
roof 183.555556 rtx4090 known --peak 0:bw=900
"$ROOFTAP" report --peak 0:bw=900 known | grep -q "roofs from --peak (bw); all else: NVIDIA Ada" || fail "the user's figures are not shown as such"

expect_usage_error "--peak 0:bf16" report --peak bf16=1,bw=1 known
expect_usage_error "GPUs are 0 to 0" report --peak 1:bf16=1,bw=1 known
expect_usage_error "unknown type in 'bf17=1'" report --peak bf17=1 known
expect_usage_error "no number of GB/s in 'bw=x'" report --peak bw=x known

cat >table.json <<'JSON'
{"gpus": [
  {"key": "zzz9000", "bytes_per_second": 5e11, "flops_per_second": {"bf16": 1e14}, "source": "ours"}
]}
JSON
roof 200 zzz9000 unknown --gpu-table table.json
roof 400 zzz9000 unknown --gpu-table table.json --peak 0:bf16=200
roof none None unknown # nothing stays behind
mkdir -p .config/rooftap elsewhere/rooftap
cp table.json .config/rooftap/gpus.json
roof 200 zzz9000 unknown
sed s/5e11/1e12/ table.json >elsewhere/rooftap/gpus.json
XDG_CONFIG_HOME=$scratch/elsewhere roof 100 zzz9000 unknown
sed 's/"source"/"sauce"/' table.json >.config/rooftap/gpus.json
expect_usage_error "gpus.json', line 2: unknown member \"sauce\"" report unknown
expect_usage_error "gpus.json', line 2: unknown member \"sauce\"" gpus
expect_usage_error "can't be read: No such file" report --gpu-table none.json unknown
mv .config/rooftap/gpus.json bad.json
"$ROOFTAP" predict --config "$CONFIG" --gpu zzz9000 --gpu-table table.json | grep -q zzz9000 || fail "predict --gpu-table"
expect_usage_error "line 2: unknown member" predict --config "$CONFIG" --gpu l4 --gpu-table bad.json
# a row as `gpus --json` prints it is a row of a table
"$ROOFTAP" gpus --json rtx4090 | sed 's/"rtx4090"/"zzz9000"/; s/\["0x2684"\]/[]/' >printed.json
roof 163.888889 zzz9000 unknown --gpu-table printed.json
finish
