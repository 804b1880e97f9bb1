/* SPDX-License-Identifier: Apache-2.0 */
/* What the tables of the page hold, read out of their markup, and the same as fields of a CSV file. */
"use strict";
var rooftap = window.rooftap || {};
window.rooftap = rooftap;

rooftap.rows = (function () {
  var csv = rooftap.csv;

  /* ---- reading ---- */

  function number_of(text) {
    if (text === undefined || text === "") return null;
    var value = /^-?inf/.test(text) ? Infinity * (text[0] === "-" ? -1 : 1) : Number(text);
    return isNaN(value) ? null : value;
  }

  /* One for each column; null: a cell that has its place reaches over it, as the name of a row without a shape does. */
  function cells_of(element, columns) {
    var cells = [];
    Array.from(element.cells).forEach(function (cell) {
      if (cell.colSpan === 1) cells.push({ text: cell.textContent.trim(), value: number_of(cell.dataset.v) });
      else for (var i = 0; i < cell.colSpan; i++) cells.push(null);
    });
    return cells.slice(0, columns);
  }

  function row_of(element, columns) {
    var place = element.dataset.index;
    return { element: element, index: place === undefined ? null : Number(place), cells: cells_of(element, columns) };
  }

  /* {by, table, body, columns: [{place, key, title, left, ascending, header}], rows: [{element, index, cells}], rest, order} */
  function read(table) {
    var columns = Array.from(table.tHead ? table.tHead.rows[0].cells : []).map(function (header, place) {
      return {
        place: place, key: header.dataset.key || null, title: header.textContent.trim(), header: header,
        left: header.classList.contains("left"), ascending: header.dataset.ascending !== undefined
      };
    });
    var body = table.tBodies[0] || table.createTBody();
    /* Headers without a class are as their cells are. */
    Array.from(body.rows).slice(0, 1).forEach(function (row) {
      if (row.cells.length === columns.length)
        columns.forEach(function (column) { column.left = column.left || row.cells[column.place].classList.contains("left"); });
    });
    var rows = Array.from(body.rows).map(function (row) { return row_of(row, columns.length); });
    var rest = table.tFoot && table.tFoot.rows[0] ? row_of(table.tFoot.rows[0], columns.length) : null;
    return {
      by: table.dataset.by, table: table, body: body, columns: columns, rows: rows, rest: rest,
      order: rows.map(function (row, place) { return place; })
    };
  }

  /* ---- CSV ---- */

  /* By the key of a column, or where it has none its title: how the JSON calls what it shows, units in the name. */
  var NAMES = {
    shape: {
      GPU: "device", share: "share", time: "time_ns", calls: "calls", kind: "kind", m: "m", n: "n", k: "k", types: "types",
      intensity: "intensity", "class": "bound", flops: "flops_per_second", bytes: "bytes_per_second", roof: "roof_fraction",
      gain: "gain_share", WEIGHTS: "model_weights", FLAGS: "flags"
    },
    weight: {
      GPU: "device", share: "share", time: "time_ns", calls: "executions", n: "n", k: "k", types: "types", m: "m_p50",
      m90: "m_p90", m_star: "m_star", below: "share_below_m_star", fill: "fill", gain: "gain_share"
    },
    kernel: {
      GPU: "device", share: "share", time: "time_ns", calls: "calls", mean: "mean_ns", kind: "kind", shapes: "shapes",
      "class": "bound", roof: "roof_fraction", gain: "gain_share", name: null /* whole, below */
    }
  };
  /* Of the JSON alone. */
  var MORE = { shape: ["shape_source", "time_source", "name"], weight: [], kernel: ["name"] };
  var LISTS = { shape: "operators", weight: "weights", kernel: "kernels" };

  function name_of(by, column) {
    var names = NAMES[by], key = column.key || column.title;
    return Object.prototype.hasOwnProperty.call(names, key) ? names[key] : key.toLowerCase();
  }

  /* Cells have nine digits. Where the JSON has the same number under that name, it has all of them. */
  function exact(value, item, name) {
    var whole = item && item[name];
    return typeof whole === "number" && Number(whole.toPrecision(9)) === value ? whole : value;
  }

  function field_of(cell, item, name) {
    if (!cell) return null;
    if (cell.value !== null && isFinite(cell.value)) return exact(cell.value, item, name);
    return cell.text === rooftap.format.UNKNOWN ? null : rooftap.names.visible(cell.text);
  }

  /* The sums of what isn't here; shown rounded, so only the JSON's own will do. */
  function rest_field(cell, rest, name) {
    if (rest && typeof rest[name] === "number") return rest[name];
    return cell && cell.value !== null && isFinite(cell.value) ? cell.value : null;
  }

  function more_of(item, key) {
    if (!item) return null;
    var value = key === "name" ? item.display_name || item.name : item[key];
    return typeof value === "string" ? rooftap.names.visible(value) : null;
  }

  /* The rows of PLACES and what the page doesn't hold, with a header. A model's times are told apart wherever the file goes. */
  function to_csv(model, data, places) {
    var list = data[LISTS[model.by]] || [], rest = data.cut && data.cut[LISTS[model.by]];
    var columns = model.columns.filter(function (column) { return name_of(model.by, column) !== null; });
    var more = MORE[model.by] || [];
    function fields(mark, row, item, field) {
      return [mark].concat(
        columns.map(function (column) { return field(row.cells[column.place], item, name_of(model.by, column)); }),
        more.map(function (key) { return more_of(item, key); }), data.simulated);
    }
    var lines = [["index"].concat(columns.map(function (column) { return name_of(model.by, column); }), more, "simulated")];
    places.forEach(function (place) {
      var row = model.rows[place];
      lines.push(fields(row.index, row, list[row.index], field_of));
    });
    if (model.rest) lines.push(fields(rest ? "the other " + rest.count : "the rest", model.rest, rest, rest_field));
    return csv.file(lines);
  }

  return { read: read, to_csv: to_csv, name_of: name_of, LISTS: LISTS };
})();
