#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every way to die, of the command, of the program and of its worker, at its start, while it calls and while it leaves.
Each cell runs with rooftap and without: the statuses have to be the same, what returned has to be in the report, what was in
flight too, and the end may come two seconds later at most, also with a device that never answers.

    test_matrix.py            a slice: each cause and each victim once, the moments in turn
    test_matrix.py --whole    all cells, with a device that answers and with one that doesn't"""
import concurrent.futures
import json
import os
import pathlib
import resource
import shutil
import signal
import sys
import tempfile
import time

import cgroups
from places import adopt_orphans, BLOCKED_TID, CALLING, CHILD_STATUS, INTERRUPTED, is_alive, LEAVING, MAIN, Nursery, PHASE
from places import sleeps, wait_until, Witness
from recording import BUILD, clean_environment, ROOFTAP, Run, Session, STAND_INS
from report_check import records_differ

VICTIM = str(BUILD / "tests" / "kill" / "kill_victim")
THREADS, PACE_US, AT_ONCE = 2, 50, 2
PARENT, WORKER = 0, 1
PARENT_LEFT, WORKER_LEFT = 30, 40  # exit statuses of those that were told to leave
LONGER_S, TRIES = 2, 3             # how much later an end may come; a busy machine is asked again
HOG_BYTES = 32 << 20

SIGNALS = {"TERM": signal.SIGTERM, "KILL": signal.SIGKILL, "SEGV": signal.SIGSEGV, "ABRT": signal.SIGABRT,
           "INT twice": signal.SIGINT}
CAUSES = (*SIGNALS, "_exit", "quick_exit", "exec", "memory cgroup")
VICTIMS = ("launcher", "parent", "worker")
MOMENTS = ("start", "steady", "exit")
PASSED_ON = ("TERM", "INT twice")  # what the command hands on to the program

# A thread of each process is in a call that never returns. The other device never gives back its kernels' times either, and
# whoever synchronises it gets an error.
FAULTS = "cublasSgemm_v2:block"
NEVER_ANSWERS = FAULTS + ",cuptiActivityFlushAll:block,cuCtxSynchronize:1,cudaDeviceSynchronize:1,cuCtxSynchronize_v2:1"


def why_not(cause, victim):
    if victim == "launcher" and cause in ("_exit", "quick_exit", "exec"):
        return "the command leaves by return from main alone, and execs nothing"
    return None


