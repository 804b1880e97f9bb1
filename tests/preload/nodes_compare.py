# SPDX-License-Identifier: Apache-2.0
"""nodes_compare.py RECORDED: JSON lines of nodes_host's trace. Each of its three nodes, in the order of their kernels, has the
values that it was given."""
import json
import struct
import sys

# nulls, int, long: nodes_host.c; the second of two pointers is NULL at first
WANTED = [(2, 77, 123456789012), (0, 78, 123456789012), (0, 99, 123456789012)]


def main():
    lines = [json.loads(line) for line in open(sys.argv[1])]
    shapes = {line["id"]: (line["nulls"], *struct.unpack("<iq", bytes.fromhex(line["values"])))
              for line in lines if line["record"] == "shape"}
    for record in ("node", "kernel"):
        of_record = [line for line in lines if line["record"] == record]
        got = [shapes.get(line["owner_id"]) for line in of_record]
        if got != WANTED or any(line["owner"] != 3 for line in of_record):
            sys.exit(f"{record}s: values are {got}, passed {WANTED}")
    print(f"{len(WANTED)} nodes, each with what it was given")


main()
