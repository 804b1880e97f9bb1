#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`record --aggregate`: what is reported of sums is what is reported of the records themselves."""
import math

import replays
from replays import recording


class Aggregate(replays.Case):
    def test_same_report_as_from_the_records(self):
        for name, (command, how) in replays.WORKLOADS.items():
            with self.subTest(name):
                session = self.recorded(command, **how) if name != "failing" else self.failing(command, how)
                sums = self.replay(session, "aggregate", "--ticks=1")
                self.assertEqual(replays.comparable(sums.report, ["sums", "clocks"]), replays.comparable(session.report, ["sums", "clocks"]))
                for process in sums.report["processes"]:
                    self.assertTrue(process["sums"]["final"])
                    self.assertEqual(process["sums"]["samples"], min(2048, process["sums"]["samples_of"]))

    def failing(self, command, how):
        session = self.session()
        session.record(command, **how)
        return session

    def test_percentiles_stand_for_the_kernels(self):
        session = self.recorded([recording.program("calls"), "one", "ex", "64", "32", "16", "300"])
        sums = self.replay(session, "aggregate")
        times = sorted(kernel["ns"] for kernel in session.records("kernel"))
        for report in (session.report, sums.report):
            operator, = report["operators"]
            for key, share in (("time_p50_ns", 0.5), ("time_p99_ns", 0.99)):
                exact = times[math.ceil(len(times) * share) - 1]
                self.assertLessEqual(abs(operator[key] - exact), operator["time_percentile_error"] * exact)

    def test_recorded_live(self):
        session = self.recorded([recording.program("calls"), "one", "ex", "64", "32", "16", "30000"],
                                options=["--aggregate"])
        coverage = session.report["coverage"]
        self.assertEqual((coverage["calls"] + coverage["kernels"] + coverage["records_dropped"], coverage["calls_missing"]),
                         (60000, 0))
        process, = session.report["processes"]
        self.assertTrue(process["sums"]["final"])
        self.assertEqual(process["end"], "exit 0")
        self.assertLess(replays.folder_bytes(session.folder), 1 << 20)
        self.assertIn("sums of the whole run (--aggregate)", session.text)

    def test_each_process_of_a_tree_has_its_sums(self):
        command = [recording.sys.executable, "-B", str(replays.pathlib.Path(recording.__file__).parent / "workers.py"),
                   recording.library("gemms"), "spawn", "return", "3"]
        session = self.recorded(command, options=["--aggregate"])
        self.assertEqual(session.report["coverage"]["calls"], 75)  # CALLS of workers.py, three times
        self.assertEqual([process["sums"]["final"] for process in session.report["processes"]], [True] * 3)

    def test_a_killed_collector_loses_what_came_since_the_last_writing(self):
        session = self.recorded([recording.program("calls"), "one", "ex", "64", "32", "16", "20000"])
        killed = self.replay(session, "aggregate", "--ticks=30", "--kill")
        whole, part = session.report["coverage"], killed.report["coverage"]
        self.assertLess(part["calls"], whole["calls"])
        process, = killed.report["processes"]
        self.assertFalse(process["sums"]["final"])
        self.assertIn("nobody was left to bring them up to date", " ".join(killed.text.split()))

    def test_refused(self):
        for options, part in ((["--aggregate", "--max-size", "1G"], "exclude each other"),
                              (["--aggregate", "--ring", "off"], "needs the ring")):
            run = self.session().record(["true"], options=options)
            self.assertEqual((run.status, run.err.count("\n")), (2, 1), run.err)
            self.assertIn(part, run.err)


if __name__ == "__main__":
    recording.main()