class Course:
    """A cell once, with rooftap or without."""

    def __init__(self, cell, scratch, recorded):
        self.cause, self.victim, self.moment, self.answers = cell
        self.recorded, self.nursery = recorded, Nursery()
        self.witness = Witness(scratch / f"witness{recorded}")
        self.session, self.out = Session(scratch / "session"), scratch / f"out{recorded}"
        self.group, self.blocked, self.stand_in = None, {}, False
        self.run()

    # ---- its parts, in the order in which they happen ----

    def start(self):
        command = [VICTIM, "tree", self.witness.path, str(THREADS), str(PACE_US)]
        changes = {"SIMGPU_LEDGER": "", "SIMGPU_FAULT": FAULTS if self.answers else NEVER_ANSWERS}
        if self.recorded:
            command = self.session.record_command(command)
        else:
            changes["LD_LIBRARY_PATH"] = str(STAND_INS)
        if self.cause == "memory cgroup":
            self.group = cgroups.killed_whole() if self.victim == "launcher" else cgroups.short_of_memory(HOG_BYTES)
            self.stand_in = not self.group
        enter = (lambda: self.group.add(os.getpid())) if self.group and self.victim == "launcher" else None
        self.started_s = time.monotonic()
        self.top = self.nursery.start(command, clean_environment(changes), self.out, enter)

    @property
    def place(self):
        return WORKER if self.victim == "worker" else PARENT

    def wait(self, condition):
        """For what comes about, unless everything is over before."""
        if not wait_until(lambda: condition() or self.nursery.ended(self.top)) or not condition():
            raise RuntimeError(f"the moment never came: {self.out.read_text()} {self.nursery.statuses}")

    def reached(self, place, phase):
        self.wait(lambda: self.witness.word(place, PHASE) >= phase)

    def wait_for_moment(self):
        if self.moment == "start" and self.victim == "launcher":
            pass
        elif self.moment == "start":
            self.reached(self.place, MAIN)
        else:
            self.wait_until_steady()
        if self.moment == "start":
            time.sleep(0.01)
        if self.moment == "exit":
            self.witness.order(self.place, "leave at once" if self.victim == "launcher" else "leave")
            self.reached(self.place, LEAVING)
            if self.victim == "launcher":
                wait_until(lambda: not is_alive(self.witness.pid(PARENT)))
            elif not self.answers:
                time.sleep(0.02)  # within the wait for the device

    def wait_until_steady(self):
        for place in (PARENT, WORKER):
            self.reached(place, CALLING)
            self.wait(lambda: min(self.witness.returned(place, THREADS)) >= 100)
            self.wait(lambda: sleeps(self.witness.pid(place), self.witness.word(place, BLOCKED_TID)))
            self.blocked[place] = self.witness.word(place, BLOCKED_TID)

    def act(self):
        """Without rooftap there is no launcher: what it hands on hits the program, and of its own death nobody knows."""
        if self.victim == "launcher":
            if self.cause == "memory cgroup":
                self.kill_all()
            elif self.recorded or self.cause in PASSED_ON:
                self.send(self.top)
        elif self.cause in ("TERM", "KILL", "INT twice"):
            self.send(self.witness.pid(self.place))
        elif self.cause != "memory cgroup":
            self.witness.order(self.place, self.cause)
        elif self.group:
            self.group.add(self.witness.pid(self.place))
            self.witness.order(self.place, "hog")
        else:
            self.send(self.witness.pid(self.place))

    def send(self, pid):
        for again in range(2 if self.cause == "INT twice" else 1):
            if again:  # the first one was taken notice of, or has ended it
                place = WORKER if self.victim == "worker" else PARENT
                wait_until(lambda: self.witness.word(place, INTERRUPTED) or self.nursery.ended(pid), 5)
            self.nursery.reap()
            if is_alive(pid):
                os.kill(pid, SIGNALS.get(self.cause, signal.SIGKILL))

    def kill_all(self):
        if self.group:
            cgroups.kill(self.group)
            return
        pids = [self.top, *(self.witness.pid(place) for place in self.witness.places())]
        for pid in pids:  # one right after the other
            if is_alive(pid):
                os.kill(pid, signal.SIGKILL)

    def victim_ended(self):
        if self.victim != "launcher":
            return self.nursery.ended(self.witness.pid(self.place))
        if not self.recorded and self.cause not in PASSED_ON and self.cause != "memory cgroup":
            return True
        return self.nursery.ended(self.top)

    def all_ended(self):
        pids = [self.top, *(self.witness.pid(place) for place in self.witness.places())]
        return all([self.nursery.ended(pid) for pid in pids])

    def run(self):
        try:
            self.start()
            self.wait_for_moment()
            self.act()
            acted = time.monotonic()
            self.hung = [] if wait_until(self.victim_ended, 40) else ["the victim did not end"]
            self.seconds = time.monotonic() - acted
            for place in (PARENT, WORKER):
                self.witness.order(place, "leave at once")
            if self.moment == "start" and self.victim == "launcher":  # it may just have started the program
                wait_until(lambda: self.witness.pid(WORKER), 0.3)
            told = time.monotonic()
            self.hung += [] if wait_until(self.all_ended, 40) else ["a process did not end"]
            self.seconds += time.monotonic() - told
            if self.recorded:
                self.report_run = self.session.report_run("--json")
            self.left = [] if wait_until(self.nursery.is_empty, 20) else ["a process of the command is left behind"]
            if self.recorded:
                self.empty_ring()
        finally:
            self.nursery.reap()
            self.nursery.end_all([self.witness.pid(place) for place in self.witness.places()] + [self.top])
            if self.group:
                self.group.remove()

    def empty_ring(self):
        """Where all were killed at once nobody is left to empty the shared memory: `rooftap collect` does, and nothing changes."""
        try:
            ring = json.loads((self.session.folder / "session.json").read_text()).get("ring")
        except (FileNotFoundError, ValueError):
            ring = None  # killed before it was written
        if not ring or not os.path.exists(ring):
            return
        never_begun = os.listdir(ring) == ["control"]  # killed between making the folder and the collector; the next record removes it
        if self.victim != "launcher" or self.cause != "memory cgroup" and not never_begun:
            self.left.append(f"{ring} is left behind")
            return
        before, run = self.report_run, Run([str(ROOFTAP), "collect", str(self.session.folder)], clean_environment())
        self.report_run = self.session.report_run("--json")
        calls = [json.loads(done.out)["coverage"]["calls"] for done in (before, self.report_run) if done.status == 0]
        if run.status or os.path.exists(ring) or calls != calls[:1] * 2 and before.status == 0:
            self.left.append(f"rooftap collect ended with {run.status}: {run.err}; calls {calls}, {ring} is left: {os.path.exists(ring)}")

    # ---- what came of it ----

    def status_of(self, place):
        told = self.witness.word(place, CHILD_STATUS)
        if told:
            return os.waitstatus_to_exitcode(told - 1)
        return self.nursery.statuses.get(self.witness.pid(place))

    @property
    def statuses(self):
        """Of the program, as its caller sees it, and of its worker; None: it was never there."""
        launcher_died = self.victim == "launcher" and self.cause not in PASSED_ON and self.recorded
        program = self.status_of(PARENT) if launcher_died else self.nursery.statuses.get(self.top)
        return {"program": program, "worker": self.status_of(WORKER)}


