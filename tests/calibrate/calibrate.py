#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`rooftap calibrate` on the simulated GPU, end to end. Every expected figure is worked out here from the simulator's model as
sim/README.md states it, not from rooftap's code: startup + max(FLOPs / peak, bytes / bandwidth) / efficiency."""
import json
import os
import re
import subprocess
import sys
import unittest

from common import DECODE_LOOP, ROOFTAP, Scratch

# Operand and result bytes, and the key of the simulator's peak, of each path.
PATHS = {
    ("fp32", "fp32", "fma"): (4, 4, "fp32"), ("tf32", "fp32", "tensor"): (4, 4, "tf32"),
    ("bf16", "fp32", "tensor"): (2, 2, "bf16"), ("fp16", "fp32", "tensor"): (2, 2, "fp16"),
    ("fp16", "fp16", "tensor"): (2, 2, "fp16"), ("fp8_e4m3", "fp32", "tensor"): (1, 2, "fp8"),
    ("int8", "int32", "tensor"): (1, 4, "int8"),
}
NO_BF16 = {("fp32", "fp32", "fma"), ("fp16", "fp32", "tensor"), ("fp16", "fp16", "tensor"), ("int8", "int32", "tensor")}
EVENT = 2e-7  # events are floats of milliseconds


def nanoseconds(device, flops, peak, bytes_moved):
    seconds = max(flops / peak, bytes_moved / device["bytes_per_second"]) / device["gemm_efficiency"]
    return device["startup_ns"] + int(seconds * 1e9 + 0.5)


