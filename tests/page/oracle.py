# SPDX-License-Identifier: Apache-2.0
"""What the page must show of a report's JSON, worked out here from JSON.md alone: figures as report/README.md writes them,
and the rows of each table. Nothing of the page or of report/ is called."""
import math

UNKNOWN = "-"


# ---- figures ----

def count(value):
    return UNKNOWN if value is None else f"{value:,}"


def size(value):
    return UNKNOWN if value is None or value < 0 else str(value)


def four_digits(value, unit):
    decimals = 0 if value >= 999.95 else 1 if value >= 99.995 else 2 if value >= 9.9995 else 3
    return f"{value:.{decimals}f} {unit}"


def duration(ns):
    if ns is None:
        return UNKNOWN
    if ns < 999.5:
        return f"{ns:.0f} ns"
    for limit, scale, unit in ((999.95e3, 1e3, "us"), (999.95e6, 1e6, "ms"), (math.inf, 1e9, "s")):
        if ns < limit:
            return four_digits(ns / scale, unit)


def one_decimal(value):
    if value is None:
        return UNKNOWN
    return f"{value:.1f}" if abs(value) < 1e7 else f"{value:.3g}"


def share(value):
    return one_decimal(None if value is None else 100 * value)


def gain(value):
    if value is None:
        return UNKNOWN
    percent = 100 * value
    if percent == 0:
        return "0"
    if 0 < percent < 0.01:
        return "<0.01"
    return f"{percent:.2f}" if 0 < percent < 9.995 else one_decimal(percent)


def tera(value):
    if value is None:
        return UNKNOWN
    return f"{value / 1e12:.3f}" if 0 < value / 1e12 < 0.095 else one_decimal(value / 1e12)


def giga(value):
    if value is None:
        return UNKNOWN
    value /= 1e9
    return one_decimal(value) if value >= 1e7 or value < 9.95 else f"{value:.0f}"


def scaled(value, base, units):
    if value is None:
        return UNKNOWN
    unit = 0
    while unit + 1 < len(units) and value >= base - 0.05:
        value, unit = value / base, unit + 1
    return f"{one_decimal(value)} {units[unit]}" if unit else f"{value:.0f} B"


def bytes_of(value):
    return scaled(value, 1000, ("B", "kB", "MB", "GB", "TB"))


def gibibytes(value):
    return scaled(value, 1024, ("B", "KiB", "MiB", "GiB", "TiB"))


# ---- operators ----

def cut_middle(text, width):
    if len(text) <= width:
        return text
    shown = width - 3
    head = shown * 2 // 3
    return text[:head] + "..." + text[len(text) - (shown - head):]


def read_launch(op):
    """What a launch was read to be, if that is a product or an attention."""
    launch = op["launch"]
    if op["cublas"] or not launch or launch["reading"] != "read" or launch["kind"] not in ("matmul", "attention"):
        return None
    return launch


def has_shape(op):
    if op["cublas"]:
        return None not in (op["m"], op["n"], op["k"])
    return read_launch(op) is not None


def sizes(op):
    launch = read_launch(op)
    if not launch:
        return op["m"], op["n"], op["k"]
    if launch["kind"] == "matmul":
        return tuple(launch["matmul"][side] for side in "mnk")
    return launch["attention"]["queries"], launch["attention"]["keys"], launch["attention"]["d"]


def size_cells(op):
    m, n, k = map(size, sizes(op))
    launch = read_launch(op)
    attention = launch and launch["attention"]
    if attention:
        if attention["keys_at_most"] and attention["keys"] is not None:
            n = "<=" + n
        if attention["d_v"] not in (None, attention["d"]):
            k += f"/{attention['d_v']}"
    return m, n, k


def times(number):
    return f" x{number}" if number is not None and number > 1 else ""


