#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`record --timing=events`: what the simulator's own events say of calls is what its ledger has of their kernels, and a
program notices nothing: its graphs, errors and errno are those of a run without rooftap."""
from recording import Case, main, plain, program

JOIN_EVENTS = 4
OWNER_LAUNCH = 2
NOTE_TIMING_ON = 1
NS_A_CALL = 1  # elapsed times are floats of milliseconds: a microsecond's work counts in less than a ns
COUNT = 30
BUSY = 10  # GEMMs that keep the stream busy


class Events(Case):
    def events_of(self, mode, count=COUNT, clock="virtual"):
        """On the `real` clock a look at an event changes nothing; on the virtual one it lets time pass, as waiting does."""
        session = self.recorded([program("events"), mode, str(count)], options=["--timing=events"],
                                environment={"SIMGPU_CLOCK": clock})
        alone = plain([program("events"), mode, str(count)])
        self.assertEqual((alone.status, alone.out, alone.err), (0, session.run.out, ""), "what the program says without rooftap")
        self.assertIn("events", next(n["text"] for n in session.records("note") if n["id"] == NOTE_TIMING_ON))
        return session

    def test_each_call(self):
        """On a stream that is always busy each call's time is its kernel's."""
        session = self.events_of("busy", clock="real")
        kernels = [record for record in session.records("kernel")]
        ran = session.ledger("kernel")
        self.assertEqual(len(ran), 3 * COUNT + BUSY, "kernels in the ledger")
        self.assertEqual({(record["join"], record["graph"]) for record in kernels}, {(JOIN_EVENTS, 0)})
        names = {record["id"] for record in session.records("name") if record["text"] == "one_kernel"}
        self.assertEqual({record["name"] for record in kernels if record["owner"] == OWNER_LAUNCH}, names)
        self.assertEqual({record["name"] for record in kernels if record["owner"] != OWNER_LAUNCH}, {0})
        self.assertEqual(len({record["call_id"] for record in kernels}), len(ran))
        # The first begins on an idle stream: its events hold the way there as well.
        ran.sort(key=lambda line: line["start"])
        kernels.sort(key=lambda record: record["start_ns"])
        self.assertGreaterEqual(kernels[0]["ns"], ran[0]["end"] - ran[0]["start"])
        for line, record in zip(ran[1:], kernels[1:]):
            self.assertAlmostEqual(record["ns"], line["end"] - line["start"], delta=NS_A_CALL, msg=line["name"])

    def test_report(self):
        session = self.events_of("busy", clock="real")
        ran = session.ledger("kernel")
        rows = [row for row in session.report["operators"] if row["cublas"] and row["cublas"]["m"] == 128]
        self.assertEqual(len(rows), 1)
        calls = {c["call"]: c for c in session.ledger("call")}
        truth = sum(line["end"] - line["start"] for line in ran
                    if line["call"] and calls[line["call"]]["args"].get("m") == 128)
        self.assertGreater(truth, 0)
        self.assertAlmostEqual(rows[0]["time_ns"], truth, delta=NS_A_CALL * COUNT)
        self.assertEqual((rows[0]["calls"], rows[0]["kernels"]), (COUNT, COUNT))
        launched = next(row for row in session.report["operators"] if row["name"] == "one_kernel")
        truth = sum(line["end"] - line["start"] for line in ran if line["name"] == "one_kernel")
        self.assertAlmostEqual(launched["time_ns"], truth, delta=NS_A_CALL * COUNT)

    def test_captures_are_left_alone(self):
        """While calls of two threads are timed; the ledger's graph kernels are those of the program alone."""
        session = self.events_of("beside", 10)
        in_graphs = [line for line in session.ledger("kernel") if line["graph"]]
        self.assertEqual(len(in_graphs), 10 * 53)
        self.assertGreater(len(session.records("kernel")), 0)

    def test_graphs_as_a_whole(self):
        session = self.events_of("graphs", clock="real")
        replays = {}
        for line in session.ledger("kernel"):
            if line["graph"]:
                replays.setdefault(line["correlation"], []).append(line)
        runs = session.records("graph_run")
        self.assertEqual((len(replays), len(runs)), (COUNT, COUNT))
        truth = [max(l["end"] for l in lines) - min(l["start"] for l in lines) for lines in replays.values()]
        for run, whole in zip(sorted(runs, key=lambda r: r["start_ns"]), truth):
            self.assertAlmostEqual(run["ns"], whole, delta=NS_A_CALL)
        graph = {line["graph"] for lines in replays.values() for line in lines}
        self.assertEqual({run["graph"] for run in runs}, graph)

    def test_modes_of_graphs(self):
        for mode in ("eager", "captured", "updated", "child", "nested", "forked", "twice", "explicit", "recreated", "threads"):
            with self.subTest(mode):
                session = self.recorded([program("graphs"), mode, "5"], options=["--timing=events"])
                alone = plain([program("graphs"), mode, "5"])
                self.assertEqual((alone.status, alone.out), (0, session.run.out), "nodes without rooftap")

    def test_legacy_stream_beside_a_capture(self):
        self.events_of("legacy")

    def test_errors_stay_the_programs(self):
        self.events_of("errors")

    def test_contexts_end(self):
        session = self.events_of("reset", 5)
        self.assertEqual(len(session.ledger("kernel")), 10)
        self.assertEqual(len(session.records("kernel")), 10)


if __name__ == "__main__":
    main()
