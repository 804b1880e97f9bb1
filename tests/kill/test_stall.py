#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""V01: an engine with a heartbeat of 100 ms and a watchdog of a second, with rooftap and without. No call stalls: in processor
time it stays below 5 ms, and its thread never waits, which without kernel times shows to the last wait (with them the
simulator's own locks are waited for). What the clock says is printed, but depends on the machine. Leaving takes no longer after
many calls than after few. STALL_CALLS says how many (200,000; the row's own figure is 10,000,000)."""
import json
import os
import time

from recording import BUILD, Case, main, plain

ENGINE = str(BUILD / "tests" / "kill" / "kill_heartbeat")
CALLS = int(os.environ.get("STALL_CALLS", 200_000))
STALL_NS, WATCHDOG_NS = 5_000_000, 1_000_000_000
TRIES = 3  # of what another program on this machine can spoil
WAITS = 2  # the kernel's own, where memory is short


class Stall(Case):
    def engine(self, timing=None, calls=CALLS):
        """What it says of itself, and how long it took from its last call to the end of the command."""
        if timing:
            session = self.session()
            run = session.record([ENGINE, str(calls)], {"SIMGPU_LEDGER": ""}, options=["--timing", timing])
        else:
            run = plain([ENGINE, str(calls)])
        now_ns = time.monotonic_ns()
        self.assertEqual((run.status, run.err), (0, ""))
        told = json.loads(run.out)
        self.assertEqual(told["failed"], 0)
        if timing:
            report = session.report
            self.assertEqual(sum(p["calls"] for p in report["processes"]) + report["coverage"]["records_dropped"], calls + 1)
        return {**told, "exit_s": (now_ns - told["over_ns"]) / 1e9}

    def test_no_call_stalls(self):
        for timing in ("off", "on"):
            with self.subTest(f"timing {timing}"):
                for _ in range(TRIES):
                    recorded, alone = self.engine(timing), self.engine()
                    beats = recorded["beat_ns"] < WATCHDOG_NS or alone["beat_ns"] >= WATCHDOG_NS
                    waits = timing == "on" or recorded["waits"] <= alone["waits"] + WAITS
                    if beats and waits and recorded["cpu_ns"] < STALL_NS:
                        break
                print(f"{CALLS} calls, timing {timing}: longest call {recorded['cpu_ns'] / 1e6:.2f} ms of processor time "
                      f"({alone['cpu_ns'] / 1e6:.2f} without), {recorded['wall_ns'] / 1e6:.2f} ms by the clock "
                      f"({alone['wall_ns'] / 1e6:.2f}), {recorded['waits']} waits ({alone['waits']}), latest beat "
                      f"{recorded['beat_ns'] / 1e6:.0f} ms ({alone['beat_ns'] / 1e6:.0f})", flush=True)
                self.assertLess(recorded["cpu_ns"], STALL_NS)
                self.assertTrue(waits, "a thread that calls had to wait")
                self.assertTrue(beats, "the watchdog would have fired")

    def test_leaving_does_not_depend_on_what_was_recorded(self):
        few, many = CALLS // 20, CALLS
        for _ in range(TRIES):
            after_few, after_many = (self.engine("on", calls)["exit_s"] for calls in (few, many))
            if after_many < after_few + 1:
                break
        print(f"from the last call to the command's end: {after_few:.2f} s after {few} calls, {after_many:.2f} s after {many}")
        self.assertLess(after_many, after_few + 1)


if __name__ == "__main__":
    main()
