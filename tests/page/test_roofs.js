// SPDX-License-Identifier: Apache-2.0
// node test_roofs.js PAGE_FOLDER: what the roofline draws, without a browser. Roofs, ridges and rates were worked out by hand from
// the definition, attainable = min(peak, bandwidth * intensity) (Williams, Waterman, Patterson: Roofline, CACM 52(4), 2009).
"use strict";
const assert = require("assert");
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const folder = process.argv[2] || path.join(__dirname, "../../report/page");
const context = vm.createContext({ window: {} });
for (const name of ["format", "state", "draw", "words", "tabular", "gpus", "names", "subjects", "roofs", "plot_card", "plot_legend"])
  vm.runInContext(fs.readFileSync(path.join(folder, name + ".js"), "utf8"), context, { filename: name + ".js" });
const { roofs, gpus, plot_card: card, plot_legend: legend } = context.window.rooftap;

/* Arrays of another context have another prototype. */
function plain(value) { return JSON.parse(JSON.stringify(value)); }
function close(value, expected, what) {
  assert(Math.abs(value - expected) <= 1e-12 * Math.abs(expected), `${what || ""} ${value}, not ${expected}`);
}

/* ---- roofs ---- */

/* 100 TFLOP/s over 1 TB/s: the ridge is at 100 FLOP/B. Achievable 80 over 0.8: 100 again; at the held clock 90: 90. */
function roof(changes) {
  return Object.assign({
    type: "bf16", accumulate: "fp32", unit: "tensor", flops_per_second: 100e12, bytes_per_second: 1e12, ridge: 100, source: "a table",
    operators: 1, time_ns: 1, achievable_flops_per_second: null, achievable_flops_origin: null, achievable_flops_source: null,
    achievable_bytes_per_second: null, achievable_bytes_origin: null, achievable_bytes_source: null, held_clock_flops_per_second: null
  }, changes);
}

function report(roofs_of_device, operators) {
  return { simulated: false, devices: [{ name: "GPU", sm_count: 128, roofs: roofs_of_device }], operators: operators || [] };
}

function short(lines) {
  return plain(lines).map(line => [line.side, line.standard, line.name, line.rate, line.from, line.to]);
}

function test_one_path() {
  const lines = roofs.lines(report([roof()]), 0);
  assert.deepStrictEqual(short(lines), [["memory", "specification", "memory", 1e12, 0, 100], ["compute", "specification", "bf16 (fp32 accumulate)", 100e12, 100, null]]);
  assert.strictEqual(lines[1].to, Infinity);
  assert.strictEqual(lines[1].ridge, 100);
  assert.strictEqual(lines[1].source, "a table");
}

function test_standards() {
  const all = roof({ achievable_flops_per_second: 80e12, achievable_flops_origin: "measured", achievable_flops_source: "here",
    achievable_bytes_per_second: 0.64e12, achievable_bytes_origin: "published", achievable_bytes_source: "there", held_clock_flops_per_second: 90e12 });
  const lines = roofs.lines(report([all]), 0);
  assert.deepStrictEqual(short(lines), [
    ["memory", "specification", "memory", 1e12, 0, 100], ["memory", "achievable", "memory", 0.64e12, 0, 125],
    ["compute", "specification", "bf16 (fp32 accumulate)", 100e12, 100, null], ["compute", "achievable", "bf16 (fp32 accumulate)", 80e12, 125, null],
    ["compute", "held_clock", "bf16 (fp32 accumulate)", 90e12, 90, null]]);
  assert.deepStrictEqual(plain(lines).map(line => [line.origin, line.source]),
    [[null, "a table"], ["published", "there"], [null, "a table"], ["measured", "here"], [null, "a table"]]);
  /* The ridge that classifies is the specification's alone. */
  assert.deepStrictEqual(plain(lines).map(line => line.ridge || null), [null, null, 100, null, null]);
  assert.strictEqual(new Set(lines.map(line => line.id)).size, lines.length);
  /* Without a bandwidth of its own, what is achievable meets the specification's. */
  close(roofs.lines(report([roof({ achievable_flops_per_second: 80e12 })]), 0)[2].from, 80);
  const held = roofs.lines(report([roof({ held_clock_flops_per_second: 100e12 })]), 0)[2];
  assert.strictEqual(held.as_specification, true);
}

