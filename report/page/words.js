/* SPDX-License-Identifier: Apache-2.0 */
/* What more than one part says in words: classes, paths, where shapes are from, what is lost, why nothing was launched. They
 * are the text report's words (report/coverage_text.c, device_text.c, no_launch_text.c). */
"use strict";
var rooftap = window.rooftap || {};
window.rooftap = rooftap;

rooftap.words = (function () {
  var format = rooftap.format;

  /* In the order of every bar and legend. */
  var CLASSES = [
    { key: "memory", name: "memory-bound", meaning: "reading and writing take longer than the arithmetic" },
    { key: "compute", name: "compute-bound", meaning: "the arithmetic takes longer than reading and writing" },
    { key: "overhead", name: "overhead", meaning: "the kernel takes about as long as one that does nothing" },
    { key: "unknown", name: "no class", meaning: "the shape or the roof is not known, so neither is what bounds it" }
  ];

  var SHAPES = [
    { key: "exact", name: "exact", meaning: "arguments of the library call, or of a launch's template and grid" },
    { key: "descriptor", name: "descriptor", meaning: "cublasLt's descriptors of the matrices" },
    { key: "params", name: "params", meaning: "read off the launch's parameters" },
    { key: "device", name: "device", meaning: "lengths that stand on the device were read" },
    { key: "at_most", name: "at most", meaning: "only a maximum of the bytes is known" },
    { key: "name", name: "name only", meaning: "only the kernel's name is known: no shape, or no matrix product at all" },
    { key: "none", name: "unknown", meaning: "nothing is known of the shape" }
  ];

  function plural(count, one, many) {
    return count === 1 ? one : many;
  }

  /* "3 records"; null: "unknown records". */
  function counted(count, one, many) {
    return format.count(count) + " " + plural(count, one, many);
  }

  /* "bf16 (fp32 accumulate)", as the text names a roof. */
  function path(roof) {
    var words = roof.type || "unknown type";
    if (roof.accumulate && roof.accumulate !== roof.type) words += " (" + roof.accumulate + " accumulate)";
    if (roof.unit === "dp4a") words += " by dp4a";
    if (roof.unit === "fma" && (roof.type === "fp16" || roof.type === "bf16")) words += " by FMA units";
    if (roof.unit === "tensor" && roof.type === "fp64") words += " by tensor cores";
    return words;
  }

  /* ---- what is lost ---- */

  function any_running(data) {
    return data.processes.some(function (process) { return process.end === "running"; });
  }

  /* [count, one, many, what, whether figures are too low by it] */
  function loss_rows(data) {
    var c = data.coverage;
    return [
      [c.failed_calls, "call", "calls", "failed", false],
      [c.failed_launches, "launch", "launches", "failed", false],
      [c.in_flight, "call", "calls", any_running(data) ? "in flight" : "in flight at the end", false],
      [c.kernels_untimed, "kernel", "kernels", "untimed", true],
      [c.copies_untimed, "copy", "copies", "untimed", true],
      [c.kernels_unjoined, "kernel", "kernels", "whose launch was not seen", false],
      [c.records_dropped, "record", "records", "dropped", true],
      [c.buffers_lost, "activity buffer", "activity buffers", "lost", true],
      [c.blocks_damaged, "block", "blocks", "damaged", true],
      [c.records_damaged, "record", "records", "damaged", true],
      [c.records_unknown, "record", "records", "of unknown type", false],
      [c.records_foreign, "activity record", "activity records", "of other profilers", false],
      [c.calls_missing, "call", "calls", "recorded, but their blocks are missing from the trace", true],
      [c.launches_missing, "launch", "launches", "recorded, but their blocks are missing from the trace", true],
      [c.traces_cut, "trace", "traces", "without an end (killed, _exit(), or cut off)", true],
      [c.sequences_dropped, "call or launch", "calls and launches",
        "of more threads, streams or lists than are told apart: no siblings, attention or phase is claimed of them", false],
      [c.helpers_uncharged, "launch", "launches", "of helper kernels that no operator was found for", false]
    ];
  }

  function rotated(rotation) {
    return counted(rotation.calls, "call", "calls") + ", " + counted(rotation.launches, "launch", "launches") + " and " +
      counted(rotation.kernels, "kernel", "kernels") + " were rotated out (--max-size): only the last of the run is kept";
  }

  function beyond(sums) {
    return "more different calls and kernels than are told apart: " +
      counted(sums.calls + sums.failed_calls, "call is", "calls are") + " in no row, " +
      counted(sums.kernels, "kernel", "kernels") + " (" + format.duration(sums.time_ns) + ") in the row without a name";
  }

  /* [{text, count, too_low}]: everything that is not 0, and what CUPTI did not tell. */
  function losses(data) {
    var c = data.coverage;
    var all = loss_rows(data).filter(function (row) { return row[0] > 0; }).map(function (row) {
      return { text: counted(row[0], row[1], row[2]) + " " + row[3], count: row[0], too_low: row[4] };
    });
    if (c.drops_untold)
      all.push({ text: "records dropped by CUPTI: unknown (it did not say); counts and times are lower bounds", count: Infinity,
        too_low: true });
    if (c.rotated) all.push({ text: rotated(c.rotated), count: Infinity, too_low: true });
    if (c.beyond && (c.beyond.calls + c.beyond.failed_calls || c.beyond.kernels || c.beyond.launches))
      all.push({ text: beyond(c.beyond), count: c.beyond.kernels, too_low: false });
    return all;
  }

  /* Of what there was to time, the share that has no time or was lost; null: not known. */
  function lost_share(data) {
    var c = data.coverage;
    var lost = (c.kernels_untimed || 0) + (c.records_dropped || 0) + c.calls_missing + c.launches_missing;
    var whole = lost + (c.kernels || 0);
    return format.known(c.kernels) && whole > 0 ? lost / whole : null;
  }

  /* ---- why nothing was launched ---- */

  var NOT_LOADED = "librooftap.so could not be loaded into it (statically linked, setuid, or it clears LD_PRELOAD), or could " +
    "not write to the session folder (full, a size limit, another user)";
  var NOT_SEEN = "no CUDA function that rooftap stands in front of, or ended before its first launch";
  var ON_THE_CPU = "llama.cpp, for one, then computes on the CPU";
  var OFFLOAD = "all layers may have stayed on the CPU (llama.cpp: -ngl, n_gpu_layers), or it ended before its first launch";
  var REASONS = {
    command_not_started: "the command could not be started",
    going_on: "the recording is still going on, or was cut off before the program used CUDA",
    blank_trace: "a trace was begun, but nothing of it was written: the program was ended first, or could not write to the " +
      "session folder (full, a size limit)",
    signal: "the program was ended by a signal before its first launch",
    stub_driver: "the toolkit's stub of the driver was loaded, so CUDA could not start; " + ON_THE_CPU +
      " (`rooftap doctor`, or `--simulate GPU`)",
    driver_not_started: "the driver was loaded, but CUDA never started: cuInit() failed (no GPU, no access to it, a driver " +
      "that is too old) or was not called; " + ON_THE_CPU + " (`rooftap doctor` tells what is wrong)",
    no_driver: "the CUDA runtime was loaded, but no driver (libcuda.so.1), so nothing can have run on a GPU; " + ON_THE_CPU +
      " (`rooftap doctor`, or `--simulate GPU`)",
    no_cuda_library: "no process that ended by itself had a CUDA library loaded (libcudart, libcuda): the program does not " +
      "use CUDA, or could not load it (" + ON_THE_CPU + " without a word), or " + NOT_LOADED,
    copies_only: "CUDA was started, and copies and memsets were all that ran: " + OFFLOAD,
    devices_only: "CUDA was started and devices were found, but no kernel was launched: " + OFFLOAD
  };

  function no_launch(data) {
    var reason = data.session.no_launch_reason, none = "CUDA could not start in it (no driver or GPU; `--simulate GPU` needs none)";
    if (Object.prototype.hasOwnProperty.call(REASONS, reason)) return REASONS[reason];
    if (reason === "no_trace")
      return "the program does not use CUDA, or " + (data.simulated ? "" : none + ", or ") + NOT_LOADED;
    return data.simulated ? "the program used " + NOT_SEEN : none.replace("in it", "in the program") + ", or it used " + NOT_SEEN;
  }

  return {
    CLASSES: CLASSES, SHAPES: SHAPES, plural: plural, counted: counted, path: path, losses: losses, lost_share: lost_share,
    no_launch: no_launch,
    /* "simulated GPU time": a time of a simulated GPU is never shown without the word. */
    of_model: function (what, data) { return (data.simulated ? "simulated " : "") + what; }
  };
})();
