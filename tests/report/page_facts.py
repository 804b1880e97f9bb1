# SPDX-License-Identifier: Apache-2.0
"""What a page is drawn from, beside the tables: worked out again from `operators` alone."""
import collections

from holding import COUNT_MOST, EXACT_MOST, known, near, require, same, times_of, total

BOUNDS = ("unknown", "memory", "compute", "overhead")


# ---- roofs and gains ----

def check_time_by_bound(report):
    gpu_time, by_bound = report["coverage"]["gpu_time_ns"], report["time_by_bound"]
    require(set(by_bound) == set(BOUNDS), "time_by_bound has", list(by_bound))
    for bound, time_ns in by_bound.items():
        there = sum(op["time_ns"] or 0 for op in report["operators"] if op["bound"] == bound)
        same(time_ns, None if gpu_time is None else there, "time_by_bound", bound)


def check_roofs(report):
    judged = collections.defaultdict(list)
    for op in report["operators"]:
        require(op["roof"] is not None or op["ridge"] is None, "a ridge without a roof")
        if op["roof"] is None:
            continue
        roof = report["devices"][op["device"]]["roofs"][op["roof"]]
        judged[op["device"], op["roof"]].append(op["time_ns"] or 0)
        require(op["type_compute"] in (None, roof["type"]), "judged by a roof of", roof["type"], "and computes in", op["type_compute"])
        if known(op["ridge"], roof["ridge"]):
            require(near(op["ridge"], roof["ridge"]), "ridge", op["ridge"], "of a roof with", roof["ridge"])
    for d, device in enumerate(report["devices"]):
        for r, roof in enumerate(device["roofs"]):
            require(roof["operators"] == len(judged[d, r]), "operators of a roof:", roof["operators"], len(judged[d, r]))
            same(roof["time_ns"], None if report["coverage"]["gpu_time_ns"] is None else min(COUNT_MOST, sum(judged[d, r])), "time of a roof")


def share_base(report, d):
    """Busy time; of what stands for more than was timed, all of it; of what was not timed, the roof's."""
    def busy(device):
        here = [op for op in report["operators"] if op["device"] == device]
        if any(op["time_estimated"] for op in here):
            return sum(op["time_ns"] or 0 for op in here)
        return report["devices"][device]["gpu_busy_ns"] or 0
    if any(busy(device) for device in range(len(report["devices"]))):
        return busy(d) or None
    return sum(op["t_roof_ns"] or 0 for op in report["operators"] if op["device"] == d) or None


def check_gains(report):
    bases = [share_base(report, d) for d in range(len(report["devices"]))]
    for d, device in enumerate(report["devices"]):
        same(device["share_base_ns"], bases[d], "share_base_ns")
    for kind in ("operators", "kernels"):
        for row in report[kind]:
            base = bases[row["device"]] if row["device"] is not None else None
            gain = row["gain_ns"] if row["time_ns"] is not None else None
            same(row["gain_share"], gain / base if known(gain, base) else None, kind, "gain_share")


# ---- bins ----

def bin_of(m):
    return 1 << (m.bit_length() - 1)


def check_bins(bins, expected, what):
    """EXPECTED: by least M, executions and time."""
    require([b["m_least"] for b in bins] == sorted(expected), what, "m_bins", bins, "where there are", sorted(expected))
    for b in bins:
        executions, time_ns = expected[b["m_least"]]
        require(b["m_most"] == 2 * b["m_least"] - 1, what, "a bin from", b["m_least"], "to", b["m_most"])
        require(near(b["executions"], executions), what, b["executions"], "executions for", executions)
        same(b["time_ns"], time_ns, what, "time of a bin")


def bins_of(ops):
    by_bin = collections.defaultdict(list)
    for op in ops:
        by_bin[bin_of(op["m"])].append(op)
    return {least: (sum(map(times_of, there)), total(op["time_ns"] for op in there)) for least, there in by_bin.items()
            if sum(map(times_of, there)) or total(op["time_ns"] for op in there) is not None}


