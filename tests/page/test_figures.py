# SPDX-License-Identifier: Apache-2.0
"""Every figure of the tables is the JSON's, cell by cell, by oracle.py; the embedded JSON is that of `--json`; what is cut is
summed exactly."""

import math
import re


import harness
import oracle
import reading
import sessions

NAMES = [name for name in sessions.MAKERS if name != "large"]
SUMS = ("calls", "executions", "kernels", "time_ns", "share", "flops", "bytes", "t_roof_ns", "gain_ns")


def is_value(text, value):
    """A data-v of VALUE, in nine digits."""
    if value is None:
        return text is None
    return text is not None and math.isclose(float(text), value, rel_tol=1e-8, abs_tol=0)


class Figures(harness.Case):
    def check_row(self, table, row, expected, where):
        shown = reading.cells(table, row)
        for title, cell in shown.items():
            if title not in expected:
                self.check_name(cell, where)
                continue
            text, value = expected[title]
            if text is not None:
                self.assertEqual(cell["text"], text, f"{where} {title}")
            if value is not None or cell["v"] is not None:
                self.assertTrue(is_value(cell["v"], value), f"{where} {title}: data-v {cell['v']}, expected {value}")

    def check_name(self, cell, where):
        """The one cell that stands for all a shape would tell."""
        self.assertTrue(cell["text"].strip(), where)
        self.assertIsNone(cell["v"], where)

    def check_table(self, report, table):
        by = table["by"]
        entries = report[oracle.LISTS[by]]
        expected = oracle.ROWS[by](report)
        places = [row["index"] for row in table["rows"]]
        self.assertEqual(len(set(places)), len(places), f"{by}: a place twice")
        if by == "skinny":
            self.assertEqual([place for place in places if place < len(entries)], oracle.skinny_places(report), by)
        else:
            self.assertEqual(places, list(range(len(entries))), by)
        for row in table["rows"]:
            if row["index"] >= len(entries):
                continue # of the skinny ones all may stand there
            self.check_row(table, row, expected[row["index"]], f"{by} {row['index']}")
            if by in ("shape", "kernel"):
                entry = entries[row["index"]]
                self.assertEqual(row["bound"], "mixed" if entry.get("mixed") else entry["bound"], f"{by} {row['index']}")
        self.assertTrue(table["caption"], f"{by}: no caption")
        for head in table["head"]:
            self.assertEqual((head["tag"], head["scope"]), ("TH", "col"), f"{by} {head}")
            self.assertTrue(head["meaning"], f"{by} {head['title']}: no meaning")
        return len(places)

    def test_tables(self):
        for name in self.available(NAMES):
            with self.subTest(session=name):
                still, text = reading.still(self.page_of(name))
                report = sessions.strict(text)
                with self.opened(name) as page:
                    alive = reading.tables(page)
                    self.assertEqual(reading.embedded(page), report)
                    print(f"{name}: ready after {harness.ready_ms(page):.0f} ms")
                if report["operators"]:
                    self.assertIn("shape", still)
                for by, table in still.items():
                    self.check_table(report, table)
                    self.assertEqual([[cell["text"] for cell in row["cells"]] for row in alive[by]["rows"]],
                                     [[cell["text"] for cell in row["cells"]] for row in table["rows"]], f"{by}: scripts change it")

    def test_embedded_json(self):
        for name in self.available(NAMES):
            with self.subTest(session=name):
                text = reading.still(self.page_of(name))[1]
                embedded = sessions.strict(text)
                self.assertLess(sessions.page(name).stat().st_size, sessions.MOST_BYTES)
                options = ["--top", str(embedded["cut"]["rows"])] if embedded["cut"] else []
                self.assertEqual(embedded, sessions.report(name, *options))
                if not embedded["cut"]:
                    self.assertEqual(embedded, sessions.report(name))
                self.assertIsNone(re.search("[<>&\u2028\u2029]", text))

    def check_remainder(self, whole, cut, which):
        rest, shown = cut["cut"][which], cut[which]
        count = len(shown)
        if not cut["cut"]["texts"]:
            same = [key for key in shown[0] if not isinstance(shown[0][key], list)] if shown else []
            self.assertEqual([[entry[key] for key in same] for entry in shown],
                             [[entry[key] for key in same] for entry in whole[which][:count]], which)
        left = whole[which][count:]
        if not left:
            self.assertIsNone(rest)
            return
        self.assertEqual(rest["count"], len(left))
        for key in SUMS:
            if key not in left[0] or key not in rest:
                continue
            values = [entry[key] for entry in left]
            known = [value for value in values if value is not None]
            if not known or (key == "calls" and len(known) < len(values)):
                self.assertIsNone(rest[key], f"{which} {key}")
            elif all(isinstance(value, int) for value in known):
                self.assertEqual(rest[key], sum(known), f"{which} {key}")
            else:
                self.assertTrue(math.isclose(rest[key], math.fsum(known), rel_tol=1e-12), f"{which} {key}")
        if which == "operators" and rest["by_bound"]:
            for bound in ("memory", "compute", "overhead", "unknown"):
                of_bound = [entry for entry in left if entry["bound"] == bound]
                self.assertEqual(rest["by_bound"][bound]["count"], len(of_bound))
                times = [entry["time_ns"] for entry in of_bound if entry["time_ns"] is not None]
                if times:
                    self.assertEqual(rest["by_bound"][bound]["time_ns"], sum(times))

    def test_remainder(self):
        for name in self.available(["decode_loop", "untimed", "llama", "pytorch", "devices", "poor", "skinny"]):
            with self.subTest(session=name):
                whole = sessions.report(name)
                for top in (1, 2, 5):
                    cut = sessions.report(name, "--top", str(top))
                    if cut["cut"] is None:
                        self.assertEqual(cut, whole)
                        continue
                    self.assertEqual(cut["cut"]["rows"], top)
                    for which in ("operators", "weights", "kernels"):
                        self.assertLessEqual(len(cut[which]), top)
                        self.check_remainder(whole, cut, which)
                    for key in ("verdict", "coverage", "time_by_bound", "step", "phases"):
                        self.assertEqual(cut[key], whole[key], key)

    def foot_of(self, table):
        self.assertEqual(len(table["foot"]), 1, "no row of what is left out")
        return reading.cells(table, {"cells": table["foot"][0]})

    def test_remainder_is_shown(self):
        for name in self.available(["decode_loop", "llama"]):
            with self.subTest(session=name):
                path = sessions.made(f"pages/{name}-top-2.html", lambda path: sessions.run(
                    [sessions.ROOFTAP, "report", "--html", path, "--top", "2", sessions.session(name)]))
                whole, cut = sessions.report(name), sessions.report(name, "--top", "2")
                with self.opened(path) as page:
                    self.assertEqual(reading.embedded(page), cut)
                    foot = self.foot_of(reading.tables(page)["shape"])
                self.assertEqual(self.foot_of(reading.still(path)[0]["shape"])["TIME"]["text"], foot["TIME"]["text"])
                rest = cut["cut"]["operators"]
                self.assertEqual(foot["TIME"]["text"], oracle.duration(rest["time_ns"]))
                self.assertEqual(foot["CALLS"]["text"], oracle.count(rest["calls"]))
                self.assertEqual(foot["%TIME"]["text"], oracle.share(rest["time_ns"] / whole["coverage"]["gpu_time_ns"]))
                self.assertIn(oracle.count(rest["count"]), " ".join(cell["text"] for cell in foot.values()))
                self.assertEqual(rest["time_ns"] + sum(op["time_ns"] for op in cut["operators"]),
                                 sum(op["time_ns"] for op in whole["operators"]))

    def test_classes_add_up(self):
        for name in self.available(NAMES):
            with self.subTest(session=name):
                report = sessions.report(name)
                parts = report["time_by_bound"]
                if report["coverage"]["gpu_time_ns"] is None:
                    self.assertEqual(set(parts.values()), {None})
                else:
                    self.assertEqual(sum(parts.values()), report["coverage"]["gpu_time_ns"])
                    for bound, time in parts.items():
                        self.assertEqual(time, sum(op["time_ns"] or 0 for op in report["operators"] if op["bound"] == bound))

    def test_gain_share(self):
        """%GAIN is of the time that the device was busy."""
        for name in self.available(["decode_loop", "llama", "skinny", "devices"]):
            with self.subTest(session=name):
                report = sessions.report(name)
                for op in report["operators"]:
                    if None not in (op["gain_ns"], op["time_ns"], op["device"]) and not op["time_estimated"]:
                        busy = report["devices"][op["device"]]["gpu_busy_ns"]
                        self.assertTrue(math.isclose(op["gain_share"], op["gain_ns"] / busy, rel_tol=1e-12))


