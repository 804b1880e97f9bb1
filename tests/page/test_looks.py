# SPDX-License-Identifier: Apache-2.0
"""How the page looks: widths from 360 to 1920 px, light and dark with enough contrast, on paper, without scripts; what a screen
reader is told. Screenshots of all of it go to BUILD/tests/page/screenshots, to be looked at."""
import re
import shutil
import subprocess

import harness
import oracle
import reading
import sessions

WIDTHS = (360, 1280, 1920)
NAMES = ["decode_loop", "pytorch", "llama", "devices", "empty", "poor", "unknown_gpu", "hostile", "large"]
if harness.LONG:
    NAMES = list(sessions.MAKERS)

# Text on what is behind it, as WCAG 2.2 has it (1.4.3): 4.5, of large letters 3. What has a picture behind it is left out.
CONTRAST = """() => {
  const parse = text => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = c => { const v = c.slice(0, 3).map(x => { x /= 255; return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
  const over = (top, below) => { const a = top.length > 3 ? top[3] : 1; return top.slice(0, 3).map((x, i) => x * a + below[i] * (1 - a)); };
  const background = node => { const layers = [];
    for (let at = node; at; at = at.parentElement) { const style = getComputedStyle(at);
      if (style.backgroundImage !== "none") return null;
      const c = parse(style.backgroundColor); layers.push(c); if (c.length === 3 || c[3] === 1) break; }
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]); };
  const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (walker.nextNode()) { const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || seen.has(node) || !node.getClientRects().length || node.closest("svg, script, style, noscript")) continue;
    seen.add(node);
    const style = getComputedStyle(node), back = background(node);
    if (!back || style.visibility === "hidden" || node.closest("[disabled]")) continue;
    const front = over(parse(style.color), back), pair = [light(front), light(back)].sort((a, b) => b - a);
    const ratio = (pair[0] + 0.05) / (pair[1] + 0.05), size = parseFloat(style.fontSize);
    const needed = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    if (ratio < needed - 0.01) found.push(`${ratio.toFixed(2)} ${node.tagName}.${node.className} ${walker.currentNode.data.trim().slice(0, 40)}`);
  }
  return found; }"""

# What is wider than the window and has no box that scrolls it.
WIDE = """() => [...document.querySelectorAll("body *")].filter(node => { const box = node.getBoundingClientRect();
    const style = getComputedStyle(node), boxed = ["auto", "scroll", "hidden", "clip"];
    if (box.width === 0 || !(box.right > innerWidth + 1 || (node.scrollWidth > innerWidth + 1 && !boxed.includes(style.overflowX)))) return false;
    for (let at = node.parentElement; at; at = at.parentElement) if (boxed.includes(getComputedStyle(at).overflowX)) return false;
    return true; }).slice(-5).map(node => node.tagName + "." + node.className + " " + (node.textContent || "").trim().slice(0, 60))"""


class Looks(harness.Case):
    def shoot(self, page, name):
        harness.SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=harness.SCREENSHOTS / f"{name}.png", full_page=True)

    def check(self, page, where):
        self.assertLessEqual(page.evaluate("() => document.documentElement.scrollWidth - innerWidth"), 0,
                             f"{where} scrolls sideways: {page.evaluate(WIDE)}")
        self.assertEqual(page.evaluate(CONTRAST), [], where)

    def test_widths_and_schemes(self):
        for name in self.available(NAMES):
            with self.subTest(session=name), self.opened(name) as page:
                for width in WIDTHS:
                    page.set_viewport_size({"width": width, "height": 900})
                    papers = {}
                    for scheme in ("light", "dark"):
                        page.emulate_media(color_scheme=scheme)
                        harness.settle(page)
                        papers[scheme] = page.evaluate("() => getComputedStyle(document.body).backgroundColor + getComputedStyle(document.documentElement).backgroundColor")
                        self.check(page, f"{name} {width} {scheme}")
                        self.shoot(page, f"{name}-{width}-{scheme}")
                    self.assertNotEqual(papers["light"], papers["dark"])

    def test_all_open(self):
        """Everything that can be opened, with an operator selected: still no wider than the window, still legible."""
        for name in self.available(["llama", "hostile", "pytorch"]):
            with self.subTest(session=name), self.opened(name) as page:
                page.evaluate("() => document.querySelectorAll('details').forEach(one => { one.open = true; })")
                page.evaluate("() => rooftap.state.select(0, 'test')")
                for width, scheme in ((1280, "light"), (360, "dark")):
                    page.set_viewport_size({"width": width, "height": 900})
                    page.emulate_media(color_scheme=scheme)
                    harness.settle(page)
                    self.check(page, f"{name} {width} {scheme}")
                    self.shoot(page, f"{name}-open-{width}-{scheme}")

    def test_zoomed(self):
        """At 400 % of a window of 1280 px, which is 320 px (WCAG 1.4.10)."""
        for name in self.available(["llama", "huge"]):
            with self.subTest(session=name), self.opened(name, width=320, height=256) as page:
                self.assertLessEqual(page.evaluate("() => document.documentElement.scrollWidth - innerWidth"), 0, page.evaluate(WIDE))


