#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_page.py ROOT: what the sources of the page (report/page) must not do, and that page.html names them all."""
import pathlib
import re
import shutil
import subprocess
import sys

MARKUP = "makes markup out of text: use draw.element"
CODE = "makes code out of text"
LOCALE = "depends on the reader's language: use format.js"
OUTSIDE = "reaches out of the page"
KEEPS = "keeps what it was not asked to keep"
NEWER = "is newer than ES2018"
FORBIDDEN = {
    ".js": [
        (r"\b(innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|createContextualFragment|DOMParser)\b", MARKUP),
        (r"\beval\s*\(|\bnew\s+Function\b|\bFunction\s*\(|\bset(Timeout|Interval)\s*\(\s*[\"'`]|javascript:", CODE),
        (r"[\"']on[a-z]+[\"']\s*[,:]\s*[\"'`]|setAttribute\(\s*[\"'](on|style)", "the policy forbids it in markup"),
        (r"\btoLocale\w*|\bIntl\b|\blocaleCompare\b", LOCALE),
        (r"\bfetch\s*\(|\bXMLHttpRequest\b|\bWebSocket\b|\bEventSource\b|\bsendBeacon\b|\bimportScripts\b|\bWorker\b|"
         r"\bimport\b\s*[({\"']|\bwindow\.open\b|\bpostMessage\b", OUTSIDE),
        (r"\blocalStorage\b|\bsessionStorage\b|\bindexedDB\b|\bdocument\.cookie\b", KEEPS),
        (r"\?\.[A-Za-z_\[(]|\?\?|\bcatch\s*\{|\.(flat|flatMap|matchAll|replaceAll|at|findLast|toSorted|trimStart|trimEnd)\(|"
         r"\bfromEntries\b|\bglobalThis\b|\bstructuredClone\b|\bBigInt\b", NEWER),
        (r"https?:(?!//www\.w3\.org/)//", OUTSIDE),
    ],
    ".css": [(r"@import|@font-face|\burl\(|expression\(|https?:", OUTSIDE)],
    ".html": [
        (r"\sstyle=|\son[a-z]+=", "the policy forbids it in markup"),
        (r"https?:|(src|href)=\"//|<(iframe|object|embed|base|form)\b", OUTSIDE),
        (r"<script>|<style>|type=\"module\"", "belongs into a file of its own, a classic script"),
    ],
}
# Of page.html: what is no file of the folder.
ELSEWHERE = {"uplot.js", "uplot.css", "sample.js"}


def without_comments(text):
    """Comments may name what is forbidden; line numbers stay."""
    blank = lambda match: re.sub(r"[^\n]", " ", match[0])
    return re.sub(r"/\*.*?\*/|<!--.*?-->", blank, text, flags=re.S)


def faults_of(path):
    text = path.read_text(encoding="utf-8")
    if "SPDX-License-Identifier: Apache-2.0" not in text[:300]:
        yield f"{path}: no SPDX line"
    if "\r" in text or (text and not text.endswith("\n")):
        yield f"{path}: a carriage return, or no newline at the end"
    if path.suffix == ".js" and not re.match(r"/\*.*?\*/\s*(/\*.*?\*/\s*)?[\"']use strict[\"'];", text, re.S):
        yield f"{path}: expected comments on its job, then \"use strict\";"
    for number, line in enumerate(without_comments(text).splitlines(), 1):
        if line != line.rstrip() and text.splitlines()[number - 1] != text.splitlines()[number - 1].rstrip():
            yield f"{path}:{number}: blank at the end of the line"
        for pattern, why in FORBIDDEN[path.suffix]:
            found = re.search(pattern, line)
            if found:
                yield f"{path}:{number}: {found[0].strip()}: {why}"


def unnamed(folder):
    page = (folder / "page.html").read_text(encoding="utf-8")
    named = re.findall(r'<script src="([^"]+)"', page) + re.findall(r'<link rel="stylesheet" href="([^"]+)"', page)
    there = {path.name for path in folder.iterdir() if path.suffix in (".js", ".css")} - ELSEWHERE
    for name in sorted(set(name for name in named if named.count(name) > 1)):
        yield f"page.html names {name} twice"
    for name in sorted(there - set(named)):
        yield f"page.html does not name {name}"
    for name in sorted(set(named) - there - ELSEWHERE):
        yield f"page.html names {name}, which is not there"


def bad_syntax(paths):
    node = shutil.which("node")
    for path in paths if node else []:
        done = subprocess.run([node, "--check", path], capture_output=True, text=True)
        if done.returncode:
            yield f"{path}: " + " ".join(done.stderr.split())[:300]


def main():
    folder = pathlib.Path(sys.argv[1]) / "report" / "page"
    paths = sorted(path for path in folder.iterdir() if path.suffix in FORBIDDEN and path.name not in ELSEWHERE)
    faults = [fault for path in paths for fault in faults_of(path)]
    faults += [*unnamed(folder), *bad_syntax(path for path in paths if path.suffix == ".js")]
    print(f"{len(paths)} files, {len(faults)} faults", *faults, sep="\n")
    return 1 if faults else 0


sys.exit(main())