def kind(op):
    launch = read_launch(op)
    if launch:
        name = cut_middle(launch["kernel"], 24)
        if launch["kind"] == "matmul":
            return name + times(launch["matmul"]["batch"])
        heads = launch["attention"]
        text = f"{name} {size(heads['n_q'])}"
        if heads["n_kv"] != heads["n_q"]:
            text += f"/{size(heads['n_kv'])}"
        return text + times(heads["sequences"])
    if op["time_source"] == "graph":
        return "graph"
    if op["cublas"]:
        return op["kind"] + times(op["batch"])
    if op["kind"] == "other":
        stage = f" {op['role']}" if op["role"] in ("helper", "combine") else ""
        return (op["family"] or "unknown") + stage
    return op["kind"]


def types(op):
    launch = read_launch(op)
    if launch:
        word = launch["path"] and ("dp4a" if launch["path"].endswith("dp4a") else launch["path"])
        if launch["kind"] == "attention":
            k, v = launch["attention"]["k_bits"], launch["attention"]["v_bits"]
            stored = UNKNOWN if None in (k, v) else f"kv{k:g}" if k == v else f"k{k:g} v{v:g}"
        else:
            stored = launch["weight_format"] or UNKNOWN
            if word == stored:
                return stored
        return f"{stored}/{word}" if word else stored
    a, b, d = (op[f"type_{side}"] for side in "abd")
    if None in (a, b, d):
        return UNKNOWN
    text = a if a == b else f"{a},{b}"
    if op["type_compute"] and op["type_compute"] != a.removeprefix("complex_"):
        text += f"/{op['type_compute']}"
    return text if a == d else f"{text}>{d}"


def flags(op):
    words = list(op["flags"])
    if op["shape_source"] == "at_most":
        words.append("at_most")
    launch = read_launch(op)
    if launch and launch["provenance"] in ("params", "exact"):
        words.append(launch["provenance"])
    return ",".join(words)


def mark(op):
    shared = (op["time_shared_ns"] or 0) > 0 and op["time_source"] != "graph"
    return ("~" if op["time_estimated"] else "") + ("^" if shared else "")


def operator_row(report, op):
    """{title: (cell, value by which it is sorted)}; None where a name has its place."""
    row = {"GPU": (size(op["device"]), None)} if len(report["devices"]) > 1 else {}
    row |= {"%TIME": (share(op["share"]), op["share"]),
            "TIME": (duration(op["time_ns"]) + mark(op), op["time_ns"]),
            "CALLS": (count(op["calls"]), op["calls"]),
            "KIND": (kind(op), None)}
    if not has_shape(op):
        return row
    row |= {side: (cell, value) for side, cell, value in zip("MNK", size_cells(op), sizes(op))}
    row |= {"TYPES": (types(op), None),
            "FLOP/B": (one_decimal(op["intensity"]), op["intensity"]),
            "CLASS": (op["bound"], None),
            "TFLOP/s": (tera(op["flops_per_second"]), op["flops_per_second"]),
            "GB/s": (giga(op["bytes_per_second"]), op["bytes_per_second"]),
            "%ROOF": (share(op["roof_fraction"]), op["roof_fraction"]),
            "%GAIN": (gain(op["gain_share"]), op["gain_share"]),
            "FLAGS": (flags(op), None)}
    return row


def operators(report):
    return [operator_row(report, op) for op in report["operators"]]


# ---- kernels: operators of one name ----

def kernels(report):
    rows = []
    for kernel in report["kernels"]:
        row = {"GPU": (size(kernel["device"]), None)} if len(report["devices"]) > 1 else {}
        time, number = kernel["time_ns"], kernel["kernels"]
        mean = time / number if time is not None and number else None
        members = [report["operators"][at] for at in kernel["operators"] if at < len(report["operators"])]
        family = members[0] if members and len(members) == len(kernel["operators"]) else None
        row |= {"%TIME": (share(kernel["share"]), kernel["share"]), "TIME": (None, time),
                "CALLS": (count(kernel["calls"]), kernel["calls"]), "MEAN": (duration(mean), mean),
                "KIND": (kind({**family, "batch": None, "launch": None}) if family else None, None),
                "SHAPES": (count(kernel["shapes"]), kernel["shapes"]),
                "CLASS": ("mixed" if kernel["mixed"] else kernel["bound"], None),
                "%ROOF": (share(kernel["roof_fraction"]), kernel["roof_fraction"]),
                "%GAIN": (gain(kernel["gain_share"]), kernel["gain_share"])}
        rows.append(row)
    return rows


