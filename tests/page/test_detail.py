# SPDX-License-Identifier: Apache-2.0
"""The panel of the selected operator and the list of advice say what the JSON says, figure by figure, for every operator and
every subject; nothing that is unknown is a number."""
import re

import harness
import oracle
import reading

SESSIONS = ["decode_loop", "llama", "devices", "roofs", "skinny", "attention", "poor", "unknown_gpu", "hostile", "untimed"]

# {group: {term: [values]}}, the parts of a value one by one; without the advice, whose terms repeat.
READ = """index => {
  rooftap.state.select(index, "test");
  const panel = document.querySelector("#operators aside.detail"), groups = {};
  for (const section of panel.querySelectorAll("section")) {
    const rows = [];
    for (const term of section.querySelectorAll("dt")) {
      const value = term.nextElementSibling, parts = [...value.querySelectorAll(":scope > div")];
      rows.push([term.textContent, (parts.length ? parts : [value]).map(part => part.textContent)]);
    }
    groups[section.querySelector("h4").textContent] = rows;
  }
  return {name: panel.querySelector(".name").textContent, place: panel.querySelector(".place").textContent, groups: groups,
    text: panel.textContent};
}"""


def achieved(value, figure, unit, roofs):
    text = f"{figure(value)} {unit}"
    parts = [f"{oracle.gain(value / roof)} % of {name} ({figure(roof)})" for roof, name in roofs if roof]
    return text + (": " + ", ".join(parts) if parts else "")


def bound_text(op):
    intensity, ridge = oracle.one_decimal(op["intensity"]), oracle.one_decimal(op["ridge"])
    return {
        "memory": f"memory-bound: {intensity} FLOP/B is below " + (
            "any ridge that this path can have" if op["ridge"] is None else f"the ridge of {ridge}"),
        "compute": f"compute-bound: {intensity} FLOP/B is above the ridge of {ridge}",
        "overhead": "overhead: the kernel takes about as long as one that does nothing",
        "unknown": "no class: its work is not known" if op["intensity"] is None else "no class: the roof is not known",
    }[op["bound"]]


def time_rows(op):
    share = "" if op["share"] is None else f", {oracle.share(op['share'])} % of GPU time"
    rows = {
        "time": "not timed" if op["time_ns"] is None else oracle.duration(op["time_ns"]) + share,
        "calls": "nobody saw its launches" if op["calls"] is None else oracle.count(op["calls"]),
    }
    if op["kernels"] is not None:
        rows["kernels"] = oracle.count(op["kernels"])
    if op["time_p50_ns"] is not None:
        rows["one kernel" if op["executions"] is None else "one execution"] = (
            f"half within {oracle.duration(op['time_p50_ns'])}, 99 % within {oracle.duration(op['time_p99_ns'])} "
            f"(\u00b1 {oracle.share(op['time_percentile_error'])} %)")
    if op["executions"] is not None:
        of = "" if op["executions_all"] is None else f" of {oracle.count(op['executions_all'])}"
        rows["executions with a time"] = oracle.count(op["executions"]) + of
    if op["time_estimated"]:
        rows["95 % confidence"] = None
    return rows


def roof_rows(report, op):
    roof = None if op["roof"] is None else report["devices"][op["device"]]["roofs"][op["roof"]]
    rows = {"class": bound_text(op)}
    if op["intensity"] is not None:
        rows["FLOP per byte"] = ("at least " if op["shape_source"] == "at_most" else "") + oracle.one_decimal(op["intensity"])
    if op["flops_per_second"] is not None:
        rows["achieved"] = achieved(op["flops_per_second"], oracle.tera, "TFLOP/s", roof and [
            (roof["flops_per_second"], "the specification"), (roof["achievable_flops_per_second"], "what is achievable"),
            (roof["held_clock_flops_per_second"], "the peak at the held clock")] or [])
    if op["bytes_per_second"] is not None:
        rows["achieved bandwidth"] = achieved(op["bytes_per_second"], oracle.giga, "GB/s", roof and [
            (roof["bytes_per_second"], "the specification"), (roof["achievable_bytes_per_second"], "what is achievable")] or [])
    if op["t_roof_ns"] is not None:
        rows["at the roof"] = oracle.duration(op["t_roof_ns"]) + (
            "" if op["roof_fraction"] is None else f": it is at {oracle.share(op['roof_fraction'])} % of the roof")
    if op["gain_ns"] is not None:
        part = "" if op["gain_share"] is None else f", {oracle.gain(op['gain_share'])} % of busy time"
        rows["gain"] = f"at most {oracle.duration(op['gain_ns'])}{part}, at the roof"
    if op["m_star"] is not None:
        rows["M*"] = f"compute-bound from M {oracle.one_decimal(op['m_star'])} on"
    elif op["ridge"] is not None:
        for weight in report["weights"]:
            if weight["m_star_never"] and report["operators"].index(op) in weight["operators"]:
                rows["M*"] = f"no M makes it compute-bound: N and K cap it at {oracle.one_decimal(weight['intensity_limit'])} FLOP/B"
    return rows


