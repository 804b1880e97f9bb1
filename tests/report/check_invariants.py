#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What must hold between the figures of any report, whatever the session: worked out from --json alone.

    check_invariants.py REPORT MAKE_TRACE CASES [FIRST COUNT]   sessions of all cases, and of COUNT random descriptions
    check_invariants.py --session ROOFTAP FOLDER...             sessions that are there
    check_invariants.py --record ROOFTAP DECODE_LOOP            decode_loop on simulated GPUs, calibrated and not"""
import copy
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import cut_facts
import page_facts
import random_session
from holding import COUNT_MOST, EPSILON, Broken, known, near, require, times_of

LEAST_ADVICE = 0.001
NOT_A_FIGURE = re.compile(r"(?<![\w.:])[-+]?(nan|inf)(?![\w.:(<])|(?<![\w.,:e-])-0(?![\w.,])")


def share(value, what):
    require(value is None or -EPSILON <= value <= 1 + EPSILON, what, "is no share:", value)


def shares(values, what):
    present = [value for value in values if value is not None]
    for value in present:
        share(value, what)
    require(sum(present) <= 1 + EPSILON, what, "sum up to more than 1:", sum(present))


# ---- devices ----

def busy_of(report, device):
    """Where times stand for more than was timed, so does what was busy."""
    if device is None:
        return None
    here = [op for op in report["operators"] if op["device"] == device]
    if any(op["time_estimated"] for op in here):
        return sum(op["time_ns"] or 0 for op in here)
    return report["devices"][device]["gpu_busy_ns"]


def saved(report, device, value, what):
    """What is saved is time that was spent."""
    require(value is None or value >= 0, what, "is negative:", value)
    busy = busy_of(report, device)
    ran = device is not None and report["devices"][device]["kernel_ns"]
    require(value is None or not busy or not ran or value <= busy * (1 + EPSILON), what, value, "exceeds busy time", busy)


def check_device(device):
    busy, span, idle = device["gpu_busy_ns"], device["span_ns"], device["idle_ns"]
    if known(busy, span, idle):
        require(busy + idle == span, "busy + idle is not the span:", busy, idle, span)
        require(busy <= device["kernel_ns"] + device["copy_ns"] or device["kernel_ns"] == COUNT_MOST,
                "busy for longer than kernels and copies together")
    identity = device["identity"]
    for key in ("compute_scale", "memory_scale"):
        require(identity[key] is None or 0 < identity[key] <= 1, key, identity[key])
    require(device["clocks"]["readings_under_load"] <= device["clocks"]["readings"], "readings under load")
    require((device["spec"] is None) <= (device["roofs"] == []), "roofs without a row")
    for value in device["clocks"]["throttle_share"].values():
        share(value, "throttle_share")
    for roof in device["roofs"]:
        require(roof["flops_per_second"] > 0, "a peak that is", roof["flops_per_second"])
        if known(roof["ridge"], roof["bytes_per_second"]):
            require(near(roof["ridge"], roof["flops_per_second"] / roof["bytes_per_second"]), "ridge", roof)
        held = roof["held_clock_flops_per_second"]
        require(held is None or held <= roof["flops_per_second"] * (1 + EPSILON), "held clock scaled up", held)


# ---- operators ----

def below_the_least(op):
    """Of dp4a no rate is published: memory-bound even at its least rate, and so of no ridge (JSON.md)."""
    return op["ridge"] is None and op["type_compute"] == "int8" and op["bound"] in ("memory", "overhead")


def check_unknown(op):
    """What follows from nothing is not known, either."""
    follows = [("flops", ["intensity", "flops_per_second", "t_roof_ns"]), ("bytes", ["intensity", "bytes_per_second", "t_roof_ns"]),
               ("ridge", ["m_star", "t_roof_ns", "roof_fraction", "gain_ns"]), ("t_roof_ns", ["roof_fraction", "gain_ns"]),
               ("time_ns", ["share", "roof_fraction", "flops_per_second", "bytes_per_second", "gain_ns"]),
               ("device", ["ridge", "t_roof_ns", "gain_ns", "bandwidth_fill"]), ("m", ["m_star"])]
    for cause, effects in follows:
        for effect in effects:
            if cause == "ridge" and effect != "m_star" and below_the_least(op):
                continue
            require(op[cause] is not None or op[effect] is None, effect, "is known,", cause, "is not")


def check_class(report, op):
    intensity, ridge, bound = op["intensity"], op["ridge"], op["bound"]
    if below_the_least(op):
        bandwidth = report["devices"][op["device"]]["roofs"][0]["bytes_per_second"]
        require(near(op["t_roof_ns"], 1e9 * op["bytes"] / bandwidth), "t_roof_ns", op["t_roof_ns"], "of memory alone")
        return
    if not known(intensity, ridge):
        require(bound == "unknown", "class", bound, "without intensity or ridge")
        require(not op["flags"], "flags", op["flags"], "without intensity or ridge")
        return
    require(bound != "unknown", "no class, with intensity and ridge")
    if bound != "overhead":
        require(bound == ("memory" if intensity < ridge else "compute"), "class", bound, "at", intensity, "of", ridge)
    else:
        floor_ns = report["devices"][op["device"]]["floor_ns"]
        require(op["kernels"] and known(floor_ns), "overhead without kernels or floor")
        require(op["time_ns"] <= 2 * op["kernels"] * floor_ns * (1 + EPSILON), "overhead, and longer than two floors")
    require(("near_ridge" in op["flags"]) == (abs(intensity / ridge - 1) <= 0.1), "near_ridge at", intensity, "of", ridge)
    fraction = op["roof_fraction"]
    require(("above_roof" in op["flags"]) == (fraction is not None and fraction > 1), "above_roof at", fraction)
    require(("above_roof" in op["flags"]) == (op["above_roof_reason"] is not None), "above_roof_reason")
    far = fraction is not None and bound != "overhead" and 1 / 3 > fraction * (1 + EPSILON)
    require(fraction and near(fraction, 1 / 3) or ("far_from_roof" in op["flags"]) == far, "far_from_roof at", fraction)
    if "starved" in op["flags"]:
        sms = report["devices"][op["device"]]["sm_count"]
        require(known(op["blocks"], sms) and op["blocks"] < sms, "starved:", op["blocks"], "blocks on", sms)


def interval(low, value, high, what):
    require((low is None) == (high is None), what, "has half an interval")
    require(low is None or low * (1 - EPSILON) <= value <= high * (1 + EPSILON), what, value, "is not in its interval", low, high)


def check_evidence(op):
    """What a time rests on."""
    interval(op["time_ns_low"], op["time_ns"], op["time_ns_high"], "time")
    require(op["time_estimated"] or op["time_ns_low"] is None, "an interval of what was timed")
    require(known(op["time_ns"]) == known(op["time_source"]), "a time without a source, or a source without a time")
    if op["time_source"] == "timed":
        require(op["time_ns"] == op["time_timed_ns"] and op["kernels"] == op["kernels_timed"], "not as it was timed")
    if op["time_source"] in ("sampled", "mixed"):
        require(op["time_ns"] * (1 + EPSILON) + 1 >= op["time_timed_ns"], "less than was timed")
    require(not op["time_shared_ns"] or op["time_shared_ns"] <= op["time_ns"] * (1 + EPSILON), "more shared than there is")
    require(not known(op["executions_all"], op["samples"]) or op["executions_all"] >= op["samples"] or op["kind"] == "other",
            "timed more often than executed")


def check_rows_at_ridge(op):
    """Below M* it is memory-bound, from it on compute-bound."""
    intensity, ridge, rows = op["intensity"], op["ridge"], op["m_star"]
    if not known(intensity, ridge, rows, op["m"]) or not op["m"] or near(intensity, ridge) or near(op["m"], rows):
        return
    require((op["m"] < rows) == (intensity < ridge), "M", op["m"], "M*", rows, "at", intensity, "of ridge", ridge)


ELEMENT_BYTES = {"bf16": 2, "fp16": 2, "fp32": 4, "fp64": 8, "int8": 1, "int32": 4, "fp8_e4m3": 1, "fp8_e5m2": 1}


def check_plain_product(op):
    """Where the bytes are those of A, B and D alone, M* follows from the contract's equation."""
    types = [ELEMENT_BYTES.get(op[key]) for key in ("type_a", "type_b", "type_d")]
    m, n, k = op["m"], op["n"], op["k"]
    if op["kind"] != "gemm" or not known(m, n, k, op["flops"], op["bytes"], op["ridge"], *types) or op["batch"] != 1:
        return
    left, right, out = types if op["weight"] == "b" else (types[1], types[0], types[2])
    times, moved = times_of(op), left * m * k + right * n * k + out * m * n
    if not min(m, n, k, times) or not near(op["bytes"], times * moved):
        return
    require(near(op["flops"], times * 2 * m * n * k), "FLOPs", op["flops"])
    gain = 2 * n * k - op["ridge"] * (left * k + out * n)
    if abs(gain) > 1e-6 * 2 * n * k:
        require(known(op["m_star"]) == (gain > 0), "M*", op["m_star"], "where 2NK - R(bK + bN) is", gain)
        require(gain < 0 or near(op["m_star"], op["ridge"] * right * n * k / gain, 1e-6), "M*", op["m_star"])


