/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the report's JSON out of the page and starts each part. A part that fails says so in its place, the others stand. */
"use strict";
(function (rooftap) {
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
      if (root) root.append(rooftap.draw.element("p", { class: "problem" }, "This part can't be shown: " + error.message));
    }
  }

  function list_contents() {
    var contents = document.getElementById("contents");
    document.querySelectorAll("main > section").forEach(function (section) {
      if (section.hidden) return;
      contents.append(rooftap.draw.element("a", { href: "#" + section.id }, section.querySelector("h2").textContent));
    });
  }

  function start() {
    var data = read();
    rooftap.state.data = data;
    document.getElementById("simulated").hidden = !data.simulated;
    rooftap.parts.forEach(function (part) { start_part(part, data); });
    list_contents();
    document.documentElement.dataset.ready = "yes";
  }

  start();
})(window.rooftap);
