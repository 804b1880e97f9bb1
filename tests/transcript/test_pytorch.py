#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch with the shim and without it: every call of its threads, its graphs, its workers. test_pytorch.py PYTHON."""
import pathlib
import sys

from recording import main
from transcript import Row, Transcripts

PROGRAM = str(pathlib.Path(__file__).resolve().parent / "programs" / "torch_loop.py")
PYTHON = sys.argv.pop(1) if len(sys.argv) > 1 else sys.executable


class PyTorch(Transcripts):
    def test_identical(self):
        rows = [Row(f"torch: {kind}", [PYTHON, "-B", PROGRAM, kind]) for kind in ("matmul", "linear", "graph", "threads", "workers")]
        self.assertEqual(self.compare_rows(rows), [])


if __name__ == "__main__":
    main()
