#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CUPTI's clock is not the host's: ahead, behind, in another epoch, drifting, or records alone are early so that kernels seem
to start before their launch. Kernels are joined by ids, so nothing is lost, and how far the clocks were apart is told.
FAILURES row: C05."""
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import ledger  # noqa: E402
import test_windows  # noqa: E402
from recording import Case, main, program  # noqa: E402

REPLAYS = 6
SECOND_NS = 1000000000
# A clock's faults: how far apart CUPTI's and the host's are then. 1.7e18 ns back is about the epoch of a boot.
SKEWS = {"": 0, "skew:5000000": 5000000, "skew:-3000000000": 3 * SECOND_NS, "skew:-1700000000000000000": 1700000000 * SECOND_NS}
TOLERANCE_NS = 1000000  # within which two clocks are taken for one
NOISE_NS = SECOND_NS // 10  # a host that was interrupted between two readings


class Clocks(Case):
    def of(self, fault, mode="captured", **options):
        session = self.recorded([program("graphs"), mode, str(REPLAYS)],
                                environment={"SIMGPU_CUPTI_FAULT": fault} if fault else None, **options)
        process, = session.report["processes"]
        return session, process["clocks"]

    def test_skew(self):
        for fault, skew in SKEWS.items():
            for mode in ("eager", "captured", "forked"):
                with self.subTest(fault=fault, mode=mode):
                    session, clocks = self.of(fault, mode)
                    self.assertEqual(ledger.differences(session), [])
                    self.assertGreaterEqual(clocks["anchors"], 1)
                    self.assertAlmostEqual(clocks["max_skew_ns"], skew, delta=NOISE_NS)
                    self.assertEqual(session.report["coverage"]["kernels"], len(session.ledger("kernel")))

    def test_before_their_launch(self):
        session, _ = self.of("early:1000000000", "eager")
        self.assertEqual(ledger.differences(session), [])
        self.assertEqual(session.report["coverage"]["kernels_unjoined"], 0)

    def test_gpu_times_on_the_host_clock(self):
        """With a clock an hour behind, busy time and span of the GPU are those of the ledger all the same."""
        plain, _ = self.of("", "captured")
        skewed, _ = self.of("skew:-3600000000000", "captured")
        for session in (plain, skewed):
            device, = session.report["devices"]
            lines = session.ledger("kernel")
            self.assertEqual(device["gpu_busy_ns"], sum(line["end"] - line["start"] for line in lines))  # one stream
            self.assertEqual(device["span_ns"], max(line["end"] for line in lines) - min(line["start"] for line in lines))

    def timed_span(self, session):
        """From the first kernel that was timed to the last, as far as windows were open: all by the host's clock."""
        windows = sorted((record["realtime_ns"], record["what"]) for record in session.records("window"))
        opened = [at for at, what in windows if what == test_windows.OPEN]
        closed = [at for at, what in windows if what == test_windows.CLOSE]
        kernels = [line for line in session.ledger("kernel")
                   if any(a <= line["start"] and line["end"] <= b for a, b in zip(opened, closed))]
        first, last = min(line["start"] for line in kernels), max(line["end"] for line in kernels)
        return sum(max(0, min(last, b) - max(first, a)) for a, b in zip(opened, closed))

    def test_windows(self):
        """Windows are the host's: with CUPTI's clock an hour away, what was timed lies in them all the same."""
        for fault in ("", "skew:-3600000000000", "skew:3600000000000"):
            with self.subTest(fault):
                steps = test_windows.Steps(self.session(), ["--delay", "ctl"], {"SIMGPU_CUPTI_FAULT": fault} if fault else None)
                steps.do("eager 2")
                for _ in range(2):
                    self.assertEqual(test_windows.ctl("start", steps.pid()).status, 0)
                    steps.do("eager 1")
                    time.sleep(0.05)  # so long that a millisecond, the tolerance, is not what is seen
                    steps.do("eager 2")
                    self.assertEqual(test_windows.ctl("stop", steps.pid()).status, 0)
                    steps.do("eager 4")
                status, _, err = steps.end()
                self.assertEqual((status, err), (0, ""))
                device, = steps.session.report["devices"]
                self.assertTrue(device["time"]["in_windows"])
                self.assertEqual(steps.session.report["coverage"]["kernels"], 2 * 3 * test_windows.GEMMS)
                span = self.timed_span(steps.session)
                self.assertGreater(span, 90000000)
                self.assertAlmostEqual(device["time"]["span_ns"], span, delta=4 * TOLERANCE_NS)


if __name__ == "__main__":
    main()
