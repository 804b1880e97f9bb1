#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""errno, floating-point state, signal mask, working folder, umask and descriptors are as without the shim, at the start
of main and after calls (P11), with room for the trace and without."""
import errno
import os
import shutil
import subprocess

from recording import Case, library, main, plain, program, Run

FEW, MANY = "200", "40000"
LIMIT_BYTES = 5 << 20  # a little more than record asks for


class Transparent(Case):
    def setUp(self):
        super().setUp()
        self.preload = {"LD_PRELOAD": library("errno_in_call"), "SIMGPU_LEDGER": ""}

    def looks(self, calls, prefix=()):
        run = plain([*prefix, program("state"), calls], self.preload)
        self.assertEqual((run.status, run.err), (0, ""))
        lines = run.out.splitlines()
        self.assertEqual(len(lines), 4, run.out)
        self.assertIn("errno 0", lines[0])
        for line in lines[1:]:
            self.assertIn(": errno 11, flags 0x20", line, "the library does not leave what the test wants it to leave")
        return run.out

    def test_the_same_state(self):
        session = self.session()
        run = session.record([program("state"), FEW], self.preload)
        self.assertEqual((run.status, run.out, run.err), (0, self.looks(FEW), ""))
        self.assertEqual(session.report["coverage"]["calls"], 3 * int(FEW))

    def check_full(self, report, made):
        coverage = report["coverage"]
        self.assertGreater(coverage["records_dropped"], 0, "there was room enough: the test shows nothing")
        self.assertGreater(coverage["calls"], 0)
        # What is dropped are calls and kernels; no call may be missing from both counts.
        self.assertGreaterEqual(coverage["calls"] + coverage["records_dropped"], made)
        self.assertLessEqual(coverage["calls"], made)
        notes = [note["code"] for process in report["processes"] for note in process["notes"]]
        self.assertIn("writer", notes)

    def test_file_size_limit(self):
        """Of a trace that is a file; a ring goes round within it."""
        if not shutil.which("prlimit"):
            self.skipTest("no prlimit")
        limit = ["prlimit", f"--fsize={LIMIT_BYTES}"]
        session = self.session()
        run = session.record([*limit, program("state"), MANY], self.preload, options=["--ring", "off"])
        self.assertEqual((run.status, run.out, run.err), (0, self.looks(MANY, limit), ""))
        self.assertLessEqual(max(os.stat(path).st_size for path in session.traces), LIMIT_BYTES)
        self.check_full(session.report, 3 * int(MANY))

    def full_disk(self, *options):
        if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
            self.skipTest("no right to mount")
        session, kept = self.session(), self.scratch / "kept"
        disk = self.scratch / "disk"
        disk.mkdir()
        session.folder = disk / "session"
        script = f"mount -t tmpfs -o size=5m none '{disk}' && \"$@\"; status=$?; cp -a '{session.folder}' '{kept}'; exit $status"
        record = session.record_command([program("state"), MANY], options=options)
        run = Run(["unshare", "-m", "sh", "-c", script, "sh", *record], session.environment(self.preload))
        self.assertEqual((run.status, run.out, run.err), (0, self.looks(MANY), ""))
        session.folder = kept
        self.check_full(session.report, 3 * int(MANY))
        return session

    def test_full_disk(self):
        session = self.full_disk()
        note, = [note for process in session.report["processes"] for note in process["notes"] if note["code"] == "writer"]
        self.assertEqual(note["value"], errno.ENOSPC)
        self.assertRegex(note["text"], r"^\d+ records \(\d+ blocks\) could not be written, from 20\S+Z to 20\S+Z: No space left")
        self.assertIn("could not be written", session.text)

    def test_full_disk_without_ring(self):
        self.full_disk("--ring", "off")


if __name__ == "__main__":
    main()
