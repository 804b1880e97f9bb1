# SPDX-License-Identifier: Apache-2.0
"""The roofline answers to pointer and keyboard: hover, click, zoom, legend, filters, and it is one with the tables."""
import math

import harness
import oracle
import sessions

# Where the scales of a whole picture begin and end, by the page; where a point is between them is worked out below.
_HOME = """(device) => { const lines = rooftap.roofs.lines(rooftap.state.data, device);
  const view = rooftap.roofs.view(rooftap.roofs.points(rooftap.state.data, device).points, lines);
  const area = document.querySelector("#roofline .u-over").getBoundingClientRect();
  return {x: view.x, y: view.y, area: {left: area.left, top: area.top, width: area.width, height: area.height}}; }"""


class Plot:
    """A page's plot, with the places of its points from the JSON's figures."""

    def __init__(self, page, report, device=0):
        self.page, self.report = page, report
        page.locator("#roofline").scroll_into_view_if_needed()
        harness.settle(page)
        self.home = page.evaluate(_HOME, device)
        self.device = device

    def drawn(self):
        """{index: (x, y)} in pixels of the window."""
        area, found = self.home["area"], {}
        for index, op in enumerate(self.report["operators"]):
            if op["device"] == self.device and op["intensity"] and op["flops_per_second"]:
                x = math.log(op["intensity"] / self.home["x"][0]) / math.log(self.home["x"][1] / self.home["x"][0])
                y = math.log(op["flops_per_second"] / self.home["y"][0]) / math.log(self.home["y"][1] / self.home["y"][0])
                found[index] = (area["left"] + x * area["width"], area["top"] + (1 - y) * area["height"])
        return found

    def alone(self, apart=48):
        """The points with no other near: there is no doubt about what is under the pointer."""
        drawn = self.drawn()
        return {index: place for index, place in drawn.items()
                if all(other == index or math.dist(place, elsewhere) > apart for other, elsewhere in drawn.items())}

    def near(self, place, apart=48):
        return [other for other, elsewhere in self.drawn().items() if math.dist(place, elsewhere) <= apart]

    def card(self):
        """{label: text} of the card that is shown; None: none is."""
        card = self.page.locator("#roofline .plot-card")
        if not card.is_visible():
            return None
        return dict(zip(card.locator("dt").all_inner_texts(), card.locator("dd").all_inner_texts()))

    def hover(self, place):
        self.page.mouse.move(2, 2)
        self.page.mouse.move(*place)
        harness.settle(self.page)
        return self.card()

    def selected(self):
        return self.page.evaluate("() => rooftap.state.selected()")

    def selected_rows(self):
        return self.page.evaluate("""() => [...document.querySelectorAll('table[data-by=shape] tr[aria-selected=true]')]
          .map(row => Number(row.dataset.index))""")


def percent(value):
    return oracle.share(value) + " %"


def rate(value):
    return f"{oracle.giga(value)} GFLOP/s" if 0 < value < 0.95e10 else f"{oracle.tera(value)} TFLOP/s"


