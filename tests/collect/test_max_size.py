#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`record --max-size`: the folder stays below the size, and what went is counted to the last call."""
import replays
from replays import recording

LEAST = 4 << 20
COUNTED = ("calls", "failed_calls", "launches", "kernels", "copies")


class MaxSize(replays.Case):
    def compare(self, session, rotated, went=True):
        """Kept and rotated out come to what was recorded; what is said once is there still."""
        whole, part = session.report, rotated.report
        gone = part["coverage"]["rotated"] or dict.fromkeys(COUNTED, 0)
        self.assertEqual({key: part["coverage"][key] + gone[key] for key in COUNTED},
                         {key: whole["coverage"][key] for key in COUNTED})
        self.assertEqual(bool(part["coverage"]["rotated"]), went)
        for key in ("calls_missing", "launches_missing", "blocks_damaged", "records_damaged", "traces_cut", "records_dropped"):
            self.assertEqual(part["coverage"][key], whole["coverage"][key], key)
        for kept, process in zip(part["processes"], whole["processes"]):
            for key in ("pid", "command", "hook_level", "timing", "timing_detail", "end", "trace_cut"):
                self.assertEqual(kept[key], process[key], key)
            self.assertEqual(*(sorted((note["code"], note["value"], note["text"]) for note in one["notes"])
                               for one in (kept, process)))  # said again and again, from different blocks: not when
        self.assertEqual([d["name"] for d in part["devices"]], [d["name"] for d in whole["devices"]])
        # A kernel whose call went, or is in a block still to come, has its own row.
        named = {line["name"] for line in session.ledger("kernel")} if went else set()
        self.assertLessEqual({o["name"] for o in part["operators"]}, {o["name"] for o in whole["operators"]} | named)

    def test_what_goes_is_counted(self):
        session = self.recorded([recording.program("calls"), "threads", "4", "8000", "2"])
        self.assertGreater(replays.folder_bytes(session.folder), 3 * LEAST)
        for size in (LEAST, LEAST + 300000, 2 * LEAST):
            with self.subTest(size=size):
                rotated = self.replay(session, size, "--ticks=7")
                self.assertLessEqual(replays.folder_bytes(rotated.folder), size)
                self.compare(session, rotated)
                self.assertIn("were rotated out (--max-size)", " ".join(rotated.text.split()))

    def test_nothing_goes_below_the_size(self):
        session = self.recorded([recording.program("calls"), "one", "ex", "64", "32", "16", "100"])
        rotated = self.replay(session, LEAST)
        self.compare(session, rotated, went=False)
        self.assertEqual(replays.comparable(rotated.report), replays.comparable(session.report))
        self.assertNotIn("rotated", rotated.text)

    def test_processes_share_the_size(self):
        command = [recording.sys.executable, "-B", "-c",
                   "import subprocess, sys; ps = [subprocess.Popen(sys.argv[1:]) for _ in range(3)]; "
                   "sys.exit(any(p.wait() for p in ps))",
                   recording.program("calls"), "one", "ex", "64", "32", "16", "15000"]
        session = self.recorded(command)
        self.assertEqual(len(session.traces), 3)
        rotated = self.replay(session, LEAST, "--ticks=5")
        self.compare(session, rotated)
        self.assertTrue(all(process["rotated"] for process in rotated.report["processes"]))

    def test_killed_at_any_time(self):
        session = self.recorded([recording.program("calls"), "one", "ex", "64", "32", "16", "30000"])
        rotated = self.replay(session, LEAST, "--ticks=3", "--kill")
        self.compare(session, rotated)

    def test_recorded_live(self):
        session = self.recorded([recording.program("calls"), "one", "ex", "64", "32", "16", "60000"],
                                options=["--max-size", "4M"])
        coverage = session.report["coverage"]
        gone = coverage["rotated"]
        self.assertEqual(coverage["calls"] + coverage["kernels"] + gone["calls"] + gone["kernels"] + coverage["records_dropped"],
                         120000)
        self.assertEqual(coverage["calls_missing"], 0)
        self.assertLessEqual(replays.folder_bytes(session.folder), LEAST)

    def test_refused(self):
        for size in ("3M", "0", "-1", "many", "4194303"):
            run = self.session().record(["true"], options=["--max-size", size])
            self.assertEqual((run.status, run.err.count("\n")), (2, 1), run.err)
            self.assertIn("it takes a size from 4M on", run.err)


if __name__ == "__main__":
    recording.main()