def check_operator(report, op):
    check_unknown(op)
    check_class(report, op)
    check_evidence(op)
    check_rows_at_ridge(op)
    check_plain_product(op)
    share(op["share"], "share")
    saved(report, op["device"], op["gain_ns"], "gain_ns")
    if known(op["gain_ns"], op["time_ns"]):
        require(op["gain_ns"] <= op["time_ns"] * (1 + EPSILON), "gain beyond its time")
    if known(op["intensity"], op["flops"], op["bytes"]) and op["bytes"] > 0:
        require(near(op["intensity"], op["flops"] / op["bytes"]), "intensity", op["intensity"], "of", op["flops"], op["bytes"])
    roofs = report["devices"][op["device"]]["roofs"] if op["device"] is not None else []
    bandwidth = roofs[0]["bytes_per_second"] if roofs else None
    if known(op["t_roof_ns"], op["ridge"], bandwidth):
        seconds = max(op["flops"] / (op["ridge"] * bandwidth), op["bytes"] / bandwidth)
        require(near(op["t_roof_ns"], 1e9 * seconds), "t_roof_ns", op["t_roof_ns"])
    if known(op["phase_calls"], op["executions_all"]):
        times = max(op["calls"], op["executions_all"])  # replays count, too
        require(sum(op["phase_calls"].values()) <= times, "calls of phases", op["phase_calls"], "of", times)
    for key in ("flops", "bytes", "t_roof_ns", "m_star", "ridge", "intensity", "bandwidth_fill"):
        require(op[key] is None or op[key] >= 0, key, "is negative:", op[key])


