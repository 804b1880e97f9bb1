#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torch.profiler inside of a recorded process, on the simulated GPU: its trace has as many kernels as without rooftap, what rooftap
timed until then is kept, and the report says when the timing ended and for whom.

    test_profiled.py BUILD_FOLDER PYTHON

PYTHON has torch. A step of profiled.py is two kernels, the product and relu, and a part begins with two fills."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
BUILD, PYTHON = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
PROGRAM = HERE / "profiled.py"
BEFORE, PROFILED, AFTER = (2 * steps + 2 for steps in (20, 30, 10))


def clean_environment(folder):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SIMGPU_", "ROOFTAP_", "LD_", "CUDA_"))}
    return {**kept, "LD_LIBRARY_PATH": str(BUILD / "lib" / "rooftap" / "sim"), "SIMGPU_DEVICE": str(HERE / "h100-sxm.device"),
            "SIMGPU_LEDGER": str(folder / "ledger")}


class Profiled(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="rooftap-profiled-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_program(self, mode, recorded):
        """Kernels in the profiler's trace, and in the ledger."""
        folder = self.folder / f"{mode}-{recorded}"
        folder.mkdir()
        command = [PYTHON, str(PROGRAM), mode, str(folder)]
        if recorded:
            command = [str(BUILD / "bin" / "rooftap"), "record", "-q", "-o", str(folder / "session"), "--", *command]
        done = subprocess.run(command, env=clean_environment(folder), capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        events = json.loads((folder / "trace.json").read_text())["traceEvents"]
        with open(folder / "ledger") as ledger:
            ran = sum(json.loads(line)["type"] == "kernel" for line in ledger)
        return folder / "session", sum(event.get("cat") == "kernel" for event in events), ran

    def report(self, session):
        done = subprocess.run([str(BUILD / "bin" / "rooftap"), "report", "--json", str(session)], check=True, capture_output=True)
        return json.loads(done.stdout)

    def check(self, mode, before):
        _, alone, ran_alone = self.run_program(mode, False)
        session, profiled, ran = self.run_program(mode, True)
        self.assertEqual((alone, ran_alone), (PROFILED, before + PROFILED + AFTER))
        self.assertEqual((profiled, ran), (alone, ran_alone))
        report = self.report(session)
        self.assertEqual(report["coverage"]["kernels"] or 0, before)
        notes = [note["text"] for process in report["processes"] for note in process["notes"] if note["code"] == "profiler"]
        self.assertEqual(len(notes), 1, notes)
        self.assertIn("libtorch_cpu.so", notes[0])
        return report, notes[0]

    def test_started_later(self):
        report, note = self.check("later", BEFORE)
        self.assertIn("kernels were timed for", note)
        timed = [row for row in report["operators"] if row["kernels"]]
        self.assertEqual(sum(row["kernels"] for row in timed), BEFORE)

    def test_started_first(self):
        self.check("first", 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
