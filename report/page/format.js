/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as report/format.c writes them, so that the page and the text say the same: never by the reader's locale, and
 * what is not known is a dash, never 0. */
"use strict";
var rooftap = window.rooftap || {};
window.rooftap = rooftap;

rooftap.format = (function () {
  var UNKNOWN = "-";

  function known(value) {
    return typeof value === "number" && isFinite(value);
  }

  function count(value) {
    return known(value) ? String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ",") : UNKNOWN;
  }

  /* DIGITS is value.toFixed or value.toExponential. They round a tie up; C and all of the text report round it to the even digit.
   * The digits of a number are many, but those of a tie are few: twenty more that are 5 and zeros tell it. */
  function rounded(value, digits, decimals) {
    var text = digits.call(value, decimals), longer = digits.call(value, decimals + 20), end = longer.indexOf("e");
    if (end < 0) end = longer.length;
    if (longer.slice(end - 20, end) !== "50000000000000000000") return text;
    var lower = longer.slice(0, end - 20).replace(/\.$/, "");
    return "02468".indexOf(lower.slice(-1)) >= 0 ? lower + longer.slice(end) : text;
  }

  function fixed(value, decimals) { return rounded(value, value.toFixed, decimals); }

  /* Four digits, as far as a value below 10,000 has them. */
  function four_digits(value, unit) {
    var decimals = value >= 999.95 ? 0 : value >= 99.995 ? 1 : value >= 9.9995 ? 2 : 3;
    return fixed(value, decimals) + unit;
  }

  function duration(ns) {
    if (!known(ns)) return UNKNOWN;
    if (ns < 999.5) return fixed(ns, 0) + " ns";
    if (ns < 999.95e3) return four_digits(ns / 1e3, " us");
    if (ns < 999.95e6) return four_digits(ns / 1e6, " ms");
    return four_digits(ns / 1e9, " s");
  }

  function one_decimal(value) {
    if (!known(value)) return UNKNOWN;
    if (Math.abs(value) < 1e7) return fixed(value, 1);
    return rounded(value, value.toExponential, 2).replace(/\.?0+e/, "e").replace(/e([+-])(\d)$/, "e$10$2");
  }

  /* In percent, without the sign. */
  function share(value) {
    return known(value) ? one_decimal(100 * value) : UNKNOWN;
  }

  function gain(value) {
    if (!known(value)) return UNKNOWN;
    var percent = 100 * value;
    if (percent === 0) return "0";
    if (percent > 0 && percent < 0.01) return "<0.01";
    if (percent > 0 && percent < 9.995) return fixed(percent, 2);
    return one_decimal(percent);
  }

  function tera(per_second) {
    if (!known(per_second)) return UNKNOWN;
    var value = per_second / 1e12;
    return value > 0 && value < 0.095 ? fixed(value, 3) : one_decimal(value);
  }

  function giga(per_second) {
    if (!known(per_second)) return UNKNOWN;
    var value = per_second / 1e9;
    return value >= 1e7 || value < 9.95 ? one_decimal(value) : fixed(value, 0);
  }

  function scaled(value, base, units) {
    if (!known(value)) return UNKNOWN;
    var unit = 0;
    for (; unit + 1 < units.length && value >= base - 0.05; unit++) value /= base;
    return unit ? one_decimal(value) + " " + units[unit] : fixed(value, 0) + " B";
  }

  /* Powers of 1000, as bandwidths have them; powers of 1024, as memory has them. */
  function bytes(value) { return scaled(value, 1000, ["B", "kB", "MB", "GB", "TB"]); }
  function gibibytes(value) { return scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]); }

  function text(value) { return value === null || value === undefined || value === "" ? UNKNOWN : String(value); }

  return {
    UNKNOWN: UNKNOWN, known: known, count: count, duration: duration, share: share, gain: gain, intensity: one_decimal,
    tera: tera, giga: giga, bytes: bytes, gibibytes: gibibytes, text: text
  };
})();
