/* SPDX-License-Identifier: Apache-2.0 */
/* Two fingers on the plot: how far they went apart and where to. One finger scrolls the page, as everywhere. */
"use strict";
var rooftap = window.rooftap || {};
window.rooftap = rooftap;

rooftap.plot_touch = (function () {
  function fingers(area, touches) {
    var box = area.getBoundingClientRect();
    var a = touches[0], b = touches[1];
    return {
      left: (a.clientX + b.clientX) / 2 - box.left, top: (a.clientY + b.clientY) / 2 - box.top,
      apart: Math.max(Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY), 10)
    };
  }

  /* PINCHED(factor, from, to): factor below 1 as they go apart, places {left, top} in pixels of AREA. */
  function listen(area, pinched) {
    var before = null;
    area.addEventListener("touchstart", function (event) {
      before = event.touches.length === 2 ? fingers(area, event.touches) : null;
      if (before) event.preventDefault();
    }, { passive: false });
    area.addEventListener("touchmove", function (event) {
      if (!before || event.touches.length !== 2) return;
      event.preventDefault();
      var now = fingers(area, event.touches);
      pinched(before.apart / now.apart, before, now);
      before = now;
    }, { passive: false });
    ["touchend", "touchcancel"].forEach(function (end) { area.addEventListener(end, function () { before = null; }); });
  }

  return { listen: listen };
})();
