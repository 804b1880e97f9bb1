# SPDX-License-Identifier: Apache-2.0
"""The tables and the picture of a page, read as a browser reads them, beside the text report and the JSON of the same sessions.

check_page_parts.py PAGE_PARTS REPORT_DRIVER MAKE_TRACE CASES
"""
import html.parser
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

VOID = {"br", "col", "hr", "img", "input", "link", "meta"}
ALL = 2**62


class Tree(html.parser.HTMLParser):
    """Tables as lists of rows of cells; every tag must be closed in order."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.tables, self.blocks, self.notes = [], [], [], []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        assert "style" not in attributes and not any(key.startswith("on") for key in attributes), (tag, attributes)
        assert tag in {"div", "table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "p", "ul", "li", "span"}, tag
        assert tag != "span" or (self.open[-1] == "li" and attributes == {"class": "whole"}), (self.open, attributes)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "div":
            self.blocks.append(attributes)
        elif tag == "table":
            self.tables.append({"by": attributes["data-by"], "thead": [], "tbody": [], "tfoot": [], "caption": ""})
        elif tag == "tr":
            self.part = next(part for part in reversed(self.open) if part in ("thead", "tbody", "tfoot"))
            self.tables[-1][self.part].append({"attributes": attributes, "cells": []})
        elif tag in ("td", "th"):
            self.tables[-1][self.part][-1]["cells"].append({"tag": tag, "attributes": attributes, "text": ""})
        elif tag in ("p", "li"):
            self.notes.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (tag, self.open)

    def handle_data(self, text):
        if not self.open:
            assert not text.strip(), text
        elif self.open[-1] in ("td", "th"):
            self.tables[-1][self.part][-1]["cells"][-1]["text"] += text
        elif self.open[-1] == "caption":
            self.tables[-1]["caption"] += text
        elif self.open[-1] in ("p", "li", "span"):
            assert self.open[-1] == "span" or "->" not in text, text  # an arrow is never broken
            self.notes[-1] += text
        else:
            assert not text.strip(), (self.open, text)


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True)
    assert done.returncode in (0, 1, 2), (command, done.returncode, done.stderr)
    return done


def parse(text):
    tree = Tree()
    tree.feed(text)
    tree.close()
    assert not tree.open, tree.open
    return tree


def without_blanks(text):
    return "".join(text.split())


def text_rows(text, titles):
    """The lines below the line of TITLES, as far as they are rows; without blanks, since some cells hold one."""
    lines = text.split("\n")
    heads = [i for i, line in enumerate(lines) if without_blanks(line) == without_blanks("".join(titles))]
    if not heads:
        return None
    rows = []
    for line in lines[heads[0] + 1:]:
        if not line.strip() or (line.startswith("  M*:")):
            break
        rows.append(without_blanks(line))
    return rows


def check_shape_of_rows(table, listed, simulated):
    titles = table["thead"][0]["cells"]
    assert len(table["thead"]) == 1 and all(cell["tag"] == "th" for cell in titles)
    assert all(cell["attributes"]["title"] and cell["attributes"]["scope"] == "col" for cell in titles)
    assert ("simulated" in table["caption"]) == simulated, table["caption"]
    for row in table["tbody"] + table["tfoot"]:
        width = sum(int(cell["attributes"].get("colspan", 1)) for cell in row["cells"])
        assert width == len(titles), (width, len(titles), row)
    for cell in titles:
        assert cell["attributes"]["class"] in ("left", "num")


def same_value(cell, value, scale=1):
    """What a cell is sorted by, beside the JSON's figure."""
    sorted_by = cell["attributes"].get("data-v")
    if value is None:
        assert sorted_by is None or sorted_by == "Infinity", (cell, value)
        return
    assert sorted_by is not None and math.isclose(float(sorted_by), value * scale, rel_tol=1e-8, abs_tol=0), (cell, value)


