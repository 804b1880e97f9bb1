#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs with the shim and without it: what they say, how they end, and what transcript.c sees of itself have to be
identical, aspect by aspect. Prints the table. Left out is what is documented: LD_PRELOAD, CUDA_INJECTION64_PATH and ROOFTAP_*
in the environment of children."""
import collections
import shutil
import signal
import sys

from recording import BUILD, Case, library, main, plain
from test_trees import TREE

TRANSCRIPT = str(BUILD / "tests" / "trees" / "transcript")
ENDINGS = {"return": 8, "exit": 5, "_exit": 6, "quick_exit": 7, "pthread_exit": 0,
           "abort": -signal.SIGABRT, "kill": -signal.SIGKILL, "fault": -signal.SIGSEGV}
ASPECTS = ("status", "stdout", "stderr", "results", "errno", "fenv", "sticky_error", "descriptors", "dispositions", "mask",
           "pending", "handler", "umask", "folder", "process", "children")
OURS = ("LD_PRELOAD=", "CUDA_INJECTION64_PATH=", "ROOFTAP_")
OF_RUN = ("LD_LIBRARY_PATH=", "SIMGPU_", "_=")  # how the two runs find the simulated GPU
PYTHON = f"import ctypes, os, sys; ctypes.CDLL({library('gemms')!r}).gemms_run(3, 8, 8, 8); print(os.environ.get('HOME')); sys.exit(9)"


def aspects_of(run):
    """{aspect: text}; a line that begins with none of them is the program's own output."""
    found = collections.defaultdict(list)
    for line in run.out.splitlines():
        aspect, _, text = line.partition(" ")
        if aspect not in ASPECTS[3:]:
            aspect, text = "stdout", line
        if aspect == "children" and text.partition(" ")[2].startswith(OURS + OF_RUN):
            continue
        found[aspect].append(text)
    result = {aspect: "\n".join(sorted(lines) if aspect == "children" else lines) for aspect, lines in found.items()}
    result["status"], result["stderr"] = str(run.status), run.err
    return result


def different(one, other):
    return [aspect for aspect in ASPECTS if one.get(aspect, "") != other.get(aspect, "")]


class Transcript(Case):
    def rows(self):
        rows = {f"transcript {ending}": ([TRANSCRIPT, ending], status) for ending, status in ENDINGS.items()}
        rows["sh"] = (["sh", "-c", "echo out; echo err >&2; x=$(expr 2 + 3); trap 'echo bye' EXIT; exit $x"], 5)
        rows["sh killed"] = (["sh", "-c", "echo out; kill -TERM $$"], -signal.SIGTERM)
        rows["python3"] = ([sys.executable, "-c", PYTHON], 9)
        rows["python3 without CUDA"] = ([sys.executable, "-c", "import os; print(os.listdir('/proc/self/fd')); os._exit(4)"], 4)
        rows["tree of forks"] = (["env", "TREE_TALLY=/dev/null", TREE, "fork_later", "quick_exit"], 0)
        if shutil.which("git"):
            rows["git"] = (["git", "-C", "/", "log"], 128)
        return rows

    def test_identical(self):
        wrong, table = [], [" ".join(["program".ljust(24), *ASPECTS])]
        for name, (command, status) in self.rows().items():
            session = self.session()
            alone, under = plain(command), session.record(command, {"SIMGPU_LEDGER": ""})
            self.assertEqual(alone.status, status, f"{name} alone: {alone.err}")
            one, other = aspects_of(alone), aspects_of(under)
            found = different(one, other)
            cells = [("different" if a in found else "identical" if a in one else "-").center(len(a)) for a in ASPECTS]
            table.append(" ".join([name.ljust(24), *cells]))
            for aspect in found:
                lines = set(one.get(aspect, "").splitlines()) ^ set(other.get(aspect, "").splitlines())
                wrong.append(f"{name}: {aspect}: {sorted(lines)[:6]}")
        print("\n".join(table), f"\n{len(table) - 1} programs, {len(wrong)} aspects different", flush=True)
        self.assertEqual(wrong, [])

    def test_the_harness_sees_a_difference(self):
        """Each aspect that a parent can change without us is noticed."""
        command = [TRANSCRIPT, "return"]
        one = aspects_of(plain(command))
        self.assertEqual(sorted(set(ASPECTS) - set(one)), ["mask", "pending", "stdout"], "an aspect that nothing is seen of")
        changed = "umask 077; exec 9</dev/null; trap '' USR2; cd /; export MORE=1; echo more; echo err >&2; \"$@\"; exit 9"
        other = aspects_of(plain(["sh", "-c", changed, "sh", *command]))
        self.assertEqual(different(one, other), ["status", "stdout", "stderr", "descriptors", "dispositions", "umask",
                                                 "folder", "children"])
        failing = aspects_of(plain(command, {"SIMGPU_FAULT": "cublasGemmEx:13:5,cudaLaunchKernel:700:2"}))
        self.assertIn("results", different(one, failing))


if __name__ == "__main__":
    main()
