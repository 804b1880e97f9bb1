#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The keys that --sim-option takes are those that the simulator reads, and both take and refuse the same values. What each
knows is taken from its own message about a key that neither has."""
import ctypes
import os
import re
import subprocess
import tempfile
import unittest

ROOFTAP, SIMGPU = os.environ["ROOFTAP"], os.environ["SIMGPU"]

# Values that both take, values that both refuse. A key of either table that has no row here fails the test.
VALUES = {
    "name": (["a board", "x" * 117], ["x" * 118, " "]),
    "pci_device_id": (["0x2684", "0", "65535"], ["65536", "-1", "card", "12x"]),
    "sm_count": (["1", "128"], ["0", "-3", "many", "1e7", "12 SMs"]),
    "compute_capability": (["8.9", "1.0", "99.9"], ["8", "0.9", "100.0", "8.10", "8.-1", "8.9a"]),
    "clock_khz": (["1", "2520000"], ["0", "3e9", "fast"]),
    "memory_bytes": (["1048576", "8e10"], ["1048575", "1e16", "8G"]),
    "bytes_per_second": (["1", "1.008e12"], ["0", "-1e12", "2e18", "1TB"]),
    "gemm_efficiency": (["1e-6", "0.8", "1"], ["0", "1.01", "nan", "80%"]),
    "startup_ns": (["0", "2000"], ["-1", "2us", "2e15"]),
    "other_kernel_ns": (["0", "2000"], ["-1", "2us", "2e15"]),
    "programmatic_overlap_ns": (["0", "700"], ["-1", "2us", "2e15"]),
    "gemm_tile": (["64x64", "1x128"], ["64", "64x", "0x64", "64x0", "64x64x64", "64X64"]),
    "gemm_kernels": (["1", "2"], ["0", "3", "two"]),
    "gemm_nested": (["0", "1", "true", "false"], ["2", "yes"]),
    "gemm_slowdown": (["1", "2.5", "1e9"], ["0.99", "0", "-5", "2e9", "inf", "slow"]),
    "byte_kernel": (["copy:2:2:128", "a_1:0:0.5:1"], ["copy", "copy:2:2", "copy:2:0:1", "copy:2:2:0", "a b:1:1:1", ":1:1:1"]),
    "index_kernel": (["choose:2:4:8", "a_1:0:1:65536"], ["choose", "choose:2:4", "choose:2:4:0", "choose:2:4:65537", "a b:1:1:1"]),
    "cupti": (["11.8", "12.4", "12.8", "12.9", "13.0", "13.2", "13.3", "13.4"], ["12", "13.5", "newest"]),
    "driver_version": (["11.0", "12.2", "13.9"], ["10.2", "14.0", "12", "12.10", "new"]),
    "graph_iterations": (["0", "3", "1e6"], ["-1", "2e6", "some"]),
    "held_clock_khz": (["1", "1410000"], ["0", "3e9", "fast"]),
    "memory_bus_bits": (["384", "5120"], ["0", "-1", "1e7", "384bit"]),
    "l2_bytes": (["0", "75497472"], ["-1", "3e9", "72M"]),
    "power_mw": (["0", "700000"], ["-1", "3e9", "700W"]),
    "temperature_c": (["0", "83"], ["-1", "201", "hot"]),
    "throttle_reasons": (["0", "4", "511"], ["-1", "512", "1.5", "power"]),
    "devices": (["1", "2", "8"], ["0", "9", "-1", "1.5", "two"]),
    "gemm_fail_every": (["0", "1", "5", "1e3"], ["-1", "1.5", "5:13", "2e15"]),
    "flops_per_second.PATH": (["1", "1.652e14"], ["0", "-1", "1e22", "fast"]),
}


def words(pattern, text):
    found = re.search(pattern, text)
    if not found:
        raise AssertionError(f"no {pattern!r} in: {text}")
    return found.group(1).split()


class SimOptions(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.count = 0

    def rooftap(self, option):
        """Status and standard error of a recording with OPTION; what was refused may have started and left nothing."""
        self.count += 1
        folder, marker = f"{self.scratch.name}/s{self.count}", f"{self.scratch.name}/started{self.count}"
        run = subprocess.run([ROOFTAP, "record", "-q", "-o", folder, "--simulate", "unit", "--sim-option", option, "--",
                              "touch", marker], capture_output=True, text=True)
        self.assertEqual((os.path.exists(marker), os.path.exists(folder)), (run.returncode == 0,) * 2, option)
        self.assertEqual(run.stderr.count("\n"), 0 if run.returncode == 0 else 1, run.stderr)
        return run.returncode, run.stderr

    def simulator(self, option):
        """0 or 2, and standard error of the simulator's own parser."""
        device = f"{self.scratch.name}/device"
        with open(device, "w") as file:
            file.write(f"flops_per_second.bf16 = 1e14\n{option}\n")
        with tempfile.TemporaryFile("w+") as err:
            child = os.fork()  # a process reads its device once
            if child == 0:
                os.dup2(err.fileno(), 2)
                os.environ["SIMGPU_DEVICE"] = device
                broken = ctypes.CDLL(SIMGPU).simgpu_device_broken
                broken.restype = ctypes.c_bool
                os._exit(2 if broken() else 0)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            err.seek(0)
            return status, err.read()

    def test_the_tables_have_the_same_keys(self):
        said = {}
        for who, ask in (("rooftap", self.rooftap), ("simulator", self.simulator)):
            status, text = ask("no_such_key=1")
            self.assertEqual(status, 2)
            self.assertIn("no_such_key", text)
            said[who] = words(r"expected one of the keys ([\w. ]+)", text)
        self.assertEqual(said["rooftap"], said["simulator"])
        self.assertEqual(sorted(said["rooftap"]), sorted(VALUES))
        paths = words(r"\(PATH: ([\w ]+)\)", self.rooftap("no_such_key=1")[1])
        self.assertEqual(paths, words("expected one of the paths (.*)", self.simulator("flops_per_second.x=1")[1]))
        self.assertEqual(self.rooftap("flops_per_second.x=1")[0], 2)
        for path in paths:
            self.assertEqual((self.rooftap(f"flops_per_second.{path}=1e14")[0],
                              self.simulator(f"flops_per_second.{path}=1e14")[0]), (0, 0), path)

    def test_the_tables_take_the_same_values(self):
        for key, (good, bad) in VALUES.items():
            for value, status in [(value, 0) for value in good] + [(value, 2) for value in bad]:
                option = f"{key.replace('PATH', 'fp8')}={value}"
                with self.subTest(option):
                    self.assertEqual((self.rooftap(option)[0], self.simulator(option)[0]), (status, status))

    def test_the_line_says_what_is_wrong(self):
        text = self.rooftap("gemm_efficiency=0")[1]
        for word in ("--sim-option", "gemm_efficiency", "'0'", "a fraction above 0, at most 1"):
            self.assertIn(word, text)
        self.assertEqual(self.rooftap("name=" + "x" * 1000)[0], 2)


if __name__ == "__main__":
    unittest.main()
