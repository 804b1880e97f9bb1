#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""P02: a process forks while its threads call. No child hangs, each has a trace of its own with its one call, and the
parent's calls, those before the forks included, are counted once. TREE_FORKS says how often (1000)."""
import os

from recording import Case, main
from test_trees import TREE, Tally

THREADS = 8
FORKS = int(os.environ.get("TREE_FORKS", 1000))


class Load(Case):
    def forks(self, how, count, environment):
        session, tally_path = self.session(), self.scratch / f"tally-{how}"
        session.run = session.record([TREE, "load", how, str(THREADS), str(count)],
                                     {"TREE_TALLY": str(tally_path), **environment})
        self.assertEqual((session.run.status, session.run.out, session.run.err), (0, "", ""))
        told = Tally(tally_path).of
        processes = session.report["processes"]
        self.assertEqual(len(session.traces), count + 1)
        self.assertEqual({p["pid"]: [p["calls"], p["failed_calls"]] for p in processes}, told)
        parent, = [p for p in processes if sum(told[p["pid"]]) > 1]
        self.assertEqual({sum(told[p["pid"]]) for p in processes if p is not parent}, {1})
        self.assertEqual({p["parent"] for p in processes if p is not parent}, {parent["pid"]})
        coverage = session.report["coverage"]
        self.assertEqual((coverage["records_damaged"], coverage["blocks_damaged"], coverage["records_dropped"]), (0, 0, 0))
        return session, parent["calls"]

    def test_forks_under_load(self):
        session, calls = self.forks("fork", FORKS, {"SIMGPU_LEDGER_MODE": "aggregate"})
        ledger = [line for line in session.ledger("call") if line["name"] == "cublasGemmEx"]
        self.assertEqual(sum(line["count"] for line in ledger), calls)

    def test_bare_clones_under_load(self):
        # Without a ledger: its lock may be held when no fork handler is there to free it.
        self.forks("clone", FORKS // 10, {"SIMGPU_LEDGER": ""})


if __name__ == "__main__":
    main()
