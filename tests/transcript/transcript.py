# SPDX-License-Identifier: Apache-2.0
"""Runs a program alone and with a library in it, and compares everything that can be seen of the two runs, aspect by aspect."""
import collections
import hashlib
import os
import pathlib
import re
import shutil

import ledger_lines
from recording import ROOFTAP, Case, Run, STAND_INS, clean_environment

# `status` to `files` are seen from outside, `calls` and `work` in the ledger, the others by the program itself.
ASPECTS = ("status", "stdout", "stderr", "files", "calls", "work", "results", "errno", "fenv", "sticky_error", "nodes",
           "descriptors", "dispositions", "mask", "pending", "threads", "handler", "umask", "folder", "process", "children")
BY_ITSELF = ASPECTS[6:]
# Documented: what a child may find in its environment besides.
OURS = ("LD_PRELOAD=", "CUDA_INJECTION64_PATH=", "ROOFTAP_")
OF_RUN = ("PLANT=", "SUBJECT_LATE=", "PYTHONHASHSEED=")  # how the two runs are told apart
# Documented: calls that the shim makes in the program's threads. None of them changes anything.
GETTERS = re.compile(r"cublas(Xt)?Get(PointerMode|MathMode|Stream)\w*|cublasLt\w+GetAttribute|cu(da)?StreamIsCapturing\w*|"
                     r"cu(da)?StreamGetCaptureInfo\w*|cu(da)?GraphNodeGet(Dependencies|Type|ToolsId)\w*|"
                     r"cu(da)?Func(GetParamInfo|GetName)\w*|cuKernelGet(Name|ParamInfo|Function)\w*|"
                     # What the device is, told once by the first call, since a worker may leave before our thread runs.
                     r"cuDriverGetVersion|cuDeviceGet(Count|Name|Attribute|Uuid)?(_v2)?|cuDeviceTotalMem_v2")
FACTS_ONCE = ("cuDeviceGetName", "cuDeviceTotalMem_v2")
# And in a thread of its own, where the capture mode is that thread's.
OF_OUR_THREAD = re.compile(GETTERS.pattern + r"|cuThreadExchangeStreamCaptureMode")
OUR_THREADS = {"rooftap": 1, "rooftap-timing": 2}  # how many at most: CUPTI's own worker has its maker's name
LONG = bool(os.environ.get("TRANSCRIPT_LONG"))
ALL_BLOCKED = int("fffffffe7ffbfeff", 16)  # KILL, STOP and the C library's own can't be


class Row:
    """A program of the table. LEDGER: None, "order" (one thread, or threads that take turns) or "threads". LEFT_BY_ALL: its
    main() ends by pthread_exit(), so that its exit handlers run on our thread, as preload.c says."""

    def __init__(self, name, command, status=0, ledger="order", environment=None, alone=None, shimmed=None, inject=None,
                 uses_cuda=True, of_run=None, files_of_run=None, left_by_all=False, traced=True,
                 options=(), long=False):
        self.name, self.command, self.status, self.ledger = name, command, status, ledger
        self.left_by_all, self.options = left_by_all, options
        self.of_run, self.files_of_run = of_run, files_of_run  # patterns of what is another in each run
        self.long = long  # only with TRANSCRIPT_LONG
        self.traced = traced and uses_cuda  # whether a trace has to be there, since else the shim was none
        self.environment, self.alone, self.shimmed = environment or {}, alone or {}, shimmed or {}
        self.inject, self.uses_cuda = inject, uses_cuda


class Seen:
    """What was seen of one run: text by aspect, and what its processes did."""

    def __init__(self, run, folder, row):
        self.text, self.threads = collections.defaultdict(list), []
        for line in run.out.splitlines():
            aspect, _, rest = line.partition(" ")
            if aspect not in BY_ITSELF:
                aspect, rest = "stdout", line if not row.of_run else re.sub(row.of_run, "(of the run)", line)
            self.take(aspect, rest, row)
        self.text["children"].sort()
        if row.ledger == "threads":
            self.text["descriptors"].sort()
        self.text["stderr"], self.text["status"] = run.err.splitlines(), [str(run.status)]
        self.text["files"] = [line for line in files_of(folder) if not (row.files_of_run and re.match(row.files_of_run, line))]
        self.processes = [ledger_lines.process_of(path, row.ledger == "threads", row.left_by_all)
                          for path in sorted(folder.glob("*.ledger"))] if row.ledger else []

    def take(self, aspect, text, row):
        if aspect == "descriptors":
            text = re.sub(r"\d+\.ledger$", "the ledger", text)
            if row.ledger == "threads":  # one of them may have had another number open just then
                text = re.sub(r" \d+ ", " ", text)
        audited = ("LD_AUDIT=",) if "--audit" in row.options else ()
        if aspect == "children" and text.partition(" ")[2].startswith(OURS + OF_RUN + audited):
            return
        if aspect == "threads":
            self.threads.append(text)
        else:
            self.text[aspect].append(text)


