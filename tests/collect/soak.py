#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""soak.py BUILD [--calls N | --replays N] [--processes P] [--mode aggregate|max-size]...: P programs that call cuBLAS N times together on
the simulated GPU, or replay a graph of a product and a kernel N times, recorded in constant memory and disk. While it runs, memory of the program and of the collector, the ring and the session's
folder are looked at; then what was recorded and what was dropped must come to what was called."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

MAX_SIZE = 16 << 20
LOOK_S = 0.25
# What the second half of a run may have more than the first: allocators and page caches are not exact.
# A host has a table of 8 MiB that fills up in its first 262,144 launches; what a machine with too little time for the timing
# thread makes CUPTI keep comes on top, and goes again. So its halves are compared in runs that are long beside that; in shorter
# ones HOST_MOST has to do, which 80 bytes a call would break.
SLACK = {"host": 16 << 20, "collector": 4 << 20, "disk": 1 << 20}
ASIDE_MOST = {"aggregate": 16 << 20, "max-size": MAX_SIZE // 16}  # of a process
HOST_MOST = 64 << 20  # of a process
HOST_MOST_REPLAYS = 256 << 20  # 64 MiB of activity buffers, and what the simulated GPU has not handed over yet
LONG_CALLS = 4_000_000  # of a process
# A program that only replays fills no table: what it takes is flat to a hundredth, and what allocators round up to.
REPLAYS_SLACK, LONG_REPLAYS = (0.01, 1 << 20), 10_000_000
NODE_REPLAYS_MOST = 9_000_000  # two kernels each: --timing=auto times each one up to 20 million
RING_MOST = 17 << 20  # of a process: the default of --ring, and its slots


def private_memory(pid):
    try:
        with open(f"/proc/{pid}/status") as status:
            return next((int(line.split()[1]) << 10 for line in status if line.startswith("RssAnon:")), 0)
    except OSError:
        return 0


def descendants(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            children = [int(word) for word in file.read().split()]
    except OSError:
        return []
    return children + [below for child in children for below in descendants(child)]


def executable(pid):
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return ""


def tree_bytes(folder, counts=lambda name: True):
    total = 0
    try:
        for entry in os.scandir(folder):
            try:
                total += entry.stat(follow_symlinks=False).st_size if counts(entry.name) else 0
            except OSError:
                pass  # gone between the two
    except OSError:
        pass
    return total


def ring_folder(session):
    try:
        return json.loads((session / "session.json").read_text()).get("ring")
    except (OSError, ValueError):
        return None


class Looks:
    """What was seen of a running recording, at regular times."""

    def __init__(self, launcher, session):
        self.launcher, self.session, self.ring, self.looks = launcher, session, None, []

    def look(self):
        self.ring = self.ring or ring_folder(self.session)
        look = dict.fromkeys([*SLACK, "ring", "aside", "all"], 0)
        for pid in descendants(self.launcher.pid):
            look["collector" if executable(pid) == "rooftap" else "host"] += private_memory(pid)
        look["ring"] = tree_bytes(self.ring) if self.ring else 0
        # Where a busy machine let the collector stand still for seconds, hosts have gone on in files of their own.
        look["aside"] = tree_bytes(self.session, lambda name: name.endswith(".more.trace"))
        look["all"] = tree_bytes(self.session)
        look["disk"] = look["all"] - look["aside"]
        self.looks.append(look)

    def halves(self, what):
        middle = len(self.looks) // 2
        return [max((look[what] for look in half), default=0) for half in (self.looks[:middle], self.looks[middle:])]


class Work:
    """What each of the processes does, and what is recorded of all."""

    def __init__(self, arguments):
        self.processes, self.replays = arguments.processes, arguments.replays is not None
        self.pace_ns = arguments.pace_ns
        self.each = (arguments.replays if self.replays else arguments.calls) // self.processes
        if self.replays:
            # Once directly, then captured: a call each; the graph's second kernel is a launch.
            self.program = ["graph", str(self.each)]
            self.calls, self.kernels, launches = 2 * self.processes, (2 * self.each + 1) * self.processes, self.processes
        else:
            self.program, launches = ["one", "ex", "64", "32", "16", str(self.each)], 0
            self.calls = self.kernels = self.each * self.processes
        self.records = self.calls + self.kernels + launches

    def host_is_flat(self, first, second):
        if self.replays:
            return self.each < LONG_REPLAYS or second <= first * (1 + REPLAYS_SLACK[0]) + REPLAYS_SLACK[1]
        return self.each < LONG_CALLS or second <= first + SLACK["host"]


def run(build, mode, work, folder):
    session = pathlib.Path(folder) / "session"
    kept = ["--aggregate"] if mode == "aggregate" else ["--max-size", str(MAX_SIZE)]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("SIMGPU_", "ROOFTAP_", "LD_", "CUDA_"))}
    if work.replays and work.pace_ns:  # at a GPU's pace: else the simulator itself keeps what nobody has fetched yet
        environment["SIMGPU_CLOCK"] = "real"
    pace = ["--sim-option", f"startup_ns={work.pace_ns}"] if work.replays and work.pace_ns else []
    command = [build / "bin/rooftap", "record", "-q", "-o", session, "--simulate", "rtx4090", "--no-clocks", *pace, *kept, "--",
               "/bin/sh", "-c", f'for i in $(seq {work.processes}); do "$@" & done; wait', "sh",
               build / "tests/e2e/e2e_calls", *work.program]
    start = time.monotonic()
    launcher = subprocess.Popen([str(word) for word in command], env=environment)
    looks = Looks(launcher, session)
    while launcher.poll() is None:
        looks.look()
        time.sleep(LOOK_S)
    seconds = time.monotonic() - start
    if launcher.returncode:
        sys.exit(f"{mode}: the recording ended with {launcher.returncode}")
    disk_at_end = tree_bytes(session)
    report = subprocess.run([build / "bin/rooftap", "report", "--json", session], stdout=subprocess.PIPE, check=True)
    return json.loads(report.stdout), looks, seconds, disk_at_end


