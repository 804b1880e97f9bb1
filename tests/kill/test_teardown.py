#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""V03: how servers are torn down. Ctrl-C twice to the group, TERM to the command alone, KILL to the workers 50 ms after their last
call: there is nothing to finalise, so nothing is lost and nobody waits. The command gives back 128 + n, as a shell has it.
TEARDOWN_CALLS says how many calls each session has before its end (200,000; the row's own figure is 10,000,000)."""
import os
import signal
import time

from places import adopt_orphans, LEAVING, Nursery, PHASE, RETURNED, wait_until, Witness
from recording import BUILD, Case, clean_environment, main
from report_check import calls_reported

VICTIM = str(BUILD / "tests" / "kill" / "kill_victim")
THREADS, PLACES = 2, 2
CALLS = int(os.environ.get("TEARDOWN_CALLS", 200_000)) // (THREADS * PLACES)
LONGER_S, TRIES = 2, 3


class Server:
    """A program with a worker under `record`, in a group of its own as a shell's foreground job is. Its threads rest after CALLS."""

    def __init__(self, case):
        self.nursery, self.witness = Nursery(), Witness(case.scratch / f"witness{case.sessions}")
        self.session = case.session()
        self.out = case.scratch / f"out{case.sessions}"
        command = self.session.record_command([VICTIM, "tree", self.witness.path, str(THREADS), "0", str(CALLS)])
        # The shell tells the status as it sees it, and lives on whatever comes to its group.
        shell = ["/bin/sh", "-c", 'trap : INT TERM; "$@"; echo $?', "sh", *command]
        self.top = self.nursery.start(shell, clean_environment({"SIMGPU_LEDGER": ""}), self.out, os.setpgrp)
        self.wait(lambda: all(self.witness.word(place, RETURNED + thread) == CALLS
                              for place in range(PLACES) for thread in range(THREADS)))

    def wait(self, condition, seconds=600):
        if not wait_until(lambda: condition() or self.nursery.ended(self.top), seconds) or not condition():
            raise AssertionError(f"it never came so far: {self.out.read_text()}")

    @property
    def command(self):
        """The pid of `rooftap record`: the one child of the shell."""
        with open(f"/proc/{self.top}/task/{self.top}/children") as file:
            pid, = file.read().split()
        return int(pid)

    def end(self):
        """The status that the shell told, once all of them are gone."""
        start = time.monotonic()
        self.nursery.wait(self.top)
        seconds = time.monotonic() - start
        for place in range(PLACES):
            self.witness.order(place, "leave at once")
        wait_until(self.nursery.is_empty, 30)
        return self.out.read_text(), seconds


class Teardown(Case):
    def teardown(self, hit, status):
        for _ in range(TRIES):
            server = Server(self)
            try:
                hit(server)
                out, seconds = server.end()
            finally:
                server.nursery.end_all([server.witness.pid(place) for place in range(PLACES)] + [server.top])
            self.assertIn(out, (f"{status}\n", f"{signal.strsignal(status & 127)}\n{status}\n"))  # the shell's own word
            self.check(server)
            if seconds < LONGER_S:
                break
        print(f"{CALLS * THREADS * PLACES} calls, {hit.__name__}: status {status}, over after {seconds:.2f} s", flush=True)
        self.assertLess(seconds, LONGER_S)

    def check(self, server):
        """Without a pause between calls some may be dropped, and are counted then."""
        report = server.session.report
        made = CALLS * THREADS * PLACES
        reported = [calls_reported(report, place) for place in range(PLACES)]
        self.assertLessEqual(max(max(calls.values()) for calls in reported), CALLS)
        dropped = report["coverage"]["records_dropped"]
        self.assertGreaterEqual(sum(sum(calls.values()) for calls in reported) + dropped, made)
        self.assertLess(dropped, made // 2, "most was dropped: this shows little")
        for count in ("records_damaged", "blocks_damaged", "calls_missing"):
            self.assertEqual(report["coverage"][count], 0, count)
        self.assertEqual(len(report["processes"]), PLACES)

    def test_interrupt_twice(self):
        def interrupt_to_the_group_twice(server):
            os.killpg(server.top, signal.SIGINT)
            server.wait(lambda: server.witness.word(0, PHASE) == LEAVING)
            os.killpg(server.top, signal.SIGINT)

        self.teardown(interrupt_to_the_group_twice, 128 + signal.SIGINT)

    def test_interrupt_once(self):
        """The program leaves with a status of its own."""
        def interrupt_to_the_group(server):
            os.killpg(server.top, signal.SIGINT)

        self.teardown(interrupt_to_the_group, 30)

    def test_terminate_the_command(self):
        def terminate_the_command(server):
            os.kill(server.command, signal.SIGTERM)

        self.teardown(terminate_the_command, 128 + signal.SIGTERM)

    def test_kill_workers_after_their_last_call(self):
        def kill_the_worker(server):
            time.sleep(0.05)
            os.kill(server.witness.pid(1), signal.SIGKILL)
            server.witness.order(0, "leave at once")

        self.teardown(kill_the_worker, 30)

    def test_kill_all_after_their_last_call(self):
        def kill_all(server):
            time.sleep(0.05)
            for place in (1, 0):
                os.kill(server.witness.pid(place), signal.SIGKILL)

        self.teardown(kill_all, 128 + signal.SIGKILL)


if __name__ == "__main__":
    adopt_orphans()
    main()
