/* SPDX-License-Identifier: Apache-2.0 */
/* The order of rows, and headers of a table that change it. Letters go by their code points: the same order everywhere,
 * and the one of `--sort`. */
"use strict";
var rooftap = window.rooftap || {};
window.rooftap = rooftap;

rooftap.sorting = (function () {
  /* Halves of a character stand for what is above all that one unit can hold. */
  function weight(unit) {
    return unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
  }

  function by_code_point(a, b) {
    var length = Math.min(a.length, b.length);
    for (var i = 0; i < length; i++) {
      var x = a.charCodeAt(i), y = b.charCodeAt(i);
      if (x !== y) return weight(x) - weight(y);
    }
    return a.length - b.length;
  }

  function compare(a, b) {
    if (typeof a === "number" && typeof b === "number") return a < b ? -1 : a > b ? 1 : 0;
    return by_code_point(String(a), String(b));
  }

  /* Places of KEYS (numbers or texts; null: not known) in order. Equal ones stay as they were, unknown ones come last
   * whichever way it goes. */
  function order(keys, descending) {
    return keys.map(function (key, place) { return place; }).sort(function (x, y) {
      var a = keys[x], b = keys[y];
      if (a === null || b === null) return (a === null) - (b === null) || x - y;
      return (descending ? -compare(a, b) : compare(a, b)) || x - y;
    });
  }

  /* ---- headers ---- */

  function key_of(column, row) {
    var cell = row.cells[column.place];
    if (!cell) return null;
    if (cell.value !== null) return cell.value;
    if (!column.left) return /^\d+$/.test(cell.text) ? Number(cell.text) : null; /* a GPU's number is no figure */
    return cell.text === "" || cell.text === rooftap.format.UNKNOWN ? null : cell.text;
  }

  /* Puts the rows of a table (rooftap.rows.read) in order. DIRECTION is "ascending", "descending" or "none": as they came. */
  function sort(model, column, direction) {
    var rows = model.rows;
    var places = direction === "none" ? rows.map(function (row, place) { return place; })
      : order(rows.map(function (row) { return key_of(column, row); }), direction === "descending");
    var focused = document.activeElement;
    model.order = places;
    model.body.append.apply(model.body, places.map(function (place) { return rows[place].element; }));
    if (focused && model.body.contains(focused)) focused.focus({ preventScroll: true });
    model.columns.forEach(function (other) {
      var its = other === column ? direction : "none";
      if (its === "none") other.header.removeAttribute("aria-sort");
      else other.header.setAttribute("aria-sort", its);
    });
  }

  /* First as such a column is most of use, then the other way, then as the rows came. */
  function next_direction(column) {
    var ways = column.ascending ? ["ascending", "descending", "none"] : ["descending", "ascending", "none"];
    return ways[(ways.indexOf(column.header.getAttribute("aria-sort") || "none") + 1) % 3];
  }

  function word(column, direction) {
    var ways = column.left ? { ascending: "from A to Z", descending: "from Z to A" }
      : { ascending: "smallest first", descending: "largest first" };
    return direction === "none" ? "as the report has them" : "by " + column.title + ", " + ways[direction];
  }

  /* Makes the headers of a table buttons. TOLD gets in words what was done. */
  function attach(model, told) {
    model.columns.forEach(function (column) {
      var button = rooftap.draw.element("button", { type: "button", class: "sort" });
      button.append.apply(button, Array.from(column.header.childNodes));
      button.addEventListener("click", function () {
        var direction = next_direction(column);
        sort(model, column, direction);
        if (told) told("Rows " + word(column, direction) + ".");
      });
      column.header.append(button);
    });
  }

  return { by_code_point: by_code_point, order: order, sort: sort, attach: attach };
})();
