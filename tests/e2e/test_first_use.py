#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The shim makes no CUDA, NVML or CUPTI call before the program's own cuInit (V04): a process that never makes it stays
untouched, and its forked workers can still use the GPU."""
import json
import pathlib
import subprocess
import sys

from recording import Case, library, main, STAND_INS

WORKERS = str(pathlib.Path(__file__).resolve().parent / "workers.py")
WATCHED = ("libcuda.so.1", "libcupti.so.13", "libnvidia-ml.so.1", "libcudart.so.13", "libcublas.so.13", "libcublasLt.so.13")


def exported(name):
    out = subprocess.run(["nm", "-D", "--defined-only", str(STAND_INS / name)], capture_output=True, text=True, check=True)
    return [line.split()[2].split("@")[0] for line in out.stdout.splitlines() if line.split()[1] == "T"]


class FirstUse(Case):
    def test_a_process_that_only_loads(self):
        # Each function is made to fail, and to leave a line in the ledger if it is called at all.
        functions = sorted({name for lib in WATCHED for name in exported(lib)})
        self.assertGreater(len(functions), 1000)
        faults = ",".join(f"{name}:999" for name in functions)
        session = self.recorded([sys.executable, WORKERS, library("gemms"), "idle"], environment={"SIMGPU_FAULT": faults})
        self.assertEqual([line for line in session.ledger() if line["type"] in ("fault", "init")], [])
        self.assertEqual(session.ledgers, [])
        self.assertEqual(session.traces, [])
        run = session.report_run()
        self.assertEqual(run.status, 1)
        self.assertIn("no CUDA launch seen", run.err)

    def test_the_watch_sees_a_call(self):
        """The same faults on a process that does use CUDA: were they blind, the test above would show nothing."""
        faults = ",".join(f"{name}:999" for name in exported("libcudart.so.13"))
        session = self.session()
        session.record([sys.executable, WORKERS, library("gemms"), "fork", "return", "1"], {"SIMGPU_FAULT": faults})
        self.assertTrue(session.ledger("fault"))

    def test_forked_workers(self):
        session = self.recorded([sys.executable, WORKERS, library("gemms"), "fork", "return", "3"])
        told = json.loads(session.run.out)
        workers = sorted(pid for pid, _, _ in told["workers"])
        self.assertEqual([code for _, code, _ in told["workers"]], [0, 0, 0])
        self.assertEqual(sorted(line["pid"] for line in session.ledger("init")), workers)
        self.assertEqual(sorted(session.processes()), workers, "the parent has a trace, or a worker has none")
        for process in session.report["processes"]:
            self.assertEqual((process["parent"], process["timing"]), (told["parent"], "on"))
        for pid in workers:
            # Facts of the device are the process's own, read after its cuInit.
            self.assertEqual(session.ledger_of(pid)[0]["type"], "init")
        self.assertEqual([device["spec"] for device in session.report["devices"]], ["unit"])


if __name__ == "__main__":
    main()
