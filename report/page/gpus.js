/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs that are alike are told of once: which are, what they are called together, and what their clocks did. */
"use strict";
var rooftap = window.rooftap || {};
window.rooftap = rooftap;

rooftap.gpus = (function () {
  var format = rooftap.format, percent = rooftap.tabular.percent;

  /* [{first, devices: [index]}] of all for which IDENTITY (device, index) gives the same text. */
  function groups(data, identity) {
    var all = [], by_identity = new Map();
    data.devices.forEach(function (device, index) {
      var key = identity(device, index);
      if (!by_identity.has(key)) {
        by_identity.set(key, { first: device, devices: [] });
        all.push(by_identity.get(key));
      }
      by_identity.get(key).devices.push(index);
    });
    return all;
  }

  /* "GPUs 0 to 3, 5" */
  function places(indexes) {
    var runs = [];
    indexes.forEach(function (index) {
      var last = runs[runs.length - 1];
      if (last && last[1] === index - 1) last[1] = index;
      else runs.push([index, index]);
    });
    return (indexes.length > 1 ? "GPUs " : "GPU ") + runs.map(function (run) {
      return run[0] === run[1] ? run[0] : run[0] + (run[1] - run[0] > 1 ? " to " : ", ") + run[1];
    }).join(", ");
  }

  /* Roofs that judge some operator of this run. */
  function roofs_in_use(device) {
    return (device.roofs || []).filter(function (roof) { return roof.operators > 0; });
  }

  /* "2684" of 9860, as it is looked up; null: not known. */
  function pci_id(device) {
    return device.pci_device_id > 0 ? ("000" + device.pci_device_id.toString(16)).slice(-4) : null;
  }

  function throttled(clocks) {
    var shares = clocks.throttle_share || {};
    return Object.keys(shares).filter(function (reason) { return shares[reason] > 0; })
      .map(function (reason) { return reason + " " + percent(shares[reason]); });
  }

  function megahertz(hz) {
    return format.known(hz) ? (hz / 1e6).toFixed(0) : format.UNKNOWN;
  }

  /* As the text's line of the clocks; null: there are no readings under load. */
  function clock_text(clocks) {
    if (!clocks || !format.known(clocks.sm_clock_hz)) return null;
    return ["SM clock " + megahertz(clocks.sm_clock_hz) + " MHz under load, " + megahertz(clocks.sm_clock_lowest_hz) + " at the lowest",
      format.known(clocks.specification_clock_hz) ? "the peaks mean " + megahertz(clocks.specification_clock_hz) : null,
      format.known(clocks.power_w) ? clocks.power_w.toFixed(0) + " W" : null].concat(throttled(clocks)).filter(Boolean).join("; ");
  }

  /* Held back by so much, or for a reason, that compute-bound rows can't reach the roof. */
  function is_held_back(clocks) {
    return format.known(clocks.compute_scale) && clocks.compute_scale < 0.95 || throttled(clocks).length > 0;
  }

  return {
    groups: groups, places: places, roofs_in_use: roofs_in_use, pci_id: pci_id, clock_text: clock_text, is_held_back: is_held_back,
    throttled: throttled, megahertz: megahertz
  };
})();
