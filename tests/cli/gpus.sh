#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `gpus` as text and as JSON tells of the same rows, and each simulatable one has what a device file needs.
. "$(dirname "$0")/common.sh"

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
    assert row["source"], row
    assert row["memory_bytes"] and row["bytes_per_second"], row
    for roof in row["roofs"]:
        assert abs(roof["ridge"] * row["bytes_per_second"] / roof["flops_per_second"] - 1) < 1e-12, row
unit = rows[keys.index("unit")]
bf16 = [roof for roof in unit["roofs"] if roof["type"] == "bf16"]
assert bf16 and bf16[0]["ridge"] == 100.0, bf16
PY
for key in mi300x tpu-v5e; do
    expect_usage_error "can't be simulated" record --simulate "$key" -- true
done
finish
