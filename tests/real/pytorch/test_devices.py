#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch on one and on two simulated GPUs, alone and recorded: the report equals the ledger, device by device.

    test_devices.py BUILD_FOLDER PYTHON"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import compare

HERE = pathlib.Path(__file__).resolve().parent
BUILD, PYTHON = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
ROOFTAP, SIM = BUILD / "bin" / "rooftap", BUILD / "lib" / "rooftap" / "sim"
STEPS = 20


class Devices(unittest.TestCase):
    maxDiff = None

    def run_on(self, count, scratch, *record):
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("SIMGPU_", "CUDA_"))}
        environment["SIMGPU_LEDGER"] = f"{scratch}/ledger-%p"
        if not record:
            environment.update(LD_LIBRARY_PATH=str(SIM), SIMGPU_DEVICE_COUNT=str(count))
        done = subprocess.run([*record, PYTHON, str(HERE / "devices.py"), "--steps", str(STEPS)], env=environment,
                              capture_output=True, text=True, timeout=600)
        self.assertEqual((done.returncode, done.stdout.split(" x ")[0]), (0, str(count)), done.stderr)

    def check(self, count):
        with tempfile.TemporaryDirectory() as scratch:
            self.run_on(count, scratch)
            for ledger in pathlib.Path(scratch).glob("ledger-*"):
                ledger.unlink()
            self.run_on(count, scratch, str(ROOFTAP), "record", "-q", "-o", f"{scratch}/session", "--simulate", "h100-sxm",
                        "--sim-option", f"devices={count}", "--")
            path = pathlib.Path(scratch) / "report.json"
            path.write_text(subprocess.run([str(ROOFTAP), "report", "--json", f"{scratch}/session"], check=True,
                                           capture_output=True, text=True).stdout)
            ledgers = sorted(map(str, pathlib.Path(scratch).glob("ledger-*")))
            compared = subprocess.run([sys.executable, "-B", str(HERE / "compare.py"), *ledgers, str(path)],
                                      capture_output=True, text=True)
            self.assertEqual(compared.returncode, 0, compared.stdout)
            return [entry for _, entry in compare.read_ledger(ledgers)], json.loads(path.read_text())

    def test_one(self):
        entries, report = self.check(1)
        self.assertEqual({entry["device"] for entry in entries if entry["type"] == "kernel"}, {0})
        self.assertEqual(len(report["devices"]), 1)

    def test_two(self):
        entries, report = self.check(2)
        ran = collections.Counter(entry["device"] for entry in entries if entry["type"] == "kernel")
        reported = collections.Counter()
        for row in report["operators"]:
            reported[row["device"]] += row["kernels"] or 0
        self.assertEqual(reported, ran)
        for index, device in enumerate(report["devices"]):
            copied = collections.Counter()
            for entry in entries:
                if entry["type"] == "copy" and entry["device"] == index and entry["copy_kind"] == 10:
                    copied[entry["from_device"], entry["to_device"]] += entry["bytes"]
            self.assertEqual({(row["from_device"], row["to_device"]): row["bytes"] for row in device["copies"]
                              if row["what"] == "PtoP"}, copied)
            time = device["time"]
            self.assertEqual(time["compute_ns"] + time["communication_ns"] + time["copy_ns"] + time["gap_ns"],
                             time["span_ns"])
            row = next(row for row in report["operators"] if row["device"] == index and row["family"] == "communication")
            self.assertEqual(row["kernels"], STEPS)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1, warnings="ignore")  # compare.py leaves closing files to Python
