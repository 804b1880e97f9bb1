/* SPDX-License-Identifier: Apache-2.0 */
/* What the figures rest on: the session, what is assumed, what is missing, each GPU, settings, overhead, processes, and the
 * books of a model where one was given. Groups that open; on paper all are open. */
"use strict";
(function (rooftap) {
  var format = rooftap.format, tabular = rooftap.tabular;
  var element = rooftap.draw.element;

  function in_memory_text(in_memory) {
    if (!in_memory.traces || in_memory.collector) return null;
    return format.bytes(in_memory.bytes) + " of " + in_memory.traces + (in_memory.traces === 1 ? " process" : " processes") +
      " are still in shared memory, and their collector is gone: 'rooftap collect DIR' moves them";
  }

  function kept_text(data) {
    var samples = 0, of = 0, sums = data.processes.filter(function (process) { return process.sums; });
    sums.forEach(function (process) {
      samples += process.sums.samples;
      of += process.sums.samples_of;
    });
    return sums.length ? "sums of the whole run (--aggregate) and " + format.count(samples) + " of " + format.count(of) + " raw records" : null;
  }

  function session_group(data) {
    var session = data.session;
    var took = session.started_realtime_ns > 0 && session.ended_realtime_ns > 0 ? session.ended_realtime_ns - session.started_realtime_ns : null;
    return { title: "Session", open: true, body: [tabular.facts([
      ["folder", tabular.code(session.path)], ["command", tabular.code(session.command)], ["in", tabular.code(session.working_directory)],
      ["host", session.host], ["kernel", session.kernel], ["rooftap", session.rooftap_version],
      ["started", tabular.utc(session.started_realtime_ns)], ["took", format.known(took) ? format.duration(took) + " of this host's time" : null],
      ["ended", session.end || "not known"], ["simulated GPU", session.simulate], ["kept", kept_text(data)], ["note", in_memory_text(session.in_memory)]
    ])] };
  }

  function assumptions_group(data) {
    var texts = data.caveats.map(function (caveat) { return caveat.text; });
    if (data.simulated)
      texts.push("a simulated kernel does nothing and takes the time that a model gives it; one without a model takes a fixed one");
    return { title: "Assumptions and doubts", open: true, note: texts.length ? null : "none beyond the specification's peaks", body: [tabular.list(texts)] };
  }

  function cut_group(data) {
    var cut = data.cut;
    if (!cut) return null;
    var lists = Object.keys(cut.lists || {}).map(function (name) {
      return [element("code", {}, name), ": " + format.count(cut.lists[name].shown) + " of " + format.count(cut.lists[name].of)];
    });
    ["operators", "weights", "kernels"].forEach(function (name) {
      if (cut[name]) lists.push([element("code", {}, name), ": " + format.count(cut[name].count) + " beyond the first " + format.count(data[name].length)]);
    });
    return { title: "What this page leaves out", open: true, note: "so that it stays small; `rooftap report --json` has all", body: [
      tabular.list(lists.map(function (line) { return element("span", {}, line); })),
      cut.texts > 0 ? element("p", { class: "note" }, format.count(cut.texts) + " texts are cut to " + format.count(cut.text_bytes) + " bytes.") : null
    ] };
  }

  /* The group's title is what a table without a caption is called. */
  function name_tables(details, title) {
    details.querySelectorAll("table").forEach(function (table) {
      if (!table.caption) table.setAttribute("aria-label", title);
    });
    return details;
  }

  function draw_group(group) {
    return name_tables(element("details", { open: group.open }, [
      element("summary", {}, [group.title, group.note ? element("span", { class: "note" }, group.note) : null])
    ].concat(group.body)), group.title);
  }

  function start(root, data) {
    var groups = [session_group(data), assumptions_group(data), rooftap.processes.missing(data), cut_group(data)]
      .concat(rooftap.devices.groups(data), rooftap.processes.groups(data), rooftap.model.groups(data)).filter(Boolean);
    root.append(element("div", { class: "groups" }, groups.map(draw_group)));
  }

  rooftap.parts.push({ name: "provenance", start: start });
})(window.rooftap);