# ---- weights ----

def percentile(rows, percent):
    """Nearest rank, by definition."""
    rank, seen = math.ceil(percent * sum(times for _, times in rows) / 100), 0
    for m, times in sorted(rows):
        seen += times
        if seen >= rank:
            return m
    return None


def check_weight(report, weight):
    ops = [report["operators"][i] for i in weight["operators"]]
    require(ops and len(set(weight["operators"])) == len(ops), "operators", weight["operators"])
    for op in ops:
        for key in ("device", "n", "k", "batch", "type_a", "type_b", "type_c", "type_d"):
            require(op[key] == weight[key], key, "of operator and weight differ:", op[key], weight[key])
        require(op["weight"], "an operator of a weight claims none")
    rows = [(op["m"], times_of(op)) for op in ops]
    require(weight["executions"] == min(COUNT_MOST, sum(times for _, times in rows)), "executions", weight["executions"], rows)
    require(weight["m_min"] <= weight["m_p50"] <= weight["m_p90"] <= weight["m_max"], "order of the percentiles")
    require((weight["m_min"], weight["m_max"]) == (min(rows)[0], max(rows)[0]), "least and most M", rows)
    if weight["executions"] < 2**50:
        require((weight["m_p50"], weight["m_p90"]) == (percentile(rows, 50), percentile(rows, 90)), "percentiles of", rows)
    time_ns = sum(op["time_ns"] or 0 for op in ops)
    require((weight["time_ns"] or 0) == min(COUNT_MOST, time_ns), "time", weight["time_ns"], "of", time_ns)
    if weight["share"] is not None:
        require(near(weight["share"], sum(op["share"] or 0 for op in ops)), "share", weight["share"])
    below = [op["bound"] == "memory" if below_the_least(op) else known(op["intensity"], op["ridge"]) and op["intensity"] < op["ridge"]
             for op in ops]
    require(weight["skinny"] == any(below) or any(op["bound"] == "overhead" for op in ops if below_the_least(op)), "skinny",
            weight["skinny"], below)
    require(weight["starved"] == any("starved" in op["flags"] for op in ops), "starved", weight["starved"])
    for key in ("executions_below", "time_below", "fill", "share"):
        share(weight[key], key)
    require((weight["m_star_never"] is False) == known(weight["m_star"]), "m_star_never", weight["m_star_never"])
    if known(weight["fill"]):
        blocks, sms = weight["blocks"], weight["sm_count"]
        require(near(weight["fill"], blocks / (sms * math.ceil(blocks / sms))), "fill of", blocks, "blocks on", sms)
    for change, value in weight["saved_ns"].items():
        saved(report, weight["device"], value, f"saved by {change}")