function test_which_are_used() {
  const two = [roof({ operators: 0 }), roof({ type: "fp16", flops_per_second: 50e12, ridge: 50 })];
  assert.deepStrictEqual(plain(gpus.roofs_in_use({ roofs: two })).map(each => each.type), ["fp16"]);
  /* The slope ends at the ridge of what is used. */
  assert.strictEqual(roofs.lines(report(two), 0)[0].to, 50);
}

function test_none_is_known() {
  assert.deepStrictEqual(plain(roofs.lines(report([]), 0)), []);
  assert.deepStrictEqual(plain(roofs.lines(report([roof()]), 7)), [], "a device that is not listed");
  assert.deepStrictEqual(plain(roofs.lines(report([roof()]), null)), []);
  /* dp4a has no known roof: the bandwidth alone, without end. */
  const lines = roofs.lines(report([roof({ operators: 0 })]), 0);
  assert.deepStrictEqual(short(lines), [["memory", "specification", "memory", 1e12, 0, null]]);
  assert.strictEqual(lines[0].to, Infinity);
  assert.strictEqual(roofs.lines(report([roof({ flops_per_second: null, bytes_per_second: null, ridge: null })]), 0).length, 0);
}

function test_one_rate_is_one_line() {
  const lines = roofs.lines(report([roof(), roof({ type: "fp16" }), roof({ type: "fp16", accumulate: "fp16", flops_per_second: 200e12, ridge: 200 })]), 0);
  /* "fp16" alone would mean either of two. */
  const both = "bf16 (fp32 accumulate), fp16 (fp32 accumulate)";
  assert.deepStrictEqual(plain(lines).slice(1).map(line => [line.name, line.short, line.rate]), [[both, both, 100e12], ["fp16", "fp16", 200e12]]);
  assert.strictEqual(lines[0].to, 200);
  /* Where no bandwidth is known both begin at 0, and are two all the same. */
  const flat = { bytes_per_second: null, ridge: null };
  assert.deepStrictEqual(short(roofs.lines(report([roof(flat), roof(Object.assign({ type: "fp64", accumulate: "fp64", flops_per_second: 1e12 }, flat))]), 0)), [
    ["compute", "specification", "bf16 (fp32 accumulate)", 100e12, 0, null], ["compute", "specification", "fp64 by tensor cores", 1e12, 0, null]]);
  const alone = roofs.lines(report([roof(), roof({ type: "fp8_e4m3", flops_per_second: 200e12, ridge: 200 })]), 0);
  assert.deepStrictEqual(plain(alone).slice(1).map(line => line.short), ["bf16", "fp8_e4m3"]);
}

/* Wherever a path's lines are, they are at min(peak, bandwidth * x). */
function test_heights_are_attainable() {
  const data = report([roof({ flops_per_second: 165.2e12, bytes_per_second: 1008e9, ridge: 165.2e12 / 1008e9 })]);
  const lines = roofs.lines(data, 0);
  for (let exponent = -3; exponent <= 6; exponent += 0.125) {
    const x = Math.pow(10, exponent);
    const over = lines.filter(line => x >= line.from && x < line.to);
    assert.strictEqual(over.length, 1, `at ${x}`);
    close(roofs.height(over[0], x), Math.min(165.2e12, 1008e9 * x), `at ${x}`);
  }
}

/* ---- points ---- */

function operator(changes) {
  return Object.assign({ device: 0, intensity: 10, flops_per_second: 5e12, share: 0.25, bound: "memory", flags: [], flops: 2e12, t_roof_ns: 4e8 }, changes);
}

function test_points() {
  const data = report([roof()], [
    operator(), operator({ intensity: null, flops_per_second: null, share: 0.5 }), operator({ device: 1 }), operator({ flops_per_second: null, share: 0.125 }),
    operator({ intensity: 0 }), operator({ intensity: NaN, share: null }), operator({ intensity: 200, flags: ["starved", "near_ridge"], bound: "compute", share: null }),
    operator({ device: null }), operator({ flops_per_second: -1, share: null })]);
  const drawn = roofs.points(data, 0);
  assert.deepStrictEqual(plain(drawn), {
    points: [
      { index: 0, x: 10, y: 5e12, share: 0.25, standing: "measured", bound: "memory", starved: false, near_ridge: false },
      { index: 6, x: 200, y: 5e12, share: null, standing: "measured", bound: "compute", starved: true, near_ridge: true }],
    by_roof: false, operators: 7,
    left_out: [{ why: "intensity", count: 3, share: 0.75 }, { why: "rate", count: 2, share: 0.125 }]
  });
  assert.deepStrictEqual(plain(roofs.points(data, null)).points.map(each => each.index), [7]);
  assert.deepStrictEqual(plain(roofs.points(data, 5)), { points: [], by_roof: false, operators: 0, left_out: [] });
}

