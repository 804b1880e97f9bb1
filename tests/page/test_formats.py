# SPDX-License-Identifier: Apache-2.0
"""The page's numbers (report/page/format.js) are those of the text report: ties, edges between units, powers, what isn't known."""
import random

import harness
import oracle

FORMATS = {"count": oracle.count, "duration": oracle.duration, "share": oracle.share, "gain": oracle.gain,
           "intensity": oracle.one_decimal, "tera": oracle.tera, "giga": oracle.giga, "bytes": oracle.bytes_of,
           "gibibytes": oracle.gibibytes}
SOURCE = harness.HERE.parents[1] / "report" / "page" / "format.js"


def values():
    draw = random.Random(8)
    edges = [0, 1, 0.25, 0.5, 0.75, 1.5, 2.5, 6.25, 0.125, 0.375, 999, 999.5, 999.4999, 999.95, 1000, 999950, 999949.99, 1e6,
             999.95e6, 1e7, 9999999.95, 9999999.9, 12345678, 1e12, 1e15, 1e18, 9.95, 9.949, 9.9995, 99.995, 0.09995,
             0.00005, 0.0001, 0.095, 0.09499, 1023.95, 1023.949, 1024, 1048576, 1e-9, 1e-300, 12350000, 12450000, 1.245e15, 1 / 3, 2 / 3,
             2**53 - 1, 35, 350.5, 0.0625, 112.5, 1112.5]
    ties = [n + 0.25 * step for n in range(40) for step in range(4)] + [n / 800 for n in range(1, 120)]
    scaled = [value * 10**power for value in (1, 1.25, 2.5, 9.95, 9.9995, 99.995, 999.95) for power in range(-6, 19)]
    random_ones = [draw.uniform(1, 10) * 10**draw.uniform(-4, 17) for _ in range(1500)]
    return edges + ties + scaled + random_ones


class Formats(harness.Case):
    def setUp(self):
        self.page = harness.Browser.get().new_page()
        self.addCleanup(self.page.close)
        self.page.add_script_tag(content=SOURCE.read_text())

    def shown(self, name, given):
        return self.page.evaluate(f"values => values.map(rooftap.format.{name})", given)

    def test_figures(self):
        for name, expected in FORMATS.items():
            given = [int(value) for value in values() if value < 2**53] if name == "count" else values()
            shown = self.shown(name, given)
            wrong = [(value, text, expected(value)) for value, text in zip(given, shown) if text != expected(value)]
            self.assertEqual(wrong[:8], [], f"{name}: {len(wrong)} of {len(given)}")

    def test_unknown_is_a_dash(self):
        for name in FORMATS:
            self.assertEqual(self.page.evaluate(
                f"() => [null, undefined, NaN, Infinity, '7'].map(rooftap.format.{name})"), ["-"] * 5, name)
        self.assertEqual(self.page.evaluate("() => [null, undefined, '', 0, 'x'].map(rooftap.format.text)"),
                         ["-", "-", "-", "0", "x"])

    def test_no_locale(self):
        context = harness.Browser.get().new_context(locale="de-DE")
        self.addCleanup(context.close)
        page = context.new_page()
        page.add_script_tag(content=SOURCE.read_text())
        self.assertEqual(page.evaluate("() => [rooftap.format.count(1234567), rooftap.format.duration(12345678)]"),
                         ["1,234,567", "12.35 ms"])


if __name__ == "__main__":
    harness.main()
