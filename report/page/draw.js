/* SPDX-License-Identifier: Apache-2.0 */
/* Elements made without markup: every text is a text node, so no name can become more than its letters. */
"use strict";
var rooftap = window.rooftap || {};
window.rooftap = rooftap;

rooftap.draw = (function () {
  var SVG = "http://www.w3.org/2000/svg";

  function fill(node, attributes, children) {
    Object.keys(attributes || {}).forEach(function (key) {
      var value = attributes[key];
      if (value === null || value === undefined || value === false) return;
      if (key === "on") Object.keys(value).forEach(function (event) { node.addEventListener(event, value[event]); });
      else node.setAttribute(key, value === true ? "" : String(value));
    });
    (Array.isArray(children) ? children : children === undefined || children === null ? [] : [children]).forEach(function (child) {
      if (child !== null && child !== undefined) node.append(child instanceof Node ? child : String(child));
    });
    return node;
  }

  return {
    /* element("p", {class: "note", on: {click: f}}, ["text", node]) */
    element: function (name, attributes, children) { return fill(document.createElement(name), attributes, children); },
    svg: function (name, attributes, children) { return fill(document.createElementNS(SVG, name), attributes, children); },
    clear: function (node) { node.replaceChildren(); return node; },
    /* The value of a custom property of page.css, such as "--memory": for canvases, which have no classes. */
    colour: function (property) { return getComputedStyle(document.documentElement).getPropertyValue(property).trim(); }
  };
})();
