/* SPDX-License-Identifier: Apache-2.0 */
/* The first screen: what went wrong, on which GPU, where the time went, how much of it is understood, and whether the GPU
 * was busy. */
"use strict";
(function (rooftap) {
  var format = rooftap.format, words = rooftap.words, gpus = rooftap.gpus, tabular = rooftap.tabular;
  var element = rooftap.draw.element, percent = tabular.percent, list = tabular.list;
  var GPUS_SHOWN = 8, LOUD_FROM = 0.01, LOSSES_SHOWN = 4;

  /* Caveats that change how the figures read, so they stand above them; the others are among the assumptions. */
  var LOUD = ["no_records", "untimed", "sampled", "graph_times", "no_roof", "estimated", "hidden_shapes", "held_clock", "running"];

  /* ---- bars ---- */

  /* PARTS: {key, name, share, meaning, value}. A name that has no room in its part (page.css) stands in the key only. */
  function bar(parts, slim) {
    return element("div", { class: slim ? "bar slim" : "bar", "aria-hidden": "true" }, parts.filter(function (part) {
      return part.share > 0;
    }).map(function (part) {
      var span = element("span", { class: "fill-" + part.key, title: part.name + " " + percent(part.share) }, slim ? "" : part.name);
      span.style.width = 100 * part.share + "%";
      return span;
    }));
  }

  function key(parts) {
    return element("ul", { class: "key" }, parts.filter(function (part) { return part.share > 0; }).map(function (part) {
      return element("li", {}, [
        element("span", { class: "swatch fill-" + part.key, "aria-hidden": "true" }),
        element("span", {}, [
          part.meaning ? element("abbr", { title: part.meaning }, part.name) : part.name,
          " " + (part.value ? part.value + ", " : "") + percent(part.share)
        ])
      ]);
    }));
  }

  function bar_group(title, note, parts) {
    return element("div", { class: "bar-group" }, [
      element("p", { class: "bar-title" }, [element("span", {}, title), note ? element("span", { class: "note" }, note) : null]),
      bar(parts), key(parts)
    ]);
  }

  /* ---- warnings ---- */

  /* The largest of them in words; all are among the provenance. */
  function loss_words(losses) {
    var shown = losses.slice().sort(function (one, other) { return other.count - one.count; }).slice(0, LOSSES_SHOWN);
    return shown.map(function (loss) { return loss.text; }).join("; ") +
      (losses.length > shown.length ? "; and " + (losses.length - shown.length) + " more (see Provenance)" : "");
  }

  /* {text, loud}: what makes figures too low comes first, and is loud where it is much, or where it is not known how much. */
  function loss_notice(data) {
    var losses = words.losses(data), share = words.lost_share(data);
    var too_low = losses.filter(function (loss) { return loss.too_low; });
    if (!losses.length) return null;
    if (!too_low.length) return { text: loss_words(losses), loud: false };
    return {
      text: "something of the recording is lost, so counts and times are too low: " + loss_words(too_low) +
        (share > 0 ? " (" + percent(share) + " of what there was to time)" : ""),
      loud: !format.known(share) || share >= LOUD_FROM || data.coverage.drops_untold > 0
    };
  }

  function caveats(data) {
    return data.caveats.filter(function (caveat) { return LOUD.indexOf(caveat.id) >= 0; }).map(function (caveat) { return caveat.text; });
  }

  /* ---- GPUs ---- */

  function identity_of(device) {
    return JSON.stringify([device.name, device.spec, device.sm_count, device.pci_device_id, device.mig, device.identity,
      gpus.roofs_in_use(device).map(function (roof) { return [words.path(roof), roof.flops_per_second, roof.achievable_flops_per_second]; })]);
  }

  function facts_of(device) {
    var bandwidth = device.roofs && device.roofs.length ? device.roofs[0].bytes_per_second : null;
    return [
      device.sm_count > 0 ? device.sm_count + " SMs" : null,
      format.known(bandwidth) ? format.giga(bandwidth) + " GB/s" : null,
      gpus.pci_id(device) ? "PCI id " + gpus.pci_id(device) : null,
      device.mig ? "MIG instance" + (device.identity.mig_profile ? " " + device.identity.mig_profile : "") : null
    ].filter(Boolean).join(", ");
  }

  var ROOF_COLUMNS = [
    { name: "Roof", meaning: "what multiplies, and in what it adds up", kind: "left" },
    { name: "Peak", meaning: "the specification's, dense: it alone classifies" },
    { name: "Ridge, FLOP/B", meaning: "FLOP per byte from which on the arithmetic takes longer than the memory" },
    { name: "Achievable", meaning: "what a library was measured to reach, on this GPU or as published" },
    { name: "Held clock", meaning: "the peak at the SM clock that was held during this run" }
  ];

  function roof_cells(roof) {
    return [words.path(roof), format.known(roof.flops_per_second) ? format.tera(roof.flops_per_second) : "not published",
      format.intensity(roof.ridge),
      format.known(roof.achievable_flops_per_second)
        ? format.tera(roof.achievable_flops_per_second) + " " + format.text(roof.achievable_flops_origin) : null,
      format.tera(roof.held_clock_flops_per_second)];
  }

  /* One line for all GPUs that say the same. */
  function clock_lines(data, group) {
    var by_text = new Map();
    group.devices.forEach(function (index) {
      var text = gpus.clock_text(data.devices[index].clocks) || "No reading of the clocks under load: which clock was held is not known.";
      if (!by_text.has(text)) by_text.set(text, []);
      by_text.get(text).push(index);
    });
    return Array.from(by_text, function (entry) {
      var clocks = data.devices[entry[1][0]].clocks, one = by_text.size === 1;
      return element("p", { class: clocks && gpus.is_held_back(clocks) ? "problem" : "note" }, (one ? "" : gpus.places(entry[1]) + ": ") + entry[0]);
    }).slice(0, GPUS_SHOWN);
  }

  function gpu_card(data, group) {
    var device = group.first, roofs = gpus.roofs_in_use(device);
    var parts = [element("h3", {}, gpus.places(group.devices) + ": " + format.text(device.name)),
      element("p", { class: "muted" }, facts_of(device) || "The trace does not describe it.")];
    if (!device.spec)
      parts.push(element("p", { class: "problem" }, ["No row in the GPU table: no roof, ridge or class. Its figures can be given by ",
        element("code", {}, "--peak " + group.devices[0] + ":bf16=TFLOP/s,bw=GB/s"), "."]));
    else if (roofs.length) parts.push(tabular.table("Roofs used in this run, TFLOP/s", ROOF_COLUMNS, roofs.map(roof_cells)));
    else parts.push(element("p", { class: "note" }, "No operator of known shape ran on it, so none of its roofs was used."));
    (device.identity && device.identity.checks && !device.simulated ? device.identity.checks : []).forEach(function (check) {
      parts.push(element("p", { class: check.contradiction ? "problem" : "note" }, check.text));
    });
    return element("div", { class: "card gpu" }, parts.concat(device.spec ? clock_lines(data, group) : []));
  }

  function gpu_cards(data) {
    if (!data.devices.length)
      return [element("div", { class: "card gpu" }, [element("h3", {}, "GPU"),
        element("p", {}, "None described by the traces: no roof, no ridge, every class unknown.")])];
    return gpus.groups(data, identity_of).map(function (group) { return gpu_card(data, group); });
  }

  /* ---- time ---- */

  /* Only where all operators are here: of a part of them it would be another number. */
  function roof_fraction(data) {
    var roof = 0, time = 0;
    if (data.cut && data.cut.operators) return null;
    data.operators.forEach(function (op) {
      if (!(op.time_ns > 0) || !(op.kernels > 0) || !format.known(op.roof_fraction)) return;
      roof += op.roof_fraction * op.time_ns;
      time += op.time_ns;
    });
    if (!(time > 0)) return null;
    return { share: roof / time, all: time > 0.9995 * data.coverage.gpu_time_ns };
  }

  function class_parts(share_of, value_of) {
    return words.CLASSES.map(function (one) {
      return { key: one.key, name: one.name, meaning: one.meaning, share: share_of(one.key), value: value_of(one.key) };
    });
  }

  /* Where nothing was timed, the time at the roof stands for it, as in the verdict. */
  function class_bar(data) {
    var total = data.coverage.gpu_time_ns, sums = data.time_by_bound, verdict = data.verdict;
    if (total > 0)
      return bar_group(format.duration(total) + " of " + words.of_model("GPU time in kernels", data), null, class_parts(
        function (key) { return sums[key] / total; }, function (key) { return format.duration(sums[key]); }));
    if (verdict.by_roof && words.CLASSES.some(function (one) { return verdict.share[one.key] > 0; }))
      return bar_group("nothing was timed: of the time at the roof", null, class_parts(
        function (key) { return verdict.share[key]; }, function () { return null; }));
    return element("p", {}, "Nothing was timed: where the time went is not known.");
  }

  function class_card(data) {
    return element("div", { class: "card" }, [element("h3", {}, "Time by class"), class_bar(data)]);
  }

  function shares(share) {
    return words.SHAPES.map(function (source) {
      return { key: source.key, name: source.name, meaning: source.meaning, share: share[source.key] };
    });
  }

  function is_known(share) {
    return words.SHAPES.some(function (source) { return format.known(share[source.key]); });
  }

  /* Kernels with a time, and those without. */
  function timed_parts(coverage) {
    var all = coverage.kernels + coverage.kernels_untimed;
    return [
      { key: "timed", name: "timed", share: coverage.kernels / all, value: format.count(coverage.kernels) },
      { key: "untimed", name: "untimed", share: coverage.kernels_untimed / all, value: format.count(coverage.kernels_untimed) }
    ];
  }

  /* Of graph replays, whose kernels are more than the calls and launches that were captured. */
  function replayed(data) {
    return data.processes.reduce(function (sum, process) { return sum + (process.graph_replays ? process.graph_replays.kernels_timed || 0 : 0); }, 0);
  }

  function timed_words(data) {
    var coverage = data.coverage, of_graphs = replayed(data);
    if (!format.known(coverage.kernels)) return "no kernel timed";
    return (coverage.kernels > 0 && !coverage.kernels_untimed && !coverage.executions_without_time ? "all " : "") + words.counted(coverage.kernels, "kernel", "kernels") + " timed" +
      (of_graphs ? ", " + format.count(of_graphs) + " of them in replays of graphs" : "");
  }

  function coverage_card(data) {
    var c = data.coverage, parts = [element("h3", {}, "Coverage: where shapes are from")];
    if (is_known(c.gpu_time_share))
      parts.push(bar_group("by " + words.of_model("GPU time", data), "other kernels count as name only", shares(c.gpu_time_share)));
    if (is_known(c.launch_share))
      parts.push(bar_group("by GEMM and attention launches", null, shares(c.launch_share)));
    if (c.kernels_untimed > 0) parts.push(bar_group("by whether kernels were timed", null, timed_parts(c)));
    parts.push(element("p", { class: "note" }, words.counted(c.calls, "library call", "library calls") + ", " +
      words.counted(c.launches, "kernel launch", "kernel launches") + " besides, " + timed_words(data) +
      (format.known(c.executions_without_time) && c.executions_without_time > 0
        ? ", " + words.counted(c.executions_without_time, "execution", "executions") + " without a time" : "")));
    return element("div", { class: "card" }, parts);
  }

  /* ---- busy and idle ---- */

  function activity_of(device) {
    var time = device.time, span = time ? time.span_ns : null;
    if (!time || !format.known(time.busy_ns)) return null;
    if (!(span > 0)) return { time: time, parts: [] };
    var of_span = function (ns) { return format.known(ns) ? ns / span : null; };
    if (!format.known(time.compute_ns))
      return { time: time, parts: [{ key: "busy", name: "busy", share: of_span(time.busy_ns) }, { key: "idle", name: "idle", share: of_span(time.gap_ns) }] };
    return { time: time, parts: [
      { key: "run", name: "compute", share: of_span(time.compute_ns) },
      { key: "communication", name: "communication", share: of_span(time.communication_ns) },
      { key: "copies", name: "copies", share: of_span(time.copy_ns) },
      { key: "idle", name: "idle", share: of_span(time.gap_ns) }
    ] };
  }

  var ACTIVITY = [["compute", "some kernel that is no communication ran"], ["communication", "kernels of communication ran, and no compute"],
    ["copies", "copies or memsets ran, and no kernel"], ["busy", "something ran; what is not known"], ["idle", "nothing ran"]];

  function share_of(activity, name) {
    var found = (activity ? activity.parts : []).filter(function (part) { return part.name === name; })[0];
    return found ? found.share : null;
  }

  /* What no GPU did has no column; idle always has one. */
  function columns_of(data) {
    return ACTIVITY.filter(function (column) {
      return column[0] === "idle" || data.devices.some(function (device) { return share_of(activity_of(device), column[0]) > 0; });
    });
  }

  function activity_row(data, index, columns) {
    var activity = activity_of(data.devices[index]);
    var name = element("th", { scope: "row", class: "left" }, "GPU " + index);
    var whole = function (text) { return element("tr", {}, [name, element("td", { class: "left", colspan: columns.length + 3 }, text)]); };
    if (!activity) return whole("busy and idle time not known: nothing was timed");
    if (!activity.parts.length)
      return whole("busy " + format.duration(activity.time.busy_ns) + "; how long it was timed is not known, so neither is its idle time");
    return element("tr", {}, [name, element("td", { class: "bar-cell" }, bar(activity.parts, true))]
      .concat(columns.map(function (column) { return element("td", {}, percent(share_of(activity, column[0]))); }))
      .concat([element("td", {}, format.duration(activity.time.busy_ns)), element("td", {}, format.duration(activity.time.span_ns))]));
  }

  function activity_table(data, indexes) {
    var columns = columns_of(data);
    var head = [{ name: "GPU", kind: "left" }, { name: element("span", { class: "visually-hidden" }, "bar") }].concat(columns.map(function (column) {
      return { name: [element("span", { class: "swatch fill-" + (column[0] === "compute" ? "run" : column[0]), "aria-hidden": "true" }), " " + column[0]],
        meaning: column[1] };
    })).concat([{ name: "busy time", meaning: "what is not idle" },
      { name: "span", meaning: "from the first start to the last end, while it was timed" }]);
    return element("div", { class: "scroll" }, element("table", { class: "wide activity", "aria-label": "Busy and idle" }, [
      tabular.head(head),
      element("tbody", {}, indexes.map(function (index) { return activity_row(data, index, columns); }))
    ]));
  }

  function activity_card(data) {
    var indexes = data.devices.map(function (device, index) { return index; });
    if (!indexes.length) return null;
    if (!data.devices.some(activity_of))
      return element("div", { class: "card" }, [element("h3", {}, "Busy and idle"), element("p", {}, "Not known: nothing was timed.")]);
    var in_windows = data.devices.some(function (device) { return device.time && device.time.in_windows; });
    return element("div", { class: "card" }, [
      element("h3", {}, ["Busy and idle", data.simulated ? element("span", { class: "note" }, " busy: simulated; idle: this host's") : null]),
      activity_table(data, indexes.slice(0, GPUS_SHOWN)),
      indexes.length > GPUS_SHOWN ? element("details", {}, [
        element("summary", {}, indexes.length - GPUS_SHOWN + " more GPUs"), activity_table(data, indexes.slice(GPUS_SHOWN))
      ]) : null,
      in_windows ? element("p", { class: "note" }, "Only the windows in which kernels were timed count.") : null
    ]);
  }

  /* ---- the whole ---- */

  function figure(name, value, note) {
    return value === format.UNKNOWN ? null : element("div", {}, [element("dt", {}, name),
      element("dd", {}, [value, note ? element("span", { class: "note" }, " " + note) : null])]);
  }

  function figures(data) {
    var c = data.coverage, fraction = roof_fraction(data), step = data.step;
    return element("dl", { class: "figures" }, [
      figure(words.of_model("GPU time in kernels", data), format.duration(c.gpu_time_ns)),
      fraction ? figure((fraction.all ? "of the roof, over all" : "of the roof, of what has one") + (data.simulated ? " (simulated)" : ""), percent(fraction.share)) : null,
      figure("FLOP/B of all known work", format.intensity(step.intensity)),
      figure("library calls", format.count(c.calls)),
      figure("kernels timed", format.count(c.kernels)),
      data.phases.prefill.steps ? figure("prefill steps", format.count(data.phases.prefill.steps)) : null,
      data.phases.decode.steps ? figure("decode steps", format.count(data.phases.decode.steps)) : null
    ]);
  }

  function warn(root, texts, class_name) {
    var warnings = list(texts, class_name);
    if (warnings) root.append(warnings);
  }

  /* One kind of GPU stands above the coverage; several have a row of their own. */
  function append_cards(root, data) {
    var cards = gpu_cards(data), several = cards.length > 1;
    if (several) root.append(element("div", { class: "cards gpus" }, cards));
    root.append(element("div", { class: "cards" }, [
      element("div", {}, (several ? [] : cards).concat(coverage_card(data))), element("div", {}, [class_card(data), activity_card(data)])
    ]));
  }

  function start(root, data) {
    if (data.session.no_launch_reason) {
      warn(root, data.problems, "problems");
      if (data.devices.length) root.append(element("div", { class: "cards gpus" }, gpu_cards(data)));
      return; /* why nothing was recorded stands above: the report wrote it */
    }
    var losses = loss_notice(data);
    warn(root, data.problems.concat(caveats(data), losses && losses.loud ? [losses.text] : []), "problems");
    warn(root, losses && !losses.loud ? [losses.text] : [], "quiet");
    root.append(figures(data));
    append_cards(root, data);
  }

  rooftap.parts.push({ name: "overview", start: start });
})(window.rooftap);