class Calibrate(Scratch):
    # What the simulator takes without a device file's word (sim/README.md).
    unit = {"bytes_per_second": 1e12, "sm_count": 100, "startup_ns": 2000, "other_kernel_ns": 2000,
            "gemm_efficiency": 0.8, "peaks": dict.fromkeys(("fp32", "tf32", "bf16", "fp16", "fp8", "int8"), 100e12)}

    def calibrate(self, gpu="unit", *options):
        out, said = self.rooftap("calibrate", "--quick", "--json", "--simulate", gpu, *options)
        self.assertEqual(said, "")
        self.assertEqual([name for name in os.listdir(self.scratch) if name.startswith("rooftap-calibrate")], [])
        return json.loads(out)

    def check_gemms(self, calibration, device):
        for row in calibration["gemm"]:
            operand, result, peak = PATHS[row["type"], row["accumulate"], row["unit"]]
            m, n, k = row["m"], row["n"], row["k"]
            bytes_moved = (m * k + n * k) * operand + m * n * result
            expected = 2 * m * n * k / nanoseconds(device, 2 * m * n * k, device["peaks"][peak], bytes_moved) * 1e9
            self.assertLess(abs(row["flops_per_second"] / expected - 1), EVENT, row)
            self.assertLessEqual(row["median_flops_per_second"], row["flops_per_second"])
            self.assertGreaterEqual(min(m, n, k), 4096)

    def check_bandwidth(self, calibration, device):
        bandwidth, sms = calibration["bandwidth"], device["sm_count"]
        copied = bandwidth["working_set_bytes"]
        # 48 MiB of L2 cache, as the simulator says: eight times that, twice.
        self.assertEqual(copied, 2 * 8 * 48 * 2**20)
        powers = [2**i for i in range(20) if 2**i < sms]
        self.assertEqual([point["blocks"] for point in bandwidth["by_blocks"]],
                         powers + [sms, 2 * sms, 4 * sms, 8 * sms])
        for point in bandwidth["by_blocks"]:
            rate = device["bytes_per_second"] * min(1, point["blocks"] / sms)
            expected = copied / (device["startup_ns"] + int(copied / rate * 1e9 + 0.5)) * 1e9
            self.assertLess(abs(point["bytes_per_second"] / expected - 1), EVENT, point)
        self.assertEqual(bandwidth["copy_bytes_per_second"], bandwidth["by_blocks"][-1]["bytes_per_second"])
        read = copied / 2
        expected = read / (device["startup_ns"] + int(read / device["bytes_per_second"] * 1e9 + 0.5)) * 1e9
        self.assertLess(abs(bandwidth["read_bytes_per_second"] / expected - 1), EVENT)

    def test_unit(self):
        calibration = self.calibrate()
        self.assertEqual({(row["type"], row["accumulate"], row["unit"]) for row in calibration["gemm"]}, set(PATHS))
        self.check_gemms(calibration, self.unit)
        self.check_bandwidth(calibration, self.unit)
        self.assertEqual(calibration["launch"], {"empty_kernel_ns": 2000.0, "enqueue_ns": None})
        self.assertTrue(calibration["gpu"]["simulated"])
        self.assertEqual(bytes.fromhex(calibration["gpu"]["uuid"]), b"simulated gpu 00")
        self.assertEqual(calibration["clocks"]["sm_clock_highest_hz"], 1e9)
        self.assertFalse(calibration["stopped_early"])

    def test_another_device(self):
        device = {**self.unit, "bytes_per_second": 5e11, "sm_count": 7, "startup_ns": 50, "gemm_efficiency": 0.5,
                  "peaks": {**self.unit["peaks"], "bf16": 9e12, "fp32": 1e11}}
        calibration = self.calibrate("unit", *(word for option in (
            "bytes_per_second=5e11", "sm_count=7", "startup_ns=50", "other_kernel_ns=1234", "gemm_efficiency=0.5",
            "flops_per_second.bf16=9e12", "flops_per_second.fp32=1e11", "held_clock_khz=777000", "throttle_reasons=68")
            for word in ("--sim-option", option)))
        self.check_gemms(calibration, device)
        self.check_bandwidth(calibration, device)
        self.assertEqual(calibration["launch"]["empty_kernel_ns"], 1234)
        self.assertEqual(calibration["clocks"], {"sm_clock_lowest_hz": 777e6, "sm_clock_highest_hz": 777e6,
                                                 "throttle_reasons": 68})

    def test_paths_that_a_gpu_lacks_stay_unknown(self):
        gpus = {row["key"]: row for row in json.loads(self.rooftap("gpus", "--json")[0])["gpus"]}
        key = next(key for key, row in gpus.items() if row["compute_capability"] == "7.5" and row["can_simulate"])
        calibration = self.calibrate(key)
        self.assertEqual({(row["type"], row["accumulate"], row["unit"]) for row in calibration["gemm"]}, NO_BF16)

    def test_whole_run_takes_the_best_shape(self):
        out, _ = self.rooftap("calibrate", "--json", "--simulate", "unit", "-o", "whole.json")
        calibration = json.loads(out)
        self.check_gemms(calibration, self.unit)
        # The start-up weighs least in the largest product.
        self.assertEqual({(row["m"], row["n"], row["k"]) for row in calibration["gemm"]}, {(16384, 8192, 8192)})
        self.assertFalse(calibration["quick"])

    def test_table(self):
        out, said = self.rooftap("calibrate", "--quick", "--simulate", "rtx4090")
        self.assertEqual(said, "")
        self.assertRegex(out, r"\ASimulated rtx4090 - SIMULATED")
        # 165.2 TFLOP/s at an efficiency of 0.8, less the start-up
        self.assertRegex(out, r"\n  bf16, fp32 accumulate +132\.\d +80\.0 % ")
        self.assertRegex(out, r"\n  copy, 64 blocks +504 +50\.0 %")
        kept = f"{self.scratch}/data/rooftap/calibration/simulated-rtx4090.json"
        self.assertIn(f"kept in {kept}", out)
        self.assertTrue(os.path.isfile(kept))

    def test_bad_usage(self):
        for arguments, word in ((["here"], "takes no argument"), (["--device", "x"], "--device is 'x'"),
                                (["--device", "-1"], "--device is '-1'"), (["--simulate", "no-such-gpu"], "no-such-gpu"),
                                (["--sim-option", "sm_count=1"], "--sim-option needs --simulate"),
                                (["--simulate", "unit", "--sim-option", "sms=1"], "sms"),
                                (["--simulate", "unit", "-o", "."], "'.' is no regular file"),
                                (["--simulate", "unit", "-o", "no/folder/x"], "can't be written")):
            out, said = self.rooftap("calibrate", *arguments, status=2)
            self.assertEqual((out, said.count("\n")), ("", 1), said)
            self.assertIn(word, said)

    def test_no_gpu(self):
        if subprocess.run([sys.executable, "-c", "import ctypes; ctypes.CDLL('libcuda.so.1')"],
                          env=self.environment, capture_output=True, check=False).returncode == 0:
            self.skipTest("this machine has a CUDA driver")
        out, said = self.rooftap("calibrate", status=1)
        self.assertEqual((out, said.count("\n")), ("", 1), said)
        self.assertIn("the CUDA driver can't be loaded: libcuda.so.1", said)

    def test_failures_of_the_device(self):
        for fault, word in (("cuInit:100", "CUDA can't start"), ("cublasCreate_v2:1", "cuBLAS can't be used"),
                            ("cuMemAlloc:2", "no memory on the device"), ("cuModuleLoadData:218", "kernels"),
                            ("cuLaunchKernel:719", "a launch"), ("cuGraphLaunch:700:5", "cuGraphLaunch")):
            out, said = self.rooftap("calibrate", "--quick", "--simulate", "unit", status=1,
                                     environment={"SIMGPU_FAULT": fault})
            self.assertEqual((out, said.count("\n")), ("", 1), f"{fault}: {said}")
            self.assertIn(word, said)
        self.assertFalse(os.path.exists(f"{self.scratch}/data"))
        out, said = self.rooftap("calibrate", "--device", "3", "--simulate", "unit", status=1)
        self.assertIn("there is no device 3: CUDA shows 1", said)

    def test_a_path_that_cublas_refuses_is_unknown(self):
        out, _ = self.rooftap("calibrate", "--quick", "--json", "--simulate", "unit",
                              environment={"SIMGPU_FAULT": "cublasLtMatmulAlgoGetHeuristic:15"})
        self.assertNotIn("fp8_e4m3", {row["type"] for row in json.loads(out)["gemm"]})


