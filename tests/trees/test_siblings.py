#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""I16: processes share nothing that one of them could hold when it is killed, and none queues on another when many start at once.
Four siblings record while others are killed at random instants; SIBLINGS_KILLS says how many. Then 300 start together."""
import os
import random
import signal
import subprocess
import time

from recording import Case, HANG_S, main, program
from test_trees import BY_CHILD, TREE
from witness import Witness

KILLS = int(os.environ.get("SIBLINGS_KILLS", "30"))
SIBLINGS, PACE_US, AT_ONCE = 4, 5000, 300


class Siblings(Case):
    def start_loop(self, session, name):
        """A recording loop of one session: `record` starts one process, so these are put in by their environment."""
        witness = Witness(self.scratch / name)
        process = subprocess.Popen([program("loop"), witness.path, "1", str(PACE_US)], env=session.siblings, text=True,
                                   stdout=subprocess.PIPE)
        return process, witness

    def wait_ready(self, process):
        while process.stdout.readline() not in ("ready\n", ""):
            pass

    def shared_session(self):
        """A session whose `record` goes on, with what it sets for its command."""
        session = self.session()
        session.command = session.start(["sh", "-c", "env -0; echo; cat"], stdin=subprocess.PIPE)
        self.addCleanup(session.command.communicate)
        variables = session.command.stdout.readline().rstrip("\n")
        session.siblings = dict(line.split("=", 1) for line in variables.split("\0") if line)
        return session

    def end(self, session):
        session.command.communicate(timeout=HANG_S)
        self.assertEqual(session.command.returncode, 0)

    def test_killed_beside_siblings(self):
        session = self.shared_session()
        seed = int.from_bytes(os.urandom(4), "little")
        chance = random.Random(seed)
        siblings = [self.start_loop(session, f"sibling{i}") for i in range(SIBLINGS)]
        for process, _ in siblings:
            self.wait_ready(process)
        victims = []
        for number in range(KILLS):
            before = [witness.returned(1)[0] for _, witness in siblings]
            process, witness = self.start_loop(session, f"victim{number}")
            time.sleep(chance.uniform(0, 0.08))  # while it starts, or calls
            process.kill()
            process.communicate(timeout=HANG_S)
            victims.append(witness)
            end = time.monotonic() + HANG_S
            while any(w.returned(1)[0] <= b for (_, w), b in zip(siblings, before)):
                self.assertLess(time.monotonic(), end, f"seed {seed}: a sibling has stopped after kill {number}")
                time.sleep(0.001)
        for process, _ in siblings:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=HANG_S)
            self.assertEqual(process.returncode, -signal.SIGTERM)
        self.end(session)
        reported = {pid: p["calls"] for pid, p in session.processes().items()}
        for pid, returned in [(w.pid, w.returned(1)[0]) for w in [w for _, w in siblings] + victims if w.pid]:
            self.assertIn(reported.get(pid, 0) - returned, (0, 1), f"seed {seed}: calls of {pid}")
        self.assertGreater(sum(w.returned(1)[0] > 0 for w in victims), KILLS // 10, "hardly one of them came to call")
        self.assertEqual(session.report["coverage"]["records_dropped"], 0)

    def test_many_at_once(self):
        session = self.shared_session()
        environment = {**session.siblings, "TREE_TALLY": "/dev/null", "SIMGPU_LEDGER": ""}
        started = [subprocess.Popen([TREE, "calls", "5", "0"] if i % 10 == 0 else ["true"], env=environment, stdout=subprocess.DEVNULL)
                   for i in range(AT_ONCE)]
        self.assertEqual({process.wait(timeout=HANG_S) for process in started}, {0})
        self.end(session)
        self.assertEqual([p["calls"] for p in session.report["processes"]], [BY_CHILD] * (AT_ONCE // 10))


if __name__ == "__main__":
    main()
