/* SPDX-License-Identifier: Apache-2.0 */
/* Elements made without markup: every text is a text node, so no name can become more than its letters, and every letter of
 * it can be seen. */
"use strict";
var rooftap = window.rooftap || {};
window.rooftap = rooftap;

rooftap.draw = (function () {
  var SVG = "http://www.w3.org/2000/svg";
  /* As report/html_text.c: controls, marks that can't be seen or turn the writing direction, halves of a character. */
  var HIDDEN = new RegExp("[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f" +
    "\\ufeff\\ud800-\\udfff]|\\p{Noncharacter_Code_Point}", "gu");

  function visible(text) {
    return String(text).replace(HIDDEN, "\ufffd");
  }

  function fill(node, attributes, children) {
    Object.keys(attributes || {}).forEach(function (key) {
      var value = attributes[key];
      if (value === null || value === undefined || value === false) return;
      if (key === "on") Object.keys(value).forEach(function (event) { node.addEventListener(event, value[event]); });
      else node.setAttribute(key, value === true ? "" : visible(value));
    });
    (Array.isArray(children) ? children : children === undefined || children === null ? [] : [children]).forEach(function (child) {
      if (child !== null && child !== undefined) node.append(child instanceof Node ? child : visible(child));
    });
    return node;
  }

  /* What a browser puts back into fields when one comes back to a page is no longer so: filters and order start anew. */
  function field(attributes) { return Object.assign({ autocomplete: "off" }, attributes); }

  return {
    /* element("p", {class: "note", on: {click: f}}, ["text", node]) */
    element: function (name, attributes, children) {
      return fill(document.createElement(name), name === "input" || name === "select" ? field(attributes) : attributes, children);
    },
    svg: function (name, attributes, children) { return fill(document.createElementNS(SVG, name), attributes, children); },
    /* For what gets a text in another way, such as a title, or a file that is saved. */
    visible: visible,
    clear: function (node) { node.replaceChildren(); return node; },
    /* The value of a custom property of page.css, such as "--memory": for canvases, which have no classes. */
    colour: function (property) { return getComputedStyle(document.documentElement).getPropertyValue(property).trim(); }
  };
})();