def check_values(table, listed):
    """Sort values of columns that are keys of the JSON; where a time is known, rows are said to be sorted by it, and are."""
    times = [listed[int(row["attributes"]["data-index"])]["time_ns"] for row in table["tbody"]]
    if table["by"] != "skinny" and any(time is not None for time in times):
        assert "longest time first" in table["caption"], table["caption"]
        assert [time or 0 for time in times] == sorted((time or 0 for time in times), reverse=True), times
    if "nothing was timed" in table["caption"]:
        assert "time first" not in table["caption"] and all(time is None for time in times), (table["caption"], times[:3])
    keys = {"time": "time_ns", "share": "share", "calls": "executions" if table["by"] in ("weight", "skinny") else "calls",
            "intensity": "intensity", "flops": "flops_per_second", "bytes": "bytes_per_second", "roof": "roof_fraction",
            "m_star": "m_star", "m90": "m_p90"}
    of_title = [cell["attributes"].get("data-key") for cell in table["thead"][0]["cells"]]
    for row in table["tbody"]:
        entry = listed[int(row["attributes"]["data-index"])]
        column = 0
        for cell in row["cells"]:
            key = of_title[column]
            if key in keys and "colspan" not in cell["attributes"]:
                same_value(cell, entry[keys[key]])
            column += int(cell["attributes"].get("colspan", 1))


def check_names(table, listed):
    for row in table["tbody"]:
        entry = listed[int(row["attributes"]["data-index"])]
        for cell in row["cells"]:
            if "name" not in cell["attributes"]["class"].split():
                continue
            title = cell["attributes"].get("title")
            assert cell["text"], row
            if title is not None:
                assert len(title.encode()) <= 1024 * 3 + 3
                if title.isascii() and len(title) < 1024 and entry.get("display_name"):
                    assert title == entry["display_name"], (title, entry["display_name"])


def check_table(table, text, report, rows):
    titles = [cell["text"] for cell in table["thead"][0]["cells"]]
    expected = text_rows(text, titles)
    assert expected is not None, (titles, text)
    listed = {"shape": report["operators"], "weight": report["weights"], "skinny": report["weights"],
              "kernel": report.get("kernels")}[table["by"]]
    check_shape_of_rows(table, listed, report["simulated"])
    assert len(table["tbody"]) <= rows
    for row, line in zip(table["tbody"], expected):
        named = [cell for cell in row["cells"] if "name" in cell["attributes"]["class"].split()]
        before = "".join(cell["text"] for cell in row["cells"] if cell not in named)
        if named:
            assert line.startswith(without_blanks(before)), (before, line)
        else:
            assert line == without_blanks(before), (before, line)
    places = [int(row["attributes"]["data-index"]) for row in table["tbody"]]
    if table["by"] == "skinny":
        assert all(report["weights"][place]["skinny"] or report["weights"][place]["starved"] for place in places)
        assert len(set(places)) == len(places)
    else:
        assert places == list(range(len(places)))
    if listed:
        check_values(table, listed)
        check_names(table, listed)
    if table["by"] == "shape":
        for row in table["tbody"]:
            assert row["attributes"]["data-bound"] == listed[int(row["attributes"]["data-index"])]["bound"]
    if table["tfoot"]:
        check_rest(table, expected, listed, len(places))


def check_rest(table, expected, listed, shown):
    """Exact sums of what is not shown, as the text's last row has them."""
    cells = [cell["text"] for cell in table["tfoot"][0]["cells"]]
    if table["by"] == "skinny":
        return
    rest = without_blanks("".join(cells[:-1]))
    assert expected[shown].startswith(rest + "("), (expected[shown], cells)
    if listed:
        assert "({:,} more rows".format(len(listed) - shown) in cells[-1], cells


def check_session(parts, driver, session, rows):
    report = run(driver, "--json", session)
    if not report.stdout:
        return 0
    report = json.loads(report.stdout)
    if not report["operators"]:
        tree = parse(run(parts, "tables", rows, session).stdout.decode())
        assert not tree.tables and len(tree.notes) == 3, tree.notes
        return 0
    tree = parse(run(parts, "tables", rows, session).stdout.decode())
    assert [block["data-by"] for block in tree.blocks] == ["shape", "weight", "kernel"]
    assert ["hidden" in block for block in tree.blocks] == [False, True, True]
    checked = 0
    top = ["--top", str(rows)] if rows < ALL else []
    for table in tree.tables:
        text = run(driver, "--by", table["by"], *top, session).stdout.decode()
        check_table(table, text, report, rows)
        checked += len(table["tbody"])
    skinny = parse(run(parts, "skinny", rows, session).stdout.decode())
    some = any(weight["skinny"] or weight["starved"] for weight in report["weights"])
    assert bool(skinny.tables) == some
    for table in skinny.tables:
        text = run(driver, "--skinny", *top, session).stdout.decode()
        check_table(table, text, report, rows)
        checked += len(table["tbody"])
    return checked


