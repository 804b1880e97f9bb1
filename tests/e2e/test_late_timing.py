#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Somebody else holds CUDA_INJECTION64_PATH: timing starts in a call of the program, and what came before it is counted."""
import ledger
from recording import Case, library, main, program

TAKEN = {"CUDA_INJECTION64_PATH": library("injection")}


class LateTiming(Case):
    def late(self, *arguments):
        session = self.recorded([program("calls"), *arguments], environment=TAKEN)
        process, = session.report["processes"]
        self.assertEqual(process["timing"], "on")
        return session, process["timing_detail"]

    def check_launches(self, session, launches, untimed, kernels):
        """Of LAUNCHES the first UNTIMED came too early; all others are timed as the ledger has it."""
        coverage = session.report["coverage"]
        self.assertEqual((coverage["launches"], coverage["kernels_untimed"], coverage["records_dropped"]),
                         (launches, untimed, 0))
        ran = session.ledger("kernel")
        self.assertEqual(len(ran), kernels)
        timed = ran[kernels - (launches - untimed):]
        self.assertEqual((coverage["kernels"], coverage["gpu_time_ns"]),
                         (len(timed), sum(line["end"] - line["start"] for line in timed)))
        self.assertEqual(coverage["kernels_unjoined"], 0)

    def test_initialised_first(self):
        session, detail = self.late("one", "ex", "64", "32", "16", "40")
        ledger.assert_equal(self, session, calls=40, kernels=40)
        self.assertEqual(session.report["coverage"]["kernels_untimed"], 0)
        self.assertNotIn("first call", detail)

    def test_initialised_by_the_first_launch(self):
        session, detail = self.late("bare", "5")
        self.check_launches(session, 5, untimed=1, kernels=5)
        self.assertIn("not from the first call on", detail)
        self.assertIn("1 kernel untimed", session.text)

    def test_captured_first(self):
        """What a capture took ran no kernel that could have been timed."""
        session, detail = self.late("captured", "77", "4")
        self.check_launches(session, 81, untimed=0, kernels=4)

    def test_with_injection(self):
        session = self.recorded([program("calls"), "bare", "5"])
        self.check_launches(session, 5, untimed=0, kernels=5)


if __name__ == "__main__":
    main()
