#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""report_sizes.py [ROOT]: long files and functions. A smell, not a fault: it prints and never fails."""
import pathlib
import re
import sys

LONG_FILE, LONG_FUNCTION = 500, 60


def functions(lines):
    """A body opens with `{` in the first column and ends with `}` there; that is how the formatter leaves functions."""
    start = None
    for number, line in enumerate(lines, 1):
        if line.startswith("{"):
            start = number
        elif line.startswith("}") and start:
            name = re.search(r"(\w+)\(", " ".join(lines[max(0, start - 4):start - 1])[::1])
            yield (name.group(1) if name else "?"), number - start
            start = None


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
    for folder in ["trace", "cupti", "preload", "classify", "report", "collect", "cli", "sim", "tests", "examples"]:
        for path in sorted((root / folder).rglob("*.[ch]")):
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            if len(lines) > LONG_FILE:
                print(f"{path.relative_to(root)}: {len(lines)} lines")
            for name, length in functions(lines):
                if length > LONG_FUNCTION:
                    print(f"{path.relative_to(root)}: {name}() has {length} lines")


main()
