/* SPDX-License-Identifier: Apache-2.0 */
/* Out of the page: to the clipboard, and into files. A page from file:// may not be given the clipboard, then the older way
 * is tried, and if that fails too, the text lies there selected. */
"use strict";
var rooftap = window.rooftap || {};
window.rooftap = rooftap;

rooftap.save = (function () {
  function select_text(text) {
    var area = rooftap.draw.element("textarea", { class: "copied", readonly: true, "aria-label": "Text to copy" });
    area.value = text;
    document.body.append(area);
    area.focus({ preventScroll: true });
    area.select();
    return area;
  }

  /* Shows the text itself, selected. */
  function offer(area, back) {
    var open = true;
    area.classList.add("offered");
    function close() {
      if (!open) return;
      open = false; /* its own removal blurs it */
      area.remove();
      if (back && back.focus) back.focus({ preventScroll: true });
    }
    area.addEventListener("keydown", function (event) { if (event.key === "Escape") close(); });
    area.addEventListener("blur", close);
    return "Copying is not allowed here: the text is selected, copy it with Ctrl+C; Escape closes it.";
  }

  function copy_selected(text, what) {
    var back = document.activeElement, area = select_text(text), done = false;
    try {
      done = document.execCommand("copy");
    } catch (error) {
      done = false;
    }
    if (!done) return offer(area, back);
    area.remove();
    if (back && back.focus) back.focus({ preventScroll: true });
    return what + " copied.";
  }

  /* Calls TOLD with what happened, in words. */
  function copy(text, what, told) {
    if (!navigator.clipboard || !navigator.clipboard.writeText) {
      told(copy_selected(text, what));
      return;
    }
    navigator.clipboard.writeText(text).then(
      function () { told(what + " copied."); },
      function () { told(copy_selected(text, what)); });
  }

  function file(name, type, text) {
    var url = URL.createObjectURL(new Blob([text], { type: type }));
    var link = rooftap.draw.element("a", { href: url, download: name, hidden: true });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(function () { URL.revokeObjectURL(url); }, 60000);
  }

  /* "rooftap-20261130T194100Z-77" of the session's path: letters that every file system takes. */
  function base_name(path) {
    var last = String(path || "").replace(/[\/\\]+$/, "").split(/[\/\\]/).pop();
    var safe = last.replace(/[^A-Za-z0-9._-]/g, "_").replace(/^[.-]+/, "").slice(0, 100);
    return safe || "rooftap";
  }

  return { copy: copy, file: file, base_name: base_name };
})();
