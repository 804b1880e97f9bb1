#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ways of leaving that run no exit hook (P03), and a CUPTI that never gives back what it holds (I12)."""
import json
import pathlib
import sys

import ledger
from recording import Case, library, main, program

WORKERS = str(pathlib.Path(__file__).resolve().parent / "workers.py")
CALLS = 25


class Leaving(Case):
    def test_orderly(self):
        for how in ("return", "exit"):
            with self.subTest(how):
                session = self.recorded([program("calls"), "leave", how, "3"], status=3)
                ledger.assert_equal(self, session, calls=CALLS, kernels=CALLS + 1)
                self.assertEqual([p["end"] for p in session.report["processes"]], ["exit 3"])

    def test_without_exit_hooks(self):
        for how in ("_exit", "quick_exit", "exit_group"):
            with self.subTest(how):
                session = self.recorded([program("calls"), "leave", how, "3"], status=3)
                self.check_calls(session)
                self.assertEqual([p["end"] for p in session.report["processes"]], ["exit 3"])

    def check_calls(self, session, processes=1):
        """All calls and launches; kernels as far as CUPTI had handed them over, and not one too many."""
        report = session.report
        made = [line for line in session.ledger("call") if not line["nested"]]
        self.assertEqual(len(made), processes * CALLS)
        self.assertEqual([p["calls"] for p in report["processes"]], [CALLS] * processes)
        self.assertEqual((report["coverage"]["calls"], report["coverage"]["records_dropped"]), (len(made), 0))
        self.assertLessEqual(report["coverage"]["kernels"], len(session.ledger("kernel")))
        # A process that left at once may not have told its device; its calls are a row of their own then.
        gemm = [row for row in report["operators"] if row["cublas"]]
        self.assertEqual({(row["name"], row["m"], row["n"], row["k"]) for row in gemm}, {("cublasGemmEx", 32, 64, 16)})
        self.assertEqual(sum(row["calls"] for row in gemm), processes * CALLS)

    def test_python_workers(self):
        for method in ("fork", "spawn", "forkserver"):
            for how in ("os._exit", "sys.exit", "return"):
                with self.subTest(f"{method}, {how}"):
                    session = self.recorded([sys.executable, WORKERS, library("gemms"), method, how, "3"])
                    told = json.loads(session.run.out)
                    self.assertEqual([code for _, code, _ in told["workers"]], [status for _, _, status in told["workers"]])
                    self.check_calls(session, processes=3)
                    self.assertEqual(sorted(session.processes()), sorted(pid for pid, _, _ in told["workers"]))
                    self.assertTrue(all(p["command"] for p in session.report["processes"]))


class Blocked(Case):
    def leave_blocked(self, environment):
        faults = "cuptiActivityFlushAll:block,cuCtxSynchronize:1,cudaDeviceSynchronize:1,cuCtxSynchronize_v2:1"
        session = self.recorded([program("calls"), "leave", "return", "7"], status=7,
                                environment={"SIMGPU_FAULT": faults, **environment})
        self.assertLess(session.run.seconds, 20, "the exit waits for CUPTI without a bound")
        hit = {line["function"] for line in session.ledger("fault")}
        # A wait of nothing may be over before the flush is asked for.
        asked = hit | {"cuptiActivityFlushAll"} if environment.get("ROOFTAP_EXIT_WAIT_MS") == "0" else hit
        self.assertEqual(asked, {"cuptiActivityFlushAll"}, "the flush was not asked for, or a synchronise was")
        report = session.report
        self.assertEqual((report["coverage"]["calls"], report["coverage"]["launches"]), (CALLS, 1))
        self.assertEqual(report["coverage"]["kernels"], 0)
        notes = [note for process in report["processes"] for note in process["notes"]]
        self.assertEqual([note["code"] for note in notes if "CUPTI did not" in note["text"]], ["timing_cut"])
        self.assertEqual(session.text.count("the last kernels may be missing"), 1)
        return session

    def test_default_wait(self):
        self.leave_blocked({})

    def test_short_wait(self):
        for wait in ("0", "300"):
            with self.subTest(wait):
                session = self.leave_blocked({"ROOFTAP_EXIT_WAIT_MS": wait})
                self.assertEqual([p["end"] for p in session.report["processes"]], ["exit 7"])


if __name__ == "__main__":
    main()
