#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The attention graph's one kernel must be in the ledger, with the grid of its shapes and the time of its work:
# FLOPs 4*2*28*129*200*128, on bf16 at 989.5 TFLOP/s, over the efficiency of 0.80, and 2000 ns to start.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
SIMGPU_LEDGER=$scratch/ledger "$1"
python3 - "$scratch/ledger" <<'PYTHON'
import json, sys
kernels = [e for e in map(json.loads, open(sys.argv[1])) if e["type"] == "kernel"]
refused = [e["function"] for e in map(json.loads, open(sys.argv[1])) if e["type"] == "not_supported"]
assert len(kernels) == 1, kernels
kernel = kernels[0]
assert kernel["grid"] == [2, 28, 2], kernel["grid"]
assert "sdpa_sm90_flash_fprop" in kernel["name"], kernel["name"]
flops, data = 4 * 2 * 28 * 129 * 200 * 128, 2 * 2 * 128 * (2 * 28 * 129 + 2 * 4 * 200)
expected = max(flops / 989.5e12, data / 3350e9) / 0.80 * 1e9 + 2000
assert abs(kernel["end"] - kernel["start"] - expected) <= 1, (kernel, expected)
assert "cudnnPoolingForward" in refused, refused
print("one kernel,", kernel["end"] - kernel["start"], "ns")
PYTHON
