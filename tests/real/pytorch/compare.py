#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `rooftap report --json` with the simulator's ledger, exactly, and prints every difference.

    compare.py LEDGER... REPORT.json

The ledger (JSON lines, one file a process) is the oracle: the simulator's core wrote it, apart from CUPTI and from
rooftap. Compared are
  - every cuBLAS and cuBLASLt call by (function, m, n, k, batch, transa, transb, types): calls, kernels, nanoseconds;
    only calls of the program, not those that cuBLAS makes of cuBLASLt inside, whose kernels belong to the outer call;
  - every other kernel by name: how many, how many nanoseconds;
  - failed calls, all kernels, all nanoseconds, and the time that the device was busy.
Exits 0 when all are equal and there was something to compare, 1 when not, 2 when a file can't be read."""
import collections
import json
import sys

# cudaDataType and cublasOperation_t by number, with the report's names, from the public documentation. The table is this
# test's own: a mistake in rooftap's tables must not hide in it.
TYPES = {0: "fp32", 1: "fp64", 2: "fp16", 3: "int8", 4: "c32", 5: "c64", 8: "uint8", 10: "int32", 14: "bf16",
         28: "fp8_e4m3", 29: "fp8_e5m2"}
OPERATIONS = {0: "N", 1: "T", 2: "C"}
# Entry points whose types are in their names.
LETTERS = {"S": "fp32", "D": "fp64", "H": "fp16", "C": "c32", "Z": "c64"}


# What keeps the device busy.
DEVICE_WORK = ("kernel", "copy", "memset")


class Tally:
    def __init__(self):
        self.calls = self.failed = self.kernels = self.time_ns = 0

    def __eq__(self, other):
        return isinstance(other, Tally) and vars(self) == vars(other)

    def __str__(self):
        failed = f" ({self.failed} failed)" if self.failed else ""
        return f"{self.calls} calls{failed}, {self.kernels} kernels, {self.time_ns} ns"


def fail(text):
    print(f"compare.py: {text}", file=sys.stderr)
    sys.exit(2)


def read_ledger(paths):
    """Lines by process, and which call is inside which."""
    entries = []
    for path in paths:
        try:
            for number, line in enumerate(open(path), 1):
                entries.append((path, json.loads(line)))
        except (OSError, ValueError) as error:
            fail(f"{path}: expected the simulator's ledger, JSON lines: {error}")
    return entries


def type_names(function, args):
    """Of A, B and C as the call gave them."""
    if "Atype" in args:
        return tuple(TYPES.get(args.get(key), str(args.get(key))) for key in ("Atype", "Btype", "Ctype"))
    letter = function[len("cublas"):][:1]
    return (LETTERS.get(letter, letter),) * 3


def call_key(function, args):
    names = type_names(function, args)
    return (function, args.get("m"), args.get("n"), args.get("k"), args.get("batchCount", 1),
            OPERATIONS.get(args.get("transa"), args.get("transa")), OPERATIONS.get(args.get("transb"), args.get("transb")),
            *names)


def is_gemm(function):
    return "gemm" in function.lower() or function == "cublasLtMatmul"


def of_ledger(entries):
    calls, others = collections.defaultdict(Tally), collections.defaultdict(Tally)
    outer, key_of = {}, {}
    for path, entry in entries:
        if entry["type"] == "call":
            outer[path, entry["call"]] = entry["outer"]
            key_of[path, entry["call"]] = call_key(entry["function"], entry["args"])
            if not entry["nested"]:
                tally = calls[key_of[path, entry["call"]]]
                tally.calls += 1
                tally.failed += entry["status"] != 0
    kernels, time_ns, spans, unowned = 0, 0, [], 0
    for path, entry in entries:
        if entry["type"] in DEVICE_WORK:
            spans.append((entry["device"], entry["start"], entry["end"]))
        if entry["type"] != "kernel":
            continue
        duration = entry["end"] - entry["start"]
        kernels += 1
        time_ns += duration
        call = entry["call"]
        while call and outer.get((path, call)):
            call = outer[path, call]
        if call and (path, call) not in key_of:
            unowned += 1 # the process ended inside the call
        tally = calls[key_of[path, call]] if call and (path, call) in key_of else others[entry["name"]]
        tally.kernels += 1
        tally.time_ns += duration
    if unowned:
        print(f"note: {unowned} kernels of calls that never returned are compared by name")
    busy = 0
    end = collections.Counter()  # by device
    for device, start, stop in sorted(spans):
        busy += max(0, stop - max(start, end[device]))
        end[device] = max(end[device], stop)
    return calls, others, {"kernels": kernels, "gpu_time_ns": time_ns, "gpu_busy_ns": busy,
                           "calls": sum(t.calls - t.failed for t in calls.values()),
                           "failed_calls": sum(t.failed for t in calls.values())}


