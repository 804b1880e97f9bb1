#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_sample.py [OUT]: report/page/sample.js, on which report/page/page.html opens in a browser as it is: the JSON of a
session of decode_loop on the simulator, and what the report writes into a page of it. `E2E_BUILD=build/dev
tests/page/make_sample.py` after a change of either; test_sample.py says when."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = ROOT / "report" / "page"
SAMPLE = PAGE / "sample.js"
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
import recording  # noqa: E402

# Four steps of 256 rows, then 24 of one, and steps of 16 sequences replayed by a graph: each class, phase and bin of M.
COMMANDS = ["decode_loop --layers 4 --steps 4 --batch 256", "decode_loop --layers 4 --steps 24 --batch 1",
            "decode_loop --layers 2 --steps 40 --batch 16 --graph"]
# Where the report writes into a page, and the element that holds it.
PLACES = {"simulated": "#simulated", "nothing": "#nothing", "verdict": "#verdict", "picture": "#picture", "tables": "#tables", "skinny": "#skinny-table", "text": "#text pre",
          "notices": "footer"}

HEAD = """// SPDX-License-Identifier: Apache-2.0
// Made by tests/page/make_sample.py: a report's JSON, and what the report writes into a page, for page.html as it is.
// It goes into no page of the command.
"use strict";
window.rooftap = window.rooftap || {};
"""
TAIL = """
Object.keys(window.rooftap.sample_places).forEach(function (selector) {
  var parsed = new DOMParser().parseFromString(window.rooftap.sample_places[selector], "text/html");
  document.querySelector(selector).append.apply(document.querySelector(selector), Array.from(parsed.body.childNodes));
});
"""


def run(command, folder, environment=None):
    return subprocess.run([str(word) for word in command], cwd=folder, env=recording.clean_environment(environment), check=True,
                          capture_output=True, timeout=300).stdout.decode()


def neutral(text, folder):
    """Without what is this machine's alone; of a length of its own, so no widths depend on it."""
    for mine, all_have in ((str(recording.BUILD), "/opt/rooftap"), (str(folder), "/data"), (os.uname().nodename, "gpu-host"),
                           (os.uname().release, "6.1.0")):
        text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(mine)}(?![A-Za-z0-9])", all_have, text)
    return text


def record(folder):
    path = {"PATH": f"{recording.DECODE_LOOP.parent}:{os.environ['PATH']}"}
    run([recording.ROOFTAP, "record", "-q", "-o", "rooftap-sample", "--simulate", "rtx4090", "--", "sh", "-c", "; sleep 0.3; ".join(COMMANDS)],
        folder, path)


def written(page):
    """What PAGE has in each place of page.html: between the same texts as there."""
    template = (PAGE / "page.html").read_text()
    found = {}
    for name, selector in PLACES.items():
        before, marker, after = template.partition(f"<!-- @{name}@ -->")
        if not marker:
            raise SystemExit(f"page.html has no place @{name}@")
        opening = before.rpartition("\n")[2]
        closing = "\n".join(after.split("\n")[:3]).partition("<!--")[0]  # more than a line: its first is in the tables, too
        start = page.index(opening) + len(opening)
        found[selector] = page[start:page.index(closing, start)]
    return found


def report():
    """(JSON, {selector: HTML}) of a new recording."""
    with tempfile.TemporaryDirectory(prefix="rooftap-sample-") as name:
        folder = pathlib.Path(name).resolve()
        record(folder)
        text = run([recording.ROOFTAP, "report", "--json", "rooftap-sample"], folder)
        page = run([recording.ROOFTAP, "report", "--html", "-", "rooftap-sample"], folder)
        return json.loads(neutral(text, folder)), {selector: neutral(html, folder) for selector, html in written(page).items()}


def lines_of(value, depth):
    """JSON with a line for each item of the first DEPTH levels, so that a change of the sample can be read."""
    if depth and isinstance(value, dict) and value:
        inner = (f"{json.dumps(key)}: {lines_of(item, depth - 1)}" for key, item in value.items())
        return "{\n" + ",\n".join(inner) + "\n}"
    if depth and isinstance(value, list) and value:
        return "[\n" + ",\n".join(lines_of(item, depth - 1) for item in value) + "\n]"
    return json.dumps(value, ensure_ascii=True)


def text_of(data, places):
    return (f"{HEAD}window.rooftap.sample = {lines_of(data, 2)};\n"
            f"window.rooftap.sample_places = {lines_of(places, 1)};{TAIL}").replace("</", "<\\/")


def read(path=SAMPLE):
    """The same two of a sample."""
    text = path.read_text().replace("<\\/", "</")
    data = text.partition("window.rooftap.sample = ")[2].partition(";\nwindow.rooftap.sample_places = ")
    return json.loads(data[0]), json.loads(data[2].partition(";\nObject.keys")[0])


def main():
    if not recording.ROOFTAP.exists():
        raise SystemExit(f"there is no {recording.ROOFTAP}: name a build, as E2E_BUILD=build/dev")
    out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else SAMPLE
    text = text_of(*report())
    out.write_text(text)
    print(f"{out}: {len(text)} bytes")


if __name__ == "__main__":
    main()
