/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the report's JSON out of the page and starts each part. A part that fails says so in its place, the others stand. */
"use strict";
(function (rooftap) {
  var draw = rooftap.draw;

  function read() {
    var embedded = document.getElementById("data");
    return embedded ? JSON.parse(embedded.textContent) : rooftap.sample;
  }

  function start_part(part, data) {
    var section = document.getElementById(part.name);
    var root = section && section.querySelector(".part");
    try {
      part.start(root, data);
    } catch (error) {
      console.error(part.name, error);
      if (root) root.append(draw.element("p", { class: "problem" }, "This part can't be shown: " + error.message));
    }
  }

  function list_contents() {
    var contents = document.getElementById("contents");
    document.querySelectorAll("main > section").forEach(function (section) {
      /* It has nothing to say of this run. (Asking where it stands would lay out the whole page, again for each link.) */
      if (getComputedStyle(section).display === "none") return;
      contents.append(draw.element("a", { href: "#" + section.id }, section.querySelector("h2").textContent));
    });
  }

  /* ---- the header ---- */

  function fact(name, text, code) {
    return text ? draw.element("span", { class: name, title: code ? text : null }, [name + " ", code ? draw.element("code", {}, text) : text]) : null;
  }

  function fill_header(data) {
    var verdict = document.getElementById("verdict"), session = data.session;
    if (!verdict.textContent.trim()) verdict.textContent = data.verdict.sentence;
    draw.clear(document.getElementById("source")).append.apply(document.getElementById("source"), [
      fact("command", session.command, true), fact("on", session.host), fact("at", rooftap.tabular.utc(session.started_realtime_ns))
    ].filter(Boolean));
    document.title = "rooftap: " + rooftap.names.cut(rooftap.names.visible(session.command || session.path || "report"), 200);
  }

  /* ---- keyboard and paper ---- */

  /* What scrolls sideways can be reached by the keyboard and has a name. */
  function mark_scrolling() {
    var nodes = Array.from(document.querySelectorAll(".scroll, .by, .rows-box, #skinny-table, #picture, #text pre"));
    var wide = nodes.map(function (node) { return node.scrollWidth > node.clientWidth + 1; }); /* all first: one layout */
    nodes.forEach(function (node, place) {
      var over = wide[place];
      var title = node.querySelector("caption") || (node.closest("section, details") || document.body).querySelector("h2, summary");
      if (!over && node.dataset.scrolls) ["tabindex", "role", "aria-label", "data-scrolls"].forEach(function (name) { node.removeAttribute(name); });
      if (!over || node.hasAttribute("tabindex")) return;
      node.dataset.scrolls = "yes";
      node.tabIndex = 0;
      node.setAttribute("role", "region");
      node.setAttribute("aria-label", (title ? title.textContent.trim().slice(0, 80) : "table") + ", scrolls");
    });
  }

  /* On paper nothing can be opened, so what the figures rest on is; lists that were folded for their length stay so, and the
   * text report would say all of it once more. */
  function open_for_print() {
    var opened = [];
    window.addEventListener("beforeprint", function () {
      document.querySelectorAll("#overview details:not([open]), #provenance details:not([open])").forEach(function (details) {
        details.open = true;
        opened.push(details);
      });
    });
    window.addEventListener("afterprint", function () {
      opened.splice(0).forEach(function (details) { details.open = false; });
    });
  }

  function start() {
    var data = read();
    rooftap.state.data = data;
    fill_header(data);
    rooftap.parts.forEach(function (part) { start_part(part, data); });
    list_contents();
    mark_scrolling();
    window.addEventListener("resize", mark_scrolling);
    document.addEventListener("toggle", mark_scrolling, true);
    open_for_print();
    document.documentElement.dataset.ready = "yes";
  }

  try {
    start();
  } catch (error) {
    console.error(error);
    document.querySelector("main").prepend(draw.element("p", { class: "problem" },
      "The data of this page can't be read (" + error.message + "): what stands below was written without it."));
  }
})(window.rooftap);