def files_of(folder):
    """What the program left in its folder: names, modes, contents."""
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".ledger" or "session" in path.relative_to(folder).parts:
            continue
        content = hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else ""
        yield f"{path.relative_to(folder)} {path.lstat().st_mode:o} {content}"


# ---- threads ----

def compare_threads(alone, other, row):
    """Threads of ours and CUPTI's, all signals blocked, and only where CUDA is used. One that has just been made has its
    maker's name for a moment."""
    wrong, found, counts = [], collections.Counter(other), collections.Counter()
    found.subtract(alone)
    for text, count in found.items():
        where, name, blocked = re.fullmatch(r"(\S+) (.*) blocks (\w+)", text).groups()
        takes_over = row.left_by_all and (where, name) == ("atexit", "rooftap")
        is_blocked = int(blocked, 16) & ALL_BLOCKED == ALL_BLOCKED
        known = row.uses_cuda and (is_blocked or takes_over) and (name in OUR_THREADS or name == os.path.basename(row.command[0]))
        if count < 0 or count > 0 and not known:
            wrong.append(f"{'one less' if count < 0 else 'one more'}: {text}")
        elif count > 0:
            counts[where, name] += count
            counts[where, "in all"] += count
    most = {**OUR_THREADS, "in all": sum(OUR_THREADS.values())}
    return wrong + [f"{count} threads {name} at {where}" for (where, name), count in counts.items()
                    if count > most.get(name, most["in all"])]


# ---- calls ----

def embedded(one, other, allowed, more=None):
    """None: OTHER is ONE with nothing more than ALLOWED between, which goes to MORE; else what is different."""
    place, between = 0, []
    for item in other:
        if place < len(one) and item == one[place]:
            place += 1
            continue
        between.append(re.sub(r"_v\d{4,}$", "", item[0]))
        if not allowed.fullmatch(between[-1]):
            expected = one[place] if place < len(one) else "nothing"
            return f"call {place}: expected {expected}, made {item}"
    if more is not None:
        more.extend(between)
    return None if place == len(one) else f"call {place}: expected {one[place]}, not made"


def compare_calls(alone, other):
    """Of one process: each thread of ALONE is one of OTHER's, and what is left are threads of ours."""
    left, wrong, more = dict(other["threads"]), [], []
    for tid, items in sorted(alone["threads"].items(), key=lambda pair: pair[0] != alone["main"]):
        if tid == alone["main"]:
            mine = left.pop(other["main"], [])
            found = embedded(items, mine, OF_OUR_THREAD if alone["one_at_a_time"] else GETTERS, more)
        else:
            partner = next((t for t, theirs in left.items() if embedded(items, theirs, GETTERS) is None), None)
            mine = left.pop(partner, None)
            embedded(items, mine or [], GETTERS, more)
            found = f"a thread of {len(items)} calls, {items[:3]}, is missing" if mine is None else None
        if found:
            wrong.append(found)
    if other["main"] in left and alone["main"] not in alone["threads"]:
        wrong += [found for found in [embedded([], left.pop(other["main"]), GETTERS)] if found]
    if not alone["one_at_a_time"]:  # there ours are among them
        wrong += [f"{fact} asked more than once" for fact in FACTS_ONCE if more.count(fact) > 1]
    return wrong + [found for items in left.values() if (found := embedded([], items, OF_OUR_THREAD))]


def compare_work(alone, other):
    if alone["work"] == other["work"]:
        return []
    at = next((i for i, pair in enumerate(zip(alone["work"], other["work"])) if pair[0] != pair[1]),
              min(len(alone["work"]), len(other["work"])))
    return [f"{len(alone['work'])} and {len(other['work'])} pieces; piece {at}: {alone['work'][at:at + 1]}, {other['work'][at:at + 1]}"]


