# SPDX-License-Identifier: Apache-2.0
"""What stands on a page: its tables as cells, its text, its embedded JSON."""
import html.parser

import sessions

_TABLES = """() => [...document.querySelectorAll("table.rows")].map(table => ({
  by: table.dataset.by,
  caption: table.caption && table.caption.textContent.trim(),
  head: [...table.tHead.rows[0].cells].map(cell => ({tag: cell.tagName, scope: cell.scope, key: cell.dataset.key || null,
    title: (cell.querySelector("button") || cell).textContent.replace(/[\\u2190-\\u21ff\\u25b2-\\u25bf]/g, "").trim(),
    meaning: cell.title})),
  rows: [...table.tBodies].flatMap(body => [...body.rows]).map(row => ({
    index: row.dataset.index === undefined ? null : Number(row.dataset.index), bound: row.dataset.bound || null,
    shown: row.getClientRects().length > 0,
    cells: [...row.cells].map(cell => ({text: cell.textContent, v: cell.dataset.v === undefined ? null : cell.dataset.v,
      span: cell.colSpan, tag: cell.tagName, title: cell.title || null}))})),
  foot: table.tFoot ? [...table.tFoot.rows].map(row => [...row.cells].map(cell => ({text: cell.textContent,
    v: cell.dataset.v === undefined ? null : cell.dataset.v, span: cell.colSpan}))) : []}))"""


class _Still(html.parser.HTMLParser):
    """The same of the file as it lies there, by Python's parser: what readers without scripts have."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tables, self.part, self.text, self.data = [], None, None, None
        self.raw = None

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "script" and given.get("id") == "data":
            self.raw = ""
        elif tag == "table" and "rows" in (given.get("class") or "").split():
            self.tables.append({"by": given.get("data-by"), "caption": None, "head": [], "rows": [], "foot": []})
            self.part = "head"
        elif not self.tables or not self.part:
            return
        elif tag in ("thead", "tbody", "tfoot"):
            self.part = tag
        elif tag == "caption":
            self.text = ""
        elif tag == "tr" and self.part == "tbody":
            index = given.get("data-index")
            self.tables[-1]["rows"].append({"index": None if index is None else int(index), "bound": given.get("data-bound"),
                                            "shown": True, "cells": []})
        elif tag == "tr" and self.part == "tfoot":
            self.tables[-1]["foot"].append([])
        elif tag in ("td", "th"):
            self.cell = {"tag": tag.upper(), "v": given.get("data-v"), "span": int(given.get("colspan", 1)),
                         "title": given.get("title"), "scope": given.get("scope"), "key": given.get("data-key")}
            self.text = ""

    def handle_data(self, text):
        if self.raw is not None and self.data is None:
            self.raw += text
        if self.text is not None:
            self.text += text

    def handle_endtag(self, tag):
        if tag == "script" and self.raw is not None and self.data is None:
            self.data = self.raw
        if tag == "table":
            self.part = None
        if self.text is None or tag not in ("td", "th", "caption"):
            return
        if tag == "caption":
            self.tables[-1]["caption"] = self.text.strip()
        elif self.part == "thead":
            self.tables[-1]["head"].append({"tag": self.cell["tag"], "scope": self.cell["scope"], "key": self.cell["key"],
                                            "title": self.text.strip(), "meaning": self.cell["title"]})
        else:
            cells = self.tables[-1]["rows"][-1]["cells"] if self.part == "tbody" else self.tables[-1]["foot"][-1]
            cells.append({"text": self.text, **{key: self.cell[key] for key in ("v", "span", "tag", "title")}})
        self.text = None


def still(path):
    """({by: table}, text of the embedded JSON) of the file itself."""
    parser = _Still()
    parser.feed(path.read_text(encoding="utf-8"))
    parser.close()
    return named(parser.tables), parser.data


def named(found):
    """{by: table}; a page that has one twice is at fault."""
    by = {table["by"]: table for table in found}
    if len(by) != len(found):
        raise AssertionError(f"tables of one data-by twice: {[table['by'] for table in found]}")
    return by


def tables(page):
    found = page.evaluate(_TABLES)
    return named(found)


def embedded_text(page):
    return page.evaluate('() => document.getElementById("data").textContent')


def embedded(page):
    return sessions.strict(embedded_text(page))


def cells(table, row):
    """{title: cell}, a cell over several columns under the first of them."""
    at, by_title = 0, {}
    for cell in row["cells"]:
        by_title[table["head"][at]["title"]] = cell
        at += cell["span"]
    if at != len(table["head"]):
        raise AssertionError(f"a row of {at} columns under {len(table['head'])} titles: {row}")
    return by_title


def text(page, selector):
    return page.locator(selector).inner_text()