def check_weight_bins(report):
    products = []
    for weight in report["weights"]:
        ops = [report["operators"][i] for i in weight["operators"]]
        products += ops
        check_bins(weight["m_bins"], bins_of(ops), "a weight's")
        if weight["executions"] < EXACT_MOST:
            require(sum(b["executions"] for b in weight["m_bins"]) == weight["executions"], "bins are not all executions")
    check_bins(report["step"]["m_bins"], bins_of(products), "the step's")
    for whole in report["step"]["m_bins"]:
        parts = [b for phase in report["phases"].values() for b in phase["m_bins"] if b["m_least"] == whole["m_least"]]
        require(near(sum(b["executions"] for b in parts), whole["executions"], 1e-6), "executions of phases", parts, whole)
        same(total(b["time_ns"] for b in parts), whole["time_ns"], "time of phases")
    check_phase_bins(report, products)


def check_phase_bins(report, products):
    """Where nothing was replayed, executions of a phase are its calls."""
    if any(op["phase_calls"] is None or times_of(op) != op["calls"] for op in products):
        return
    for name in ("prefill", "decode"):
        expected = collections.Counter()
        for op in products:
            expected[bin_of(op["m"])] += op["phase_calls"][name]
        got = {b["m_least"]: b["executions"] for b in report["phases"][name]["m_bins"]}
        require(got.keys() == {m for m, times in expected.items() if times}, name, "bins", got, expected)
        require(all(near(expected[m], times) for m, times in got.items()), name, "bins", got, expected)


# ---- kernels ----

def by_name(report):
    groups = collections.defaultdict(list)
    for i, op in enumerate(report["operators"]):
        groups[op["device"], op["cublas"] is not None, op["name"]].append(i)
    return groups


def check_kernel(report, kernel, ops):
    timed = [op for op in ops if op["time_ns"] is not None]
    require(kernel["shapes"] == len(ops), "shapes", kernel["shapes"], len(ops))
    bounds, kinds = {op["bound"] for op in ops}, {op["kind"] for op in ops}
    require(kernel["mixed"] == (len(bounds) > 1), "mixed", kernel["mixed"], bounds)
    require(kernel["bound"] == (None if len(bounds) > 1 else ops[0]["bound"]), "bound", kernel["bound"], bounds)
    require(kernel["kind"] == (None if len(kinds) > 1 else ops[0]["kind"]), "kind", kernel["kind"], kinds)
    for key in ("family", "role", "display_name"):
        require(kernel[key] == ops[0][key], key, "of a kernel", kernel[key], ops[0][key])
    calls = [op["calls"] for op in ops]
    same(kernel["calls"], None if None in calls else min(COUNT_MOST, sum(calls)), "calls of a kernel")
    for key in ("kernels", "time_ns", "share"):
        value = total(op[key] for op in ops)
        same(kernel[key], value if value is None else min(COUNT_MOST, value), key, "of a kernel")
    gains = [op["gain_ns"] for op in timed]
    same(kernel["gain_ns"], sum(gains) if gains and None not in gains else None, "gain of a kernel")
    fractions, time_ns = [op["roof_fraction"] for op in timed], sum(op["time_ns"] for op in timed)
    if time_ns:
        same(kernel["roof_fraction"], sum(f * op["time_ns"] for f, op in zip(fractions, timed)) / time_ns if None not in fractions else None,
             "roof_fraction of a kernel")


def check_kernels(report):
    groups = by_name(report)
    require(len(report["kernels"]) == len(groups), "kernels", len(report["kernels"]), "for", len(groups))
    for kernel in report["kernels"]:
        first = report["operators"][kernel["operators"][0]]
        there = groups.pop((first["device"], first["cublas"] is not None, first["name"]), None)
        require(there == kernel["operators"], "operators of a kernel", kernel["operators"], there)
        require((kernel["device"], kernel["name"]) == (first["device"], first["name"]), "a kernel's name")
        check_kernel(report, kernel, [report["operators"][i] for i in there])
    order = [kernel["time_ns"] or 0 for kernel in report["kernels"]]
    require(order == sorted(order, reverse=True), "kernels are not in order")


# ---- attention ----

def check_length(report, row, length):
    """A rectangle of pairs, as a launch asks it."""
    pairs, keys = length["queries"] * length["keys"], length["keys"]
    sums = [row[key] for key in ("n_q", "n_kv", "d", "d_v", "k_bits", "v_bits")]
    if known(*sums, length["intensity_kv"]) and pairs:
        n_q, n_kv, d, d_v, k_bits, v_bits = sums
        flops = 2 * n_q * (d + d_v) * pairs
        alone, both = n_kv * keys * d * k_bits / 8, n_kv * keys * (d * k_bits + d_v * v_bits) / 8
        require(near(length["intensity_kv"], flops / both) or near(length["intensity_kv"], flops / alone), "intensity_kv",
                length["intensity_kv"], flops / both)
    require(not known(length["intensity"], length["intensity_kv"]) or length["intensity"] <= length["intensity_kv"] * (1 + 1e-9),
            "more intensive by all bytes than by K and V alone")
    there = {(op["launch"]["attention"]["queries"], op["launch"]["attention"]["keys"], op["launch"]["attention"]["sequences"])
             for op in (report["operators"][i] for i in row["operators"])}
    require((length["queries"], length["keys"], length["sequences"]) in there, "a length that no launch had")


