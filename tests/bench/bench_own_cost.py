#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether what rooftap says of its own cost is true: bench_own_cost.py SHIM HOST DUMP FOLDER.
HOST makes calls of fake libraries, which do next to nothing, with and without SHIM in turn and prints nanoseconds a call; what
the least disturbed of both differ by is what a call really takes more. Printed beside it is what the trace of the least
disturbed run says (OVERHEAD records, by DUMP), and their ratio. Fails only where nothing was measured: times on the wall are never asserted."""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

ROUNDS, CALLS = 15, 20000  # fewer calls than the blocks kept ready hold: a drop would be another path
MODES = (("count", "cuBLAS call"), ("lt", "cuBLASLt call"), ("launch", "kernel launch"))


def run(host, mode, extra):
    done = subprocess.run([host, mode, str(CALLS)], env={**os.environ, **extra}, capture_output=True, text=True, check=True)
    return float(done.stdout)


def reported(dump, folder):
    """Nanoseconds a call and how many calls were measured, by the last record of the process."""
    lines = subprocess.run([dump, folder], capture_output=True, text=True, check=True).stdout.splitlines()
    last = [record for record in map(json.loads, lines) if record["record"] == "overhead"][-1]
    return last["calls_ns"], last["calls"], last["calls_all"]


def measure(shim, host, dump, folder, mode):
    pairs = []
    for _ in range(ROUNDS):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        without = run(host, mode, {})
        loaded = run(host, mode, {"LD_PRELOAD": shim, "ROOFTAP_DIR": str(folder), "ROOFTAP_TIMING": "off"})
        calls_ns, calls, calls_all = reported(dump, folder)
        if calls_all < CALLS:
            sys.exit(f"{mode}: {calls_all} calls were counted of {CALLS}")
        pairs.append((loaded, without, calls_ns, calls))
    calm = sorted(pair for pair in pairs if pair[3])[:ROUNDS // 5]  # one in some 170 is drawn: of a short run perhaps none
    own_ns, measured = sum(pair[2] for pair in calm), sum(pair[3] for pair in calm)
    if not measured:
        return float("nan"), float("nan"), 0
    truth = statistics.mean(pair[0] for pair in calm) - min(pair[1] for pair in pairs)
    return truth, own_ns / measured, measured


def main():
    shim, host, dump, folder = sys.argv[1:]
    for mode, title in MODES:
        truth, said, measured = measure(shim, host, dump, pathlib.Path(folder), mode)
        if not measured:
            sys.exit(f"{title}: nothing was measured")
        print(f"{title}: {truth:.0f} ns added, {said:.0f} ns reported, of {measured} measured: ratio {said / truth:.2f}")


if __name__ == "__main__":
    main()
