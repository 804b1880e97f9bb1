/* SPDX-License-Identifier: Apache-2.0 */
/* The card beside a point of the roofline: what is known of one operator, in the words and numbers of the text report. facts()
 * and spoken() need no page; fill() makes the elements. */
"use strict";
var rooftap = window.rooftap || {};
window.rooftap = rooftap;

rooftap.plot_card = (function () {
  var NAME_LETTERS = 48, FULL_NAME_LETTERS = 400, ADVICE_SHOWN = 2;

  var FLAGS = {
    near_ridge: function () { return "near the ridge: within 10 %, so memory or compute may be either"; },
    starved: function (op, device) {
      var known = typeof op.blocks === "number" && device && typeof device.sm_count === "number";
      return "starved: fewer thread blocks than SMs" + (known ? " (" + op.blocks + " on " + device.sm_count + ")" : "");
    },
    far_from_roof: function () { return "far from its roof: more than 3 times the time there"; },
    above_roof: function (op) { return "above its roof: " + (rooftap.words.ABOVE_ROOF[op.above_roof_reason] || "not known why"); }
  };

  function format() { return rooftap.format; }

  /* The entry of a table of words.js for a key. */
  function entry(table, key) {
    return table.find(function (each) { return each.key === key; });
  }

  function class_words(bound) {
    return (entry(rooftap.words.CLASSES, bound) || entry(rooftap.words.CLASSES, "unknown")).name;
  }

  function provenance(source) {
    var found = entry(rooftap.words.SHAPES, source);
    return found ? found.name + ": " + found.meaning : format().text(source);
  }

  /* ---- names ---- */

  /* Where brackets are open the text is an argument's: "void f<(int)1>(char const*)" has f outside. */
  function outside_brackets(name) {
    var depth = 0, kept = "";
    for (var place = 0; place < name.length; place++) {
      var letter = name[place];
      if (letter === "<" || letter === "(") depth++;
      if (depth === 0) kept += letter;
      if ((letter === ">" || letter === ")") && depth > 0) depth--;
    }
    return kept;
  }

  /* The base name of a kernel without return type, namespaces, template arguments and parameters; of anything else its letters. */
  function short_name(op) {
    var name = rooftap.names.of(op);
    if (op.display_name === op.name) return rooftap.names.cut(name, NAME_LETTERS);
    var bare = outside_brackets(name.slice(0, 4096)).trim().split(/\s+/).pop().split("::").filter(Boolean).pop();
    return rooftap.names.cut(bare || name, NAME_LETTERS);
  }

  /* ---- cells ---- */

  function integer(value) { return typeof value === "number" && isFinite(value) ? String(value) : format().UNKNOWN; }

  function attention_shape(attention) {
    var parts = [
      integer(attention.n_q) + " query heads on " + integer(attention.n_kv) + " KV heads",
      "d " + integer(attention.d) + (attention.d_v !== attention.d ? ", d_v " + integer(attention.d_v) : ""),
      integer(attention.queries) + " queries × " + (attention.keys_at_most ? "at most " : "") + integer(attention.keys) + " keys"
    ];
    if (attention.sequences !== 1) parts.push(integer(attention.sequences) + " sequences");
    return parts.join(", ");
  }

  function shape(op) {
    if (op.launch && op.launch.attention) return attention_shape(op.launch.attention);
    if ([op.m, op.n, op.k].every(function (side) { return typeof side !== "number"; })) return format().UNKNOWN;
    return "M " + integer(op.m) + "  N " + integer(op.n) + "  K " + integer(op.k) + (op.batch > 1 ? "  batch " + op.batch : "");
  }

  /* "Q 32, K 16, V 16, O 32 bits" */
  function attention_bits(attention) {
    return ["q", "k", "v", "o"].map(function (tensor) { return tensor.toUpperCase() + " " + format().text(attention[tensor + "_bits"]); }).join(", ") + " bits";
  }

  function types(op) {
    var launch = op.launch || {};
    var weight = launch.weight_format;
    var first = op.type_a || (op.weight !== "b" ? weight : null), second = op.type_b || (op.weight === "b" ? weight : null);
    var inputs = first && first === second ? first : [first, second].filter(Boolean).join(" × ");
    var all = launch.attention ? attention_bits(launch.attention) : [inputs, op.type_d && op.type_d !== inputs ? "→ " + op.type_d : null].filter(Boolean).join(" ");
    var path = launch.path || op.type_compute;
    if (path && path !== inputs) all += (all ? ", " : "") + "multiplied as " + path;
    return all || format().UNKNOWN;
  }

  /* One decimal as in the table; below that the digits that there are. */
  function intensity(value) {
    return typeof value === "number" && value > 0 && value < 0.05 ? value.toPrecision(2) : format().intensity(value);
  }

  function with_unit(text, unit) { return text === format().UNKNOWN ? text : text + unit; }

  function flops(value) {
    return value > 0 && value < 0.95e10 ? with_unit(format().giga(value), " GFLOP/s") : with_unit(format().tera(value), " TFLOP/s");
  }

  function roof_name(op, device) {
    var roof = device && typeof op.roof === "number" ? (device.roofs || [])[op.roof] : null;
    return roof ? " of " + rooftap.words.path(roof) : "";
  }

  function rates(op) {
    var known = [flops(op.flops_per_second), with_unit(format().giga(op.bytes_per_second), " GB/s")].filter(function (text) { return text !== format().UNKNOWN; });
    return known.join(", ") || format().UNKNOWN;
  }

  function time(op) {
    if (op.time_ns === null && op.t_roof_ns > 0) return "not timed; " + format().duration(op.t_roof_ns) + " at the roof";
    var text = format().duration(op.time_ns);
    if (op.time_estimated) {
      var known = typeof op.time_ns_low === "number" && typeof op.time_ns_high === "number";
      text += " estimated" + (known ? ", " + format().duration(op.time_ns_low) + " to " + format().duration(op.time_ns_high) : "");
    }
    return text + (typeof op.share === "number" ? ", " + format().share(op.share) + " % of GPU time" : "");
  }

  function calls(op) {
    var text = format().count(op.calls);
    return typeof op.executions === "number" && op.executions !== op.calls ? text + ", " + format().count(op.executions) + " executions" : text;
  }

  function bound(op) {
    var text = class_words(op.bound);
    return op.bound_kv && op.bound_kv !== op.bound ? text + "; by its KV traffic alone " + class_words(op.bound_kv) : text;
  }

  /* ---- advice ---- */

  /* The texts of all advice that is about an operator, most saved first. */
  function advice_of(data, index) {
    return (data.advice || []).filter(function (advice) {
      return (advice.subjects || []).some(function (subject) {
        return rooftap.subjects.operators(data, advice.subject_kind, subject.index).indexOf(index) >= 0;
      });
    }).map(function (advice) { return advice.text; });
  }

  /* ---- all of it ---- */

  /* [[label, text]] of an operator. */
  function facts(data, index) {
    var op = data.operators[index];
    var device = typeof op.device === "number" ? data.devices[op.device] : null;
    var simulated = data.simulated ? "simulated " : "";
    var p50 = format().duration(op.time_p50_ns), p99 = format().duration(op.time_p99_ns);
    var kv = typeof op.intensity_kv === "number" ? "; by its KV traffic alone " + intensity(op.intensity_kv) : "";
    var rows = [
      ["shape", shape(op)],
      ["types", types(op)],
      ["calls", calls(op)],
      [simulated + "time", time(op)],
      ["p50 / p99", p50 + " / " + p99],
      ["intensity", with_unit(intensity(op.intensity), " FLOP/B") + kv],
      ["ridge", with_unit(intensity(op.ridge), " FLOP/B") + roof_name(op, device)],
      [simulated + "rate", rates(op)],
      ["of its roof", with_unit(format().share(op.roof_fraction), " %")],
      ["class", bound(op)]
    ];
    (op.flags || []).forEach(function (flag) { rows.push(["flag", FLAGS[flag] ? FLAGS[flag](op, device) : flag]); });
    if (op.gain_share !== undefined) rows.push(["to gain", with_unit(format().gain(op.gain_share), " % of busy time")]);
    rows.push(["shape from", provenance(op.shape_source)]);
    return rows;
  }

  /* One sentence for those who hear the page. */
  function spoken(data, index) {
    var op = data.operators[index];
    return [
      op.kind + " " + short_name(op), shape(op), class_words(op.bound), format().share(op.share) + " % of GPU time",
      intensity(op.intensity) + " FLOP/B", flops(op.flops_per_second), format().share(op.roof_fraction) + " % of its roof"
    ].concat((op.flags || []).map(function (flag) { return flag.replace(/_/g, " "); })).join(", ");
  }

  function advice_items(data, index) {
    var element = rooftap.draw.element;
    var advice = advice_of(data, index);
    var items = advice.slice(0, ADVICE_SHOWN).map(function (text) { return element("p", { class: "plot-advice" }, text); });
    if (advice.length > ADVICE_SHOWN) items.push(element("p", { class: "plot-more" }, "and " + (advice.length - ADVICE_SHOWN) + " more under Advice"));
    return items;
  }

  /* Into NODE. OPTIONS: twins (how many other points lie on this place), pinned, close (called by the button). */
  function fill(node, data, index, options) {
    var element = rooftap.draw.element;
    var op = data.operators[index];
    var full = rooftap.names.of(op);
    rooftap.draw.clear(node);
    var head = element("div", { class: "plot-card-head" }, [
      element("span", { class: "plot-kind", "data-bound": op.bound || "unknown" }, op.kind || "operator"),
      element("bdi", { class: "plot-name" }, short_name(op)),
      options.pinned ? element("button", { type: "button", class: "plot-close", "aria-label": "Free this point", on: { click: options.close } }, "×") : null
    ]);
    var list = element("dl", {}, []);
    facts(data, index).forEach(function (row) { list.append(element("dt", {}, row[0]), element("dd", {}, row[1])); });
    node.append(head);
    if (full !== short_name(op)) node.append(element("p", { class: "plot-full" }, rooftap.names.element(full, FULL_NAME_LETTERS)));
    node.append(list);
    advice_items(data, index).forEach(function (item) { node.append(item); });
    if (options.twins) node.append(element("p", { class: "plot-more" }, options.twins + " more here: click again for the next"));
    return node;
  }

  return { short_name: short_name, shape: shape, types: types, flops: flops, intensity: intensity, facts: facts, advice_of: advice_of, spoken: spoken, fill: fill };
})();
