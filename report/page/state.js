/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the page share: the report's JSON, which operator is selected, what is filtered away, and who wants to
 * know of it. Parts know this file, format.js and draw.js, never each other. */
"use strict";
var rooftap = window.rooftap || {};
window.rooftap = rooftap;

/* {name, start(root, data)}: the id of a section of page.html, and what fills its ".part". */
rooftap.parts = [];

rooftap.state = (function () {
  var listeners = {};
  var selected = null;
  var NO_FILTER = { kinds: null, types: null, phases: null, bounds: null, text: "" }; /* null: all; else a Set of keys */
  var filter = Object.assign({}, NO_FILTER);

  function on(event, listener) {
    (listeners[event] = listeners[event] || []).push(listener);
  }

  function tell(event, value, from) {
    (listeners[event] || []).forEach(function (listener) { listener(value, from); });
  }

  /* Every word of TEXT, in any order. */
  function has_words(words, text) {
    return text.toLowerCase().split(/\s+/).every(function (word) { return words.indexOf(word) >= 0; });
  }

  /* How many operators there are, also those that this file doesn't hold. */
  function total() {
    var data = rooftap.state.data;
    return data.operators.length + (data.cut && data.cut.operators ? data.cut.operators.count : 0);
  }

  /* Of PLACES, the operator that took longest; null: this file holds none of them. */
  function longest(places) {
    var operators = rooftap.state.data.operators;
    return (places || []).reduce(function (best, place) {
      if (!operators[place]) return best;
      return best === null || (operators[place].time_ns || 0) > (operators[best].time_ns || 0) ? place : best;
    }, null);
  }

  return {
    data: null,
    total: total,
    longest: longest,

    /* "select" (place in data.operators or null, from) and "filter" (null, from). FROM is the name of the part that did it. */
    on: on,

    selected: function () { return selected; },
    select: function (index, from) {
      selected = index;
      tell("select", index, from);
    },

    filter: filter,
    /* {bounds: new Set(["memory"])} and the like: what is named is replaced. */
    set_filter: function (changes, from) {
      Object.assign(filter, changes);
      tell("filter", null, from);
    },
    clear_filter: function (from) { rooftap.state.set_filter(NO_FILTER, from); },
    is_filtered: function () { return Object.keys(filter).some(function (key) { return Boolean(filter[key]); }); },

    /* Whether an operator passes the filter. A place that the page doesn't hold (it was cut) does not. */
    accepts: function (index) {
      var op = rooftap.state.data.operators[index];
      return Boolean(op) &&
        (!filter.kinds || filter.kinds.has(op.kind)) &&
        (!filter.types || filter.types.has(rooftap.state.type_of(op))) &&
        (!filter.bounds || filter.bounds.has(op.bound)) &&
        (!filter.phases || rooftap.state.phases_of(op).some(function (phase) { return filter.phases.has(phase); })) &&
        (!filter.text || has_words(rooftap.state.words_of(op), filter.text));
    },

    /* What filters go by. */
    has_words: has_words,
    type_of: function (op) { return op.type_compute || (op.launch && op.launch.path) || "unknown"; },
    phases_of: function (op) {
      var calls = op.phase_calls || {};
      var phases = ["prefill", "decode", "unknown"].filter(function (phase) { return calls[phase] > 0; });
      return phases.length ? phases : ["unknown"];
    },
    words_of: function (op) {
      return [op.name, op.display_name, op.kind, op.family, op.bound, op.type_a, op.type_b, op.type_compute]
        .concat(op.launch ? [op.launch.weight_format, op.launch.path] : [], op.flags || [], op.model_weights || [], [op.m, op.n, op.k])
        .filter(function (word) { return word !== null && word !== undefined; }).join(" ").toLowerCase();
    }
  };
})();
