# SPDX-License-Identifier: Apache-2.0
"""What the tests of this folder share: a scratch folder, the commands, and the places of a build."""
import json
import os
import subprocess
import tempfile
import unittest

ROOFTAP, BUILD = os.environ["ROOFTAP"], os.environ["BUILD"]
DECODE_LOOP = f"{BUILD}/examples/decode_loop/decode_loop"
SIMULATOR = f"{BUILD}/lib/rooftap/sim"


class Scratch(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = scratch.name
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("ROOFTAP_", "SIMGPU_", "FAKE_NVML", "LD_", "CUDA_"))}
        self.environment.update(XDG_DATA_HOME=f"{self.scratch}/data", HOME=self.scratch, TMPDIR=self.scratch)

    def rooftap(self, *arguments, environment=None, status=0):
        """What it printed and said; a run that hangs fails the test."""
        run = subprocess.run([ROOFTAP, *arguments], capture_output=True, text=True, timeout=100,
                             env={**self.environment, **(environment or {})}, cwd=self.scratch)
        self.assertEqual(run.returncode, status, run.stderr)
        return run.stdout, run.stderr

    def report(self, session, *arguments, status=0):
        out, said = self.rooftap("report", "--json", *arguments, session, status=status)
        return (json.loads(out) if out else None), said
