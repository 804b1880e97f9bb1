#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A profiler of the program's own works as it does without rooftap, whatever way it comes: rooftap times until it starts, and says
so. What it cannot see come it notices, and says that as well."""
import json

from recording import Case, library, main, plain, program

BEFORE, DURING, AFTER = 30, 50, 20
NEWER = {"SIMGPU_CUPTI": "13.4"}


def command(way, how="plain", before=BEFORE):
    return [program("profiled"), library("profiler"), way, how, str(before), str(DURING), str(AFTER)]


class Profilers(Case):
    def notes(self, session, code):
        return [note["text"] for process in session.report["processes"] for note in process["notes"] if note["code"] == code]

    def closed(self, session):
        """Why windows of timing were closed."""
        return [window["why"] for window in session.records("window") if window["what"] == 2]

    def profiled(self, words, environment=None):
        """The profiler has seen what it sees without rooftap."""
        alone = plain(words, environment)
        session = self.recorded(words, environment=environment)
        self.assertEqual((alone.status, session.run.out), (0, alone.out))
        self.assertEqual(alone.out, f"saw {DURING}\n")
        return session

    def check_handed_over(self, session, function):
        kernels = session.records("kernel")
        self.assertEqual(len(kernels), BEFORE)
        self.assertTrue(all(kernel["owner"] for kernel in kernels))
        coverage = session.report["coverage"]
        self.assertEqual((coverage["calls"], coverage["kernels"], coverage["kernels_unjoined"]),
                         (BEFORE + DURING + AFTER, BEFORE, 0))
        text, = self.notes(session, "profiler")
        self.assertIn(f"{function} called by {library('profiler')}: CUPTI was handed over", text)
        self.assertIn(7, self.closed(session))
        self.assertIn("CUPTI was handed over", session.text)

    def test_later(self):
        for way, function in (("linked", "cuptiSubscribe"), ("named", "cuptiSubscribe"),
                              ("callbacks", "cuptiActivityRegisterCallbacks")):
            with self.subTest(way):
                self.check_handed_over(self.profiled(command(way)), function)

    def test_later_and_external_correlation(self):
        self.check_handed_over(self.profiled(command("linked"), {"ROOFTAP_JOIN": "external"}), "cuptiSubscribe")

    def test_first(self):
        for way in ("linked", "named", "callbacks"):
            with self.subTest(way):
                session = self.profiled(command(way, before=0))
                self.assertEqual(session.records("kernel"), [])
                self.assertEqual(session.report["coverage"]["calls"], DURING + AFTER)
                text, = self.notes(session, "profiler")
                self.assertIn("another profiler uses CUPTI, kernels are not timed", text)
                self.assertIn("another profiler uses CUPTI", session.text)

    def test_told_by_cupti(self):
        """C01: one try, one word; by older versions too."""
        for fault, result in (("subscribed", 39), ("subscribed-old", 12)):
            with self.subTest(fault):
                session = self.recorded(command("none"), environment={"SIMGPU_CUPTI_FAULT": fault})
                self.assertEqual(session.records("kernel"), [])
                notes = [note for note in session.records("note") if note["id"] in (2, 14)]
                self.assertEqual([(note["id"], note["value"]) for note in notes], [(14, result), (2, result)])

    def test_unseen_first(self):
        """Bound past the preload: CUPTI tells that somebody is there."""
        session = self.profiled(command("linked", "deepbind", before=0))
        self.assertEqual(session.records("kernel"), [])
        text, = self.notes(session, "profiler")
        self.assertIn("cuptiSubscribe", text)

    def test_unseen_later(self):
        """C02: the one case where rooftap is in the way, and the report says what helps."""
        session = self.session()
        run = session.record(command("linked", "deepbind"))
        self.assertEqual((run.status, run.out), (1, "cuptiSubscribe: 39\n"))
        off = self.recorded(command("linked", "deepbind"), environment={"ROOFTAP_TIMING": "off"})
        self.assertEqual(off.run.out, f"saw {DURING}\n")

    def test_seen_by_audit(self):
        session = self.recorded(command("linked", "deepbind"), options=("--audit",))
        self.assertEqual(session.run.out, f"saw {DURING}\n")
        self.check_handed_over(session, "cuptiSubscribe")

    def test_displaced(self):
        """Its callbacks take ours away unseen (bound past the preload, never subscribed): rooftap notices that nothing comes."""
        session = self.session()
        run = session.record(command("callbacks", "deepbind"))
        self.assertEqual((run.status, run.err), (0, ""))
        self.assertEqual(session.records("kernel"), [])
        text, = self.notes(session, "no_records")
        self.assertIn("though they are launched", text)
        error, = [caveat["text"] for caveat in session.report["caveats"] if caveat["id"] == "no_records"]
        self.assertTrue(error.startswith(f"error: 0 device records although {BEFORE + DURING + AFTER} calls and launches"), error)
        self.assertIn(error.split(":")[1], session.text)

    def test_dead_sessions(self):
        """C09: records in the first period alone, a crash at the second subscription: there is but one of each."""
        for fault, options in (("first-period", ()), ("second-subscribe", ()), ("first-period,second-subscribe", ("--timing=sampled",))):
            with self.subTest(fault):
                session = self.recorded(command("none", before=3000), environment={"SIMGPU_CUPTI_FAULT": fault}, options=options)
                self.assertEqual(self.notes(session, "no_records"), [])
                if not options:
                    self.assertEqual(len(session.records("kernel")), 3000 + DURING + AFTER)

    def test_teardown(self):
        """C06: CUPTI writes into what it holds 100 ms after a kind is off, and crashes on any call after cuptiFinalize: neither is
        noticed by a program, with a profiler of its own or without, that leaves with 64 threads at work."""
        for way in ("linked", "none"):
            for _ in range(5):
                session = self.recorded([*command(way), "64"], environment={"SIMGPU_CUPTI_FAULT": "late-write:100,poisoned"})
                self.assertEqual(session.run.out, f"saw {DURING}\n" if way == "linked" else "")
                self.assertGreaterEqual(session.report["coverage"]["kernels"], BEFORE)

    def test_no_false_alarm(self):
        """Nothing launched while kernels are timed, or not much: no error."""
        for options in (("--delay=60",), ("--timing=off",), ("--timing=sampled",), ("--timing=events",)):
            with self.subTest(options):
                session = self.recorded(command("none"), options=options)
                self.assertEqual(self.notes(session, "no_records"), [])

    def test_foreign_records(self):
        """C01: ids that nobody here gave out: counted, and in no call's time."""
        clean = self.recorded(command("none"))
        session = self.recorded(command("none"), environment={"SIMGPU_CUPTI_FAULT": "foreign:10"})
        foreign = (BEFORE + DURING + AFTER) // 10
        self.assertEqual(session.report["coverage"]["kernels_unjoined"], foreign)

        def times(one):
            return [(row["calls"], row["kernels"], row["time_ns"]) for row in one.report["operators"] if row["cublas"]]
        self.assertEqual(times(session), times(clean))

    def test_shared(self):
        """CUDA 13.3 and later: beside one that shares both go on, the timing to the end."""
        for api in ("auto", "v2"):
            with self.subTest(api):
                session = self.profiled(command("shared", before=0), {**NEWER, "ROOFTAP_CUPTI_API": api})
                self.assertEqual(len(session.records("kernel")), DURING + AFTER)
                self.assertEqual(self.notes(session, "profiler"), [])
        session = self.profiled(command("shared"), {**NEWER, "ROOFTAP_CUPTI_API": "v2"})
        self.assertEqual(len(session.records("kernel")), BEFORE + DURING + AFTER)
        self.check_text(session, "as one client among others")

    def check_text(self, session, text):
        self.assertTrue(any(text in note["text"] for note in session.records("note")), json.dumps(session.records("note")))

    def test_other_form(self):
        """CUPTI's two forms exclude each other for good: one that comes later and knows the other form alone is refused though CUPTI
        was handed over, and the report says which setting helps."""
        for way, api, helps in (("shared", "auto", "v2"), ("linked", "v2", "v1")):
            with self.subTest(way):
                session = self.session()
                run = session.record(command(way), {**NEWER, "ROOFTAP_CUPTI_API": api})
                self.assertEqual(run.status, 1)
                self.assertEqual(len(session.records("kernel")), BEFORE)
                notes = self.notes(session, "profiler")
                for text in ("handed over", "refused it all the same"):
                    self.assertEqual(len([note for note in notes if text in note]), 1, notes)
                self.profiled(command(way), {**NEWER, "ROOFTAP_CUPTI_API": helps})


if __name__ == "__main__":
    main()
