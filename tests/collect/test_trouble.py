#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`rooftap record` where shared memory is tiny, read-only, missing or somebody else's. Mounts of their own need rights;
without these such tests are skipped."""
import glob
import os
import pathlib
import subprocess

from recording import Case, Run, main, program

CALLS = 60_000  # 4 MiB of records


class Trouble(Case):
    def run_mounted(self, mount, calls=CALLS, options=(), err="", timing="off"):
        """COMMAND of `record` after MOUNT, in mounts of its own."""
        if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
            self.skipTest("no right to mount")
        session = self.session()
        record = session.record_command([program("calls"), "one", "ex", "64", "32", "16", str(calls)],
                                        options=["--no-clocks", "--timing", timing, *options])
        run = Run(["unshare", "-m", "sh", "-c", f"{mount} && exec \"$@\"", "sh", *record],
                  session.environment({"SIMGPU_LEDGER": ""}))
        self.assertEqual((run.status, run.out, run.err), (0, "", err))
        return session

    def check_whole(self, session, calls=CALLS):
        coverage = session.report["coverage"]
        self.assertEqual((coverage["calls"] + coverage["records_dropped"], coverage["calls_missing"]), (calls, 0))
        return coverage["records_dropped"]

    def notes(self, session, code):
        process, = session.report["processes"]
        return [note["text"] for note in process["notes"] if note["code"] == code]

    def test_tiny(self):
        """A ring of what there is room for; it can't grow, and says so."""
        session = self.run_mounted("mount -t tmpfs -o size=1m none /dev/shm")
        self.check_whole(session)
        self.assertEqual(len(session.traces), 1)

    def test_too_tiny(self):
        session = self.run_mounted("mount -t tmpfs -o size=100k none /dev/shm")
        self.assertEqual(self.check_whole(session), 0)  # a file, from the start

    def test_read_only(self):
        session = self.run_mounted("mount -t tmpfs -o ro none /dev/shm")
        self.assertEqual(self.check_whole(session), 0)

    def test_no_memory(self):
        """Something is mounted there, but it is no memory: nothing of a ring may reach it."""
        session = self.run_mounted(f"mount --bind '{self.scratch}' /dev/shm")
        self.assertEqual(self.check_whole(session), 0)
        if not self.is_tmpfs(self.scratch):
            self.assertEqual(glob.glob(f"{self.scratch}/rooftap-*/control"), [])

    def is_tmpfs(self, path):
        return subprocess.run(["stat", "-f", "-c", "%T", path], capture_output=True, text=True).stdout.strip() == "tmpfs"

    def test_it_is_said_once(self):
        session = self.session()
        if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
            self.skipTest("no right to mount")
        record = [word for word in session.record_command([program("calls"), "one", "ex", "64", "32", "16", "5"]) if word != "-q"]
        run = Run(["unshare", "-m", "sh", "-c", "mount -t tmpfs -o ro none /dev/shm && exec \"$@\"", "sh", *record],
                  session.environment())
        lines = [line for line in run.err.splitlines() if "/dev/shm" in line]
        self.assertEqual(len(lines), 1, run.err)
        self.assertIn("Read-only file system", lines[0])

    def test_full_disk(self):
        """The ring goes round; what the disk has no room for is counted, and the report says when and why."""
        kept, disk = self.scratch / "kept", self.scratch / "disk"
        disk.mkdir()
        session = self.session()
        if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
            self.skipTest("no right to mount")
        session.folder = disk / "session"
        record = session.record_command([program("calls"), "one", "ex", "64", "32", "16", "100000"],
                                        options=["--no-clocks", "--timing", "off"])
        script = f"mount -t tmpfs -o size=5m none '{disk}' && \"$@\"; status=$?; cp -a '{session.folder}' '{kept}'; exit $status"
        run = Run(["unshare", "-m", "sh", "-c", script, "sh", *record], session.environment({"SIMGPU_LEDGER": ""}))
        self.assertEqual((run.status, run.out), (0, ""), run.err)
        session.folder = kept
        coverage = session.report["coverage"]
        self.assertGreater(coverage["records_dropped"], 0, "there was room for all: nothing is shown")
        self.assertGreaterEqual(coverage["calls"] + coverage["records_dropped"], 100000)
        self.assertEqual(coverage["calls_missing"], 0)
        note, = self.notes(session, "writer")
        self.assertRegex(note, r"^\d+ records \(\d+ blocks\) could not be written, from 20\S+Z to 20\S+Z: No space left on device$")

    def test_a_strangers_folder(self):
        """ROOFTAP_RING that points to a folder in which others may write: not used."""
        folder = self.scratch / "ring"
        folder.mkdir(mode=0o777)
        folder.chmod(0o777)
        session = self.session()
        session.folder.mkdir()
        shim = pathlib.Path(os.environ["E2E_BUILD"], "lib", "rooftap", "librooftap.so")
        stand_ins = pathlib.Path(os.environ["E2E_BUILD"], "lib", "rooftap", "sim")
        run = Run([program("calls"), "one", "ex", "64", "32", "16", "5"],
                  session.environment({"LD_PRELOAD": str(shim), "LD_LIBRARY_PATH": str(stand_ins), "ROOFTAP_TIMING": "off",
                                       "ROOFTAP_DIR": str(session.folder), "ROOFTAP_RING": str(folder), "SIMGPU_LEDGER": ""}))
        self.assertEqual((run.status, run.err), (0, ""))
        self.assertEqual(list(folder.iterdir()), [])
        self.assertEqual(session.report["coverage"]["calls"], 5)

    def test_sizes(self):
        for size in ("0", "1", "1M ", "-1M", "300M", "1.5M", "on", "99999999999999999999G"):
            session = self.session()
            run = Run(session.record_command(["true"], options=["--ring", size]), session.environment())
            self.assertEqual(run.status, 2, size)
            self.assertIn("it takes a size from 1M to 256M, or off", run.err)
            self.assertFalse(session.folder.exists())
        for size in ("1M", "1024KiB", "2097152", "256m", "off"):
            session = self.session()
            self.assertEqual(Run(session.record_command(["true"], options=["--ring", size]), session.environment()).status, 0, size)


if __name__ == "__main__":
    main()
