#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""report/page/sample.js still is what today's report makes: its JSON has the keys, its tables the columns, and it is small and
of no machine in particular. What tells: one recording like that of the sample."""
import html.parser
import re
import unittest

import make_sample

MOST_BYTES = 150_000
AGAIN = "; E2E_BUILD=BUILD tests/page/make_sample.py makes it anew"


def paths(value, at=""):
    """Every key by where it stands: "operators[].launch". What is null or empty this time may be something the next time."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield f"{at}.{key}".lstrip(".")
            yield from paths(item, f"{at}.{key}".lstrip("."))
    elif isinstance(value, list):
        for item in value:
            yield from paths(item, f"{at}[]")


def keys_below(found, parent):
    return {path for path in found if path.startswith((parent + ".", parent + "[]"))}


class Tables(html.parser.HTMLParser):
    """Of each table its columns and the places of its rows."""

    def __init__(self, text):
        super().__init__()
        self.tables = {}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "table" and "data-by" in given:
            self.by = given["data-by"]
            self.tables[self.by] = ([], [])
        elif tag == "th":
            self.tables[self.by][0].append((given.get("data-key"), given.get("class"), "data-ascending" in given))
        elif tag == "tr" and "data-index" in given:
            self.tables[self.by][1].append(int(given["data-index"]))


class Sample(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.data, cls.places = make_sample.read()
        cls.new_data, cls.new_places = make_sample.report()

    def test_keys(self):
        old, new = set(paths(self.data)), set(paths(self.new_data))
        # Below what is null or empty in either, nothing can be said.
        for parent in self.open_ends(self.data) | self.open_ends(self.new_data):
            old -= keys_below(old, parent)
            new -= keys_below(new, parent)
        self.assertEqual(sorted(old - new), [], "keys that the JSON has no more" + AGAIN)
        self.assertEqual(sorted(new - old), [], "keys that the sample lacks" + AGAIN)

    def open_ends(self, value, at=""):
        if value is None or value == [] or value == {}:
            return {at}
        ends = set()
        if isinstance(value, dict):
            for key, item in value.items():
                ends |= self.open_ends(item, f"{at}.{key}".lstrip("."))
        elif isinstance(value, list):
            for item in value:
                ends |= self.open_ends(item, f"{at}[]")
        return ends

    def test_tables(self):
        for selector in ("#tables", "#skinny-table"):
            old, new = Tables(self.places[selector]).tables, Tables(self.new_places[selector]).tables
            self.assertEqual({by: columns for by, (columns, _) in old.items()}, {by: columns for by, (columns, _) in new.items()},
                             "columns" + AGAIN)
        rows = {by: places for by, (_, places) in Tables(self.places["#tables"]).tables.items()}
        for by, name in (("shape", "operators"), ("weight", "weights"), ("kernel", "kernels")):
            self.assertEqual(sorted(rows[by]), list(range(len(self.data[name]))), name)
            self.assertGreater(len(rows[by]), 0, name)

    def test_it_is_worth_looking_at(self):
        """Several classes, phases, bins of M, and advice: what the parts of the page show."""
        bounds = {operator["bound"] for operator in self.data["operators"]}
        self.assertLessEqual({"memory", "compute"}, bounds)
        self.assertGreater(self.data["phases"]["decode"]["steps"], 0)
        self.assertGreater(len(self.data["advice"]), 1)
        self.assertGreater(len({len(weight["m_bins"]) for weight in self.data["weights"]} - {0, 1}), 0)
        self.assertIn("<svg", self.places["#picture"])

    def test_it_is_small_and_of_no_machine(self):
        text = make_sample.SAMPLE.read_text()
        self.assertLess(len(text), MOST_BYTES)
        self.assertEqual(re.findall(r"/(?:ho[m]e|ro[o]t|wo[r]k|tmp)/[^\"<\s]*", text), [])
        self.assertEqual(self.data["session"]["host"], "gpu-host")
        self.assertTrue(text.isascii())

    def test_it_reads_as_it_was_written(self):
        self.assertEqual(make_sample.text_of(self.data, self.places), make_sample.SAMPLE.read_text(), AGAIN)


if __name__ == "__main__":
    unittest.main()
