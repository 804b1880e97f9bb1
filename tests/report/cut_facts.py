# SPDX-License-Identifier: Apache-2.0
"""What `--json --top N` must be of what `--json` is: the same, shorter, with exact notes of what is missing."""
import collections

from holding import COUNT_MOST, near, require, same, total

ROWS = ("operators", "weights", "kernels")
LIST_LEAST = 32
NUMBERS_MOST = 8
BYTES_MOST, BYTES_OF_ROW = 200_000, 4_000


class Notes:
    def __init__(self):
        self.texts = 0
        self.shown, self.of = collections.Counter(), collections.Counter()


def compare_texts(whole, cut, most, notes):
    if whole == cut:
        require(len(whole.encode()) <= most, "a text of", len(whole.encode()), "bytes is not cut")
        return
    notes.texts += 1
    require(cut.endswith("…") and whole.startswith(cut[:-1]), "a text that is another's:", cut[:80])
    kept = len(cut[:-1].encode())
    require(most - 3 <= kept <= most < len(whole.encode()), "a text is cut to", kept, "bytes of", len(whole.encode()))


def compare(whole, cut, path, most, notes):
    if isinstance(whole, dict):
        require(list(whole) == list(cut), path, "keys", list(whole), list(cut))
        for key in whole:
            compare(whole[key], cut[key], f"{path}.{key}" if path else key, most, notes)
    elif isinstance(whole, list):
        require(len(cut) <= len(whole), path, "is longer than it is")
        if path not in ROWS and len(cut) < len(whole):
            notes.shown[path] += len(cut)
            notes.of[path] += len(whole)
            require(len(whole) > NUMBERS_MOST or not all(isinstance(item, (int, float)) for item in whole), path, "few numbers are cut")
        for a, b in zip(whole, cut):
            compare(a, b, path + "[]", most, notes)
    elif isinstance(whole, str):
        compare_texts(whole, cut, most, notes)
    else:
        require(type(whole) is type(cut) and whole == cut, path, whole, "is", cut)


def check_sums(kind, rest, rows, gpu_time):
    require(rest["count"] == len(rows), kind, "count", rest["count"], len(rows))
    for key in ("executions", "kernels", "time_ns", "flops", "bytes", "t_roof_ns", "gain_ns"):
        value = total(row.get(key) for row in rows)
        if key == "gain_ns":
            value = total(row.get(key) for row in rows if row["time_ns"] is not None)
        same(rest[key], value if value is None else min(COUNT_MOST, value) if isinstance(value, int) else value, kind, key, "of the rest")
    calls = [row.get("calls") for row in rows]
    same(rest["calls"], None if None in calls else min(COUNT_MOST, sum(calls)), kind, "calls of the rest")
    time_ns = total(row["time_ns"] for row in rows)
    same(rest["share"], time_ns / gpu_time if gpu_time and time_ns is not None else None, kind, "share of the rest")
    if kind != "operators":
        require(rest["by_bound"] is None, kind, "by_bound")
        return
    for bound, there in rest["by_bound"].items():
        of = [row for row in rows if row["bound"] == bound]
        require(there["count"] == len(of), "count of", bound)
        same(there["time_ns"], total(row["time_ns"] for row in of) if of else 0, "time of", bound)


def check_rest(whole, cut, rows):
    for kind in ROWS:
        require(len(cut[kind]) == min(rows, len(whole[kind])), kind, len(cut[kind]), "of", len(whole[kind]), "with --top", rows)
        left = whole[kind][rows:]
        rest = cut["cut"] and cut["cut"][kind]
        require(bool(left) == (rest is not None), kind, "rest", rest)
        if left:
            check_sums(kind, rest, left, whole["coverage"]["gpu_time_ns"])


def check(whole, cut, rows, length):
    """LENGTH: bytes that were printed."""
    notes = Notes()
    require(whole["cut"] is None, "all of it, and cut")
    require(length <= BYTES_MOST + BYTES_OF_ROW * rows, length, "bytes for", rows, "rows")
    check_rest(whole, cut, rows)
    said = cut["cut"]
    most = said["text_bytes"] if said else 1024
    for key in whole:
        if key != "cut":
            compare(whole[key], cut[key], key, most, notes)
    anything = notes.texts or notes.of or any(len(whole[kind]) > rows for kind in ROWS)
    require(bool(anything) == (said is not None), "cut is", said)
    if not said:
        return
    require((said["rows"], said["texts"]) == (rows, notes.texts), "texts cut:", said["texts"], notes.texts)
    require(said["lists"] == {path: {"shown": notes.shown[path], "of": notes.of[path]} for path in notes.of}, "lists cut:",
            said["lists"], dict(notes.of))
    for path, list_ in said["lists"].items():
        require("[]" in path or list_["shown"] <= max(rows, LIST_LEAST), path, "holds", list_["shown"])


# Of a report with a rest: each must be seen.
def broken(cut):
    yield "count", lambda c: c["cut"]["operators"].update(count=c["cut"]["operators"]["count"] + 1)
    yield "time", lambda c: c["cut"]["operators"].update(time_ns=(c["cut"]["operators"]["time_ns"] or 0) + 1)
    yield "by_bound", lambda c: c["cut"]["operators"]["by_bound"]["memory"].update(count=10**6)
    yield "row", lambda c: c["operators"].pop()
    yield "list", lambda c: c["cut"]["lists"].update(devices={"shown": 1, "of": 2})
    yield "texts", lambda c: c["cut"].update(texts=c["cut"]["texts"] + 1)
    yield "null", lambda c: c.update(cut=None)
    yield "key", lambda c: c["operators"][0].pop("roof")
