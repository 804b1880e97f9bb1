/* SPDX-License-Identifier: Apache-2.0 */
/* Curves of a quantity against length, by uPlot, with marks on them. What a part draws it has as a table as well, since without
 * uPlot there is nothing here. */
"use strict";
var rooftap = window.rooftap || {};
window.rooftap = rooftap;

rooftap.curves = (function () {
  var draw = rooftap.draw, format = rooftap.format;
  var DASH_NAMES = { 0: "solid", 2: "dotted", 6: "dashed" }; /* of a curve's first dash, for the legend's swatch */
  var HEIGHT = 260, STEPS = 12; /* points a doubling of length */

  /* COUNT lengths from LEAST to MOST, each as far from the next by its logarithm. */
  function lengths(least, most) {
    var count = Math.max(2, Math.ceil(STEPS * Math.log2(most / least)) + 1);
    return Array.from({ length: count }, function (unused, at) { return least * Math.pow(most / least, at / (count - 1)); });
  }

  function powers(least, most) {
    var result = [];
    for (var at = Math.ceil(Math.log2(least) - 1e-9); Math.pow(2, at) <= most * (1 + 1e-9); at++) result.push(Math.pow(2, at));
    while (result.length > 9) result = result.filter(function (value, place) { return place % 2 === 0; });
    return result;
  }

  function decades(least, most) {
    var result = [];
    for (var at = Math.ceil(Math.log10(least) - 1e-9); Math.pow(10, at) <= most * (1 + 1e-9); at++) result.push(Math.pow(10, at));
    return result;
  }

  /* uPlot hands over nothing for a tick that it has no room for. */
  function written(value) {
    return value === null || value === undefined ? "" : value < 1 ? String(Number(value.toPrecision(1))) : format.count(Math.round(value));
  }

  function axis(label, values, size, ink, line) {
    return { label: label, labelSize: 20, labelFont: "12px sans-serif", font: "11px sans-serif", size: size, stroke: ink,
      grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1, size: 4 }, splits: function () { return values; },
      values: function (u, splits) { return splits.map(written); } };
  }

  /* A mark is {x, y, shape: "circle" or "square"}. */
  function draw_mark(u, mark, paper, ink) {
    var context = u.ctx, ratio = window.uPlot.pxRatio || window.devicePixelRatio || 1, size = 5 * ratio;
    var x = u.valToPos(mark.x, "x", true), y = u.valToPos(mark.y, "y", true);
    context.setLineDash([]); /* uPlot leaves a curve's */
    context.beginPath();
    if (mark.shape === "square") context.rect(x - size, y - size, 2 * size, 2 * size);
    else context.arc(x, y, 1.15 * size, 0, 2 * Math.PI);
    context.fillStyle = ink;
    context.fill();
    context.lineWidth = 1.5 * ratio;
    context.strokeStyle = paper;
    context.stroke();
  }

  function draw_upright(u, upright, ink) {
    var context = u.ctx, ratio = window.uPlot.pxRatio || window.devicePixelRatio || 1, box = u.bbox;
    var x = u.valToPos(upright.x, "x", true);
    context.save();
    context.setLineDash([4 * ratio, 3 * ratio]);
    context.strokeStyle = context.fillStyle = ink;
    context.lineWidth = ratio;
    context.beginPath();
    context.moveTo(x, box.top);
    context.lineTo(x, box.top + box.height);
    context.stroke();
    context.font = 11 * ratio + "px sans-serif";
    context.textAlign = x > box.left + box.width * 0.7 ? "right" : "left";
    context.fillText(upright.text, x + (context.textAlign === "right" ? -4 : 4) * ratio, box.top + 12 * ratio + upright.line * 14 * ratio);
    context.restore();
  }

  function series_of(curve, colour) {
    return { label: curve.label, stroke: colour(curve.colour), width: 2, dash: curve.dash, points: { show: false },
      value: function (u, value) { return value === null || value === undefined ? format.UNKNOWN : curve.write(value); } };
  }

  /* CHART: {title, x: [least, most], y: [least, most], y_log, y_label, curves: [{label, colour, dash, value(length), write}],
   * marks: [], uprights: [{x, text}]}. */
  function options_of(chart, width) {
    var colour = draw.colour, ink = colour("--ink"), line = colour("--line"), paper = colour("--paper");
    return {
      width: width, height: HEIGHT, pxAlign: 0,
      legend: { live: true, markers: { width: 2, dash: function (u, at) { return DASH_NAMES[(chart.curves[at - 1].dash || [0])[0]]; } } }, cursor: { drag: { x: false, y: false } },
      scales: { x: { time: false, distr: 3, log: 2, range: function () { return chart.x; } },
        y: { distr: chart.y_log ? 3 : 1, log: 10, range: function () { return chart.y; } } },
      axes: [axis("length, tokens", powers(chart.x[0], chart.x[1]), 32, ink, line),
        axis(chart.y_label, chart.y_log ? decades(chart.y[0], chart.y[1]) : [0, 20, 40, 60, 80, 100], 64, ink, line)],
      series: [{ label: "length", value: function (u, value) { return value === null || value === undefined ? format.UNKNOWN : format.count(Math.round(value)); } }]
        .concat(chart.curves.map(function (curve) { return series_of(curve, colour); })),
      hooks: {
        drawClear: [function (u) { u.ctx.fillStyle = paper; u.ctx.fillRect(0, 0, u.ctx.canvas.width, u.ctx.canvas.height); }],
        draw: [function (u) {
          chart.uprights.forEach(function (upright, at) { draw_upright(u, { x: upright.x, text: upright.text, line: at }, ink); });
          chart.marks.forEach(function (mark) { draw_mark(u, mark, paper, ink); });
        }]
      }
    };
  }

  /* Into ROOT; null where there is no uPlot. */
  function show(root, chart) {
    if (!window.uPlot) return null;
    var xs = lengths(chart.x[0], chart.x[1]), plot = null;
    var values = [xs].concat(chart.curves.map(function (curve) { return xs.map(curve.value); }));
    var stage = draw.element("div", { class: "curve", role: "img", "aria-label": chart.title });
    root.append(stage);
    function build() {
      var width = Math.floor(stage.clientWidth);
      if (plot) plot.destroy();
      plot = width ? new window.uPlot(options_of(chart, width), values, stage) : null;
    }
    build();
    new ResizeObserver(function () { if (!plot || Math.floor(stage.clientWidth) !== plot.width) build(); }).observe(stage);
    ["(prefers-color-scheme: dark)", "print"].forEach(function (media) { matchMedia(media).addEventListener("change", build); }); /* paper is light */
    return stage;
  }

  return { show: show, powers: powers };
})();
