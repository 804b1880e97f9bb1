# SPDX-License-Identifier: Apache-2.0
"""First screen, steps and provenance: each figure under its own name is the JSON's, and no number stands there that the JSON
doesn't have, in one of the ways in which the page writes numbers, or that follows from it by a formula which stands here."""
import datetime
import math
import re

import harness
import oracle
import reading
import sessions

NAMES = ["decode_loop", "sums", "pytorch", "llama", "devices", "poor", "empty", "untimed"]
if harness.LONG:
    NAMES = [name for name in sessions.MAKERS if name not in ("large", "hostile")]
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[+-]\d+)?")
CLASSES = {"memory": "memory-bound", "compute": "compute-bound", "overhead": "overhead", "unknown": "no class"}
SOURCES = {"exact": "exact", "descriptor": "descriptor", "params": "params", "device": "device", "at_most": "at most", "name": "name only",
           "none": "unknown"}

_TABLES = """root => [...document.querySelectorAll(root + " table")].map(table => ({
  name: (table.caption || {}).textContent || table.getAttribute("aria-label") || "",
  head: [...table.tHead.rows[0].cells].map(cell => cell.textContent.trim()),
  rows: [...table.tBodies].flatMap(body => [...body.rows]).map(row => [...row.cells].map(cell => cell.textContent.trim()))}))"""


def open_all(page):
    page.evaluate("() => document.querySelectorAll('details').forEach(one => { one.open = true; })")


def percent(value):
    return oracle.share(value) + " %"


def leaves(value):
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    elif value is not None and not isinstance(value, bool):
        yield value


