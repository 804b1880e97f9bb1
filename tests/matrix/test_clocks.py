#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CUPTI's clock is not the host's: ahead, behind, in another epoch, drifting, or records alone are early so that kernels seem
to start before their launch. Kernels are joined by ids, so nothing is lost, and how far the clocks were apart is told.
FAILURES row: C05."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import ledger  # noqa: E402
from recording import Case, main, program  # noqa: E402

REPLAYS = 6
SECOND_NS = 1000000000
# A clock's faults: how far apart CUPTI's and the host's are then. 1.7e18 ns back is about the epoch of a boot.
SKEWS = {"": 0, "skew:5000000": 5000000, "skew:-3000000000": 3 * SECOND_NS, "skew:-1700000000000000000": 1700000000 * SECOND_NS}
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


if __name__ == "__main__":
    main()
