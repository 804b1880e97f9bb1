#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_report.py ROOT ROOFTAP DECODE_LOOP [--write]: the report that README.md shows is what the quickstart prints today.

The session's name, process ids, idle time and rooftap's own cost differ from run to run, and whether the clock was read;
all else must be equal. --write puts a new run's report into README.md."""
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"(?<=```\n)SIMULATED.*?(?=```)", re.S)
SHOWN_PROGRAM = "build/quickstart/examples/decode_loop/decode_loop"


def measured(lines):
    """Without what differs from run to run: times, shares, and where these have the lines wrapped."""
    text = re.sub(r"[\d.,]+ (?:ns|us|ms|s|%)(?=\W)", "N", lines.group())
    text = re.sub(r"\s+", " ", text).replace("share of wall time not known", "N of wall time")
    return text.replace("N a call or launch, ", "").replace("N a callback, ", "") + "\n"  # of so few some runs measure none


def normalised(text):
    text = re.sub(r"^ +span .*; busy .*", "span ...", text, flags=re.M)
    text = re.sub(r"^ +(?:timing|overhead): .*?(?=^\S)", measured, text, flags=re.M | re.S)
    text = re.sub(r"^session .*", "session ...", text, flags=re.M)
    text = re.sub(r"^ +SM clock .*\n", "", text, flags=re.M)  # a short run may end before it was read
    return re.sub(r"^process +\d+", "process N", text, flags=re.M).strip().splitlines()


def printed(rooftap, program):
    """Run under the path that readers will see, since long ones are wrapped."""
    rooftap, program = pathlib.Path(rooftap).resolve(), pathlib.Path(program).resolve()
    with tempfile.TemporaryDirectory() as folder:
        link = pathlib.Path(folder, SHOWN_PROGRAM)
        link.parent.mkdir(parents=True)
        link.symlink_to(program)
        subprocess.run([rooftap, "record", "-q", "--simulate", "rtx4090", "--", SHOWN_PROGRAM],
                       check=True, stdout=subprocess.DEVNULL, cwd=folder)
        return subprocess.run([rooftap, "report"], check=True, capture_output=True, text=True,
                              cwd=folder).stdout


def main():
    readme = pathlib.Path(sys.argv[1]) / "README.md"
    text = readme.read_text(encoding="utf-8")
    shown = BLOCK.search(text)
    if not shown:
        print("README.md shows no report")
        return 1
    now = printed(sys.argv[2], sys.argv[3])
    if "--write" in sys.argv:
        readme.write_text(text[:shown.start()] + now.strip() + "\n" + text[shown.end():], encoding="utf-8")
        return 0
    differences = [pair for pair in zip(normalised(shown.group()), normalised(now)) if pair[0] != pair[1]]
    if len(normalised(shown.group())) != len(normalised(now)):
        differences.append((f"{len(normalised(shown.group()))} lines", f"{len(normalised(now))} lines"))
    for one, other in differences:
        print("README:", one, "\nnow:   ", other)
    return 1 if differences else 0


sys.exit(main())
