#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""GEMMs that are slow or fail because the simulated device's options say so, through ledger and report."""
import ledger
from recording import Case, main, program

COMPUTE_BOUND = [program("calls"), "one", "ex", "4096", "4096", "10000", "10"]
ALONE_NS = 4196304  # 2 * 4096 * 4096 * 10000 FLOPs / 100e12 / 0.8, and 2000 to start


class Slow(Case):
    def only_row(self, *sim_options):
        session = self.recorded(COMPUTE_BOUND, sim_options=sim_options)
        ledger.assert_equal(self, session, calls=10, kernels=10)
        self.assertEqual(len(session.report["operators"]), 1)
        return session, session.report["operators"][0]

    def test_far_from_roof(self):
        for slowdown, flags in (("1", []), ("2.25", []), ("5", ["far_from_roof"])):
            with self.subTest(slowdown):
                session, row = self.only_row(f"gemm_slowdown={slowdown}")
                self.assertEqual(row["time_ns"], 10 * int(ALONE_NS * float(slowdown)))
                self.assertEqual((row["flags"], row["bound"]), (flags, "compute"))
                self.assertEqual("far_from_roof" in session.text, bool(flags))

    def test_only_the_product_is_slow(self):
        session = self.recorded(COMPUTE_BOUND, sim_options=["gemm_slowdown=5", "gemm_kernels=2"])
        ledger.assert_equal(self, session, calls=10, kernels=20)
        times = sorted({line["end"] - line["start"] for line in session.ledger("kernel")})
        self.assertEqual(times, [2000, 5 * ALONE_NS])


class Failing(Case):
    def recorded_failing(self, *sim_options):
        """20 calls of cublasGemmEx, of which each fifth fails."""
        session = self.recorded([program("calls"), "failing", "20"], sim_options=["gemm_fail_every=5", *sim_options])
        self.assertEqual(session.run.out, "4 failed\n", "what the program was told")
        ledger.assert_equal(self, session, calls=20, kernels=16)
        report = session.report
        self.assertEqual((report["coverage"]["calls"], report["coverage"]["failed_calls"]), (16, 4))
        failures = [(failure["name"], failure["status"], failure["calls"]) for failure in report["failures"]]
        self.assertEqual(failures, [("cublasGemmEx", 13, 4)])
        self.assertEqual([(row["calls"], row["kernels"]) for row in report["operators"]], [(16, 16)])
        return session

    def test_each_fifth(self):
        session = self.recorded_failing()
        self.assertEqual([index for index, line in enumerate(session.ledger("call"), 1) if line["status"]], [5, 10, 15, 20])
        self.assertEqual(len(session.ledger("fault")), 4)
        self.assertIn("CUBLAS_STATUS_EXECUTION_FAILED (13)", session.text)

    def test_a_nested_call_fails_with_what_it_called(self):
        session = self.recorded_failing("gemm_nested=1")
        self.assertEqual([line["status"] for line in session.ledger("call") if line["nested"]], 4 * [0, 0, 0, 0, 13])


if __name__ == "__main__":
    main()