class Alterations(harness.Case):
    """A page on which one figure is another is noticed: else the comparison above shows nothing."""

    def altered(self, name, pattern, replacement):
        text = sessions.page(name).read_text()
        changed, count = re.subn(pattern, replacement, text, count=1)
        self.assertEqual(count, 1, f"{pattern} isn't on the page")
        path = sessions.MADE / "pages" / f"{name}-altered.html"
        path.write_text(changed)
        self.addCleanup(path.unlink)
        return path

    def assert_noticed(self, path):
        checker = Figures()
        found, text = reading.still(path)
        report = sessions.strict(text)
        with self.assertRaises(AssertionError):
            for table in found.values():
                checker.check_table(report, table)

    def test_cell(self):
        op = sessions.report("decode_loop")["operators"][0]
        time = re.escape(oracle.duration(op["time_ns"]))
        self.assert_noticed(self.altered("decode_loop", rf"(<td[^>]*>){time}", r"\g<1>9.999 ms"))

    def test_value(self):
        op = sessions.report("decode_loop")["operators"][0]
        self.assert_noticed(self.altered("decode_loop", rf'data-v="{op["time_ns"]:.9g}"', f'data-v="{op["time_ns"] + 1000:.9g}"'))

    def test_place(self):
        self.assert_noticed(self.altered("decode_loop", 'data-index="1"', 'data-index="2"'))

    def test_json(self):
        op = sessions.report("decode_loop")["operators"][1]
        path = self.altered("decode_loop", rf'"time_ns": ?{op["time_ns"]}\b', f'"time_ns":{op["time_ns"] + 5000}')
        self.assertNotEqual(sessions.strict(reading.still(path)[1]), sessions.report("decode_loop"))
        self.assert_noticed(path)

    def test_script(self):
        """A script of a stranger's is no part of the page: the policy refuses it, and that is noticed."""
        path = self.altered("decode_loop", "</body>", "<script>window.hurt=1</script></body>")
        faults = []
        with harness.opened(path, faults=faults) as page:
            self.assertIsNone(page.evaluate("() => window.hurt || null"))
        self.assertTrue(any("Content Security Policy" in fault or "policy" in fault for fault in faults), faults)

    def test_request(self):
        path = self.altered("decode_loop", "</body>", '<img src="https://example.invalid/x.png"></body>')
        faults = []
        with harness.opened(path, faults=faults):
            pass
        self.assertTrue(faults)


if __name__ == "__main__":
    harness.main()