def written(value):
    """All ways in which a number may stand on the page."""
    ways = [oracle.duration, oracle.share, oracle.gain, oracle.one_decimal, oracle.tera, oracle.giga, oracle.bytes_of, oracle.gibibytes,
            str, lambda number: f"{number / 1e6:.0f}", lambda number: f"{number:.0f}", lambda number: f"{number:.2f}"]
    if isinstance(value, int):
        ways.append(oracle.count)
        if 0 < value < 65536:
            ways.append(lambda number: f"{number:04x}")
    if 10**9 <= value < 2**63: # nanoseconds, until 2262
        moment = datetime.datetime.fromtimestamp(value // 10**9, datetime.timezone.utc)
        ways.append(lambda number: moment.strftime("%Y-%m-%d %H:%M:%S"))
    return {way(value) for way in ways}


def numbers_of(texts):
    return {number.strip(",") for text in texts for number in NUMBER.findall(text)}


def cuda_of(device):
    """As cuDriverGetVersion has it: 1000 * major + 10 * minor."""
    return f"{device['driver_version'] // 1000}.{device['driver_version'] % 1000 // 10}"


def derived(report):
    """What follows from the JSON: {formula's value}."""
    coverage, session = report["coverage"], report["session"]
    total = coverage["gpu_time_ns"]
    yield from (len(report[key]) for key in ("devices", "operators", "processes", "failures", "problems"))
    if total:
        yield from (time / total for time in report["time_by_bound"].values())
        with_roof = [op for op in report["operators"] if op["time_ns"] and op["kernels"] and op["roof_fraction"] is not None]
        if with_roof:
            yield sum(op["roof_fraction"] * op["time_ns"] for op in with_roof) / sum(op["time_ns"] for op in with_roof)
    for device in report["devices"]:
        time = device["time"]
        if time and time["span_ns"]:
            yield from (time[key] / time["span_ns"] for key in ("compute_ns", "communication_ns", "copy_ns", "gap_ns", "busy_ns") if time[key] is not None)
    if session["started_realtime_ns"] and session["ended_realtime_ns"]:
        yield session["ended_realtime_ns"] - session["started_realtime_ns"]
    bins = [bin for phase in report["phases"].values() for bin in phase["m_bins"]]
    for what in ("time_ns", "executions"):
        sums = {}
        for bin in bins:
            sums[bin["m_least"]] = sums.get(bin["m_least"], 0) + (bin[what] or 0)
        yield from sums.values()
        if sum(sums.values()):
            yield from (value / sum(sums.values()) for value in sums.values())
    for power in range(53): # bins of M without any are shown between others
        yield from (2**power, 2**(power + 1) - 1)
    sum_of = [process["sums"] for process in report["processes"] if process["sums"]]
    if sum_of:
        yield from (sum(sums[key] for sums in sum_of) for key in ("samples", "samples_of"))
    yield sum(len(process["notes"]) for process in report["processes"])
    lost = sum(coverage[key] or 0 for key in ("kernels_untimed", "records_dropped", "calls_missing", "launches_missing"))
    if coverage["kernels"] is not None and lost + coverage["kernels"]:
        yield lost / (lost + coverage["kernels"])
    if coverage["kernels"] is not None:
        all_of = coverage["kernels"] + coverage["kernels_untimed"]
        if all_of:
            yield from (coverage["kernels"] / all_of, coverage["kernels_untimed"] / all_of)
    yield from (cuda_of(device) for device in report["devices"] if device["driver_version"])
    for process in report["processes"]:
        overhead = process["overhead"]
        if overhead:
            yield (overhead["helper_cpu_ns"] or 0) + (overhead["timing_cpu_ns"] or 0)


class Panels(harness.Case):
    def test_no_other_number(self):
        for name in self.available(NAMES):
            with self.subTest(session=name), self.opened(name) as page:
                report = reading.embedded(page)
                open_all(page)
                known = set()
                for value in [*leaves(report), *derived(report)]:
                    texts = [value] if isinstance(value, str) else written(value)
                    known |= numbers_of(texts)
                for section in ("overview", "steps", "provenance"):
                    shown = page.evaluate("id => document.getElementById(id).innerText", section)
                    strange = {number for number in numbers_of([shown]) if number not in known and not self.is_words(number, shown)}
                    self.assertEqual(strange, set(), f"{section}: {[line for line in shown.splitlines() if strange & numbers_of([line])]}")

    def is_words(self, number, shown):
        """Numbers of the page's own sentences: GPU 0, the list of sources, units such as MHz, FLOP/B."""
        return number in {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "100"} or re.search(rf"GPUs? {number}\b", shown)

    def test_figures(self):
        for name in self.available(NAMES):
            with self.subTest(session=name), self.opened(name) as page:
                report = reading.embedded(page)
                self.assertEqual(page.locator("#verdict").inner_text(), report["verdict"]["sentence"])
                self.assertEqual(page.locator("#simulated").is_visible(), report["simulated"])
                shown = dict(zip(page.locator("#overview dl.figures dt").all_inner_texts(), page.locator("#overview dl.figures dd").all_inner_texts()))
                coverage = report["coverage"]
                expected = {"library calls": oracle.count(coverage["calls"]), "kernels timed": oracle.count(coverage["kernels"]),
                            "FLOP/B of all known work": oracle.one_decimal(report["step"]["intensity"]),
                            "prefill steps": oracle.count(report["phases"]["prefill"]["steps"] or None),
                            "decode steps": oracle.count(report["phases"]["decode"]["steps"] or None),
                            ("simulated " if report["simulated"] else "") + "GPU time in kernels": oracle.duration(coverage["gpu_time_ns"])}
                for label, text in shown.items():
                    if label in expected:
                        self.assertEqual(text, expected[label], label)
                if not report["session"]["no_launch_reason"]:
                    for label, text in expected.items():
                        if text != "-":
                            self.assertIn(label, shown)

    def bars(self, page, title):
        """{name: share} of the bar under TITLE, as wide as they are drawn, and {name: text} of its key."""
        found = page.evaluate("""title => { const group = [...document.querySelectorAll("#overview .bar-group")].find(
            one => one.querySelector(".bar-title").textContent.includes(title));
          return group && {widths: [...group.querySelectorAll(".bar > span")].map(span => [span.title, parseFloat(span.style.width)]),
            key: [...group.querySelectorAll(".key li")].map(item => item.textContent.trim())}; }""", title)
        return found

    def check_bar(self, found, shares, values, names, where):
        shares = {key: value for key, value in shares.items() if value}
        self.assertEqual(len(found["widths"]), len(shares), where)
        for (title, width), (key, value) in zip(found["widths"], shares.items()):
            self.assertTrue(math.isclose(width, 100 * value, abs_tol=0.01), f"{where} {title}: {width}")
            self.assertTrue(title.startswith(names[key]) and title.endswith(percent(value)), f"{where} {title}")
        self.assertEqual(found["key"], [f"{names[key]} " + (f"{values[key]}, " if values else "") + percent(value)
                                        for key, value in shares.items()], where)

    def test_bars(self):
        for name in self.available(["decode_loop", "batched", "pytorch", "llama", "poor", "families"]):
            with self.subTest(session=name), self.opened(name) as page:
                report = reading.embedded(page)
                coverage, times = report["coverage"], report["time_by_bound"]
                if coverage["gpu_time_ns"]:
                    total = coverage["gpu_time_ns"]
                    self.check_bar(self.bars(page, "GPU time in kernels"), {key: times[key] / total for key in CLASSES},
                                   {key: oracle.duration(times[key]) for key in CLASSES}, CLASSES, "time by class")
                by_time = self.bars(page, "by simulated GPU time" if report["simulated"] else "by GPU time")
                if by_time:
                    self.check_bar(by_time, {key: coverage["gpu_time_share"][key] for key in SOURCES}, None, SOURCES, "coverage by time")
                by_launch = self.bars(page, "by GEMM and attention launches")
                if by_launch:
                    self.check_bar(by_launch, {key: coverage["launch_share"][key] for key in SOURCES}, None, SOURCES, "coverage by launches")

    def table(self, tables, *titles):
        return next((table for table in tables if all(title in table["head"] for title in titles)), None)

    def path(self, roof):
        text = roof["type"]
        if roof["accumulate"] and roof["accumulate"] != roof["type"]:
            text += f" ({roof['accumulate']} accumulate)"
        return text

    def test_roofs(self):
        for name in self.available(["decode_loop", "pytorch", "llama", "devices"]):
            with self.subTest(session=name), self.opened(name) as page:
                report = reading.embedded(page)
                open_all(page)
                roofs = report["devices"][0]["roofs"]
                used = [roof for roof in roofs if roof["operators"]]
                first = self.table(page.evaluate(_TABLES, "#overview"), "Peak", "Ridge, FLOP/B")
                self.assertEqual(len(first["rows"]), len(used))
                for row, roof in zip(first["rows"], used):
                    achievable = oracle.tera(roof["achievable_flops_per_second"])
                    self.assertTrue(row[0].startswith(self.path(roof)), row)
                    self.assertEqual(row[1:], [
                        oracle.tera(roof["flops_per_second"]) if roof["flops_per_second"] is not None else "not published",
                        oracle.one_decimal(roof["ridge"]),
                        achievable if achievable == "-" else f"{achievable} {roof['achievable_flops_origin']}",
                        oracle.tera(roof["held_clock_flops_per_second"])])
                whole = self.table(page.evaluate(_TABLES, "#provenance"), "Peak, TFLOP/s", "Source")
                ordered = used + [roof for roof in roofs if roof not in used]
                self.assertEqual(len(whole["rows"]), len(ordered))
                for row, roof in zip(whole["rows"], ordered):
                    self.assertEqual((row[2], row[3], row[4]), (oracle.tera(roof["flops_per_second"]) if roof["flops_per_second"] is not None
                                     else "not published", oracle.giga(roof["bytes_per_second"]), oracle.one_decimal(roof["ridge"])))
                text = page.locator("#provenance").inner_text()
                for roof in ordered:
                    if roof["source"]:
                        self.assertIn(roof["source"], text)
                for device in report["devices"]:
                    self.assertEqual(device["driver_version"] is not None, "for CUDA up to " in text)
                    if device["driver_version"] is not None:
                        self.assertIn(f"for CUDA up to {cuda_of(device)}", text)

    def test_activity(self):
        for name in self.available(["decode_loop", "llama", "devices", "pytorch"]):
            with self.subTest(session=name), self.opened(name) as page:
                report = reading.embedded(page)
                table = self.table(page.evaluate(_TABLES, "#overview"), "idle", "span")
                keys = {"compute": "compute_ns", "communication": "communication_ns", "copies": "copy_ns", "idle": "gap_ns"}
                self.assertEqual(len(table["rows"]), min(len(report["devices"]), 8))
                for device, row in zip(report["devices"], table["rows"]):
                    cells = dict(zip(table["head"], row))
                    for title, key in keys.items():
                        if title in cells:
                            self.assertEqual(cells[title], percent(device["time"][key] / device["time"]["span_ns"]), title)
                    self.assertEqual((cells["busy time"], cells["span"]), (oracle.duration(device["time"]["busy_ns"]), oracle.duration(device["time"]["span_ns"])))

    def test_steps(self):
        for name in self.available(["decode_loop", "llama", "pytorch", "graphs"]):
            with self.subTest(session=name), self.opened(name) as page:
                report = reading.embedded(page)
                tables = page.evaluate(_TABLES, "#steps")
                phases = self.table(tables, "Phase", "Steps")
                shown = {row[0]: row[1:] for row in phases["rows"]}
                for label, sums in {"prefill": report["phases"]["prefill"], "decode": report["phases"]["decode"],
                                    "all together": report["step"]}.items():
                    if label not in shown:
                        self.assertFalse(sums["steps"] or sums["gpu_time_ns"])
                        continue
                    rows = sums["rows_per_step"]
                    rows = "-" if not rows else oracle.count(int(rows)) if rows == int(rows) else oracle.one_decimal(rows)
                    self.assertEqual(shown[label], [oracle.count(sums["steps"]), rows, oracle.one_decimal(sums["intensity"]),
                                                    oracle.duration(sums["gpu_time_ns"]), oracle.share(sums["gpu_share"]), oracle.share(sums["share"])], label)
                self.check_bins(page, report, "time_ns")
                radio = page.locator("#steps input[value=executions]")
                if radio.count():
                    radio.check()
                    self.check_bins(page, report, "executions")

    def check_bins(self, page, report, what):
        histogram = self.table(page.evaluate(_TABLES, "#steps"), "M", "%")
        bins, total = {}, 0
        for phase, sums in report["phases"].items():
            for bin in sums["m_bins"]:
                label = oracle.count(bin["m_least"]) + (f" to {oracle.count(bin['m_most'])}" if bin["m_most"] > bin["m_least"] else "")
                bins.setdefault(label, {})[phase] = bin[what]
                total += bin[what] or 0
        shown = {row[0]: dict(zip(histogram["head"], row)) for row in histogram["rows"]}
        write = oracle.duration if what == "time_ns" else oracle.count
        for label, values in bins.items():
            for phase, value in values.items():
                self.assertEqual(shown[label]["no phase" if phase == "unknown" else phase], write(value), f"M {label} {phase}")
            self.assertEqual(shown[label]["%"], oracle.share(sum(value or 0 for value in values.values()) / total), f"M {label}")
        for label in set(shown) - set(bins):
            self.assertEqual(set(list(shown[label].values())[1:]), {""}, f"M {label} has none")

    def test_processes(self):
        for name in self.available(["decode_loop", "devices", "poor", "pytorch"]):
            with self.subTest(session=name), self.opened(name) as page:
                report = reading.embedded(page)
                open_all(page)
                table = self.table(page.evaluate(_TABLES, "#provenance"), "Library calls", "Kernels timed")
                self.assertEqual(len(table["rows"]), len(report["processes"]))
                for process, row in zip(report["processes"], table["rows"]):
                    cells = dict(zip(table["head"], row))
                    self.assertEqual(cells["Process"], str(process["pid"]))
                    self.assertEqual([cells[title] for title in ("Library calls", "failed", "Launches", "Kernels timed")],
                                     [oracle.count(process[key]) for key in ("calls", "failed_calls", "launches", "kernels")])

    def test_losses(self):
        """What is dropped, untimed or missing stands on the first screen."""
        with self.opened("poor") as page:
            report = reading.embedded(page)
            coverage, text = report["coverage"], page.locator("#overview").inner_text()
            self.assertGreater(coverage["records_dropped"], 0)
            self.assertIn(oracle.count(coverage["kernels_untimed"]) + " kernels untimed", text)
            self.assertIn(oracle.count(coverage["records_dropped"]) + " records dropped", text)
            self.assertIn("1 process was not timed", text)

    def test_empty(self):
        with self.opened("empty") as page:
            self.assertIn("no CUDA launch seen", page.locator("#overview").inner_text())
            self.assertNotIn("0 ns", page.locator("main").inner_text())


if __name__ == "__main__":
    harness.main()
