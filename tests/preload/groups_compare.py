#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""groups_compare.py CALLS TRACE: what groups_host printed against what preload_trace_dump found, call by call."""
import json
import sys

ARGS_NOT_READ = 1


def main(calls_path, trace_path):
    passed = [json.loads(line) for line in open(calls_path)]
    records = [json.loads(line) for line in open(trace_path)]
    lists = {(r["block"], r["id"]): [(g["trans_a"], g["trans_b"], *g["size"][:3], *g["ld"], g["size"][3], g["alpha"], g["beta"])
                                     for g in r["group"]] for r in records if r["record"] == "groups"}
    calls = [r for r in records if r["record"] == "call"]
    dropped = sum(r["dropped"] for r in records if r["record"] == "slot")
    if dropped or len(calls) != len(passed):
        sys.exit(f"{len(calls)} calls recorded, {dropped} records dropped, {len(passed)} calls made")
    for number, (groups, call) in enumerate(zip(passed, calls)):
        where = f"call {number}"
        if groups is None:
            none = number == 0  # no groups at all: a call of nothing; the other one has too many
            wanted = (0, 0, [0, 0, 0, 0]) if none else (0, ARGS_NOT_READ, [-1, -1, -1, -1])
            got = (call["groups"], call["flags"], [call[f] for f in ("m", "n", "k", "batch")])
            if got != wanted:
                sys.exit(f"{where}: recorded as {got}, expected {wanted}")
            continue
        found = lists.get((call["block"], call["groups"]))
        if found != [tuple(g) for g in groups]:
            sys.exit(f"{where}: {len(groups)} groups passed, its block says {None if found is None else len(found)}, or others")
        work = [g for g in groups if g[2] > 0 and g[3] > 0 and g[8] > 0]
        if call["batch"] != sum(g[8] for g in work):
            sys.exit(f"{where}: {call['batch']} matrices recorded, {sum(g[8] for g in work)} passed")
        for field, index in (("m", 2), ("n", 3), ("k", 4)):
            values = {g[index] for g in work}
            wanted = 0 if not work else values.pop() if len(values) == 1 else -1
            if call[field] != wanted:
                sys.exit(f"{where}: {field} is {call[field]}, expected {wanted}")
    repeated = sum(1 for key in lists if len(lists[key]) in (16, 64))
    blocks = len({c["block"] for c in calls})
    if repeated > 3 + 3 * blocks or blocks < 20:
        sys.exit(f"{repeated} lists written for three that repeat, in {blocks} blocks: each is to be written once a block")
    print(f"{len(calls)} calls with {sum(len(g) for g in passed if g)} groups agree, {len(lists)} lists in {blocks} blocks")


if __name__ == "__main__":
    main(*sys.argv[1:])
