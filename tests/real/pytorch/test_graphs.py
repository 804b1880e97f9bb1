#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""graphs.py alone and recorded, by CUPTI's callbacks and by what streams capture: the same output, and each replayed kernel
and library call as the ledger has it.    usage: test_graphs.py BUILD_FOLDER PYTHON [REPLAYS]"""
import collections
import glob
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import compare

HERE = pathlib.Path(__file__).resolve().parent
KERNELS_LEAST = 9  # of a captured step: 6 products and 3 of the rest


def environment(build, **extra):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("ROOFTAP_", "SIMGPU_"))}
    return {**kept, "TRANSFORMERS_VERBOSITY": "error", **extra}


def program(python, replays):
    return [python, str(HERE / "graphs.py"), str(replays)]


def alone(build, python, replays):
    sim = pathlib.Path(build) / "lib" / "rooftap" / "sim"
    done = subprocess.run(program(python, replays), capture_output=True, text=True,
                          env=environment(build, LD_LIBRARY_PATH=str(sim), SIMGPU_DEVICE=str(HERE / "h100-sxm.device")))
    if done.returncode:
        sys.exit(f"alone: status {done.returncode}\n{done.stderr}")
    return done.stdout


def recorded(build, python, replays, graphs, folder):
    rooftap = str(pathlib.Path(build) / "bin" / "rooftap")
    done = subprocess.run([rooftap, "record", "-q", "-o", f"{folder}/session", "--simulate", "h100-sxm", "--", *program(python, replays)],
                          capture_output=True, text=True,
                          env=environment(build, SIMGPU_LEDGER=f"{folder}/ledger-%p", ROOFTAP_GRAPHS=graphs))
    if done.returncode:
        sys.exit(f"{graphs}: status {done.returncode}\n{done.stderr}")
    report = subprocess.run([rooftap, "report", "--json", f"{folder}/session"], capture_output=True, text=True, check=True).stdout
    pathlib.Path(folder, "report.json").write_text(report)
    return done.stdout, json.loads(report)


def faults_of(folder, report, replays):
    entries = compare.read_ledger(sorted(glob.glob(f"{folder}/ledger-*")))
    calls, others, totals = compare.of_ledger(entries)
    reported_calls, reported_others, reported_totals = compare.of_report(pathlib.Path(folder, "report.json"))
    for tallies in (others, reported_others):  # launches are no library calls; a captured one is made once
        for tally in tallies.values():
            tally.calls = tally.failed = 0
    yield from compare.differences("call", calls, reported_calls)
    yield from compare.differences("kernel", others, reported_others)
    for key in totals:
        if totals[key] != reported_totals[key]:
            yield f"{key}: ledger {totals[key]}, report {reported_totals[key]}"
    kernels = [line for _, line in entries if line["type"] == "kernel" and line["graph"]]
    launches = collections.Counter(line["correlation"] for line in kernels)
    if len(launches) != replays + 5 or min(launches.values(), default=0) < KERNELS_LEAST:
        yield f"the ledger has {len(launches)} replays of at least {min(launches.values(), default=0)} kernels"
    unjoined = report["coverage"]["graph_kernels_unjoined"]
    if unjoined:
        yield f"{unjoined} of {len(kernels)} kernels of graphs have no call"


def main(build, python, replays="60"):
    expected = alone(build, python, int(replays))
    faults = []
    for graphs in ("callbacks", "capture"):
        with tempfile.TemporaryDirectory() as folder:
            out, report = recorded(build, python, int(replays), graphs, folder)
            found = list(faults_of(folder, report, int(replays)))
            if out != expected:
                found.append(f"output {out!r}, alone {expected!r}")
            print(f"{graphs}: {report['coverage']['kernels']} kernels, {len(found)} faults")
            faults += [f"{graphs}: {fault}" for fault in found]
    sys.exit("\n".join(faults[:20]) if faults else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
