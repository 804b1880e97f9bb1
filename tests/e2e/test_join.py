#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels find their calls by correlation ids, and by external ones where CUPTI's records have other ids than callbacks."""
import collections
import math
import os
import signal
import time

import ledger
from recording import Case, HANG_S, main, program

SHIFT = {"SIMGPU_CUPTI_SHIFT_CORRELATION": "1000000"}
CALLS = 40
COMMAND = [program("calls"), "one", "ex", "64", "32", "16", str(CALLS)]
NOT_JOINED, BY_CORRELATION, BY_EXTERNAL = 0, 1, 2


class Join(Case):
    def joins(self, session):
        return collections.Counter(record["join"] for record in session.records("kernel"))

    def notes(self, session):
        return [note["text"] for process in session.report["processes"] for note in process["notes"]
                if note["code"] == "join"]

    def test_ids_match(self):
        for join, expected in (("auto", BY_CORRELATION), ("correlation", BY_CORRELATION), ("external", BY_EXTERNAL)):
            with self.subTest(join):
                session = self.recorded(COMMAND, environment={"ROOFTAP_JOIN": join})
                ledger.assert_equal(self, session, calls=CALLS, kernels=CALLS)
                self.assertEqual((self.joins(session), self.notes(session)), ({expected: CALLS}, []))

    def test_ids_differ(self):
        for join, expected in (("correlation", NOT_JOINED), ("external", BY_EXTERNAL)):
            with self.subTest(join):
                session = self.recorded(COMMAND, environment={"ROOFTAP_JOIN": join, **SHIFT})
                self.assertEqual((self.joins(session), self.notes(session)), ({expected: CALLS}, []))
                row = next(row for row in session.report["operators"] if row["cublas"])
                self.assertEqual((row["calls"], row["kernels"]), (CALLS, CALLS if expected else 0))
                self.assertEqual(session.report["coverage"]["kernels_unjoined"], 0 if expected else CALLS)

    def test_changes_by_itself(self):
        """A program that runs long enough for its first kernels to be looked at: the later ones are joined."""
        witness = self.scratch / "witness"
        witness.write_bytes(bytes(4096))
        session = self.session()
        loop = session.start([program("loop"), str(witness), "3", "1000", "handler"], environment=SHIFT)
        self.addCleanup(loop.kill)
        deadline = time.monotonic() + HANG_S
        while time.monotonic() < deadline and not self.changed(session):
            time.sleep(0.05)
        time.sleep(0.5)
        pid = int.from_bytes(witness.read_bytes()[:8], "little")
        os.kill(pid, signal.SIGTERM)
        loop.communicate(timeout=HANG_S)
        joins, coverage = self.joins(session), session.report["coverage"]
        text, = self.notes(session)
        self.assertIn("later ones are joined by external correlation", text)
        self.assertEqual(joins[BY_CORRELATION], 0)
        self.assertGreater(joins[BY_EXTERNAL], 100)
        self.assertEqual(coverage["kernels_unjoined"], joins[NOT_JOINED])
        self.assertGreaterEqual(joins[NOT_JOINED], 64)
        self.check_owners(session)

    def changed(self, session):
        return session.folder.exists() and session.traces and bool([n for n in session.records("note") if n["id"] == 8])

    def check_owners(self, session):
        """Nobody else's: a call has one kernel, of the grid that its shape asks for, as long as all others of the shape."""
        calls = {call["call_id"]: call for call in session.records("call")}
        kernels = [kernel for kernel in session.records("kernel") if kernel["join"] == BY_EXTERNAL]
        self.assertEqual(len({kernel["call_id"] for kernel in kernels}), len(kernels))
        lasted = collections.defaultdict(set)
        for kernel in kernels:
            call = calls[kernel["call_id"]]
            self.assertEqual((kernel["owner"], kernel["owner_id"]), (1, call["signature"]))
            self.assertEqual(math.prod(kernel["grid"]), -(-call["m"] // 64) * -(-call["n"] // 64))
            lasted[call["signature"]].add(kernel["ns"])
        self.assertEqual([len(times) for times in lasted.values()], [1] * 3 * 4)
        self.assertGreater(len(set.union(*lasted.values())), 3)


if __name__ == "__main__":
    main()
