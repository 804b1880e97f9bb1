/* SPDX-License-Identifier: Apache-2.0 */
/* Weights that are memory-bound for want of rows, or starved: how many rows each sees beside M*, where it turns compute-bound,
 * and what each change would save. Rows are bars of a table, so that it needs no second form for those who don't see bars. */
"use strict";
(function (rooftap) {
  var draw = rooftap.draw, format = rooftap.format, words = rooftap.words, tabular = rooftap.tabular, state = rooftap.state;
  var element = draw.element;
  var FROM = "skinny";
  var EMPTY_MOST = 3; /* bins without any in a row, before they are told in one */

  var SIDES = {
    M: "rows: so few of them that each byte of the weight is used too seldom",
    N: "N, its output features: the activation is read for too few of them",
    K: "K, its input features: the result is written for too few of them"
  };

  /* In the order of the table's columns. */
  var LEVERS = [
    { key: "batch", name: "more rows in each call", title: "BATCH", meaning: "all rows of calls below M* in calls of M* rows" },
    { key: "fuse", name: "one product with its siblings", title: "FUSE", meaning: "with those that read the same activation" },
    { key: "split_k", name: "K split over idle SMs", title: "FILL", meaning: "the best number of splits; partial sums are written and read" },
    { key: "8_bit", name: "the weight in 8 bits", title: "8BIT", meaning: "half the bytes of 16 bits; accuracy has to be checked" },
    { key: "4_bit", name: "the weight in 4 bits", title: "4BIT", meaning: "with a 16-bit scale for each 128; accuracy has to be checked" }
  ];

  function most_saved(weight) {
    return LEVERS.reduce(function (most, lever) { return Math.max(most, weight.saved_ns[lever.key] || 0); }, 0);
  }

  /* Places in data.weights, most saved first, as the table below has them. */
  function listed(data) {
    return data.weights.map(function (weight, place) { return place; }).filter(function (place) {
      return data.weights[place].skinny || data.weights[place].starved;
    }).sort(function (a, b) { return most_saved(data.weights[b]) - most_saved(data.weights[a]) || a - b; });
  }

  function types_of(weight) {
    return weight.weight_format || (weight.type_b && weight.type_b !== weight.type_a ? weight.type_a + ", " + weight.type_b : weight.type_a) ||
      "types not known";
  }

  function name_of(weight, data) {
    var gpu = data.devices.length > 1 && format.known(weight.device) ? "GPU " + weight.device + "  " : "";
    var times = weight.batch > 1 ? format.count(weight.batch) + " x " : "";
    return gpu + times + "N " + weight.n + "  K " + weight.k + "  " + types_of(weight);
  }

  /* ---- rows against M* ---- */

  function side_of(bin, weight) {
    if (weight.m_star_never) return "memory";
    if (!format.known(weight.m_star)) return "unknown";
    return bin.m_most < weight.m_star ? "memory" : bin.m_least >= weight.m_star ? "compute" : "both";
  }

  var SIDE_FILL = { memory: "fill-memory", compute: "fill-compute", both: "fill-unknown", unknown: "fill-unknown" };

  function bin_at(exponent, by_least) {
    var least = Math.pow(2, exponent);
    return by_least.get(least) || { m_least: least, m_most: 2 * least - 1, executions: 0, time_ns: 0 };
  }

  /* From its first bin with any to its last, and on to the one that M* lies in: a logarithmic axis from top to bottom. */
  function axis_of(weight) {
    var by_least = new Map(), ends = [];
    weight.m_bins.forEach(function (bin) {
      by_least.set(bin.m_least, bin);
      ends.push(Math.round(Math.log2(bin.m_least)));
    });
    if (format.known(weight.m_star) && weight.m_star >= 1) ends.push(Math.floor(Math.log2(weight.m_star)));
    var bins = [];
    for (var at = Math.min.apply(null, ends); ends.length && at <= Math.max.apply(null, ends); at++) bins.push(bin_at(at, by_least));
    return bins;
  }

  /* Long runs of bins without any become one entry: {m_least, m_most, executions 0, left_out}. M*'s own bin is kept. */
  function folded(bins, m_star) {
    var result = [], run = [];
    function flush() {
      if (run.length > EMPTY_MOST)
        result.push({ m_least: run[0].m_least, m_most: run[run.length - 1].m_most, executions: 0, time_ns: 0 });
      else result = result.concat(run);
      run = [];
    }
    bins.forEach(function (bin) {
      if (!bin.executions && !(m_star >= bin.m_least && m_star <= bin.m_most + 1)) { run.push(bin); return; }
      flush();
      result.push(bin);
    });
    flush();
    return result;
  }

  function range_text(bin) {
    return format.count(bin.m_least) + (bin.m_most > bin.m_least ? " to " + format.count(bin.m_most) : "");
  }

  function bin_row(bin, weight, what, most, total) {
    var value = bin[what], bar = element("span", { class: SIDE_FILL[side_of(bin, weight)] });
    bar.style.width = (most > 0 ? 100 * (value || 0) / most : 0) + "%";
    return element("tr", {}, [
      element("th", { scope: "row" }, range_text(bin)),
      element("td", { class: "bar-cell" }, element("div", { class: "bar open", "aria-hidden": "true" }, value > 0 ? bar : null)),
      element("td", {}, what === "time_ns" ? (bin.executions ? format.duration(value) : "") : format.count(value)),
      element("td", {}, bin.executions ? format.share(value / total) : "")
    ]);
  }

  function star_row(weight) {
    return element("tr", { class: "m-star" }, element("td", { colspan: "4" },
      "M* " + format.intensity(weight.m_star) + ": compute-bound from here on"));
  }

  function rows_table(weight, data) {
    var bins = folded(axis_of(weight), weight.m_star), timed = bins.every(function (bin) { return format.known(bin.time_ns); });
    var what = timed && weight.time_ns > 0 ? "time_ns" : "executions", unit = what === "time_ns" ? words.of_model("time", data) : "executions";
    var values = bins.map(function (bin) { return bin[what] || 0; });
    var most = Math.max.apply(null, values), total = values.reduce(function (sum, value) { return sum + value; }, 0);
    var body = element("tbody"), starred = !format.known(weight.m_star);
    bins.forEach(function (bin) {
      if (!starred && bin.m_least >= weight.m_star) { body.append(star_row(weight)); starred = true; }
      body.append(bin_row(bin, weight, what, most, total));
      if (!starred && bin.m_most + 1 > weight.m_star) { body.append(star_row(weight)); starred = true; }
    });
    return element("div", { class: "scroll" }, element("table", { class: "histogram" }, [
      element("caption", {}, "M, rows of the activation, by " + unit),
      tabular.head([{ name: "M", meaning: "rows of the activation, in powers of two" },
        { name: element("span", { class: "visually-hidden" }, "bar") }, { name: unit }, { name: "%" }]),
      body
    ]));
  }

  function star_words(weight) {
    if (weight.m_star_never)
      return "No M makes it compute-bound: N and K cap it at " + format.intensity(weight.intensity_limit) + " FLOP/B, below the ridge" +
        (weight.limited_by ? "; " + weight.limited_by + " is too small." : ".");
    if (!format.known(weight.m_star)) return "M* is not known: the peak or the bandwidth of this GPU is not, or its bytes are not.";
    var below = format.known(weight.time_below) ? format.share(weight.time_below) + " % of its time" :
      format.share(weight.executions_below) + " % of its executions";
    return below + (weight.time_below === null ? " have" : " has") + " fewer than M* " + format.intensity(weight.m_star) + " rows.";
  }

  function swatches(weight, bins) {
    var sides = new Set(bins.filter(function (bin) { return bin.executions; }).map(function (bin) { return side_of(bin, weight); }));
    var names = { memory: "below M*: memory-bound", both: "M* lies within", compute: "from M* on: compute-bound", unknown: "M* is not known" };
    if (weight.m_star_never) names.memory = "memory-bound, with any M";
    return element("ul", { class: "key" }, Object.keys(names).filter(function (side) { return sides.has(side); }).map(function (side) {
      return element("li", {}, [element("span", { class: "swatch " + SIDE_FILL[side], "aria-hidden": "true" }), names[side]]);
    }));
  }

  /* ---- what would help ---- */

  function base_of(weight, data) {
    var device = format.known(weight.device) ? data.devices[weight.device] : null;
    return device && device.share_base_ns > 0 ? device.share_base_ns : null;
  }

  function levers_table(weight, data) {
    var base_ns = base_of(weight, data), base = data.verdict.by_roof ? "% of the time at the roof" : "% of " + words.of_model("busy time", data);
    return tabular.table("What a change would save at most, at the roof; savings don't add up", [
      { name: "Change", kind: "text" }, { name: "Saves", meaning: "over this run" }, { name: base, meaning: "of this GPU" }
    ], LEVERS.map(function (lever) {
      var saved = weight.saved_ns[lever.key];
      return [element("abbr", { title: lever.title + ": " + lever.meaning }, lever.name),
        saved === 0 ? "0" : format.duration(saved), format.gain(base_ns && format.known(saved) ? saved / base_ns : null)];
    }), "levers");
  }

  function fill_words(weight) {
    if (!format.known(weight.blocks) || !(weight.sm_count > 0))
      return "Blocks: not known, or its kernel launches as many as there are SMs whatever the work.";
    var text = words.counted(weight.blocks, "thread block", "thread blocks") + " for " + words.counted(weight.sm_count, "SM", "SMs") +
      ": at most " + tabular.percent(weight.fill) + " of the compute peak";
    if (format.known(weight.bandwidth_fill) && weight.bandwidth_fill < 1) text += ", " + tabular.percent(weight.bandwidth_fill) + " of the bandwidth, as calibrated";
    return text + (weight.starved ? "; starved." : ".");
  }

  function sibling_words(weight, data) {
    var group = format.known(weight.sibling_group) ? data.sibling_groups[weight.sibling_group] : null;
    if (!format.known(weight.sibling_group)) return "No other product was seen to read the same activation next to it.";
    if (!group) return "It has siblings that read the same activation, which are not in this page.";
    var sides = group.operators.map(function (place) { return data.operators[place] ? String(data.operators[place].n) : "?"; });
    var text = "With its siblings (M " + group.m + ", N " + sides.join(" + ") + " = " + group.n_fused + ") as one product: " +
      format.intensity(group.intensity) + " to " + format.intensity(group.intensity_fused) + " FLOP/B, " + format.bytes(group.bytes_saved) +
      " less each of " + words.counted(group.times, "time", "times");
    if (format.known(group.fill) && format.known(group.fill_fused) && group.fill < 1)
      text += "; fill " + format.share(group.fill) + " to " + format.share(group.fill_fused) + " %";
    return text + ".";
  }

  /* ---- one weight ---- */

  function link_to(weight, data) {
    var place = state.longest(weight.operators);
    if (place === null) return element("p", { class: "note" }, "Its operators are not in this page.");
    var op = data.operators[place];
    return element("p", {}, element("button", { type: "button", class: "link", on: { click: function () { state.select(place, FROM); } } },
      "Select its longest operator: M " + format.text(op.m) + "  N " + op.n + "  K " + op.k));
  }

  function panel(weight, data) {
    return element("div", { class: "pair skinny-weight" }, [
      element("div", {}, [rows_table(weight, data), swatches(weight, weight.m_bins), element("p", {}, star_words(weight))]),
      element("div", {}, [
        levers_table(weight, data),
        element("ul", {}, [
          weight.short_side ? element("li", {}, "Short of " + SIDES[weight.short_side] + " (at M " + format.text(weight.m_p50) + ", the median).") : null,
          element("li", {}, fill_words(weight)),
          element("li", {}, sibling_words(weight, data))
        ]),
        link_to(weight, data)
      ])
    ]);
  }

  function chooser(places, data, chosen) {
    var select = element("select", { on: { change: function () { chosen(Number(select.value)); } } }, places.map(function (place) {
      var weight = data.weights[place], share = format.known(weight.share) ? "  (" + format.share(weight.share) + " % of " +
        words.of_model("GPU time", data) + ")" : "";
      return element("option", { value: place }, name_of(weight, data) + share);
    }));
    return select;
  }

  function cut_words(data) {
    var left = data.cut && data.cut.weights ? data.cut.weights.count : 0;
    return left ? element("p", { class: "note" }, words.counted(left, "more weight is", "more weights are") +
      " not in this page; those of them that are skinny stand in the table only.") : null;
  }

  function rows_below(root) {
    return Array.from(root.closest("section").querySelectorAll("table.rows tbody tr[data-index]"));
  }

  function mark_row(root, place) {
    rows_below(root).forEach(function (row) {
      var shown = Number(row.dataset.index) === place;
      row.classList.toggle("selected", shown);
      if (shown) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    });
  }

  function start(root, data) {
    var places = listed(data);
    if (!places.length) {
      if (!(data.cut && data.cut.weights)) root.closest("section").hidden = true;
      return;
    }
    var shown = element("div"), select = chooser(places, data, show);
    function show(place) {
      select.value = String(place);
      draw.clear(shown).append(panel(data.weights[place], data));
      mark_row(root, place);
    }
    /* A row of the table shows its weight, and selects what selecting it in the panel would. */
    function choose(place) {
      var operator = state.longest(data.weights[place].operators);
      show(place);
      if (operator !== null) state.select(operator, FROM);
    }
    root.append(element("div", { class: "toolbar names" }, element("label", { class: "choice" }, ["Weight ", select])), shown);
    [cut_words(data)].forEach(function (note) { if (note) root.append(note); });
    show(places[0]);
    rows_below(root).forEach(function (row) {
      var place = Number(row.dataset.index);
      if (data.weights[place]) row.addEventListener("click", function () { choose(place); });
    });
    state.on("select", function (index, from) {
      var place = from === FROM || index === null ? undefined : places.find(function (each) { return data.weights[each].operators.indexOf(index) >= 0; });
      if (place !== undefined) show(place);
    });
  }

  rooftap.parts.push({ name: "skinny", start: start });
})(window.rooftap);
