# SPDX-License-Identifier: Apache-2.0
"""Skinny weights and attention: the rows that a weight sees beside M*, what each change saves, the lengths of attention; each
figure is the JSON's, and a link selects."""
import math
import pathlib
import re
import tempfile

import harness
import sessions

QWEN = sessions.TESTS.parent / "examples/decode_loop/qwen2.5-7b.json"
LEVERS = ["batch", "fuse", "split_k", "8_bit", "4_bit"]


def rows_of(page, selector):
    """Of each table: [[cell, …]] of its body, as shown."""
    return page.evaluate("""selector => [...document.querySelectorAll(selector)].map(table =>
      [...table.querySelectorAll("tbody tr")].map(row => [...row.cells].map(cell => cell.textContent.trim())))""", selector)


def nanoseconds(text):
    if text == "0":
        return 0.0
    match = re.fullmatch(r"([\d.]+) (ns|us|ms|s)", text)
    return float(match[1]) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[match[2]]


def near(test, shown, value, message):
    """Four digits, or whole nanoseconds."""
    if value is None:
        test.assertEqual(shown, "-", message)
        return
    test.assertLessEqual(abs(nanoseconds(shown) - value), max(0.51, 6e-4 * value), message)


def skinny(report):
    def most(weight):
        return max([0] + [weight["saved_ns"][lever] or 0 for lever in LEVERS])
    places = [at for at, weight in enumerate(report["weights"]) if weight["skinny"] or weight["starved"]]
    return sorted(places, key=lambda at: (-most(report["weights"][at]), at))


class Skinny(harness.Case):
    def check_bins(self, page, weight):
        rows, = rows_of(page, "#skinny .part table.histogram")
        marks = [at for at, row in enumerate(rows) if len(row) == 1]
        shown = {row[0]: row for row in rows if len(row) == 4 and row[2] not in ("", "0")}
        expected = {}
        for each in weight["m_bins"]:
            name = f"{each['m_least']:,}" + (f" to {each['m_most']:,}" if each["m_most"] > each["m_least"] else "")
            expected[name] = each
        timed = weight["time_ns"] and all(each["time_ns"] is not None for each in weight["m_bins"])
        self.assertEqual(list(shown), [name for name, each in expected.items() if not timed or each["executions"]])
        total = sum(each["time_ns" if timed else "executions"] for each in weight["m_bins"])
        for name, row in shown.items():
            if timed:
                near(self, row[2], expected[name]["time_ns"], name)
                self.assertAlmostEqual(float(row[3]), 100 * expected[name]["time_ns"] / total, delta=0.051)
            else:
                self.assertEqual(row[2], f"{expected[name]['executions']:,}")
        self.assertEqual(len(marks), 0 if weight["m_star"] is None else 1)
        if marks: # as many rows above it as there are bins below M*, its own among them
            below = [row for row in rows[:marks[0]]]
            self.assertTrue(all(int(row[0].split()[0].replace(",", "")) < weight["m_star"] for row in below), rows)
            above = [int(row[0].split()[0].replace(",", "")) for row in rows[marks[0] + 1:]]
            self.assertTrue(all(least >= weight["m_star"] for least in above), rows)
            self.assertIn(f"{weight['m_star']:.1f}", rows[marks[0]][0])

    def check_levers(self, page, weight, report):
        rows = rows_of(page, "#skinny .part table:not(.histogram)")[0]
        base = report["devices"][weight["device"]]["share_base_ns"]
        for row, lever in zip(rows, LEVERS):
            saved = weight["saved_ns"][lever]
            near(self, row[1], saved, lever)
            if saved and base and saved / base >= 0.0001:
                self.assertAlmostEqual(float(row[2]), 100 * saved / base, delta=0.0051 if saved / base < 0.09995 else 0.051)
        self.assertEqual(len(rows), len(LEVERS))

    def test_each_weight(self):
        seen = 0
        for name in ["decode_loop", "skinny", "devices", "llama", "untimed"]:
            try:
                path = sessions.page(name)
            except sessions.Unavailable:
                continue
            with self.subTest(session=name), self.opened(path) as page:
                report = harness.embedded(page)
                places = skinny(report)
                if not places:
                    self.assertFalse(page.locator("#skinny").is_visible())
                    continue
                options = page.eval_on_selector_all("#skinny select option", "all => all.map(each => Number(each.value))")
                self.assertEqual(options, places)
                for place in places[:8]:
                    page.select_option("#skinny select", str(place))
                    self.check_bins(page, report["weights"][place])
                    self.check_levers(page, report["weights"][place], report)
                    seen += 1
        self.assertGreater(seen, 5)

    def test_links(self):
        with self.opened("decode_loop") as page:
            report = harness.embedded(page)
            place = skinny(report)[-1]
            page.select_option("#skinny select", str(place))
            page.click("#skinny .part button.link")
            self.assertEqual(page.evaluate("() => rooftap.state.selected()"), report["weights"][place]["operators"][0])
            other = skinny(report)[0]
            page.evaluate("index => rooftap.state.select(index, 'test')", report["weights"][other]["operators"][0])
            self.assertEqual(page.input_value("#skinny select"), str(other))
            page.click(f"#skinny-table tbody tr[data-index='{place}']")
            self.assertEqual(page.input_value("#skinny select"), str(place))
            self.assertEqual(page.evaluate("() => rooftap.state.selected()"), report["weights"][place]["operators"][0])
            marked = page.eval_on_selector_all("#skinny-table tr[aria-current]", "rows => rows.map(row => row.dataset.index)")
            self.assertEqual(marked, [str(place)])


