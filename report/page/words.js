/* SPDX-License-Identifier: Apache-2.0 */
/* What more than one part says in words: classes, paths, where shapes are from, what is lost. They are the text report's words
 * (report/coverage_text.c, device_text.c). */
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

  /* As classify/roofline.c has them. */
  var ABOVE_ROOF = {
    fits_in_l2: "fits in L2", above_nominal_clock: "above nominal clock", unexplained: "above nominal bandwidth",
    inconsistent_model: "inconsistent model"
  };

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

  return {
    CLASSES: CLASSES, SHAPES: SHAPES, ABOVE_ROOF: ABOVE_ROOF, plural: plural, counted: counted, path: path, losses: losses,
    lost_share: lost_share,
    /* "simulated GPU time": a time of a simulated GPU is never shown without the word. */
    of_model: function (what, data) { return (data.simulated ? "simulated " : "") + what; }
  };
})();