def words(text):
    return re.sub(r"\s+", " ", text).strip()


class Paper(harness.Case):
    def assert_light(self, path):
        """Nothing of the dark scheme is on paper: no picture with a dark ground."""
        maps = subprocess.run(["pdftoppm", "-r", "20", "-gray", path], capture_output=True, check=True).stdout
        while maps:
            width, height, rest = re.match(rb"P5\s+(\d+)\s+(\d+)\s+255\s", maps).groups() + (maps,)
            begin = re.match(rb"P5\s+\d+\s+\d+\s+255\s", rest).end()
            area = int(width) * int(height)
            dark = sum(byte < 64 for byte in rest[begin:begin + area])
            self.assertLess(dark / area, 0.1, f"{path}: dark areas")
            maps = rest[begin + area:]

    def test_pdf(self):
        if not shutil.which("pdftotext"):
            self.skipTest("no pdftotext; install poppler-utils")
        for name in self.available(["decode_loop", "llama", "pytorch", "empty", "hostile", "large"]):
            with self.subTest(session=name), self.opened(name, scheme="dark") as page:
                report = reading.embedded(page)
                harness.SCREENSHOTS.mkdir(parents=True, exist_ok=True)
                path = harness.SCREENSHOTS / f"{name}.pdf"
                page.pdf(path=path, format="A4")
                text = words(subprocess.run(["pdftotext", "-layout", path, "-"], capture_output=True, text=True, check=True).stdout)
                facts = subprocess.run(["pdfinfo", path], capture_output=True, text=True, check=True).stdout
                pages = int(re.search(r"Pages:\s+(\d+)", facts)[1])
                print(f"{name}: {pages} pages")
                self.assertTrue(0 < pages <= (4 if name == "empty" else 40 if name != "large" else 120), f"{pages} pages")
                self.assert_light(path)
                for word in words(report["verdict"]["sentence"]).split(" ")[:8]:
                    self.assertIn(word, text)
                for select in page.locator("#skinny select, #attention select").all():
                    self.assertIn(words(select.evaluate("box => box.selectedOptions[0].text")), text, f"{name}: of what it is")
                for cell, _ in oracle.operators(report)[0].values() if report["operators"] else []:
                    self.assertIn(words(cell), text, f"{name}: the first row")


class Still(harness.Case):
    """Without scripts: the sentence, the picture, the tables."""

    def check(self, page, report, name):
        self.assertIn(words(report["verdict"]["sentence"]), words(page.locator("#verdict").inner_text()))
        shown = [op for op in report["operators"] if op["intensity"] and (op["flops_per_second"] or report["verdict"]["by_roof"])]
        if shown:
            self.assertTrue(page.locator("#picture svg").first.is_visible(), name)
            self.assertGreater(page.locator("#picture svg [data-index], #picture svg circle, #picture svg rect, #picture svg path").count(), len(shown))
        if report["operators"]:
            self.assertTrue(page.locator("table[data-by=shape]").is_visible(), name)
            first = page.locator("table[data-by=shape] tbody tr").first
            self.assertIn(oracle.duration(report["operators"][0]["time_ns"]), first.inner_text())

    def test_without_scripts(self):
        for name in self.available(["decode_loop", "llama", "devices", "empty", "untimed", "hostile"]):
            with self.subTest(session=name), self.opened(name, scripts=False) as page:
                self.check(page, sessions.strict(reading.embedded_text(page)), name)
                self.assertIn("Scripts are off", page.locator("body").inner_text())
                page.screenshot(path=harness.SCREENSHOTS / f"{name}-no-scripts.png", full_page=True)

    def test_without_uplot(self):
        """A build that found no uPlot: the still picture stands, all else is there."""
        report = sessions.report("llama")
        path = sessions.made("pages/llama-without-uplot.html", lambda path: path.write_bytes(sessions.run(
            [sessions.MADE / "report_without_uplot", "--html", sessions.session("llama")]).stdout))
        self.assertNotIn("uPlot=function", path.read_text().replace(" ", ""))
        with self.opened(path) as page:
            self.assertTrue(page.locator("#picture svg").first.is_visible())
            self.check(page, report, "without uPlot")
            self.assertEqual(page.locator("#roofline canvas").count(), 0)
            page.locator("table[data-by=shape] tbody tr td").first.click()
            self.assertEqual(page.evaluate("() => rooftap.state.selected()"), 0)
            page.screenshot(path=harness.SCREENSHOTS / "llama-without-uplot.png", full_page=True)
        with self.opened("llama") as page:
            self.assertFalse(page.locator("#picture svg").first.is_visible(), "one picture is enough")


NAMED = {"button", "link", "checkbox", "radio", "searchbox", "textbox", "combobox", "img", "image", "table", "grid", "region",
         "application", "columnheader", "group", "figure"}


