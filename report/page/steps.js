/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of prefill and decode: how many, of how many tokens, at which intensity; and with how many rows products were called,
 * as bars of a table, so that it needs no second form for those who don't see bars. */
"use strict";
(function (rooftap) {
  var draw = rooftap.draw, format = rooftap.format, words = rooftap.words, tabular = rooftap.tabular;
  var element = draw.element, percent = tabular.percent;
  var PHASES = [
    { key: "prefill", name: "prefill", meaning: "steps that take a prompt in, many rows at once" },
    { key: "decode", name: "decode", meaning: "steps that give out tokens, one row of each sequence" },
    { key: "unknown", name: "no phase", meaning: "in no step, or in one of which it can't be told" }
  ];

  function swatch(phase) {
    return element("span", { class: "swatch fill-" + phase.key + "-phase", "aria-hidden": "true" });
  }

  /* ---- steps ---- */

  function rows_per_step(value) {
    if (!(value > 0)) return format.UNKNOWN;
    return value === Math.floor(value) ? format.count(value) : format.intensity(value);
  }

  var STEP_COLUMNS = [
    { name: "Phase", kind: "left" },
    { name: "Steps", meaning: "passes over the weights, of all threads and processes" },
    { name: "Tokens a step", meaning: "rows: tokens of all sequences of a step" },
    { name: "FLOP/B", meaning: "all FLOPs by all bytes, of operators with known work" },
    { name: "GPU time" },
    { name: "% of it", meaning: "of all operators, those without a work model too" },
    { name: "% with known work", meaning: "share of the GPU time that is of operators with known work" }
  ];

  function phase_cells(name, sum) {
    return [name, format.count(sum.steps), rows_per_step(sum.rows_per_step), format.intensity(sum.intensity),
      format.duration(sum.gpu_time_ns), format.share(sum.gpu_share), format.share(sum.share)];
  }

  function phase_table(data) {
    var shown = PHASES.filter(function (phase) {
      var sum = data.phases[phase.key];
      return sum.steps > 0 || sum.gpu_time_ns > 0 || format.known(sum.intensity);
    });
    return tabular.table(data.simulated ? "Steps; times are simulated" : "Steps", STEP_COLUMNS, shown.map(function (phase) {
      return phase_cells([swatch(phase), " ", element("abbr", { title: phase.meaning }, phase.name)], data.phases[phase.key]);
    }).concat([phase_cells("all together", data.step)]), "sums");
  }

  function told_apart(data) {
    return data.phases.prefill.steps + data.phases.decode.steps > 0;
  }

  /* What a reader would otherwise look for in vain. */
  function step_notes(data) {
    var unknown = data.phases.unknown, notes = [];
    if (!told_apart(data) && unknown.steps > 0)
      notes.push(words.counted(unknown.steps, "step was seen, of which", "steps were seen, of which") +
        " it can't be told whether they are prefill or decode.");
    else if (!told_apart(data))
      notes.push("No step was told apart: a step is a thread's pass over its weights, and none was seen.");
    if (data.coverage.sequences_dropped > 0)
      notes.push(words.counted(data.coverage.sequences_dropped, "call or launch is", "calls and launches are") +
        " of more sequences than are told apart, and so in no step.");
    return notes.map(function (text) { return element("p", { class: "note" }, text); });
  }

  /* ---- M ---- */

  /* [{least, most, prefill, decode, unknown}], without gaps: an empty bin between two others is one. */
  function bins_of(data) {
    var by_least = new Map(), exponents = [];
    PHASES.forEach(function (phase) {
      (data.phases[phase.key].m_bins || []).forEach(function (bin) {
        if (!by_least.has(bin.m_least)) by_least.set(bin.m_least, { least: bin.m_least, most: bin.m_most });
        by_least.get(bin.m_least)[phase.key] = bin;
        exponents.push(Math.round(Math.log2(bin.m_least)));
      });
    });
    var bins = [], last = Math.max.apply(null, exponents);
    for (var at = Math.min.apply(null, exponents); exponents.length && at <= last; at++)
      bins.push(by_least.get(Math.pow(2, at)) || { least: Math.pow(2, at), most: Math.pow(2, at + 1) - 1 });
    return bins;
  }

  function value_of(bin, phase, what) {
    return bin[phase.key] ? bin[phase.key][what] : 0;
  }

  function sum_of(bin, phases, what) {
    return phases.reduce(function (sum, phase) { return sum + (value_of(bin, phase, what) || 0); }, 0);
  }

  function range(bin) {
    return format.count(bin.least) + (bin.most > bin.least ? " to " + format.count(bin.most) : "");
  }

  function bin_bar(bin, phases, what, most) {
    return element("div", { class: "bar open", "aria-hidden": "true" }, phases.filter(function (phase) {
      return value_of(bin, phase, what) > 0;
    }).map(function (phase) {
      var part = element("span", { class: "fill-" + phase.key + "-phase" });
      part.style.width = 100 * value_of(bin, phase, what) / most + "%";
      return part;
    }));
  }

  function written(value, what) {
    return what === "time_ns" ? format.duration(value) : format.count(value);
  }

  /* Of all rows that are nothing but unknown, "-"; what has none is 0. */
  function bin_row(bin, phases, what, most, total) {
    var sum = sum_of(bin, phases, what);
    var unknown = phases.some(function (phase) { return bin[phase.key] && !format.known(bin[phase.key][what]); });
    return element("tr", {}, [
      element("th", { scope: "row" }, range(bin)),
      element("td", { class: "bar-cell" }, bin_bar(bin, phases, what, most))
    ].concat(phases.map(function (phase) {
      return element("td", {}, bin[phase.key] ? written(bin[phase.key][what], what) : "");
    })).concat(element("td", {}, unknown && !sum ? format.UNKNOWN : sum ? format.share(sum / total) : "")));
  }

  function draw_bins(table, data, bins, phases, what) {
    var sums = bins.map(function (bin) { return sum_of(bin, phases, what); });
    var most = Math.max.apply(null, sums), total = sums.reduce(function (all, sum) { return all + sum; }, 0);
    var unit = what === "time_ns" ? words.of_model("time", data) : "executions";
    draw.clear(table).append(
      element("caption", {}, "M (rows of the activation) of products of one weight, by " + unit),
      tabular.head([{ name: "M", meaning: "rows of the activation, in powers of two" },
        { name: element("span", { class: "visually-hidden" }, "bar") }].concat(phases.map(function (phase) {
          return { name: [swatch(phase), " " + phase.name], meaning: phase.meaning };
        })).concat([{ name: "%", meaning: "of all " + unit }])),
      element("tbody", {}, bins.map(function (bin) { return bin_row(bin, phases, what, most, total); })));
  }

  function choice(name, value, text, checked, chosen) {
    return element("label", {}, [element("input", { type: "radio", name: name, value: value, checked: checked, on: { change: chosen } }), text]);
  }

  function histogram(data) {
    var bins = bins_of(data);
    var phases = PHASES.filter(function (phase) { return (data.phases[phase.key].m_bins || []).length; });
    if (!bins.length) return element("p", { class: "note" }, "No product of one weight with a known M ran, so there is no distribution of M.");
    var timed = bins.some(function (bin) { return sum_of(bin, phases, "time_ns") > 0; });
    var table = element("table", { class: "histogram" }), first = timed ? "time_ns" : "executions";
    var chosen = function (event) { draw_bins(table, data, bins, phases, event.target.value); };
    draw_bins(table, data, bins, phases, first);
    return element("div", {}, [
      timed ? element("div", { class: "toolbar" }, element("fieldset", {}, [
        element("legend", {}, "Bars by"), choice("m-by", "time_ns", words.of_model("time", data), true, chosen),
        choice("m-by", "executions", "executions", false, chosen)
      ])) : null,
      element("div", { class: "scroll" }, table)
    ]);
  }

  function start(root, data) {
    if (!format.known(data.step.intensity) && !bins_of(data).length) {
      root.closest("section").hidden = true;
      return;
    }
    root.append(element("div", { class: "pair" }, [
      element("div", {}, [element("h3", {}, "Phases"), phase_table(data)].concat(step_notes(data))),
      element("div", {}, [element("h3", {}, "How many rows at once"), histogram(data)])
    ]));
  }

  rooftap.parts.push({ name: "steps", start: start });
})(window.rooftap);
