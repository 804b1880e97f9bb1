/* SPDX-License-Identifier: Apache-2.0 */
/* The interactive roofline: uPlot has the axes, scales, cursor and zoom; roofs.js says what is drawn, plot_marks.js draws it,
 * plot_card.js and plot_legend.js make what stands beside. Without uPlot the picture that is in the page stays. */
"use strict";
(function (rooftap) {
  var FROM = "plot"; /* who selects and filters, for state.js */
  var SLACK = 6;     /* pixels beyond an edge that still hit it; a finger has more */
  var FINGER = 18;
  var NARROW = 620;

  var roofs = rooftap.roofs, marks = rooftap.plot_marks, legend = rooftap.plot_legend, card = rooftap.plot_card, draw = rooftap.draw;

  var data, plot, colours, nodes;
  var device;            /* index in devices[], or null: operators of no known device */
  var lines, drawn;      /* of the device, by roofs.js */
  var shown = [];        /* points that pass the filter, largest share first; as uPlot has them */
  var places = [];       /* of those, where they are: {left, top, radius}, pixels of the page in the plot's area */
  var largest, range, home;
  var hidden = new Set(); /* ids of lines that are switched off */
  var pointer = "mouse";  /* what touched the plot last: "touch" and "pen" aim worse */
  var walked = null;      /* place in SHOWN that the keyboard is at */

  /* ---- what is there to draw ---- */

  function choices() {
    var all = [];
    data.operators.forEach(function (op) {
      var at = typeof op.device === "number" ? op.device : null; /* null: not known, or several */
      if (all.indexOf(at) < 0) all.push(at);
    });
    return all.sort(function (a, b) { return a === null ? 1 : b === null ? -1 : a - b; });
  }

  /* Of those, the one that the longest operator ran on. */
  function busiest(among) {
    var first = data.operators.find(function (op) { return among.indexOf(typeof op.device === "number" ? op.device : null) >= 0; });
    return typeof first.device === "number" ? first.device : null;
  }

  function nothing_text(all) {
    if (!data.operators.length) return data.devices.length ? "No operator ran, so there is nothing to draw." : "No GPU was used, so there is no roofline.";
    var timed = data.operators.some(function (op) { return roofs.positive(op.flops_per_second); });
    if (timed) return "No operator has an intensity that is known, so none can be drawn.";
    var known = data.operators.some(function (op) { return roofs.positive(op.intensity); });
    return "Nothing can be drawn: " + (known ? "nothing was timed and no roof is known for " + (all.length > 1 ? "these GPUs" : "this GPU") + "."
      : "no operator has an arithmetic intensity that is known.");
  }

  /* ---- state of the picture ---- */

  function choose_device(chosen) {
    device = chosen;
    lines = roofs.lines(data, device);
    drawn = roofs.points(data, device);
    drawn.points.sort(function (a, b) { return (b.share || 0) - (a.share || 0) || a.index - b.index; });
    largest = drawn.points.reduce(function (most, point) { return Math.max(most, point.share || 0); }, 0);
    home = roofs.view(drawn.points, lines);
    range = { x: home.x, y: home.y };
    hidden.clear();
    filter_points();
  }

  function filter_points() {
    shown = drawn.points.filter(function (point) { return rooftap.state.accepts(point.index); });
    walked = null;
  }

  function uplot_data() {
    return [null, [shown.map(function (point) { return point.x; }), shown.map(function (point) { return point.y; })]];
  }

  function most_radius() { return Math.min(Math.max(nodes.canvas.clientWidth * 0.03, 12), 34); }

  function point_of(index) { return shown.find(function (point) { return point.index === index; }); }
  function visible_lines() { return lines.filter(function (line) { return !line.as_specification && !hidden.has(line.id); }); }

  /* ---- drawing: hooks of uPlot ---- */

  function frame(u) {
    var ratio = uPlot.pxRatio || window.devicePixelRatio || 1, box = u.bbox;
    return {
      context: u.ctx, colours: colours, ratio: ratio, range: range,
      area: { left: box.left, top: box.top, right: box.left + box.width, bottom: box.top + box.height },
      x: function (value) { return u.valToPos(value, "x", true); }, y: function (value) { return u.valToPos(value, "y", true); }
    };
  }

  function draw_points(u) {
    var f = frame(u), most = most_radius();
    places = shown.map(function (point) {
      return { left: u.valToPos(point.x, "x"), top: u.valToPos(point.y, "y"), radius: roofs.radius(point.share, largest, marks.LEAST, most) };
    });
    marks.clipped(f, function () {
      shown.forEach(function (point, order) {
        marks.mark(f.context, colours, point, f.x(point.x), f.y(point.y), places[order].radius * f.ratio, f.ratio);
      });
    });
    return null;
  }

  function draw_above(u) {
    var f = frame(u), selected = rooftap.state.selected();
    marks.clipped(f, function () {
      shown.forEach(function (point, order) {
        if (point.index !== selected && order !== walked) return;
        marks.selection(f.context, colours, point, f.x(point.x), f.y(point.y), places[order].radius * f.ratio, f.ratio);
      });
    });
    f.points = shown.map(function (point, order) {
      var x = f.x(point.x), y = f.y(point.y), r = places[order].radius * f.ratio;
      return { left: x - r, right: x + r, top: y - r, bottom: y + r };
    });
    marks.labels(f, visible_lines());
  }

  /* ---- axes ---- */

  var PREFIXES = [[1e18, " E"], [1e15, " P"], [1e12, " T"], [1e9, " G"], [1e6, " M"], [1e3, " k"]];

  function short_number(value) { return String(Number(value.toPrecision(6))); }

  function rate_mark(value) {
    var prefix = PREFIXES.find(function (each) { return value >= each[0] * 0.9999999 && value < each[0] * 1e6; });
    return prefix ? short_number(value / prefix[0]) + prefix[1] : short_number(value);
  }

  function intensity_mark(value) { return value >= 1000 && value < 1e7 ? rooftap.format.count(Number(value.toPrecision(6))) : short_number(value); }

  function axis(scale, label, written) {
    return {
      scale: scale, label: label, labelSize: 22, labelGap: 2, size: scale === "x" ? 34 : 58, gap: 4, space: 44,
      font: "12px " + colours.font, labelFont: "12px " + colours.font,
      stroke: function () { return colours.ink; },
      grid: { stroke: function () { return colours.line; }, width: 1, filter: only_numbered(scale) },
      ticks: { stroke: function () { return colours.muted; }, width: 1, size: 4 },
      splits: function (u, place, low, high) { return roofs.marks(low, high); },
      filter: only_numbered(scale),
      values: function (u, splits) { return splits.map(function (value) { return value === null ? "" : written(value); }); }
    };
  }

  function only_numbered(scale) {
    return function (u, splits) {
      return splits.map(function (value) { return roofs.numbered(value, range[scale][0], range[scale][1]) ? value : null; });
    };
  }

  function rate_label() {
    return (drawn.by_roof ? "attainable FLOP/s: not timed" : "achieved FLOP/s") + (data.simulated ? " (simulated)" : "");
  }

  function options(size) {
    return {
      mode: 2, width: size.width, height: size.height, legend: { show: false }, padding: [10, 24, 0, 0],
      scales: {
        x: { time: false, distr: 3, range: function () { return range.x; } },
        y: { distr: 3, range: function () { return range.y; } }
      },
      axes: [axis("x", "arithmetic intensity, FLOP/B", intensity_mark), axis("y", rate_label(), rate_mark)],
      series: [null, { facets: [{ scale: "x", auto: false }, { scale: "y", auto: false }], paths: draw_points, points: { show: false } }],
      cursor: {
        drag: { x: true, y: true, uni: 30, dist: 5, setScale: false },
        dataIdx: function (u, series) { return series === 1 ? hovered_order(u, SLACK) : null; },
        points: {
          size: function (u) { var order = u.cursor.idxs[1]; return order === null || !places[order] ? 0 : 2 * places[order].radius + 10; },
          fill: "transparent", width: 2, stroke: function () { return colours.accent; }
        },
        bind: { dblclick: function () { return function () { reset(); return null; }; } }
      },
      hooks: {
        drawAxes: [function (u) { marks.roofs(frame(u), visible_lines()); }],
        draw: [draw_above],
        setCursor: [show_card],
        setSelect: [zoom_to_box]
      }
    };
  }

  /* ---- zoom ---- */

  function show_range(x, y) {
    range = { x: x, y: y };
    plot.batch(function () {
      plot.setScale("x", { min: x[0], max: x[1] });
      plot.setScale("y", { min: y[0], max: y[1] });
    });
    show_card();
  }

  function reset() { show_range(home.x, home.y); }

  /* FACTOR below 1: in. About a point in pixels of the area, else what is selected, else the middle. */
  function zoom(factor, at) {
    var point = at ? null : walked !== null ? shown[walked] : point_of(rooftap.state.selected());
    var x = at ? plot.posToVal(at.left, "x") : point ? point.x : Math.sqrt(range.x[0] * range.x[1]);
    var y = at ? plot.posToVal(at.top, "y") : point ? point.y : Math.sqrt(range.y[0] * range.y[1]);
    show_range(roofs.zoomed(range.x, x, factor), roofs.zoomed(range.y, y, factor));
  }

  /* What was dragged over; a drag along one axis leaves the other. */
  function zoom_to_box(u) {
    var box = u.select;
    if (!(box.width > 0 || box.height > 0)) return;
    var x = [u.posToVal(box.left, "x"), u.posToVal(box.left + box.width, "x")];
    var y = [u.posToVal(box.top + box.height, "y"), u.posToVal(box.top, "y")];
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    show_range(roofs.zoomed(x, Math.sqrt(x[0] * x[1]), 1), roofs.zoomed(y, Math.sqrt(y[0] * y[1]), 1));
  }

  /* Two fingers: what was under FROM comes under TO, as much nearer as they went apart. */
  function pinch(factor, from, to) {
    function part(scale, at, moved) {
      var zoomed = roofs.zoomed(range[scale], plot.posToVal(at, scale), factor);
      var by = Math.pow(zoomed[1] / zoomed[0], moved);
      return [zoomed[0] * by, zoomed[1] * by];
    }
    show_range(part("x", from.left, (from.left - to.left) / plot.over.clientWidth), part("y", from.top, (to.top - from.top) / plot.over.clientHeight));
  }

  function wheel(event) {
    if (!event.ctrlKey && !nodes.canvas.contains(document.activeElement)) return;
    event.preventDefault();
    var area = plot.over.getBoundingClientRect();
    zoom(Math.pow(1.0015, event.deltaY * (event.deltaMode === 1 ? 16 : 1)), { left: event.clientX - area.left, top: event.clientY - area.top });
  }

  /* ---- hover, selection ---- */

  function hovered_order(u, slack) {
    if (u.cursor.left < 0) return null;
    var orders = roofs.under(places, u.cursor.left, u.cursor.top, slack);
    return orders.length ? orders[0] : null;
  }

  /* The card is of what the pointer is at, else the keyboard, else what is selected. */
  function current_order() {
    var hovered = plot && plot.cursor.idxs ? plot.cursor.idxs[1] : null;
    if (hovered !== null && hovered !== undefined && shown[hovered]) return hovered;
    if (walked !== null) return walked;
    var selected = rooftap.state.selected();
    var order = shown.findIndex(function (point) { return point.index === selected; });
    return order < 0 ? null : order;
  }

  function place_card(order) {
    var place = places[order];
    var narrow = nodes.stage.clientWidth < NARROW;
    nodes.card.classList.toggle("plot-card-below", narrow);
    if (narrow) { nodes.card.style.left = nodes.card.style.top = ""; return; }
    var stage = nodes.stage.getBoundingClientRect(), area = plot.over.getBoundingClientRect();
    var left = area.left - stage.left + place.left, top = area.top - stage.top + place.top;
    var width = nodes.card.offsetWidth, height = nodes.card.offsetHeight, gap = place.radius + 14;
    var beside = left + gap + width <= stage.width ? left + gap : left - gap - width >= 0 ? left - gap - width : Math.max(0, stage.width - width);
    nodes.card.style.left = Math.round(beside) + "px";
    nodes.card.style.top = Math.round(Math.min(Math.max(top - height / 3, 0), Math.max(0, stage.height - height))) + "px";
  }

  var card_of = null; /* what the card shows, so that a move of the pointer within a point does nothing */

  function show_card() {
    var order = plot ? current_order() : null;
    var point = order === null ? null : shown[order];
    var inside = point && point.x >= range.x[0] && point.x <= range.x[1] && point.y >= range.y[0] && point.y <= range.y[1];
    nodes.card.hidden = !inside;
    if (!inside) { card_of = null; return; }
    var pinned = point.index === rooftap.state.selected();
    var key = point.index + (pinned ? " pinned" : "");
    if (key !== card_of) {
      var twins = roofs.under(places, places[order].left, places[order].top, 0).length - 1;
      card.fill(nodes.card, data, point.index, { pinned: pinned, twins: Math.max(0, twins), close: free });
      nodes.card.classList.toggle("plot-pinned", pinned);
      card_of = key;
    }
    place_card(order);
  }

  function free() {
    walked = null;
    if (rooftap.state.selected() !== null) rooftap.state.select(null, FROM);
    else { plot.redraw(false); show_card(); }
    nodes.canvas.focus({ preventScroll: true });
  }

  function say(text) { nodes.live.textContent = text; }

  /* A click pins what is under it; another one on the same place pins the next that is there, or frees the last. */
  function click(event) {
    var area = plot.over.getBoundingClientRect();
    var slack = pointer === "mouse" ? SLACK : FINGER;
    var orders = roofs.under(places, event.clientX - area.left, event.clientY - area.top, slack);
    nodes.canvas.focus({ preventScroll: true });
    walked = null;
    if (pointer !== "mouse") plot.setCursor({ left: -10, top: -10 }); /* a finger that left points nowhere */
    if (!orders.length) return;
    var at = orders.findIndex(function (order) { return shown[order].index === rooftap.state.selected(); });
    var next = at < 0 ? 0 : at + 1;
    rooftap.state.select(next < orders.length ? shown[orders[next]].index : null, FROM);
  }

  function bring_into_view(point) {
    var x = roofs.including(range.x, point.x), y = roofs.including(range.y, point.y);
    if (x[0] !== range.x[0] || y[0] !== range.y[0]) show_range(x, y);
  }

  function selected(index, from) {
    var op = index === null ? null : data.operators[index];
    var at = op && typeof op.device === "number" ? op.device : null;
    if (from !== FROM) walked = null;
    if (op && at !== device) change_device(at);
    var point = index === null ? null : point_of(index);
    if (point) bring_into_view(point);
    plot.redraw(false);
    card_of = null;
    show_card();
    if (index === null) say("No operator is selected.");
    else if (point) say("Selected: " + card.spoken(data, index));
    else say(op ? "Selected, but not in the plot: " + card.spoken(data, index) : "What is selected is not on this page.");
  }

  /* ---- keyboard ---- */

  function walk(step, to) {
    if (!shown.length) return;
    var at = current_order();
    walked = to !== undefined ? to : at === null ? (step > 0 ? 0 : shown.length - 1) : (at + step + shown.length) % shown.length;
    plot.setCursor({ left: -10, top: -10 });
    bring_into_view(shown[walked]);
    plot.redraw(false);
    card_of = null;
    show_card();
    say((walked + 1) + " of " + shown.length + ": " + card.spoken(data, shown[walked].index));
  }

  function pan(x, y) {
    function moved(part, steps) { var by = Math.pow(part[1] / part[0], 0.1 * steps); return [part[0] * by, part[1] * by]; }
    show_range(moved(range.x, x), moved(range.y, y));
  }

  var KEYS = {
    ArrowRight: function (event) { if (event.shiftKey) pan(1, 0); else walk(1); },
    ArrowDown: function (event) { if (event.shiftKey) pan(0, -1); else walk(1); },
    ArrowLeft: function (event) { if (event.shiftKey) pan(-1, 0); else walk(-1); },
    ArrowUp: function (event) { if (event.shiftKey) pan(0, 1); else walk(-1); },
    Home: function () { walk(0, 0); },
    End: function () { walk(0, shown.length - 1); },
    Enter: function () {
      var order = current_order();
      if (order === null) return;
      walked = order;
      rooftap.state.select(shown[order].index, FROM);
    },
    Escape: free,
    "+": function () { zoom(0.7); }, "=": function () { zoom(0.7); }, "-": function () { zoom(1 / 0.7); }, "0": function () { reset(); }
  };
  KEYS[" "] = KEYS.Enter;

  function key(event) {
    var here = event.target === nodes.canvas || event.key === "Escape"; /* that also on the card's button */
    if (!here || event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
    event.preventDefault();
    KEYS[event.key](event);
  }

  /* ---- everything beside the plot ---- */

  function show_texts() {
    nodes.status.textContent = legend.status(shown, drawn);
    legend.show_filters(nodes.bar);
    legend.legend(nodes.legend, { drawn: drawn, lines: lines, hidden: hidden, largest: largest, most: most_radius(), toggle: toggle_line });
    draw.clear(nodes.notes);
    legend.notes(data, device, drawn, lines).forEach(function (text) { nodes.notes.append(draw.element("li", {}, text)); });
    nodes.canvas.setAttribute("aria-label", "Roofline" + (data.simulated ? " of a simulated GPU" : "") + ", " + shown.length + " operators");
  }

  function toggle_line(id) {
    if (!hidden.delete(id)) hidden.add(id);
    plot.redraw(false);
    show_texts();
  }

  function filtered() {
    filter_points();
    plot.setData(uplot_data(), false);
    plot.redraw(false);
    card_of = null;
    show_card();
    show_texts();
  }

  function change_device(chosen) {
    choose_device(chosen);
    plot.axes[1].label = rate_label();
    plot.setData(uplot_data(), false);
    reset();
    var select = nodes.bar.querySelector("select");
    if (select) select.selectedIndex = choices().indexOf(device);
    card_of = null;
    show_card();
    show_texts();
  }

  function build(root, all) {
    var element = draw.element;
    nodes = {
      bar: legend.bar(data, all, device, {
        zoom_in: function () { zoom(0.7); }, zoom_out: function () { zoom(1 / 0.7); }, reset: reset, device: change_device
      }),
      status: element("p", { class: "plot-status" }),
      canvas: element("div", { class: "plot-canvas", tabindex: 0, role: "application", "aria-describedby": "plot-help" }),
      card: element("div", { class: "plot-card", hidden: true }),
      legend: element("div", { class: "plot-legend" }),
      notes: element("ul", { class: "plot-notes" }),
      live: element("p", { class: "plot-live", "aria-live": "polite" })
    };
    nodes.stage = element("div", { class: "plot-stage" }, [nodes.canvas, nodes.card]);
    nodes.help = element("p", { class: "plot-help", id: "plot-help" },
      "Point at a mark for its figures, click or Enter to pin it, Escape to free it. Arrow keys go through the operators by time; " +
      "with Shift they move the picture. Drag, + and − zoom, so does the wheel with Ctrl or after a click into the plot; a double click or 0 resets.");
    root.append(nodes.bar, nodes.status, nodes.stage, nodes.legend, nodes.notes, nodes.help, nodes.live);
  }

  function size() {
    var width = Math.max(Math.floor(nodes.stage.clientWidth), 200);
    return { width: width, height: Math.round(Math.min(Math.max(width * 0.52, 300), 620)) };
  }

  function resize() {
    if (!nodes.stage.clientWidth) return; /* not shown, as in print */
    var now = size();
    if (now.width !== plot.width || now.height !== plot.height) {
      plot.setSize(now);
      show_texts(); /* the legend's bubbles are as large as the plot's */
    }
    show_card();
  }

  function recolour() {
    colours = marks.palette();
    plot.redraw(false, true);
  }

  function listen() {
    plot.over.addEventListener("pointerdown", function (event) { pointer = event.pointerType; });
    plot.over.addEventListener("click", click);
    rooftap.plot_touch.listen(plot.over, pinch);
    plot.over.addEventListener("wheel", wheel, { passive: false });
    nodes.stage.addEventListener("keydown", key);
    nodes.canvas.addEventListener("blur", function () { if (walked !== null) { walked = null; plot.redraw(false); show_card(); } });
    rooftap.state.on("select", selected);
    rooftap.state.on("filter", filtered);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
    new ResizeObserver(resize).observe(nodes.stage);
  }

  function start(root, report) {
    data = report;
    if (!window.uPlot) {
      root.append(draw.element("p", { class: "note" }, "This build has no interactive plot: uPlot was not found when it was made."));
      return;
    }
    var all = choices().filter(function (each) { return roofs.points(data, each).points.length; });
    if (!all.length) {
      root.append(draw.element("p", { class: "note" }, nothing_text(choices())));
      return;
    }
    choose_device(busiest(all));
    colours = marks.palette();
    build(root, choices());
    plot = new window.uPlot(options(size()), uplot_data(), nodes.canvas);
    listen();
    show_texts();
    document.documentElement.classList.add("has-plot");
  }

  rooftap.parts.push({ name: "roofline", start: start });
})(window.rooftap);
