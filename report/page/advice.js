/* SPDX-License-Identifier: Apache-2.0 */
/* What could be changed, most saved first, and what makes figures doubtful. A subject leads to the operator it is about. */
"use strict";
(function (rooftap) {
  var element = rooftap.draw.element, format = rooftap.format, names = rooftap.names, words = rooftap.words;
  var state = rooftap.state;
  var SUBJECTS_SHOWN = 6, SUBJECT_LETTERS = 160, TEXT_LETTERS = 1000;

  /* "simulated busy time": what a share is of, as the text report has it. */
  function base_text(one, data) {
    if (one.saved_of === "span") return "the time from first start to last end";
    if (one.saved_of === "roof") return "the time at the roof";
    return words.of_model("busy time", data);
  }

  /* ---- which operator a subject is about ---- */

  function has_operator(kind) { return kind !== "device" && kind !== "run"; }

  function link_to(place, text) {
    return element("a", { href: "#operators", "class": "select", on: { click: function (event) {
      event.preventDefault();
      state.select(place, "advice");
    } } }, text);
  }

  /* ---- one piece of advice ---- */

  function subject_row(one, subject, base_ns, data) {
    var place = state.longest(rooftap.subjects.operators(data, one.subject_kind, subject.index));
    var text = names.element(subject.text, SUBJECT_LETTERS);
    var share = base_ns > 0 ? format.gain(subject.saved_ns / base_ns) + " %" : format.duration(subject.saved_ns);
    var row = element("li", null, [element("span", { "class": "share" }, share), " ",
      place === null ? text : link_to(place, text)]);
    if (place === null && has_operator(one.subject_kind)) row.append(" (its operator is not in this file)");
    return row;
  }

  /* The rest of a long list is opened, and named on paper. */
  function subjects(one, data) {
    var base_ns = one.saved_share > 0 ? one.saved_ns / one.saved_share : 0;
    function list(of) {
      return element("ul", { "class": "subjects" }, of.map(function (subject) { return subject_row(one, subject, base_ns, data); }));
    }
    var more = one.subjects.slice(SUBJECTS_SHOWN);
    return [list(one.subjects.slice(0, SUBJECTS_SHOWN)), more.length
      ? element("details", { "class": "more" }, [element("summary", null, "and " + format.count(more.length) + " more"), list(more)])
      : null];
  }

  function item(one, data) {
    return element("li", null, [
      element("p", { "class": "saved" }, [
        element("strong", null, format.gain(one.saved_share) + " %"),
        " (" + format.duration(one.saved_ns) + ") of " + base_text(one, data) + ", at most, at the roof: ",
        element("code", null, one.id)]),
      element("p", { "class": "text" }, names.element(one.text))
    ].concat(subjects(one, data), [
      element("p", { "class": "source" }, ["Source: ", names.element(one.source || format.UNKNOWN)])]));
  }

  /* ---- all ---- */

  /* As the verdict says it. */
  function none_text(data) {
    var verdict = data.verdict || {};
    if (verdict.kind === "nothing") return "No advice: nothing was timed, and no time at a roof is known.";
    if (verdict.bound === "unknown" || !verdict.bound) return "No advice: nothing is known that advice could be about.";
    return "No advice here would save 0.1 % of " +
      (verdict.by_roof ? "the time at the roof" : words.of_model("busy time", data)) + ".";
  }

  /* What --top left out of a list, if anything. */
  function left_out(data, list, what) {
    var cut = ((data.cut && data.cut.lists) || {})[list];
    if (!cut || cut.of <= cut.shown) return null;
    return element("p", { "class": "note" }, format.count(cut.of - cut.shown) + " more " + what + " are not in this file.");
  }

  function advice_list(data) {
    var advice = data.advice || [];
    if (!advice.length) return [element("p", { "class": "note" }, none_text(data))];
    return [
      element("p", { "class": "note" }, "Most saved first; savings overlap, so they don't add up. Advised is only what a fact of the recording " +
        "calls for: a large %GAIN without advice is time above the roof of which nothing recorded says how to win it." +
        (data.simulated ? " All of a simulated GPU." : "")),
      element("ol", { "class": "advice" }, advice.map(function (one) { return item(one, data); })),
      left_out(data, "advice", "pieces of advice"), left_out(data, "advice[].subjects", "subjects")
    ];
  }

  function text_list(id, title, style, texts) {
    if (!texts.length) return [];
    return [element("h3", { id: id }, title), element("ul", { "class": style, "aria-labelledby": id }, texts.map(function (text) {
      return element("li", null, names.element(text, TEXT_LETTERS));
    }))];
  }

  function start(root, data) {
    var nodes = advice_list(data).concat(
      text_list("problems-title", "Problems", "problems", data.problems || []), [left_out(data, "problems", "problems")],
      text_list("caveats-title", "What makes figures doubtful", "caveats",
        (data.caveats || []).map(function (one) { return one.text; })));
    nodes.forEach(function (node) { if (node) root.append(node); });
  }

  rooftap.parts.push({ name: "advice", start: start });
})(window.rooftap);
