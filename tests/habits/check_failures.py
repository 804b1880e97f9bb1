#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_failures.py ROOT BUILD: each row of tests/FAILURES.md names tests that BUILD has, and a file that names the row."""
import pathlib
import re
import sys


def rows_of(text):
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and re.fullmatch(r"[A-Z]\d+", cells[0]):
            yield cells


def tests_of(build):
    """Not by asking ctest: a second one in the same build writes over the first one's log."""
    files = [path for path in pathlib.Path(build).rglob("CTestTestfile.cmake")]
    return {name for path in files for name in re.findall(r"^add_test\((?:\[=*\[)?([^\]\s\"]+)", path.read_text(), re.M)}


def faults_of(root, row, known):
    if len(row) != 4 or not all(row[:3]):
        yield f"{row[0]}: expected `| id | what went wrong | tests | file |`"
        return
    name, _, tests, path = row
    if tests == "open":
        return
    for test in tests.split():
        if test not in known:
            yield f"{name}: no test is called {test}"
    file = root / path
    if not path or not file.is_file():
        yield f"{name}: no file {path or 'is named'}"
    elif not re.search(rf"\b{name}\b", file.read_text(encoding="utf-8")):
        yield f"{name}: {path} does not name it"


def main():
    root, build = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    rows = list(rows_of((root / "tests" / "FAILURES.md").read_text(encoding="utf-8")))
    known = tests_of(build)
    names = [row[0] for row in rows]
    faults = [fault for row in rows for fault in faults_of(root, row, known)]
    faults += [f"{name}: twice" for name in sorted({name for name in names if names.count(name) > 1})]
    if not rows:
        faults.append("the table is empty")
    print(f"{len(rows)} rows, {sum(row[2] == 'open' for row in rows if len(row) > 2)} open, {len(faults)} faults", *faults, sep="\n")
    return 1 if faults else 0


sys.exit(main())
