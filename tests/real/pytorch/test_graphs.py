#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program that decodes by graph replay, alone and recorded, by CUPTI's callbacks and by what streams capture: the same output,
each replayed kernel and library call as the ledger has it, each captured call executed as often as its graph was launched, and a
report that says so. decoded.py once more, timed from after its capture on: shapes are there.

    test_graphs.py BUILD_FOLDER PYTHON [REPLAYS [graphs|decoded|reduced]]"""
import collections
import glob
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import compare

HERE = pathlib.Path(__file__).resolve().parent
# By program: launches of graphs that are not of REPLAYS, and kernels of a launch at least. graphs: 6 products and 3 of the rest;
# decoded: 7 products a layer, 1 of the vocabulary, attention; reduced: 4 products, 2 norms, 2 activations, and of each size
# one launch beside the capture (torch's cudagraph_trees launches what it has captured). STRANGERS are kernels that no call which
# rooftap sees launches, by how their names begin: cuDNN's, of its own runtime. CUPTI tells of their nodes, streams do not.
PROGRAMS = {"graphs": (5, 9), "decoded": (0, 17), "reduced": (4, 8)}
STRANGERS = "cudnn_"


def environment(folder, **extra):
    """Caches of its own: what torch.compile makes is made anew."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("ROOFTAP_", "SIMGPU_"))}
    return {**kept, "TRANSFORMERS_VERBOSITY": "error", "HF_HUB_OFFLINE": "1", "TRITON_CACHE_DIR": f"{folder}/triton",
            "TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor", **extra}


def alone(build, command):
    sim = pathlib.Path(build) / "lib" / "rooftap" / "sim"
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, capture_output=True, text=True,
                              env=environment(folder, LD_LIBRARY_PATH=str(sim), SIMGPU_DEVICE=str(HERE / "h100-sxm.device")))
    if done.returncode:
        sys.exit(f"alone: status {done.returncode}\n{done.stderr}")
    return done.stdout


def recorded(build, command, graphs, folder):
    """Output of the program, report as JSON, report as text."""
    rooftap = str(pathlib.Path(build) / "bin" / "rooftap")
    done = subprocess.run([rooftap, "record", "-q", "-o", f"{folder}/session", "--simulate", "h100-sxm", "--", *command],
                          capture_output=True, text=True,
                          env=environment(folder, SIMGPU_LEDGER=f"{folder}/ledger-%p", ROOFTAP_GRAPHS=graphs))
    if done.returncode:
        sys.exit(f"{graphs}: status {done.returncode}\n{done.stderr}")
    report = subprocess.run([rooftap, "report", "--json", f"{folder}/session"], capture_output=True, text=True, check=True).stdout
    pathlib.Path(folder, "report.json").write_text(report)
    text = subprocess.run([rooftap, "report", f"{folder}/session"], capture_output=True, text=True, check=True).stdout
    return done.stdout, json.loads(report), text


def faults_of_counts(folder, report, graphs, launches_wanted, kernels_least):
    entries = compare.read_ledger(sorted(glob.glob(f"{folder}/ledger-*")))
    calls, others, totals = compare.of_ledger(entries)
    reported_calls, reported_others, reported_totals = compare.of_report(pathlib.Path(folder, "report.json"))
    for tallies in (others, reported_others):  # launches are no library calls; a captured one is made once
        for tally in tallies.values():
            tally.calls = tally.failed = 0
    yield from compare.differences("call", calls, reported_calls)
    yield from compare.differences("kernel", {k: v for k, v in others.items() if v.kernels}, reported_others)
    for key in totals:
        if totals[key] != reported_totals[key]:
            yield f"{key}: ledger {totals[key]}, report {reported_totals[key]}"
    yield from (f"executions of {line}" for line in
                compare.differences("call", compare.executions_of_ledger(entries), compare.executions_of_report(report)))
    kernels = [line for _, line in entries if line["type"] == "kernel" and line["graph"]]
    launches = collections.Counter(line["correlation"] for line in kernels)
    if len(launches) != launches_wanted or min(launches.values(), default=0) < kernels_least:
        yield f"the ledger has {len(launches)} replays of at least {min(launches.values(), default=0)} kernels"
    strange = sum(line["name"].startswith(STRANGERS) for line in kernels) if graphs == "capture" else 0
    unjoined = report["coverage"]["graph_kernels_unjoined"]
    if unjoined != strange:
        yield f"{unjoined} of {len(kernels)} kernels of graphs have no call, expected {strange}"
    replays = [process["graph_replays"] for process in report["processes"] if process["graph_replays"]]
    found = [sum(replay[key] for replay in replays) for key in ("launches", "kernels_launched", "kernels_timed", "graphs_unknown")]
    if found != [len(launches), len(kernels) - strange, len(kernels), 0]:
        yield f"graphs: ledger {len(launches)} launches, {len(kernels)} kernels, report {found}"


