#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each wrapped function with each pointer NULL (I07), as tests/preload calls them, here through record and report: the
program sees what it sees without rooftap, and each call is counted as what it was."""
import collections

from recording import BUILD, Case, main, plain

PROGRAM = BUILD / "tests" / "preload" / "preload_calls_sim"


class NullPointers(Case):
    def test_every_function(self):
        if not PROGRAM.exists():
            self.skipTest("preload_calls_sim is not built")
        session = self.session()
        run = session.record([str(PROGRAM)])
        alone = plain([str(PROGRAM)])
        self.assertEqual(run.status, alone.status)
        self.assertEqual(self.statuses(run.out), self.statuses(alone.out))
        made, failed = collections.Counter(), collections.Counter()
        for line in session.ledger("call"):
            if not line["nested"]:
                (failed if line["status"] else made)[line["function"]] += 1
        self.assertGreater(len(made), 30)
        self.assertGreater(sum(failed.values()), 100)
        report = session.report
        reported, reported_failed = collections.Counter(), collections.Counter()
        for row in report["operators"]:
            if row["cublas"]:
                reported[row["name"]] += row["calls"]
        for failure in report["failures"]:
            reported_failed[failure["name"]] += failure["calls"]
        self.assertEqual(reported + reported_failed, made + failed)
        # The legacy interface returns nothing: what it refused can't be told from what it did.
        legacy = {name for name in made + failed if name[6:] in self.legacy_names()}
        self.assertEqual({n: c for n, c in reported_failed.items() if n not in legacy},
                         {n: c for n, c in failed.items() if n not in legacy})
        kernels = session.ledger("kernel")
        self.assertEqual((report["coverage"]["kernels"], report["coverage"]["gpu_time_ns"]),
                         (len(kernels), sum(line["end"] - line["start"] for line in kernels)))

    @staticmethod
    def legacy_names():
        every, complex_ = ("gemm", "gemv", "symm", "trmm", "trsm", "syrk", "syr2k"), ("hemm", "herk", "her2k")
        return {letter + name for letter in "SDCZ" for name in every} | {letter + name for letter in "CZ" for name in complex_}

    @staticmethod
    def statuses(text):
        return [line for line in text.splitlines() if line[:1].isdigit()]


if __name__ == "__main__":
    main()
