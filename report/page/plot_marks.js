/* SPDX-License-Identifier: Apache-2.0 */
/* What is drawn onto uPlot's canvas beside its axes: roofs with their labels, ridges, and a mark for each operator. Class is
 * told by shape as well as by colour, area is the share of time. All in the canvas's own pixels. */
"use strict";
var rooftap = window.rooftap || {};
window.rooftap = rooftap;

rooftap.plot_marks = (function () {
  var DASHES = { specification: [], achievable: [8, 5], held_clock: [2, 4] };
  var LEAST = 3.5; /* radius of the smallest mark, in pixels of the page */
  var CLASSES = ["memory", "compute", "overhead", "unknown"];

  /* Colours of page.css as they are now: they change with the scheme. */
  function palette() {
    var colours = {};
    CLASSES.concat(["ink", "paper", "panel", "line", "muted", "accent"]).forEach(function (name) {
      colours[name] = rooftap.draw.colour("--" + name) || "#888888";
    });
    colours.font = rooftap.draw.colour("--text") || "sans-serif";
    return colours;
  }

  /* ---- shapes of one area ---- */

  var OUTLINES = {
    memory: function (path, x, y, r) { path.arc(x, y, r, 0, 2 * Math.PI); },
    compute: function (path, x, y, r) {
      var half = r * Math.sqrt(Math.PI) / 2;
      path.rect(x - half, y - half, 2 * half, 2 * half);
    },
    overhead: function (path, x, y, r) { polygon(path, x, y + r / 6, r * Math.sqrt(Math.PI / (3 * Math.sqrt(3) / 4)), 3); },
    unknown: function (path, x, y, r) { polygon(path, x, y, r * Math.sqrt(Math.PI / 2), 4); }
  };

  /* Regular, one corner up, RADIUS to the corners. */
  function polygon(path, x, y, radius, corners) {
    for (var corner = 0; corner < corners; corner++) {
      var angle = 2 * Math.PI * corner / corners - Math.PI / 2;
      path[corner ? "lineTo" : "moveTo"](x + radius * Math.cos(angle), y + radius * Math.sin(angle));
    }
    path.closePath();
  }

  function outline(context, bound, x, y, r) {
    context.beginPath();
    (OUTLINES[bound] || OUTLINES.unknown)(context, x, y, r);
  }

  /* One operator: {bound, starved, near_ridge, standing} at x, y. RATIO: pixels of the canvas for one of the page. */
  function mark(context, colours, point, x, y, r, ratio) {
    var colour = colours[point.bound] || colours.unknown;
    outline(context, point.bound, x, y, r);
    context.setLineDash([]);
    context.fillStyle = colour;
    context.globalAlpha = point.standing === "roof" ? 0.15 : 0.5;
    context.fill();
    context.globalAlpha = 1;
    context.lineWidth = 1.5 * ratio;
    context.strokeStyle = colour;
    context.stroke();
    if (point.starved) {
      context.lineWidth = Math.min(2.5 * ratio, Math.max(1.5 * ratio, r / 3));
      context.strokeStyle = colours.ink;
      /* Eight dashes around, or as many of four pixels as there is room for. */
      var dash = Math.min(4 * ratio, 2 * Math.PI * r / 16);
      context.setLineDash([dash * 1.15, dash * 0.85]);
      context.stroke();
    }
    if (point.near_ridge) {
      outline(context, point.bound, x, y, r + 4 * ratio);
      context.lineWidth = 1.5 * ratio;
      context.strokeStyle = colours.ink;
      context.setLineDash([]);
      context.stroke();
    }
    context.setLineDash([]);
  }

  function selection(context, colours, point, x, y, r, ratio) {
    outline(context, point.bound, x, y, r + 7 * ratio);
    context.lineWidth = 6 * ratio;
    context.strokeStyle = colours.paper;
    context.stroke();
    context.lineWidth = 3 * ratio;
    context.strokeStyle = colours.accent;
    context.stroke();
  }

  /* ---- text ---- */

  function written(context, colours, text, x, y, ratio, colour) {
    context.lineJoin = "round";
    context.lineWidth = 4 * ratio;
    context.strokeStyle = colours.paper;
    context.strokeText(text, x, y);
    context.fillStyle = colour || colours.ink;
    context.fillText(text, x, y);
  }

  function overlaps(a, b) { return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom; }

  function free(box, taken, area) {
    return box.left >= area.left && box.right <= area.right && box.top >= area.top && box.bottom <= area.bottom &&
      !taken.some(function (other) { return overlaps(box, other); });
  }

  /* The first free place of BOX as it is moved by STEP {x, y}, at most TRIES times; null: there is none. */
  function free_place(box, step, tries, taken, area) {
    for (; tries > 0; tries--) {
      if (free(box, taken, area)) return box;
      box = { left: box.left + step.x, right: box.right + step.x, top: box.top + step.y, bottom: box.bottom + step.y };
    }
    return null;
  }

  /* ---- roofs ---- */

  /* FRAME: {context, colours, ratio, area {left, top, right, bottom}, x(value), y(value), range {x, y}, points: boxes of the marks}. */
  function ends(frame, line) {
    var from = Math.max(line.from, frame.range.x[0]), to = Math.min(line.to, frame.range.x[1]);
    if (!(from < to)) return null;
    var height = rooftap.roofs.height;
    return { x0: frame.x(from), y0: frame.y(height(line, from)), x1: frame.x(to), y1: frame.y(height(line, to)) };
  }

  function roof(frame, line) {
    var at = ends(frame, line);
    if (!at) return;
    var context = frame.context;
    context.beginPath();
    context.moveTo(at.x0, at.y0);
    context.lineTo(at.x1, at.y1);
    context.setLineDash(DASHES[line.standard].map(function (length) { return length * frame.ratio; }));
    context.lineWidth = (line.standard === "specification" ? 2 : 1.75) * frame.ratio;
    context.strokeStyle = line.standard === "specification" ? frame.colours.ink : frame.colours.muted;
    context.stroke();
    context.setLineDash([]);
  }

  function rate_text(line) {
    return line.side === "memory" ? rooftap.format.giga(line.rate) + " GB/s" : rooftap.plot_card.flops(line.rate);
  }

  function line_text(line) {
    var name = line.side === "memory" ? "" : line.short + " ";
    var word = line.standard === "specification" ? "" : ", " + line.word + (line.origin ? " (" + line.origin + ")" : "");
    return name + rate_text(line) + word;
  }

  /* Where a label of a flat part may stand, above or below it: as far right as there is room. CLEAR: no other line crosses it. */
  function flat_place(frame, line, at, width, above, clear) {
    var ratio = frame.ratio, height = 15 * ratio, step = 12 * ratio;
    var right = frame.area.right - 6 * ratio;
    var top = above ? at.y0 - height - 2 * ratio : at.y0 + 2 * ratio;
    if (clear && frame.flat.some(function (y) { return y > top && y < top + height; })) return null;
    /* Left of the highest roof there is nothing that its label could cover. */
    var tries = Math.max(Math.floor((right - at.x0 - width) / step) + 1, line === frame.highest ? 1 : 0);
    return free_place({ left: right - width, right: right, top: top, bottom: top + height }, { x: -step, y: 0 }, tries, frame.taken.concat(frame.points || []), frame.area);
  }

  /* {text, box}, by the first wish that there is room for; null: a label away from its line would be taken for another's, so
   * the legend alone names it. The specification's stands above its line, what is lower below it if it can. */
  function flat_choice(frame, line, at) {
    var texts = [line_text(line)];
    if (line.standard !== "specification") texts.push(rate_text(line) + " " + line.word);
    if (frame.context.measureText(texts[0]).width > 0.6 * (at.x1 - at.x0)) texts.reverse(); /* more of the line than a label should cover */
    var wishes = line.standard === "specification" ? [[true, frame.narrow]] : [[false, true], [true, true]];
    for (var wish = 0; wish < wishes.length; wish++)
      for (var each = 0; each < texts.length; each++) {
        var box = flat_place(frame, line, at, frame.context.measureText(texts[each]).width, wishes[wish][0], wishes[wish][1]);
        if (box) return { text: texts[each], box: box };
      }
    return null;
  }

  function flat_label(frame, line) {
    var at = ends(frame, line);
    if (!at || at.y0 < frame.area.top || at.y0 > frame.area.bottom) return;
    var context = frame.context, ratio = frame.ratio, choice = flat_choice(frame, line, at);
    if (!choice) return;
    var box = choice.box;
    frame.taken.push({ left: box.left - 12 * ratio, right: box.right + 12 * ratio, top: box.top, bottom: box.bottom });
    context.textAlign = "right";
    context.textBaseline = "middle";
    written(context, frame.colours, choice.text, box.right, (box.top + box.bottom) / 2, ratio, line.standard === "specification" ? null : frame.colours.muted);
  }

  /* Along the slope. */
  function slope_label(frame, line) {
    var at = ends(frame, line);
    if (!at || at.x1 <= at.x0) return;
    var context = frame.context, ratio = frame.ratio, area = frame.area;
    var rise = (at.y1 - at.y0) / (at.x1 - at.x0);
    var first = Math.max(at.x0, rise ? at.x0 + (area.bottom - at.y0) / rise : at.x0);
    var last = Math.min(at.x1, rise ? at.x0 + (area.top - at.y0) / rise : at.x1);
    var text = line_text(line);
    var room = Math.hypot(last - first, rise * (last - first));
    if (!(last > first) || context.measureText(text).width > room - 12 * ratio) return;
    var above = line.standard === "specification";
    var x = first + (last - first) * (above ? 0.42 : 0.22);
    if (context.measureText(text).width / 2 * Math.cos(Math.atan(rise)) > x - first) x = (first + last) / 2;
    context.save();
    context.translate(x, at.y0 + rise * (x - at.x0));
    context.rotate(Math.atan(rise));
    context.textAlign = "center";
    context.textBaseline = above ? "bottom" : "top";
    written(context, frame.colours, text, 0, (above ? -4 : 4) * ratio, ratio, above ? null : frame.colours.muted);
    context.restore();
  }

  function ridge(frame, line) {
    if (line.ridge === null || line.ridge === undefined || line.from < frame.range.x[0] || line.from > frame.range.x[1]) return;
    var context = frame.context, x = frame.x(line.from), y = frame.y(line.rate);
    context.beginPath();
    context.moveTo(x, Math.max(y, frame.area.top));
    context.lineTo(x, frame.area.bottom);
    context.lineWidth = frame.ratio;
    context.setLineDash([frame.ratio, 3 * frame.ratio]);
    context.strokeStyle = frame.colours.muted;
    context.stroke();
    context.setLineDash([]);
    if (y < frame.area.top || y > frame.area.bottom) return;
    context.beginPath();
    polygon(context, x, y, 6 * frame.ratio, 4);
    context.fillStyle = frame.colours.ink;
    context.fill();
  }

  function ridge_label(frame, line) {
    if (line.ridge === null || line.ridge === undefined || line.from < frame.range.x[0] || line.from > frame.range.x[1]) return;
    var context = frame.context, ratio = frame.ratio, height = 15 * ratio, gap = 5 * ratio;
    var text = "ridge " + rooftap.plot_card.intensity(line.ridge) + (frame.several ? " " + line.short : "");
    var width = context.measureText(text).width, x = frame.x(line.from), bottom = frame.area.bottom - gap;
    var right_of = x + gap + width <= frame.area.right;
    var left = right_of ? x + gap : x - gap - width;
    var box = free_place({ left: left, right: left + width, top: bottom - height, bottom: bottom }, { x: 0, y: -height }, 8, frame.taken.concat(frame.points || []), frame.area);
    if (!box) return; /* the legend names it */
    frame.taken.push({ left: box.left - 3 * gap, right: box.right + 3 * gap, top: box.top, bottom: box.bottom });
    context.textAlign = "left";
    context.textBaseline = "middle";
    written(context, frame.colours, text, left, (box.top + box.bottom) / 2, ratio);
  }

  function clipped(frame, draw) {
    var area = frame.area, context = frame.context;
    context.save();
    context.beginPath();
    context.rect(area.left, area.top, area.right - area.left, area.bottom - area.top);
    context.clip();
    context.font = 12 * frame.ratio + "px " + frame.colours.font;
    draw();
    context.restore();
  }

  function flat_lines(lines, above) {
    return lines.filter(function (line) { return line.side === "compute" && (line.standard === "specification") === above; })
      .sort(function (a, b) { return b.rate - a.rate; });
  }

  /* Below the points. */
  function roofs(frame, lines) {
    clipped(frame, function () {
      lines.forEach(function (line) { ridge(frame, line); });
      lines.forEach(function (line) { roof(frame, line); });
    });
  }

  /* Above them. */
  function labels(frame, lines) {
    clipped(frame, function () {
      var above = flat_lines(lines, true), below = flat_lines(lines, false);
      frame.taken = [];
      frame.highest = above[0];
      frame.narrow = frame.area.right - frame.area.left < 400 * frame.ratio;
      frame.several = above.filter(function (line) { return line.ridge; }).length > 1;
      frame.flat = above.concat(below).map(function (line) { return frame.y(line.rate); });
      above.concat(below).forEach(function (line) { flat_label(frame, line); });
      lines.forEach(function (line) { if (line.side === "memory") slope_label(frame, line); });
      above.reverse().forEach(function (line) { ridge_label(frame, line); });
    });
  }

  return {
    LEAST: LEAST, DASHES: DASHES, CLASSES: CLASSES, palette: palette, mark: mark, selection: selection, roofs: roofs, labels: labels, clipped: clipped,
    rate_text: rate_text, line_text: line_text
  };
})();
