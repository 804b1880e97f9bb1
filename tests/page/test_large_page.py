# SPDX-License-Identifier: Apache-2.0
"""The page of 200,000 operators answers: what is sorted, searched, filtered and selected is so, at once. What a browser has to do
for it is bounded by counts; times are printed, see tests/bench/bench_page.py."""
import harness
import reading
import sessions

ELEMENTS_MOST = 40_000
ROWS_MOST = 1_000  # of one table

CHANGED = """text => { const begin = performance.now(), act = new Function("find", text);
  act(selector => document.querySelector(selector)); return performance.now() - begin; }"""
VISIBLE = """by => [...document.querySelectorAll(`table[data-by=${by}] tbody tr`)].filter(row => row.getClientRects().length).map(row => +row.dataset.index)"""


class Large(harness.Case):
    def act(self, page, text):
        took = page.evaluate(CHANGED, text)
        harness.settle(page)
        return took

    def test_answers(self):
        with self.opened("large", bypass_csp=True) as page:
            report = reading.embedded(page)
            count, shown = report["cut"]["operators"]["count"] + len(report["operators"]), len(report["operators"])
            self.assertEqual(count, sessions.LARGE)
            elements = page.evaluate("() => document.querySelectorAll('*').length")
            print(f"{count} operators: {shown} shown, {elements} elements, ready after {harness.ready_ms(page):.0f} ms")
            self.assertLess(elements, ELEMENTS_MOST)
            for by in ("shape", "weight", "kernel"):
                self.assertLess(page.evaluate("by => document.querySelectorAll(`table[data-by=${by}] tr`).length", by), ROWS_MOST)
            self.assertEqual(page.evaluate(VISIBLE, "shape"), list(range(shown)))
            self.assertIn(f"{count - shown:,}", page.inner_text("#operators"))

            took = self.act(page, "find('table[data-by=shape] th[data-key=calls] button, table[data-by=shape] th:nth-child(3) button').click()")
            self.assertEqual(sorted(page.evaluate(VISIBLE, "shape")), list(range(shown)))
            print(f"sorted in {took:.0f} ms")
            box = "const box = find('#search-rows'); box.value = {!r}; box.dispatchEvent(new Event('input', {{bubbles: true}}))"
            self.act(page, box.format("no such name"))
            self.assertEqual(page.evaluate(VISIBLE, "shape"), [])
            self.act(page, box.format(""))
            self.act(page, "rooftap.state.set_filter({bounds: new Set(['memory'])}, 'test')")
            self.assertEqual(sorted(page.evaluate(VISIBLE, "shape")),
                             [i for i, op in enumerate(report["operators"]) if op["bound"] == "memory"])
            self.act(page, "rooftap.state.set_filter({bounds: null}, 'test')")
            self.act(page, f"rooftap.state.select({shown - 1}, 'test')")
            self.assertEqual(page.evaluate("() => document.querySelector('tr[aria-selected=true]').dataset.index"), str(shown - 1))
            self.act(page, f"rooftap.state.select({count - 1}, 'test')")
            self.assertIn("Not in this file", page.inner_text("#operators aside.detail"))


harness.main()
