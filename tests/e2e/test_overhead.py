#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What rooftap says of its own cost, and what it gives up for --max-overhead: in order, said, and the program goes on."""
import pathlib
import signal
import struct
import subprocess
import time

from recording import DECODE_LOOP, HANG_S, Case, clean_environment, main, program
from test_windows import Steps

OVERHEAD = 16  # TRACE_NOTE_OVERHEAD
NODE, SAMPLED, OFF = 2, 4, 0  # enum trace_timing_mode


class Overhead(Case):
    def run_loop(self, options, until):
        """e2e_loop under record until UNTIL(session) holds; its session and how many calls returned."""
        session = self.session()
        witness = self.scratch / f"witness{self.sessions}"
        witness.write_bytes(bytes(4096))
        command = session.record_command([program("loop"), str(witness), "1", "200", "handler"],
                                         options=["--ring", "off", *options])
        loop = subprocess.Popen(command, env=session.environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        end = time.monotonic() + HANG_S
        while not (session.folder.exists() and session.traces and until(session)):
            self.assertLess(time.monotonic(), end, "it did not come to that")
            self.assertIsNone(loop.poll(), "the program ended")
            time.sleep(0.2)
        loop.send_signal(signal.SIGTERM)
        out, err = loop.communicate(timeout=HANG_S)
        self.assertEqual((loop.returncode, err), (5, ""))
        self.assertTrue(out.endswith("bye\n"), out)
        return session, struct.unpack_from("2Q", witness.read_bytes())[1]

    @staticmethod
    def notes(session):
        return [note for note in session.records("note") if note["id"] == OVERHEAD]

    def test_degraded_in_order(self):
        session, calls = self.run_loop(["--max-overhead", "0.0001"], lambda s: len(self.notes(s)) == 3 and self.counted(s))
        notes = self.notes(session)
        self.assertEqual([note["value"] for note in notes], [1, 2, 3])
        for note, words in zip(notes, ("windows drawn at random", "not timed", "only counted")):
            self.assertIn(words, note["text"])
            self.assertIn("the budget is 0.0001 %", note["text"])
        modes = [record["mode"] for record in session.records("timing")]
        self.assertEqual(modes, [NODE, SAMPLED, OFF])
        [process] = session.report["processes"]
        self.assertEqual(process["overhead"]["level"], 3)
        recorded = len(session.records("call"))
        self.assertGreater(recorded, 0)
        self.assertLess(recorded, calls)

    def counted(self, session):
        """Calls go on that have no record."""
        last = session.records("overhead")[-1]
        return last["level"] == 3 and last["calls_all"] > len(session.records("call")) + 1000

    def test_replays_of_graphs_count(self):
        """Ten captured calls, of which none need be measured, and then replays alone."""
        steps = Steps(self.session(), ["--max-overhead", "0.0001"])
        steps.do("capture")
        end = time.monotonic() + HANG_S
        while "mode node" in steps.status():
            self.assertLess(time.monotonic(), end, "nothing is given up")
            steps.do("replay 100")
        steps.do("eager 20")
        self.assertEqual(steps.end(), (0, "", ""))
        last = max(steps.session.records("overhead"), key=lambda record: record["wall_ns"])
        self.assertLess(last["calls_all"], 500)
        self.assertGreater(last["calls"], 0)  # what so few cost is measured, too
        self.assertEqual([note["value"] for note in self.notes(steps.session)][:1], [1])

    def test_large_budget_changes_nothing(self):
        session, _ = self.run_loop(["--max-overhead", "100"], lambda s: s.records("overhead")[-1:] and
                                   s.records("overhead")[-1]["wall_ns"] > 1500000000)
        self.assertEqual(self.notes(session), [])
        self.assertEqual([record["mode"] for record in session.records("timing")], [NODE])
        for record in session.records("overhead"):
            self.assertEqual(record["level"], 0)

    def test_figures(self):
        session, _ = self.run_loop([], lambda s: s.records("overhead")[-1:] and s.records("overhead")[-1]["calls"] > 30)
        records = session.records("overhead")
        for key in ("ticks", "wall_ns", "calls", "calls_ns", "callbacks", "callbacks_ns", "records", "records_ns", "calls_all",
                    "callbacks_all", "buffers", "helper_cpu_ns", "timing_cpu_ns"):
            values = [record[key] for record in records]
            self.assertEqual(values, sorted(values), f"{key} went back")
            self.assertGreater(values[-1], 0, key)
        last = records[-1]
        self.assertLess(last["calls"] * 20, last["calls_all"])  # few are measured
        self.assertLess(last["calls_ns"], last["wall_ns"])
        self.assertEqual(last["callbacks_all"] >= 2 * (last["calls_all"] - 1), True)  # each call's kernel has two

    def test_all_are_counted_at_the_end(self):
        session = self.recorded([str(DECODE_LOOP)])
        [process] = session.report["processes"]
        last = session.records("overhead")[-1]
        self.assertEqual(last["calls_all"], len(session.records("call")) + len(session.records("launch")))

    def test_nothing_where_nothing_is_recorded(self):
        session = self.recorded(["/bin/true"])
        self.assertEqual(session.traces, [])


if __name__ == "__main__":
    main()
