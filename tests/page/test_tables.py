# SPDX-License-Identifier: Apache-2.0
"""The tables answer: order by every column, search, one row for each shape, weight or kernel, selecting by pointer and keys,
CSV and JSON to take away."""
import csv
import io
import math
import re

import harness
import oracle
import reading
import sessions

NUMBERS = {"GPU", "%TIME", "TIME", "CALLS", "M", "N", "K", "FLOP/B", "TFLOP/s", "GB/s", "%ROOF", "%GAIN", "MEAN", "SHAPES",
           "M p50", "M p90", "M*", "%<M*", "BLOCKS"}
COPY = """() => { window.copied = null; Object.defineProperty(navigator, "clipboard", {configurable: true,
  value: {writeText: text => { window.copied = text; return Promise.resolve(); }}}); }"""


def order(page, by):
    return page.evaluate(f"() => [...document.querySelectorAll('table[data-by={by}] tbody tr')].map(row => Number(row.dataset.index))")


def visible(page, by):
    return page.evaluate(f"""() => [...document.querySelectorAll('table[data-by={by}] tbody tr')]
      .filter(row => row.getClientRects().length).map(row => Number(row.dataset.index))""")


def show(page, by):
    page.locator(f"#operators input[name=by][value={by}]").check()


def sort_key(title, row, shown):
    text, value = row.get(title, (None, None))
    if title in NUMBERS:
        return None if value is None or title not in shown else float(f"{value:.9g}")
    if title not in shown:
        return None
    return shown[title]["text"] if shown[title]["text"] not in ("", "-") else None


def expected_order(keys, descending):
    known = [place for place, key in enumerate(keys) if key is not None]
    if descending: # stable: equal ones stay as they were
        known = sorted(known, key=lambda place: keys[place], reverse=True)
        known = [place for key in dict.fromkeys(keys[place] for place in known) for place in sorted(
            other for other in known if keys[other] == key)]
    else:
        known = sorted(known, key=lambda place: keys[place])
    return known + [place for place, key in enumerate(keys) if key is None]


class Sorting(harness.Case):
    def test_every_column(self):
        for name in self.available(["llama", "pytorch", "devices", "skinny"] if not harness.LONG else
                                   [name for name in sessions.MAKERS if name not in ("large", "empty")]):
            with self.subTest(session=name), self.opened(name) as page:
                report, still = reading.embedded(page), reading.still(self.page_of(name))[0]
                for by in [by for by in ("shape", "weight", "kernel") if by in still and still[by]["rows"]]:
                    show(page, by)
                    self.check_columns(page, by, oracle.ROWS[by](report), still[by])

    def check_columns(self, page, by, rows, table):
        shown = [reading.cells(table, row) for row in table["rows"]]
        for at, head in enumerate(table["head"]):
            title = head["title"]
            if title == "GPU":
                for row in rows:
                    row["GPU"] = (row["GPU"][0], None if row["GPU"][0] == "-" else int(row["GPU"][0]))
            keys = [sort_key(title, row, cells) for row, cells in zip(rows, shown)]
            clicks = page.evaluate("""([by, at]) => { const table = document.querySelector(`table[data-by=${by}]`);
              const head = table.tHead.rows[0].cells[at], found = [];
              for (let click = 0; click < 3; click++) { head.querySelector("button").click(); found.push({
                direction: head.getAttribute("aria-sort"), sorted: table.querySelectorAll("thead th[aria-sort]").length,
                places: [...table.tBodies[0].rows].map(row => Number(row.dataset.index))}); }
              return found; }""", [by, at])
            self.assertEqual({click["direction"] for click in clicks[:2]}, {"ascending", "descending"}, title)
            for click in clicks[:2]:
                where = f"{by} by {title}, {click['direction']}"
                self.assertEqual(click["places"], expected_order(keys, click["direction"] == "descending"), where)
                self.assertEqual(click["sorted"], 1, where)
            self.assertEqual(clicks[2], {"direction": None, "sorted": 0, "places": list(range(len(rows)))}, f"{by} by {title}: the third click")

    def test_first_direction(self):
        """As `--sort` has it: the largest first, but what is read from below."""
        with self.opened("llama") as page:
            for title, direction in (("TIME", "descending"), ("%ROOF", "ascending"), ("KIND", "ascending"), ("M", "descending")):
                head = page.locator("table[data-by=shape] thead th", has=page.get_by_text(title, exact=True)).first
                head.locator("button").click()
                self.assertEqual(head.get_attribute("aria-sort"), direction, title)


