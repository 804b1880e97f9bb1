# SPDX-License-Identifier: Apache-2.0
"""parameters_compare.py EXPECTED RECORDED: both JSON lines. Each expected launch, in order, has in its record the values that
were passed, or none; equal launches have one shape, others not; whatever has values has a plan, and one plan a name and
trace. Prints how many there were."""
import json
import sys


def main():
    expected = [json.loads(line) for line in open(sys.argv[1])]
    lines = [json.loads(line) for line in open(sys.argv[2])]
    names = {line["id"]: line["text"] for line in lines if line["record"] == "name"}
    plans = [line["name"] for line in lines if line["record"] == "plan"]
    if len(set(plans)) != len(plans):
        sys.exit("a plan was written twice")
    recorded = [line for line in lines if line["record"] == "launch"]
    shapes = {}
    for number, (wanted, got) in enumerate(zip(expected, recorded)):
        for key, value in wanted.items():
            there = names.get(got["name"]) if key == "name" else got.get(key)
            if there != value:
                sys.exit(f"launch {number}: {key} is {there}, passed {value}\n  wanted {wanted}\n  got {got}")
        if wanted["values"] is not None and got["name"] not in plans:
            sys.exit(f"launch {number}: values and no plan")
        content = json.dumps([wanted[key] for key in ("name", "grid", "values") + (("nulls",) if "nulls" in wanted else ())]
                             + [got["entry"]])
        if shapes.setdefault(content, got["shape"]) != got["shape"]:
            sys.exit(f"launch {number}: another shape for the same")
    if len(set(shapes.values())) != len(shapes):
        sys.exit("one shape for launches that differ")
    if len(expected) != len(recorded):
        sys.exit(f"{len(recorded)} launches recorded, {len(expected)} were made")
    with_values = sum(line["values"] is not None for line in expected)
    print(f"{len(expected)} launches, {with_values} with values, {len(shapes)} shapes, each as passed")


main()