def check_group(report, group):
    ops = [report["operators"][i] for i in group["operators"]]
    require(len(ops) > 1, "a group of", len(ops))
    require(all(op["m"] == group["m"] and op["k"] == group["k"] for op in ops), "M or K of a group's operators")
    require(group["n_fused"] == min(COUNT_MOST, sum(op["n"] for op in ops)), "n_fused", group["n_fused"])
    saved(report, group["device"], group["saved_ns"], "saved by fusing")
    for key in ("fill", "fill_fused"):
        share(group[key], key)
    if known(group["intensity"], group["intensity_fused"]):
        require(group["intensity_fused"] >= group["intensity"] * (1 - EPSILON), "fusing lowers the intensity")
    if known(group["roof_ns"], group["roof_fused_ns"]):
        require(group["roof_fused_ns"] <= group["roof_ns"] * (1 + EPSILON), "fusing raises the time at the roof")


# ---- the whole ----

def check_sums(report):
    ops, coverage = report["operators"], report["coverage"]
    gpu_time = coverage["gpu_time_ns"]
    if gpu_time is not None:
        require(near(gpu_time, sum(op["time_ns"] or 0 for op in ops)), "gpu_time_ns is not the operators'")
        of_devices = [device["kernel_ns"] or 0 for device in report["devices"]]
        require(COUNT_MOST in of_devices or coverage["time_estimated"] or near(gpu_time, sum(of_devices)), "gpu_time_ns is not the devices'")
    shares([op["share"] for op in ops], "shares of operators")
    shares([weight["share"] for weight in report["weights"]], "shares of weights")
    for key in ("launch_share", "gpu_time_share"):
        values = list(coverage[key].values())
        shares(values, key)
        require(None in values or near(sum(value or 0 for value in values), 1), key, "is not whole:", values)
    for key in ("calls", "failed_calls", "launches"):
        require(coverage[key] == sum(process[key] for process in report["processes"]), key, "of processes and of coverage")
    if coverage["kernels"] is not None:
        require(coverage["kernels"] == sum(op["kernels_timed"] or 0 for op in ops), "kernels")
    for key, part in (("graph_shared_time_ns", "graph_shared"), ("graph_rest_time_ns", "graph")):
        require(coverage[key] is None or coverage[key] >= 0, key, "is negative")
    require(None in (gpu_time, coverage["graph_shared_time_ns"], coverage["graph_rest_time_ns"]) or
            coverage["graph_shared_time_ns"] + coverage["graph_rest_time_ns"] <= gpu_time * (1 + EPSILON), "more of graphs than there was")
    require(coverage["time_estimated"] == any(op["time_estimated"] for op in ops), "estimated")
    interval(coverage["gpu_time_ns_low"], gpu_time, coverage["gpu_time_ns_high"], "GPU time")
    claimed = [i for weight in report["weights"] for i in weight["operators"]]
    require(len(set(claimed)) == len(claimed), "an operator is of two weights")


