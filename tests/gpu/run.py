#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The part of run.sh behind the questions: each row of STAGES runs programs with and without rooftap and says what held. What does
not fit into the time that is left is left out, and said to be. Called by run.sh, which says where everything is."""
import argparse
import collections
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
LIMIT_S = 465  # of run.sh as a whole; below the 8 minutes by what a program takes to end
SIMULATED = "h100-sxm"
TINY = {"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 8, "num_attention_heads": 4,
        "vocab_size": 256}
CALLS_A_STEP = 8 * 7 + 1
MATMULS = {"aten::mm": 0, "aten::addmm": 1, "aten::bmm": 0}  # which input is the left factor


class Failed(Exception):
    """A program did not do what the stage needs."""


class Runner:
    def __init__(self, options):
        self.options = options
        self.rooftap = options.build / "bin" / "rooftap"
        self.decode_loop = options.build / "examples" / "decode_loop" / "decode_loop"
        self.sessions = 0

    def left_s(self):
        return LIMIT_S - (time.time() - self.options.started)

    def run(self, command, recorded=False, options=(), **variables):
        """Lines of output, and the session's folder if it was recorded."""
        environment, session = {**os.environ, **variables}, None
        if recorded:
            self.sessions += 1
            session = self.options.scratch / f"session-{self.sessions}"
            simulate = ["--simulate", SIMULATED] if self.options.simulate else []
            command = [str(self.rooftap), "record", "-q", "-o", str(session), *simulate, *options, "--", *command]
        elif self.options.simulate:
            environment["LD_LIBRARY_PATH"] = f"{self.options.simulate}:{environment.get('LD_LIBRARY_PATH', '')}"
        try:
            done = subprocess.run([str(word) for word in command], env=environment, capture_output=True, text=True,
                                  timeout=min(120, max(5, self.left_s())))
        except subprocess.TimeoutExpired as late:
            raise Failed(f"{command[-1]}: not done within {late.timeout:.0f} s") from late
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines()
            raise Failed(f"exit status {done.returncode}: {said[-1] if said else 'nothing was said'}")
        return done.stdout.splitlines(), session

    def report(self, session):
        done = subprocess.run([str(self.rooftap), "report", "--json", str(session)], capture_output=True, text=True)
        if done.returncode:
            raise Failed(done.stderr.strip())
        return json.loads(done.stdout)


def gemm_calls(report):
    """(batch, and M, N, K in order of size) -> calls; what cuBLAS calls M depends on who calls."""
    calls = collections.Counter()
    for row in report["operators"]:
        if row["kind"] == "gemm" and row["m"] is not None and row["calls"]:
            calls[row["batch"] or 1, *sorted((row["m"], row["n"], row["k"]))] += row["calls"]
    return calls


def whole(report):
    """What must hold for any program that was timed from its start."""
    coverage = report["coverage"]
    wrong = [key for key in ("records_dropped", "buffers_lost", "kernels_untimed") if coverage[key]]
    if not coverage["kernels"]:
        wrong.append("no kernel was timed")
    return wrong


# ---- stages: (what is wrong, facts) ----

def decode_loop(runner, graph):
    steps, layers = 50, 4
    command = [runner.decode_loop, "--steps", steps, "--layers", layers] + (["--graph"] if graph else [])
    _, session = runner.run(command, recorded=True)
    report = runner.report(session)
    rows = [row for row in report["operators"] if row["kind"] == "gemm" and row["calls"]]
    a_step = layers * 7 + 1
    ran = sum(row["executions"] or 0 for row in rows)
    wrong = whole(report)
    if ran != steps * a_step:
        wrong.append(f"{ran} executions, not {steps * a_step}")
    return wrong, {"executions": ran, "kernels": report["coverage"]["kernels"], "gpu_time_ns": report["coverage"]["gpu_time_ns"]}


def profiled(path):
    """Kernels, and matrix products by shape, as torch.profiler tells them."""
    events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    products = collections.Counter()
    for event in events:
        place = MATMULS.get(event.get("name"))
        if place is None or event.get("cat") != "cpu_op":
            continue
        left, right = event["args"]["Input Dims"][place:place + 2]
        batch = left[0] if len(left) == 3 else 1
        products[batch, *sorted((left[-2], right[-1], left[-1]))] += 1
    return sum(event.get("cat") == "kernel" for event in events), products


def torch_decode(runner, graph):
    command = [runner.options.python, HERE / "torch_decode.py", "--steps", 20] + (["--graph"] if graph else [])
    trace = runner.options.scratch / f"profiler-{graph}.json"
    _, session = runner.run(command, recorded=True)
    report = runner.report(session)
    # torch.profiler leaves out kernels later than its own end, where modelled time that nobody waits for would put them.
    runner.run(command + ["--profile", trace], SIMGPU_CLOCK="real")
    kernels, products = profiled(trace)
    wrong, calls = whole(report), gemm_calls(report)
    if report["coverage"]["kernels"] != kernels:
        wrong.append(f"{report['coverage']['kernels']} kernels, torch.profiler has {kernels}")
    if calls != products:
        wrong.append(f"shapes differ from torch.profiler's: {sorted((calls - products).items())[:3]} only here, "
                     f"{sorted((products - calls).items())[:3]} only there")
    unowned = report["coverage"]["graph_kernels_unjoined"]
    return wrong, {"kernels": report["coverage"]["kernels"], "kernels_of_the_profiler": kernels, "shapes": len(calls),
                   "graph_kernels_unjoined": unowned}


