#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""When kernels are timed: --delay, --duration, `rooftap ctl`, samples, and the bound that CUPTI's times of graphs have. The
program does one step at a time as it is told, so that each step is inside of a window or outside."""
import collections
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest

import ledger
from recording import BUILD, ROOFTAP, STAND_INS, Case, Run, clean_environment, main, plain, program

OPEN, CLOSE, MARK = 1, 2, 3
START, OPTION, CONTROL, SAMPLED, BOUND, END = 1, 2, 3, 4, 5, 8
OFF, AUTO, NODE, GRAPH, SAMPLE = 0, 1, 2, 3, 4
GEMMS = 10
SHAPES = {(16 * i, 64, 32): 1 for i in range(1, GEMMS + 1)}
HANG_S = 60


def ctl(*words):
    return Run([str(ROOFTAP), "ctl", *map(str, words)], clean_environment())


class Steps:
    """The program under record, or as COMMAND and ENVIRONMENT say."""

    def __init__(self, session, options=(), environment=None, command=None):
        self.session = session
        command = command or session.record_command([program("steps")], options=options)
        self.process = subprocess.Popen(command, env=session.environment(environment), stdin=subprocess.PIPE, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=1)

    def do(self, *lines):
        for line in lines:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
            assert answer == "done\n", (line, answer, self.process.stderr.read() if not answer else "")

    def end(self):
        out, err = self.process.communicate(timeout=HANG_S)
        return self.process.returncode, out, err

    def status(self):
        return ctl("status", self.session.folder).out

    def pid(self):
        return int(re.match(r"process (\d+):", self.status())[1])

    def wait_until(self, words):
        until = time.monotonic() + HANG_S
        while words not in self.status():
            assert time.monotonic() < until, self.status()
            time.sleep(0.01)


class Windows(Case):
    def windows(self, session, what=(OPEN, CLOSE)):
        records = sorted(session.records("window"), key=lambda record: record["ticks"])
        return [record for record in records if record["what"] in what]

    def timings(self, session):
        return sorted(session.records("timing"), key=lambda record: record["ticks"])

    def timed_shapes(self, session):
        """(m, n, k) of each timed kernel, by the call that owns it."""
        shapes = {call["call_id"]: (call["m"], call["n"], call["k"]) for call in session.records("call")}
        return collections.Counter(shapes.get(kernel["call_id"]) for kernel in session.records("kernel"))

    def shapes_times(self, count):
        return {shape: count for shape in SHAPES}

    def begun(self, options=(), environment=None):
        return Steps(self.session(), options, environment)

    def ended(self, steps):
        self.assertEqual(steps.end(), (0, "", ""))
        return steps.session

    # ---- row V05: a graph that was captured before the window has its shapes ----

    def test_graph_captured_before_the_window(self):
        steps = self.begun(["--delay", "ctl"])
        steps.do("capture", "replay 5")
        told = ctl("start", steps.pid())
        self.assertEqual((told.status, told.err), (0, ""))
        self.assertIn("kernels are timed, mode node, 1 window so far", told.out)
        steps.do("replay 40")
        self.assertIn("kernels are not timed now", ctl("stop", steps.pid()).out)
        steps.do("replay 3")
        session = self.ended(steps)
        self.assertEqual(len([line for line in session.ledger("kernel") if line["graph"]]), 48 * GEMMS)
        self.assertEqual(self.timed_shapes(session), self.shapes_times(40))
        self.assertEqual({kernel["join"] for kernel in session.records("kernel")}, {3})
        self.assertEqual([(w["what"], w["why"], w["number"]) for w in self.windows(session)],
                         [(OPEN, CONTROL, 1), (CLOSE, CONTROL, 1)])
        eager = self.begun()
        eager.do("eager 40")
        eager = self.ended(eager)
        self.assertEqual(self.timed_shapes(eager), self.timed_shapes(session), "the same work, eager and by replays")
        # Nothing of a window's makes a call or a shape: those are all there.
        self.assertEqual(collections.Counter((c["m"], c["n"], c["k"]) for c in session.records("call")), SHAPES)

    def test_graph_captured_before_the_delay_is_over(self):
        steps = self.begun(["--delay", "1s"])
        steps.do("capture", "replay 5")
        self.assertIn("kernels are not timed now", steps.status())
        steps.wait_until("kernels are timed")
        steps.do("replay 40")
        session = self.ended(steps)
        self.assertEqual(self.timed_shapes(session), self.shapes_times(40))
        opened, closed = self.windows(session)
        self.assertEqual((opened["why"], closed["why"]), (OPTION, END))
        started, = [r for r in session.ledger() if r["type"] == "kernel"][:1]
        self.assertGreaterEqual(opened["realtime_ns"], started["start"])

    def test_duration(self):
        steps = self.begun(["--duration", "500ms"])
        steps.do("eager 1")
        steps.wait_until("kernels are not timed now")
        steps.do("eager 1")
        self.assertIn("kernels are timed", ctl("start", steps.session.folder).out)
        steps.do("eager 2")
        steps.wait_until("kernels are not timed now")
        steps.do("eager 4")
        session = self.ended(steps)
        self.assertEqual(self.timed_shapes(session), self.shapes_times(3))
        self.assertEqual([(w["what"], w["why"]) for w in self.windows(session)],
                         [(OPEN, START), (CLOSE, OPTION), (OPEN, CONTROL), (CLOSE, OPTION)])
        first, last = self.windows(session)[:2]
        self.assertGreaterEqual(last["realtime_ns"] - first["realtime_ns"], 300e6)

    def test_events_have_windows(self):
        steps = self.begun(["--timing", "events", "--delay", "ctl"])
        steps.do("eager 2")
        self.assertIn("kernels are timed, mode events", ctl("start", steps.pid()).out)
        steps.do("eager 3")
        self.assertIn("kernels are not timed now", ctl("stop", steps.pid()).out)
        steps.do("eager 4")
        session = self.ended(steps)
        self.assertEqual(self.timed_shapes(session), self.shapes_times(3))
        self.assertEqual([(w["what"], w["why"]) for w in self.windows(session)], [(OPEN, CONTROL), (CLOSE, CONTROL)])

    # ---- marks ----

    def test_marks(self):
        steps = self.begun()
        odd = "\"quoted\" \\ \t%n \x01 ä \udcff"
        names = ["prefill", odd, "x" * 96]
        steps.do("eager 1")
        for name in names[:2]:
            self.assertEqual((ctl("mark", name, steps.pid()).status, ctl("mark", name, steps.pid()).out), (0, ""))
        self.assertEqual(ctl("mark", names[2], steps.session.folder).status, 0)
        too_long = ctl("mark", "x" * 97, steps.pid())
        self.assertEqual((too_long.status, too_long.out, len(too_long.err.splitlines())), (2, "", 1))
        session = self.ended(steps)
        marks = [mark["text"].encode("latin-1") for mark in self.windows(session, (MARK,))]
        self.assertEqual(marks, [os.fsencode(n) for n in (names[0], names[0], odd, odd, names[2])])
        self.assertEqual({mark["number"] for mark in self.windows(session, (MARK,))}, {1})

    # ---- whom ctl refuses ----

    def refused(self, run, *words):
        self.assertEqual((run.status, run.out, len(run.err.splitlines())), (2, "", 1), run.err)
        for word in words:
            self.assertIn(word, run.err)

    def test_refusals(self):
        sleeper = subprocess.Popen(["sleep", "60"])
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        for action in (["start"], ["stop"], ["mark", "name"], ["status"]):
            self.refused(ctl(*action, sleeper.pid), "not recorded")
            self.refused(ctl(*action, 2 ** 22 + 7), "no process")
            self.refused(ctl(*action, self.scratch), "nothing is being recorded")
            self.refused(ctl(*action, self.scratch / "none"), "no process and no session folder")
        steps = self.begun()
        steps.do("eager 1")
        pid = steps.pid()
        session = self.ended(steps)
        self.refused(ctl("stop", pid), "no process")
        self.refused(ctl("stop", session.folder), "nothing is being recorded")
        self.assertNotIn("timing-control", os.listdir(session.folder))

    @unittest.skipIf(os.geteuid() != 0, "only root can start another user's process")
    def test_another_user(self):
        other = subprocess.Popen(["sleep", "60"], user=65534)
        self.addCleanup(other.wait)
        self.addCleanup(other.kill)
        self.refused(ctl("stop", other.pid), "another user")

    def test_told_before_the_first_call(self):
        """To a process that has not used the GPU yet: it begins as it was told."""
        session = self.session()
        gate = self.scratch / "gate"
        os.mkfifo(gate)
        steps = Steps(session, command=session.record_command(["sh", "-c", f"read x <{gate}; exec {program('steps')}"]))
        self.addCleanup(steps.process.kill)
        until = time.monotonic() + HANG_S
        while ctl("status", session.folder).status or not self.child_of(steps.process.pid):
            self.assertLess(time.monotonic(), until)
            time.sleep(0.01)
        target = self.child_of(steps.process.pid)
        told = ctl("stop", target)
        self.assertEqual((told.status, told.err, told.out), (0, "", f"process {target}: has not used the GPU yet\n"))
        self.refused(ctl("mark", "early", target), "has not used the GPU yet")
        gate.write_text("go\n")
        steps.do("eager 3")
        ctl("start", target)
        steps.do("eager 2")
        self.assertEqual(self.timed_shapes(self.ended(steps)), self.shapes_times(2))

    def child_of(self, pid):
        """The shell that `record` runs: it has the session in its environment."""
        for path in pathlib.Path(f"/proc/{pid}/task/{pid}").glob("children"):
            for child in path.read_text().split():
                try:
                    if b"\0ROOFTAP_DIR=" in b"\0" + pathlib.Path(f"/proc/{child}/environ").read_bytes() and \
                            pathlib.Path(f"/proc/{child}/comm").read_text() == "sh\n":
                        return int(child)
                except OSError:
                    pass
        return None

    # ---- sessions ----

    def test_session_without_the_command(self):
        """Injected by its environment alone, as in a container."""
        session = self.session()
        session.folder.mkdir(mode=0o700)
        environment = {"LD_PRELOAD": str(BUILD / "lib" / "rooftap" / "librooftap.so"), "ROOFTAP_DIR": str(session.folder),
                       "CUDA_INJECTION64_PATH": str(BUILD / "lib" / "rooftap" / "librooftap.so"),
                       "LD_LIBRARY_PATH": str(STAND_INS), "ROOFTAP_DELAY_MS": "315360000000"}
        steps = Steps(session, environment=environment, command=[program("steps")])
        steps.do("capture", "replay 2")
        self.assertEqual((session.folder / "timing-control").stat().st_mode & 0o777, 0o600)
        self.assertIn("kernels are timed", ctl("start", steps.process.pid).out)
        steps.do("replay 7")
        session = self.ended(steps)
        self.assertEqual(self.timed_shapes(session), self.shapes_times(7))
        self.assertEqual(session.report_run().status, 0)

    def test_forks_do_not_disturb(self):
        steps = self.begun(["--delay", "ctl"])
        steps.do("eager 1", "fork")
        self.assertIn("kernels are timed", ctl("start", steps.session.folder).out)
        steps.do("fork", "eager 2", "fork")
        self.assertIn("kernels are not timed now", ctl("stop", steps.session.folder).out)
        steps.do("eager 4")
        session = self.ended(steps)
        self.assertEqual(self.timed_shapes(session), self.shapes_times(2))

    def test_shapes_only(self):
        steps = self.begun(["--timing", "off"])
        steps.do("eager 1")
        self.assertIn("kernels are not timed in this run", ctl("start", steps.pid()).out)
        self.assertEqual(ctl("mark", "here", steps.pid()).status, 0)
        session = self.ended(steps)
        self.assertEqual([mark["text"] for mark in self.windows(session, (MARK,))], ["here"])
        self.assertEqual([(t["asked"], t["mode"]) for t in self.timings(session)], [(OFF, OFF)])

    # ---- the bound of graphs' kernels ----

    def test_node_ends_at_the_bound(self):
        """Of a CUPTI whose times turn invalid after 1000 kernels of graphs."""
        leak = {"SIMGPU_CUPTI_FAULT": "leak:1000"}
        steps = self.begun(["--timing", "node"], {**leak, "ROOFTAP_GRAPH_KERNELS_MOST": "1000"})
        steps.do("capture", "replay 97")
        steps.wait_until("kernels are not timed")
        steps.do("replay 100")
        session = self.ended(steps)
        self.assertEqual(self.timed_shapes(session), self.shapes_times(97))
        self.assertEqual([(t["mode"], t["most"]) for t in self.timings(session)], [(NODE, 960), (OFF, 0)])
        self.assertEqual([w["why"] for w in self.windows(session)], [START, BOUND])
        self.assertEqual(session.report["coverage"]["kernels_untimed"], 0)
        beyond = self.begun(["--timing", "node"], leak)  # the fault is there
        beyond.do("capture", "replay 197")
        self.assertEqual(self.ended(beyond).report["coverage"]["kernels_untimed"], 970)

    def test_auto_samples_before_the_bound(self):
        """After 20000: all of the first 16000, then 2 % of the time, and never more than there are."""
        bound = {"SIMGPU_CUPTI_FAULT": "leak:20000", "ROOFTAP_GRAPH_KERNELS_MOST": "20000"}
        steps = self.begun(["--sample-budget", "2"], {**bound, "ROOFTAP_SAMPLE_SEED": "5"})
        steps.do("capture", "replay 1600")
        steps.wait_until("mode sampled")
        begun = time.monotonic()
        while time.monotonic() < begun + 1.5:
            steps.do("replay 10")
            time.sleep(0.002)
        session = self.ended(steps)
        launched = len(session.ledger("kernel"))
        timed = sum(self.timed_shapes(session).values())
        self.assertEqual(session.report["coverage"]["kernels_untimed"], 0)
        self.assertTrue(16000 < timed < 20000 and timed < launched, (timed, launched))
        self.assertEqual([(t["mode"], t["most"]) for t in self.timings(session)][:2], [(NODE, 16000), (SAMPLE, 19200)])
        self.assertEqual([w["why"] for w in self.windows(session)][:3], [START, BOUND, SAMPLED])

    # ---- samples ----

    def test_sampled(self):
        steps = self.begun(["--timing", "sampled", "--sample-budget", "5%"], {"ROOFTAP_SAMPLE_SEED": "7"})
        begun = time.monotonic()
        steps.do("capture")
        while time.monotonic() < begun + 2:
            steps.do("eager 1", "replay 1")
        session = self.ended(steps)
        timing, = self.timings(session)
        self.assertEqual((timing["asked"], timing["mode"], timing["window"], timing["period"]),
                         (SAMPLE, SAMPLE, 1000000, 20000000))
        windows = self.windows(session)
        self.assertGreater(len(windows), 20)
        pairs = list(zip(windows[::2], windows[1::2]))
        self.assertTrue(all((a["what"], a["why"], b["what"], a["number"]) == (OPEN, SAMPLED, CLOSE, b["number"])
                            for a, b in pairs))
        kernels = session.records("kernel")
        launched = len(session.ledger("kernel"))
        self.assertEqual(launched, sum(line["type"] == "kernel" for line in session.ledger()))
        self.assertTrue(0 < len(kernels) < launched / 4, (len(kernels), launched))
        # All of a replay or none, but where a window opened or closed within its launch.
        replays = collections.Counter(k["correlation"] for k in kernels if k["graph"])
        self.assertLessEqual(sum(count != GEMMS for count in replays.values()), len(windows))
        self.assertEqual({k["join"] for k in kernels if k["graph"]}, {3})

    def test_nothing_changes_for_the_program(self):
        command = [program("calls"), "one", "ex", "64", "32", "16", "40"]
        alone = plain(command)
        for options in (["--timing", "sampled", "--sample-budget", "50"], ["--timing", "graph"], ["--delay", "ctl"]):
            session = self.recorded(command, options=options)
            self.assertEqual(session.run.out, alone.out)
            self.assertEqual(len(session.records("call")), 40)


if __name__ == "__main__":
    main()