def about(report, one, subject, index):
    kind, place = one["subject_kind"], subject["index"]
    if kind == "operator":
        return place == index
    if kind == "naive_attention":
        return index in (report["naive_attention"][place]["scores"], report["naive_attention"][place]["output"])
    lists = {"weight": "weights", "siblings": "sibling_groups"}
    return kind in lists and index in report[lists[kind]][place]["operators"]


class Detail(harness.Case):
    def test_every_operator(self):
        seen = set()
        for name in self.available(SESSIONS):
            with self.subTest(session=name), self.opened(name) as page:
                report = reading.embedded(page)
                for index, op in enumerate(report["operators"]):
                    shown = page.evaluate(READ, index)
                    self.check(report, index, op, shown, f"{name} {index}")
                    seen |= {term for rows in shown["groups"].values() for term, _ in rows}
        # A walk that meets none of these would hold nothing.
        self.assertLessEqual({"time", "class", "achieved", "gain", "flags", "attention", "stored as", "helpers, in its time",
                              "by the KV cache alone", "as cuBLAS was called", "M*", "one kernel"}, seen)

    def check(self, report, index, op, shown, where):
        simulated = " (simulated)" if report["simulated"] else ""
        groups = {title: dict(rows) for title, rows in shown["groups"].items()}
        self.assertEqual(shown["place"], f"row {index + 1} of {len(report['operators'])}, longest time first", where)
        self.assertNotRegex(shown["text"].replace("not known", ""), r"\b(null|undefined|NaN|Infinity)\b", where)
        for title, rows in (("Time" + simulated, time_rows(op)), ("On the roofline" + simulated, roof_rows(report, op))):
            for term, text in rows.items():
                self.assertIn(term, groups[title], where)
                if text is not None:
                    self.assertEqual("; ".join(groups[title][term]), text, f"{where} {term}")
        for term, title in (("achieved", "On the roofline"), ("gain", "On the roofline"), ("95 % confidence", "Time")):
            expected = {**time_rows(op), **roof_rows(report, op)}
            self.assertEqual(term in groups[title + simulated], term in expected, f"{where} {term}")
        self.check_what(op, groups["What it is"], where)
        self.assertEqual([value.partition(":")[0] for value in groups["On the roofline" + simulated].get("flags", [])], op["flags"], where)
        helpers = groups["Time" + simulated].get("helpers, in its time", [])
        self.assertEqual([value.rpartition(", ")[2] for value in helpers], [oracle.duration(one["time_ns"]) for one in op["helpers"]], where)
        self.assertEqual(self.advice_rows(report, index), [
            [term, *values] for term, values in shown["groups"].get("Advice", [])], where)

    def check_what(self, op, what, where):
        m, n, k = oracle.size_cells(op)
        shape = "; ".join(what["shape"])
        if oracle.has_shape(op):
            self.assertTrue(shape.startswith(f"M {m}  N {n}  K {k}"), f"{where}: {shape}")
        else:
            self.assertEqual(shape, "not known", where)
        if op["cublas"]:
            self.assertEqual(what["as cuBLAS was called"], [", ".join(
                f"{key} {op['cublas'][key]}" for key in ("m", "n", "k", "transa", "transb"))], where)
        self.assertEqual("recorded as" in what, op["name"] is not None and op["name"] != op["display_name"], where)
        self.assertEqual("attention" in what, bool((op["launch"] or {}).get("attention")), where)

    def advice_rows(self, report, index):
        return [[one["id"], one["text"], f"{reading_safe(subject['text'])}; at most {oracle.duration(subject['saved_ns'])}"]
                for one in report["advice"] for subject in one["subjects"] if about(report, one, subject, index)]

    def test_nothing_selected(self):
        with self.opened("decode_loop") as page:
            panel = page.locator("#operators aside.detail")
            self.assertIn("Select a row", panel.inner_text())
            page.evaluate("() => rooftap.state.select(1, 'test')")
            panel.get_by_role("button", name="Deselect").click()
            self.assertIn("Select a row", panel.inner_text())
            self.assertEqual(page.evaluate("() => document.activeElement.dataset.index"), "1", "focus goes back to the row")

    def test_copy(self):
        with self.opened("llama", permissions=["clipboard-read", "clipboard-write"]) as page:
            shown = page.evaluate(READ, 0)
            page.get_by_role("button", name="Copy as text").click()
            page.wait_for_function("() => document.querySelector('aside.detail .said').textContent === 'Operator copied.'")
            copied = page.evaluate("() => navigator.clipboard.readText()")
            self.assertTrue(copied.startswith(reading.embedded(page)["operators"][0]["display_name"]))
            for title, rows in shown["groups"].items():
                self.assertIn(f"\n{title}\n", copied)
                for term, values in rows:
                    self.assertIn(f"  {term}: {'; '.join(values)}\n", copied)