def median_step_ns(lines):
    times = [int(line.split()[1]) for line in lines if line.startswith("step_ns")]
    return statistics.median(times[5:])  # the first set things up, and one captures


def added_cost(runner, graph, timing):
    """Pairs of runs, in turn first with and first without, so that what else the machine does falls on both."""
    config = runner.options.scratch / "tiny.json"
    config.write_text(json.dumps(TINY), encoding="utf-8")
    command = [runner.decode_loop, "--config", config, "--batch", 1, "--steps", 300, "--times"] + (["--graph"] if graph else [])
    pairs, end_s = [], time.time() + 15
    while len(pairs) < 3 or (time.time() < end_s and len(pairs) < 15):
        times = {}
        for recorded in (True, False) if len(pairs) % 2 else (False, True):
            lines, session = runner.run(command, recorded, ["--timing", timing] if recorded else ())
            times[recorded] = median_step_ns(lines)
            if session:
                shutil.rmtree(session)
        pairs.append((times[True] - times[False], times[True] / times[False]))
    step_ns, ratio = (statistics.median(column) for column in zip(*pairs))
    return [], {"pairs": len(pairs), "step_added_ns": step_ns, "step_ratio": ratio,
                **({} if graph else {"call_added_ns": step_ns / CALLS_A_STEP})}


def sanitizer(runner):
    tool = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if runner.options.simulate or not os.access(tool, os.X_OK):
        return None, {"left_out": "no compute-sanitizer here"}
    command = [tool, "--error-exitcode", 9, runner.decode_loop, "--steps", 2, "--layers", 1, "--graph"]
    _, session = runner.run(command, recorded=True)
    report = runner.report(session)
    wrong = [] if report["coverage"]["calls"] else ["no call was seen"]
    return wrong, {"calls": report["coverage"]["calls"], "timing": [process["timing"] for process in report["processes"]]}


STAGES = [
    ("decode_loop", "decode_loop", lambda runner: decode_loop(runner, False)),
    ("decode_loop, graphs", "decode_loop", lambda runner: decode_loop(runner, True)),
    ("PyTorch", "torch", lambda runner: torch_decode(runner, False)),
    ("PyTorch, graphs", "torch", lambda runner: torch_decode(runner, True)),
    ("added cost, shapes only", "decode_loop", lambda runner: added_cost(runner, False, "off")),
    ("added cost, timed", "decode_loop", lambda runner: added_cost(runner, False, "on")),
    ("added cost, graphs", "decode_loop", lambda runner: added_cost(runner, True, "on")),
    ("compute-sanitizer", "decode_loop", sanitizer),
]


def there_is(runner, needed):
    if needed == "decode_loop":
        return os.access(runner.decode_loop, os.X_OK)
    try:
        runner.run([runner.options.python, "-c", "import torch"])
        return True
    except Failed:
        return False


def run_stage(runner, name, needed, stage):
    start = time.monotonic()
    if runner.left_s() < 20:
        wrong, facts = None, {"left_out": "no time was left"}
    elif not there_is(runner, needed):
        wrong, facts = None, {"left_out": f"no {needed} here"}
    else:
        try:
            wrong, facts = stage(runner)
        except (Failed, LookupError, ValueError, statistics.StatisticsError) as error:
            wrong, facts = [f"{type(error).__name__}: {error}"], {}
    return {"stage": name, "holds": None if wrong is None else not wrong, "wrong": wrong or [], "seconds": time.monotonic() - start,
            **facts}


def answers(options):
    """What probe.sh asked, a row each."""
    for line in options.answers.read_text(encoding="utf-8").splitlines():
        answer = json.loads(line)
        holds = answer.get("holds", answer.get("exit_status", 0) == 0)
        yield {"stage": f"probe: {answer.pop('question', '?')}", "holds": holds, "wrong": [] if holds else ["see the answer"], **answer}


def table(rows):
    for row in rows:
        facts = [f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}" for key, value in row.items()
                 if key not in ("stage", "holds", "wrong") and isinstance(value, (int, float, str)) and not isinstance(value, bool)]
        verdict = {True: "holds", False: "FAILS", None: "left out"}[row["holds"]]
        print(f"{verdict:9} {row['stage']:28} {'; '.join(row['wrong'] + facts)[:150]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("build", "answers", "scratch", "results"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--probe-status", type=int, required=True)
    parser.add_argument("--started", type=int, required=True)
    parser.add_argument("--simulate", metavar="LIBRARIES")
    options = parser.parse_args()
    runner, rows = Runner(options), list(answers(options))
    for stage in STAGES:
        rows.append(run_stage(runner, *stage))
    table(rows)
    failed = [row["stage"] for row in rows if row["holds"] is False]
    seconds = time.time() - options.started
    options.results.write_text(json.dumps({"simulated": bool(options.simulate), "seconds": seconds, "failed": failed, "rows": rows},
                                          indent=1) + "\n", encoding="utf-8")
    print(f"{len(rows) - len(failed)} of {len(rows)} rows hold or were left out, {seconds:.0f} s; all of it: {options.results}")
    return 1 if failed or options.probe_status else 0


if __name__ == "__main__":
    sys.exit(main())
