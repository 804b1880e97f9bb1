#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares each kernel launch of a session with the simulator's ledger: name, grid, block and how often, and what replays of
CUDA graphs ran of them. compare.py has the times and the library calls.

    check_launches.py DUMP OWN_KERNEL LAUNCHES LEDGER...

DUMP: what tests/preload's preload_trace_dump prints. OWN_KERNEL has to be there LAUNCHES times, each through a function of the
driver that was looked up by name. Exits 0 when all are equal, 1 when not."""
import collections
import json
import sys

NOT_IN_A_CALL = 0


def read(path):
    return [json.loads(line) for line in open(path)]


def of_ledger(paths):
    """Kernels that ran outside of library calls: those launched, and those of graphs."""
    direct, replayed = collections.Counter(), collections.Counter()
    for line in (line for path in paths for line in read(path)):
        if line["type"] == "kernel" and line["call"] == NOT_IN_A_CALL:
            key = (line["name"], *line["grid"])
            if line["graph"]:
                replayed[key] += 1
            else:
                direct[(*key, *line["block"])] += 1
    return direct, replayed


class Session:
    """One process' trace after another: ids are a process' own."""

    def __init__(self, records):
        self.direct, self.replayed, self.ways = collections.Counter(), collections.Counter(), collections.Counter()
        self.unnamed = 0
        if sum(record["record"] == "process" for record in records) <= 1:
            self.add(records)  # blocks of its threads lie in any order
            return
        part = []
        for record in records + [{"record": "process"}]:
            if record["record"] == "process":
                self.add(part)
                part = []
            part.append(record)

    def add(self, records):
        names = {r["id"]: r["text"] for r in records if r["record"] == "name"}
        entries = {r["id"]: r["text"] for r in records if r["record"] == "entry"}
        launches = {r["call_id"]: r for r in records if r["record"] == "launch" and not r["parent"]}
        ran = {}
        for kernel in (r for r in records if r["record"] == "kernel"):
            launch = launches.get(kernel["call_id"])
            if not launch:
                continue
            name = names[kernel["name"]]
            ran[kernel["call_id"]] = name
            if kernel["graph"]:
                self.replayed[(name, *launch["grid"])] += 1
            else:
                self.direct[(name, *launch["grid"], *launch["block"])] += 1
        for call_id, launch in launches.items():
            self.unnamed += call_id not in ran
            self.ways[ran.get(call_id), entries[launch["entry"]]] += 1


def main():
    dump, own, wanted, ledgers = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
    session, (direct, replayed) = Session(read(dump)), of_ledger(ledgers)
    found = []
    for what, ledger, trace in (("launched", direct, session.direct), ("replayed", replayed, session.replayed)):
        for key in sorted(set(ledger) | set(trace)):
            if ledger[key] != trace[key]:
                found.append(f"{what} {key}: ledger {ledger[key]}, rooftap {trace[key]}")
    if session.unnamed:
        found.append(f"{session.unnamed} launches have no kernel")
    ways = {entry: count for (name, entry), count in session.ways.items() if name == own}
    if sum(ways.values()) != wanted or not all(entry.startswith("cuLaunchKernel") for entry in ways):
        found.append(f"{own}: expected {wanted} launches through cuLaunchKernel or cuLaunchKernelEx, found {ways}")
    if not direct or not replayed:
        found.append("nothing to compare: the ledger holds no launch or no replay")
    print(*found, sep="\n", end="\n" if found else "")
    kinds = sorted({key[0] for key in direct if key[0].startswith("triton_")})
    print(f"{sum(direct.values())} launches of {len(direct)} kinds, {sum(replayed.values())} replayed kernels; {own} {ways}; of torch.compile: "
          f"{', '.join(kinds) or 'none'}: {'EQUAL' if not found else f'{len(found)} DIFFERENCES'}")
    sys.exit(1 if found else 0)


main()
