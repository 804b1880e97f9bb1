# SPDX-License-Identifier: Apache-2.0
"""Runs a program under `rooftap record --simulate`, and the same program without rooftap; what both left behind."""
import glob
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BUILD = pathlib.Path(os.environ.get("E2E_BUILD", "")).resolve()
ROOFTAP = BUILD / "bin" / "rooftap"
STAND_INS = BUILD / "lib" / "rooftap" / "sim"
# Which programs: those built for another CUDA major lie elsewhere (tests/cuda12).
PROGRAMS = pathlib.Path(os.environ.get("E2E_PROGRAMS", BUILD / "tests" / "e2e"))
TRACE_DUMP = BUILD / "tests" / "preload" / "preload_trace_dump"
DECODE_LOOP = pathlib.Path(os.environ.get("E2E_DECODE_LOOP", BUILD / "examples" / "decode_loop" / "decode_loop"))
HANG_S = 60  # a bound for what hangs; nothing here depends on how fast it is


def program(name):
    return str(PROGRAMS / f"e2e_{name}")


def library(name):
    return str(PROGRAMS / f"libe2e_{name}.so")


def clean_environment(extra=None):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SIMGPU_", "ROOFTAP_", "LD_", "CUDA_"))}
    kept.update(extra or {})
    return kept


def read_lines(path):
    with open(path) as file:
        return [json.loads(line) for line in file if line.endswith("\n")]  # a kill may cut the last one


class Run:
    """A program that ended: status as subprocess has it (-9: by signal 9), out, err, seconds."""

    def __init__(self, command, environment, **options):
        start = time.monotonic()
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=HANG_S, **options)
        self.seconds = time.monotonic() - start
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr


class Session:
    """A session folder with the ledgers beside it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.ledger_pattern = f"{self.folder}.ledger-%p"
        self._report = None

    def record_command(self, command, device="unit", sim_options=(), options=()):
        changes = [word for option in sim_options for word in ("--sim-option", option)]
        simulate = ["--simulate", device] if device else []
        return [str(ROOFTAP), "record", "-q", "-o", str(self.folder), *simulate, *changes, *options, "--", *command]

    def environment(self, extra=None):
        return clean_environment({"SIMGPU_LEDGER": self.ledger_pattern, **(extra or {})})

    def record(self, command, environment=None, device="unit", sim_options=(), options=(), **run_options):
        """The target's Run."""
        return Run(self.record_command(command, device, sim_options, options), self.environment(environment), **run_options)

    def start(self, command, environment=None, device="unit", **options):
        return subprocess.Popen(self.record_command(command, device), env=self.environment(environment), text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    @property
    def ledgers(self):
        return sorted(glob.glob(glob.escape(str(self.folder)) + ".ledger-*"))

    def ledger_of(self, pid):
        return read_lines(self.ledger_pattern.replace("%p", str(pid)))

    def ledger(self, kind=None):
        lines = [line for path in self.ledgers for line in read_lines(path)]
        return [line for line in lines if kind in (None, line["type"])]

    @property
    def traces(self):
        return sorted(path for path in self.folder.iterdir() if path.name.endswith(".trace"))

    def report_run(self, *options):
        return Run([str(ROOFTAP), "report", *options, str(self.folder)], clean_environment())

    @property
    def report(self):
        if self._report is None:
            run = self.report_run("--json")
            if run.status:
                raise AssertionError(f"`rooftap report --json` ended with {run.status}: {run.err}")
            self._report = json.loads(run.out)
        return self._report

    @property
    def text(self):
        run = self.report_run()
        if run.status:
            raise AssertionError(f"`rooftap report` ended with {run.status}: {run.err}")
        return run.out

    def records(self, kind):
        """Records of the traces as they lie there, by the tests' own reader."""
        run = Run([str(TRACE_DUMP), str(self.folder)], clean_environment())
        if run.status:
            raise AssertionError(run.err)
        return [r for r in map(json.loads, run.out.splitlines()) if r["record"] == kind]

    def processes(self):
        return {process["pid"]: process for process in self.report["processes"]}


def plain(command, environment=None, device_file=None, **options):
    """The same stand-ins without rooftap."""
    extra = {"LD_LIBRARY_PATH": str(STAND_INS), **(environment or {})}
    if device_file:
        extra["SIMGPU_DEVICE"] = str(device_file)
    return Run(command, clean_environment(extra), **options)


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="rooftap-e2e-"))
        self.addCleanup(shutil.rmtree, self.scratch, True)
        self.sessions = 0

    def session(self):
        self.sessions += 1
        return Session(self.scratch / f"session{self.sessions}")

    def recorded(self, command, status=0, **options):
        """A session of COMMAND, which has to end with STATUS and to say nothing on standard error."""
        session = self.session()
        run = session.record(command, **options)
        self.assertEqual((run.status, run.err), (status, ""), f"{command} under record")
        session.run = run
        return session


def main():
    if not ROOFTAP.exists() or not STAND_INS.exists():
        sys.exit("E2E_BUILD has to name a build folder with rooftap and its simulated GPU")
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    unittest.main(verbosity=1, warnings="ignore")  # the shared comparison leaves closing files to Python
