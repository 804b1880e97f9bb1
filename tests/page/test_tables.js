// SPDX-License-Identifier: Apache-2.0
// node test_tables.js PAGE_FOLDER: CSV, order, names and figures of report/page/, without a browser. What CSV must look like is
// RFC 4180's; that fields are disarmed, OWASP's "CSV Injection"; orders were written down by hand.
"use strict";
const assert = require("assert");
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const folder = process.argv[2] || path.join(__dirname, "../../report/page");
const window = {};
const context = vm.createContext({ window: window });
for (const name of ["format", "state", "draw", "words", "names", "csv", "sorting", "rows", "save", "subjects", "facts"])
  vm.runInContext(fs.readFileSync(path.join(folder, name + ".js"), "utf8"), context, { filename: name + ".js" });
const { csv, sorting, names, rows, save, facts, state } = window.rooftap;

/* Arrays of another context have another prototype. */
function plain(value) { return JSON.parse(JSON.stringify(value)); }

function test_fields() {
  const expected = [
    [null, ""], [undefined, ""], [NaN, ""], [0, "0"], [-5.25, "-5.25"], [131162502601562.83, "131162502601562.83"],
    ["plain", "plain"], ["", ""], ["a,b", "\"a,b\""], ["say \"x\"", "\"say \"\"x\"\"\""], ["two\nlines", "\"two\nlines\""],
    ["back\rhere", "\"back\rhere\""], ["=1+1", "'=1+1"], ["+cmd", "'+cmd"], ["-cmd|' /C calc'!A0", "'-cmd|' /C calc'!A0"],
    ["@SUM(A1)", "'@SUM(A1)"], ["\t=1", "'\t=1"], ["\r=1", "\"'\r=1\""], ["=1,2", "\"'=1,2\""],
    ["-5", "-5"], ["+1.5e-3", "+1.5e-3"], ["-5x", "'-5x"], ["-", "'-"], ["a=b", "a=b"]
  ];
  for (const [value, field] of expected) assert.strictEqual(csv.field(value), field, JSON.stringify(value));
  assert.strictEqual(csv.file([["a", "b"], [1, null]]), "a,b\r\n1,\r\n");
  assert.strictEqual(csv.file([]), "");
}

function test_order() {
  assert.deepStrictEqual(plain(sorting.order([3, null, 1, 3, null, 2], false)), [2, 5, 0, 3, 1, 4]);
  assert.deepStrictEqual(plain(sorting.order([3, null, 1, 3, null, 2], true)), [0, 3, 5, 2, 1, 4]);
  assert.deepStrictEqual(plain(sorting.order([0, Infinity, -1, null], true)), [1, 0, 2, 3]);
  assert.deepStrictEqual(plain(sorting.order(["b", "B", "\u00e4", "a", null], false)), [1, 3, 0, 2, 4]);
  assert.deepStrictEqual(plain(sorting.order([], true)), []);
  /* As UTF-16 has them, U+1F600 would come before U+FF21. */
  assert.deepStrictEqual(plain(sorting.order(["\u{1f600}", "\uff21", "\ud7ff", "\ue000"], false)), [2, 3, 1, 0]);
  assert(sorting.by_code_point("ab", "abc") < 0 && sorting.by_code_point("x", "x") === 0);
}

function test_names() {
  assert.strictEqual(names.visible("a\u202eb\u0000c\u001b[31m\u2028d\ufeff\u200f"), "a\ufffdb\ufffdc\ufffd[31m\ufffdd\ufffd\ufffd");
  assert.strictEqual(names.visible("\ud800x\u{1f600}\u{1ffff}\uffff"), "\ufffdx\u{1f600}\ufffd\ufffd");
  assert.strictEqual(names.visible("\u05d0 <b>&amp; \t\n"), "\u05d0 <b>&amp; \t\n");
  assert.strictEqual(names.cut("abcdef", 6), "abcdef");
  assert.strictEqual(names.cut("abcdefg", 6), "abcde\u2026");
  assert.strictEqual(names.cut("abcd\u{1f600}gh", 6), "abcd\u2026");
}

function test_file_names() {
  assert.strictEqual(save.base_name("/a/b/rooftap-20260101T000000Z-7/"), "rooftap-20260101T000000Z-7");
  assert.strictEqual(save.base_name("../.."), "rooftap");
  assert.strictEqual(save.base_name(".hidden"), "hidden");
  assert.strictEqual(save.base_name("a<b>\u202e\"c d"), "a_b___c_d");
  assert.strictEqual(save.base_name(null), "rooftap");
  assert.strictEqual(save.base_name("x".repeat(5000)).length, 100);
}

/* ---- tables ---- */

