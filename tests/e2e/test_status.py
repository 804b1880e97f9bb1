#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The documented exit codes, each with one line that says what, where, what was expected and what to do."""
import os
import resource
import signal
import struct
import subprocess
import sys

from recording import Case, clean_environment, HANG_S, main, program, ROOFTAP, Run, Session

CALLS = [program("calls"), "one", "ex", "64", "32", "16", "5"]


class Record(Case):
    def test_passes_the_status_on(self):
        for status in (0, 1, 2, 7, 77, 126, 127, 128, 255):
            with self.subTest(status):
                self.recorded([program("calls"), "leave", "return", str(status)], status=status)

    def test_passes_signals_on(self):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE):
            with self.subTest(number.name):
                session = self.session()
                run = session.record([sys.executable, "-c", f"import os; os.kill(os.getpid(), {int(number)})"])
                self.assertEqual((run.status, run.err), (-number, ""))

    def test_what_cannot_be_run(self):
        plain_file = self.scratch / "plain"
        plain_file.write_text("x")
        for command, status in ((["no-such-command"], 127), (["/no/such/file"], 127), ([str(plain_file)], 126), (["/"], 126)):
            with self.subTest(command):
                self.refused(self.session(), command, status)

    def refused(self, session, command, status, **options):
        marker = self.scratch / "started"
        command = ["touch", str(marker)] if command is None else command
        run = session.record(command, **options)
        self.assertEqual((run.status, run.out, run.err.count("\n")), (status, "", 1), run.err)
        self.assertFalse(marker.exists(), "the target was started")
        return run.err

    def test_bad_usage_and_folders(self):
        used = self.recorded(CALLS)
        self.assertIn(str(used.folder), self.refused(Session(used.folder), None, 2))
        plain_file = self.scratch / "a-file"
        plain_file.write_text("x")
        self.refused(Session(plain_file), None, 2)
        self.refused(Session(plain_file / "below"), None, 2)
        self.assertIn("rtx4091", self.refused(self.session(), None, 2, device="rtx4091"))
        self.refused(self.session(), None, 2, options=["--no-such-option"])
        self.refused(self.session(), None, 2, sim_options=["nonsense"])
        self.refused(self.session(), [], 2)
        limited = Run(["prlimit", "--fsize=2097152", *self.session().record_command(["true"])], clean_environment())
        self.assertEqual((limited.status, limited.err.count("\n")), (2, 1), limited.err)
        self.assertIn("2048 KiB", limited.err)
        self.assertEqual(used.report["coverage"]["calls"], 5, "the session of before is as it was")


    def test_no_room(self):
        if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
            self.skipTest("no right to mount")
        disk = self.scratch / "disk"
        disk.mkdir()
        command = Session(disk / "session").record_command(["touch", str(self.scratch / "started")])
        script = f"mount -t tmpfs -o size=1m none '{disk}'; \"$@\"; status=$?; ls '{disk}'; exit $status"
        run = Run(["unshare", "-m", "sh", "-c", script, "sh", *command], clean_environment())
        self.assertEqual((run.status, run.out, run.err.count("\n")), (2, "", 1), run.err)
        self.assertIn("room for 1024 KiB", run.err)
        self.assertFalse((self.scratch / "started").exists())


class Report(Case):
    def report(self, path, *options):
        return Run([str(ROOFTAP), "report", *options, str(path)], clean_environment())

    def assert_refused(self, path, status, *words):
        run = self.report(path)
        self.assertEqual((run.status, run.err.count("\n")), (status, 1), run.err)
        for word in words:
            self.assertIn(word, run.err)
        return run

    def cut(self, session, at_bytes):
        with open(session.traces[0], "r+b") as file:
            file.truncate(at_bytes)

    def test_cut_traces(self):
        whole = self.recorded(CALLS)
        size = whole.traces[0].stat().st_size
        for at_bytes in (size - 1, size - 100, 5 * 65536 + 4711):
            with self.subTest(at_bytes):
                session = self.recorded(CALLS)
                self.cut(session, at_bytes)
                run = self.report(session.folder, "--json")
                self.assertEqual((run.status, run.err), (0, ""))

    def test_killed(self):
        session = self.session()
        code = "import ctypes, os, sys; ctypes.CDLL(sys.argv[1]).gemms_run(9, 64, 32, 16); os.kill(os.getpid(), 9)"
        library = str(os.path.dirname(program("calls")) + "/libe2e_gemms.so")
        self.assertEqual(session.record([sys.executable, "-c", code, library]).status, -9)
        self.assertEqual(session.report["coverage"]["calls"], 9)
        self.assertEqual([p["end"] for p in session.report["processes"]], ["signal 9"])

    def test_nothing_recorded(self):
        for command, reason in (([sys.executable, "-c", "pass"], "does not use CUDA"),
                                ([program("calls"), "one", "ex", "1", "1", "1", "0"], "before its first launch")):
            with self.subTest(reason):
                session = self.recorded(command)
                self.assert_refused(session.folder, 1, "no CUDA launch seen in", reason)

    def test_full_disk(self):
        session = self.recorded(CALLS)
        for options in ((), ("--json",)):
            with self.subTest(options), open("/dev/full", "w") as full:
                run = subprocess.run([str(ROOFTAP), "report", *options, str(session.folder)], stdout=full,
                                     stderr=subprocess.PIPE, text=True, env=clean_environment(), timeout=HANG_S)
                self.assertNotEqual(run.returncode, 0)
                self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
                self.assertIn("written", run.stderr)

    def test_no_trace(self):
        session = self.recorded(CALLS)
        trace = session.traces[0]
        stranger = self.scratch / "stranger.trace"
        stranger.write_bytes(os.urandom(70000))
        self.assert_refused(stranger, 2, str(stranger))
        self.assert_refused(self.scratch / "absent", 2, "absent")
        empty = self.scratch / "empty"
        empty.mkdir()
        self.assert_refused(empty, 2, str(empty), "expected a folder that `rooftap record` made")
        (session.folder / "stranger.trace").write_bytes(stranger.read_bytes())
        run = self.report(session.folder)
        self.assertEqual(run.status, 2)
        self.assertIn("5 library calls", run.out, "what can be read is shown all the same")
        (session.folder / "stranger.trace").unlink()
        with open(trace, "r+b") as file:  # major version in each block's header
            for offset in range(0, trace.stat().st_size, 65536):
                file.seek(offset + 8)
                file.write(struct.pack("<H", 2))
        self.assert_refused(session.folder, 2, "trace format 2.", "newer")


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
