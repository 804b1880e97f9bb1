/* SPDX-License-Identifier: Apache-2.0 */
/* Attention against length: from where on a causal prefill is compute-bound, how much of a prefill's FLOPs it is, and where this
 * run's lengths lie. Closed forms are classify/attention_work.h's, given as L_ridge and L*: intensity grows in proportion to
 * length, and meets the ridge at L_ridge; the share is L / (L + L*). */
"use strict";
(function (rooftap) {
  var draw = rooftap.draw, format = rooftap.format, words = rooftap.words, tabular = rooftap.tabular, curves = rooftap.curves;
  var element = draw.element, state = rooftap.state, known = format.known;
  var FROM = "attention", LENGTHS_SHOWN = 12;
  var CURVE_LEAST = 64, CURVE_MOST = 65536;

  /* ---- a geometry ---- */

  function bits(value) {
    return known(value) ? format.intensity(value).replace(/\.0$/, "") : format.UNKNOWN;
  }

  function kv_bits(row) {
    return row.k_bits === row.v_bits ? bits(row.k_bits) : bits(row.k_bits) + "/" + bits(row.v_bits);
  }

  function name_of(row, data) {
    var gpu = data.devices.length > 1 && known(row.device) ? "GPU " + row.device + ": " : "";
    var heads = known(row.n_q) && known(row.n_kv) ? words.counted(row.n_q, "query head", "query heads") + " on " +
      words.counted(row.n_kv, "KV head", "KV heads") : "heads not known";
    var roof = known(row.roof) ? data.devices[row.device].roofs[row.roof] : null;
    return gpu + heads + ", head dim " + format.text(row.d) + (known(row.d_v) && row.d_v !== row.d ? "/" + row.d_v : "") +
      ", KV in " + kv_bits(row) + " bits" + (roof ? ", " + words.path(roof) : "");
  }

  function tokens(value) {
    return known(value) ? words.counted(Math.round(value * 10) / 10, "token", "tokens") : "not known";
  }

  function share_at(row, length) {
    return known(row.l_star) ? length / (length + row.l_star) : null;
  }

  function facts(row, data) {
    return tabular.facts([
      ["g", known(row.group) ? format.count(row.group) + ": query heads that share a KV head" : null],
      ["ridge", known(row.ridge) ? format.intensity(row.ridge) + " FLOP/B" : "not known"],
      ["L_ridge", known(row.l_ridge) ? "causal prefill is compute-bound from " + tokens(row.l_ridge) + " on, by all bytes that must move, which classifies; by those of K and V alone from " +
        tokens(row.l_ridge_kv) + " on" : "not known"],
      ["L*", known(row.l_star) ? "at " + tokens(row.l_star) + " attention has as many FLOPs as the products of a layer" :
        "not known: --model or --predict tells the model, and so attention's share of a prefill"],
      ["launches", row.source === "model" ? "none was read: the geometry is the model's" : format.count(row.executions) + ", " +
        format.duration(row.time_ns) + (data.simulated ? " (simulated)" : "")]
    ]);
  }

  /* ---- curves ---- */

  function marks_of(row, value) {
    return row.lengths.filter(function (each) { return known(each.keys) && each.keys > 0 && known(value(each)) && value(each) > 0; })
      .map(function (each) { return { x: each.keys, y: value(each), shape: each.phase === "decode" ? "square" : "circle" }; });
  }

  /* Whole powers of two about all that is to be seen. */
  function x_range(row) {
    var all = [CURVE_LEAST, CURVE_MOST].concat(row.lengths.map(function (each) { return each.keys; }),
      [row.l_ridge, row.l_ridge_kv, 2 * row.l_star]).filter(function (value) { return known(value) && value > 0; });
    return [Math.pow(2, Math.floor(Math.log2(Math.min.apply(null, all)))), Math.pow(2, Math.ceil(Math.log2(Math.max.apply(null, all))))];
  }

  function intensity_at(row, key) {
    return function (length) { return row.ridge * length / row[key]; };
  }

  function intensity_chart(row) {
    var x = x_range(row), marks = marks_of(row, function (each) { return each.intensity; });
    var ys = marks.map(function (mark) { return mark.y; }).concat([row.ridge, intensity_at(row, "l_ridge")(x[0]), intensity_at(row, "l_ridge_kv")(x[1])]);
    var write = function (value) { return format.intensity(value) + " FLOP/B"; };
    return {
      title: "Intensity of causal prefill against length: at the ridge of " + format.intensity(row.ridge) + " FLOP/byte from " + tokens(row.l_ridge) + " on",
      x: x, y: [Math.pow(10, Math.floor(Math.log10(Math.min.apply(null, ys)))), Math.pow(10, Math.ceil(Math.log10(Math.max.apply(null, ys))))],
      y_log: true, y_label: "FLOP/byte", marks: marks, uprights: [{ x: row.l_ridge, text: "L_ridge " + format.intensity(row.l_ridge) }],
      curves: [
        { label: "all bytes that must move", colour: "--accent", value: intensity_at(row, "l_ridge"), write: write },
        { label: "K and V alone", colour: "--muted", dash: [6, 4], value: intensity_at(row, "l_ridge_kv"), write: write },
        { label: "ridge", colour: "--ink", dash: [2, 3], value: function () { return row.ridge; }, write: write }
      ]
    };
  }

  function share_chart(row) {
    return {
      title: "Attention's share of a prefill's FLOPs against length: half of them at " + tokens(row.l_star), x: x_range(row), y: [0, 100], y_log: false,
      y_label: "% of prefill's FLOPs", uprights: [{ x: row.l_star, text: "L* " + format.intensity(row.l_star) }],
      marks: marks_of({ lengths: row.lengths.filter(function (each) { return each.phase !== "decode"; }) },
        function (each) { return 100 * share_at(row, each.keys); }),
      curves: [{ label: "attention", colour: "--accent", value: function (length) { return 100 * share_at(row, length); },
        write: function (value) { return format.intensity(value) + " %"; } }]
    };
  }

  function marks_key(row) {
    var phases = new Set(row.lengths.map(function (each) { return each.phase === "decode"; }));
    var texts = [];
    if (phases.has(false)) texts.push("\u25cf this run's prefill, or of no known phase");
    if (phases.has(true)) texts.push("\u25a0 this run's decode: by its keys");
    return texts.length ? element("ul", { class: "key" }, texts.map(function (text) { return element("li", {}, text); })) : null;
  }

  function curve_table(row) {
    var lengths = curves.powers(x_range(row)[0], x_range(row)[1]);
    return tabular.table("Causal prefill by length", [
      { name: "Tokens" }, { name: "FLOP/B", meaning: "by all bytes that must move" }, { name: "KV-only", meaning: "by those of K and V alone" },
      { name: "Bound", kind: "left" }, { name: "% of FLOPs", meaning: "attention's share of a prefill's" }
    ], lengths.map(function (length) {
      var intensity = known(row.l_ridge) ? intensity_at(row, "l_ridge")(length) : null;
      return [format.count(length), format.intensity(intensity), format.intensity(known(row.l_ridge_kv) ? intensity_at(row, "l_ridge_kv")(length) : null),
        known(intensity) ? intensity >= row.ridge ? "compute" : "memory" : null, format.share(share_at(row, length))];
    }));
  }

  /* Shown: where there is width to draw in, so after it is in the page. */
  function show_curves(root, row) {
    var has_ridge = known(row.l_ridge) && known(row.ridge), box = element("div", { class: "curves" });
    root.append(box);
    [has_ridge ? ["Intensity of causal prefill against the ridge", intensity_chart] : null,
      known(row.l_star) ? ["Attention's share of a prefill's FLOPs", share_chart] : null].forEach(function (each) {
      if (!each || !window.uPlot) return;
      var part = element("figure", {}, element("figcaption", {}, each[0]));
      box.append(part);
      curves.show(part, each[1](row));
    });
    if (window.uPlot && has_ridge) box.after(marks_key(row) || "");
    if (!has_ridge && !known(row.l_star)) {
      root.append(element("p", { class: "note" }, "No curve: neither the ridge of this GPU nor the model's parameters are known."));
      return;
    }
    if (!window.uPlot) root.append(curve_table(row));
    else root.append(element("details", {}, [element("summary", {}, "The curves as figures"), curve_table(row)]));
  }

  /* ---- this run's lengths ---- */

  function lengths_table(row, data) {
    if (!row.lengths.length) return null;
    var shown = row.lengths.slice(0, LENGTHS_SHOWN), left = row.lengths.length - shown.length;
    var with_share = known(row.l_star);
    var table = tabular.table("Lengths of this run, longest " + words.of_model("time", data) + " first", [
      { name: "Phase", kind: "left" }, { name: "Queries" }, { name: "Keys", meaning: "<=: as many as the padded cache holds" },
      { name: "Sequences" }, { name: "Launches" }, { name: "Time" }, { name: "FLOP/B" }, { name: "KV-only", meaning: "FLOPs by the bytes of K and V alone" },
      { name: "Class", kind: "left" }
    ].concat(with_share ? [{ name: "% of FLOPs", meaning: "attention's share of a causal prefill's of that length" }] : []), shown.map(function (each) {
      return [each.phase === "unknown" ? "no phase" : each.phase, format.count(each.queries), (each.keys_at_most ? "<=" : "") + format.count(each.keys),
        format.count(each.sequences), format.count(each.executions), format.duration(each.time_ns), format.intensity(each.intensity),
        format.intensity(each.intensity_kv), each.bound].concat(with_share ? [each.phase === "decode" ? null : format.share(known(each.keys) ? share_at(row, each.keys) : null)] : []);
    }), "lengths");
    return element("div", {}, [table, left > 0 ? element("p", { class: "note" }, "and " + words.counted(left, "more length", "more lengths") +
      " for less time: `rooftap report --json` has all.") : null]);
  }

  function link_to(places, data, text) {
    var here = places.filter(function (place) { return data.operators[place]; });
    return here.length ? element("button", { type: "button", class: "link", on: { click: function () { state.select(here[0], FROM); } } }, text) : null;
  }

  function panel(row, data) {
    return element("div", {}, [facts(row, data), lengths_table(row, data), row.operators.length ? element("p", {}, link_to(row.operators, data, "Select its longest operator")) : null]);
  }

  /* ---- as products and a softmax ---- */

  function naive_row(pair, data) {
    var times = pair.times * (pair.replays || 1), device = known(pair.device) ? data.devices[pair.device] : null, base = device && device.share_base_ns;
    return [
      link_to([pair.scores, pair.output], data, format.count(pair.l_q) + " x " + format.count(pair.l_k)) || format.count(pair.l_q) + " x " + format.count(pair.l_k),
      format.count(pair.batch), pair.d === pair.d_v ? format.text(pair.d) : pair.d + "/" + pair.d_v, format.count(Math.round(times)),
      pair.softmax_seen ? "seen" : "not seen", format.intensity(pair.flops / pair.bytes), format.intensity(pair.intensity_limit),
      format.intensity(pair.intensity_fused), format.bytes(pair.bytes), format.bytes(pair.bytes_fused), format.duration(pair.saved_ns),
      format.gain(base > 0 && known(pair.saved_ns) ? pair.saved_ns / base : null)
    ];
  }

  function naive(data) {
    if (!data.naive_attention.length) return null;
    return element("div", {}, [
      element("h3", {}, "Attention as two products and a softmax"),
      element("p", {}, "The scores are written to memory, read by the softmax, written and read again. One fused kernel (FlashAttention, cuDNN's or " +
        "PyTorch's own) keeps them on the chip: it moves Q, K, V and the output alone. No mask is known of, so all scores count in both."),
      tabular.table("Each pair of products, most saved first", [
        { name: "L_q x L_k", kind: "left" }, { name: "Matrices" }, { name: "d" }, { name: "Times" }, { name: "Softmax", kind: "left", meaning: "a kernel named as one was launched between" },
        { name: "FLOP/B" }, { name: "limit", meaning: "FLOP/B that no length goes beyond" }, { name: "fused", meaning: "FLOP/B of a fused kernel" },
        { name: "moves", meaning: "each time" }, { name: "fused", meaning: "what a fused kernel would move, each time" },
        { name: "saves", meaning: "at most, at the roof, over this run" }, { name: data.verdict.by_roof ? "% of the time at the roof" : "% of " + words.of_model("busy time", data) }
      ], data.naive_attention.map(function (pair) { return naive_row(pair, data); })),
      tabular.cut_note(data, "naive_attention")
    ]);
  }

  /* ---- named only ---- */

  /* Kernels that are named as attention and whose launches were not read. */
  function named_words(data) {
    var named = data.operators.filter(function (op) { return op.kind === "attention" && !(op.launch && op.launch.attention); });
    var kernels = named.reduce(function (sum, op) { return sum + (op.kernels || 0); }, 0);
    var share = named.reduce(function (sum, op) { return sum + (op.share || 0); }, 0);
    if (!named.length) return null;
    return element("p", { class: "note" }, (kernels ? words.counted(kernels, "kernel", "kernels") : words.counted(named.length, "operator", "operators")) +
      " named as attention ran" + (share > 0 ? " (" + format.share(share) + " % of " + words.of_model("GPU time", data) + ")" : "") +
      ", whose shape is not known: no length, no intensity and no class of it.");
  }

  function start(root, data) {
    var rows = data.attention || [], named = named_words(data), pairs = naive(data);
    if (!rows.length && !named && !pairs) {
      root.closest("section").hidden = true;
      return;
    }
    if (rows.length) {
      var shown = element("div");
      var select = element("select", { on: { change: function () { show(Number(select.value)); } } }, rows.map(function (row, at) {
        return element("option", { value: at }, name_of(row, data));
      }));
      var show = function (at) {
        draw.clear(shown).append(panel(rows[at], data));
        show_curves(shown, rows[at]);
      };
      if (rows.length > 1) root.append(element("div", { class: "toolbar names" }, element("label", { class: "choice" }, ["Attention of ", select])));
      else root.append(element("h3", {}, name_of(rows[0], data)));
      root.append(shown);
      show(0);
      [tabular.cut_note(data, "attention")].forEach(function (note) { if (note) root.append(note); });
    }
    if (pairs) root.append(pairs);
    if (named) root.append(named);
  }

  rooftap.parts.push({ name: "attention", start: start });
})(window.rooftap);
