#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each way in which CUPTI fails (SIMGPU_CUPTI_FAULT, sim/cupti/README.md): the program runs to its end as without rooftap, and
the report says what is not known. Calls and shapes are the ledger's in all of them.
FAILURES rows: C03 (the query for dropped records fails), C07 (a stub, a CUPTI newer than the driver, two copies), C08 (no
permission: shapes only, with the reason)."""
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import ledger  # noqa: E402
from recording import BUILD, STAND_INS, Case, Run, clean_environment, main, plain, program  # noqa: E402

REPLAYS = 6
KERNELS = 4 * REPLAYS  # of the mode "captured": three GEMMs' and one more
SHAPES = [(128, 16, 48), (128, 24, 40), (128, 64, 32)]

# Refused altogether: fault, CUPTI's result (cupti_result.h), a word of the reason.
REFUSED = [
    ("permission", 35, "INSUFFICIENT_PRIVILEGES"),
    ("busy", 26, "HARDWARE_BUSY"),
    ("subscribed", 39, "another profiler"),
    ("subscribed-old", 12, "another profiler"),
    ("stub", 999, "could not start"),
    ("newer", 15, "driver is older"),
]
# Nothing is lost by these: a client that subscribes once, never finalizes and prints no text of CUPTI's doesn't meet them.
HARMLESS = ["no-strings", "first-period", "second-subscribe", "late-write:1", "poisoned", "skew:5000000000",
            "skew:-5000000000", "drift:100000", "early:40000", "first-iteration", "no-updates"]
# Some times are wrong: fault and how many kernels of KERNELS have no time that is to be used, by the fault's own definition.
UNTIMED = [("zero:3", KERNELS // 3), ("inverted:4", KERNELS // 4), ("leak:5", KERNELS - 5)]


class Faults(Case):
    def faulty(self, fault, mode="captured", environment=None):
        session = self.recorded([program("graphs"), mode, str(REPLAYS)],
                                environment={"SIMGPU_CUPTI_FAULT": fault, **(environment or {})})
        self.assertEqual(len(session.ledger("kernel")) > 0, True)
        self.assertEqual(session.run.out, plain([program("graphs"), mode, str(REPLAYS)]).out)
        return session

    def assert_shapes(self, session):
        rows = [row for row in session.report["operators"] if row["cublas"]]
        self.assertEqual(sorted((r["cublas"]["m"], r["cublas"]["n"], r["cublas"]["k"]) for r in rows), SHAPES)
        self.assertEqual({row["calls"] for row in rows}, {1})

    def test_refused(self):
        for fault, result, reason in REFUSED:
            with self.subTest(fault):
                session = self.faulty(fault)
                process, = session.report["processes"]
                self.assertEqual(process["timing"], "off")
                self.assertIn(reason, process["timing_detail"])
                self.assertIn(("timing_off", result), [(note["code"], note["value"]) for note in process["notes"]])
                self.assertIn("untimed", [caveat["id"] for caveat in session.report["caveats"]])
                self.assertIsNone(session.report["coverage"]["kernels"], "unknown, not 0")
                text = " ".join(session.text.split())
                self.assertIn("NOT TIMED, shapes only: " + process["timing_detail"][:40], text)
                self.assert_shapes(session)

    def test_harmless(self):
        for fault in HARMLESS:
            with self.subTest(fault):
                session = self.faulty(fault)
                self.assert_shapes(session)
                coverage = session.report["coverage"]
                self.assertEqual([coverage[key] for key in ("kernels", "kernels_untimed", "kernels_unjoined",
                                                            "records_dropped")], [KERNELS, 0, 0, 0])
                took = sum(line["end"] - line["start"] for line in session.ledger("kernel"))
                drift = int(fault[6:]) * took // 1000000 + KERNELS if fault.startswith("drift:") else 0
                self.assertAlmostEqual(coverage["gpu_time_ns"], took, delta=drift)

    def test_wrong_times(self):
        """Counted, and in no sum: the time of the report is that of the kernels whose times are right."""
        for fault, wrong in UNTIMED:
            with self.subTest(fault):
                session = self.faulty(fault)
                self.assert_shapes(session)
                coverage = session.report["coverage"]
                self.assertEqual((coverage["kernels"], coverage["kernels_untimed"]), (KERNELS - wrong, wrong))
                took = {line["end"] - line["start"] for line in session.ledger("kernel")}
                self.assertTrue((KERNELS - wrong) * min(took) <= coverage["gpu_time_ns"] <= (KERNELS - wrong) * max(took))
                self.assertIn("lost", [caveat["id"] for caveat in session.report["caveats"]])

    def test_dropped_unknown(self):
        """Asked how many records it lost CUPTI fails: unknown, not 0. What it says later is the least."""
        session = self.faulty("dropped-unknown")
        coverage, process = session.report["coverage"], session.report["processes"][0]
        self.assertEqual((coverage["records_dropped"], process["records_dropped"]), (None, None))
        self.assertGreaterEqual(coverage["drops_untold"], 1)
        self.assertIn("records dropped by CUPTI: unknown", session.text)
        self.assertNotIn("no records dropped", session.text)
        self.assertIn("lower bounds", session.text)
        self.assertIn("lost", [caveat["id"] for caveat in session.report["caveats"]])

    def test_dropped_number(self):
        """The number that CUPTI gives is shown, and totals are too low."""
        session = self.recorded([program("graphs"), "captured", str(REPLAYS)], environment={"SIMGPU_CUPTI_DROP_EVERY": "4"})
        coverage = session.report["coverage"]
        self.assertEqual((coverage["records_dropped"], coverage["drops_untold"]), (KERNELS // 4, 0))
        self.assertEqual(coverage["kernels"], KERNELS - KERNELS // 4)
        self.assertIn("6 records dropped", session.text)
        self.assertIn("lost", [caveat["id"] for caveat in session.report["caveats"]])

    def test_nodes_refused(self):
        """No callbacks of graphs: what a stream captures tells the nodes, and it is said how far that goes."""
        session = self.faulty("no-nodes")
        self.assertEqual(ledger.differences(session), [])
        self.assertEqual(session.report["coverage"]["graph_kernels_unjoined"], 0)
        notes = [note["text"] for note in session.report["processes"][0]["notes"]]
        self.assertTrue(any("nodes are found by what streams capture" in text for text in notes), notes)

    def test_first_iteration(self):
        """Of a WHILE only what was recorded is counted as timed; shapes stay whole."""
        session = self.faulty("first-iteration", "conditional")
        recorded, ran = session.report["coverage"]["kernels"], len(session.ledger("kernel"))
        self.assertEqual((recorded, ran), (3 * REPLAYS, 7 * REPLAYS))

    def test_inlined_silently(self):
        """Child graphs are numbered anew in an executable. Nobody tells how before 13.4: said, and joined to nothing wrong."""
        for release, told in (("12.4", False), ("13.0", False), ("13.4", True)):
            with self.subTest(release):
                session = self.recorded([program("graphs"), "child", str(REPLAYS)],
                                        environment={"SIMGPU_GRAPH_INLINE": "silent", "SIMGPU_CUPTI": release})
                self.assert_shapes_of(session, 96)
                unjoined = session.report["coverage"]["graph_kernels_unjoined"]
                if told or not unjoined:
                    self.assertEqual({row["kernels"] for row in session.report["operators"] if row["cublas"]},
                                     {2 * REPLAYS})
                else:
                    self.assertEqual(unjoined, 8 * REPLAYS)
                    self.assertIn("graphs", [caveat["id"] for caveat in session.report["caveats"]])
                self.assertTrue(not told or not unjoined, "13.4 tells of the source node")

    def assert_shapes_of(self, session, m):
        rows = [row for row in session.report["operators"] if row["cublas"]]
        self.assertEqual({row["cublas"]["m"] for row in rows}, {m})
        self.assertEqual(len(rows), 3)

    def test_no_driver(self):
        """CUPTI of 13.2 ends the process at its first function where no driver works: none is called before cuInit is well."""
        folder = self.scratch / "trace"
        folder.mkdir()
        broken = {"SIMGPU_DEVICE": "/nowhere/device", "LD_LIBRARY_PATH": str(STAND_INS)}
        command = [program("graphs"), "captured", "2"]
        alone = Run(command, clean_environment(broken))
        self.assertNotEqual(alone.status, 0)
        shim = str(BUILD / "lib" / "rooftap" / "librooftap.so")
        for release in ("12.4", "13.0", "13.2", "13.3"):
            with self.subTest(release):
                run = Run(command, clean_environment({**broken, "SIMGPU_CUPTI": release, "LD_PRELOAD": shim, "ROOFTAP_DIR": str(folder),
                                                      "CUDA_INJECTION64_PATH": shim}))
                self.assertEqual((run.status, run.out, run.err), (alone.status, alone.out, alone.err))

    @unittest.skipUnless(os.environ.get("MATRIX_OTHER_CUPTI"), "there is one major")
    def test_two_copies(self):
        """Two libraries of CUPTI in one process: one of them times, and its name is in the report."""
        session = self.recorded([program("graphs"), "captured", str(REPLAYS)],
                                environment={"LD_PRELOAD": os.environ["MATRIX_OTHER_CUPTI"]})
        self.assert_shapes(session)
        self.assertEqual(session.report["coverage"]["kernels"], KERNELS)
        detail = session.report["processes"][0]["timing_detail"]
        self.assertRegex(detail, r"libcupti\.so\.1[23], mapped already")


if __name__ == "__main__":
    main()