# ---- the picture: places by its own ticks, areas by the JSON's shares ----

SVG = "{http://www.w3.org/2000/svg}"
PER_SECOND = {"FLOP/s": 1, "kFLOP/s": 1e3, "MFLOP/s": 1e6, "GFLOP/s": 1e9, "TFLOP/s": 1e12, "PFLOP/s": 1e15, "EFLOP/s": 1e18}


def scale_of(ticks):
    """log10 of a value to where it is, by the outermost two ticks."""
    (first, at_first), (last, at_last) = min(ticks), max(ticks)
    assert first < last, ticks
    slope = (at_last - at_first) / (math.log10(last) - math.log10(first))
    return lambda value: at_first + slope * (math.log10(value) - math.log10(first))


def scales_of(svg):
    across, up = [], []
    for text in svg.iter(SVG + "text"):
        words, anchor = (text.text or "").split(), text.get("text-anchor")
        if len(words) == 1 and anchor == "middle" and re.fullmatch(r"[0-9.e+-]+", words[0]) and text.get("y") == "516":
            across.append((float(words[0]), float(text.get("x"))))
        if len(words) == 2 and anchor == "end" and words[1] in PER_SECOND and float(text.get("x")) < 100:
            up.append((float(words[0]) * PER_SECOND[words[1]], float(text.get("y")) - 4))
    return (scale_of(across) if len(across) > 1 else None), (scale_of(up) if len(up) > 1 else None)


def middle_and_area(bubble):
    """By the shapes' own geometry."""
    if bubble.tag == SVG + "circle":
        return float(bubble.get("cx")), float(bubble.get("cy")), math.pi * float(bubble.get("r")) ** 2
    if bubble.tag == SVG + "rect":
        width, height = float(bubble.get("width")), float(bubble.get("height"))
        return float(bubble.get("x")) + width / 2, float(bubble.get("y")) + height / 2, width * height
    x, y, dx, dy, *_ = map(float, re.findall(r"-?[0-9.]+", bubble.get("d")))
    if "h" in bubble.get("d"):
        return x, y + dy * 2 / 3, dx * dy
    return x, y + dy, 2 * dx * dy


def check_bubbles(svg, report):
    bubbles = [each for each in svg.iter() if each.find(SVG + "title") is not None and each.tag != SVG + "svg"]
    across, up = scales_of(svg)
    by_area = []
    for bubble in bubbles:
        title = bubble.find(SVG + "title").text
        op = report["operators"][int(title.split(":")[0]) - 1]
        x, y, area = middle_and_area(bubble)
        assert bubble.get("class").split()[0] == op["bound"], (title, op["bound"])
        assert ("stroke-dasharray" in bubble.attrib) == ("starved" in op["flags"]), title
        assert ("stroke" in bubble.attrib) == bool({"starved", "near_ridge"} & set(op["flags"])), title
        rate = op["flops_per_second"] or op["flops"] / op["t_roof_ns"] * 1e9
        if across:
            assert abs(across(op["intensity"]) - x) < 0.2, (title, x, across(op["intensity"]))
        if up:
            assert abs(up(rate) - y) < 0.2, (title, y, up(rate))
        if op["flops_per_second"] and area > 200:
            by_area.append(area / op["share"])
    assert not by_area or max(by_area) / min(by_area) < 1.05, by_area
    return len(bubbles)


def check_ridges(svg, device):
    across, up = scales_of(svg)
    drawn = [(float(mark.get("cx")), float(mark.get("cy"))) for mark in svg.iter(SVG + "circle") if mark.get("class") == "ink"]
    for roof in device["roofs"]:
        if roof.get("operators") and roof["ridge"] and across and up:
            place = across(roof["ridge"]), up(roof["flops_per_second"])
            assert any(math.dist(place, mark) < 0.3 for mark in drawn), (roof, place, drawn)


