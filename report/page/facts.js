/* SPDX-License-Identifier: Apache-2.0 */
/* All that the JSON says of one operator, in words: [{title, rows: [[term, text or [text or {text, select, list}, …]]]}].
 * What is not known is left out where it is no question for this operator, else it is a dash. */
"use strict";
var rooftap = window.rooftap || {};
window.rooftap = rooftap;

rooftap.facts = (function () {
  var format = rooftap.format, words = rooftap.words, names = rooftap.names;

  /* Texts of report/meanings.c. */
  var FLAGS = {
    near_ridge: "within 10 % of the ridge, so memory or compute may be either",
    starved: "fewer thread blocks than SMs, part of the GPU has nothing to do",
    far_from_roof: "more than 3 times the roof's time",
    above_roof: "faster than the roof"
  };
  var TIME_SOURCES = {
    timed: "each execution was timed",
    sampled: "estimated from windows drawn at random",
    graph_shared: "of graphs that were timed as a whole, shared out by the roof model: no measure of single kernels",
    mixed: "some estimated from windows drawn at random, some shared out of graphs timed as a whole",
    graph: "a graph itself: what of its time is not shared out"
  };
  var READINGS = {
    not_in_table: "no row of the table of launches knows this kernel",
    other_revision: "the table of launches knows the kernel, but not with these parameters",
    no_values: "the launch carries no values of its parameters",
    refused: "a check of the reading failed",
    read: "read off its launches"
  };
  var PHASES = ["prefill", "decode", "unknown"];

  function own(table, key) {
    return Object.prototype.hasOwnProperty.call(table, key) ? table[key] : null;
  }

  function known(value) { return value !== null && value !== undefined; }

  /* Rows whose text is null are no question here. */
  function group(title, rows) {
    return { title: title, rows: rows.filter(function (row) { return row && known(row[1]) && row[1].length !== 0; }) };
  }

  function device_of(op, data) { return known(op.device) ? data.devices[op.device] || null : null; }

  function roof_of(op, data) {
    var device = device_of(op, data);
    return device && known(op.roof) ? (device.roofs || [])[op.roof] || null : null;
  }

  /* ---- what it is ---- */

  function size(value) { return known(value) ? String(value) : format.UNKNOWN; }

  function has_shape(op) { return known(op.m) || known(op.n) || known(op.k); }

  function attention_of(op) { return (op.launch && op.launch.attention) || null; }

  function matmul_of(op) { return (op.launch && op.launch.matmul) || null; }

  /* "M 1  N 4096  K 4096", as report/columns.c; of an attention queries, keys and head dimension. */
  function shape(op) {
    var attention = attention_of(op), matmul = matmul_of(op);
    if (attention)
      return "M " + size(attention.queries) + "  N " + (attention.keys_at_most ? "<=" : "") + size(attention.keys) + "  K " +
        size(attention.d) + (known(attention.d_v) && attention.d_v !== attention.d ? "/" + attention.d_v : "");
    var of = matmul || op;
    return known(of.m) || known(of.n) || known(of.k) ? "M " + size(of.m) + "  N " + size(of.n) + "  K " + size(of.k) : null;
  }

  function kind(op) {
    var what = [op.kind];
    if (op.family && op.family !== op.kind) what.push("family " + op.family);
    if (op.role) what.push(op.role);
    return what.join(", ");
  }

  function gpu(op, data) {
    if (!known(op.device)) return "one of several, not known which";
    var device = device_of(op, data);
    return op.device + (device ? ": " + names.visible(device.name) : "");
  }

  function caller_shape(op) {
    var text = shape(op);
    if (!text) return "not known";
    if (!has_shape(op)) return text;
    text += ": " + size(op.m) + " activation " + words.plural(op.m, "row", "rows") + ", " + size(op.n) + " output " +
      words.plural(op.n, "feature", "features") + ", " + size(op.k) + " input " + words.plural(op.k, "feature", "features");
    return op.batch > 1 ? text + "; " + format.count(op.batch) + " matrices" : text;
  }

  function weight(op) {
    if (!has_shape(op)) return null;
    return op.weight ? "operand " + op.weight.toUpperCase() : "none is claimed: both operands may be activations";
  }

  function cublas(op) {
    var call = op.cublas;
    return call ? "m " + size(call.m) + ", n " + size(call.n) + ", k " + size(call.k) + ", transa " + format.text(call.transa) +
      ", transb " + format.text(call.transb) : null;
  }

  function types(op) {
    var all = ["a", "b", "c", "d"].map(function (letter) { return op["type_" + letter]; });
    if (!all.some(known) && !op.type_compute) return null;
    var text = ["A", "B", "C", "D"].map(function (letter, i) { return letter + " " + format.text(all[i]); }).join(", ");
    return text + "; multiplied in " + format.text(op.type_compute);
  }

  function stored(op) {
    var launch = op.launch;
    if (!launch || !launch.weight_format) return null;
    return launch.weight_format + (known(launch.weight_bits) ? ", " + launch.weight_bits + " bits a weight with its scales" : "");
  }

  function attention(op) {
    var a = attention_of(op);
    if (!a) return null;
    var text = size(a.n_q) + " query heads on " + size(a.n_kv) + " KV heads; head dimension " + size(a.d) +
      (known(a.d_v) && a.d_v !== a.d ? ", of V " + a.d_v : "") + "; " + words.counted(a.queries, "query", "queries") + " and " +
      (a.keys_at_most ? "at most " : "") + words.counted(a.keys, "key", "keys") + " of a sequence, " +
      words.counted(a.sequences, "sequence", "sequences");
    if (a.keys_at_most) text += " (the cache is padded)";
    if (a.splits > 1) text += "; keys split over " + format.count(a.splits);
    if (a.masked) text += "; the mask stands on the device, so all pairs count";
    return text;
  }

  function attention_bits(op) {
    var a = attention_of(op);
    return a ? "Q " + size(a.q_bits) + ", K " + size(a.k_bits) + ", V " + size(a.v_bits) + ", O " + size(a.o_bits) : null;
  }

  function matmul(op) {
    var m = matmul_of(op);
    if (!m) return null;
    var text = words.counted(m.batch, "product", "products") + " a launch";
    if (m.weights > 1) text += ", each reads " + format.count(m.weights) + " matrices (a fused gate)";
    if (m.adds) text += ", a residual or bias is added";
    return text;
  }

  function experts(op) {
    var m = matmul_of(op);
    if (!m || !m.experts) return null;
    return "of a mixture: from " + format.count(m.matrices_least) + " to " + format.count(m.matrices_most) +
      " different matrices a launch; which ones stands on the device";
  }

  function blocks(op, data) {
    if (!known(op.blocks)) return null;
    var device = device_of(op, data), sms = device && device.sm_count;
    return format.count(op.blocks) + (known(sms) ? " on " + format.count(sms) + " SMs" : "");
  }

  function listed(texts, most) {
    var shown = texts.slice(0, most).map(names.visible).join(", ");
    return texts.length > most ? shown + " and " + format.count(texts.length - most) + " more" : shown;
  }

  function what(op, data) {
    return group("What it is", [
      ["kind", kind(op)],
      ["recorded as", op.name && op.name !== op.display_name ? { text: names.visible(op.name), long: true } : null],
      ["GPU", gpu(op, data)],
      ["shape", caller_shape(op)],
      ["weight", weight(op)],
      ["as cuBLAS was called", cublas(op)],
      ["types", types(op)],
      ["stored as", stored(op)],
      ["multiplied on", op.launch && op.launch.path],
      ["attention", attention(op)],
      ["bits of an element", attention_bits(op)],
      ["products", matmul(op)],
      ["experts", experts(op)],
      ["thread blocks", blocks(op, data)],
      ["model's matrices", op.model_weights ? listed(op.model_weights, 24) : null]
    ]);
  }

  /* ---- its time ---- */

  function time(op) {
    if (!known(op.time_ns)) return "not timed";
    return format.duration(op.time_ns) + (known(op.share) ? ", " + format.share(op.share) + " % of GPU time" : "");
  }

  function interval(op) {
    if (!op.time_estimated) return null;
    var range = known(op.time_ns_low) && known(op.time_ns_high)
      ? format.duration(op.time_ns_low) + " to " + format.duration(op.time_ns_high) : "not known: too few windows hold it";
    return known(op.samples) ? range + ", from " + words.counted(op.samples, "sample", "samples") : range;
  }

  /* Each only if the JSON counts it. */
  function executions(op) {
    var of = known(op.executions_all) ? " of " + format.count(op.executions_all) : "";
    if (known(op.executions)) return format.count(op.executions) + of;
    return known(op.executions_all) ? format.count(op.executions_all) + " in all" : null;
  }

  function percentiles(op) {
    if (!known(op.time_p50_ns)) return null;
    var text = "half within " + format.duration(op.time_p50_ns) + ", 99 % within " + format.duration(op.time_p99_ns);
    return known(op.time_percentile_error) ? text + " (\u00b1 " + format.share(op.time_percentile_error) + " %)" : text;
  }

  function phases(op) {
    var calls = op.phase_calls;
    if (!calls) return null;
    var parts = PHASES.filter(function (phase) { return calls[phase] > 0; }).map(function (phase) {
      return format.count(calls[phase]) + (phase === "unknown" ? " in a phase not known" : " in " + phase);
    });
    return parts.length ? parts.join(", ") : null;
  }

  function helpers(op) {
    return (op.helpers || []).map(function (helper) {
      return {
        text: (helper.name ? names.visible(helper.name) : "a kernel without a name") + ": " +
          words.counted(helper.kernels, "kernel", "kernels") + ", " + format.duration(helper.time_ns), long: true
      };
    });
  }

  function timing(op, data) {
    return group("Time" + (data.simulated ? " (simulated)" : ""), [
      ["time", time(op)],
      ["95 % confidence", interval(op)],
      ["how it was timed", op.time_source ? own(TIME_SOURCES, op.time_source) || op.time_source : null],
      ["calls", known(op.calls) ? format.count(op.calls) : "nobody saw its launches"],
      ["executions with a time", executions(op)],
      ["kernels", known(op.kernels) ? format.count(op.kernels) : null],
      ["timed one by one", known(op.kernels_timed) && op.time_source !== "timed"
        ? words.counted(op.kernels_timed, "kernel", "kernels") + ", " + format.duration(op.time_timed_ns) : null],
      ["shared out of graphs", op.time_shared_ns > 0 ? format.duration(op.time_shared_ns) : null],
      [known(op.executions) ? "one execution" : "one kernel", percentiles(op)],
      ["phases", phases(op)],
      ["helpers, in its time", helpers(op)]
    ]);
  }

  /* ---- the roofline ---- */

  /* Why it has its class. */
  function bound(op) {
    var i = format.intensity(op.intensity) + " FLOP/B", ridge = format.intensity(op.ridge);
    switch (op.bound) {
    case "memory":
      return "memory-bound: " + i + (known(op.ridge) ? " is below the ridge of " + ridge
        : " is below any ridge that this path can have");
    case "compute":
      return "compute-bound: " + i + " is above the ridge of " + ridge;
    case "overhead":
      return "overhead: the kernel takes about as long as one that does nothing";
    default:
      return "no class: " + (known(op.intensity) ? "the roof is not known" : "its work is not known");
    }
  }

  function kv_bound(op) {
    if (!known(op.intensity_kv)) return null;
    return format.intensity(op.intensity_kv) + " FLOP/B" + (op.bound_kv ? ": " + op.bound_kv + "-bound by that" : "");
  }

  function m_star(op, data) {
    if (known(op.m_star)) return "compute-bound from M " + format.intensity(op.m_star) + " on";
    if (!has_shape(op) || !known(op.ridge)) return null;
    var place = data.operators.indexOf(op);
    var weight = (data.weights || []).find(function (one) { return one.operators.indexOf(place) >= 0; });
    if (!weight || weight.m_star_never !== true) return "no M makes it compute-bound, or it is not known";
    return "no M makes it compute-bound: N and K cap it at " + format.intensity(weight.intensity_limit) + " FLOP/B";
  }

  function flops(value) {
    var units = ["FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP"], unit = 0;
    for (; unit + 1 < units.length && value >= 999.95; unit++) value /= 1000;
    return (unit ? format.intensity(value) : format.count(Math.round(value))) + " " + units[unit];
  }

  function work(op) {
    if (!known(op.flops)) return null;
    var least = known(op.bytes_least) && op.bytes_least !== op.bytes ? format.bytes(op.bytes_least) + " to " : "";
    return flops(op.flops) + ", " + least + format.bytes(op.bytes);
  }

  /* "131.2 TFLOP/s: 79.4 % of the specification, 90.5 % of what is achievable" */
  function against(value, figure, unit, roofs) {
    if (!known(value)) return null;
    var parts = roofs.filter(function (roof) { return roof[0] > 0; }).map(function (roof) {
      return format.gain(value / roof[0]) + " % of " + roof[1] + " (" + figure(roof[0]) + ")";
    });
    return figure(value) + " " + unit + (parts.length ? ": " + parts.join(", ") : "");
  }

  function achieved_flops(op, roof) {
    return against(op.flops_per_second, format.tera, "TFLOP/s", roof ? [
      [roof.flops_per_second, "the specification"], [roof.achievable_flops_per_second, "what is achievable"],
      [roof.held_clock_flops_per_second, "the peak at the held clock"]] : []);
  }

  function achieved_bytes(op, roof) {
    return against(op.bytes_per_second, format.giga, "GB/s", roof ? [
      [roof.bytes_per_second, "the specification"], [roof.achievable_bytes_per_second, "what is achievable"]] : []);
  }

  function roof_time(op) {
    if (!known(op.t_roof_ns)) return null;
    return format.duration(op.t_roof_ns) +
      (known(op.roof_fraction) ? ": it is at " + format.share(op.roof_fraction) + " % of the roof" : "");
  }

  function gain(op) {
    if (!known(op.gain_ns)) return null;
    return "at most " + format.duration(op.gain_ns) +
      (known(op.gain_share) ? ", " + format.gain(op.gain_share) + " % of busy time" : "") + ", at the roof";
  }

  function above_roof(op, data) {
    var device = device_of(op, data), l2 = device && device.identity && device.identity.l2_bytes;
    var text = own(words.ABOVE_ROOF, op.above_roof_reason) || op.above_roof_reason;
    return op.above_roof_reason === "fits_in_l2" && known(l2) ? text + " (" + format.gibibytes(l2) + ")" : text;
  }

  function flags(op, data) {
    return (op.flags || []).map(function (flag) {
      var reason = flag === "above_roof" && above_roof(op, data);
      return { text: flag + ": " + (own(FLAGS, flag) || "not known to this page") + (reason ? ": " + reason : "") };
    });
  }

  function roofline(op, data) {
    var roof = roof_of(op, data);
    return group("On the roofline" + (data.simulated ? " (simulated)" : ""), [
      ["class", bound(op)],
      ["FLOP per byte", known(op.intensity)
        ? (op.shape_source === "at_most" ? "at least " : "") + format.intensity(op.intensity) : null],
      ["by the KV cache alone", kv_bound(op)],
      ["roof", roof ? words.path(roof) + ": " + format.tera(roof.flops_per_second) + " TFLOP/s, " +
        format.giga(roof.bytes_per_second) + " GB/s, ridge " + format.intensity(roof.ridge) + " FLOP/B" : null],
      ["M*", m_star(op, data)],
      ["work", work(op)],
      ["at the roof", roof_time(op)],
      ["achieved", achieved_flops(op, roof)],
      ["achieved bandwidth", achieved_bytes(op, roof)],
      ["bandwidth its blocks draw", known(op.bandwidth_fill) ? format.share(op.bandwidth_fill) + " %, as calibrated" : null],
      ["gain", gain(op)],
      ["flags", flags(op, data)]
    ]);
  }

  /* ---- where it is from ---- */

  function shape_source(op) {
    var row = words.SHAPES.filter(function (one) { return one.key === op.shape_source; })[0];
    return row ? row.name + ": " + row.meaning : format.text(op.shape_source);
  }

  function provenance(op) {
    var launch = op.launch, row = launch && launch.row;
    return group("Where that is from", [
      ["shape", shape_source(op)],
      ["launches", launch
        ? (own(READINGS, launch.reading) || launch.reading) + (launch.problem ? ": " + launch.problem : "") : null],
      ["row of the table of launches", row ? row.place : null],
      ["its source", row ? row.source : null],
      ["releases", row ? format.text(row.version) : null]
    ]);
  }

  /* ---- what else speaks of it ---- */

  function advice(index, data) {
    var rows = [];
    (data.advice || []).forEach(function (one) {
      one.subjects.forEach(function (subject) {
        if (rooftap.subjects.operators(data, one.subject_kind, subject.index).indexOf(index) < 0) return;
        rows.push([one.id, [one.text, subject.text + "; at most " + format.duration(subject.saved_ns)]]);
      });
    });
    return group("Advice", rows);
  }

  function siblings(index, data) {
    return group("Reads one activation with", (data.sibling_groups || []).filter(function (one) {
      return one.operators.indexOf(index) >= 0;
    }).map(function (one) {
      var parts = one.operators.map(function (place) {
        var op = data.operators[place];
        return op ? { text: "N " + size(op.n), select: place === index ? null : place }
          : "row " + format.count(place + 1) + ", not in this file";
      });
      return ["M " + one.m + "  K " + one.k, parts.concat(["so could be one of N " + one.n_fused + ": " + format.count(one.times) +
        " times, " + format.intensity(one.intensity) + " -> " + format.intensity(one.intensity_fused) + " FLOP/B, at most " +
        format.duration(one.saved_ns) + " less in all"])];
    }));
  }

  return {
    shape: shape,
    /* One line for a live region or a link: "gemm M 1  N 4096  K 4096", or the kernel's name. */
    label: function (op) {
      var text = shape(op);
      return text ? op.kind + " " + text : names.cut(names.of(op), 80);
    },
    of: function (index, data) {
      var op = data.operators[index];
      return [what(op, data), timing(op, data), roofline(op, data), advice(index, data), siblings(index, data), provenance(op)]
        .filter(function (one) { return one.rows.length > 0; });
    }
  };
})();
