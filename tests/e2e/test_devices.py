#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Several GPUs in one process: rows by device, copies by direction, and where each device's time went. What is expected is
worked out here from the ledger: a sweep over the times of all that ran on a device, one class a nanosecond."""
import collections

import ledger
from recording import Case, main, program

REPEATS = 12
KINDS = {1: "HtoD", 2: "DtoH", 8: "DtoD", 9: "HtoH", 10: "PtoP"}
LONG = ("other_kernel_ns=300000",)  # so long that streams overlap however slow the host is


def activities(lines):
    """(class, start, end) of each line by device: 0 compute, 1 communication, 2 copy."""
    by_device = collections.defaultdict(list)
    for line in lines:
        if line["type"] in ("copy", "memset"):
            kind = 2
        elif line["type"] == "kernel":
            kind = 1 if "nccl" in line["name"] else 0
        else:
            continue
        by_device[line["device"]].append((kind, line["start"], line["end"]))
    return by_device


def times(items):
    """The report's `time`, by walking over all moments at which something begins or ends."""
    moments = collections.defaultdict(lambda: [0, 0, 0])
    for kind, start, end in items:
        moments[start][kind] += 1
        moments[end][kind] -= 1
    running, sums, before = [0, 0, 0], collections.Counter(), None
    for moment in sorted(moments):
        if before is not None:
            length = moment - before
            compute, communication, copy = (count > 0 for count in running)
            sums["span_ns"] += length
            sums["compute_ns"] += length * compute
            sums["communication_ns"] += length * (communication and not compute)
            sums["communication_overlapped_ns"] += length * (communication and compute)
            sums["copy_ns"] += length * (copy and not communication and not compute)
            sums["copy_overlapped_ns"] += length * (copy and (communication or compute))
            sums["gap_ns"] += length * (not (compute or communication or copy))
        running = [count + change for count, change in zip(running, moments[moment])]
        before = moment
    sums["busy_ns"] = sums["compute_ns"] + sums["communication_ns"] + sums["copy_ns"]
    return {key: sums[key] for key in ("span_ns", "busy_ns", "compute_ns", "communication_ns", "gap_ns", "copy_ns",
                                       "communication_overlapped_ns", "copy_overlapped_ns")}


def copies(lines):
    """{(what, from, to): [copies, bytes, time]} by device."""
    by_device = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0, 0]))
    for line in lines:
        if line["type"] not in ("copy", "memset"):
            continue
        what = KINDS[line["copy_kind"]] if line["type"] == "copy" else "memset"
        sums = by_device[line["device"]][what, line.get("from_device"), line.get("to_device")]
        for place, more in enumerate((1, line["bytes"], line["end"] - line["start"])):
            sums[place] += more
    return by_device


