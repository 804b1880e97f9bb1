#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes that never use CUDA stay as they are: no file, no thread, no descriptor, no word on their streams."""
import json
import pathlib
import shutil
import subprocess
import sys

from recording import BUILD, Case, clean_environment, library, main, plain
from test_trees import BY_CHILD, TREE

ENGINE = str(pathlib.Path(__file__).resolve().parent / "engine.py")
# What a process has at its very end, seen by itself: threads, descriptors, mapped traces, signal state.
LOOK = """
import os, re
own = open("/proc/self/status").read()
print(re.findall("(?:Threads|SigBlk|SigIgn|SigCgt):.*", own))
print(sorted(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task")))
print([line for line in open("/proc/self/maps") if ".trace" in line])
print(os.umask(0), os.getcwd(), sorted(k for k in os.environ if not k.startswith(("ROOFTAP_", "LD_", "CUDA_", "SIMGPU_"))))
"""


class Helpers(Case):
    def same(self, command, **options):
        """Output, complaints and status are those of the program without us; the session."""
        session = self.session()
        run, alone = session.record(command, **options), plain(command)
        self.assertEqual((run.status, run.out, run.err), (alone.status, alone.out, alone.err), command)
        return session

    def test_nothing_is_started(self):
        session = self.same([sys.executable, "-c", LOOK])
        self.assertEqual(sorted(p.name for p in session.folder.iterdir()), ["session.json", "simulated-gpu.conf"])

    def test_the_look_sees_a_process_that_records(self):
        """Were it blind, the test above would show nothing."""
        use = f"import ctypes; ctypes.CDLL({library('gemms')!r}).gemms_run(1, 8, 8, 8)\n" + LOOK
        session = self.session()
        run, alone = session.record([sys.executable, "-c", use]), plain([sys.executable, "-c", use])
        self.assertNotEqual(run.out, alone.out)
        self.assertIn(".trace", run.out)

    def test_output_of_commands(self):
        """P14: scripts read what commands print."""
        self.same(["sh", "-c", "x=$(echo 5; expr 2 + 3); echo \"<$x>\"; ls /nonexistent; kill -l; exit 3"])

    def test_helpers_beside_a_program(self):
        """P06: git, ls and the shell inherit the preload, and leave its trace alone."""
        if not shutil.which("git"):
            self.skipTest("no git")
        tally = self.scratch / "tally"
        session = self.session()
        run = session.record(["sh", "-c", f"{TREE} calls 5 0 & git --version; ls /; git -C / status; wait"],
                             {"TREE_TALLY": str(tally)})
        alone = subprocess.run(["sh", "-c", "git --version; ls /; git -C / status"], env=clean_environment(),
                               capture_output=True, text=True)
        self.assertEqual((run.out, run.err), (alone.stdout, alone.stderr))
        self.assertEqual(len(session.traces), 1)
        self.assertEqual([p["calls"] for p in session.report["processes"]], [BY_CHILD])

    def test_two_hundred_helpers(self):
        """V07: what a server does before it listens; none of them is more than it was."""
        script = ("for i in $(seq 50); do sh -c 'echo $((1 + 1))'; expr 1 + 1; (exec true); "
                  "awk 'BEGIN { print 3 }'; done; echo ready")
        session = self.same(["sh", "-c", script])
        self.assertEqual(session.traces, [])


class Engine(Case):
    """V02: a server whose entry process computes nothing: an engine process, two workers, one of them killed."""

    def engine(self, method):
        session = self.recorded([sys.executable, ENGINE, library("gemms"), method])
        told = json.loads(session.run.out)
        report = session.report
        processes = {p["pid"]: p for p in report["processes"]}
        self.assertEqual(sorted(processes), sorted([told["engine"], *told["workers"]]),
                         "the entry process has a trace, or another has none")
        self.assertEqual({pid: p["calls"] for pid, p in processes.items()},
                         {told["engine"]: 7, told["workers"][0]: 25, told["workers"][1]: 25})
        self.assertEqual(told["codes"], [-9, 0])
        self.assertTrue(all(p["command"] for p in report["processes"]))
        for pid in told["workers"]:
            self.assertEqual(processes[pid]["parent"], told["parents"][str(pid)])
        return session, [processes[pid]["rank"] for pid in told["workers"]]

    def test_spawn(self):
        session, ranks = self.engine("spawn")
        self.assertEqual(ranks, ["RANK=0", "RANK=1"])
        self.assertIn("RANK=1\n", session.text)

    # A forked process has no environment of its own that could be read beside other threads: not known is right.

    def test_fork(self):
        self.assertEqual(self.engine("fork")[1], [None, None])

    def test_forkserver(self):
        self.assertEqual(self.engine("forkserver")[1], [None, None])


if __name__ == "__main__":
    main()