class Access(harness.Case):
    def tree(self, page):
        """Chromium's accessibility tree: what a screen reader is given."""
        session = page.context.new_cdp_session(page)
        nodes = session.send("Accessibility.getFullAXTree")["nodes"]
        session.detach()
        return [node for node in nodes if not node["ignored"]]

    def test_names(self):
        for name in self.available(["llama", "devices", "empty", "hostile"]):
            with self.subTest(session=name), self.opened(name) as page:
                page.evaluate("() => document.querySelectorAll('details').forEach(one => { one.open = true; })")
                if page.locator("table[data-by=shape] tbody tr").count():
                    page.evaluate("() => rooftap.state.select(0, 'test')")
                harness.settle(page)
                nameless = []
                for node in self.tree(page):
                    role = node["role"]["value"]
                    if role in NAMED and not (node.get("name") or {}).get("value", "").strip():
                        if role in ("group", "figure", "table", "columnheader"):
                            continue # judged below, by the markup
                        nameless.append(f"{role} {node.get('backendDOMNodeId')}")
                self.assertEqual(nameless, [])

    def test_markup(self):
        for name in self.available(["llama", "devices", "untimed", "empty", "hostile"]):
            with self.subTest(session=name), self.opened(name) as page:
                page.evaluate("() => document.querySelectorAll('details').forEach(one => { one.open = true; })")
                faults = page.evaluate("""() => { const faults = [], all = selector => [...document.querySelectorAll(selector)];
                  const visible = node => node.getClientRects().length > 0;
                  const levels = all("h1, h2, h3, h4, h5, h6").filter(visible).map(node => Number(node.tagName[1]));
                  levels.forEach((level, at) => { if (level > (at ? levels[at - 1] : 0) + 1) faults.push("heading h" + level + " after h" + levels[at - 1]); });
                  if (all("h1").filter(visible).length !== 1) faults.push("not one h1");
                  if (document.documentElement.lang !== "en") faults.push("no lang");
                  if (!document.title) faults.push("no title");
                  const ids = all("[id]").map(node => node.id);
                  ids.filter((id, at) => ids.indexOf(id) !== at).forEach(id => faults.push("id twice: " + id));
                  ["aria-labelledby", "aria-describedby", "aria-controls", "for"].forEach(name => all("[" + name + "]").forEach(node =>
                    node.getAttribute(name).split(" ").forEach(id => { if (!document.getElementById(id)) faults.push(name + " of nothing: " + id); })));
                  all("[tabindex]").forEach(node => { if (node.tabIndex > 0) faults.push("tabindex above 0"); });
                  all("table:not(.u-legend)").filter(visible).forEach(table => { // uPlot's legend is no table of figures
                    if (!table.caption && !table.getAttribute("aria-label") && !table.getAttribute("aria-labelledby")) faults.push("table without a caption: " + table.textContent.slice(0, 60));
                    [...table.querySelectorAll("th")].forEach(cell => { if (!cell.scope) faults.push("th without scope: " + cell.textContent); });
                    if (!table.querySelector("th")) faults.push("table without th"); });
                  all("svg").filter(visible).forEach(svg => { if (!svg.closest("[aria-hidden=true]") && !svg.querySelector("title") && !svg.getAttribute("aria-label") && !svg.getAttribute("aria-labelledby"))
                    faults.push("svg without a name: " + svg.outerHTML.slice(0, 80)); });
                  all("img").forEach(image => { if (!image.alt) faults.push("img without alt"); });
                  all("[style]").forEach(node => { if (!node.closest(".u-wrap, .uplot")) { /* set by a script */ } });
                  all("a[href]").forEach(link => { const to = link.getAttribute("href");
                    if (to.startsWith("#") ? !document.getElementById(to.slice(1)) : !/^(data|blob):/.test(to)) faults.push("link to " + to); });
                  all("input, select, textarea").forEach(node => { if (!node.labels.length && !node.getAttribute("aria-label")) faults.push("no label: " + node.outerHTML.slice(0, 80)); });
                  return faults; }""")
                self.assertEqual(faults, [])

    def test_live(self):
        """What changes is said."""
        with self.opened("llama") as page:
            page.locator("table[data-by=shape] thead th button").nth(1).click()
            self.assertIn("TIME", page.locator("#operators .live").inner_text())
            page.locator("#search-rows").fill("rope")
            self.assertTrue(page.locator("#operators .count[aria-live]").inner_text().startswith("2 of") or
                            re.match(r"\d+ of", page.locator("#operators .count").inner_text()))

    def test_focus_is_seen(self):
        """An outline or another look of what has the focus."""
        with self.opened("llama") as page:
            for selector in ("#contents a", "#search-rows", "#operators .toolbar button:not([disabled])", "th button.sort", "table[data-by=shape] tbody tr",
                             ".plot-canvas", ".plot-switch", "#provenance summary"):
                before = page.locator(selector).first
                look = """node => { const s = getComputedStyle(node); return [s.outlineStyle, s.outlineWidth, s.outlineColor, s.boxShadow, s.borderColor].join(" "); }"""
                rest = before.evaluate(look)
                before.focus()
                page.keyboard.press("Shift") # the keyboard is in use
                page.keyboard.press("Tab")
                page.keyboard.press("Shift+Tab")
                self.assertNotEqual(before.evaluate(look), rest, selector)


if __name__ == "__main__":
    harness.main()
