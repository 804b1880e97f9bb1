#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SIGKILL at random instants while four threads call: each call that returned is in the report, thread by thread.
E2E_KILLS says how often (200), E2E_SEED repeats a run."""
import concurrent.futures
import os
import random
import signal
import time

from recording import Case, main, program, Session
from witness import Witness, calls_by_thread

THREADS, PACE_US = 4, 50
KILLS = int(os.environ.get("E2E_KILLS", 200))
AT_ONCE = 2


class Kill(Case):
    def once(self, index, early, delay_s):
        """Text of what went wrong, or None; and whether calls had returned."""
        witness = Witness(self.scratch / f"witness{index}")
        session = self.session_of(index)
        process = session.start([program("loop"), witness.path, str(THREADS), str(PACE_US)],
                                environment={"SIMGPU_LEDGER": ""})
        # Most kills are counted from the first call on, the others hit the start too.
        started = witness.wait((lambda: witness.pid) if early else (lambda: all(witness.returned(THREADS))))
        if not started:
            process.kill()
            return "the program did not start to call", False
        time.sleep(delay_s)
        os.kill(witness.pid, signal.SIGKILL)
        _, err = process.communicate(timeout=60)
        returned = witness.returned(THREADS)
        if process.returncode != -signal.SIGKILL or err:
            return f"rooftap record ended with {process.returncode}: {err}", False
        if not any(returned):
            return None, False
        report = session.report
        reported = calls_by_thread(report, THREADS)
        coverage = report["coverage"]
        for thread in range(THREADS):
            if reported[thread] - returned[thread] not in (0, 1):
                return f"calls returned {returned}, reported {reported}, dropped {coverage['records_dropped']}", True
        if coverage["records_dropped"] or coverage["records_damaged"] or coverage["blocks_damaged"]:
            return f"dropped or damaged: {coverage}", True
        if [p["end"] for p in report["processes"]] != ["signal 9"]:
            return f"end: {[p['end'] for p in report['processes']]}", True
        return None, True

    def session_of(self, index):
        return Session(self.scratch / f"kill{index}")

    def test_kills(self):
        seed = int(os.environ.get("E2E_SEED", random.randrange(1 << 32)))
        chance = random.Random(seed)
        plans = [(index, index % 5 == 0, chance.uniform(0, 0.06)) for index in range(KILLS)]
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            results = list(pool.map(lambda plan: (plan, *self.once(*plan)), plans))
        wrong = [f"kill {plan[0]} after {plan[2] * 1000:.2f} ms: {text}" for plan, text, _ in results if text]
        self.assertEqual(wrong, [], f"E2E_SEED={seed}")
        self.assertGreater(sum(called for _, _, called in results), KILLS // 2, "too few kills hit a process that called")


if __name__ == "__main__":
    main()
