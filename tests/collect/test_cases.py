#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_cases.py MAKE_TRACE REPLAY REPORT CASES SAMPLED_TOTALS: each hand-made session of tests/report as sums gives the same report."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

make_trace, replay, report, cases, sampled_totals = map(pathlib.Path, sys.argv[1:])
PLANS = ("mix", "thinned", "node_first", "behind", "uncounted")  # of tests/classify/test_sampled_totals.c
LEAST = 40  # cases that have to be comparable
PROCESS_LESS = ("sums", "trace_cut", "clocks")  # a sum isn't cut, and keeps no anchors: that shows in the records
COVERAGE_LESS = ("traces_cut",)


def report_of(folder):
    done = subprocess.run([report, "--json", folder], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(done.stdout) if done.returncode == 0 else None


def comparable(found):
    found = {key: value for key, value in found.items() if key != "session"}
    found["processes"] = [{k: v for k, v in p.items() if k not in PROCESS_LESS} for p in found["processes"]]
    found["coverage"] = {k: v for k, v in found["coverage"].items() if k not in COVERAGE_LESS}
    return found


def leave_out_spans(whole, part):
    """When several windows were open is in no sum: of how long nothing was done then, sums say that it is not known."""
    several = any((p["timing_modes"] or {}).get("windows", {}).get("count", 0) > 1 for p in whole["processes"])
    for a, b in zip(whole["devices"], part["devices"]):
        for of, keys in ((lambda d: d, ("span_ns", "idle_ns")), (lambda d: d["time"], ("span_ns", "gap_ns"))):
            for key in keys:
                if several and of(b)[key] is None:
                    of(a)[key] = None
                    for report_of_one in (whole, part):  # what follows from it
                        report_of_one["advice"] = [x for x in report_of_one["advice"] if x["id"] != "idle_gaps"]
                        report_of_one["verdict"] = None


def differences(a, b, where=""):
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return [line for key in a for line in differences(a[key], b[key], f"{where}.{key}")]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [line for i, pair in enumerate(zip(a, b)) for line in differences(*pair, f"{where}[{i}]")]
    return [] if a == b else [f"{where}: {json.dumps(a)[:200]} of the records, {json.dumps(b)[:200]} of their sums"]


def check(case, work):
    """Lines that say what differs; None: there is nothing to compare."""
    raw, sums = work / "SESSION", work / "sums" / "SESSION"
    raw.mkdir()
    sums.mkdir(parents=True)
    if isinstance(case, str):
        subprocess.run([sampled_totals, case, raw / "1.trace"], check=True)
        return compare(raw, sums)
    if subprocess.run([make_trace, case / "trace.txt", raw], stderr=subprocess.DEVNULL).returncode:
        return None
    for name in ("session.json",):
        if (case / name).exists():
            shutil.copy(case / name, raw)
            shutil.copy(case / name, sums)
    for clocks in raw.glob("gpu.clocks"):
        shutil.copy(clocks, sums)
    return compare(raw, sums)


def compare(raw, sums):
    traces = sorted(raw.glob("*.trace"))
    whole = report_of(raw)
    blank = any(not any(path.read_bytes()[:8]) for path in traces)  # a ring without a block is none
    if not whole or whole["problems"] or not traces or blank:
        return None
    for trace in traces:
        subprocess.run([replay, "aggregate", sums, "--ticks=1", trace], check=True)
    part = report_of(sums)
    if not part:
        return ["no report of the sums"]
    leave_out_spans(whole, part)
    return differences(comparable(whole), comparable(part))


def main():
    compared, faults = 0, 0
    for case in [*sorted(path.parent for path in cases.glob("*/trace.txt")), *PLANS]:
        with tempfile.TemporaryDirectory() as work:
            lines = check(case, pathlib.Path(work))
        compared += lines is not None
        faults += bool(lines)
        for line in (lines or [])[:8]:
            print(f"{getattr(case, 'name', case)}{line}")
    print(f"{compared} cases compared, {faults} differ")
    return 1 if faults or compared < LEAST else 0


sys.exit(main())
