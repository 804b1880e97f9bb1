/* SPDX-License-Identifier: Apache-2.0 */
/* The books of a model's weights beside what was multiplied: bytes of a step, and one row for all matrices of one shape.
 * Groups for provenance.js: {title, note, open, body}. */
"use strict";
var rooftap = window.rooftap || {};
window.rooftap = rooftap;

rooftap.model = (function () {
  var format = rooftap.format, words = rooftap.words, tabular = rooftap.tabular;
  var element = rooftap.draw.element;

  var VERDICTS = { equal: "equal", within: "within what routing to experts leaves open", less: "less than the model has", more: "more than the model has" };

  /* "8" or, where tokens are routed to experts, "8 to 64". */
  function between(pair, write) {
    if (!pair) return null;
    var least = write(pair[0]), most = write(pair[1]);
    return least === most ? least : least + " to " + most;
  }

  function whole(value) {
    return format.known(value) && value === Math.floor(value) ? format.count(value) : format.intensity(value);
  }

  /* ---- a GGUF ---- */

  var CLASSES = [
    { name: "N" }, { name: "K" }, { name: "Format", kind: "left" }, { name: "Matrices", meaning: "of the model, that such a step reads" },
    { name: "seen", meaning: "measured, in a mean step" }, { name: "Bytes a step" }, { name: "M p50" }, { name: "Time" }, { name: "at the roof" },
    { name: "Weights", kind: "text" }
  ];

  function class_cells(one, phase) {
    var step = one[phase];
    return [format.count(one.n), format.count(one.k), one.format + (one.other_format ? " (also read in another)" : ""), between(step.model_matrices, whole),
      between(step.matrices, whole), between(step.bytes, format.bytes), format.count(step.m_p50), format.duration(step.time_ns), format.duration(step.t_roof_ns),
      one.names.join(", ") + (one.cut ? " (split over GPUs)" : "")];
  }

  function phase_sentence(name, phase) {
    return "Weight bytes of a " + name + " step of " + whole(phase.rows_per_step) + " " + words.plural(phase.rows_per_step, "token", "tokens") + ": " +
      between(phase.measured_bytes, format.count) + " measured, " + between(phase.model_bytes, format.count) + " in the model: " +
      (VERDICTS[phase.verdict] || format.UNKNOWN) + ".";
  }

  function phase_of(data, books, name) {
    var phase = books[name];
    if (!(phase.steps > 0)) return [element("p", { class: "note" }, "No " + name + " step was told apart.")];
    return [element("p", { class: phase.verdict === "equal" || phase.verdict === "within" ? null : "problem" }, phase_sentence(name, phase)),
      tabular.table(name + ", " + (phase.steps === 1 ? "1 step" : "a mean of " + whole(phase.steps) + " steps") + (data.simulated ? "; times are simulated" : ""),
        CLASSES, books.classes.filter(function (one) { return one[name]; }).map(function (one) { return class_cells(one, name); }))];
  }

  function gguf_group(data) {
    var books = data.model_books;
    return { title: "Model and measured weights", note: books.path, body: [
      tabular.facts([["file", tabular.code(books.path)], ["architecture", books.architecture], ["name", books.name],
        ["layers", format.known(books.layers) ? format.count(books.layers) : null], ["layers of which a step multiplied all matrices", format.known(books.layers_seen) ? format.count(books.layers_seen) : null],
        ["experts", books.experts > 0 ? format.count(books.experts) + ", of which " + format.count(books.experts_used) + " are used by a token" : null],
        ["looked up, not multiplied", format.bytes(books.table_bytes) + (books.tied ? ", and multiplied as the output" : "")],
        ["files missing", books.files_missing > 0 ? words.counted(books.files_missing, "part of it was", "parts of it were") + " not found" : null],
        ["not of the model", books.extra_operators.length ? words.counted(books.extra_operators.length, "operator", "operators") + " of no shape that it has" : null]])
    ].concat(phase_of(data, books, "decode"), phase_of(data, books, "prefill"), tabular.cut_note(data, "model_books.classes")) };
  }

  /* ---- a config.json ---- */

  var ROWS = [
    { name: "N" }, { name: "K" }, { name: "Bits", meaning: "of a weight as stored" }, { name: "read", meaning: "as measured" },
    { name: "Calls", meaning: "of the model" }, { name: "seen", meaning: "measured" }, { name: "M p50" }, { name: "Time" }, { name: "at the roof" },
    { name: "x", meaning: "time by time at the roof" }, { name: "Weights", kind: "text" }
  ];

  function row_cells(row) {
    return [format.count(row.n), format.count(row.k), whole(row.bits), whole(row.measured_bits), between(row.calls, whole), whole(row.measured_calls),
      format.count(row.m_p50), format.duration(row.time_ns), format.duration(row.t_roof_ns), format.known(row.times_roof) ? row.times_roof.toFixed(2) : null, row.name];
  }

  function share_text(pair) {
    return pair ? between(pair, tabular.percent) : null;
  }

  function device_books(data, device) {
    return element("div", {}, [
      element("h3", {}, format.known(device.device) ? "GPU " + device.device : "GPU not known"),
      tabular.facts([["of its weight bytes are accounted for", share_text(device.share)],
        ["steps", format.known(device.steps) ? whole(device.steps) + (device.steps_source === "calls" ? ", by passes over the model: no step was told apart" : "") : "not known"],
        ["of the model's bytes have a shape that was seen", tabular.percent(device.shape_share)],
        ["of no shape that the model has", device.extra_bytes > 0 ? format.bytes(device.extra_bytes) : null]]),
      tabular.table(data.simulated ? "one step; times are simulated" : "one step", ROWS, device.rows.map(row_cells))
    ]);
  }

  function config_group(data) {
    var books = data.books;
    return { title: "Model and measured weights", note: books.config, body: [
      tabular.facts([["file", tabular.code(books.config)], ["model type", books.model_type],
        ["split over", books.tensor_parallel > 1 ? words.counted(books.tensor_parallel, "GPU", "GPUs") : null],
        ["weights multiplied in a step", between(books.bytes, format.gibibytes)], ["parameters", between(books.parameters, format.count)],
        ["all GPUs together account for", share_text(books.share_of_all_devices)],
        ["checkpoint", books.checkpoint ? books.checkpoint.problem || format.text(books.checkpoint.kind) + ", " + format.text(books.checkpoint.verdict) : null]])
    ].concat(books.devices.map(function (device) { return device_books(data, device); })) };
  }

  return {
    groups: function (data) {
      return [data.model_books ? gguf_group(data) : null, data.books ? config_group(data) : null];
    }
  };
})();
