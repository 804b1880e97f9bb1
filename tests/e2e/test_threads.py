#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many threads on a few streams, and calls that fail: all equal to the ledger."""
import ledger
from recording import Case, main, program

THREADS, CALLS, TRIES = 8, 1500, 8


class Threads(Case):
    def undropped(self, command):
        """On a machine that has no time for the helper, threads that do nothing else but call outrun it: what is dropped then is counted,
        and such a run says nothing of the rest."""
        for _ in range(TRIES):
            session = self.recorded(command)
            coverage = session.report["coverage"]
            if not coverage["records_dropped"]:
                break
            missing = THREADS * (2 * CALLS + CALLS // 5) - coverage["calls"]
            self.assertLessEqual(missing, coverage["records_dropped"])
        return session

    def test_eight_threads_three_streams(self):
        session = self.undropped([program("calls"), "threads", str(THREADS), str(CALLS), "3"])
        ledger.assert_equal(self, session, calls=THREADS * (2 * CALLS + CALLS // 5), kernels=THREADS * (3 * CALLS + CALLS // 5))
        report = session.report
        launched = [row for row in report["operators"] if row["name"] == "e2e_kernel"]
        self.assertEqual([(row["calls"], row["kernels"]) for row in launched], [(THREADS * CALLS,) * 2])
        self.assertEqual(report["coverage"]["kernels_unjoined"], 0)

    def test_one_call_fails(self):
        session = self.recorded([program("calls"), "failing", "20"], environment={"SIMGPU_FAULT": "cublasGemmEx:13:5"})
        self.assertEqual(session.run.out, "1 failed\n")
        ledger.assert_equal(self, session, calls=20, kernels=19)
        report = session.report
        self.assertEqual((report["coverage"]["calls"], report["coverage"]["failed_calls"]), (19, 1))
        failures = [(failure["name"], failure["status"], failure["calls"]) for failure in report["failures"]]
        self.assertEqual(failures, [("cublasGemmEx", 13, 1)])
        self.assertEqual([(row["calls"], row["kernels"], row["flops"]) for row in report["operators"]],
                         [(19, 19, 19 * 2.0 * 64 * 32 * 16)])
        self.assertIn("CUBLAS_STATUS_EXECUTION_FAILED (13)", session.text)

    def test_all_calls_fail(self):
        session = self.recorded([program("calls"), "failing", "20"], environment={"SIMGPU_FAULT": "cublasGemmEx:14"})
        self.assertEqual(session.run.out, "20 failed\n")
        self.assertEqual(ledger.differences(session), [])
        self.assertEqual((session.report["coverage"]["calls"], session.report["coverage"]["failed_calls"]), (0, 20))
        self.assertEqual(session.report["operators"], [])

    def test_nested_call_fails(self):
        """The program's call fails because one inside it does: one failure, and it is the program's."""
        session = self.recorded([program("calls"), "failing", "4"], sim_options=["gemm_nested=1"],
                                environment={"SIMGPU_FAULT": "cublasLtMatmul:15:2"})
        self.assertEqual(session.run.out, "1 failed\n")
        ledger.assert_equal(self, session, calls=4, kernels=3)
        self.assertEqual([failure["name"] for failure in session.report["failures"]], ["cublasGemmEx"])


if __name__ == "__main__":
    main()
