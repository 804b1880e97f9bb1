#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels of one stream that overlap, since their launches allow it (programmatic stream serialisation): each keeps its own time,
so that their sum is more than the device was busy, and the device's time counts each nanosecond once."""

from recording import Case, main, plain, program, read_lines

COUNT, REPLAYS = 40, 30
KERNEL_NS, OVERLAP_NS = 1_000_000, 700_000  # long, so that launching takes no part in it


def union_ns(kernels):
    """By walking over all starts and ends."""
    edges = sorted([(line["start"], 1) for line in kernels] + [(line["end"], -1) for line in kernels])
    busy, running, since = 0, 0, 0
    for at, change in edges:
        if running:
            busy += at - since
        running += change
        since = at
    return busy


def as_launched(line):
    return line["name"], line["grid"], line["block"], line.get("programmatic")


class Programmatic(Case):
    def check(self, mode, kernels_wanted, chained_wanted, kernel_ns=KERNEL_NS, overlap_ns=OVERLAP_NS):
        keys = [f"other_kernel_ns={kernel_ns}", f"programmatic_overlap_ns={overlap_ns}"]
        session = self.recorded([program("programmatic"), mode, str(COUNT), str(REPLAYS)], sim_options=keys)
        self.assertEqual(session.run.out, "launched as described\n")
        kernels = session.ledger("kernel")
        chained = [line for line in kernels if line.get("programmatic")]
        self.assertEqual((len(kernels), len(chained)), (kernels_wanted, chained_wanted))
        self.assertEqual({line["name"] for line in chained}, {"_Z7chainedv"})
        total, busy = sum(line["end"] - line["start"] for line in kernels), union_ns(kernels)
        self.assertEqual(total, kernels_wanted * kernel_ns)
        self.assertLess(busy, total)
        report = session.report
        coverage, device = report["coverage"], report["devices"][0]
        self.assertEqual((coverage["kernels"], coverage["gpu_time_ns"]), (len(kernels), total))
        self.assertEqual((device["gpu_busy_ns"], device["kernel_ns"], device["time"]["compute_ns"]), (busy, total, busy))
        self.assertEqual(device["gpu_busy_ns"] + device["idle_ns"], device["span_ns"])
        rows = {row["name"]: row for row in report["operators"]}
        self.assertEqual(rows["_Z7chainedv"]["time_ns"], chained_wanted * kernel_ns)
        self.assertAlmostEqual(sum(row["share"] for row in rows.values()), 1)
        self.assertEqual(rows["_Z7chainedv"]["calls"], COUNT)
        self.assertEqual(rows["_Z7chainedv"]["kernels"], chained_wanted)
        caveat, = [each["text"] for each in report["caveats"] if each["id"] == "overlapped"]
        self.assertIn(f"on GPU 0: their times add up to {total / busy:.3g} times", caveat)
        return session, kernels, busy

    def test_direct(self):
        session, _, _ = self.check("direct", COUNT + 2, COUNT)
        launches = session.records("launch")
        self.assertEqual(len(launches), COUNT + 2)

    def test_replays(self):
        """In a graph each kernel's start follows from the one before it: the device's time is known beforehand."""
        for kernel_ns, overlap_ns in ((KERNEL_NS, OVERLAP_NS), (2000, 700)):
            _, kernels, busy = self.check("graph", REPLAYS * (COUNT + 2), REPLAYS * COUNT, kernel_ns, overlap_ns)
            self.assertEqual(busy, REPLAYS * (2 * kernel_ns + COUNT * (kernel_ns - overlap_ns)))
            self.assertTrue(all(line["graph"] for line in kernels))

    def test_no_overlap(self):
        """Allowed, but one ran after the other, as on GPUs before compute capability 9.0."""
        session = self.recorded([program("programmatic"), "direct", str(COUNT), "0"])
        self.assertEqual(len([line for line in session.ledger("kernel") if line.get("programmatic")]), COUNT)
        device = session.report["devices"][0]
        self.assertEqual(device["gpu_busy_ns"], device["kernel_ns"])
        self.assertNotIn("overlapped", [each["id"] for each in session.report["caveats"]])

    def test_same_launches_alone(self):
        """The attribute reaches the library as it was given, with rooftap and without."""
        session, recorded, _ = self.check("direct", COUNT + 2, COUNT)
        path = self.scratch / "alone.ledger"
        alone = plain([program("programmatic"), "direct", str(COUNT), str(REPLAYS)], {"SIMGPU_LEDGER": str(path)})
        self.assertEqual((alone.status, alone.out), (0, session.run.out))
        launched = [as_launched(line) for line in read_lines(path) if line["type"] == "kernel"]
        self.assertEqual(launched, [as_launched(line) for line in recorded])


if __name__ == "__main__":
    main()