class Rows(harness.Case):
    def test_by(self):
        with self.opened("llama") as page:
            report = reading.embedded(page)
            for by, entries in oracle.LISTS.items():
                if by == "skinny":
                    continue
                show(page, by)
                for other in ("shape", "weight", "kernel"):
                    self.assertEqual(visible(page, other), list(range(len(report[entries]))) if other == by else [], f"{by}: {other}")

    def test_coming_back(self):
        """A browser may put back what fields were, on a page that starts anew: then they would not say what is shown."""
        with self.opened("llama") as page:
            show(page, "weight")
            page.locator("#roofline fieldset input").first.uncheck()
            page.locator("#skinny select").select_option(index=1)
            page.goto("about:blank")
            page.go_back()
            page.wait_for_selector("html[data-ready=yes]", state="attached")
            page.wait_for_timeout(100)
            by = page.locator("input[name=by]:checked").get_attribute("value")
            self.assertTrue(visible(page, by), by)
            off = page.locator("#roofline fieldset input:not(:checked)").count()
            self.assertEqual(off > 0, page.locator("#roofline .plot-clear").is_enabled())
            chosen = page.locator("#skinny select").evaluate("box => box.value")
            self.assertEqual(page.locator("#skinny tr.selected").get_attribute("data-index"), chosen)

    def test_search(self):
        with self.opened("llama") as page:
            report = reading.embedded(page)
            box = page.locator("#search-rows")
            for text in ("mul_mat", "attention", "ROPE", "1536", "q4_K", "nothing like this"):
                box.fill(text)
                found = visible(page, "shape")
                for index, op in enumerate(report["operators"]):
                    words = [op["name"], op["display_name"], op["kind"], op["family"], op["bound"], *oracle.sizes(op)]
                    hit = any(text.lower() in str(word).lower() for word in words if word is not None)
                    if hit:
                        self.assertIn(index, found, text)
                if text == "nothing like this":
                    self.assertEqual(found, [])
                count = re.search(r"([\d,]+) of ([\d,]+) rows", page.locator("#operators .count").inner_text())
                self.assertEqual((int(count[1]), int(count[2])), (len(found), len(report["operators"])))
            page.get_by_role("button", name="Clear filters").last.click()
            self.assertEqual(visible(page, "shape"), list(range(len(report["operators"]))))
            show(page, "kernel")
            box.fill("rope")
            self.assertEqual(visible(page, "kernel"),
                             [at for at, kernel in enumerate(report["kernels"]) if "rope" in (kernel["name"] or "").lower()])

    def test_selecting(self):
        with self.opened("llama") as page:
            report = reading.embedded(page)
            for index in (0, 3, len(report["operators"]) - 1):
                page.locator(f"table[data-by=shape] tr[data-index='{index}'] td").first.click()
                self.assertEqual(page.locator("table[data-by=shape] tr[aria-selected=true]").get_attribute("data-index"), str(index))
                self.assertIn(f"row {index + 1} of {len(report['operators'])}", page.locator("aside.detail").inner_text())
            show(page, "kernel")
            chosen = [kernel for kernel in range(len(report["kernels"])) if len(report["operators"]) - 1 in report["kernels"][kernel]["operators"]]
            self.assertEqual(page.locator("table[data-by=kernel] tr[aria-selected=true]").get_attribute("data-index"), str(chosen[0]))

    def test_keyboard(self):
        with self.opened("llama") as page:
            rows = page.locator("table[data-by=shape] tbody tr")
            rows.first.focus()
            selected = lambda: page.locator("table[data-by=shape] tr[aria-selected=true]").get_attribute("data-index")
            for key, expected in (("Enter", "0"), ("ArrowDown", "1"), ("ArrowDown", "2"), ("ArrowUp", "1"), ("End", str(rows.count() - 1)),
                                  ("ArrowDown", str(rows.count() - 1)), ("Home", "0"), ("PageDown", "10"), ("PageUp", "0")):
                page.keyboard.press(key)
                self.assertEqual(selected(), expected, key)
                self.assertEqual(page.evaluate("() => document.activeElement.dataset.index"), expected, key)
            page.keyboard.press("Escape")
            self.assertEqual(page.locator("table[data-by=shape] tr[aria-selected=true]").count(), 0)

    def test_tab_reaches_everything(self):
        """By Tab alone: the plot, its switches, the tables, the controls; and back out again."""
        wanted = {"plot": ".plot-canvas", "zoom": ".plot-zoom button", "legend": ".plot-switch", "filter": "#roofline fieldset input",
                  "by": "input[name=by]", "search": "#search-rows", "sort": "th button.sort", "row": "table[data-by=shape] tbody tr",
                  "copy": "#operators .toolbar button", "contents": "#contents a", "text": "#text > summary"}
        with self.opened("llama") as page:
            reached, steps = set(), 0
            page.keyboard.press("Tab")
            self.assertEqual(page.evaluate("() => document.activeElement.className"), "skip", "first comes the way past the head")
            while steps < 400 and page.evaluate("() => document.activeElement !== document.body"):
                reached |= {name for name, selector in wanted.items() if page.evaluate(
                    "selector => document.activeElement.matches(selector)", selector)}
                page.keyboard.press("Tab")
                steps += 1
            self.assertEqual(set(wanted) - reached, set())
            self.assertLess(steps, 400, "Tab never comes to an end")


