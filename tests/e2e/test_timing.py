#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CUPTI refused, missing, or losing records: shapes stay right, what is not known is said and never guessed."""
import glob
import subprocess

import ledger
from recording import Case, main, program, Run, STAND_INS

CALLS = 40
COMMAND = [program("calls"), "one", "ex", "64", "32", "16", str(CALLS)]
REFUSALS = {  # fault of the stand-in: what the report has to name
    "cuptiSubscribe_v2:39,cuptiSubscribe:39": "cuptiSubscribe",
    "cuptiActivityEnable:35": "cuptiActivityEnable",
    "cuptiActivityRegisterCallbacks:999": "cuptiActivityRegisterCallbacks",
    "cuptiGetVersion:999": "",
}


class Refused(Case):
    def check_shapes_only(self, session, reason):
        report, text = session.report, session.text
        self.assertEqual([(p["timing"], reason in p["timing_detail"]) for p in report["processes"]], [("off", True)],
                         report["processes"])
        self.assertTrue(report["processes"][0]["timing_detail"])
        self.assertEqual(len([n for n in session.records("note") if n["id"] == 2]), 1, "said once in the trace")
        table = text.index("KIND")
        self.assertEqual(text[:table].count("NOT TIMED, shapes only"), 1, "said at the top of the report")
        coverage = report["coverage"]
        self.assertEqual((coverage["calls"], coverage["processes_timed"], coverage["processes_untimed"]), (CALLS, 0, 1))
        not_known = ("kernels", "kernels_untimed", "kernels_unjoined", "copies", "gpu_time_ns")
        self.assertEqual({key: coverage[key] for key in not_known}, dict.fromkeys(not_known))
        self.assertIn("GPU time is not known: the traces hold no kernel times", " ".join(text.split()))
        row, = report["operators"]
        self.assertEqual((row["calls"], row["flops"], row["bytes"]),
                         (CALLS, CALLS * 2.0 * 64 * 32 * 16, CALLS * 2.0 * (64 * 16 + 16 * 32 + 64 * 32)))
        unknown = ("kernels", "time_ns", "share", "flops_per_second", "bytes_per_second", "roof_fraction", "executions")
        self.assertEqual({key: row[key] for key in unknown}, dict.fromkeys(unknown))
        device, = report["devices"]
        self.assertEqual((device["spec"], device["gpu_busy_ns"], device["idle_ns"]), ("unit", None, None))
        # What a shape says about the bound needs no time.
        self.assertEqual((row["bound"], row["ridge"]), ("memory", 100))

    def test_refused(self):
        for fault, reason in REFUSALS.items():
            with self.subTest(fault):
                session = self.recorded(COMMAND, environment={"SIMGPU_FAULT": fault})
                self.assertTrue(session.ledger("fault"), "the stand-in was not asked for what it refuses")
                self.check_shapes_only(session, reason)

    def test_switched_off(self):
        session = self.recorded(COMMAND, options=["--timing", "off"])
        self.check_shapes_only(session, "switched off")

    def test_library_missing(self):
        folder = self.scratch / "stand-ins"
        folder.mkdir()
        for library in STAND_INS.iterdir():
            if "cupti" not in library.name:
                (folder / library.name).symlink_to(library.resolve())
        session = self.session()
        # Without --simulate, so that nobody preloads CUPTI's stand-in; the others come by the loader's search path.
        command, environment = session.record_command(COMMAND, device=None), {"LD_LIBRARY_PATH": str(folder)}
        if glob.glob("/usr/local/cuda*"):  # a toolkit's CUPTI would be found: out of sight with it
            if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
                self.skipTest("a toolkit in /usr/local, and no right to mount something over it")
            command = ["unshare", "-m", "sh", "-c", "mount -t tmpfs none /usr/local && exec \"$@\"", "sh", *command]
        run = Run(command, session.environment(environment))
        self.assertEqual((run.status, run.err), (0, ""))
        self.check_shapes_only(session, "no libcupti found")


class Losing(Case):
    def losing(self, **environment):
        session = self.recorded(COMMAND, environment=environment)
        kernels = session.ledger("kernel")
        self.assertEqual(len(kernels), CALLS)
        durations = {line["end"] - line["start"] for line in kernels}
        self.assertEqual(len(durations), 1)
        return session, durations.pop()

    def check_rest(self, session, duration_ns, kept):
        report = session.report
        row, = report["operators"]
        self.assertEqual((row["calls"], row["kernels"], row["executions"], row["time_ns"]),
                         (CALLS, kept, kept, kept * duration_ns))
        self.assertEqual((report["coverage"]["kernels"], report["coverage"]["gpu_time_ns"]), (kept, kept * duration_ns))
        # A rate is of the calls whose time is known.
        self.assertAlmostEqual(row["flops_per_second"], 2.0 * 64 * 32 * 16 / (duration_ns * 1e-9), -3)

    def test_dropped_records(self):
        session, duration_ns = self.losing(SIMGPU_CUPTI_DROP_EVERY="8")
        coverage = session.report["coverage"]
        self.assertGreaterEqual(coverage["records_dropped"], CALLS // 8)
        self.check_rest(session, duration_ns, CALLS - coverage["records_dropped"])
        self.assertIn(f"{coverage['records_dropped']} records dropped", session.text)

    def test_kernels_without_times(self):
        session, duration_ns = self.losing(SIMGPU_CUPTI_ZERO_EVERY="8")
        self.assertEqual(session.report["coverage"]["kernels_untimed"], CALLS // 8)
        self.check_rest(session, duration_ns, CALLS - CALLS // 8)
        self.assertIn(f"{CALLS // 8} kernels untimed", session.text)

    def test_nothing_lost(self):
        session, _ = self.losing()
        ledger.assert_equal(self, session, calls=CALLS, kernels=CALLS)
        self.assertNotRegex(session.text, r"[0-9] records dropped|unknown.* dropped")


if __name__ == "__main__":
    main()