def check_phases(report):
    phases, step = report["phases"], report["step"]
    shares([phase["share"] for phase in phases.values()], "shares of phases")
    for key in ("steps", "flops", "bytes", "time_ns"):
        values = [phase[key] for phase in phases.values()]
        require(None in values or step[key] is None or near(math.fsum(values), step[key], 1e-6), "phases'", key, values, step[key])
    for phase in [*phases.values(), step]:
        require(phase["intensity"] is None or near(phase["intensity"], phase["flops"] / phase["bytes"]), "a phase's intensity")


SUBJECTS = {"weight": "weights", "siblings": "sibling_groups", "operator": "operators",
            "naive_attention": "naive_attention", "device": "devices", "run": None}


def base_of(report, saved_of):
    devices = report["devices"]
    if saved_of == "roof":
        return sum(op["t_roof_ns"] or 0 for op in report["operators"])
    if saved_of == "busy":
        return sum(busy_of(report, device) or 0 for device in range(len(devices)))
    return sum(device["span_ns"] or 0 for device in devices)


def check_advice(report):
    ids = [advice["id"] for advice in report["advice"]]
    require(len(set(ids)) == len(ids), "advice given twice:", ids)
    for advice in report["advice"]:
        name, base = advice["id"], base_of(report, advice["saved_of"])
        require(LEAST_ADVICE <= advice["saved_share"] <= 1 + EPSILON, name, "saves a share of", advice["saved_share"])
        require(near(advice["saved_share"], advice["saved_ns"] / base), name, "share of", base)
        require(advice["subjects"], name, "without a subject")
        of = SUBJECTS[advice["subject_kind"]]
        for subject in advice["subjects"]:
            require(0 < subject["saved_ns"] <= base * (1 + EPSILON), name, "saves", subject["saved_ns"], "of", base)
            require(subject["index"] is None if of is None else 0 <= subject["index"] < len(report[of]), name, "index")
        order = [subject["saved_ns"] for subject in advice["subjects"]]
        require(order == sorted(order, reverse=True), name, "subjects are not in order")
        require(advice["saved_ns"] <= sum(order) * (1 + EPSILON), name, "saves more than its subjects do")
    order = [advice["saved_ns"] for advice in report["advice"]]
    require(order == sorted(order, reverse=True), "advice is not in order")


def check_verdict(report):
    verdict = report["verdict"]
    shares(verdict["share"].values(), "shares of the verdict")
    share(verdict["idle_share"], "idle_share")
    require(verdict["sentence"] and "\n" not in verdict["sentence"], "sentence")
    levers = {advice["id"]: advice["saved_share"] for advice in report["advice"]}
    require(verdict["lever"] is None or levers.get(verdict["lever"]) == verdict["lever_share"], "lever")


def check_report(report):
    for device in report["devices"]:
        check_device(device)
    for kind, check in (("operators", check_operator), ("weights", check_weight), ("sibling_groups", check_group)):
        for i, row in enumerate(report[kind]):
            try:
                check(report, row)
            except Broken as broken:
                raise Broken(f"{kind}[{i}]: {broken}") from None
    for pair in report["naive_attention"]:
        saved(report, pair["device"], pair["saved_ns"], "saved by fused attention")
        require(max(pair["scores"], pair["output"]) < len(report["operators"]), "index of naive attention")
    check_sums(report)
    check_phases(report)
    check_advice(report)
    check_verdict(report)
    page_facts.check(report)


# ---- the checks checked ----

def set_at(report, path, value):
    *path, last = path
    for step in path:
        report = report[step]
    report[last] = value(report[last]) if callable(value) else value