def check_picture(parts, session, report):
    text = run(parts, "roofline", 100, session).stdout.decode()
    assert len(text.encode()) < 40000 and "style=" not in text and "http" not in text.replace('xmlns="http://www.w3.org/2000/svg"', "")
    used = {op["device"] for op in report["operators"]} - {None}
    pictures = re.findall(r"<svg.*?</svg>", text, re.S)
    assert len(pictures) == min(len(used), 4)
    bubbles = 0
    for picture in pictures:
        svg = xml.etree.ElementTree.fromstring(picture)
        assert svg.get("role") == "img" and svg.find(SVG + "title").text and svg.find(SVG + "desc").text
        index = int(re.match(r"Roofline of GPU (\d+)", svg.find(SVG + "title").text)[1])
        assert ("imulated" in svg.find(SVG + "title").text) == report["simulated"]
        bubbles += check_bubbles(svg, report)
        check_ridges(svg, report["devices"][index])
        if not report["devices"][index]["spec"]:
            assert "roof not known" in picture
    return bubbles


def check_bounds(parts, driver, make_trace, folder):
    """More devices than pictures, more operators than bubbles, and a name that would like to be markup."""
    hostile = r'\"><script>alert(1)</script>&\xe2\x80\xae\xff\x01'
    lines = ["file 1.trace pid=1", 'process command="a"', 'note timing_on ""', "entry 1 cublasGemmEx", 'name g "g"']
    lines += [f'device {at} name="Simulated unit" sms=100 simulated=1 uuid={at + 1}' for at in range(5)]
    lines += [f'device 5 name="{hostile}" sms=100 uuid=6']
    for at in range(150):
        lines += [f"signature s{at} m={1000 + at} n=1000 k=1000", f"call s{at} times=1 kernels=1 name=g ns={30000 + 300 * at} grid=10,10,1 device=5"]
    for at in range(5):
        lines += [f"signature d{at} m={500 - at} n=1000 k=1000", f"call d{at} times={at + 1} kernels=1 name=g ns=20000 grid=10,10,1 device={at}"]
    (folder / "bounds.txt").write_text("\n".join(lines + ["end", ""]))
    session = folder / "BOUNDS"
    session.mkdir()
    subprocess.run([str(make_trace), str(folder / "bounds.txt"), str(session)], check=True)
    report = json.loads(run(driver, "--json", session).stdout)
    assert len(report["operators"]) == 155 and len({op["device"] for op in report["operators"]}) == 6
    text = run(parts, "roofline", 100, session).stdout.decode()
    assert check_picture(parts, session, report) == 25 + 1 + 1 + 1
    assert "<script" not in text and "\u202e" not in text
    svg = xml.etree.ElementTree.fromstring(re.findall(r"<svg.*?</svg>", text, re.S)[0])
    assert svg.find(SVG + "title").text == 'Roofline of GPU 5: "><script>alert(1)</script>&\ufffd\ufffd\ufffd (simulated)', svg.find(SVG + "title").text
    left = [op for op in report["operators"] if op["device"] == 5][25:]
    words = f"Not drawn: 125 operators ({100 * sum(op['share'] for op in left):.1f} % of the time) beyond the first"
    assert any(words == (each.text or "") for each in svg.iter(SVG + "text")), words
    assert "2 more GPUs were used for less time and have no picture." in text


def make_session(make_trace, case, folder):
    session = folder / "SESSION"
    session.mkdir()
    for source, to in ((case / "trace.txt", folder / "trace.txt"), (case / "session.json", session / "session.json")):
        if source.exists():
            text = source.read_text(errors="surrogateescape")
            for mark, value in (("@PID@", os.getpid()), ("@HOST@", os.uname().nodename), ("@NOW@", 1700000000)):
                text = text.replace(mark, str(value))
            to.write_text(text, errors="surrogateescape")
    subprocess.run([str(make_trace), str(folder / "trace.txt"), str(session)], check=True, capture_output=True)
    return session


def main():
    parts, driver, make_trace, cases = (pathlib.Path(argument) for argument in sys.argv[1:5])
    checked = bubbles = 0
    with tempfile.TemporaryDirectory() as scratch:
        for description in sorted(cases.glob("*/trace.txt")):
            folder = pathlib.Path(tempfile.mkdtemp(dir=scratch))
            session = make_session(make_trace, description.parent, folder)
            try:
                for rows in (ALL, 2):
                    checked += check_session(parts, driver, session, rows)
                report = run(driver, "--json", session).stdout
                bubbles += check_picture(parts, session, json.loads(report)) if report else 0
            except AssertionError:
                print(f"{description.parent.name}:", file=sys.stderr)
                raise
        check_bounds(parts, driver, make_trace, pathlib.Path(scratch))
    print(f"{checked} rows and {bubbles} bubbles are as the text and the JSON have them")
    assert checked > 300 and bubbles > 100


main()