/* 2e12 FLOP in 0.4 s at the roof are 5 TFLOP/s; 6e12 in 1.2 s the same, with three quarters of that time. */
function test_nothing_timed() {
  const untimed = { flops_per_second: null, share: null };
  const data = report([roof()], [operator(untimed), operator(Object.assign({ flops: 6e12, t_roof_ns: 12e8 }, untimed)), operator(Object.assign({}, untimed, { t_roof_ns: null }))]);
  const drawn = roofs.points(data, 0);
  assert.strictEqual(drawn.by_roof, true);
  assert.deepStrictEqual(plain(drawn.points).map(each => [each.index, each.y, each.share, each.standing]), [[0, 5e12, 0.25, "roof"], [1, 5e12, 0.75, "roof"]]);
  assert.deepStrictEqual(plain(drawn.left_out), [{ why: "rate", count: 1, share: null }]);
  /* One that was timed, and none stands at the roof. */
  data.operators.push(operator());
  assert.deepStrictEqual(plain(roofs.points(data, 0)).points.map(each => [each.index, each.standing]), [[3, "measured"]]);
}

function test_area_is_time() {
  close(Math.pow(roofs.radius(0.4, 0.4, 1, 30) / roofs.radius(0.1, 0.4, 1, 30), 2), 4, "area");
  close(roofs.radius(0.4, 0.4, 1, 30), 30, "the largest");
  close(Math.pow(roofs.radius(0.01, 0.01, 1, 30) / 30, 2), 0.2, "one in a hundred is not shown as the most there is");
  assert.strictEqual(roofs.radius(1e-9, 0.4, 3, 30), 3);
  for (const share of [null, undefined, NaN, 0, -1]) assert.strictEqual(roofs.radius(share, 0.4, 3, 30), 3);
}

/* ---- axes ---- */

function within(range, value) { return value > range[0] && value < range[1]; }

function test_view() {
  const lines = roofs.lines(report([roof()]), 0);
  const far = [{ x: 1e-3, y: 1e6 }, { x: 1e6, y: 3e14 }];
  for (const points of [[], far, [{ x: 100, y: 1e13 }]]) {
    const view = roofs.view(points, lines);
    for (const point of points) assert(within(view.x, point.x) && within(view.y, point.y));
    assert(within(view.x, 100) && within(view.y, 100e12), "the ridge");
    assert(Math.log10(view.x[1] / view.x[0]) >= 2 - 1e-9 && Math.log10(view.y[1] / view.y[0]) >= 2 - 1e-9);
  }
  const single = roofs.view([{ x: 7, y: 7e9 }], []);
  close(Math.sqrt(single.x[0] * single.x[1]), 7);
  close(single.x[1] / single.x[0], 100);
  assert(within(roofs.view([], []).x, 1));
}

function test_zoom() {
  const in_ = roofs.zoomed([1, 100], 10, 0.5);
  close(in_[0], Math.sqrt(10)); close(in_[1], 10 * Math.sqrt(10));
  const corner = roofs.zoomed([1, 100], 1, 0.5);
  close(corner[0], 1); close(corner[1], 10);
  const back = roofs.zoomed(in_, 10, 2);
  close(back[0], 1); close(back[1], 100);
  let range = [1, 10];
  for (let i = 0; i < 200; i++) range = roofs.zoomed(range, 2, 0.5);
  assert(within(range, 2) && range[1] / range[0] > 1.01, "zooming in ends");
  for (let i = 0; i < 200; i++) range = roofs.zoomed(range, 2, 2);
  assert(range[0] > 0 && isFinite(range[1]), "and out");
  assert.deepStrictEqual(plain(roofs.including([1, 100], 50)), [1, 100]);
  /* 1000 is a decade beyond; with a tenth of two decades of room: 1.2 decades. */
  close(roofs.including([1, 100], 1000)[0], Math.pow(10, 1.2));
  close(roofs.including([1, 100], 0.1)[1], Math.pow(10, 2 - 1.2));
}

