#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares kernel records that a CUPTI client saw with the simulator's ledger: name, grid, stream, graph, node, times.

    check_ledger.py LEDGER RECORDS

Exits 1 and prints what only one side has unless both hold the same kernels, at least one."""
import collections
import json
import sys


def main():
    ledger = collections.Counter()
    for line in open(sys.argv[1]):
        entry = json.loads(line)
        if entry["type"] == "kernel":
            ledger[(entry["name"], ",".join(map(str, entry["grid"])), entry["stream"], entry.get("graph", 0) or 0,
                    entry.get("node", 0) or 0, entry["start"], entry["end"])] += 1
    records = collections.Counter()
    for line in open(sys.argv[2]):
        name, grid, *numbers = line.split()
        records[(name, grid, *map(int, numbers))] += 1
    for what, missing in (("only in the ledger", ledger - records), ("only in the records", records - ledger)):
        for kernel, count in list(missing.items())[:5]:
            print(f"{what}: {count} x {kernel}")
        if missing:
            print(f"{what}: {sum(missing.values())} kernels")
    if ledger != records or not ledger:
        sys.exit(1)
    print(f"{sum(ledger.values())} kernels, the same in both")


main()