def faults_of_text(text, report, launches, graphs):
    """What a user has to find before the table: how graphs were followed, all of it, and nothing lost."""
    first = text.split("\n\n")[0]
    words = " ".join(first.split())
    if not re.search(rf"graphs: \d+, launched {launches:,} times; ([\d,]+) of their (\1 )?kernels timed one by one", words):
        yield f"nothing of {launches:,} launches in\n{first}"
    if ("by CUPTI's callbacks" if graphs == "callbacks" else "what streams capture") not in words:
        yield f"nothing of how graphs were followed in\n{first}"
    for word in ("INCOMPLETE", "NOT ALL"):
        if word in words:
            yield f"{word} in\n{first}"
    if "(name not known)" in text:
        yield f"a row without a name in\n{text}"
    losses = [caveat for caveat in report["caveats"] if caveat["text"].startswith("error")]
    if losses:
        yield f"caveats {losses}"


def faults_of_late_timing(build, command, steps, folder):
    """Timing begins when all is captured: every replay is timed, under the calls that were captured before."""
    rooftap = str(pathlib.Path(build) / "bin" / "rooftap")
    with subprocess.Popen([rooftap, "record", "-q", "-o", f"{folder}/session", "--simulate", "h100-sxm", "--delay", "ctl", "--",
                           *command, "--wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          env=environment(folder, SIMGPU_LEDGER=f"{folder}/ledger-%p")) as process:
        if process.stdout.readline() != "captured\n":
            sys.exit("decoded.py --wait did not say that it captured")
        subprocess.run([rooftap, "ctl", "start", f"{folder}/session"], check=True, stdout=subprocess.DEVNULL)
        process.communicate("\n")
    if process.returncode:
        sys.exit(f"late timing: status {process.returncode}")
    report = json.loads(subprocess.run([rooftap, "report", "--json", f"{folder}/session"], capture_output=True, text=True,
                                       check=True).stdout)
    pathlib.Path(folder, "report.json").write_text(json.dumps(report))
    entries = compare.read_ledger(sorted(glob.glob(f"{folder}/ledger-*")))
    replayed = [(path, line) for path, line in entries if line["type"] == "call" or (line["type"] == "kernel" and line["graph"])]
    calls, reported = compare.of_ledger(replayed)[0], compare.of_report(pathlib.Path(folder, "report.json"))[0]
    timed = {key: (tally.kernels, tally.time_ns) for key, tally in calls.items() if tally.kernels}
    found = {key: (tally.kernels, tally.time_ns) for key, tally in reported.items() if tally.kernels}
    yield from compare.differences("kernels and ns of", timed, found)
    if not timed or sum(kernels for kernels, _ in timed.values()) % steps:
        yield f"the ledger has replays of {timed}"
    if report["coverage"]["graph_kernels_unjoined"]:
        yield f"{report['coverage']['graph_kernels_unjoined']} kernels of graphs have no call"


def main(build, python, replays="60", program="graphs"):
    beside, kernels_least = PROGRAMS[program]
    launches = int(replays) + beside
    command = [python, str(HERE / f"{program}.py"), replays]
    expected = alone(build, command)
    faults = []
    for graphs in ("callbacks", "capture"):
        with tempfile.TemporaryDirectory() as folder:
            out, report, text = recorded(build, command, graphs, folder)
            found = list(faults_of_counts(folder, report, graphs, launches, kernels_least)) + list(faults_of_text(text, report, launches, graphs))
            if out != expected:
                found.append(f"output {out!r}, alone {expected!r}")
            print(f"{program}, {graphs}: {launches} launches, {report['coverage']['kernels']} kernels, {len(found)} faults", flush=True)
            faults += [f"{graphs}: {fault}" for fault in found]
    if program == "decoded":
        with tempfile.TemporaryDirectory() as folder:
            found = [f"late timing: {fault}" for fault in faults_of_late_timing(build, command, int(replays), folder)]
            print(f"{program}, timed after its capture: {len(found)} faults", flush=True)
            faults += found
    sys.exit("\n".join(faults[:20]) if faults else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
