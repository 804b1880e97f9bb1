/* SPDX-License-Identifier: Apache-2.0 */
/* What was recorded of each process: how it was timed, what that cost, what is missing, what the library in it had to say.
 * Groups for provenance.js: {title, note, open, body}. */
"use strict";
var rooftap = window.rooftap || {};
window.rooftap = rooftap;

rooftap.processes = (function () {
  var format = rooftap.format, words = rooftap.words, tabular = rooftap.tabular;
  var element = rooftap.draw.element;

  var LEVELS = ["nothing", "timing was sampled", "timing was ended", "timing and parameters were ended"];
  var UNSEEN = {
    built_in: "no cuBLAS is loaded: it is linked statically, or the kernels are the program's own",
    bound_past: "nothing was called of a cuBLAS that is loaded: it was opened past rooftap",
    not_known: "why is not known"
  };

  function own(table, key) {
    return Object.prototype.hasOwnProperty.call(table, key) ? table[key] : null;
  }

  function pid_of(process) {
    return process.pid >= 0 && format.known(process.pid) ? String(process.pid) : format.text(process.trace);
  }

  /* ---- what ran ---- */

  var PROCESSES = [
    { name: "Process", kind: "left" }, { name: "Command", kind: "text long" }, { name: "End", kind: "left" }, { name: "Timed", kind: "left" },
    { name: "Library calls" }, { name: "failed" }, { name: "Launches" }, { name: "Kernels timed" }, { name: "Trace", kind: "text" }
  ];

  function timed_text(process) {
    if (process.timing === "on") return "timed";
    if (process.timing === "off") return "NOT TIMED, shapes only";
    return process.kernels ? "timed" : "not known";
  }

  function process_cells(process) {
    return [pid_of(process), [tabular.code(process.command) || "(not known)", process.rank ? " " + process.rank : ""], process.end, timed_text(process),
      format.count(process.calls), format.count(process.failed_calls), format.count(process.launches), format.count(process.kernels), tabular.code(process.trace)];
  }

  function processes_group(data) {
    return { title: "Processes", note: tabular.count_of(data, "processes"), body: [
      tabular.table(null, PROCESSES, data.processes.map(process_cells)), tabular.cut_note(data, "processes")
    ] };
  }

  /* ---- timing ---- */

  var TIMING = [
    { name: "Process", kind: "left" }, { name: "Mode", kind: "left", meaning: "in use at the end, and what was asked for" },
    { name: "Windows" }, { name: "Timed for", meaning: "all windows together, of this host's clock" }, { name: "Closed by", kind: "left" }, { name: "Why this mode", kind: "text" },
    { name: "CUPTI", kind: "text" }, { name: "Hooks", kind: "text", meaning: "by which ways calls are taken" }
  ];

  function timing_cells(process) {
    var modes = process.timing_modes, windows = modes ? modes.windows : null;
    return [pid_of(process), modes ? format.text(modes.mode) + (modes.asked && modes.asked !== modes.mode ? " (" + modes.asked + ")" : "") : null,
      windows ? format.count(windows.count) : null, windows && windows.open_ns > 0 ? format.duration(windows.open_ns) : null,
      windows ? windows.last_close_reason : null, modes ? modes.rule : null, process.timing_detail, process.hook_level];
  }

  function change_lines(data) {
    var lines = [];
    data.processes.forEach(function (process) {
      var modes = process.timing_modes;
      (modes && modes.changes.length > 1 ? modes.changes : []).forEach(function (change) {
        lines.push(pid_of(process) + ", " + format.text(tabular.utc(change.realtime_ns)) + ": " + change.mode + " (" + change.rule + ")" +
          (change.window_ns > 0 ? ", windows of " + format.duration(change.window_ns) + " each " + format.duration(change.period_ns) : ""));
      });
      if (modes && modes.changes_beyond > 0) lines.push(pid_of(process) + ": " + words.counted(modes.changes_beyond, "change", "changes") + " more");
    });
    return lines;
  }

  /* What changed on the way, and clocks: only where there is something to say. */
  function timing_group(data) {
    var lines = change_lines(data), modes = Object.keys(data.timing.modes);
    return { title: "Settings and timing", note: modes.map(function (mode) { return mode + ": " + data.timing.modes[mode]; }).join(", "), body: [
      tabular.table(null, TIMING, data.processes.map(timing_cells)),
      lines.length ? element("h3", {}, "Changes of the mode") : null, tabular.list(lines)
    ] };
  }

  var REPLAYS = [
    { name: "Process", kind: "left" }, { name: "Graphs" }, { name: "of unknown nodes" }, { name: "Launched" }, { name: "Kernels launched" },
    { name: "timed one by one" }, { name: "Timed as a whole" }, { name: "their time" }
  ];

  function replays_group(data) {
    var rows = data.processes.filter(function (process) { return process.graph_replays; }).map(function (process) {
      var replays = process.graph_replays;
      return [pid_of(process), format.count(replays.graphs), format.count(replays.graphs_unknown), format.count(replays.launches),
        format.count(replays.kernels_launched), format.count(replays.kernels_timed), format.count(replays.runs), replays.runs ? format.duration(replays.run_ns) : null];
    });
    return rows.length ? { title: "CUDA graphs", body: [tabular.table(null, REPLAYS, rows)] } : null;
  }

  /* ---- overhead ---- */

  var OVERHEAD = [
    { name: "Process", kind: "left" }, { name: "A call or launch", meaning: "rooftap's own time in it, mean of those measured" },
    { name: "A callback", meaning: "of CUPTI, likewise" }, { name: "A record", meaning: "in the timing's thread" },
    { name: "Own time", meaning: "of the program's threads, all of them together" }, { name: "% of wall time" },
    { name: "Own threads", meaning: "CPU time of rooftap's own threads" }, { name: "Buffers" }, { name: "Bytes" }, { name: "Given up", kind: "left" }
  ];

  function overhead_cells(process) {
    var o = process.overhead;
    return [pid_of(process), o.calls_measured ? format.duration(o.call_ns) : null, o.callbacks_measured ? format.duration(o.callback_ns) : null,
      format.duration(o.record_ns), format.duration(o.own_ns), format.gain(o.wall_share),
      format.duration((o.helper_cpu_ns || 0) + (o.timing_cpu_ns || 0)), format.count(o.buffers), format.bytes(o.buffer_bytes),
      LEVELS[o.level] || "something"];
  }

  function overhead_group(data) {
    var measured = data.processes.filter(function (process) { return process.overhead; });
    if (!data.processes.length) return null;
    return { title: "Measured overhead", note: measured.length ? "of this host's time, not of the GPU's" : "not measured", body: [
      measured.length ? tabular.table(null, OVERHEAD, measured.map(overhead_cells)) : element("p", { class: "note" }, "The traces don't tell it.")
    ] };
  }

  /* ---- what is missing ---- */

  function is_loss(process) {
    return process.timing_cut || process.trace_cut || process.calls_unseen || process.drops_untold || process.in_flight.length;
  }

  function unseen_text(process) {
    return "cuBLAS calls were not seen, though kernels named like a GEMM or attention ran: " + (own(UNSEEN, process.calls_unseen_reason) || UNSEEN.not_known) +
      (process.shapeless_gemms > 0 ? "; " + words.counted(process.shapeless_gemms, "kernel", "kernels") + " of unknown shape" : "");
  }

  function loss_lines(process) {
    return [
      process.timing_cut ? "CUPTI did not answer at exit: the last kernels may be missing" : null,
      process.trace_cut ? "trace cut short: everything committed was read" : null,
      process.drops_untold ? "CUPTI did not say whether it dropped records" : null,
      process.calls_unseen ? unseen_text(process) : null
    ].concat(process.in_flight.map(function (call) {
      return "in flight in thread " + call.tid + ": " + call.name + " (" + ["m", "n", "k", "batch"].map(function (name) {
        return name + " " + format.count(call.arguments[name]);
      }).join(", ") + ")";
    })).filter(Boolean).map(function (text) { return "process " + pid_of(process) + ": " + text; });
  }

  function reading_lines(coverage) {
    var names = { other_revision: "of an unknown revision", no_values: "without their parameters", refused: "refused by a check" };
    return Object.keys(names).filter(function (reading) { return coverage.launches_by_reading[reading].launches > 0; }).map(function (reading) {
      return words.counted(coverage.launches_by_reading[reading].launches, "launch", "launches") + " of known kernels " + names[reading] + ": no shape";
    });
  }

  function name_lines(coverage) {
    var names = coverage.unknown_family_names.map(function (name) { return name === null ? "(no name)" : name; });
    return coverage.unknown_family_kernels > 0 ? [[words.counted(coverage.unknown_family_kernels, "kernel", "kernels") +
      " whose names rooftap doesn't know, any of which may be attention or a GEMM (" + tabular.percent(coverage.unknown_family_share) +
      " of GPU time): ", tabular.code(names.join(", "))]] : [];
  }

  function missing_group(data) {
    var losses = words.losses(data).map(function (loss) { return loss.text; });
    data.processes.filter(is_loss).forEach(function (process) { losses = losses.concat(loss_lines(process)); });
    losses = losses.concat(reading_lines(data.coverage), name_lines(data.coverage), data.problems);
    return { title: "Drops and losses", note: losses.length ? null : "none: all that was seen is here", open: losses.length > 0,
      body: [tabular.list(losses.map(function (loss) { return element("span", {}, loss); }))] };
  }

  /* ---- failures, notes, marks, lengths ---- */

  var FAILURES = [
    { name: "Function", kind: "left" }, { name: "Status", kind: "left" }, { name: "Calls" }, { name: "M", meaning: "of the first of them" },
    { name: "N" }, { name: "K" }, { name: "batch" }, { name: "Types", kind: "left" }
  ];

  function failures_group(data) {
    if (!data.failures.length) return null;
    return { title: "Library calls that failed", note: words.counted(data.coverage.failed_calls, "call", "calls"), open: true, body: [
      tabular.table(null, FAILURES, data.failures.map(function (failure) {
        return [tabular.code(failure.name), (failure.status_name ? failure.status_name + " " : "") + "(" + format.text(failure.status) + ")", format.count(failure.calls),
          format.count(failure.m), format.count(failure.n), format.count(failure.k), format.count(failure.batch),
          [failure.type_a, failure.type_b, failure.type_d].map(format.text).join(" ")];
      })), tabular.cut_note(data, "failures")
    ] };
  }

  function notes_group(data) {
    var rows = [];
    data.processes.forEach(function (process) {
      process.notes.forEach(function (note) {
        rows.push([pid_of(process), tabular.utc(note.realtime_ns), note.code || "of a newer version", note.text]);
      });
    });
    return rows.length ? { title: "Notes of the library in the processes", note: String(rows.length), body: [tabular.table(null,
      [{ name: "Process", kind: "left" }, { name: "When", kind: "left" }, { name: "About", kind: "left" }, { name: "Note", kind: "text" }], rows)] } : null;
  }

  function marks_group(data) {
    var rows = [], beyond = 0;
    data.processes.forEach(function (process) {
      var modes = process.timing_modes;
      (modes ? modes.marks : []).forEach(function (mark) {
        rows.push([pid_of(process), tabular.utc(mark.realtime_ns), mark.name, format.count(mark.window)]);
      });
      beyond += modes ? modes.marks_beyond : 0;
    });
    return rows.length + beyond ? { title: "Marks", note: "of `rooftap ctl mark`", body: [tabular.table(null,
      [{ name: "Process", kind: "left" }, { name: "When", kind: "left" }, { name: "Mark", kind: "text" }, { name: "Window" }], rows),
    beyond ? element("p", { class: "note" }, words.counted(beyond, "mark is", "marks are") + " not kept") : null] } : null;
  }

  var LENGTHS = [
    { name: "Process", kind: "left" }, { name: "Buffer", kind: "left" }, { name: "How", kind: "left", meaning: "copied: the copy that filled it was seen; read: read back" },
    { name: "Lengths" }, { name: "least" }, { name: "most" }, { name: "mean" }, { name: "Launches", meaning: "that they held for" }
  ];

  function lengths_group(data) {
    var rows = [];
    data.processes.forEach(function (process) {
      process.lengths.forEach(function (one) {
        rows.push([pid_of(process), tabular.code(format.text(one.address)), one.how, format.count(one.count) + (one.cumulative ? " cumulative" : ""),
          format.count(one.least), format.count(one.most), format.intensity(one.mean), format.count(one.launches)]);
      });
    });
    return rows.length ? { title: "Lengths on the device", body: [tabular.table(null, LENGTHS, rows)] } : null;
  }

  return {
    missing: missing_group,
    groups: function (data) {
      return [data.processes.length ? timing_group(data) : null, overhead_group(data), processes_group(data), failures_group(data),
        replays_group(data), marks_group(data), lengths_group(data), notes_group(data)];
    }
  };
})();