function cell(text, value) { return { text: text, value: value === undefined ? null : value }; }

function model_of(by, columns, lines, rest) {
  return {
    by: by, columns: columns.map(([key, title, left], place) => ({ key: key, title: title, left: Boolean(left), place: place })),
    rows: lines.map(([index, cells]) => ({ index: index, cells: cells })), rest: rest ? { index: null, cells: rest } : null
  };
}

function test_csv_of_shapes() {
  const data = {
    operators: [
      { time_ns: 27787438123, share: 0.123456789012, m: 1, shape_source: "exact", time_source: "timed", name: "f", display_name: "f" },
      { time_ns: 5, share: null, m: null, shape_source: "name", time_source: null, name: "_Z1g", display_name: "=g(\"x\"),\u202e" },
      { time_ns: 7, share: 0.5, m: 3, shape_source: "params", time_source: "timed", name: "h", display_name: "h" }
    ],
    simulated: true, cut: { operators: { count: 3, time_ns: 123456789012, share: 0.02 } }
  };
  const columns = [["share", "%TIME"], ["time", "TIME"], ["m", "M"], ["class", "CLASS", true], [null, "FLAGS", true]];
  const model = model_of("shape", columns, [
    [0, [cell("12.3", 0.123456789), cell("27.79 s", 27787438100), cell("1", 1), cell("memory"), cell("near_ridge,starved")]],
    [1, [cell("-"), cell("5 ns", 5), null, null, null]],
    /* The cell says at most 768, the JSON has another size under that name: the cell's stays. */
    [2, [cell("50.0", 0.5), cell("7 ns", 7), cell("<=768", 768), cell("-"), cell("")]]
  ], [cell("2.0"), cell("123.5 s"), null, null, null]);
  assert.strictEqual(rows.to_csv(model, data, [2, 0, 1]), [
    "index,share,time_ns,m,bound,flags,shape_source,time_source,name,simulated",
    "2,0.5,7,768,,,params,timed,h,true",
    "0,0.123456789012,27787438123,1,memory,\"near_ridge,starved\",exact,timed,f,true",
    "1,,5,,,,name,,\"'=g(\"\"x\"\"),\ufffd\",true",
    "the other 3,0.02,123456789012,,,,,,,true", ""
  ].join("\r\n"));
  assert.strictEqual(rows.to_csv(model, { operators: data.operators, simulated: false, cut: null }, []).split("\r\n")[1], "the rest,,,,,,,,,false");
}

function test_csv_of_others() {
  const weights = model_of("weight", [["m_star", "M*"], ["fill", "BLOCKS"]], [[0, [cell("never", Infinity), cell("32/128", 0.25)]]]);
  assert.strictEqual(rows.to_csv(weights, { weights: [{ m_star: null, fill: 0.25 }], cut: null }, [0]), "index,m_star,fill,simulated\r\n0,never,0.25,\r\n");
  const kernels = model_of("kernel", [["share", "%TIME"], ["name", "NAME", true]], [[0, [cell("1.0", 0.01), cell("short<...>")]]]);
  assert.strictEqual(rows.to_csv(kernels, { kernels: [{ share: 0.01, name: "_Z5short", display_name: "short<int>" }] }, [0]),
    "index,share,name,simulated\r\n0,0.01,short<int>,\r\n");
  assert.strictEqual(rows.to_csv(kernels, {}, [0]), "index,share,name,simulated\r\n0,0.01,,\r\n");
}

/* ---- facts ---- */

/* Every key that an operator of JSON.md has, each null. */
function nothing_known() {
  const keys = ["kind", "family", "role", "name", "display_name", "device", "m", "n", "k", "batch", "weight", "cublas", "type_a",
    "type_b", "type_c", "type_d", "type_compute", "calls", "executions", "executions_all", "kernels", "time_ns", "time_source",
    "time_estimated", "samples", "time_ns_low", "time_ns_high", "kernels_timed", "time_timed_ns", "time_shared_ns", "blocks",
    "bandwidth_fill", "time_p50_ns", "time_p99_ns", "time_percentile_error", "share", "flops", "bytes", "t_roof_ns", "intensity",
    "intensity_kv", "bound_kv", "bytes_least", "launch", "ridge", "m_star", "bound", "above_roof_reason", "flops_per_second",
    "bytes_per_second", "roof_fraction", "shape_source", "phase_calls", "gain_ns", "gain_share", "roof"];
  const op = {};
  keys.forEach((key) => { op[key] = null; });
  return Object.assign(op, { kind: "other", bound: "unknown", shape_source: "none", flags: [], helpers: [] });
}

