/* SPDX-License-Identifier: Apache-2.0 */
/* Names that strangers gave: shown letter by letter, in a direction of their own, and never longer than is asked for. */
"use strict";
var rooftap = window.rooftap || {};
window.rooftap = rooftap;

rooftap.names = (function () {
  var visible = rooftap.draw.visible;

  /* At most MOST letters, with an ellipsis where it is cut. */
  function cut(text, most) {
    if (text.length <= most) return text;
    var end = most - 1;
    if (/[\ud800-\udbff]/.test(text.charAt(end - 1))) end--;
    return text.slice(0, end) + "\u2026";
  }

  /* Of an operator, for people. */
  function of(op) {
    return visible(op.display_name || op.name || "(not known)");
  }

  return {
    visible: visible,
    cut: cut,
    of: of,
    /* <bdi>: what is written from right to left stays within. */
    element: function (text, most) {
      var whole = visible(text);
      return rooftap.draw.element("bdi", null, most ? cut(whole, most) : whole);
    }
  };
})();
