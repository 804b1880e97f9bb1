/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of the roofline: which roofs to draw, where each operator stands, what can't be drawn, the range of the
 * axes and their marks. Pure functions of the report's JSON, words.js and gpus.js, without a page. x: FLOP/B, y: FLOP/s, shares:
 * fractions of 1. */
"use strict";
var rooftap = window.rooftap || {};
window.rooftap = rooftap;

rooftap.roofs = (function () {
  var STANDARDS = [
    { key: "specification", word: "specification", flops: "flops_per_second", bytes: "bytes_per_second" },
    { key: "achievable", word: "achievable", flops: "achievable_flops_per_second", bytes: "achievable_bytes_per_second" },
    { key: "held_clock", word: "held clock", flops: "held_clock_flops_per_second", bytes: null }
  ];

  function positive(value) { return typeof value === "number" && isFinite(value) && value > 0; }

  /* Sum of a key over rows, those that don't know it left out; null: none knows it. */
  function sum(rows, key) {
    var known = rows.filter(function (row) { return typeof row[key] === "number" && isFinite(row[key]); });
    return known.length ? known.reduce(function (total, row) { return total + row[key]; }, 0) : null;
  }

  /* ---- operators of a device ---- */

  /* [{index, op}] of a device; null: of those of which no device is known. */
  function operators_of(data, device) {
    return (data.operators || []).map(function (op, index) { return { index: index, op: op }; })
      .filter(function (entry) { return entry.op.device === device || (device === null && entry.op.device === undefined); });
  }

  /* ---- roofs ---- */

  function same(a, b) { return Math.abs(a - b) <= 1e-9 * Math.abs(b); }

  function unique(values) {
    return values.filter(function (value, place) { return values.indexOf(value) === place; });
  }

  /* One bandwidth of each standard: roofs of a device share it. It rises to the last ridge it has, or on without end. */
  function bandwidths(roofs, compute) {
    var lines = [];
    STANDARDS.forEach(function (standard) {
      if (!standard.bytes) return;
      unique(roofs.map(function (roof) { return roof[standard.bytes]; }).filter(positive)).forEach(function (rate) {
        var ends = compute.filter(function (line) { return line.bytes_per_second === rate; }).map(function (line) { return line.from; });
        var from = roofs.find(function (roof) { return roof[standard.bytes] === rate; });
        lines.push({
          id: "bandwidth " + standard.key + " " + rate, side: "memory", standard: standard.key, word: standard.word, name: "memory",
          rate: rate, from: 0, to: ends.length ? Math.max.apply(null, ends) : Infinity,
          origin: standard.key === "achievable" ? from.achievable_bytes_origin : null,
          source: standard.key === "achievable" ? from.achievable_bytes_source : from.source
        });
      });
    });
    return lines;
  }

  /* The flat part of a path's roof: from where the bandwidth of the same standard meets it, else that of the specification. */
  function plateau(roof, standard) {
    var rate = roof[standard.flops];
    if (!positive(rate)) return null;
    var bandwidth = standard.bytes && positive(roof[standard.bytes]) ? roof[standard.bytes] : roof.bytes_per_second;
    return {
      side: "compute", standard: standard.key, word: standard.word, names: [rooftap.words.path(roof)], rate: rate,
      bytes_per_second: positive(bandwidth) ? bandwidth : null, from: positive(bandwidth) ? rate / bandwidth : 0, to: Infinity,
      ridge: standard.key === "specification" && positive(roof.ridge) ? roof.ridge : null,
      /* The same line as the specification's: the clock that was meant was held. */
      as_specification: standard.key !== "specification" && same(rate, roof.flops_per_second),
      origin: standard.key === "achievable" ? roof.achievable_flops_origin : null,
      source: standard.key === "achievable" ? roof.achievable_flops_source : roof.source
    };
  }

  /* Paths of one rate are one line with all their names. */
  function merge(lines) {
    var merged = [];
    lines.forEach(function (line) {
      var twin = merged.find(function (other) {
        return other.standard === line.standard && other.rate === line.rate && other.from === line.from && other.origin === line.origin;
      });
      if (twin) twin.names = unique(twin.names.concat(line.names));
      else merged.push(line);
    });
    merged.forEach(function (line) {
      line.name = line.names.join(", ");
      line.short = short_name(line, merged);
      line.id = line.standard + " " + line.name + " " + line.rate;
    });
    return merged;
  }

  /* Without what is in brackets, where that tells it from no other line. */
  function short_name(line, among) {
    function bare(name) { return name.replace(/ \([^)]*\)/g, ""); }
    var shorts = unique(line.names.map(bare));
    var taken = among.some(function (other) {
      return other !== line && other.standard === line.standard && other.names.some(function (name) { return shorts.indexOf(bare(name)) >= 0; });
    });
    return taken ? line.name : shorts.join(", ");
  }

  /* Lines to draw for a device: [{id, side, standard, word, name, short, rate, from, to, ridge, as_specification, origin, source}].
   * side "memory": y = rate * x; "compute": y = rate. Empty: no roof is known for this GPU. */
  function lines(data, device) {
    var of = device === null ? {} : data.devices[device] || {};
    var roofs = rooftap.gpus.roofs_in_use(of);
    var compute = [];
    STANDARDS.forEach(function (standard) {
      roofs.forEach(function (roof) { compute.push(plateau(roof, standard)); });
    });
    compute = merge(compute.filter(Boolean));
    return bandwidths(roofs.length ? roofs : of.roofs || [], compute).concat(compute);
  }

  function height(line, x) { return line.side === "memory" ? line.rate * x : line.rate; }

  /* ---- points ---- */

  function point(entry, rate, share, standing) {
    var op = entry.op;
    var flags = op.flags || [];
    return {
      index: entry.index, x: op.intensity, y: rate, share: share, standing: standing, bound: op.bound || "unknown",
      starved: flags.indexOf("starved") >= 0, near_ridge: flags.indexOf("near_ridge") >= 0
    };
  }

  function roof_rate(op) {
    return positive(op.flops) && positive(op.t_roof_ns) ? op.flops / (op.t_roof_ns / 1e9) : null;
  }

  function left_out(entries, why) {
    return { why: why, count: entries.length, share: sum(entries.map(function (entry) { return entry.op; }), "share") };
  }

  /* The operators of a device as points, and openly what is none:
   * {points[], by_roof, operators, left_out[] {why: "intensity" | "rate", count, share}}.
   * by_roof: no operator of known intensity was timed, so points stand at their roof, with shares of the time there. */
  function points(data, device) {
    var entries = operators_of(data, device);
    var placed = entries.filter(function (entry) { return positive(entry.op.intensity); });
    var timed = placed.filter(function (entry) { return positive(entry.op.flops_per_second); });
    var at_roof = timed.length ? [] : placed.filter(function (entry) { return positive(roof_rate(entry.op)); });
    var roof_time = sum(at_roof.map(function (entry) { return entry.op; }), "t_roof_ns");
    var drawn = timed.length ? timed : at_roof;
    var without_rate = placed.filter(function (entry) { return drawn.indexOf(entry) < 0; });
    var without_intensity = entries.filter(function (entry) { return placed.indexOf(entry) < 0; });
    return {
      points: drawn.map(function (entry) {
        return timed.length ? point(entry, entry.op.flops_per_second, entry.op.share, "measured")
          : point(entry, roof_rate(entry.op), roof_time ? entry.op.t_roof_ns / roof_time : null, "roof");
      }),
      by_roof: !timed.length && at_roof.length > 0,
      operators: entries.length,
      left_out: [left_out(without_intensity, "intensity"), left_out(without_rate, "rate")].filter(function (part) { return part.count; })
    };
  }

  /* Radius of a bubble whose AREA is its share of time. The largest share fills MOST, but no share below 5 % does. */
  function radius(share, largest, least, most) {
    if (!positive(share)) return least;
    return Math.max(least, most * Math.sqrt(share / Math.max(largest, 0.05)));
  }

  /* ---- axes ---- */

  function widened(low, high, decades) {
    var missing = decades - Math.log10(high / low);
    if (missing <= 0) return [low, high];
    return [low / Math.pow(10, missing / 2), high * Math.pow(10, missing / 2)];
  }

  /* What shows all points, each ridge, and enough on either side of it to see both parts of the roof. */
  function view(drawn, roof_lines) {
    var xs = drawn.map(function (each) { return each.x; });
    var ys = drawn.map(function (each) { return each.y; });
    roof_lines.forEach(function (line) {
      if (line.side === "memory") {
        drawn.forEach(function (each) { if (each.x < line.to) ys.push(height(line, each.x)); });
        return;
      }
      if (line.from > 0) xs.push(line.from / 12, line.from * 5);
      ys.push(line.rate, line.rate / 12);
    });
    if (!xs.length) xs = [0.1, 1000];
    if (!ys.length) ys = [1e9, 1e15];
    return {
      x: widened(Math.min.apply(null, xs) / 2, Math.max.apply(null, xs) * 2, 2),
      y: widened(Math.min.apply(null, ys) / 2.5, Math.max.apply(null, ys) * 2.5, 2)
    };
  }

  /* The same part of the axis, held to what floating point and marks can show. FACTOR below 1 zooms in, about AT. */
  function zoomed(range, at, factor) {
    var span = Math.log10(range[1] / range[0]);
    var wanted = Math.min(Math.max(span * factor, 0.02), 24);
    var place = Math.log10(at / range[0]) / span;
    var low = Math.log10(at) - wanted * place;
    return [Math.pow(10, low), Math.pow(10, low + wanted)];
  }

  /* Moved no further than needed for AT to be in it, with a tenth of the range beyond. */
  function including(range, at) {
    var low = Math.log10(range[0]), high = Math.log10(range[1]), value = Math.log10(at), margin = (high - low) / 10;
    var shift = value < low ? value - margin - low : value > high ? value + margin - high : 0;
    return [Math.pow(10, low + shift), Math.pow(10, high + shift)];
  }

  /* Marks of a logarithmic axis: 1 to 9 of each decade; where less than a decade is seen, even steps. */
  function marks(low, high) {
    if (!positive(low) || !positive(high) || high <= low) return [];
    return Math.log10(high / low) < 1 ? even_marks(low, high) : decade_marks(low, high);
  }

  function decade_marks(low, high) {
    var found = [];
    for (var exponent = Math.floor(Math.log10(low)); exponent <= Math.ceil(Math.log10(high)); exponent++)
      for (var digit = 1; digit < 10; digit++) {
        var value = Number(digit + "e" + exponent);
        if (value >= low && value <= high) found.push(value);
      }
    return found;
  }

  function even_marks(low, high) {
    var rough = (high - low) / 6;
    var exponent = Math.floor(Math.log10(rough));
    var digit = [1, 2, 5, 10].find(function (each) { return each * Math.pow(10, exponent) >= rough; });
    var found = [];
    for (var count = Math.ceil(low / (digit * Math.pow(10, exponent))); ; count++) {
      var value = Number((count * digit) + "e" + exponent);
      if (!(value <= high)) return found;
      found.push(value);
    }
  }

  /* Which marks get a number: with more than two decades those of 1, with more than one 1, 2 and 5; else all. */
  function numbered(value, low, high) {
    var decades = Math.log10(high / low);
    if (decades < 1) return true;
    var digit = Number(value.toExponential(6).split("e")[0]);
    return digit === 1 || (decades <= 2 && (digit === 2 || digit === 5));
  }

  /* ---- where the pointer is ---- */

  /* Which of PLACES ({left, top, radius}) lie under a point, the nearest last drawn first: those that hold it, the smallest
   * first, else the nearest whose edge is within SLACK. */
  function under(places, left, top, slack) {
    var near = places.map(function (place, order) {
      var distance = Math.hypot(place.left - left, place.top - top);
      return { order: order, edge: distance - place.radius, radius: place.radius, distance: distance };
    }).filter(function (each) { return each.edge <= slack; });
    var holding = near.filter(function (each) { return each.edge <= 0; });
    if (holding.length) holding.sort(function (a, b) { return a.radius - b.radius || a.distance - b.distance || a.order - b.order; });
    else holding = near.sort(function (a, b) { return a.edge - b.edge || a.order - b.order; }).slice(0, 1);
    return holding.map(function (each) { return each.order; });
  }

  return {
    positive: positive, sum: sum, operators_of: operators_of, lines: lines, height: height,
    points: points, radius: radius, view: view, zoomed: zoomed, including: including, marks: marks, numbered: numbered, under: under
  };
})();
