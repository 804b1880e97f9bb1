#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that work by CUDA graphs: each replayed kernel belongs to the call that was captured. The ledger knows that by
itself: it notes with each kernel the call that asked for it, in replays too."""

import ledger
from recording import STAND_INS, Case, main, plain, program

JOIN_GRAPH_NODE = 3
REPLAYS = 7
# Graph kernels of each mode: by REPLAYS, from the program's own loops.
MODES = {
    "captured": 4 * REPLAYS,
    "updated": 4 * (4 * REPLAYS + 6),
    "child": 8 * REPLAYS,
    "nested": 5 * REPLAYS,
    "forked": 5 * REPLAYS,
    "twice": 4 * 4 * REPLAYS,
    "explicit": 2 * REPLAYS,
    "recreated": 4 * 2 * REPLAYS,
    "threads": 4 * 20 * REPLAYS,
}
# Of those, kernels in graphs within graphs.
NESTED = {"child": 8 * REPLAYS, "nested": 4 * REPLAYS}


class GraphModes(Case):
    def assert_joined(self, session, graph_kernels):
        """All of them by their nodes, with M, N, K, count and time of the ledger, and nothing left over."""
        in_ledger = [line for line in session.ledger("kernel") if line["graph"]]
        self.assertEqual(len(in_ledger), graph_kernels, "graph kernels in the ledger")
        ledger.assert_equal(self, session)
        coverage = session.report["coverage"]
        self.assertEqual((coverage["graph_kernels_unjoined"], coverage["kernels_unjoined"]), (0, 0))
        records = [record for record in session.records("kernel") if record["graph"]]
        self.assertEqual(len(records), graph_kernels)
        self.assertEqual({record["join"] for record in records}, {JOIN_GRAPH_NODE})
        nodes = {(line["node"], line["correlation"]) for line in in_ledger}
        self.assertEqual({(r["node"], r["correlation"]) for r in records}, nodes)

    def test_modes(self):
        for mode, graph_kernels in MODES.items():
            with self.subTest(mode):
                session = self.recorded([program("graphs"), mode, str(REPLAYS)])
                self.assert_joined(session, graph_kernels)
                alone = plain([program("graphs"), mode, str(REPLAYS)])
                self.assertEqual((alone.status, alone.out), (0, session.run.out), "nodes without rooftap")

    def test_eager(self):
        session = self.recorded([program("graphs"), "eager", str(REPLAYS)])
        ledger.assert_equal(self, session, calls=REPLAYS, kernels=2 * REPLAYS)

    def test_executions(self):
        """A captured call is one call and as many executions as its replays: none of its own."""
        session = self.recorded([program("graphs"), "captured", str(REPLAYS)])
        rows = [row for row in session.report["operators"] if row["cublas"]]
        self.assertEqual({(row["calls"], row["executions"], row["kernels"]) for row in rows}, {(1, REPLAYS, REPLAYS)})
        self.assertEqual(sorted((row["cublas"]["m"], row["cublas"]["n"], row["cublas"]["k"]) for row in rows),
                         [(128, 16, 48), (128, 24, 40), (128, 64, 32)])
        for row in rows:
            shape = row["cublas"]
            self.assertEqual(row["flops"], REPLAYS * 2.0 * shape["m"] * shape["n"] * shape["k"])

    def test_updated_executions(self):
        """Replays before and after each update, of calls with one kernel and with two."""
        for kernels in (1, 2):
            session = self.recorded([program("graphs"), "updated", str(REPLAYS)], sim_options=[f"gemm_kernels={kernels}"])
            of_m = {128: REPLAYS + (REPLAYS + 2), 256: (REPLAYS + 1) + (REPLAYS + 3)}
            rows = [row for row in session.report["operators"] if row["cublas"]]
            self.assertEqual(len(rows), 6)
            for row in rows:
                executions = of_m[row["cublas"]["m"]]
                self.assertEqual((row["executions"], row["kernels"]), (executions, kernels * executions), row["cublas"])

    def test_updated_by_numbers(self):
        """A CUPTI that does not tell which nodes were updated, as before CUDA 13: by the numbers of the nodes."""
        session = self.recorded([program("graphs"), "updated", str(REPLAYS)], environment={"SIMGPU_CUPTI_GRAPHS": "calls"})
        self.assert_joined(session, MODES["updated"])

    def test_set_params(self):
        """A node that is made to run another kernel is that kernel's launch from then on, and no longer the captured one's."""
        for graphs in ("auto", "capture"):
            session = self.recorded([program("graphs"), "set_params", str(REPLAYS)], environment={"ROOFTAP_GRAPHS": graphs})
            ledger.assert_equal(self, session)
            self.assertEqual(session.report["coverage"]["graph_kernels_unjoined"], 0)
            other = next(row for row in session.report["operators"] if row["name"] == "other_kernel")
            self.assertEqual(other["kernels"], REPLAYS + 1)

    def test_two_kernels_each(self):
        session = self.recorded([program("graphs"), "updated", str(REPLAYS)], sim_options=["gemm_kernels=2"])
        ledger.assert_equal(self, session)
        self.assertEqual(session.report["coverage"]["graph_kernels_unjoined"], 0)

    def test_external_correlation(self):
        """Ids of records that are none of callbacks': graphs are followed all the same, unless an owner changed."""
        session = self.recorded([program("graphs"), "captured", str(REPLAYS)],
                                environment={"ROOFTAP_JOIN": "external"})
        self.assert_joined(session, MODES["captured"])
        session = self.recorded([program("graphs"), "updated", str(REPLAYS)], environment={"ROOFTAP_JOIN": "external"})
        # What changed stands under kernel names: each of the 4 nodes but the kernel, whose owner is the same.
        self.assertEqual(session.report["coverage"]["graph_kernels_unjoined"], 3 * (4 * REPLAYS + 6))

    def test_not_told(self):
        """A CUPTI that tells nothing of graphs: streams are asked what they capture, and it is said."""
        session = self.recorded([program("graphs"), "captured", str(REPLAYS)], environment={"SIMGPU_CUPTI_GRAPHS": "off"})
        self.assert_joined(session, MODES["captured"])
        self.assertIn("nodes are found by what streams capture, numbered by CUPTI", self.means(session))

    def means(self, session):
        notes = [note["text"] for note in session.records("note") if note["text"].startswith(("nodes are", "not followed"))]
        self.assertEqual(len(notes), 1, notes)
        return notes[0]

    def test_by_capture(self):
        """The same without CUPTI's callbacks. Numbers of nested nodes are nobody's to tell before CUDA 13.4."""
        for mode, graph_kernels in MODES.items():
            with self.subTest(mode):
                session = self.recorded([program("graphs"), mode, str(REPLAYS)], environment={"ROOFTAP_GRAPHS": "capture"})
                self.assertIn("nodes are found by what streams capture", self.means(session))
                if mode in NESTED:
                    coverage = session.report["coverage"]
                    self.assertEqual(coverage["graph_kernels_unjoined"], NESTED[mode])
                else:
                    self.assert_joined(session, graph_kernels)

    def test_releases_by_capture(self):
        """From a CUPTI that knows no executable's number to one whose records name the captured node."""
        for release in ("11.8", "12.4", "13.4"):
            for mode in ("captured", "updated", "child"):
                with self.subTest(release, mode=mode):
                    session = self.recorded([program("graphs"), mode, str(REPLAYS)],
                                            environment={"ROOFTAP_GRAPHS": "capture", "SIMGPU_CUPTI": release})
                    if mode == "child" and release != "13.4":
                        self.assertEqual(session.report["coverage"]["graph_kernels_unjoined"], NESTED[mode])
                    else:
                        self.assert_joined(session, MODES[mode])

    def test_unplayed(self):
        """A launch of the driver's that was captured and never replayed has its kernel's name: no record will bring it."""
        for environment, options in (({"ROOFTAP_GRAPHS": "callbacks"}, []), ({"ROOFTAP_GRAPHS": "capture"}, []),
                                     ({}, ["--timing", "off"])):
            with self.subTest(environment, options=options):
                session = self.recorded([program("graphs"), "unplayed", "1"], environment=environment, options=options)
                self.assertEqual(len(session.ledger("kernel")), 1)
                row = next(row for row in session.report["operators"] if row["name"] == "other_kernel")
                self.assertEqual(row["calls"], 1)
                self.assertIn(row["kernels"], (0, None))

    def test_off(self):
        """Callbacks only, where there are none, and nothing at all: rows by kernel name, and it is said."""
        for environment in ({"ROOFTAP_GRAPHS": "off"},
                            {"ROOFTAP_GRAPHS": "callbacks", "SIMGPU_CUPTI_GRAPHS": "off"}):
            session = self.recorded([program("graphs"), "captured", str(REPLAYS)], environment=environment)
            coverage = session.report["coverage"]
            self.assertEqual((coverage["kernels"], coverage["graph_kernels_unjoined"]), (4 * REPLAYS, 4 * REPLAYS))
            for row in session.report["operators"]:
                if row["cublas"]:
                    self.assertEqual((row["calls"], row["kernels"]), (1, 0))
            self.assertIn("not followed", self.means(session))


if __name__ == "__main__":
    main()