class Devices(Case):
    def compare(self, session, devices):
        lines, report = session.ledger(), session.report
        self.assertEqual([device["ordinal"] for device in report["devices"]], list(range(devices)))
        expected, copied = activities(lines), copies(lines)
        for index, device in enumerate(report["devices"]):
            with self.subTest(device=index):
                time = dict(device["time"])
                self.assertEqual(time.pop("in_windows"), False)
                self.assertEqual(time, times(expected[index]))
                self.assertEqual(time["compute_ns"] + time["communication_ns"] + time["copy_ns"] + time["gap_ns"],
                                 time["span_ns"])
                self.assertEqual((device["span_ns"], device["idle_ns"], device["gpu_busy_ns"]),
                                 (time["span_ns"], time["gap_ns"], time["busy_ns"]))
                rows = {(row["what"], row["from_device"], row["to_device"]): [row["copies"], row["bytes"], row["time_ns"]]
                        for row in device["copies"]}
                self.assertEqual(rows, {key: sums for key, sums in copied[index].items()})
                kernels = [line for line in lines if line["type"] == "kernel" and line["device"] == index]
                reported = [row for row in report["operators"] if row["device"] == index]
                self.assertEqual(sum(row["kernels"] for row in reported), len(kernels))
                self.assertEqual(sum(row["time_ns"] or 0 for row in reported),
                                 sum(line["end"] - line["start"] for line in kernels))
        return report

    def compare_records(self, session):
        """Device and context of each record, by what the ledger says of the same moment."""
        lines = session.ledger()
        kernels = collections.Counter((line["device"], line["context"], line["stream"], line["start"], line["end"])
                                      for line in lines if line["type"] == "kernel")
        self.assertEqual(collections.Counter((r["device"], r["context"], r["stream"], r["start_ns"], r["end_ns"])
                                             for r in session.records("kernel")), kernels)
        moved = collections.Counter(
            (line["device"], line["context"], line["start"], line["bytes"], line.get("copy_kind", 0),
             int("from_device" in line), line.get("from_device", 0), line.get("to_device", 0))
            for line in lines if line["type"] in ("copy", "memset"))
        self.assertEqual(collections.Counter(
            (r["device"], r["context"], r["start_ns"], r["bytes"], r["direction"], r["is_peer"], r["from_device"],
             r["to_device"]) for r in session.records("copy")), moved)

    def test_one_device(self):
        session = self.recorded([program("devices"), "eager", str(REPEATS)], sim_options=LONG)
        self.compare(session, 1)
        self.assertEqual({row["what"] for row in session.report["devices"][0]["copies"]},
                         {"HtoD", "DtoH", "DtoD", "memset"})

    def test_two_devices(self):
        session = self.recorded([program("devices"), "eager", str(REPEATS)], sim_options=(*LONG, "devices=2"))
        report = self.compare(session, 2)
        self.compare_records(session)
        ledger.assert_equal(self, session, calls=2 * REPEATS, kernels=2 * REPEATS * 4)
        for index, device in enumerate(report["devices"]):
            self.assertTrue(device["time"]["communication_ns"] and device["time"]["communication_overlapped_ns"])
            self.assertEqual({(row["what"], row["from_device"], row["to_device"]) for row in device["copies"]},
                             {("HtoD", None, None), ("DtoH", None, None), ("DtoD", None, None), ("memset", None, None),
                              ("PtoP", index, 1 - index), ("PtoP", 1 - index, index)})
            gemm = [row for row in report["operators"] if row["device"] == index and row["cublas"]]
            self.assertEqual([row["cublas"]["m"] for row in gemm], [32 * (1 + index)])
        for text in ("PtoP GPU 0 to 1", "communication", "compute"):
            self.assertIn(text, session.text)

    def test_graphs_of_each_device(self):
        session = self.recorded([program("devices"), "graphs", str(REPEATS)], sim_options=(*LONG, "devices=3"))
        self.compare(session, 3)
        self.compare_records(session)
        ledger.assert_equal(self, session, calls=3, kernels=3 * REPEATS * 3)

    def test_threads(self):
        session = self.recorded([program("devices"), "threads", str(REPEATS)], sim_options=("devices=4",))
        self.compare(session, 4)
        self.compare_records(session)
        ledger.assert_equal(self, session, calls=4 * REPEATS, kernels=4 * REPEATS * 4)

    def test_contexts_of_one_device(self):
        session = self.recorded([program("devices"), "contexts", str(REPEATS)])
        self.compare(session, 1)
        self.compare_records(session)
        contexts = {line["context"] for line in session.ledger("kernel")}
        self.assertEqual(len(contexts), 3)
        ledger.assert_equal(self, session, calls=REPEATS, kernels=REPEATS * 6)

    def test_nccl(self):
        """Ranks of one thread: each one's kernel is on its own device, and is communication."""
        session = self.recorded([program("devices"), "nccl", str(REPEATS)], sim_options=("devices=2",))
        report = self.compare(session, 2)
        self.compare_records(session)
        reduces = [line for line in session.ledger("kernel") if "nccl" in line["name"]]
        self.assertEqual(collections.Counter(line["device"] for line in reduces), {0: REPEATS, 1: REPEATS})
        # 5 us, and twice half of 1 MiB over 25 GB/s
        self.assertEqual({line["end"] - line["start"] for line in reduces}, {5000 + round(2**20 / 25)})
        for device in (0, 1):
            row = next(row for row in report["operators"] if row["device"] == device and row["family"] == "communication")
            self.assertEqual((row["kernels"], row["display_name"].split("(")[0]),
                             (REPEATS, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"))
            self.assertEqual(report["devices"][device]["time"]["communication_ns"],
                             sum(line["end"] - line["start"] for line in reduces if line["device"] == device))

    def test_visible_devices(self):
        """One of three, under the number 0, and with the UUID of the third."""
        session = self.recorded([program("devices"), "eager", "1"], sim_options=("devices=3",),
                                environment={"CUDA_VISIBLE_DEVICES": "2"})
        self.compare(session, 1)
        self.assertEqual(bytes.fromhex(session.records("device")[-1]["uuid"]), b"simulated gpu 02")

    def test_sums(self):
        """Kept as sums, the parts are as exact while nothing came late."""
        session = self.recorded([program("devices"), "eager", str(REPEATS)], sim_options=(*LONG, "devices=2"),
                                options=("--aggregate",))
        self.compare(session, 2)


if __name__ == "__main__":
    main()