def compare_processes(alone, other):
    """{aspect: differences}. Processes have no name that lasts: each is compared with the one that is most like it."""
    if len(alone) != len(other):
        return {"calls": [f"{len(alone)} and {len(other)} processes with a ledger"], "work": []}
    left, wrong = list(other), {"calls": [], "work": []}
    for process in alone:
        def distance(candidate, process=process):
            return len(compare_calls(process, candidate)) + len(compare_work(process, candidate))
        partner = min(left, key=distance)
        left.remove(partner)
        wrong["calls"] += compare_calls(process, partner)
        wrong["work"] += compare_work(process, partner)
    return wrong


# ---- the two runs ----

def compare(alone, other, row):
    """{aspect: what is different}, without those that are identical."""
    wrong = {aspect: [f"{mark} {line}" for mark, lines in (("-", one), ("+", two)) for line in lines]
             for aspect in ASPECTS
             for one, two in [lines_apart(alone.text.get(aspect, []), other.text.get(aspect, []))] if one or two}
    wrong["threads"] = compare_threads(alone.threads, other.threads, row)
    wrong.update(compare_processes(alone.processes, other.processes))
    return {aspect: found for aspect, found in wrong.items() if found}


def lines_apart(one, other):
    """The lines from the first that differs to the last."""
    if one == other:
        return [], []
    start = next((i for i, pair in enumerate(zip(one, other)) if pair[0] != pair[1]), min(len(one), len(other)))
    return one[start:start + 3], other[start:start + 3]


def seen_aspects(seen):
    found = {aspect for aspect, lines in seen.text.items() if lines}
    found |= {"threads"} if seen.threads else set()
    found |= {"calls", "work"} if any(process["work"] for process in seen.processes) else set()
    return found


class Transcripts(Case):
    def environment(self, row, extra):
        folder = self.scratch / "run"
        ledger = {"SIMGPU_LEDGER": str(folder / "%p.ledger"), "SIMGPU_LEDGER_MODE": "api"} if row.ledger else {}
        return clean_environment({"LD_LIBRARY_PATH": str(STAND_INS), **ledger, **row.environment, **extra})

    def run_once(self, row, prefix, extra):
        """In a folder of the same name each time, so that no text differs for its sake."""
        folder = self.scratch / "run"
        shutil.rmtree(folder, True)
        folder.mkdir()
        run = Run([*prefix, *row.command], self.environment(row, extra), cwd=folder)
        return Seen(run, folder, row)

    def alone(self, row):
        return self.run_once(row, [], row.alone)

    def shimmed(self, row):
        """Under `rooftap record`, or put in by ROW's own means."""
        self.sessions += 1
        session = pathlib.Path(f"{self.scratch}/session{self.sessions}")
        if row.inject:
            session.mkdir()
            seen = self.run_once(row, [], {**row.shimmed, **row.inject(session)})
        else:
            seen = self.run_once(row, [str(ROOFTAP), "record", "-q", *row.options, "-o", str(session), "--"], row.shimmed)
        self.assertEqual(bool(list(session.rglob("*.trace"))), row.traced, f"{row.name}: traces in {session}")
        return seen

    def compare_rows(self, rows):
        """Prints the table; every difference of every row as text."""
        rows = [row for row in rows if LONG or not row.long]
        wrong, table, width = [], [], max(len(row.name) for row in rows)
        for row in rows:
            alone, under = self.alone(row), self.shimmed(row)
            self.assertEqual(alone.text["status"], [str(row.status)], f"{row.name} alone: {alone.text['stderr'][-5:]}")
            found, seen = compare(alone, under, row), seen_aspects(alone)
            table.append(f"{row.name.ljust(width)}  {'different: ' + ', '.join(found) if found else 'identical'}"
                         f"  ({len(seen)} aspects, {sum(len(t) for p in alone.processes for t in p['threads'].values())} calls)")
            wrong += [f"{row.name}: {aspect}: {line}" for aspect, lines in found.items() for line in lines[:6]]
        different = sum("different: " in line for line in table)
        print("\n".join(table), f"\n{len(rows)} rows, {different} different", flush=True)
        return wrong
