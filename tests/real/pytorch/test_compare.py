#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows that compare.py accepts a report that equals its ledger and finds each way in which one can differ."""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
GEMM = {"m": 512, "n": 17, "k": 256, "transa": 1, "transb": 0, "Atype": 14, "Btype": 14, "Ctype": 14}
LEDGER = [
    {"type": "init", "device": "Simulated unit", "time": 1},
    # A call with a nested one, whose kernel belongs to the outer call.
    {"type": "kernel", "name": "simgemm", "call": 2, "device": 0, "start": 100, "end": 160},
    {"type": "call", "call": 2, "outer": 1, "function": "cublasLtMatmul", "nested": True, "args": GEMM, "status": 0},
    {"type": "call", "call": 1, "outer": 0, "function": "cublasGemmEx", "nested": False, "args": GEMM, "status": 0},
    # The same call, refused.
    {"type": "call", "call": 3, "outer": 0, "function": "cublasGemmEx", "nested": False, "args": GEMM, "status": 7},
    {"type": "kernel", "name": "silu", "call": 0, "device": 0, "start": 150, "end": 170},
    {"type": "copy", "bytes": 4, "call": 0, "device": 0, "start": 170, "end": 175},
]
REPORT = {
    "operators": [
        {"name": "cublasGemmEx", "cublas": {"m": 512, "n": 17, "k": 256, "transa": "T", "transb": "N"}, "batch": 1,
         "type_a": "bf16", "type_b": "bf16", "type_c": "bf16", "calls": 1, "failed_calls": 1, "kernels": 1,
         "time_ns": 60},
        {"name": "silu", "cublas": None, "batch": None, "calls": 1, "kernels": 1, "time_ns": 20},
    ],
    "devices": [{"gpu_busy_ns": 75}],
    "coverage": {"kernels": 2, "gpu_time_ns": 80, "calls": 1, "failed_calls": 1},
}


def run(folder, ledger, report):
    (folder / "ledger").write_text("".join(json.dumps(line) + "\n" for line in ledger))
    (folder / "report").write_text(json.dumps(report))
    done = subprocess.run([sys.executable, HERE / "compare.py", folder / "ledger", folder / "report"],
                          capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def changed(*path_and_value):
    report, (*path, last, value) = copy.deepcopy(REPORT), path_and_value
    place = report
    for key in path:
        place = place[key]
    place[last] = value
    return report


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        status, text = run(folder, LEDGER, REPORT)
        assert status == 0 and "EQUAL" in text, text
        swapped = changed("operators", 0, "cublas", {"m": 17, "n": 512, "k": 256, "transa": "T", "transb": "N"})
        wrong = {
            "m and n swapped": swapped,
            "a call too many": changed("operators", 0, "calls", 2),
            "a failed call missed": changed("operators", 0, "failed_calls", 0),
            "a nanosecond": changed("operators", 0, "time_ns", 61),
            "a type": changed("operators", 0, "type_b", "fp16"),
            "a kernel's name": changed("operators", 1, "name", "gelu"),
            "a kernel's time": changed("operators", 1, "time_ns", 21),
            "the number of kernels": changed("coverage", "kernels", 3),
            "the busy time": changed("devices", 0, "gpu_busy_ns", 80),
            "a kernel that isn't there": changed("operators", 1, "name", None),
            "no operators": changed("operators", []),
        }
        for what, report in wrong.items():
            status, text = run(folder, LEDGER, report)
            assert status == 1, f"{what}: {status} {text}"
        status, text = run(folder, LEDGER[:1], {"operators": [], "devices": [],
                                                "coverage": dict.fromkeys(REPORT["coverage"], 0)})
        assert status == 1 and "nothing to compare" in text, text
        assert run(folder, LEDGER, {})[0] == 2
    print(f"equal, and {len(wrong) + 2} ways of being different")


main()
