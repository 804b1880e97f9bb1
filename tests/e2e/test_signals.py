#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs ended by a signal, with a handler of their own and without (P04): nothing is lost, nothing is changed."""
import os
import resource
import signal
import subprocess
import time

from recording import Case, clean_environment, HANG_S, main, program, STAND_INS
from witness import Witness, calls_by_thread

THREADS, PACE_US = 2, 2000  # 1000 calls a second


class Ended:
    """One e2e_loop that gets NUMBER while it calls."""

    def __init__(self, case, number, handler, under_record):
        self.witness = Witness(case.scratch / f"witness{number}{handler}{under_record}")
        command = [program("loop"), self.witness.path, str(THREADS), str(PACE_US)] + ["handler"] * handler
        self.session = case.session()
        if under_record:
            process = self.session.start(command)
        else:
            environment = clean_environment({"LD_LIBRARY_PATH": str(STAND_INS)})
            process = subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.dispositions = []
        for line in process.stdout:
            if line == "ready\n":
                break
            self.dispositions.append(line)
        time.sleep(0.4)
        os.kill(self.witness.pid, number)
        self.out, self.err = process.communicate(timeout=HANG_S)
        self.status = process.returncode


class Signals(Case):
    def check(self, number, handler):
        alone, recorded = (Ended(self, number, handler, under_record) for under_record in (False, True))
        self.assertEqual(len(alone.dispositions), 3, "the program prints SigBlk, SigIgn and SigCgt")
        self.assertEqual(recorded.dispositions, alone.dispositions, "a signal disposition or mask was changed")
        self.assertEqual((recorded.status, recorded.out, recorded.err), (alone.status, alone.out, alone.err))
        handled = handler and number == signal.SIGTERM
        self.assertEqual(alone.status, 5 if handled else -number)
        self.assertEqual(alone.out, "bye\n" if handled else "")
        report = recorded.session.report
        self.assertEqual([p["end"] for p in report["processes"]], ["exit 5" if handled else f"signal {number}"])
        if not handled:
            self.assertIn(f": signal {number},", recorded.session.text)
        returned, reported = recorded.witness.returned(THREADS), calls_by_thread(report, THREADS)
        self.assertGreater(min(returned), 0)
        for thread in range(THREADS): # the one call more may have been recorded before the count was raised
            self.assertIn(reported[thread] - returned[thread], (0, 1), f"calls of thread {thread}: {reported}, {returned}")
        self.assertEqual(report["coverage"]["records_dropped"], 0)

    def test_without_handler(self):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT):
            with self.subTest(number.name):
                self.check(number, handler=False)

    def test_with_handler(self):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV):
            with self.subTest(number.name):
                self.check(number, handler=True)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