def reading_safe(text):
    """As report/README.md has it for pages: what can't be seen or turns the direction is U+FFFD."""
    return re.sub("[\0-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]", "\ufffd", text)


class Advice(harness.Case):
    def test_figures(self):
        given = 0
        for name in self.available(SESSIONS):
            with self.subTest(session=name), self.opened(name) as page:
                report = reading.embedded(page)
                page.evaluate("() => document.querySelectorAll('#advice details').forEach(one => { one.open = true; })")
                items = page.locator("#advice ol.advice > li").all()
                self.assertEqual(len(items), len(report["advice"]))
                for item, one in zip(items, report["advice"]):
                    self.check(item, one, report)
                given += len(items)
                if not report["advice"]:
                    self.assertIn("No advice", page.locator("#advice").inner_text())
                self.assertEqual(page.locator("#advice ul.caveats > li").all_inner_texts(), [one["text"] for one in report["caveats"]])
                self.assertEqual(page.locator("#advice ul.problems > li").all_inner_texts(), report["problems"])
        self.assertGreater(given, 3)

    def check(self, item, one, report):
        base = {"busy": "simulated busy time" if report["simulated"] else "busy time", "roof": "the time at the roof",
                "span": "the time from first start to last end"}[one["saved_of"]]
        self.assertEqual(item.locator("p.saved").inner_text(), f"{oracle.gain(one['saved_share'])} % ({oracle.duration(one['saved_ns'])}) of "
                         f"{base}, at most, at the roof: {one['id']}")
        self.assertEqual(item.locator("p.text").inner_text(), one["text"])
        self.assertEqual(item.locator("p.source").inner_text(), f"Source: {one['source']}")
        whole_ns = one["saved_ns"] / one["saved_share"]
        shown = item.locator("ul.subjects > li").all()
        self.assertEqual(len(shown), len(one["subjects"]))
        for row, subject in zip(shown, one["subjects"]):
            self.assertEqual(row.locator(".share").inner_text(), oracle.gain(subject["saved_ns"] / whole_ns) + " %")
            self.assertIn(reading_safe(subject["text"]).replace("  ", " "), row.inner_text().replace("  ", " "))

    def test_links(self):
        """Each leads to the longest operator of what it is about: its row is in view, and has the focus."""
        for name in self.available(["decode_loop", "llama", "skinny"]):
            with self.subTest(session=name), self.opened(name) as page:
                report = reading.embedded(page)
                page.evaluate("() => document.querySelectorAll('#advice details').forEach(one => { one.open = true; })")
                links = iter(page.locator("#advice ul.subjects a").all())
                for one in report["advice"]:
                    for subject in one["subjects"]:
                        places = [index for index in range(len(report["operators"])) if about(report, one, subject, index)]
                        if not places:
                            self.assertIn(one["subject_kind"], ("device", "run"))
                            continue
                        next(links).click()
                        longest = max(report["operators"][index]["time_ns"] or 0 for index in places)
                        selected = page.evaluate("() => rooftap.state.selected()")
                        self.assertIn(selected, places)
                        self.assertEqual(report["operators"][selected]["time_ns"] or 0, longest)
                        row = page.locator("table[data-by=shape] tr[aria-selected=true]")
                        self.assertEqual(row.get_attribute("data-index"), str(selected))
                        self.assertEqual(page.evaluate("() => document.activeElement.dataset.index"), str(selected))
                        page.wait_for_function("""() => { const box = document.activeElement.getBoundingClientRect();
                          return box.top >= 0 && box.bottom <= innerHeight; }""")
                self.assertIsNone(next(links, None))


if __name__ == "__main__":
    harness.main()