# ---- weights ----

def base_ns(report):
    """Of each device what shares of time are of: busy, or where nothing was timed all its operators at the roof."""
    busy = [device["gpu_busy_ns"] or 0 for device in report["devices"]]
    if any(busy):
        return busy
    return [sum(op["t_roof_ns"] or 0 for op in report["operators"] if op["device"] == index)
            for index in range(len(busy))]


def saved(report, weight, change):
    base = base_ns(report)[weight["device"]] if weight["device"] is not None else 0
    value = weight["saved_ns"][change]
    return value / base if base and value is not None else None


def weight_row(report, weight):
    ops = [report["operators"][at] for at in weight["operators"] if at < len(report["operators"])]
    whole = len(ops) == len(weight["operators"])
    row = {"GPU": (size(weight["device"]), None)} if len(report["devices"]) > 1 else {}
    batch = f"{weight['batch']}x " if weight["batch"] is not None and weight["batch"] > 1 else ""
    below = weight["executions_below"] if weight["time_below"] is None else weight["time_below"]
    gains = [op["gain_share"] for op in ops]
    gained = sum(gains) if whole and None not in gains and weight["time_ns"] is not None else None
    star = "never" if weight["m_star_never"] else one_decimal(weight["m_star"])
    fill = UNKNOWN if None in (weight["fill"], weight["blocks"], weight["sm_count"]) else f"{weight['blocks']}/{weight['sm_count']}"
    row |= {"%TIME": (share(weight["share"]), weight["share"]), "TIME": (duration(weight["time_ns"]), weight["time_ns"]),
            "CALLS": (count(weight["executions"]), weight["executions"]),
            "N": (batch + size(weight["n"]), weight["n"]), "K": (size(weight["k"]), weight["k"]),
            "TYPES": (types(ops[0]) if ops else None, None),
            "M p50": (size(weight["m_p50"]), weight["m_p50"]), "M p90": (size(weight["m_p90"]), weight["m_p90"]),
            "M*": (star, math.inf if weight["m_star_never"] else weight["m_star"]), "%<M*": (share(below), below), "BLOCKS": (fill, weight["fill"]),
            "%GAIN": (gain(gained), gained) if whole else (None, None),
            "p90": (size(weight["m_p90"]), weight["m_p90"]), "SHORT": (weight["short_side"] or UNKNOWN, None)}
    for title, change in (("BATCH", "batch"), ("FUSE", "fuse"), ("FILL", "split_k"), ("8BIT", "8_bit"), ("4BIT", "4_bit")):
        value = saved(report, weight, change)
        row[title] = (gain(value), value)
    return row


def weights(report):
    return [weight_row(report, weight) for weight in report["weights"]]


def skinny_places(report):
    """Skinny or starved ones, the largest saving of any one change first."""
    listed = [at for at, weight in enumerate(report["weights"]) if weight["skinny"] or weight["starved"]]
    return sorted(listed, key=lambda at: -max([value for value in report["weights"][at]["saved_ns"].values() if value] or [0]))


ROWS = {"shape": operators, "kernel": kernels, "weight": weights, "skinny": weights}
LISTS = {"shape": "operators", "kernel": "kernels", "weight": "weights", "skinny": "weights"}


# ---- order ----

def sorted_places(values, ascending):
    """Unknown ones last; equal ones as they were."""
    known = [place for place, value in enumerate(values) if value is not None]
    return sorted(known, key=lambda place: values[place] if ascending else -values[place]) + \
        [place for place, value in enumerate(values) if value is None]
