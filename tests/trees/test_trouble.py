#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""P16: where no trace can be made or grow, programs run as ever and the report says which processes are missing, and why.
Mounts of their own need rights; without these such tests are skipped."""
import subprocess

from recording import Case, Run, main
from test_trees import BY_CHILD, TREE


class Trouble(Case):
    def run_here(self, script, status=40, mount=None, err=""):
        """SCRIPT under `record`, with $S the session and "$@" five calls; if MOUNT, on a tmpfs with these options."""
        session = self.session()
        disk, kept = self.scratch / "disk", self.scratch / f"kept{self.sessions}"
        extra = {"TREE_TALLY": str(self.scratch / f"tally{self.sessions}"), "SIMGPU_LEDGER": ""}
        if not mount:
            extra["S"] = str(session.folder)
            run = session.record(["sh", "-c", script, "sh", TREE, "calls", str(BY_CHILD), "40"], extra)
        else:
            if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
                self.skipTest("no right to mount")
            disk.mkdir()
            session.folder = disk / "session"
            extra["S"] = str(session.folder)
            record = session.record_command(["sh", "-c", script, "sh", TREE, "calls", str(BY_CHILD), "40"],
                                            options=["--no-clocks"])
            outer = f"mount -t tmpfs -o {mount} none '{disk}' && \"$@\"; status=$?; cp -a '{session.folder}' '{kept}'; exit $status"
            run = Run(["unshare", "-m", "sh", "-c", outer, "sh", *record], session.environment(extra))
            session.folder = kept
        self.assertEqual((run.status, run.out), (status, ""), run.err)
        self.assertEqual(run.err, err)
        return session

    def check_refused(self, session, why, recorded=()):
        run = session.report_run("--json")
        self.assertEqual(run.status, 2)
        lines = [line for line in run.err.splitlines() if "was not recorded" in line]
        self.assertEqual(len(lines), 1, run.err)
        self.assertRegex(lines[0], rf"process \d+ was not recorded: it could make no trace here at 20\S+Z: {why}$")
        self.assertEqual(len(session.traces), len(recorded))
        if recorded:
            self.assertIn("was not recorded", session.report_run().out)

    def test_file_size_limit_of_one_process(self):
        session = self.run_here('ulimit -f 64; "$@"')
        self.check_refused(session, "File too large")

    def test_others_are_recorded(self):
        session = self.run_here('"$@"; (ulimit -f 64; exec "$@")')
        self.check_refused(session, "File too large", recorded=[BY_CHILD])

    def not_written(self, why):
        return (f"rooftap record: '{self.scratch}/disk/session/session.json' can't be written: {why}; "
                "choose another folder with -o DIR\n")

    def test_full_disk(self):
        session = self.run_here('cat /dev/zero >"$S/../filler" 2>/dev/null; "$@"', mount="size=5m",
                                err=self.not_written("No space left on device"))
        self.check_refused(session, "No space left on device")

    def test_no_inodes(self):
        session = self.run_here('i=0; while touch "$S/../f$i" 2>/dev/null; do i=$((i + 1)); done; "$@"',
                                mount="size=50m,nr_inodes=30", err=self.not_written("No space left on device"))
        self.check_refused(session, "No space left on device")

    def test_read_only(self):
        """Nothing can be written there any more, the word about it neither; the program runs, and `record` says it."""
        self.run_here('mount -o remount,ro "$S/.."; "$@"', mount="size=50m", err=self.not_written("Read-only file system"))

    def test_tiny_shared_memory(self):
        session = self.run_here('mount -t tmpfs -o size=16k none /dev/shm && "$@"', mount="size=50m")
        self.assertEqual([p["calls"] for p in session.report["processes"]], [BY_CHILD])

    def test_nothing_is_left_without_trouble(self):
        session = self.run_here('"$@"')
        self.assertFalse((session.folder / "unrecorded").exists())
        self.assertEqual(session.report["problems"], [])


if __name__ == "__main__":
    main()
