# SPDX-License-Identifier: Apache-2.0
"""repeat_compare.py EXPECTED RECORDED: both JSON lines; each expected call or launch, in order, with every field that it
names as it is in the record. Names of kernels are looked up by their ids."""
import json
import sys


def main():
    expected = [json.loads(line) for line in open(sys.argv[1])]
    lines = [json.loads(line) for line in open(sys.argv[2])]
    names = {line["id"]: line["text"] for line in lines if line["record"] == "name"}
    recorded = [line for line in lines if line["record"] in ("call", "launch")]
    for number, (wanted, got) in enumerate(zip(expected, recorded)):
        if got["record"] == "launch":
            got["name"] = names.get(got["name"])
        for key, value in wanted.items():
            if got.get(key) != value:
                sys.exit(f"call {number}: {key} is {got.get(key)}, expected {value}\n  wanted {wanted}\n  got {got}")
    if len(expected) != len(recorded):
        sys.exit(f"{len(recorded)} calls recorded, {len(expected)} were made")
    print(f"{len(expected)} calls, each recorded as made")


main()