def statuses_differ(cell, recorded, alone):
    cause, victim, moment, _ = cell
    if victim == "launcher" and cause not in PASSED_ON:
        if cause != "memory cgroup":
            expected = {-SIGNALS[cause]} | ({PARENT_LEFT} if moment == "exit" else set())
            if recorded.nursery.statuses.get(recorded.top) not in expected:
                return f"the command ended with {recorded.nursery.statuses.get(recorded.top)}"
        elif moment != "steady":  # before it or after it nobody need be left to be killed
            return None
    if moment == "start" and victim == "launcher" and not recorded.witness.pid(PARENT):
        # The program was never started, and what the command got ended the command.
        return None if recorded.nursery.statuses[recorded.top] < 0 else "the program was not started"
    if moment == "exit" and victim == "launcher":
        return None if recorded.statuses["program"] in (PARENT_LEFT, None) else f"statuses {recorded.statuses}"
    if (moment, victim, cause) == ("start", "launcher", "INT twice"):
        # Before its handler is there the first one kills, afterwards the second.
        return None if recorded.statuses["program"] in (-2, PARENT_LEFT) else f"statuses {recorded.statuses}"
    if moment == "start" and None in (recorded.statuses["worker"], alone.statuses["worker"]):
        # The worker was not there yet.
        return None if recorded.statuses["program"] == alone.statuses["program"] else f"{recorded.statuses}, {alone.statuses}"
    return None if recorded.statuses == alone.statuses else f"statuses {recorded.statuses}, without {alone.statuses}"


def in_flight_differs(course, report):
    for place, tid in course.blocked.items():
        shown = [call for process in report["processes"] if process["pid"] == course.witness.pid(place)
                 for call in process["in_flight"] if call["tid"] == tid]
        if [(call["name"], call["arguments"][:2]) for call in shown] != [
                ("cublasSgemm_v2", [16 * (THREADS + 1), 4 * (place + 1)])]:
            return f"in flight in thread {tid} of place {place}: {shown}"
    return None


def report_differs(course):
    run = course.report_run
    return records_differ(run, course.witness, THREADS) or run.status < 2 and (
        in_flight_differs(course, json.loads(run.out)) or end_differs(course, json.loads(run.out)))


