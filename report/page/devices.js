/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of each GPU: how its row was found, its roofs with their sources, clocks, calibration, copies. Groups for
 * provenance.js: {title, note, open, body}. */
"use strict";
var rooftap = window.rooftap || {};
window.rooftap = rooftap;

rooftap.devices = (function () {
  var format = rooftap.format, words = rooftap.words, gpus = rooftap.gpus, tabular = rooftap.tabular;
  var element = rooftap.draw.element, percent = tabular.percent;

  var MATCHES = { pci_id: "its PCI id", name: "its name", key: "the key that it was simulated by" };

  function heading(group) {
    return element("h3", {}, gpus.places(group.devices) + ": " + format.text(group.first.name));
  }

  /* ---- identity ---- */

  function row_text(device) {
    if (!device.spec) return "no row in the GPU table";
    if (device.spec === "peak") return "figures of --peak, as given";
    return device.spec + (MATCHES[device.identity.match] ? ", chosen by " + MATCHES[device.identity.match] : "");
  }

  function scale_text(identity) {
    var parts = [];
    if (identity.compute_scale !== 1 && format.known(identity.compute_scale)) parts.push("peaks by " + format.share(identity.compute_scale) + " %");
    if (identity.memory_scale !== 1 && format.known(identity.memory_scale)) parts.push("bandwidth by " + format.share(identity.memory_scale) + " %");
    return parts.length ? "scaled: " + parts.join(", ") : null;
  }

  function mig_text(device) {
    if (!device.mig) return null;
    return ["MIG instance", device.identity.mig_profile,
      format.known(device.identity.memory_slices) ? device.identity.memory_slices + " of 8 memory slices" : null].filter(Boolean).join(", ");
  }

  /* 13000 is CUDA 13.0. */
  function driver_text(version) {
    return version > 0 ? "for CUDA up to " + Math.floor(version / 1000) + "." + Math.floor(version % 1000 / 10) : null;
  }

  function identity_facts(device) {
    return tabular.facts([
      ["row of the GPU table", row_text(device)], ["", scale_text(device.identity)],
      ["roofs", device.identity.estimated ? "estimates: what the driver says contradicts the row" : null],
      ["SMs", device.sm_count > 0 ? format.count(device.sm_count) : null], ["memory", device.memory_bytes > 0 ? format.gibibytes(device.memory_bytes) : null],
      ["L2 cache", format.known(device.identity.l2_bytes) ? format.gibibytes(device.identity.l2_bytes) : null],
      ["PCI id", gpus.pci_id(device)], ["driver", driver_text(device.driver_version)], ["MIG", mig_text(device)], ["simulated", device.simulated ? "yes" : null]
    ]);
  }

  function checks(device) {
    return tabular.list(device.identity.checks.map(function (check) {
      return element("span", { class: check.contradiction ? "problem" : null }, (check.contradiction ? "contradiction: " : "") + check.text);
    }));
  }

  function identity_group(data) {
    var groups = gpus.groups(data, function (device) {
      return JSON.stringify([device.name, device.spec, device.sm_count, device.memory_bytes, device.pci_device_id, device.driver_version, device.mig, device.simulated, device.identity]);
    });
    return { title: "GPUs", note: words.counted(data.devices.length, "GPU", "GPUs"), body: groups.map(function (group) {
      return element("div", {}, [heading(group), identity_facts(group.first), checks(group.first)]);
    }) };
  }

  /* ---- roofs ---- */

  var ROOFS = [
    { name: "Roof", kind: "left", meaning: "what multiplies, and in what it adds up" },
    { name: "Operators", meaning: "of this run, that this roof judges" },
    { name: "Peak, TFLOP/s", meaning: "the specification's, dense: it alone classifies" },
    { name: "GB/s", meaning: "the specification's bandwidth" },
    { name: "Ridge, FLOP/B", meaning: "FLOP per byte from which on the arithmetic takes longer than the memory" },
    { name: "Achievable, TFLOP/s", meaning: "what a library was measured to reach" },
    { name: "GB/s", meaning: "what a copy was measured to reach" },
    { name: "Held clock, TFLOP/s", meaning: "the peak at the SM clock that was held during this run" },
    { name: "Source", meaning: "numbers of the list below" }
  ];

  function with_origin(figure, origin) {
    return figure === format.UNKNOWN ? null : figure + (origin ? " " + origin : "");
  }

  /* The same text is behind most roofs, so each is numbered and said once. */
  function sources(roof, all) {
    var texts = [roof.source ? roof.source + (roof.confidence ? " (" + roof.confidence + ")" : "") : null];
    [roof.achievable_flops_source, roof.achievable_bytes_source].forEach(function (source) {
      if (source) texts.push("achievable: " + source);
    });
    return texts.filter(Boolean).map(function (text) {
      if (all.indexOf(text) < 0) all.push(text);
      return all.indexOf(text) + 1;
    }).filter(function (number, at, numbers) { return numbers.indexOf(number) === at; }).join(", ");
  }

  function roof_cells(roof, group, all) {
    return [words.path(roof), group.devices.length === 1 ? format.count(roof.operators) : null,
      format.known(roof.flops_per_second) ? format.tera(roof.flops_per_second) : "not published", format.giga(roof.bytes_per_second),
      format.intensity(roof.ridge), with_origin(format.tera(roof.achievable_flops_per_second), roof.achievable_flops_origin),
      with_origin(format.giga(roof.achievable_bytes_per_second), roof.achievable_bytes_origin),
      format.tera(roof.held_clock_flops_per_second), sources(roof, all)];
  }

  /* Those in use first, each in the order of the table. */
  function sorted(device) {
    var used = gpus.roofs_in_use(device);
    return used.concat(device.roofs.filter(function (roof) { return used.indexOf(roof) < 0; }));
  }

  function roofs_group(data) {
    var groups = gpus.groups(data, function (device) {
      return JSON.stringify([device.name, (device.roofs || []).map(function (roof) { return Object.assign({}, roof, { operators: null, time_ns: null }); })]);
    }).filter(function (group) { return (group.first.roofs || []).length; });
    var missing = data.devices.filter(function (device) { return !(device.roofs || []).length; }).length;
    return { title: "Roofs and their sources", note: missing ? words.counted(missing, "GPU has", "GPUs have") + " none" : null,
      body: groups.map(function (group) {
        var all = [], rows = sorted(group.first).map(function (roof) { return roof_cells(roof, group, all); });
        return element("div", {}, [heading(group), tabular.table(null, ROOFS, rows),
          element("ol", { class: "note" }, all.map(function (text) { return element("li", {}, text); }))]);
      }) };
  }

  /* ---- clocks ---- */

  var CLOCKS = [
    { name: "GPU", kind: "left" }, { name: "Readings", meaning: "of NVML, beside the run" }, { name: "under load" },
    { name: "SM clock, MHz", meaning: "under load, weighted by the busy time that each reading stands for" }, { name: "lowest" },
    { name: "specification", meaning: "the clock at which the peaks hold" }, { name: "Memory clock, MHz" }, { name: "Power, W" },
    { name: "Highest, °C" }, { name: "Held back by", kind: "text", meaning: "NVML's reasons, by the share of the time under load" }
  ];

  function clock_cells(device, index) {
    var clocks = device.clocks;
    return ["GPU " + index, format.count(clocks.readings), format.count(clocks.readings_under_load), gpus.megahertz(clocks.sm_clock_hz),
      gpus.megahertz(clocks.sm_clock_lowest_hz), gpus.megahertz(clocks.specification_clock_hz), gpus.megahertz(clocks.memory_clock_hz),
      format.known(clocks.power_w) ? clocks.power_w.toFixed(0) : null, format.known(clocks.temperature_highest_c) ? clocks.temperature_highest_c.toFixed(0) : null,
      gpus.throttled(clocks).join(", ") || (format.known(clocks.sm_clock_hz) ? "nothing" : null)];
  }

  function clocks_group(data) {
    var rows = data.devices.map(function (device, index) { return device.clocks ? clock_cells(device, index) : null; }).filter(Boolean);
    return { title: "Clocks", body: [
      rows.length ? tabular.table(data.simulated ? "as the simulator's driver says" : null, CLOCKS, rows) : null,
      data.session.clocks_problem ? element("p", { class: "note" }, data.session.clocks_problem) : null
    ] };
  }

  /* ---- calibration ---- */

  function calibration_facts(calibration) {
    return tabular.facts([
      ["file", tabular.code(calibration.file)], ["measured", tabular.utc(calibration.measured_realtime_ns)],
      ["by", "rooftap " + format.text(calibration.rooftap_version) + ", cuBLAS " + format.text(calibration.cublas) + ", driver " + format.text(calibration.driver)],
      ["of", calibration.simulated ? "a simulated GPU" : null], ["", calibration.quick ? "a quick one" : null],
      ["", calibration.stopped_early ? "stopped early: the GPU did not hold still" : null],
      ["SM clock, MHz", gpus.megahertz(calibration.sm_clock_lowest_hz) + " to " + gpus.megahertz(calibration.sm_clock_highest_hz)],
      ["copy, GB/s", format.giga(calibration.copy_bytes_per_second)], ["read, GB/s", format.giga(calibration.read_bytes_per_second)],
      ["empty kernel", format.duration(calibration.empty_kernel_ns)], ["enqueueing", format.duration(calibration.enqueue_ns)],
      ["GEMM, TFLOP/s", calibration.gemm.map(function (one) { return words.path(one) + " " + format.tera(one.flops_per_second); }).join(", ")],
      ["bandwidth by blocks, GB/s", calibration.bandwidth_by_blocks.map(function (one) {
        return format.count(one.blocks) + ": " + format.giga(one.bytes_per_second);
      }).join(", ")]
    ]);
  }

  function floor_text(data, device) {
    if (!format.known(device.floor_ns)) return null;
    return format.duration(device.floor_ns) + (data.simulated ? " simulated" : "") + (device.calibration ? ", an empty kernel as calibrated" : ", the shortest kernel of this run without a work model");
  }

  function calibration_group(data) {
    var groups = gpus.groups(data, function (device) { return JSON.stringify([floor_text(data, device), device.calibration]); });
    var measured = data.devices.filter(function (device) { return device.calibration; }).length;
    return { title: "Calibration", note: measured ? null : "none", body: groups.map(function (group) {
      return element("div", {}, [element("h3", {}, gpus.places(group.devices)), tabular.facts([["overhead is judged by", floor_text(data, group.first)]]),
        group.first.calibration ? calibration_facts(group.first.calibration)
          : element("p", { class: "note" }, "Nothing was measured on " + (group.devices.length > 1 ? "them" : "it") + " (`rooftap calibrate` measures).")]);
    }) };
  }

  /* ---- copies ---- */

  var COPIES = [
    { name: "GPU", kind: "left" }, { name: "What", kind: "left" }, { name: "Copies" }, { name: "Bytes" }, { name: "Time" }, { name: "GB/s" },
    { name: "% of the bandwidth", meaning: "of the GPU's own; a copy on it reads and writes; unknown where it goes over a link" }
  ];

  function copy_name(copy) {
    return copy.what + (copy.what === "PtoP" && format.known(copy.from_device) && format.known(copy.to_device)
      ? " GPU " + copy.from_device + " to " + copy.to_device : "");
  }

  function copies_group(data) {
    var rows = [];
    data.devices.forEach(function (device, index) {
      (device.copies || []).forEach(function (copy) {
        rows.push(["GPU " + index, copy_name(copy), format.count(copy.copies), format.bytes(copy.bytes), format.duration(copy.time_ns),
          format.giga(copy.bytes_per_second), format.share(copy.bandwidth_fraction)]);
      });
    });
    return rows.length ? { title: "Copies and memsets", note: data.simulated ? "simulated" : null, body: [tabular.table(null, COPIES, rows)] } : null;
  }

  return {
    groups: function (data) {
      if (!data.devices.length) return [{ title: "GPUs", note: "none described by the traces", body: [] }];
      return [identity_group(data), roofs_group(data), clocks_group(data), calibration_group(data), copies_group(data)];
    }
  };
})();
