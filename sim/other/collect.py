#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists which names of one library the given ELF files need, in the form of symbols/*.tsv.

    collect.py libcusparse.so.12 cusparse PREFIX... -- torch/lib/*.so

Run by hand when a program needs more than a list has; the kinds in the second column are then set by hand."""
import subprocess
import sys


def undefined(path):
    listing = subprocess.run(["readelf", "--dyn-syms", "--wide", path], capture_output=True, text=True).stdout
    for line in listing.splitlines():
        field = line.split()
        if len(field) > 7 and field[6] == "UND":
            name, _, version = field[7].partition("@")
            yield name, version


def main():
    split = sys.argv.index("--")
    soname, prefixes, files = sys.argv[1], tuple(sys.argv[2:split]), sys.argv[split + 1:]
    names, versions = set(), set()
    for path in files:
        for name, version in undefined(path):
            if version == soname or (name.startswith(prefixes) and not version.startswith("lib")):
                names.add(name)
                versions.add(version)
    print(f"# soname\t{soname}")
    print(f"# version\t{'|'.join(sorted(versions - {''})) or '-'}")
    for name in sorted(names):
        print(f"{name}\tstatus")


main()