class Report(Scratch):
    def setUp(self):
        super().setUp()
        self.rooftap("record", "-q", "-o", "session", "--simulate", "unit", "--sim-option", "other_kernel_ns=1500", "--",
                     DECODE_LOOP, "--layers", "2")

    def calibrate(self, gpu, *arguments):
        self.rooftap("calibrate", "--quick", "--simulate", gpu, *arguments)

    def test_taken_up_by_itself(self):
        before = self.report("session")[0]
        self.assertIsNone(before["devices"][0]["calibration"])
        self.assertTrue(all(row["bandwidth_fill"] is None for row in before["operators"]))
        self.calibrate("unit", "--sim-option", "other_kernel_ns=777")
        report, said = self.report("session")
        device, kept = report["devices"][0], f"{self.scratch}/data/rooftap/calibration/simulated-unit.json"
        self.assertEqual(said, "")
        with open(kept, encoding="utf-8") as file:
            measured = json.load(file)
        self.assertEqual(device["calibration"]["file"], kept)
        self.assertTrue(device["calibration"]["simulated"])
        self.assertEqual(device["floor_ns"], 777)
        rates = {(row["type"], row["accumulate"], row["unit"]): row["flops_per_second"] for row in measured["gemm"]}
        for roof in device["roofs"]:
            path = roof["type"], roof["accumulate"], roof["unit"]
            self.assertEqual(roof["achievable_flops_per_second"], rates.get(path))
            if path in rates:
                self.assertEqual(roof["achievable_flops_origin"], "measured")
                self.assertRegex(roof["achievable_flops_source"], r"^SIMULATED by rooftap calibrate on \d{4}-\d\d-\d\d, ")
            self.assertEqual(roof["achievable_bytes_per_second"], measured["bandwidth"]["copy_bytes_per_second"])
        # 100 SMs, so b blocks draw min(1, b/100), less the start-up of 2 us in 0.8 ms or more.
        for row in report["operators"]:
            if row["blocks"] is not None and row["bandwidth_fill"] is not None:
                self.assertAlmostEqual(row["bandwidth_fill"], min(1, row["blocks"] / 100), delta=0.003)
        self.assertTrue(any(row["bandwidth_fill"] is not None for row in report["operators"]))
        # It changes nothing else.
        for one, other in zip(before["operators"], report["operators"]):
            if other["bound"] != "overhead" and one["bound"] != "overhead":
                self.assertEqual({**one, "bandwidth_fill": 0}, {**other, "bandwidth_fill": 0})

    def test_never_for_another_gpu(self):
        self.calibrate("rtx4090")
        self.assertIsNone(self.report("session")[0]["devices"][0]["calibration"])
        kept = f"{self.scratch}/data/rooftap/calibration"
        report, said = self.report("session", "--calibration", f"{kept}/simulated-rtx4090.json", status=2)
        self.assertIsNone(report)
        self.assertEqual(said.count("\n"), 1)
        self.assertIn("is the calibration of 'Simulated rtx4090', a simulated GPU, not of 'Simulated unit'", said)
        os.rename(f"{kept}/simulated-rtx4090.json", f"{kept}/simulated-unit.json")  # somebody copied it there
        report, said = self.report("session", status=2)
        self.assertIsNone(report["devices"][0]["calibration"])
        self.assertEqual(len(report["problems"]), 1)
        self.assertIn("is the calibration of another GPU ('Simulated rtx4090')", said)

    def test_named(self):
        self.calibrate("unit", "-o", "mine.json")
        self.assertFalse(os.path.exists(f"{self.scratch}/data"))
        self.assertIsNone(self.report("session")[0]["devices"][0]["calibration"])
        self.assertEqual(self.report("session", "--calibration", "mine.json")[0]["devices"][0]["calibration"]["file"],
                         "mine.json")

    def test_damaged(self):
        self.calibrate("unit", "-o", "good.json")
        with open(f"{self.scratch}/good.json", encoding="utf-8") as file:
            good = file.read()
        sms = re.sub(r'"sm_count": \d+', '"sm_count": 99', good)
        for text, word in (("", "is no JSON"), (good[:200], "is no JSON"), ("[]", "expected an object"),
                           (good.replace("rooftap calibration", "x"), "kind: expected"),
                           (good.replace('"schema": 1', '"schema": 9'), "is of a newer rooftap"),
                           (sms, "a calibration holds for its very GPU only")):
            with open(f"{self.scratch}/bad.json", "w", encoding="utf-8") as file:
                file.write(text)
            report, said = self.report("session", "--calibration", "bad.json", status=2)
            self.assertIsNone(report)
            self.assertEqual(said.count("\n"), 1, said)
            self.assertIn(word, said)
            self.assertIn("bad.json", said)
        self.assertIn("No such file", self.report("session", "--calibration", "none.json", status=2)[1])
        # A kept one that is damaged: said, and the report is there without it.
        os.makedirs(f"{self.scratch}/data/rooftap/calibration")
        with open(f"{self.scratch}/data/rooftap/calibration/simulated-unit.json", "w", encoding="utf-8") as file:
            file.write(good[:100])
        report, said = self.report("session", status=2)
        self.assertIsNone(report["devices"][0]["calibration"])
        self.assertIn("measure again with 'rooftap calibrate'", said)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
