#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The clocks beside a recording: exact where the simulated GPU holds a clock, joined by identity, and a recording that does
not notice what NVML does."""
import json
import os
import signal
import subprocess
import sys
import time
import unittest

from common import DECODE_LOOP, ROOFTAP, SIMULATOR, Scratch

# A run on the simulator's real clock that is long enough for several readings: 1.2 s on a simulated H100.
LOAD = ["--sim-option", "gemm_slowdown=200"]
OWN_UUID = "GPU-" + "-".join(["73696d75", "6c61", "7465", "6420", "677075203030"])  # "simulated gpu 00"
OTHER_UUID = "GPU-00000000-1111-2222-3333-444444444444"


def samplers(marker):
    """Processes of the sampler that have MARKER in their environment."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm", encoding="utf-8") as comm, open(f"/proc/{pid}/environ", "rb") as environ:
                if comm.read().strip() == "rooftap-clocks" and marker.encode() in environ.read():
                    found.append(int(pid))
        except OSError:
            pass
    return found


class HeldClock(Scratch):
    def record(self, *options):
        self.rooftap("record", "-q", "-o", "session", "--simulate", "h100-sxm", *LOAD, *options, "--", DECODE_LOOP,
                     environment={"SIMGPU_CLOCK": "real"})
        return self.report("session")[0]["devices"][0]

    def test_exact(self):
        device = self.record("--sim-option", "held_clock_khz=1410000", "--sim-option", "throttle_reasons=5",
                             "--sim-option", "power_mw=650500", "--sim-option", "temperature_c=71")
        clocks = device["clocks"]
        self.assertGreaterEqual(clocks["readings_under_load"], 1)  # six, on a machine that has the time
        self.assertGreaterEqual(clocks["readings"], clocks["readings_under_load"])
        self.assertEqual(clocks["sm_clock_hz"], 1.41e9)
        self.assertEqual(clocks["sm_clock_lowest_hz"], 1.41e9)
        self.assertEqual(clocks["power_w"], 650.5)
        self.assertEqual(clocks["temperature_highest_c"], 71)
        shares = {name for name, share in clocks["throttle_share"].items() if share}
        self.assertEqual(shares, {"gpu_idle", "sw_power_cap"})
        self.assertEqual(clocks["throttle_share"]["sw_power_cap"], 1)
        # H100 SXM: 1830 MHz reproduces the specification (132 SMs x 4096 FLOP x 1.83 GHz = 989.4 TFLOP/s).
        self.assertEqual(clocks["specification_clock_hz"], 1.83e9)
        self.assertAlmostEqual(clocks["compute_scale"], 1410 / 1830, 12)
        for roof in device["roofs"]:
            self.assertAlmostEqual(roof["held_clock_flops_per_second"] / roof["flops_per_second"], 1410 / 1830, 12)

    def test_never_up(self):
        device = self.record("--sim-option", "held_clock_khz=1980000")
        self.assertEqual(device["clocks"]["sm_clock_hz"], 1.98e9)
        self.assertEqual(device["clocks"]["compute_scale"], 1)
        for roof in device["roofs"]:
            self.assertEqual(roof["held_clock_flops_per_second"], roof["flops_per_second"])
        self.assertIsNone(device["clocks"]["power_w"])

    def test_left_out(self):
        device = self.record("--no-clocks")
        self.assertFalse(os.path.exists(f"{self.scratch}/session/gpu.clocks"))
        self.assertEqual(device["clocks"]["readings"], 0)
        self.assertIsNone(device["clocks"]["sm_clock_hz"])
        self.assertIsNone(device["roofs"][0]["held_clock_flops_per_second"])
        with open(f"{self.scratch}/session/session.json", encoding="utf-8") as file:
            self.assertEqual(json.load(file)["clocks"]["problem"], "switched off by --no-clocks")


