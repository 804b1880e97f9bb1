# SPDX-License-Identifier: Apache-2.0
"""Runs a program with the shim and without, and reads what it recorded."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ.get("WAYS_BUILD", "")).resolve()
HERE = pathlib.Path(os.environ.get("WAYS_PROGRAMS") or BUILD / "tests" / "ways").resolve()
FAKES = HERE / "fakes"
SHIM = BUILD / "lib" / "rooftap" / "librooftap.so"
ROOFTAP = BUILD / "bin" / "rooftap"
LOST_SHIM = BUILD / "tests" / "ways" / "libways_lost_shim.so"
TRACE_DUMP = BUILD / "tests" / "preload" / "preload_trace_dump"
HANG_S = 30  # a bound for what hangs; nothing here depends on how fast it is


def program(name):
    return str(HERE / f"ways_{name}")


def library(name):
    found = [HERE / f"libways_{name}.so", HERE / f"ways_{name}.so"]
    return str(next(path for path in found if path.exists()))


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="rooftap-ways-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.traces = self.folder / "trace"

    def run_program(self, command, preload=(), **variables):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("ROOFTAP_", "SIMGPU_", "LD_", "CUDA_"))}
        if preload:
            environment["LD_PRELOAD"] = ":".join(str(path) for path in preload)
        environment.update({k: str(v) for k, v in variables.items()})
        return subprocess.run([str(word) for word in command], env=environment, capture_output=True, text=True, timeout=HANG_S)

    def plain(self, command, preload=(), **variables):
        return self.run_program(command, preload, **variables)

    def shimmed(self, command, before=(), after=(), shim=SHIM, **variables):
        shutil.rmtree(self.traces, True)
        self.traces.mkdir()
        variables.setdefault("ROOFTAP_TIMING", "off")
        return self.run_program(command, [*before, shim, *after], ROOFTAP_DIR=self.traces, **variables)

    def assert_same(self, command, **variables):
        """Status and output with the shim are those without; its output."""
        plain, shimmed = self.plain(command, **variables), self.shimmed(command, **variables)
        self.assertEqual((plain.returncode, plain.stdout, plain.stderr), (shimmed.returncode, shimmed.stdout, shimmed.stderr))
        return shimmed

    def records(self, kind):
        dump = subprocess.run([str(TRACE_DUMP), str(self.traces)], capture_output=True, text=True, check=True)
        return [r for r in map(json.loads, dump.stdout.splitlines()) if r["record"] == kind]

    def report(self):
        run = subprocess.run([str(ROOFTAP), "report", str(self.traces)], capture_output=True, text=True, check=True)
        return run.stdout

    def notes(self, code):
        return [r["text"] for r in self.records("note") if r["id"] == code]
