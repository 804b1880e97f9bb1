/* SPDX-License-Identifier: Apache-2.0 */
/* The selected operator beside the tables, with all that the JSON says of it. */
"use strict";
(function (rooftap) {
  var element = rooftap.draw.element, names = rooftap.names, format = rooftap.format, facts = rooftap.facts;
  var SHOWN = 240; /* letters of a name at first */

  function select_button(text, place) {
    var button = element("button", { type: "button", class: "link" }, text);
    button.addEventListener("click", function () { rooftap.state.select(place, "detail"); });
    return button;
  }

  /* The whole of a long text is put into the page only when it is asked for. */
  function long_text(text) {
    var shown = names.element(text, SHOWN);
    if (text.length <= SHOWN) return [shown];
    var button = element("button", { type: "button", class: "link more" }, "show all " + format.count(text.length) + " letters");
    button.addEventListener("click", function () {
      shown.replaceWith(names.element(text));
      button.remove();
    });
    return [shown, " ", button];
  }

  function value_nodes(value) {
    if (typeof value === "string") return [names.element(value)];
    if (value.select !== undefined && value.select !== null) return [select_button(value.text, value.select)];
    return value.long ? long_text(value.text) : [names.element(value.text)];
  }

  function values_of(value) { return Array.isArray(value) ? value : [value]; }

  function list_of(group) {
    var list = element("dl", { class: "facts" });
    group.rows.forEach(function (row) {
      var values = values_of(row[1]);
      list.append(element("dt", null, row[0]), element("dd", null, values.length === 1 ? value_nodes(values[0])
        : values.map(function (value) { return element("div", null, value_nodes(value)); })));
    });
    return list;
  }

  function as_text(title, groups) {
    return title + "\n" + groups.map(function (group) {
      return "\n" + group.title + "\n" + group.rows.map(function (row) {
        return "  " + row[0] + ": " + values_of(row[1]).map(function (value) {
          return names.visible(typeof value === "string" ? value : value.text);
        }).join("; ");
      }).join("\n") + "\n";
    }).join("");
  }

  function place_text(index) {
    return "row " + format.count(index + 1) + " of " + format.count(rooftap.state.total()) + ", longest time first";
  }

  /* ---- the panel ---- */

  function hint() {
    return [element("p", { class: "note" },
      "Select a row, or a bubble of the roofline, and all that is known of it stands here.")];
  }

  function beyond(index) {
    return [element("p", { class: "note" }, "Not in this file: row " + format.count(index + 1) + " of " +
      format.count(rooftap.state.total()) + ". `rooftap report --json` has all of them.")];
  }

  function buttons(index, groups, data) {
    var live = element("span", { class: "said", role: "status" });
    var copy = element("button", { type: "button" }, "Copy as text");
    copy.addEventListener("click", function () {
      var title = names.of(data.operators[index]) + " (" + place_text(index) + ")";
      rooftap.save.copy(as_text(title, groups), "Operator", function (what) { live.textContent = what; });
    });
    var close = element("button", { type: "button" }, "Deselect");
    close.addEventListener("click", function () { rooftap.state.select(null, "detail"); });
    return element("p", { class: "toolbar" }, [copy, close, live]);
  }

  function operator(index, data) {
    var groups = facts.of(index, data);
    var content = [element("p", { class: "name" }, long_text(names.of(data.operators[index]))),
      element("p", { class: "place" }, place_text(index)), buttons(index, groups, data)];
    groups.forEach(function (group) {
      content.push(element("section", { "aria-label": group.title }, [element("h4", null, group.title), list_of(group)]));
    });
    return content;
  }

  function start(root, data) {
    if (!data.operators.length) return;
    var content = element("div", { class: "content", tabindex: "0", role: "group", "aria-label": "Selected operator" });
    var panel = element("aside", { class: "detail", "aria-labelledby": "detail-title" },
      [element("h3", { id: "detail-title" }, "Selected operator"), content]);
    function show(index) {
      panel.classList.toggle("empty", index === null);
      content.replaceChildren.apply(content, index === null ? hint()
        : data.operators[index] ? operator(index, data) : beyond(index));
    }
    root.closest("section").append(panel);
    rooftap.state.on("select", function (index) {
      show(index);
      content.scrollTop = 0; /* not at the start: it would lay out the page before it is whole */
    });
    show(rooftap.state.selected());
  }

  rooftap.parts.push({ name: "operators", start: start });
})(window.rooftap);
