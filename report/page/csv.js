/* SPDX-License-Identifier: Apache-2.0 */
/* CSV as RFC 4180 has it: commas, CRLF, quotes doubled. What is not known is an empty field. */
"use strict";
var rooftap = window.rooftap || {};
window.rooftap = rooftap;

rooftap.csv = (function () {
  /* A spreadsheet runs what begins like a formula, even in quotes; an apostrophe before it makes it a text. */
  var FORMULA = /^[=+\-@\t\r]/;
  var NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

  function field(value) {
    if (value === null || value === undefined) return "";
    if (typeof value === "number") return isNaN(value) ? "" : String(value);
    var text = String(value);
    if (FORMULA.test(text) && !NUMBER.test(text)) text = "'" + text;
    return /[",\r\n]/.test(text) ? "\"" + text.replace(/"/g, "\"\"") + "\"" : text;
  }

  function line(values) {
    return values.map(field).join(",") + "\r\n";
  }

  return {
    field: field,
    /* [[value of the first field, …], …], the header first */
    file: function (lines) { return lines.map(line).join(""); }
  };
})();
