#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_launches.py has to find each kind of difference: a small ledger and the trace that fits it, then one fault at a time."""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parent / "check_launches.py"


def kernel(name, grid, graph=0, call=0):
    return {"type": "kernel", "name": name, "grid": grid, "block": [128, 1, 1], "call": call, "graph": graph}


LEDGER = [kernel("own", [1, 1, 1]), kernel("own", [2, 3, 1]), kernel("fill", [5, 1, 1]), kernel("own", [7, 1, 1], graph=9),
          kernel("own", [7, 1, 1], graph=9), kernel("gemm", [4, 4, 1], call=3)]


def launch(call_id, entry, grid):
    return {"record": "launch", "call_id": call_id, "parent": 0, "entry": entry, "grid": grid, "block": [128, 1, 1]}


def ran(call_id, name, graph=0):
    return {"record": "kernel", "call_id": call_id, "name": name, "graph": graph}


TRACE = [{"record": "process"}, {"record": "entry", "id": 1, "text": "cuLaunchKernelEx"},
         {"record": "entry", "id": 2, "text": "cudaLaunchKernel"}, {"record": "name", "id": 10, "text": "own"},
         {"record": "name", "id": 11, "text": "fill"}, launch(20, 1, [1, 1, 1]), launch(21, 1, [2, 3, 1]), launch(22, 2, [5, 1, 1]),
         launch(23, 1, [7, 1, 1]), ran(20, 10), ran(21, 10), ran(22, 11), ran(23, 10, graph=9), ran(23, 10, graph=9), ran(99, 11)]


class Differences(unittest.TestCase):
    def check(self, trace, own="own", launches=3, ledger=LEDGER):
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder) / name for name in ("dump", "ledger")]
            for path, lines in zip(paths, (trace, ledger)):
                path.write_text("".join(json.dumps(line) + "\n" for line in lines))
            run = subprocess.run([sys.executable, "-B", str(CHECK), str(paths[0]), own, str(launches), str(paths[1])],
                                 capture_output=True, text=True)
            self.assertEqual(run.stderr, "")
            return run.returncode, run.stdout

    def changed(self, index, **fields):
        trace = copy.deepcopy(TRACE)
        trace[index].update(fields)
        return trace

    def test_equal(self):
        status, text = self.check(TRACE)
        self.assertEqual((status, text), (0, "3 launches of 3 kinds, 2 replayed kernels; own {'cuLaunchKernelEx': 3}; of torch.compile: none: EQUAL\n"))

    def test_each_fault(self):
        faults = {
            "grid": (self.changed(6, grid=[2, 4, 1]), "launched ('own', 2, 3, 1, 128, 1, 1): ledger 1, rooftap 0"),
            "block": (self.changed(6, block=[64, 1, 1]), "launched ('own', 2, 3, 1, 64, 1, 1): ledger 0, rooftap 1"),
            "name": (self.changed(9, name=11), "launched ('fill', 1, 1, 1, 128, 1, 1): ledger 0, rooftap 1"),
            "unseen": (TRACE[:5] + TRACE[6:], "launched ('own', 1, 1, 1, 128, 1, 1): ledger 1, rooftap 0"),
            "no kernel": (TRACE[:9] + TRACE[10:], "1 launches have no kernel"),
            "a replay": (TRACE[:12] + TRACE[13:], "replayed ('own', 7, 1, 1): ledger 2, rooftap 1"),
            "the way": (self.changed(5, entry=2), "own: expected 3 launches through cuLaunchKernel or cuLaunchKernelEx"),
        }
        for what, (trace, line) in faults.items():
            with self.subTest(what):
                status, text = self.check(trace)
                self.assertEqual(status, 1)
                self.assertIn(line, text)

    def test_nothing_to_compare(self):
        self.assertEqual(self.check([{"record": "process"}], launches=0, ledger=[])[0], 1)


if __name__ == "__main__":
    unittest.main()