def row_key(row):
    """As call_key()."""
    cublas = row["cublas"]
    return (row["name"], cublas["m"], cublas["n"], cublas["k"], 1 if row["batch"] is None else row["batch"], cublas["transa"],
            cublas["transb"], row["type_a"], row["type_b"], row["type_c"])


def of_report(path):
    try:
        report = json.load(open(path))
        operators, coverage = report["operators"], report["coverage"]
    except (OSError, ValueError, KeyError) as error:
        fail(f"{path}: expected the output of `rooftap report --json`: {error!r}")
    calls, others = collections.defaultdict(Tally), collections.defaultdict(Tally)
    for row in operators:
        if row.get("cublas"):
            tally = calls[row_key(row)]
            tally.calls += (row["calls"] or 0) + (row.get("failed_calls") or 0)
            tally.failed += row.get("failed_calls") or 0
        else:
            tally = others[row["name"]]
        tally.kernels += row["kernels"] or 0
        tally.time_ns += row["time_ns"] or 0
        for helper in row.get("helpers") or []: # kernels of other names that serve the row's, and are counted in it
            for part, sign in ((tally, -1), (others[helper["name"]], 1)):
                part.kernels += sign * helper["kernels"]
                part.time_ns += sign * helper["time_ns"]
    totals = {key: coverage[key] for key in ("kernels", "gpu_time_ns", "calls", "failed_calls")}
    totals["gpu_busy_ns"] = sum(device["gpu_busy_ns"] or 0 for device in report["devices"])
    return calls, others, totals


def executions_of_ledger(entries):
    """By shape: calls that ran, each once where it was made outside of captures, and once for each launch of a graph it is in."""
    calls = {(path, entry["call"]): entry for path, entry in entries if entry["type"] == "call"}
    ran = set()
    for path, entry in entries:
        if entry["type"] == "kernel" and entry["call"]:
            call = entry["call"]
            while calls[path, call]["outer"]:
                call = calls[path, call]["outer"]
            ran.add((path, call, entry["correlation"] if entry["graph"] else 0))
    return collections.Counter(call_key(calls[path, call]["function"], calls[path, call]["args"]) for path, call, _ in ran)


def executions_of_report(report):
    found = collections.Counter()
    for row in report["operators"]:
        if row["cublas"] and row["executions"]:
            found[row_key(row)] += row["executions"]
    return found


def differences(what, ledger, report):
    for key in sorted(set(ledger) | set(report), key=str):
        left, right = ledger.get(key), report.get(key)
        if left != right:
            yield f"{what} {key}: ledger {left or 'nothing'}; rooftap {right or 'nothing'}"


def main():
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    left_calls, left_others, left_totals = of_ledger(read_ledger(sys.argv[1:-1]))
    right_calls, right_others, right_totals = of_report(sys.argv[-1])
    for tallies in (left_others, right_others): # launches are no library calls
        for tally in tallies.values():
            tally.calls = tally.failed = 0
    found = list(differences("call", left_calls, right_calls)) + list(differences("kernel", left_others, right_others))
    found += [f"{key}: ledger {left_totals[key]}, rooftap {right_totals[key]}"
              for key in left_totals if left_totals[key] != right_totals[key]]
    for line in found:
        print(line)
    if not left_calls or not left_totals["kernels"]:
        print("nothing to compare: the ledger holds no library call or no kernel")
        sys.exit(1)
    print(f"{len(left_calls)} kinds of calls, {left_totals['calls']} calls, {left_totals['kernels']} kernels, "
          f"{left_totals['gpu_time_ns']} ns: {'EQUAL' if not found else f'{len(found)} DIFFERENCES'}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
