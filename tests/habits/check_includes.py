#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_includes.py ROOT: who may include whom. The table below is the one of ARCHITECTURE.md."""
import pathlib
import re
import sys

# folder -> folders (or single headers) it may include beside itself; quoted includes are spelled from the root
MAY_INCLUDE = {
    "trace": [],
    "cupti": ["trace/"],
    "preload": ["cupti/", "trace/"],
    "classify": ["trace/"],
    "report": ["classify/", "trace/"],
    "calibrate": ["classify/", "trace/"],
    "collect": ["classify/", "trace/"],
    "cli": ["calibrate/", "collect/", "report/", "classify/", "trace/", "preload/settings.h"],
}
# sim/ is an independent oracle: none of these, and no one includes sim/.
OURS = list(MAY_INCLUDE)
VENDOR = re.compile(r"^(cuda|cublas|cupti|cudnn|nvml|nvrtc|driver_types|crt/|generated_cuda)")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def faults_of(root, path):
    folder = path.relative_to(root).parts[0]
    text = path.read_text(encoding="utf-8", errors="replace")
    for match in INCLUDE.finditer(text):
        bracket, name = match.groups()
        where = f"{path.relative_to(root)}:{text.count(chr(10), 0, match.start()) + 1}: includes {name}"
        if folder == "sim":
            if bracket == '"' and name.split("/")[0] in OURS and not (path.parent / name).exists():
                yield f"{where}; sim/ stands apart from what it checks"
        elif bracket == "<":
            if VENDOR.match(name):
                yield f"{where}; the core builds without vendor headers"
        elif "/" not in name:
            yield f"{where}; spell it from the root, as in {folder}/{name}"
        elif not any(name == allowed or (allowed.endswith("/") and name.startswith(allowed))
                     for allowed in MAY_INCLUDE[folder] + [folder + "/"]):
            yield f"{where}; {folder}/ may include {', '.join(MAY_INCLUDE[folder]) or 'nothing of ours'}"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    files = [path for folder in OURS + ["sim"] for suffix in ("*.c", "*.h", "*.def")
             for path in sorted((root / folder).rglob(suffix))]
    faults = [fault for path in files for fault in faults_of(root, path)]
    print(f"{len(files)} files, {len(faults)} faults", *faults, sep="\n")
    return 1 if faults or not files else 0


sys.exit(main())