function test_marks() {
  assert.deepStrictEqual(plain(roofs.marks(0.5, 12)), [0.5, 0.6, 0.7, 0.8, 0.9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  assert.deepStrictEqual(plain(roofs.marks(2.1, 2.9)), [2.2, 2.4, 2.6, 2.8]);
  assert.deepStrictEqual(plain(roofs.marks(99e12, 103e12)), [99e12, 100e12, 101e12, 102e12, 103e12]);
  assert.strictEqual(roofs.marks(1e-4, 1e7).length, 11 * 9 + 1);
  for (const [low, high] of [[0, 1], [1, 1], [2, 1], [NaN, 1], [1, Infinity]]) assert.deepStrictEqual(plain(roofs.marks(low, high)), []);
  const numbered = (low, high) => plain(roofs.marks(low, high)).filter(value => roofs.numbered(value, low, high));
  assert.deepStrictEqual(numbered(0.02, 3000), [0.1, 1, 10, 100, 1000]);
  assert.deepStrictEqual(numbered(3, 120), [5, 10, 20, 50, 100]);
  assert.deepStrictEqual(numbered(1e-7, 1e-3), [1e-7, 1e-6, 1e-5, 1e-4, 1e-3]);
}

/* ---- the pointer ---- */

function test_under() {
  const places = [{ left: 50, top: 50, radius: 40 }, { left: 60, top: 50, radius: 5 }, { left: 200, top: 50, radius: 5 }, { left: 60, top: 50, radius: 5 }];
  assert.deepStrictEqual(plain(roofs.under(places, 61, 50, 6)), [1, 3, 0]);
  assert.deepStrictEqual(plain(roofs.under(places, 20, 50, 6)), [0]);
  assert.deepStrictEqual(plain(roofs.under(places, 190, 50, 6)), [2], "five beyond its edge");
  assert.deepStrictEqual(plain(roofs.under(places, 188, 50, 6)), [], "seven beyond");
  assert.deepStrictEqual(plain(roofs.under(places, 93, 50, 6)), [0], "the nearest edge alone");
  assert.deepStrictEqual(plain(roofs.under([], 0, 0, 6)), []);
}

/* ---- the card ---- */

function test_names() {
  const short_name = (display_name, name) => card.short_name({ display_name: display_name, name: name || "_Z1x" });
  assert.strictEqual(short_name("void mul_mat_vec_q<(ggml_type)12, 1, false>(void const*, int)"), "mul_mat_vec_q");
  assert.strictEqual(short_name("void ns::(anonymous namespace)::kernel<std::pair<int, a::b>, (int)4>(float*)"), "kernel");
  assert.strictEqual(short_name("cublasGemmEx", "cublasGemmEx"), "cublasGemmEx");
  assert.strictEqual(short_name("a<b c(d", "a<b c(d"), "a<b c(d", "what is no C++ name stays as it is");
  assert.strictEqual(short_name("f<".repeat(5000)).length <= 48, true);
  assert.strictEqual(card.short_name({ name: null }).length > 0, true);
}

function test_cells() {
  assert.strictEqual(card.shape({ m: 256, n: 512, k: 3584, batch: 1 }), "M 256  N 512  K 3584");
  assert.strictEqual(card.shape({ m: 1, n: 2, k: null, batch: 8 }), "M 1  N 2  K -  batch 8");
  assert.strictEqual(card.shape({ m: null, n: null, k: null }), "-");
  const attention = { n_q: 32, n_kv: 8, d: 128, d_v: 128, queries: 1, keys: 768, keys_at_most: true, sequences: 1 };
  assert.strictEqual(card.shape({ launch: { attention: attention } }), "32 query heads on 8 KV heads, d 128, 1 queries × at most 768 keys");
  assert.strictEqual(card.types({ type_a: "bf16", type_b: "bf16", type_d: "bf16", type_compute: "bf16" }), "bf16");
  assert.strictEqual(card.types({ type_a: "fp8_e4m3", type_b: "fp8_e5m2", type_d: "bf16", type_compute: "fp8_e4m3" }), "fp8_e4m3 × fp8_e5m2 → bf16, multiplied as fp8_e4m3");
  assert.strictEqual(card.types({ launch: { weight_format: "q4_K", path: "int8-dp4a" }, type_d: "fp32", weight: "a" }), "q4_K → fp32, multiplied as int8-dp4a");
  assert.strictEqual(card.types({ launch: { path: "fp16", attention: { q_bits: 32, k_bits: 8.5, v_bits: null, o_bits: 32 } } }),
    "Q 32, K 8.5, V -, O 32 bits, multiplied as fp16");
  assert.strictEqual(card.types({}), "-");
  assert.strictEqual(card.intensity(0.001), "0.0010", "no known intensity is 0.0");
  assert.strictEqual(card.intensity(235.957), "236.0");
  assert.strictEqual(card.intensity(null), "-");
  assert.strictEqual(card.flops(131162502601562.83), "131.2 TFLOP/s");
  assert.strictEqual(card.flops(5e8), "0.5 GFLOP/s");
  assert.strictEqual(card.flops(null), "-");
}

function test_advice() {
  const data = {
    operators: [{}, {}, {}, {}], weights: [{ operators: [0, 2] }], sibling_groups: [{ operators: [1, 2] }], naive_attention: [{ scores: 3, output: 1 }],
    advice: [
      { text: "w", subject_kind: "weight", subjects: [{ index: 0 }] }, { text: "o", subject_kind: "operator", subjects: [{ index: 3 }, { index: 2 }] },
      { text: "s", subject_kind: "siblings", subjects: [{ index: 0 }] }, { text: "n", subject_kind: "naive_attention", subjects: [{ index: 0 }] },
      { text: "d", subject_kind: "device", subjects: [{ index: 0 }] }, { text: "r", subject_kind: "run", subjects: [{ index: null }] },
      { text: "cut", subject_kind: "weight", subjects: [{ index: 9 }] }]
  };
  assert.deepStrictEqual([0, 1, 2, 3].map(index => plain(card.advice_of(data, index))), [["w"], ["s", "n"], ["w", "o", "s"], ["o", "n"]]);
  assert.deepStrictEqual(plain(card.advice_of({ operators: [{}] }, 0)), []);
}

/* Nothing that is null comes out as a number, and what is known does. */
function test_facts() {
  const keys = ["kind", "display_name", "name", "m", "n", "k", "batch", "type_a", "type_b", "type_d", "type_compute", "calls", "executions", "time_ns", "share",
    "time_p50_ns", "time_p99_ns", "intensity", "intensity_kv", "ridge", "flops_per_second", "bytes_per_second", "roof_fraction", "bound", "gain_share", "shape_source", "device"];
  const nothing = {};
  for (const key of keys) nothing[key] = null;
  for (const [label, text] of plain(card.facts({ simulated: false, devices: [], operators: [nothing] }, 0)))
    assert(!/\d/.test(text) && !/null|undefined|NaN/.test(text), `${label}: ${text}`);
  const op = { kind: "gemm", name: "f", display_name: "f", device: 0, m: 1, n: 2, k: 3, batch: 1, calls: 1234, executions: 1234, time_ns: 14841848, share: 0.5341,
    time_p50_ns: 266239.5, time_p99_ns: 300000, intensity: 3, intensity_kv: 4, bound: "memory", bound_kv: "compute", ridge: 100, flops_per_second: 2e12,
    bytes_per_second: 556e9, roof_fraction: 0.794, flags: ["starved", "above_roof", "new_one"], above_roof_reason: "fits_in_l2", blocks: 32, gain_share: 0.0001,
    shape_source: "at_most" };
  const facts = new Map(plain(card.facts({ simulated: true, devices: [{ sm_count: 128 }], operators: [op] }, 0)).filter(row => row[0] !== "flag"));
  assert.strictEqual(facts.get("calls"), "1,234");
  assert.strictEqual(facts.get("simulated time"), "14.84 ms, 53.4 % of GPU time");
  assert.strictEqual(facts.get("p50 / p99"), "266.2 us / 300.0 us");
  assert.strictEqual(facts.get("intensity"), "3.0 FLOP/B; by its KV traffic alone 4.0");
  assert.strictEqual(facts.get("simulated rate"), "2.0 TFLOP/s, 556 GB/s");
  assert.strictEqual(facts.get("of its roof"), "79.4 %");
  assert.strictEqual(facts.get("class"), "memory-bound; by its KV traffic alone compute-bound");
  assert.strictEqual(facts.get("to gain"), "0.01 % of busy time");
  const flags = plain(card.facts({ devices: [{ sm_count: 128 }], operators: [op] }, 0)).filter(row => row[0] === "flag").map(row => row[1]);
  assert.deepStrictEqual(flags, ["starved: fewer thread blocks than SMs (32 on 128)", "above its roof: fits in L2", "new_one"]);
}

/* ---- what is said openly ---- */

function notes(data, device) {
  const lines = roofs.lines(data, device), drawn = roofs.points(data, device);
  return plain(legend.notes(data, device, drawn, lines));
}

function test_notes() {
  assert.deepStrictEqual(notes(report([roof()], [operator()]), 0), []);
  const simulated = report([roof()], [operator()]);
  simulated.simulated = true;
  assert.deepStrictEqual(notes(simulated, 0), ["Simulated: rates are of a model's times, no GPU was measured."]);
  assert.deepStrictEqual(notes(report([], [operator()]), 0), ["No roof is known for this GPU: points stand at what they achieved."]);
  assert.deepStrictEqual(notes(report([roof()], [operator({ device: null })]), null), ["No roof is drawn: it is not known on which GPU these ran."]);
  assert.deepStrictEqual(notes(report([roof({ operators: 0 })], [operator()]), 0), ["No compute roof is known of what ran here, so only the bandwidth is drawn."]);
  assert.deepStrictEqual(notes(report([roof()], [operator(), operator({ intensity: null, share: 0.25 }), operator({ intensity: null, share: 0.125 }), operator({ flops_per_second: null, share: null })]), 0), [
    "2 operators, 37.5 % of GPU time, are not drawn: no arithmetic intensity is known.", "1 operator is not drawn: not timed, so no rate is known."]);
  const dp4a = { roof: null, launch: { path: "int8-dp4a" } };
  assert.deepStrictEqual(notes(report([roof()], [operator({ roof: 0 }), operator(dp4a), operator(dp4a), operator({ roof: null, type_compute: null })]), 0), [
    "2 operators, 50.0 % of GPU time, multiply on int8-dp4a, of which no peak is known: of the roofs only the bandwidth's is theirs."]);
  const cut = report([roof()], [operator()]);
  cut.cut = { operators: { count: 199744, share: 0.0909 } };
  assert.deepStrictEqual(notes(cut, 0), ["199,744 operators, 9.1 % of GPU time, beyond the first 1 are not on this page, on any GPU."]);
  cut.cut = { operators: { count: 1, share: null } };
  assert.deepStrictEqual(notes(cut, 0), ["1 operator beyond the first 1 is not on this page, on any GPU."]);
  cut.cut = { operators: null };
  assert.deepStrictEqual(notes(cut, 0), []);
  const untimed = report([roof()], [operator({ flops_per_second: null, share: null })]);
  assert.match(notes(untimed, 0)[0], /^Nothing was timed: points stand at their roof/);
  untimed.operators.push(operator({ intensity: null, share: 1 }));
  assert.match(notes(untimed, 0)[0], /^No operator of known intensity was timed: /);
  const estimated = report([roof()], [operator()]);
  estimated.devices[0].identity = { estimated: true };
  assert.match(notes(estimated, 0)[0], /^The roofs are estimates: /);
  assert.deepStrictEqual(notes(report([roof({ held_clock_flops_per_second: 100e12 })], [operator()]), 0), ["Held clock: the specification's, for bf16 (fp32 accumulate)."]);
}

function test_status() {
  const drawn = roofs.points(report([roof()], [operator(), operator({ share: 0.5 }), operator({ share: null })]), 0);
  assert.strictEqual(legend.status(drawn.points, drawn), "3 operators drawn, 75.0 % of GPU time.");
  assert.strictEqual(legend.status(drawn.points.slice(0, 1), drawn), "Filters show 1 of 3 operators, 25.0 % of GPU time.");
  assert.strictEqual(legend.status(drawn.points.slice(2), drawn), "Filters show 1 of 3 operators.");
  assert.strictEqual(legend.status([], drawn), "Filters show 0 of 3 operators.");
}

for (const test of [test_one_path, test_standards, test_which_are_used, test_none_is_known, test_one_rate_is_one_line, test_heights_are_attainable,
  test_points, test_nothing_timed, test_area_is_time, test_view, test_zoom, test_marks, test_under, test_names, test_cells, test_advice, test_facts, test_notes, test_status])
  test();
console.log("roofs: all as worked out by hand");