class Attention(harness.Case):
    def check_lengths(self, page, row):
        tables = rows_of(page, "#attention .part table")
        shown = [cells for cells in tables[0] if cells[0] in ("prefill", "decode", "no phase")]
        self.assertEqual(len(shown), min(len(row["lengths"]), 12))
        for cells, each in zip(shown, row["lengths"]):
            self.assertEqual(cells[1:4], [f"{each['queries']:,}", ("<=" if each["keys_at_most"] else "") + f"{each['keys']:,}", f"{each['sequences']:,}"])
            near(self, cells[5], each["time_ns"], cells)
            self.assertAlmostEqual(float(cells[6]), each["intensity"], delta=0.051)
            self.assertEqual(cells[8], each["bound"])

    def check_curve(self, page, row):
        """The table of curves: intensity meets the ridge at L_ridge; the share is L / (L + L*)."""
        page.evaluate("() => document.querySelectorAll('#attention details').forEach(each => each.open = true)")
        figures = rows_of(page, "#attention .part table")[-1]
        self.assertGreater(len(figures), 5)
        for cells in figures:
            length = float(cells[0].replace(",", ""))
            self.assertAlmostEqual(float(cells[1]), row["ridge"] * length / row["l_ridge"], delta=0.051)
            self.assertAlmostEqual(float(cells[2]), row["ridge"] * length / row["l_ridge_kv"], delta=0.051)
            self.assertEqual(cells[3], "compute" if length >= row["l_ridge"] else "memory")
            if row["l_star"] is None:
                self.assertEqual(cells[4], "-")
            else:
                self.assertAlmostEqual(float(cells[4]), 100 * length / (length + row["l_star"]), delta=0.051)

    def test_geometries(self):
        with self.opened("llama") as page:
            report = harness.embedded(page)
            self.assertTrue(report["attention"])
            for at, row in enumerate(report["attention"]):
                if len(report["attention"]) > 1:
                    page.select_option("#attention select", str(at))
                self.check_lengths(page, row)
                if row["l_ridge"] is not None:
                    self.check_curve(page, row)
                    self.assertEqual(page.locator("#attention canvas").count(), 1)
            page.click("#attention .part button.link")
            self.assertEqual(page.evaluate("() => rooftap.state.selected()"), report["attention"][-1]["operators"][0])

    def test_of_a_model(self):
        """No launch was read, but --predict names the model: figures of Qwen2.5-7B on an RTX 4090, as roofline texts have them."""
        with tempfile.TemporaryDirectory() as scratch:
            path = pathlib.Path(scratch) / "page.html"
            sessions.run([sessions.ROOFTAP, "report", "--predict", QWEN, "--html", path, sessions.session("decode_loop")])
            with self.opened(path) as page:
                row, = harness.embedded(page)["attention"]
                self.assertEqual((row["source"], row["n_q"], row["n_kv"], row["d"]), ("model", 28, 4, 128))
                self.assertTrue(math.isclose(row["l_ridge_kv"], 2 * row["ridge"] / 7)) # b R / g, b = 2
                self.assertTrue(math.isclose(row["l_ridge"], 2 * row["ridge"] * 8 / 7)) # b R (g + 1) / g
                self.assertEqual(row["l_star"], 233046016 / (28 * 128)) # 2 P / (n_q (d + d_v)), P of a layer's matrices
                self.check_curve(page, row)
                self.assertEqual(page.locator("#attention canvas").count(), 2)

    def test_products(self):
        with self.opened("attention") as page:
            report = harness.embedded(page)
            table = next(rows for rows in rows_of(page, "#attention .part table") if rows and " x " in rows[0][0])
            self.assertEqual(len(table), len(report["naive_attention"]))
            for cells, pair in zip(table, report["naive_attention"]):
                self.assertEqual(cells[0], f"{pair['l_q']:,} x {pair['l_k']:,}")
                self.assertEqual(cells[1], f"{pair['batch']:,}")
                self.assertAlmostEqual(float(cells[5]), pair["flops"] / pair["bytes"], delta=0.051)
                self.assertAlmostEqual(float(cells[7]), pair["intensity_fused"], delta=0.051)
                near(self, cells[10], pair["saved_ns"], cells)

    def test_nothing_or_names(self):
        with self.opened("decode_loop") as page:
            self.assertFalse(page.locator("#attention").is_visible())
        with self.opened("families") as page:
            report = harness.embedded(page)
            named = [op for op in report["operators"] if op["kind"] == "attention" and not (op["launch"] and op["launch"]["attention"])]
            self.assertTrue(named)
            kernels = sum(op["kernels"] or 0 for op in named)
            self.assertIn(f"{kernels:,} kernel", page.locator("#attention .part").inner_text())


if __name__ == "__main__":
    harness.unittest.main(verbosity=2)
