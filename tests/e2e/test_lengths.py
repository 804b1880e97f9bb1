#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sequence lengths on the device: what the program put there before each launch, in LENGTHS records, and what is not known
in none. The program prints the truth itself."""
import os

from recording import BUILD, Case, main, plain, program

RULE = "paged_attention:3:p4"
COPIED, READ = 1, 2
NOTE_LENGTHS = 17
REPLAYS = 50
BATCH, LAYERS = 8, 3


def merged(steps):
    """Steps in a row with the same lengths are one record."""
    runs = []
    for least, most, total, launches in steps:
        if runs and runs[-1][:3] == (least, most, total):
            runs[-1] = (least, most, total, runs[-1][3] + launches)
        else:
            runs.append((least, most, total, launches))
    return runs


class Lengths(Case):
    def lengths_of(self, mode, rule=RULE, replays=REPLAYS, options=(), **environment):
        """The session, and what its program says of each step."""
        session = self.recorded([program("lengths"), mode, str(replays)], options=options,
                                environment={"ROOFTAP_LENGTHS": rule, **environment})
        alone = plain([program("lengths"), mode, str(replays)])
        self.assertEqual((alone.status, alone.out, alone.err), (0, session.run.out, ""), "what the program says without rooftap")
        return session, [tuple(map(int, line.split())) for line in session.run.out.splitlines()]

    def runs_of(self, session, **wanted):
        records = [r for r in session.records("lengths") if all(r[key] == value for key, value in wanted.items())]
        records.sort(key=lambda record: record["ticks"])
        return merged((r["least"], r["most"], r["sum"], r["launches"]) for r in records)

    def assert_graph_truth(self, mode, **options):
        session, steps = self.lengths_of(mode, **options)
        self.assertTrue(steps)
        self.assertEqual(self.runs_of(session), merged(steps))
        records = session.records("lengths")
        self.assertEqual({(r["how"], r["cumulative"]) for r in records}, {(COPIED, int("cumulative" in options.get("rule", "")))})
        graphs = {line["graph"] for line in session.ledger("kernel") if line["graph"]}
        self.assertEqual({r["graph"] for r in records}, graphs)
        captured = {r["call_id"] for r in session.records("launch")}
        self.assertLessEqual({r["call_id"] for r in records}, captured)
        return session

    def test_pinned_source(self):
        self.assert_graph_truth("pinned")

    def test_source_that_goes_at_once(self):
        self.assert_graph_truth("pageable")

    def test_two_batch_sizes(self):
        session = self.assert_graph_truth("two_sizes")
        self.assertEqual({r["count"] for r in session.records("lengths")}, {3, BATCH})

    def test_running_sums(self):
        self.assert_graph_truth("cumulative", rule=RULE + ":cumulative")

    def test_known_again_after_other_writers(self):
        """Of three replays a step the middle one's lengths are not known."""
        session = self.assert_graph_truth("overwritten")
        notes = [n for n in session.records("note") if n["id"] == NOTE_LENGTHS]
        self.assertEqual([n["value"] for n in notes], [REPLAYS + LAYERS])  # and the launches that warm up

    def test_fork(self):
        self.assert_graph_truth("fork")

    def test_copies_elsewhere(self):
        self.assert_graph_truth("threads")

    def test_eager(self):
        session, steps = self.lengths_of("eager")
        self.assertEqual(self.runs_of(session, graph=0), merged(steps))

    def test_copy_in_the_graph(self):
        session, steps = self.lengths_of("copy_captured")
        runs = self.runs_of(session)
        self.assertEqual(runs[-REPLAYS:], merged(steps))
        self.assertLessEqual({run[:3] for run in runs[:-REPLAYS]}, {(107, 807, 3656)})  # step 7's: 100 to 800, and 7 each

    def test_every_timing(self):
        for timing in ("off", "events", "graph", "sampled"):
            with self.subTest(timing):
                self.assert_graph_truth("pageable", options=[f"--timing={timing}"])

    def test_capture_by_what_streams_say(self):
        self.assert_graph_truth("pinned", ROOFTAP_GRAPHS="capture")

    def test_switched_off(self):
        session, _ = self.lengths_of("pinned", ROOFTAP_KV_LENGTHS="off")
        self.assertEqual(session.records("lengths"), [])

    def test_read_from_the_device(self):
        """Some replays': each is what stood there behind one of them, in their order, and none comes twice."""
        session, steps = self.lengths_of("from_device", replays=200, options=["--kv-lengths=read"])
        records = sorted(session.records("lengths"), key=lambda record: record["ticks"])
        self.assertEqual({(r["how"], r["launches"], r["count"]) for r in records}, {(READ, 1, BATCH)})
        order = [steps.index((r["least"], r["most"], r["sum"], 1)) for r in records]
        self.assertEqual(order, sorted(set(order)))
        self.assertGreaterEqual(len(order), 3)

    def test_not_read_unless_asked_for(self):
        session, _ = self.lengths_of("from_device", replays=20)
        self.assertEqual(session.records("lengths"), [])

    def test_read_only_what_copies_do_not_tell(self):
        self.assert_graph_truth("pinned", ROOFTAP_KV_LENGTHS="read")

    def test_rules_that_fit_nothing(self):
        """A wrong parameter, a wrong count, another kernel: no lengths, and no harm."""
        for rule in ("paged_attention:700:8", "paged_attention:2:8", "paged_attention:3:p2000", "paged_attention:3:9999999",
                     "paged:3:p4", "other_kernel:0:8"):
            with self.subTest(rule):
                session, _ = self.lengths_of("pinned", rule=rule, replays=3)
                self.assertEqual(session.records("lengths"), [])

    def test_rules(self):
        for rule in ("paged_*:3:gy", "paged_attention:3:8", "nothing:0:1,paged_attention:3:p4"):
            with self.subTest(rule):
                self.assert_graph_truth("pinned", rule=rule, replays=5)

    def test_what_is_no_rule(self):
        for rule in ("x", "x:", "x:1", "x:y:1", "x:1:0", "x:1:2:int32", ":1:2", "x:1:2,,x:1:2", "x:-1:2"):
            with self.subTest(rule):
                session = self.session()
                run = session.record([program("lengths"), "pinned", "1"], environment={"ROOFTAP_LENGTHS": rule})
                self.assertEqual(run.status, 2)
                self.assertIn("ROOFTAP_LENGTHS is '" + rule + "'; it takes ", run.err)
                self.assertEqual(run.err.count("\n"), 1)


if __name__ == "__main__":
    main()