def check(mode, work, report, looks, seconds, disk_at_end):
    """Prints what was found; the faults as a list of lines."""
    coverage, faults = report["coverage"], []
    rotated = coverage["rotated"] or {"calls": 0, "launches": 0, "kernels": 0}
    recorded = {what: coverage[what] + rotated[what] for what in ("calls", "launches", "kernels")}
    dropped = coverage["records_dropped"]
    print(f"{mode}: {work.each * work.processes} {'replays' if work.replays else 'calls'} of {work.processes} processes in {seconds:.0f} s; "
          f"{recorded['calls']} calls and {recorded['kernels']} kernels recorded, "
          f"{rotated['calls']} and {rotated['kernels']} of them rotated out; {dropped} records dropped")
    # Beyond a number of kernels only a sample of replays is timed, and what a busy machine loses is counted: they all count as executed.
    is_sampled = work.replays and (work.each > NODE_REPLAYS_MOST or coverage["buffers_lost"])
    if work.replays:
        print(f"  {coverage['executions_all']} kernels of calls, launches and replays, {coverage['buffers_lost']} buffers lost")
        if mode == "aggregate" and coverage["executions_all"] != work.kernels:
            faults.append(f"{coverage['executions_all']} kernels were counted, {work.kernels} were run")
    # Among the records that a full ring dropped may be some of another kind: notes, anchors.
    others = 0 if is_sampled else sum(recorded.values()) + dropped - work.records
    if others < 0 or others > (100 if dropped else 0):
        faults.append(f"recorded and dropped come to {sum(recorded.values()) + dropped}, asked for were {work.records} records")
    if not dropped and not is_sampled and (recorded["calls"], recorded["kernels"]) != (work.calls, work.kernels):
        faults.append(f"{recorded} are recorded, {work.calls} calls and {work.kernels} kernels were made")
    if coverage["calls_missing"] or coverage["records_damaged"] or coverage["blocks_damaged"] or report["problems"]:
        faults.append(f"something is missing or damaged: {json.dumps(coverage)} {report['problems']}")
    if mode == "max-size":
        largest = max([disk_at_end] + [look["all"] for look in looks.looks])
        print(f"  the folder: {largest} bytes at most, {MAX_SIZE} allowed")
        if largest > MAX_SIZE:
            faults.append(f"the folder grew to {largest} bytes")
        if not rotated["kernels"]:
            faults.append("nothing was rotated out: too few calls to tell anything")
    most = {what: max((look[what] for look in looks.looks), default=0) for what in ("ring", "aside")}
    print(f"  rings: {most['ring'] >> 10} KiB at most; written by hosts themselves: {most['aside'] >> 10} KiB")
    if most["ring"] > RING_MOST * work.processes:
        faults.append(f"the rings grew to {most['ring']} bytes")
    if most["aside"] > ASIDE_MOST[mode] * work.processes:
        faults.append(f"hosts wrote {most['aside']} bytes themselves")
    for what, slack in SLACK.items():
        first, second = looks.halves(what)
        print(f"  {what}: at most {first >> 10} KiB in the first half, {second >> 10} KiB in the second")
        flat = work.host_is_flat(first, second) if what == "host" else second <= first + slack
        if what == "host" and max(first, second) > (HOST_MOST_REPLAYS if work.replays else HOST_MOST) * work.processes:
            faults.append(f"hosts took {max(first, second)} bytes")
        if not flat:
            faults.append(f"{what} grew from {first} to {second} bytes")
        if not first:
            faults.append(f"{what} was never seen")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--replays", type=int, help="replay graphs so often instead")
    parser.add_argument("--pace-ns", type=int, default=10000, help="with --replays: what a kernel takes at least; 0: as fast as they can be asked for")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--mode", action="append", choices=["aggregate", "max-size"])
    arguments = parser.parse_args()
    faults = []
    for mode in arguments.mode or ["aggregate", "max-size"]:
        with tempfile.TemporaryDirectory() as folder:
            work = Work(arguments)
            found = check(mode, work, *run(arguments.build.resolve(), mode, work, folder))
            faults += [f"{mode}: {fault}" for fault in found]
            sys.stdout.flush()
    print(*faults or ["flat and exact"], sep="\n")
    return 1 if faults else 0


sys.exit(main())