# Of the case siblings_and_phases: each must be seen.
BREAKS = [
    (("devices", 0, "idle_ns"), lambda x: x + 1), (("devices", 0, "gpu_busy_ns"), 1), (("devices", 0, "identity", "memory_scale"), 1.5),
    (("devices", 0, "roofs", 0, "ridge"), lambda x: x * 1.01), (("operators", 0, "share"), 1.5), (("operators", 0, "intensity"), lambda x: x * 1.01),
    (("operators", 0, "bound"), "compute"), (("operators", 0, "bound"), "unknown"), (("operators", 0, "m_star"), 1),
    (("operators", 0, "m_star"), None), (("operators", 0, "t_roof_ns"), lambda x: x * 1.01), (("operators", 0, "gain_ns"), -1),
    (("operators", 0, "gain_ns"), 10**12), (("operators", 0, "bytes"), None), (("operators", 0, "ridge"), None),
    (("operators", 0, "flags"), ["above_roof"]), (("operators", 0, "flags"), ["starved"]), (("operators", 0, "phase_calls", "decode"), 10**6),
    (("operators", 0, "time_ns"), lambda x: x + 1), (("weights", 0, "executions"), lambda x: x + 1), (("weights", 0, "m_p50"), 10**6),
    (("weights", 0, "m_p90"), 0), (("weights", 0, "skinny"), False), (("weights", 0, "time_below"), 1.01), (("weights", 0, "n"), 7),
    (("weights", 0, "saved_ns", "batch"), -1), (("weights", 0, "saved_ns", "8_bit"), 10**12), (("weights", 0, "fill"), 0.123),
    (("operators", 0, "kernels_timed"), 10**6), (("operators", 0, "time_ns_low"), 1), (("operators", 0, "time_source"), None),
    (("operators", 0, "executions_all"), 0), (("operators", 0, "time_shared_ns"), 10**15), (("coverage", "time_estimated"), True),
    (("coverage", "graph_rest_time_ns"), 10**15), (("weights", 0, "operators"), [0, 0]), (("sibling_groups", 0, "n_fused"), 1), (("sibling_groups", 0, "saved_ns"), 10**12),
    (("sibling_groups", 0, "intensity_fused"), 0.1), (("coverage", "calls"), 1), (("coverage", "gpu_time_share", "exact"), 0.5),
    (("phases", "decode", "flops"), 1), (("phases", "decode", "share"), 0.99), (("advice", 0, "saved_share"), 0.0001),
    (("advice", 0, "subjects", 0, "saved_ns"), 0), (("advice", 0, "subjects"), []), (("verdict", "share", "memory"), 1.1),
    (("verdict", "lever"), "nothing"),
    (("time_by_bound", "memory"), lambda x: x + 1), (("time_by_bound", "unknown"), None), (("devices", 0, "share_base_ns"), 1),
    (("operators", 0, "roof"), None), (("operators", 0, "roof"), 0), (("operators", 0, "gain_share"), 0.9), (("operators", 0, "gain_share"), None),
    (("weights", 0, "m_bins", 0, "executions"), lambda x: x + 1), (("weights", 0, "m_bins"), []), (("weights", 0, "m_bins", 0, "time_ns"), 1),
    (("weights", 0, "m_bins", 0, "m_most"), 10**6), (("step", "m_bins", 0, "executions"), lambda x: x + 1), (("phases", "decode", "m_bins"), []),
    (("kernels", 0, "shapes"), 99), (("kernels", 0, "time_ns"), 1), (("kernels", 0, "operators"), [0]), (("kernels",), []),
    (("kernels", 0, "gain_share"), 0.9), (("kernels", 0, "roof_fraction"), None), (("kernels", 0, "mixed"), lambda x: not x),
    (("kernels", 0, "display_name"), "another"),
]


def check_checks(report):
    for path, value in BREAKS:
        broken = copy.deepcopy(report)
        set_at(broken, path, value)
        try:
            check_report(broken)
        except Broken:
            continue
        raise Broken(f"not seen: {'.'.join(map(str, path))} changed")


# ---- sessions ----

def refuse_constant(name):
    raise Broken(f"{name} in JSON")


def unique(pairs):
    require(len({key for key, _ in pairs}) == len(pairs), "a key twice")
    return dict(pairs)


VIEWS = [["--by", "shape"], ["--by", "weight"], ["--by", "kernel"], ["--skinny"]]


def run(command, *arguments):
    done = subprocess.run([command, *arguments], capture_output=True, timeout=100)
    require(done.returncode in (0, 1, 2), "exit status", done.returncode, done.stderr.decode(errors="replace")[-2000:])
    return done.stdout.decode()


