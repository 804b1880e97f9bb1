/* SPDX-License-Identifier: Apache-2.0 */
/* Tables and lists of facts, as several parts make them: head cells with their meaning, unknown as a dash. */
"use strict";
var rooftap = window.rooftap || {};
window.rooftap = rooftap;

rooftap.tabular = (function () {
  var element = rooftap.draw.element, format = rooftap.format;

  function is_missing(value) {
    return value === null || value === undefined || value === "";
  }

  function content(value) {
    return is_missing(value) ? format.UNKNOWN : value;
  }

  /* COLUMNS: {name, meaning, kind}; kind "left" (a word), "text" (a sentence, which wraps), else a number. */
  function head(columns) {
    return element("thead", {}, element("tr", {}, columns.map(function (column) {
      return element("th", { scope: "col", class: column.kind || null },
        column.meaning ? element("abbr", { title: column.meaning }, column.name) : column.name);
    })));
  }

  /* The first cell names the row. */
  function row(columns, cells) {
    return element("tr", {}, cells.map(function (cell, at) {
      var kind = columns[at].kind || null;
      return at ? element("td", { class: kind }, content(cell)) : element("th", { scope: "row", class: kind }, content(cell));
    }));
  }

  /* ROWS: arrays of texts or nodes, as many as there are columns. Scrolls in its own place. */
  function table(caption, columns, rows, class_name) {
    return element("div", { class: "scroll" }, element("table", { class: class_name }, [
      caption ? element("caption", {}, caption) : null, head(columns),
      element("tbody", {}, rows.map(function (cells) { return row(columns, cells); }))
    ]));
  }

  /* PAIRS: [term, text or node]; what is missing is left out, for terms that are no question in every run. */
  function facts(pairs) {
    var list = element("dl", { class: "facts" });
    pairs.filter(Boolean).forEach(function (pair) {
      if (!is_missing(pair[1])) list.append(element("dt", {}, pair[0]), element("dd", {}, pair[1]));
    });
    return list.childNodes.length ? list : null;
  }

  function list(texts, class_name) {
    return texts.length ? element("ul", { class: class_name }, texts.map(function (text) { return element("li", {}, text); })) : null;
  }

  function code(text) {
    return is_missing(text) ? null : element("code", {}, text);
  }

  function percent(share) {
    return format.known(share) ? format.share(share) + " %" : format.UNKNOWN;
  }

  /* "2026-11-30 19:37:28 UTC": a number of so many nanoseconds is exact to the microsecond in a script, which is enough. */
  function utc(realtime_ns) {
    if (!(realtime_ns > 0)) return null;
    return new Date(realtime_ns / 1e6).toISOString().replace("T", " ").replace(/\.\d+Z$/, " UTC");
  }

  /* "3", or "32 of 40" of a list that was cut. */
  function count_of(data, name) {
    var cut = data.cut && data.cut.lists ? data.cut.lists[name] : null;
    return cut ? format.count(cut.shown) + " of " + format.count(cut.of) : format.count(data[name].length);
  }

  /* "32 of 40 are here": of a list that was cut so that the page stays small. */
  function cut_note(data, name) {
    var cut = data.cut && data.cut.lists ? data.cut.lists[name] : null;
    return cut ? element("p", { class: "note" }, format.count(cut.shown) + " of " + format.count(cut.of) +
      " are in this page; `rooftap report --json` has all.") : null;
  }

  return { head: head, row: row, table: table, facts: facts, list: list, code: code, percent: percent, utc: utc, count_of: count_of, cut_note: cut_note };
})();
