#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_tree.py ROOT: what every file and folder of the tree owes its reader."""
import pathlib
import re
import subprocess
import sys

SOURCES = {".c", ".h", ".py", ".sh", ".def", ".cmake", ".map"}
NO_README = {".ci"}  # one script that says it all
# Written in two halves so that this file does not find itself.
# What a script removes is its own, or asked of tests/own_folder.sh: an argument that is shifted by one names the tree as well.
REMOVED_ARGUMENT = re.compile(r'\brm -rf[^#;]*"?\$\{?(folder|work|dir|root|[0-9])\}?"?(\s|$)')
FORBIDDEN = [
    (re.compile(r"/wor" r"k/|/hom" r"e/\w|/roo" r"t/\w"), "a path of one machine"),
    (re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b"), "an open end: do it, or say in ARCHITECTURE.md why not"),
    (re.compile(r"pypi" r"\.org|pythonhosted" r"\.org|deb" r"\.debian\.org"), "a host name of a package registry"),
]


def tracked_files(root):
    out = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, check=True).stdout
    return [root / name for name in out.decode().split("\0") if name and (root / name).is_file()]


def faults_of(root, path):
    name = path.relative_to(root)
    raw = path.read_bytes()
    if b"\0" in raw[:4096]:
        return
    text = raw.decode("utf-8", errors="replace")
    if raw and not raw.endswith(b"\n"):
        yield f"{name}: no newline at the end"
    if path.suffix in SOURCES or path.name == "CMakeLists.txt":
        if "SPDX-License-Identifier: Apache-2.0" not in text[:300]:
            yield f"{name}: no SPDX line"
    if path.suffix in {".c", ".h"} and name.parts[0] not in {"tests", "examples"}:
        if not text.partition("\n")[2].startswith("/*"):
            yield f"{name}: no comment on the file's job below the SPDX line"
    made_here = set(re.findall(r"^\s*(\w+)=\$\(mktemp -d", text, re.M))
    for number, line in enumerate(text.splitlines(), 1):
        removed = REMOVED_ARGUMENT.search(line) if path.suffix == ".sh" and path.name != "own_folder.sh" else None
        if removed and removed.group(1) not in made_here:
            yield f"{name}:{number}: removes an argument: use own_folder (tests/own_folder.sh)"
        if path.suffix in SOURCES and line != line.rstrip():
            yield f"{name}:{number}: blank at the end of a line"
        for pattern, what in FORBIDDEN:
            if pattern.search(line):
                yield f"{name}:{number}: {what}: {line.strip()[:80]}"


def folders_without_readme(root, files):
    """Folders two levels deep that hold sources; deeper ones and generated data are described by their parents."""
    folders = {path.relative_to(root).parents[len(path.relative_to(root).parents) - 1 - depth]
               for path in files for depth in (1, 2) if len(path.relative_to(root).parents) > depth
               and path.suffix in SOURCES}
    for folder in sorted(folders):
        if str(folder) not in NO_README and not (root / folder / "README.md").exists():
            yield f"{folder}/: no README.md"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    if not (root / ".git").exists():
        print("not a git tree")
        return 77
    files = tracked_files(root)
    faults = [fault for path in files for fault in faults_of(root, path)] + list(folders_without_readme(root, files))
    print(f"{len(files)} files, {len(faults)} faults", *faults, sep="\n")
    return 1 if faults else 0


sys.exit(main())