def read_json(text):
    return json.loads(text, parse_constant=refuse_constant, object_pairs_hook=unique)


def check_cuts(run_report, folder, report):
    """The first rows alone; all of them but one; all."""
    for rows in sorted({1, 2, max(1, len(report["operators"]) - 1), len(report["operators"]) + 1}):
        text = run_report("--json", "--top", str(rows), folder)
        cut = read_json(text)
        cut_facts.check(report, cut, rows, len(text.encode()))
        if rows == 2 and os.path.basename(folder) == "siblings_and_phases":
            check_cut_checks(report, cut)


def check_cut_checks(report, cut):
    for what, change in cut_facts.broken(cut):
        changed = copy.deepcopy(cut)
        change(changed)
        try:
            cut_facts.check(report, changed, 2, 0)
        except Broken:
            continue
        raise Broken(f"not seen: {what} of a cut report changed")


def check_session(command, folder):
    def run_report(*arguments):
        return run(command, *([] if command.endswith("report_driver") else ["report"]), *arguments)
    out = run_report("--json", folder)
    if not out:
        return False
    report = read_json(out)
    check_report(report)
    if os.path.basename(folder) == "siblings_and_phases":
        check_checks(report)
    check_cuts(run_report, folder, report)
    for view in VIEWS:
        text = run_report(*view, folder)
        figure = NOT_A_FIGURE.search(text)
        require(not figure, *view, "shows", figure and repr(text[max(0, figure.start() - 60):figure.end() + 20]))
    return True


def make(make_trace, description, folder):
    folder.mkdir()
    path = folder.with_suffix(".txt")
    path.write_text(description)
    subprocess.run([make_trace, path, folder], check=True)


def sessions_of_cases(make_trace, cases, scratch):
    for case in sorted(cases.iterdir()):
        if (case / "trace.txt").exists():
            text = (case / "trace.txt").read_text()
            for mark, value in (("@PID@", os.getpid()), ("@HOST@", os.uname().nodename), ("@NOW@", 1700000000)):
                text = text.replace(mark, str(value))
            make(make_trace, text, scratch / case.name)
            yield case.name, scratch / case.name


def random_sessions(make_trace, first, count, scratch):
    for seed in range(first, first + count):
        make(make_trace, random_session.describe(seed), scratch / f"random-{seed}")
        yield f"random description {seed}", scratch / f"random-{seed}"


def recordings(rooftap, decode_loop, scratch):
    for calibrated in (False, True):
        for gpu, batch in (("rtx4090", 1), ("rtx4090", 160), ("rtx4090", 256), ("h100-sxm", 64)):
            folder = scratch / f"{gpu}-{batch}-{calibrated}"
            if calibrated:
                subprocess.run([rooftap, "calibrate", "--quick", "--simulate", gpu], check=True, stdout=subprocess.DEVNULL)
            subprocess.run([rooftap, "record", "-q", "--simulate", gpu, "-o", folder, "--", decode_loop, "--batch", str(batch)],
                           check=True, stdout=subprocess.DEVNULL)
            yield f"decode_loop of batch {batch} on {gpu}{', calibrated' if calibrated else ''}", folder


def main(arguments):
    broken = checked = 0
    with tempfile.TemporaryDirectory() as scratch:
        os.environ.update(XDG_DATA_HOME=scratch, HOME=scratch)
        if arguments[0] == "--session":
            command, sessions = arguments[1], [(folder, folder) for folder in arguments[2:]]
        elif arguments[0] == "--record":
            command, sessions = arguments[1], recordings(*arguments[1:3], pathlib.Path(scratch))
        else:
            command, make_trace, cases = arguments[0], arguments[1], pathlib.Path(arguments[2])
            first, count = map(int, arguments[3:5] or (0, 60))
            sessions = [*sessions_of_cases(make_trace, cases, pathlib.Path(scratch)),
                        *random_sessions(make_trace, first, count, pathlib.Path(scratch))]
        for name, folder in sessions:
            try:
                checked += check_session(command, folder)
            except Broken as what:
                broken += 1
                print(f"{name}: {what}")
    print(f"{checked} reports, {broken} broken")
    return 1 if broken or not checked else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