class Points(harness.Case):
    def check_card(self, report, index, card, where):
        self.assertIsNotNone(card, f"{where}: no card")
        op = report["operators"][index]
        simulated = "simulated " if report["simulated"] else ""
        self.assertEqual(card["calls"].split(",  ")[0].split(", ")[0], oracle.count(op["calls"]).split(", ")[0], where)
        self.assertEqual(card[simulated + "time"], f"{oracle.duration(op['time_ns'])}, {percent(op['share'])} of GPU time", where)
        self.assertEqual(card["p50 / p99"], f"{oracle.duration(op['time_p50_ns'])} / {oracle.duration(op['time_p99_ns'])}", where)
        if op["intensity"] >= 0.05:
            self.assertTrue(card["intensity"].startswith(f"{oracle.one_decimal(op['intensity'])} FLOP/B"), where)
        self.assertEqual(card[simulated + "rate"],
                         f"{rate(op['flops_per_second'])}, {oracle.giga(op['bytes_per_second'])} GB/s", where)
        self.assertEqual(card["of its roof"], percent(op["roof_fraction"]) if op["roof_fraction"] is not None else "-", where)
        self.assertEqual(card["to gain"], f"{oracle.gain(op['gain_share'])} % of busy time", where)

    def test_hover(self):
        for name in self.available(["decode_loop", "llama", "graphs", "skinny", "pytorch"]):
            with self.subTest(session=name), self.opened(name) as page:
                report = harness.embedded(page)
                plot = Plot(page, report)
                alone = plot.alone()
                print(f"{name}: {len(alone)} of {len(plot.drawn())} points stand alone")
                for index, place in plot.drawn().items():
                    card = plot.hover(place)
                    if index in alone:
                        self.check_card(report, index, card, f"{name} {index}")
                    else:
                        near = plot.near(place)
                        times = {oracle.duration(report["operators"][other]["time_ns"]) for other in near}
                        self.assertIn(next(text for label, text in card.items() if label.endswith("time")).split(", ")[0], times,
                                      f"{name} {index}")
                self.assertIsNone(plot.selected())
                self.assertIsNone(plot.hover((2, 2)))

    def some_point(self, page):
        plot = Plot(page, harness.embedded(page))
        index, place = sorted(plot.alone().items())[0]
        return plot, index, place

    def test_click_pins(self):
        with self.opened("llama") as page:
            plot, index, place = self.some_point(page)
            page.mouse.click(*place)
            self.assertEqual((plot.selected(), plot.selected_rows()), (index, [index]))
            self.assertIn(oracle.duration(plot.report["operators"][index]["time_ns"]), page.locator("aside.detail").inner_text())
            page.mouse.move(2, 2)
            harness.settle(page)
            self.assertIsNotNone(plot.card(), "what is pinned stays")
            page.mouse.click(*place)
            self.assertIsNone(plot.selected(), "a second click frees it")

    def test_row_selects_point(self):
        with self.opened("llama") as page:
            plot = Plot(page, harness.embedded(page))
            for index in sorted(plot.drawn())[:3]:
                page.locator(f"table[data-by=shape] tr[data-index='{index}'] td").first.click()
                self.assertEqual(plot.selected(), index)
                harness.settle(page)
                self.check_card(plot.report, index, plot.card(), f"row {index}")

    def test_keyboard(self):
        with self.opened("llama") as page:
            plot = Plot(page, harness.embedded(page))
            by_share = sorted(plot.drawn(), key=lambda at: (-plot.report["operators"][at]["share"], at))
            canvas = page.locator("#roofline .plot-canvas")
            canvas.focus()
            for index in by_share[:3]:
                page.keyboard.press("ArrowRight")
                harness.settle(page)
                self.check_card(plot.report, index, plot.card(), f"arrow to {index}")
                self.assertIn(oracle.share(plot.report["operators"][index]["share"]), page.locator(".plot-live").inner_text())
            page.keyboard.press("Enter")
            self.assertEqual(plot.selected(), by_share[2])
            page.keyboard.press("ArrowLeft")
            page.keyboard.press("Enter")
            self.assertEqual(plot.selected(), by_share[1])
            page.keyboard.press("Escape")
            self.assertIsNone(plot.selected())
            page.keyboard.press("End")
            page.keyboard.press("Enter")
            self.assertEqual(plot.selected(), by_share[-1])

    def test_walk(self):
        """Each point of each picture by the keyboard, however many lie on one place."""
        for name in self.available(["decode_loop", "graphs", "pytorch"]):
            with self.subTest(session=name), self.opened(name) as page:
                plot = Plot(page, harness.embedded(page))
                by_share = sorted(plot.drawn(), key=lambda at: (-plot.report["operators"][at]["share"], at))
                page.locator("#roofline .plot-canvas").focus()
                for index in by_share:
                    page.keyboard.press("ArrowRight")
                    self.check_card(plot.report, index, plot.card(), f"{name}: arrow to {index}")

    def test_one_under_another(self):
        """A click on the same place again pins the next one there, and at last none."""
        with self.opened("decode_loop") as page:
            plot = Plot(page, harness.embedded(page))
            place = max(plot.drawn().values(), key=lambda place: len(plot.near(place, 3)))
            pinned = []
            for _ in range(len(plot.drawn()) + 1):
                page.mouse.click(*place)
                pinned.append(plot.selected())
                if pinned[-1] is None:
                    break
            self.assertIsNone(pinned.pop())
            self.assertEqual(len(pinned), len(set(pinned)))
            self.assertLessEqual(set(plot.near(place, 3)), set(pinned))

    def test_zoom(self):
        with self.opened("skinny") as page:
            plot, index, place = self.some_point(page)
            area = plot.home["area"]
            self.assertIsNotNone(plot.hover(place))
            # A box beside the point: it is out of the picture then.
            far = (area["left"] + 5, area["top"] + 5)
            page.mouse.move(*far)
            page.mouse.down()
            page.mouse.move(far[0] + 60, far[1] + 45, steps=4)
            page.mouse.up()
            harness.settle(page)
            self.assertIsNone(plot.hover(place), "the point stands elsewhere")
            page.get_by_role("button", name="Reset view").click()
            self.check_card(plot.report, index, plot.hover(place), "after reset")
            for _ in range(6):
                page.get_by_role("button", name="Zoom in").click()
            before = page.locator("#roofline canvas").screenshot()
            page.get_by_role("button", name="Zoom out").click()
            harness.settle(page)
            self.assertNotEqual(before, page.locator("#roofline canvas").screenshot())
            page.locator("#roofline .plot-canvas").focus()
            page.keyboard.press("0")
            self.check_card(plot.report, index, plot.hover(place), "after 0")
            page.mouse.dblclick(*far)
            self.check_card(plot.report, index, plot.hover(place), "after a double click")

    def shown_rows(self, page):
        return page.evaluate("""() => [...document.querySelectorAll('table[data-by=shape] tbody tr')].filter(row => !row.hidden)
          .map(row => Number(row.dataset.index))""")

    def test_legend(self):
        with self.opened("llama") as page:
            plot, report = Plot(page, harness.embedded(page)), harness.embedded(page)
            bounds = {report["operators"][index]["bound"] for index in plot.drawn()}
            for bound in sorted(bounds):
                switch = page.locator(f"#roofline .plot-switch[data-bound={bound}]")
                self.assertEqual(switch.get_attribute("aria-pressed"), "true")
                switch.click()
                self.assertEqual(page.locator(f"#roofline .plot-switch[data-bound={bound}]").get_attribute("aria-pressed"), "false")
                self.assertEqual(self.shown_rows(page), [at for at, op in enumerate(report["operators"]) if op["bound"] != bound])
                for index, place in plot.alone().items():
                    card = plot.hover(place)
                    self.assertEqual(card is None, report["operators"][index]["bound"] == bound, f"{bound} {index}")
                page.locator(f"#roofline .plot-switch[data-bound={bound}]").click()
                self.assertEqual(self.shown_rows(page), list(range(len(report["operators"]))))

    def test_roof_switches(self):
        with self.opened("decode_loop") as page:
            Plot(page, harness.embedded(page))
            for number in range(page.locator("#roofline .plot-switch[data-line]").count()):
                before = page.locator("#roofline canvas").screenshot()
                page.locator("#roofline .plot-switch[data-line]").nth(number).click()
                harness.settle(page)
                self.assertNotEqual(before, page.locator("#roofline canvas").screenshot(), f"roof {number} stays")
                page.locator("#roofline .plot-switch[data-line]").nth(number).click()
                harness.settle(page)
                self.assertEqual(before, page.locator("#roofline canvas").screenshot(), f"roof {number} doesn't come back")

    def test_filters(self):
        keys = {"kinds": lambda op: [op["kind"]], "types": lambda op: [op["type_compute"] or (op["launch"] or {}).get("path") or "unknown"],
                "phases": lambda op: [phase for phase in ("prefill", "decode", "unknown") if (op["phase_calls"] or {}).get(phase)] or ["unknown"]}
        with self.opened("llama") as page:
            report = harness.embedded(page)
            for group, of in keys.items():
                boxes = page.locator(f"#roofline fieldset[data-filter={group}] input")
                present = [box.get_attribute("data-key") for box in boxes.all()]
                self.assertEqual(set(present), {key for op in report["operators"] for key in of(op)}, group)
                for key in present:
                    box = page.locator(f"#roofline fieldset[data-filter={group}] input[data-key='{key}']")
                    box.uncheck()
                    left = set(present) - {key}
                    self.assertEqual(self.shown_rows(page),
                                     [at for at, op in enumerate(report["operators"]) if left & set(of(op))], f"without {key}")
                    box.check()
            page.locator("#roofline fieldset[data-filter=phases] input").first.uncheck()
            page.locator("#roofline .plot-clear").click()
            self.assertEqual(self.shown_rows(page), list(range(len(report["operators"]))))

    def test_devices(self):
        with self.opened("devices") as page:
            report = harness.embedded(page)
            for device in range(len(report["devices"])):
                select = page.locator("#plot-device")
                if select.count():
                    select.select_option(index=device)
                plot = Plot(page, report, device)
                for index, place in plot.alone().items():
                    self.check_card(report, index, plot.hover(place), f"GPU {device}, {index}")

    def test_all_is_named_simulated(self):
        for name in self.available(["decode_loop", "llama", "skinny"]):
            with self.subTest(session=name), self.opened(name) as page:
                if sessions.report(name)["simulated"]:
                    self.assertIn("imulated", page.locator("#roofline").inner_text())
                    self.assertIn("SIMULATED", page.locator("#simulated").inner_text())


if __name__ == "__main__":
    harness.main()