function words_of(groups) {
  return plain(groups).map((group) => group.title + "\n" + group.rows.map((row) => row[0] + ": " +
    [].concat(row[1]).map((value) => typeof value === "string" ? value : value.text).join("; ")).join("\n")).join("\n");
}

function test_facts_of_nothing() {
  const data = { simulated: false, devices: [], operators: [nothing_known()], weights: [], sibling_groups: [], naive_attention: [], advice: [] };
  const text = words_of(facts.of(0, data));
  assert(/time: not timed/.test(text) && /shape: not known/.test(text) && /no class: its work is not known/.test(text), text);
  assert(!/null|undefined|NaN|: 0\b/.test(text), text);
  assert.strictEqual(facts.label(data.operators[0]), "(not known)");
}

function test_facts_of_an_estimate() {
  const op = Object.assign(nothing_known(), {
    kind: "gemm", name: "cublasGemmEx", display_name: "cublasGemmEx", device: 0, m: 1, n: 4096, k: 512, batch: 2, bound: "memory",
    intensity: 0.9988, ridge: 163.9, roof: 0, flops: 4e9, bytes: 4e9, bytes_least: 1e9, time_ns: 2e6, share: 0.25, time_estimated: true,
    time_ns_low: 1.5e6, time_ns_high: 2.5e6, time_source: "sampled", flops_per_second: 2e12, bytes_per_second: 5e11, t_roof_ns: 1e6,
    roof_fraction: 0.5, gain_ns: 1e6, gain_share: 0.125, flags: ["above_roof"], above_roof_reason: "fits_in_l2",
    phase_calls: { prefill: 0, decode: 7, unknown: 0 }, shape_source: "exact"
  });
  const roof = { type: "bf16", accumulate: "fp32", unit: "tensor", flops_per_second: 1e14, bytes_per_second: 1e12, ridge: 163.9,
    achievable_flops_per_second: 8e13, achievable_bytes_per_second: null, held_clock_flops_per_second: null };
  const data = {
    simulated: true, devices: [{ name: "G", sm_count: 10, roofs: [roof], identity: { l2_bytes: 75497472 } }], operators: [op], weights: [],
    sibling_groups: [{ m: 1, k: 512, n_fused: 5120, operators: [0, 9], times: 3, intensity: 1, intensity_fused: 2, saved_ns: 1000 }],
    naive_attention: [], advice: [{ id: "fuse_siblings", text: "Fuse.", subject_kind: "siblings", subjects: [{ index: 0, text: "M 1", saved_ns: 1000 }] }]
  };
  const text = words_of(facts.of(0, data));
  for (const part of ["shape: M 1  N 4096  K 512: 1 activation row, 4096 output features, 512 input features; 2 matrices",
    "Time (simulated)", "time: 2.000 ms, 25.0 % of GPU time", "95 % confidence: 1.500 ms to 2.500 ms",
    "class: memory-bound: 1.0 FLOP/B is below the ridge of 163.9", "work: 4.0 GFLOP, 1.0 GB to 4.0 GB",
    "achieved: 2.0 TFLOP/s: 2.00 % of the specification (100.0), 2.50 % of what is achievable (80.0)",
    "achieved bandwidth: 500 GB/s: 50.0 % of the specification (1000)", "gain: at most 1.000 ms, 12.5 % of busy time, at the roof",
    "above_roof: faster than the roof: fits in L2 (72.0 MiB)", "phases: 7 in decode", "fuse_siblings: Fuse.; M 1; at most 1.000 us",
    "row 10, not in this file"])
    assert(text.includes(part), part + "\nis not in\n" + text);
  const tiny = words_of(facts.of(0, Object.assign({}, data, { operators: [Object.assign({}, op, { flops: 20, bytes_least: null })] })));
  assert(tiny.includes("work: 20 FLOP, 4.0 GB"), tiny);
  assert(!text.includes("(-)") && !text.includes("- %"), text);
  assert.strictEqual(facts.label(op), "gemm M 1  N 4096  K 512");
}

function test_search() {
  const op = Object.assign(nothing_known(), { kind: "gemv", name: "mul_mat_vec_q", m: 1, n: 256, k: 512, launch: { weight_format: "q4_K", path: null } });
  state.data = { operators: [op] };
  const finds = (text) => { state.filter.text = text; return state.accepts(0); };
  assert(finds("") && finds("q4_k") && finds("512 GEMV") && finds("  vec ") && !finds("gemm") && !finds("vec q8"));
  assert.strictEqual(state.accepts(1), false);
}

const tests = [test_fields, test_order, test_names, test_file_names, test_csv_of_shapes, test_csv_of_others, test_facts_of_nothing,
  test_facts_of_an_estimate, test_search];
tests.forEach((test) => test());
console.log(tests.length + " tests passed");