class RealNvml(Scratch):
    """NVML as on a real machine: found by the loader, with an order of its own."""

    def record(self, fake, command=None, status=0, extra=None):
        """The session's note on clocks, and what was said. FAKE None: there is no NVML."""
        with open(f"{self.scratch}/device.conf", "w", encoding="utf-8") as device:
            device.write("name = h100-sxm\npci_device_id = 0x2330\nsm_count = 132\nclock_khz = 1830000\n"
                         "bytes_per_second = 3.35e12\nflops_per_second.bf16 = 989.5e12\ngemm_slowdown = 200\n")
        environment = {"SIMGPU_CLOCK": "real", "SIMGPU_DEVICE": f"{self.scratch}/device.conf",
                       "MARKER": self.id(), **(extra or {})}
        if fake is not None:
            environment.update(LD_LIBRARY_PATH=os.environ["FAKE_NVML_FOLDER"], FAKE_NVML=fake)
        command = command or ["env", f"LD_LIBRARY_PATH={SIMULATOR}", DECODE_LOOP]
        session = f"session{len(os.listdir(self.scratch))}"
        out, said = self.rooftap("record", "-q", "-o", session, "--", *command, environment=environment, status=status)
        self.assertNotIn("NVML", out + said)
        self.assertEqual(samplers(self.id()), [])
        with open(f"{self.scratch}/{session}/session.json", encoding="utf-8") as file:
            return session, json.load(file).get("clocks")

    def clocks(self, fake):
        session, note = self.record(fake)
        return self.report(session)[0]["devices"][0]["clocks"], note

    def test_order_is_not_cudas(self):
        own, other = f"{OWN_UUID},0,1,0,1410", f"{OTHER_UUID},0,7,0,300"
        for order in (f"well;{other};{own}", f"well;{own};{other}"):
            clocks, note = self.clocks(order)
            self.assertEqual(clocks["sm_clock_hz"], 1.41e9, order)
            self.assertEqual(clocks["memory_clock_hz"], 5e9)
            self.assertEqual(note["gpus"], 2)
            self.assertEqual(note["samples"], 2 * clocks["readings"])
            self.assertIsNone(note["problem"])

    def test_another_gpu_at_the_address(self):
        clocks, _ = self.clocks(f"well;{OTHER_UUID},0,1,0,300")
        self.assertEqual(clocks["readings"], 0)
        self.assertIsNone(clocks["sm_clock_hz"])

    def test_by_address_where_there_is_no_uuid(self):
        clocks, _ = self.clocks("well;unreadable,0,1,0,1234;unreadable,0,2,0,300")
        self.assertEqual(clocks["sm_clock_hz"], 1.234e9)

    def test_missing(self):
        session, note = self.record(None)
        report = self.report(session)[0]
        self.assertEqual(report["devices"][0]["clocks"]["readings"], 0)
        self.assertEqual(report["session"]["clocks_problem"], note["problem"])
        self.assertEqual(report["problems"], [])
        with open(f"{self.scratch}/{session}/gpu.clocks", "w", encoding="utf-8") as file:
            file.write("nonsense")
        self.assertRegex(self.report(session)[0]["problems"][0], "gpu.clocks: no rooftap trace")
        self.assertIn("NVML is not there", note["problem"])

    def test_what_nvml_does_is_not_noticed(self):
        gpu = f"{OWN_UUID},0,1,0,1410"
        for behaviour, problem in (("fail-init", "NVML can't start: Unknown Error"), ("crash-init", "NVML crashed"),
                                   ("hang-init", "NVML was not ready before the program ended"),
                                   ("crash-clock", "NVML crashed"), ("hang-clock", "NVML stopped answering"),
                                   ("fail-clock", None), ("lost", None)):
            session, note = self.record(f"{behaviour};{gpu}")
            self.assertEqual(note["problem"], problem, behaviour)
            self.assertEqual(note["samples"], 0, behaviour)
            self.assertIsNone(self.report(session)[0]["devices"][0]["clocks"]["sm_clock_hz"])
        self.assertEqual([name for name in os.listdir(self.scratch) if name.startswith("core")], [])
        self.assertIn("shows no GPU", self.record("well")[1]["problem"])

    def test_status_and_signals(self):
        gpu = f"{OWN_UUID},0,1,0,1410"
        for behaviour in ("well", "hang-init", "hang-clock", "crash-clock"):
            self.record(f"{behaviour};{gpu}", ["sh", "-c", "exit 7"], status=7)
            self.record(f"{behaviour};{gpu}", ["sh", "-c", "kill -TERM $$"], status=-signal.SIGTERM)

    def test_a_program_that_cannot_be_run(self):
        environment = {"LD_LIBRARY_PATH": os.environ["FAKE_NVML_FOLDER"], "MARKER": self.id(),
                       "FAKE_NVML": f"hang-init;{OWN_UUID},0,1,0,1410"}
        self.rooftap("record", "-q", "-o", "never", "--", "./no-such-program", environment=environment, status=127)
        self.assertFalse(os.path.exists(f"{self.scratch}/never"))
        self.assertEqual(samplers(self.id()), [])

    def test_nothing_is_left_of_a_run_without_a_trace(self):
        session, note = self.record(f"well;{OWN_UUID},0,1,0,1410", ["sleep", "0.5"])
        self.assertIsNone(note)
        self.assertEqual(os.listdir(f"{self.scratch}/{session}"), ["session.json"])

    def test_dies_with_the_recorder(self):
        for behaviour in ("well", "hang-init", "hang-clock"):
            environment = {**self.environment, "MARKER": self.id(), "LD_LIBRARY_PATH": os.environ["FAKE_NVML_FOLDER"],
                           "FAKE_NVML": f"{behaviour};{OWN_UUID},0,1,0,1410"}
            with subprocess.Popen([ROOFTAP, "record", "-q", "-o", f"{self.scratch}/{behaviour}", "--", "sleep", "30"],
                                  env=environment, start_new_session=True) as recorder:
                self.until(lambda: samplers(self.id()))
                recorder.kill()
            os.killpg(recorder.pid, signal.SIGKILL)
            self.until(lambda: not samplers(self.id()))

    def until(self, condition):
        """A bound that only a hang reaches."""
        for _ in range(3000):
            if condition():
                return
            time.sleep(0.02)
        self.fail("never came true")


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
