#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_claims.py ROOT ROOFTAP: what the documents name exists: files, commands and options, and what a trace can
say has a number and a name of its own."""
import pathlib
import re
import subprocess
import sys

DOCUMENTS = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/reading-a-roofline.md"]
PATH = re.compile(r"^[\w.-]+(/[\w.{},\[\]*-]+)+/?$|^[A-Z]+\.md$")


def expand(name):
    """`trace_writer.[ch]` and `a.{c,h}` name several files."""
    match = re.search(r"\[(\w+)\]|\{([^}]+)\}", name)
    if not match:
        return [name]
    parts = list(match[1]) if match[1] else match[2].split(",")
    return [more for part in parts for more in expand(name[:match.start()] + part + name[match.end():])]


def path_faults(root, document, text):
    for name in re.findall(r"`([^`\n]+)`", text):
        if not PATH.match(name) or name.startswith(("build/", "rooftap-")):
            continue
        for one in expand(name):
            if not any(root.glob(one.rstrip("/"))):
                yield f"{document}: `{name}` does not exist"


def command_faults(rooftap, document, text):
    listed = subprocess.run([rooftap, "help"], capture_output=True, text=True, check=True).stdout
    commands = re.findall(r"^  ([a-z]+) ", listed, re.M)
    # Code only, inline or indented; prose may say that rooftap is something.
    code = re.findall(r"`([^`\n]+)`", text) + re.findall(r"^    (.*)", text, re.M)
    uses = [match for line in code for match in re.findall(r"(?:^|[\s/])rooftap ([a-z]+)((?: [^#|]*)?)", line)]
    for command, rest in uses:
        if command not in commands:
            yield f"{document}: `rooftap {command}` is no command"
            continue
        own = rest.split(" -- ")[0]
        known = subprocess.run([rooftap, "help", command], capture_output=True, text=True, check=True).stdout
        for option in re.findall(r"(?<![\w-])(--[a-z][a-z-]*)", own):
            if option not in known:
                yield f"{document}: `rooftap {command}` has no {option}"


def note_faults(root):
    """A kind of note has a number of its own, and a name that the documents give."""
    header = (root / "trace" / "trace.h").read_text(encoding="utf-8")
    notes = re.findall(r"TRACE_NOTE_(\w+) = (\d+),", header)
    numbers = [number for _, number in notes]
    documented = (root / "report" / "JSON.md").read_text(encoding="utf-8")
    named = (root / "classify" / "session.c").read_text(encoding="utf-8")
    if not notes:
        yield "trace/trace.h: no TRACE_NOTE_ found: the check of notes would prove nothing"
    for note, number in notes:
        if numbers.count(number) > 1:
            yield f"trace/trace.h: TRACE_NOTE_{note} shares the number {number}"
        if f"[TRACE_NOTE_{note}]" not in named or f"`{note.lower()}`" not in documented:
            yield f"TRACE_NOTE_{note} has no name in classify/session.c, or report/JSON.md doesn't give it"


def main():
    root, rooftap = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    faults = []
    if not any(re.search(r"^    rooftap [a-z]", (root / document).read_text(), re.M) for document in DOCUMENTS):
        faults.append("no document shows a rooftap command: the check of commands would prove nothing")
    for document in DOCUMENTS:
        text = (root / document).read_text(encoding="utf-8")
        faults += list(path_faults(root, document, text)) + list(command_faults(rooftap, document, text))
    faults += note_faults(root)
    print(f"{len(DOCUMENTS)} documents, {len(faults)} faults", *faults, sep="\n")
    return 1 if faults else 0


sys.exit(main())
