/* SPDX-License-Identifier: Apache-2.0 */
/* What stands around the roofline's plot: choice of GPU, zoom, filters, the legend whose entries are switches, and the lines
 * that say openly what is not drawn. All controls are buttons, fields and lists of the browser's own. */
"use strict";
var rooftap = window.rooftap || {};
window.rooftap = rooftap;

rooftap.plot_legend = (function () {
  var FILTERS = [
    { key: "kinds", word: "Kind", of: function (op) { return [op.kind]; } },
    { key: "types", word: "Type", of: function (op) { return [rooftap.state.type_of(op)]; } },
    { key: "phases", word: "Phase", of: function (op) { return rooftap.state.phases_of(op); } }
  ];

  function element(name, attributes, children) { return rooftap.draw.element(name, attributes, children); }
  function svg(name, attributes, children) { return rooftap.draw.svg(name, attributes, children); }
  function percent(share) { return rooftap.format.share(share) + " %"; }
  function operators(count) { return rooftap.words.counted(count, "operator", "operators"); }

  /* ---- pictures in the legend: the same marks as in the plot ---- */

  var SHAPES = {
    memory: function () { return svg("circle", { cx: 10, cy: 10, r: 6 }); },
    compute: function () { return svg("rect", { x: 4.7, y: 4.7, width: 10.6, height: 10.6 }); },
    overhead: function () { return svg("path", { d: "M10 2.7 L18.1 16.7 L1.9 16.7 Z" }); },
    unknown: function () { return svg("path", { d: "M10 2.5 L17.5 10 L10 17.5 L2.5 10 Z" }); }
  };

  function class_picture(bound) {
    return svg("svg", { class: "plot-swatch", "data-bound": bound, width: 20, height: 20, viewBox: "0 0 20 20", "aria-hidden": "true" }, SHAPES[bound]());
  }

  function line_picture(standard) {
    return svg("svg", { class: "plot-swatch", width: 34, height: 12, viewBox: "0 0 34 12", "aria-hidden": "true" },
      svg("line", { x1: 1, y1: 6, x2: 33, y2: 6, class: "plot-line", "data-standard": standard,
        "stroke-dasharray": rooftap.plot_marks.DASHES[standard].join(" ") || null }));
  }

  function flag_picture(flag) {
    var children = [svg("circle", { cx: 11, cy: 11, r: 6, class: flag === "starved" ? "plot-starved" : "plot-inner" })];
    if (flag === "near_ridge") children.push(svg("circle", { cx: 11, cy: 11, r: 9.5, class: "plot-near" }));
    return svg("svg", { class: "plot-swatch", width: 22, height: 22, viewBox: "0 0 22 22", "aria-hidden": "true" }, children);
  }

  /* ---- above the plot ---- */

  function device_choice(data, choices, current, chosen) {
    if (choices.length < 2) return null;
    var select = element("select", { id: "plot-device", on: { change: function () { chosen(choices[select.selectedIndex]); } } },
      choices.map(function (device) { return element("option", { selected: device === current }, device_text(data, device)); }));
    return element("label", { class: "plot-device", for: "plot-device" }, ["GPU ", select]);
  }

  function device_text(data, device) {
    var count = rooftap.roofs.operators_of(data, device).length;
    var known = device !== null && data.devices[device];
    var name = device === null ? "not known which" : device + (known ? ": " : "") + (known ? rooftap.names.cut(rooftap.names.visible(rooftap.format.text(known.name)), 40) : "");
    return name + " (" + operators(count) + ")";
  }

  function zoom_buttons(actions) {
    return element("div", { class: "plot-zoom", role: "group", "aria-label": "Zoom" }, [
      element("button", { type: "button", "aria-label": "Zoom in", on: { click: actions.zoom_in } }, "+"),
      element("button", { type: "button", "aria-label": "Zoom out", on: { click: actions.zoom_out } }, "−"),
      element("button", { type: "button", on: { click: actions.reset } }, "Reset view")
    ]);
  }

  function occurring(data, filter) {
    var found = [];
    data.operators.forEach(function (op) {
      filter.of(op).forEach(function (key) { if (key && found.indexOf(key) < 0) found.push(key); });
    });
    return found;
  }

  /* A filter of all keys is none. */
  function switched(current, all, key, on) {
    var kept = new Set(all.filter(function (each) { return each === key ? on : !current || current.has(each); }));
    return kept.size === all.length ? null : kept;
  }

  function filter_group(data, filter) {
    var keys = occurring(data, filter);
    if (keys.length < 2) return null;
    var boxes = keys.map(function (key) {
      var box = element("input", { type: "checkbox", "data-key": key, on: { change: function () {
        var change = {};
        change[filter.key] = switched(rooftap.state.filter[filter.key], keys, key, box.checked);
        rooftap.state.set_filter(change, "plot");
      } } });
      return element("label", {}, [box, key.replace(/_/g, " ")]);
    });
    return element("fieldset", { "data-filter": filter.key }, [element("legend", {}, filter.word)].concat(boxes));
  }

  function clear_button() {
    return element("button", { type: "button", class: "plot-clear", on: { click: function () { rooftap.state.clear_filter("plot"); } } },
      "Clear filters");
  }

  function bar(data, choices, current, actions) {
    return element("div", { class: "plot-bar" }, [device_choice(data, choices, current, actions.device), zoom_buttons(actions)]
      .concat(FILTERS.map(function (filter) { return filter_group(data, filter); }), [clear_button()]));
  }

  /* After a filter was changed, here or by another part. */
  function show_filters(bar_node) {
    var filter = rooftap.state.filter;
    bar_node.querySelectorAll("fieldset").forEach(function (group) {
      var set = filter[group.dataset.filter];
      group.querySelectorAll("input").forEach(function (box) { box.checked = !set || set.has(box.dataset.key); });
    });
    bar_node.querySelector(".plot-clear").disabled = !rooftap.state.is_filtered();
  }

  /* ---- below it ---- */

  function class_switches(points) {
    var all = rooftap.plot_marks.CLASSES;
    return all.filter(function (bound) { return points.some(function (point) { return point.bound === bound; }); }).map(function (bound) {
      var set = rooftap.state.filter.bounds;
      var of_it = points.filter(function (point) { return point.bound === bound; });
      var on = !set || set.has(bound);
      return element("button", { type: "button", class: "plot-switch", "data-bound": bound, "aria-pressed": on ? "true" : "false",
        on: { click: function () { rooftap.state.set_filter({ bounds: switched(rooftap.state.filter.bounds, all, bound, !on) }, "plot"); } } },
      [class_picture(bound), rooftap.words.CLASSES.find(function (each) { return each.key === bound; }).name + " (" + of_it.length + ")"]);
    });
  }

  function path_words(line) { return line.side === "memory" ? "bandwidth" : line.name; }

  function line_words(line) {
    var text = rooftap.plot_marks.rate_text(line) + " " + line.word + (line.origin ? " (" + line.origin + ")" : "");
    return line.ridge ? text + ", ridge " + rooftap.plot_card.intensity(line.ridge) + " FLOP/B" : text;
  }

  function line_switch(line, hidden, toggle) {
    return element("button", { type: "button", class: "plot-switch", "data-line": line.id, "aria-pressed": hidden.has(line.id) ? "false" : "true",
      "aria-label": path_words(line) + ": " + line_words(line), title: line.source ? "from " + line.source : null,
      on: { click: function () { toggle(line.id); } } }, [line_picture(line.standard), line_words(line)]);
  }

  /* A row for each path, with its roofs of all standards. */
  function line_rows(picture) {
    var drawn = picture.lines.filter(function (line) { return !line.as_specification; });
    var paths = drawn.map(path_words).filter(function (path, place, all) { return all.indexOf(path) === place; });
    return paths.map(function (path) {
      return row(path, drawn.filter(function (line) { return path_words(line) === path; })
        .map(function (line) { return line_switch(line, picture.hidden, picture.toggle); }));
    });
  }

  function sizes(largest, most) {
    if (!(largest > 0)) return [];
    var fitting = [0.01, 0.05, 0.1, 0.25, 0.5, 1].filter(function (share) { return share <= Math.max(largest, 0.05) * 1.01; });
    var shares = [fitting[0], fitting[fitting.length >> 1], fitting[fitting.length - 1]];
    return shares.filter(function (share, place) { return shares.indexOf(share) === place; }).map(function (share) {
      var r = rooftap.roofs.radius(share, largest, rooftap.plot_marks.LEAST, most), side = Math.ceil(2 * r + 3);
      return element("span", { class: "plot-key" }, [
        svg("svg", { class: "plot-swatch", width: side, height: side, "aria-hidden": "true" }, svg("circle", { cx: side / 2, cy: side / 2, r: r, class: "plot-inner" })),
        Math.round(100 * share) + " %"
      ]);
    });
  }

  function flag_keys(points) {
    var words = { starved: "starved: fewer thread blocks than SMs", near_ridge: "near the ridge: within 10 %" };
    return ["starved", "near_ridge"].filter(function (flag) { return points.some(function (point) { return point[flag]; }); }).map(function (flag) {
      return element("span", { class: "plot-key" }, [flag_picture(flag), words[flag]]);
    });
  }

  function row(word, children) {
    return children.length ? element("div", { class: "plot-legend-row", role: "group", "aria-label": word }, [
      element("span", { class: "plot-legend-word" }, word), element("div", { class: "plot-legend-keys" }, children)
    ]) : null;
  }

  /* PICTURE: {drawn, lines, hidden, largest, most, toggle}. */
  function legend(node, picture) {
    var focused = document.activeElement && node.contains(document.activeElement) ? document.activeElement.dataset : null;
    var key = focused && (focused.bound ? "[data-bound=\"" + focused.bound + "\"]" : null);
    var line = focused && focused.line;
    rooftap.draw.clear(node);
    [
      row("Class", class_switches(picture.drawn.points)),
      row("Outline", flag_keys(picture.drawn.points)),
      row(picture.drawn.by_roof ? "Area: time at the roof" : "Area: time", sizes(picture.largest, picture.most))
    ].concat(line_rows(picture)).forEach(function (part) { if (part) node.append(part); });
    var again = key ? node.querySelector("button" + key)
      : line ? Array.from(node.querySelectorAll("button")).find(function (button) { return button.dataset.line === line; }) : null;
    if (again) again.focus();
  }

  /* ---- what is not drawn, and what the picture means ---- */

  var WHY = { intensity: "no arithmetic intensity is known", rate: "not timed, so no rate is known" };

  function left_out_text(part) {
    var share = part.share === null ? "" : ", " + percent(part.share) + " of GPU time,";
    return operators(part.count) + share + (part.count === 1 ? " is" : " are") + " not drawn: " + WHY[part.why] + ".";
  }

  function no_roof_text(data, device, lines) {
    if (device === null) return "No roof is drawn: it is not known on which GPU these ran.";
    if (!lines.length) return "No roof is known for this GPU: points stand at what they achieved.";
    if (!lines.some(function (line) { return line.side === "compute"; })) return "No compute roof is known of what ran here, so only the bandwidth is drawn.";
    return null;
  }

  /* Operators beside whose path no peak stands, such as dp4a's since Volta, under roofs that are those of other paths. */
  function no_peak_text(data, drawn, lines) {
    if (!lines.some(function (line) { return line.side === "compute"; })) return null;
    var without = drawn.points.filter(function (point) {
      var op = data.operators[point.index];
      return op.roof === null && path_of(op);
    });
    var paths = without.map(function (point) { return path_of(data.operators[point.index]); }).filter(function (path, place, all) {
      return all.indexOf(path) === place;
    });
    var share = rooftap.roofs.sum(without, "share"), of_what = drawn.by_roof ? " of the time at the roof," : " of GPU time,";
    return without.length ? operators(without.length) + (share === null ? "" : ", " + percent(share) + of_what) +
      (without.length === 1 ? " multiplies" : " multiply") + " on " + paths.join(" and ") + ", of which no peak is known: of the roofs only the bandwidth's is " +
      (without.length === 1 ? "its own." : "theirs.") : null;
  }

  function path_of(op) { return (op.launch && op.launch.path) || op.type_compute || null; }

  function estimated_text(data, device, lines) {
    var identity = device !== null && data.devices[device] && data.devices[device].identity;
    return lines.length && identity && identity.estimated ? "The roofs are estimates: what the driver says of this GPU contradicts its row in the table." : null;
  }

  function by_roof_text(drawn) {
    if (!drawn.by_roof) return null;
    var timed = drawn.left_out.some(function (part) { return part.share > 0; });
    return (timed ? "No operator of known intensity was timed" : "Nothing was timed") +
      ": points stand at their roof, where they could be at most, by their share of the time there. No rate was measured.";
  }

  /* The lines under the plot, as texts. */
  function notes(data, device, drawn, lines) {
    var cut = data.cut && data.cut.operators;
    var held = lines.filter(function (line) { return line.as_specification && line.standard === "held_clock"; });
    return [
      data.simulated ? "Simulated: rates are of a model's times, no GPU was measured." : null,
      by_roof_text(drawn),
      no_roof_text(data, device, lines),
      no_peak_text(data, drawn, lines),
      estimated_text(data, device, lines),
      drawn.points.some(function (point) { return point.share > 0; }) ? null : "No share of time is known, so sizes mean nothing."
    ].concat(drawn.left_out.map(left_out_text), [
      cut ? operators(cut.count) + (cut.share === null ? "" : ", " + percent(cut.share) + " of GPU time,") + " beyond the first " +
        rooftap.format.count(data.operators.length) + (cut.count === 1 ? " is" : " are") + " not on this page, on any GPU." : null,
      held.length ? "Held clock: the specification's, for " + held.map(function (line) { return line.name; }).join(", ") + "." : null
    ]).filter(Boolean);
  }

  function status(shown, drawn) {
    var all = drawn.points.length;
    var share = rooftap.roofs.sum(shown, "share");
    var of_what = drawn.by_roof ? " of the time at the roof" : " of GPU time";
    var text = shown.length === all ? operators(all) + " drawn" : "Filters show " + shown.length + " of " + operators(all);
    return text + (share === null ? "." : ", " + percent(share) + of_what + ".");
  }

  return { bar: bar, show_filters: show_filters, legend: legend, notes: notes, status: status };
})();
