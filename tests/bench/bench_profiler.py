#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same PyTorch decode loop on the simulated GPU, plain, under `rooftap record`, and under torch.profiler (CPU and CUDA
activities): what each adds, in time and in bytes written. Rounds of all three, one after another in changing order, so that what
else the machine does falls on all; the medians are of the differences within a round.

    bench_profiler.py BUILD_FOLDER [--rounds N] [--steps N] [--python PYTHON]

PYTHON has torch and transformers; without it, tests/real/pytorch/setup.sh makes that environment (a download of 700 MB).

Time is told twice: of the loop alone, and with what comes before and after, which is the profiler's start, stop and export, and
with rooftap the rest of the process and of `rooftap record`, the end of the session included. CPU time of all threads and
processes, beside the wall clock's, which on a busy machine says more of the others. The simulator's kernels take no CPU and its
CUPTI is not NVIDIA's: what both tools do with CUPTI's records is real, what CUPTI itself costs is not. Fails only where
something was not recorded: both have to have seen as many kernels as the simulator's ledger in one more run."""
import argparse
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
REAL = HERE.parent / "real" / "pytorch"
DEVICE = REAL / "h100-sxm.device"
GOAL = 1 / 20


def clean_environment(build, folder):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SIMGPU_", "ROOFTAP_", "LD_", "CUDA_"))}
    return {**kept, "LD_LIBRARY_PATH": str(build / "lib" / "rooftap" / "sim"), "SIMGPU_DEVICE": str(DEVICE), "TMPDIR": str(folder),
            "HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def bytes_in(folder):
    """As the disk has them: a file may have room ahead that was never written."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def run(options, mode, folder, ledger=None):
    """{loop, whole, process: [wall, CPU] in seconds, bytes}; process: from the start of the command to its end, by the parent."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    session = folder / "session"
    inside = "plain" if mode == "rooftap" else mode
    command = [options.python, str(HERE / "decode_loop.py"), str(options.steps), str(folder), inside]
    if mode == "rooftap":
        command = [str(options.build / "bin" / "rooftap"), "record", "-q", "-o", str(session), "--", *command]
    environment = clean_environment(options.build, folder)
    if ledger:
        environment["SIMGPU_LEDGER"] = str(ledger)
    wall, cpu = time.monotonic(), cpu_seconds()
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    spent = [time.monotonic() - wall, cpu_seconds() - cpu]
    if done.returncode:
        sys.exit(f"bench_profiler.py: {' '.join(command)} ended with {done.returncode}:\n{done.stderr[-3000:]}")
    result = json.loads(done.stdout.splitlines()[-1])
    return {**result, "process": spent, "bytes": bytes_in(folder)}


def kernels_seen(options, mode, folder):
    if mode == "rooftap":
        report = subprocess.run([str(options.build / "bin" / "rooftap"), "report", "--json", str(folder / "session")], check=True,
                                stdout=subprocess.PIPE)
        return json.loads(report.stdout)["coverage"]["kernels"]
    events = json.loads((folder / "trace.json").read_text())["traceEvents"]
    return sum(event.get("cat") == "kernel" for event in events)


def check_counts(options, scratch):
    """Each tool against the ledger of its own run; the profiler starts after the warm-up, whose kernels a shorter run counts."""
    seen = {}
    for mode in ("rooftap", "profiler"):
        ledger = scratch / "ledger"
        ledger.unlink(missing_ok=True)
        run(options, mode, scratch / mode, ledger)
        lines = [json.loads(line) for line in open(ledger)]
        seen[mode] = (kernels_seen(options, mode, scratch / mode), sum(line["type"] == "kernel" for line in lines))
    if seen["rooftap"][0] != seen["rooftap"][1] or not 0 < seen["profiler"][0] <= seen["profiler"][1]:
        sys.exit(f"bench_profiler.py: kernels seen and kernels in the ledger: {seen}")
    print(f"kernels, of those in the ledger: rooftap {seen['rooftap'][0]} of {seen['rooftap'][1]}, torch.profiler "
          f"{seen['profiler'][0]} of {seen['profiler'][1]} (it starts after the warm-up)", flush=True)


def added(rounds, mode, span, clock):
    return statistics.median(one[mode][span][clock] - one["plain"][span][clock] for one in rounds)


def print_times(rounds, steps):
    """Rows: what was timed. The profiler's own start, stop and export are in `whole`, rooftap's end is in `process` alone."""
    print(f"{'added, median of rounds':<46}{'plain':>10}{'rooftap':>10}{'profiler':>10}   rooftap/profiler")
    for clock, name in ((1, "CPU time"), (0, "wall clock")):
        for title, spans, unit, scale in (
                (f"{name} of a decode step, us", ("loop", "loop"), "us", 1e6 / steps),
                (f"{name} of the whole process, ms", ("process", "process"), "ms", 1e3)):
            plain = statistics.median(one["plain"][spans[0]][clock] for one in rounds)
            ours, theirs = added(rounds, "rooftap", spans[0], clock), added(rounds, "profiler", spans[1], clock)
            ratio = ours / theirs if theirs > 0 else float("nan")
            print(f"{title:<46}{plain * scale:>10.1f}{ours * scale:>+10.1f}{theirs * scale:>+10.1f}   {ratio:.3f} "
                  f"({'1/%.0f' % (1 / ratio) if ratio > 0 else 'nothing to tell from noise'})")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--python")
    options = parser.parse_args()
    options.build = options.build.resolve()
    if not options.python:
        options.python = subprocess.run([REAL / "setup.sh"], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1]
    with tempfile.TemporaryDirectory(prefix="rooftap-bench-") as name:
        scratch = pathlib.Path(name)
        check_counts(options, scratch)
        rounds, modes = [], ["plain", "rooftap", "profiler"]
        for number in range(options.rounds):
            order = modes[number % 3:] + modes[:number % 3]
            rounds.append({mode: run(options, mode, scratch / mode) for mode in order})
            loops = "; ".join(f"{mode} {rounds[-1][mode]['loop'][1] * 1e6 / options.steps:.0f}" for mode in modes)
            print(f"round {number + 1}: us of CPU time a step: {loops}", flush=True)
        print_times(rounds, options.steps)
        ours, theirs = (statistics.median(one[mode]["bytes"] for one in rounds) for mode in ("rooftap", "profiler"))
        print(f"{'bytes written, KiB':<46}{'':>10}{ours / 1024:>10.0f}{theirs / 1024:>10.0f}   {ours / theirs:.3f}")
        print(f"the aim is {GOAL:.3f} of what the profiler adds")


main()
