/* SPDX-License-Identifier: Apache-2.0 */
/* What a piece of advice is about: by its kind a subject is a place in one of the JSON's lists, each of which names operators. */
"use strict";
var rooftap = window.rooftap || {};
window.rooftap = rooftap;

rooftap.subjects = (function () {
  /* Places in data.operators. Empty: it is about a device or the run, or this file does not hold it. */
  function operators(data, kind, index) {
    var item;
    switch (kind) {
    case "operator":
      return [index];
    case "weight":
      item = (data.weights || [])[index];
      return item ? item.operators : [];
    case "siblings":
      item = (data.sibling_groups || [])[index];
      return item ? item.operators : [];
    case "naive_attention":
      item = (data.naive_attention || [])[index];
      return item ? [item.scores, item.output] : [];
    default:
      return [];
    }
  }

  return { operators: operators };
})();