def end_differs(course, report):
    """The end of the program is told as the command saw it, if it lived; and nobody is said to be running."""
    launcher_died = course.victim == "launcher" and course.cause not in PASSED_ON
    for process in report["processes"]:
        if process["end"] == "running":
            return f"process {process['pid']} is said to run"
        if process["pid"] != course.witness.pid(PARENT) or launcher_died:
            continue
        status = course.nursery.statuses[course.top]
        expected = f"exit {status}" if status >= 0 else f"signal {-status}"
        # Of two programs in one process only the last one ended so.
        if process["end"] != expected and not (course.cause == "exec" and course.place == PARENT):
            return f"the end is said to be {process['end']}, it was {expected}"
    return None


def said_on_streams(course):
    text = course.out.read_text()
    return f"on its streams: {text}" if text else None


def try_cell(cell, scratch):
    """(what went wrong, seconds later than without, whether by a stand-in)"""
    recorded, alone = Course(cell, scratch, True), Course(cell, scratch, False)
    wrong = (recorded.hung + recorded.left or [statuses_differ(cell, recorded, alone) or report_differs(recorded) or
                                               said_on_streams(recorded)])[0]
    return wrong, recorded.seconds - alone.seconds, recorded.stand_in


def run_cell(cell):
    adopt_orphans()
    later = []
    for _ in range(TRIES):
        scratch = pathlib.Path(tempfile.mkdtemp(prefix="rooftap-kill-"))
        try:
            wrong, seconds, stand_in = try_cell(cell, scratch)
        except Exception as problem:  # a cell that breaks is a line of the table too
            return cell, f"{type(problem).__name__}: {problem}", None, False
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        later.append(seconds)
        if wrong or seconds <= LONGER_S:
            break
    if not wrong and min(later) > LONGER_S:
        wrong = f"ended {min(later):.1f} s later than without"
    return cell, wrong, min(later), stand_in


def cells_of(whole):
    if whole:
        return [(cause, victim, moment, answers) for answers in (True, False) for cause in CAUSES for victim in VICTIMS
                for moment in MOMENTS if not why_not(cause, victim)]
    return [(cause, victim, MOMENTS[(c + v) % 3], (c + v) % 2 == 0) for c, cause in enumerate(CAUSES)
            for v, victim in enumerate(VICTIMS) if not why_not(cause, victim)]


def print_table(results):
    print(f"{'':14}" + "".join(f"{victim + ' ' + moment:>17}" for victim in VICTIMS for moment in MOMENTS))
    for cause in CAUSES:
        words = []
        for victim in VICTIMS:
            for moment in MOMENTS:
                found = [r for r in results if r[0][:3] == (cause, victim, moment)]
                later = max((r[2] for r in found if r[2] is not None), default=0)
                words.append("none" if why_not(cause, victim) else "." if not found else
                             "WRONG" if any(r[1] for r in found) else f"same {later:+.2f} s")
        print(f"{cause:14}" + "".join(f"{word:>17}" for word in words))
    print("same: statuses as without rooftap, every call that returned is reported, those in flight are shown; +s: how much "
          "later it ended\nnone: " + why_not("exec", "launcher") + "; .: not in this slice")
    if any(stand_in for *_, stand_in in results):
        print("memory cgroup: this machine lets none be made; SIGKILL stood in for it")


def main():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    cells = cells_of("--whole" in sys.argv)
    start = time.monotonic()
    with concurrent.futures.ProcessPoolExecutor(AT_ONCE) as pool:
        results = list(pool.map(run_cell, cells))
    print_table(results)
    wrong = [(cell, text) for cell, text, _, _ in results if text]
    for cell, text in wrong:
        print(f"{' '.join(cell[:3])}, device {'answers' if cell[3] else 'never answers'}: {text}")
    print(f"{len(cells)} cells, {len(wrong)} wrong, {time.monotonic() - start:.0f} s")
    sys.exit(1 if wrong or not cells else 0)


if __name__ == "__main__":
    main()
