#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `gpus` as text and as JSON tells of the same rows, each simulatable one has what a device file needs, and ridges and
# crossing lengths are those of published texts.
. "$(dirname "$0")/common.sh"
unset XDG_CONFIG_HOME
export HOME=$scratch

"$ROOFTAP" gpus >text || fail "gpus"
"$ROOFTAP" gpus --json >json || fail "gpus --json"
python3 - <<'PY' || fail "JSON and text of gpus"
import json
rows = json.load(open("json"))["gpus"]
keys = [row["key"] for row in rows]
assert len(keys) == len(set(keys)) and "unit" in keys and "rtx4090" in keys, keys
listed = [line.split()[0] for line in open("text") if line.strip()][1:len(keys) + 1]
assert listed == keys, (listed, keys)
simulated = {line.split()[0] for line in open("text") if line.split()[1:2] == ["yes"]}
assert simulated == {row["key"] for row in rows if row["can_simulate"]}, simulated
assert {"mi300x", "radeon-pro-vii", "tpu-v5e"} == set(keys) - simulated, set(keys) - simulated
for row in rows:
    assert row["source"] and row["confidence"] and row["origin"] == "table", row
    assert row["memory_bytes"] and row["bytes_per_second"], row
    for roof in row["roofs"]:
        assert abs(roof["ridge"] * row["bytes_per_second"] / roof["flops_per_second"] - 1) < 1e-12, row
        assert row["flops_per_second"][roof["path"]] == roof["flops_per_second"], row
unit = rows[keys.index("unit")]
bf16 = [roof for roof in unit["roofs"] if roof["type"] == "bf16"]
assert bf16 and bf16[0]["ridge"] == 100.0, bf16
PY
for key in mi300x tpu-v5e radeon-pro-vii; do
    expect_usage_error "can't be simulated" record --simulate "$key" -- true
done

# ridges of one type, ascending; figures of a published text: peak by bandwidth, worked out by hand
"$ROOFTAP" gpus --dtype bf16 >bf16 && "$ROOFTAP" gpus -d fp8 >fp8 || fail "gpus --dtype"
python3 - <<'PY' || fail "ridges of one type"
def ridges(name):
    rows = {}
    for line in open(name).read().split("\n\n")[0].splitlines()[1:]:
        words = line.split()
        numbers = [word for word in words if word.replace(".", "", 1).isdigit() and "." in word]
        rows[words[0]] = float(numbers[-1])
    return rows
bf16, fp8 = ridges("bf16"), ridges("fp8")
for table in bf16, fp8:
    assert list(table.values()) == sorted(table.values()), table
expected = {"h100-sxm": 295.4, "mi300x": 246.7, "rtx4090": 163.9, "tpu-v5e": 240.5, "l4": 403.3}
assert {key: bf16[key] for key in expected} == expected, bf16
assert fp8["h100-sxm"] == 590.7, fp8
assert "t4" not in bf16 and "rtx3090" not in fp8, (bf16, fp8) # no such units
PY
grep -q "more GPUs have no such units" fp8 || fail "GPUs without fp8 are left out silently"

# lengths past which causal prefill attention is compute-bound
"$ROOFTAP" gpus --lridge 1 >g1 && "$ROOFTAP" gpus --lridge 4 >g4 && "$ROOFTAP" gpus --lridge 8 >g8 || fail "gpus --lridge"
# crossing FILE GPU COMPUTE KV KV_ONLY ALL
crossing() {
    local found
    found=$(awk -v gpu="$2" '$1 == gpu { print $(NF - 4), $(NF - 3), $(NF - 1), $NF }' "$1" | grep "^$3 $4 ")
    expect "$1 $2" "$3 $4 $5 $6" "$found"
}
crossing g1 h100-sxm bf16 bf16 590.7 1181.5
crossing g4 h100-sxm bf16 bf16 147.7 738.4
crossing g8 h100-sxm bf16 bf16 73.8 664.6
crossing g1 h100-sxm fp8 bf16 1181.5 1772.2 # 590.746 x (2 + 1 x 1)
crossing g1 h100-sxm fp8 fp8 590.7 1181.5
crossing g1 rtx4090 bf16 bf16 327.8 655.6
crossing g1 tpu-v5e bf16 bf16 481.1 962.1
crossing g1 l4 bf16 bf16 806.7 1613.3
"$ROOFTAP" gpus --lridge 1 --kv fp8 --json h100-sxm >one.json || fail "gpus --lridge --json"
python3 - <<'PY' || fail "crossings in JSON"
import json
gpu, = json.load(open("one.json"))["gpus"]
found = {(c["compute"], c["kv"]): (c["tokens_kv"], c["tokens"]) for c in gpu["crossings"]}
assert set(found) == {("bf16", "fp8_e4m3"), ("fp8-e4m3", "fp8_e4m3")}, found
assert abs(found["fp8-e4m3", "fp8_e4m3"][0] - 590.746) < 0.001, found
assert abs(found["bf16", "fp8_e4m3"][0] - 295.373) < 0.001, found
PY

# one GPU in full: by key, by the name that is printed, by the driver's, never by a part of one
"$ROOFTAP" gpus l4 >full || fail "gpus l4"
for line in "NVIDIA L4 page" "10de:27b8" "242.00" "403.33" "72 W card"; do
    grep -qF -- "$line" full || fail "'gpus l4' does not say '$line'"
done
"$ROOFTAP" gpus "NVIDIA L4" | cmp -s - full || fail "not found by the driver's name"
"$ROOFTAP" gpus L4 | cmp -s - full || fail "not found by its name"
cmp -s <("$ROOFTAP" gpus l4 --json) <("$ROOFTAP" gpus --json l4) || fail "options behind a GPU's name"
expect_usage_error "did you mean" gpus h100
expect_usage_error "no GPU is called 'NVIDIA H100'" gpus "NVIDIA H100"
expect_usage_error "takes one GPU" gpus l4 l40
expect_usage_error "--dtype takes fp64" gpus --dtype bf17
expect_usage_error "--lridge takes query heads" gpus --lridge 0
expect_usage_error "--lridge takes query heads" gpus --lridge 1.5
expect_usage_error "--lridge takes query heads" gpus --lridge 99999999999
expect_usage_error "--kv is about --lridge" gpus --kv fp8
expect_usage_error "--kv takes bf16|fp8" gpus --lridge 1 --kv int8

# rows of one's own
echo '{"gpus": [{"key": "lab-gpu", "bytes_per_second": 1e12, "flops_per_second": {"bf16": 2e14}},
 {"key": "l4", "bytes_per_second": 2e12, "flops_per_second": {"bf16": 2e14}}]}' >mine.json
"$ROOFTAP" gpus --gpu-table mine.json --json >own.json || fail "gpus --gpu-table"
python3 - <<'PY' || fail "rows of one's own"
import json
rows = json.load(open("own.json"))["gpus"]
assert [row["key"] for row in rows[:2]] == ["lab-gpu", "l4"], rows[:2]
assert sum(row["key"] == "l4" for row in rows) == 1
assert rows[0]["roofs"][0]["ridge"] == 200 and rows[0]["origin"] == "table_file" and not rows[0]["can_simulate"], rows[0]
PY
finish