def check_ridge_length(row):
    """Where FLOPs by bytes of a causal prefill of L, by L^2 / 2 pairs, are the ridge."""
    sums = [row[key] for key in ("n_q", "n_kv", "d", "d_v", "q_bits", "k_bits", "v_bits", "o_bits", "ridge", "l_ridge")]
    if not known(*sums):
        return
    n_q, n_kv, d, d_v, q_bits, k_bits, v_bits, o_bits, ridge, length = sums
    flops = n_q * (d + d_v) * length ** 2
    for kv_row in (d * k_bits + d_v * v_bits, d * k_bits):  # absorbed MLA reads V with K
        moved = length * (n_kv * kv_row + n_q * (d * q_bits + d_v * o_bits)) / 8
        if near(flops / moved, ridge):
            require(near(row["l_ridge_kv"], ridge * n_kv * kv_row / 8 / (n_q * (d + d_v))), "l_ridge_kv", row["l_ridge_kv"])
            return
    require(False, "l_ridge", length, "at a ridge of", ridge)


def check_attention(report):
    read = {i for i, op in enumerate(report["operators"]) if op["launch"] and op["launch"]["attention"]}
    claimed = [i for row in report["attention"] for i in row["operators"]]
    require(sorted(claimed) == sorted(read), "attention of operators", claimed, "where these were read", read)
    for row in report["attention"]:
        ops = [report["operators"][i] for i in row["operators"]]
        require((row["source"] == "launches") == bool(ops), "source", row["source"], "of", len(ops))
        for op in ops:
            for key in ("n_q", "n_kv", "d", "d_v", "q_bits", "k_bits", "v_bits", "o_bits"):
                require(op["launch"]["attention"][key] == row[key], key, "of attention")
            require((op["device"], op["roof"]) == (row["device"], row["roof"]), "roof of attention")
        if known(row["n_q"], row["n_kv"]) and row["n_kv"]:
            require(near(row["group"], row["n_q"] / row["n_kv"]), "group", row["group"])
        same(row["time_ns"], total(op["time_ns"] for op in ops), "time of attention")
        if ops:
            same(sum(length["executions"] for length in row["lengths"]), row["executions"], "executions of lengths")
            same(total(length["time_ns"] for length in row["lengths"]), row["time_ns"], "time of lengths")
        check_ridge_length(row)
        for length in row["lengths"]:
            check_length(report, row, length)


# ---- times ----

def check_time(of, since, realtime_key, at_key):
    realtime = of[realtime_key]
    require(of[at_key] == (realtime - since if known(realtime, since) else None), at_key, of[at_key], "of", realtime, "since", since)


def check_times(report):
    """What a double can't tell apart is told from the start."""
    session = report["session"]
    since = session["since_realtime_ns"]
    if session["started_realtime_ns"]:
        require(since == session["started_realtime_ns"], "since", since)
    if session["ended_realtime_ns"]:
        check_time(session, since, "ended_realtime_ns", "ended_at_ns")
    for process in report["processes"]:
        for note in process["notes"]:
            check_time(note, since, "realtime_ns", "at_ns")
        modes = process["timing_modes"]
        for one in modes["changes"] + modes["marks"] if modes else []:
            check_time(one, since, "realtime_ns", "at_ns")
        if modes:
            check_time(modes["windows"], since, "first_open_realtime_ns", "first_open_at_ns")
            check_time(modes["windows"], since, "last_close_realtime_ns", "last_close_at_ns")
    starts = [process["started_at_ns"] for process in report["processes"] if process["started_at_ns"] is not None]
    require(session["started_realtime_ns"] or not starts or min(starts) == 0, "the first process started at", starts)


def check(report):
    check_time_by_bound(report)
    check_roofs(report)
    check_gains(report)
    check_weight_bins(report)
    check_kernels(report)
    check_attention(report)
    check_times(report)
