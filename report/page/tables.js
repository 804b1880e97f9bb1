/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of operators: which one is shown, its order, what is searched for, the selected row, and the ways out of the
 * page as CSV and JSON. The rows themselves came with the page. */
"use strict";
(function (rooftap) {
  var element = rooftap.draw.element, format = rooftap.format, facts = rooftap.facts, state = rooftap.state;
  var ME = "operators", PLOT = "plot", PAGE_ROWS = 10, FEW_ROWS = 12;
  var WORDS = { shape: ["operator", "operators"], weight: ["weight", "weights"], kernel: ["kernel", "kernels"] };

  var data, tables, shown, controls;

  function told(text) { controls.live.textContent = text; }

  /* ---- the tables ---- */

  function read_tables() {
    var found = {};
    document.querySelectorAll("#tables table.rows").forEach(function (table) {
      var model = rooftap.rows.read(table);
      if (!Object.prototype.hasOwnProperty.call(WORDS, model.by)) return;
      model.holder = table.closest(".by") || table;
      model.search = "";
      model.list = data[rooftap.rows.LISTS[model.by]] || [];
      model.rows.forEach(function (row) { row.words = null; });
      found[model.by] = model;
    });
    return found;
  }

  /* What a row is searched by, apart from operators, of which the state knows that: what it shows, and what is merged in it. */
  function words_of(model, row) {
    if (row.words === null) {
      var item = model.list[row.index] || {};
      var places = Array.isArray(item.operators) ? item.operators : [];
      row.words = [row.element.textContent, item.name, item.display_name, item.weight_format].concat(places.map(function (place) {
        return data.operators[place] ? state.words_of(data.operators[place]) : "";
      })).join(" ").toLowerCase();
    }
    return row.words;
  }

  function passes(model, row) {
    if (model.by === "shape") return state.accepts(row.index);
    return state.has_words(words_of(model, row), model.search);
  }

  /* The places of a list that a row stands for: the operator itself, or those that are merged in it. */
  function operators_of(model, row) {
    if (model.by === "shape") return [row.index];
    var item = model.list[row.index];
    return item && Array.isArray(item.operators) ? item.operators : [];
  }

  function visible_places(model) {
    return model.order.filter(function (place) { return !model.rows[place].element.hidden; });
  }

  /* ---- count of rows ---- */

  function share_text(share) {
    return format.known(share) ? ", " + format.share(share) + " % of " + (data.simulated ? "simulated " : "") + "GPU time" : "";
  }

  /* What has no time is no part of the GPU time. null: nothing of it was timed. */
  function share_of(model, places) {
    return places.reduce(function (sum, place) {
      var item = model.list[model.rows[place].index];
      return item && format.known(item.share) ? (sum || 0) + item.share : sum;
    }, null);
  }

  function count_text(model) {
    var places = visible_places(model), rest = data.cut && data.cut[rooftap.rows.LISTS[model.by]];
    var text = format.count(places.length) + " of " + format.count(model.rows.length) + " rows shown" +
      share_text(share_of(model, places));
    if (rest)
      text += "; the rest, " + rooftap.words.counted(rest.count, WORDS[model.by][0], WORDS[model.by][1]) +
        share_text(rest.share) + (rest.share === null ? " (time not known)" : "") + ", is not in this file";
    return text;
  }

  function is_filtered(model) {
    return model.by === "shape" ? state.is_filtered() : model.search !== "";
  }

  function filter_rows(model) {
    model.rows.forEach(function (row) { row.element.hidden = !passes(model, row); });
    keep_one_tab_stop(model);
    if (model !== tables[shown]) return;
    controls.count.textContent = count_text(model);
    controls.clear.disabled = !is_filtered(model);
  }

  /* ---- one table at a time ---- */

  function show(by) {
    shown = by;
    Object.keys(tables).forEach(function (other) { tables[other].holder.hidden = other !== by; });
    if (controls.by[by]) controls.by[by].checked = true;
    controls.search.value = by === "shape" ? state.filter.text : tables[by].search;
    filter_rows(tables[by]);
  }

  function search(text) {
    var model = tables[shown];
    if (shown === "shape") {
      state.set_filter({ text: text }, ME);
    } else {
      model.search = text;
      filter_rows(model);
    }
  }

  function clear_filters() {
    controls.search.value = "";
    if (shown === "shape") state.clear_filter(ME);
    else search("");
    controls.search.focus();
    told("All rows are shown.");
  }

  /* ---- selecting ---- */

  /* One row of a table can be reached by Tab, arrows move on from there. */
  function set_tab_stop(model, row) {
    if (model.stop) model.stop.element.tabIndex = -1;
    model.stop = row;
    if (row) row.element.tabIndex = 0;
  }

  function keep_one_tab_stop(model) {
    if (model.stop && !model.stop.element.hidden) return;
    var places = visible_places(model);
    set_tab_stop(model, places.length ? model.rows[places[0]] : null);
  }

  function mark(model, index) {
    var chosen = null;
    model.rows.forEach(function (row) {
      var is = index !== null && operators_of(model, row).indexOf(index) >= 0;
      row.element.setAttribute("aria-selected", is ? "true" : "false");
      if (is && !chosen) chosen = row;
    });
    if (chosen && !chosen.element.hidden) set_tab_stop(model, chosen);
    return chosen;
  }

  /* Of a long list the file holds the first. */
  function count_of(model, places) {
    var cut = data.cut && data.cut.lists && data.cut.lists[rooftap.rows.LISTS[model.by] + "[].operators"];
    return (cut ? "the " : format.count(places.length) + " ") + "operators";
  }

  function choose(model, row) {
    var places = operators_of(model, row), place = model.by === "shape" ? row.index : state.longest(places);
    set_tab_stop(model, row);
    if (place === null) {
      told(places.length ? "Its operators are not in this file: the longest is row " + format.count(places[0] + 1) + " of " +
        format.count(state.total()) + "." : "It has no operator.");
      return;
    }
    state.select(place, ME);
    if (model.by !== "shape" && places.length > 1)
      told("Selected " + facts.label(data.operators[place]) + ", the longest of " + count_of(model, places) + " of this " +
        model.by + ".");
    else told("");
  }

  /* Within what scrolls around the table alone: the plot stays where the pointer is. */
  function scroll_box(line) {
    var table = line.closest("table"), box = table.closest(".rows-box");
    var head = table.tHead ? table.tHead.offsetHeight : 0, foot = table.tFoot ? table.tFoot.offsetHeight : 0;
    var top = line.getBoundingClientRect().top - box.getBoundingClientRect().top, bottom = top + line.offsetHeight;
    if (top < head) box.scrollTop += top - head;
    else if (bottom > box.clientHeight - foot) box.scrollTop += bottom - box.clientHeight + foot;
  }

  /* Somebody else selected: the row comes into view; focus follows a link, not a pointer in the plot. */
  function reveal(index, from) {
    if (!data.operators[index]) {
      told("Not in this file: row " + format.count(index + 1) + " of " + format.count(state.total()) + ".");
      return;
    }
    if (!tables.shape) return;
    if (shown !== "shape") show("shape");
    var row = tables.shape.rows.filter(function (one) { return one.index === index; })[0];
    if (!row) return;
    told("Selected " + facts.label(data.operators[index]) + (row.element.hidden ? "; the filter hides its row." : "."));
    if (row.element.hidden) return;
    if (from === PLOT) {
      scroll_box(row.element);
      return;
    }
    row.element.focus({ preventScroll: true });
    row.element.scrollIntoView({ block: "nearest" });
  }

  function selected(index, from) {
    Object.keys(tables).forEach(function (by) { mark(tables[by], index); });
    if (index !== null) {
      if (from !== ME) reveal(index, from);
      return;
    }
    told("Nothing is selected.");
    if (from === "detail" && tables[shown].stop) tables[shown].stop.element.focus({ preventScroll: true }); /* its button is gone */
  }

  /* ---- pointer and keys ---- */

  function row_at(model, target) {
    var line = target.closest("tr");
    return model.rows.filter(function (row) { return row.element === line; })[0] || null;
  }

  function step_of(key, at, count) {
    switch (key) {
    case "ArrowDown": return at + 1;
    case "ArrowUp": return at - 1;
    case "PageDown": return at + PAGE_ROWS;
    case "PageUp": return at - PAGE_ROWS;
    case "Home": return 0;
    case "End": return count - 1;
    default: return null;
    }
  }

  function key_pressed(model, event) {
    var row = row_at(model, event.target);
    if (!row || event.ctrlKey || event.metaKey || event.altKey || event.target !== row.element) return;
    var places = visible_places(model), at = places.indexOf(model.rows.indexOf(row));
    var to = step_of(event.key, at, places.length);
    if (to !== null) {
      var next = model.rows[places[Math.max(0, Math.min(places.length - 1, to))]];
      choose(model, next);
      next.element.focus({ preventScroll: true });
      next.element.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter" || event.key === " ") {
      choose(model, row);
    } else if (event.key === "Escape") {
      state.select(null, ME);
    } else {
      return;
    }
    event.preventDefault();
  }

  /* A text that was marked to be copied is no click on a row. */
  function clicked(model, event) {
    var row = row_at(model, event.target);
    if (!row || String(window.getSelection()) !== "") return;
    choose(model, row);
    row.element.focus({ preventScroll: true });
  }

  /* Its rows scroll under their headers; what is written below them stays below. */
  function put_in_box(table) {
    var box = element("div", { "class": "rows-box" });
    table.replaceWith(box);
    box.append(table);
  }

  function make_interactive(model) {
    put_in_box(model.table);
    model.table.setAttribute("role", "grid");
    model.table.setAttribute("aria-multiselectable", "false");
    model.rows.forEach(function (row) {
      row.element.tabIndex = -1;
      row.element.setAttribute("aria-selected", "false");
    });
    rooftap.sorting.attach(model, told);
    model.body.addEventListener("click", function (event) { clicked(model, event); });
    model.body.addEventListener("keydown", function (event) { key_pressed(model, event); });
    keep_one_tab_stop(model);
  }

  /* ---- ways out ---- */

  function shown_csv() {
    return rooftap.rows.to_csv(tables[shown], data, visible_places(tables[shown]));
  }

  function what_csv() {
    var count = visible_places(tables[shown]).length;
    return "CSV of " + format.count(count) + " " + (count === 1 ? "row" : "rows");
  }

  function file_name(ending) { return rooftap.save.base_name(data.session && data.session.path) + ending; }

  function save_csv() {
    var name = file_name("-" + shown + ".csv");
    rooftap.save.file(name, "text/csv;charset=utf-8", shown_csv());
    told(what_csv() + " saved as " + name + ".");
  }

  /* The text that the page was made with. */
  function save_json() {
    var embedded = document.getElementById("data"), name = file_name(".json");
    rooftap.save.file(name, "application/json", (embedded ? embedded.textContent.trim() : JSON.stringify(data, null, 1)) + "\n");
    told("JSON saved as " + name + (data.cut ? ", with the rows that this page holds." : "."));
  }

  /* ---- the toolbar ---- */

  function button(text, act) {
    return element("button", { type: "button", on: { click: act } }, text);
  }

  function by_switch() {
    var kinds = Object.keys(WORDS).filter(function (by) { return tables[by]; });
    if (kinds.length < 2) return null;
    var labels = kinds.map(function (by) {
      var radio = element("input", { type: "radio", name: "by", value: by, on: { change: function () { show(by); } } });
      controls.by[by] = radio;
      return element("label", null, [radio, " " + by]);
    });
    return element("fieldset", { "class": "by-switch" }, [element("legend", null, "One row for each")].concat(labels));
  }

  function search_box() {
    controls.search = element("input", { type: "search", id: "search-rows", autocomplete: "off", spellcheck: "false",
      on: { input: function () { search(controls.search.value); } } });
    return element("div", { "class": "search" }, [element("label", { "for": "search-rows" }, "Search"), controls.search]);
  }

  function toolbar() {
    controls = { by: {} };
    controls.live = element("p", { "class": "live", role: "status" });
    controls.count = element("p", { "class": "count", "aria-live": "polite" });
    controls.clear = button("Show all rows", clear_filters);
    return [
      element("div", { "class": "toolbar", role: "group", "aria-label": "Rows" }, [by_switch(), search_box(), controls.clear]),
      element("div", { "class": "toolbar", role: "group", "aria-label": "Export" }, [
        button("Copy as CSV", function () { rooftap.save.copy(shown_csv(), what_csv(), told); }),
        button("Save as CSV", save_csv), button("Download JSON", save_json)]),
      element("div", { "class": "told" }, [controls.count, controls.live])
    ];
  }

  /* Without a row there is still the JSON. */
  function start_empty(root) {
    controls = { live: element("p", { "class": "live", role: "status" }) };
    root.append(element("p", { "class": "note" }, "No operator: nothing that has a row was recorded."),
      element("div", { "class": "toolbar" }, [button("Download JSON", save_json)]), controls.live);
  }

  function start(root, of) {
    data = of;
    tables = read_tables();
    var first = Object.keys(WORDS).filter(function (by) { return tables[by] && tables[by].rows.length; })[0];
    if (!first) {
      start_empty(root);
      return;
    }
    var few = Object.keys(tables).every(function (by) { return tables[by].rows.length <= FEW_ROWS; });
    root.closest("section").classList.toggle("few", few);
    root.append.apply(root, toolbar());
    Object.keys(tables).forEach(function (by) { make_interactive(tables[by]); });
    state.on("select", selected);
    state.on("filter", function (nothing, from) {
      if (tables.shape) filter_rows(tables.shape);
      if (from !== ME && shown === "shape") controls.search.value = state.filter.text;
    });
    show(first);
  }

  rooftap.parts.push({ name: "operators", start: start });
})(window.rooftap);