class Taking(harness.Case):
    def parsed(self, text):
        self.assertFalse(text.startswith("\ufeff\ufeff"))
        return list(csv.DictReader(io.StringIO(text.lstrip("\ufeff"), newline="")))

    def check_csv(self, report, by, text):
        rows, entries = self.parsed(text), report[oracle.LISTS[by]]
        whole = [row for row in rows if row["index"].isdigit()]
        self.assertEqual([int(row["index"]) for row in whole], list(range(len(entries))))
        self.assertEqual({row["simulated"] for row in rows}, {str(report["simulated"]).lower()})
        expected = oracle.ROWS[by](report)
        names = {"shape": {"time_ns": "TIME", "share": "%TIME", "calls": "CALLS", "m": "M", "n": "N", "k": "K", "intensity": "FLOP/B",
                           "flops_per_second": "TFLOP/s", "bytes_per_second": "GB/s", "roof_fraction": "%ROOF", "gain_share": "%GAIN"},
                 "weight": {"time_ns": "TIME", "share": "%TIME", "executions": "CALLS", "n": "N", "k": "K", "m_p50": "M p50", "m_p90": "M p90"},
                 "kernel": {"time_ns": "TIME", "share": "%TIME", "calls": "CALLS", "shapes": "SHAPES", "roof_fraction": "%ROOF"}}[by]
        for row, cells in zip(whole, expected):
            for name, title in names.items():
                value = cells.get(title, (None, None))[1]
                if value is None:
                    self.assertEqual(row[name], "", f"{by} {row['index']} {name}")
                else:
                    self.assertTrue(math.isclose(float(row[name]), value, rel_tol=1e-8), f"{by} {row['index']} {name}: {row[name]}, {value}")

    def test_csv(self):
        for name in self.available(["llama", "hostile"]):
            with self.subTest(session=name), self.opened(name, permissions=["clipboard-read", "clipboard-write"]) as page:
                report = reading.embedded(page)
                for by in ("shape", "weight", "kernel"):
                    if not page.locator(f"#operators input[name=by][value={by}]").count():
                        continue
                    show(page, by)
                    page.get_by_role("button", name="Copy as CSV").click()
                    page.wait_for_function("() => /copied/.test(document.querySelector('#operators .live').textContent)")
                    copied = page.evaluate("() => navigator.clipboard.readText()").replace("\r\n", "\n")
                    self.check_csv(report, by, copied)
                    with page.expect_download() as saved:
                        page.get_by_role("button", name="Save as CSV").click()
                    self.assertEqual(saved.value.path().read_bytes().decode("utf-8-sig").replace("\r\n", "\n"), copied.lstrip("\ufeff"))
                    self.check_formulas(copied)

    def check_formulas(self, text):
        """A cell that begins as a formula is one to a spreadsheet."""
        for row in self.parsed(text):
            for value in row.values():
                self.assertNotRegex(value or "", r"^[=+@\t\r]|^-[^\d.]")

    def test_csv_without_clipboard(self):
        """Where a browser gives no clipboard to a file:// page."""
        with self.opened("llama") as page:
            page.evaluate("""() => { Object.defineProperty(navigator, "clipboard", {configurable: true, value: undefined});
              document.addEventListener("copy", () => { window.copied = String(document.getSelection()) ||
                (document.activeElement && document.activeElement.value) || ""; }); }""")
            page.get_by_role("button", name="Copy as CSV").click()
            harness.settle(page)
            told = page.locator("#operators .live").inner_text()
            copied = page.evaluate("() => window.copied || null")
            self.assertTrue(told, "nothing is said")
            if copied:
                self.check_csv(reading.embedded(page), "shape", copied.replace("\r\n", "\n"))

    def test_csv_of_what_is_shown(self):
        """In the order and the rows that are seen."""
        with self.opened("llama") as page:
            page.evaluate(COPY)
            page.locator("#search-rows").fill("mul_mat")
            page.locator("table[data-by=shape] thead th").nth(1).locator("button").click()
            page.locator("table[data-by=shape] thead th").nth(1).locator("button").click()
            shown = visible(page, "shape")
            page.get_by_role("button", name="Copy as CSV").click()
            page.wait_for_function("() => window.copied")
            rows = self.parsed(page.evaluate("() => window.copied"))
            self.assertEqual([int(row["index"]) for row in rows if row["index"].isdigit()], shown)

    def test_json(self):
        for name in self.available(["llama", "hostile", "empty"]):
            with self.subTest(session=name), self.opened(name) as page:
                for button in page.get_by_role("button", name=re.compile("Download")).all():
                    with page.expect_download() as saved:
                        button.click()
                    text = saved.value.path().read_bytes()
                    report = sessions.strict(text)
                    options = ["--top", str(report["cut"]["rows"])] if report["cut"] else []
                    self.assertEqual(report, sessions.report(name, *options))


if __name__ == "__main__":
    harness.main()
