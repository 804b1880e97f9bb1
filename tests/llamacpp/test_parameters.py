#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is kept of each launch's parameters, held against the values that the simulator was passed: with a driver that tells
parameter sizes and with one from before 12.4, launched directly and replayed by graphs."""
import json

import harness

POINTER = 1
POINTERS_KEPT = 4
WORD = 4


def kept_of_value(value, kept, addresses):
    """The first KEPT bytes, an address in them as 0 or 1, filled up to whole words."""
    value = bytearray(value[:kept])
    for place in range(0, kept, 8):
        if addresses >> (place // 8) & 1:
            value[place:place + 8] = int(any(value[place:place + 8])).to_bytes(8, "little")
    return bytes(value).ljust(-(-kept // WORD) * WORD, b"\0")


def expected(line, plan):
    """A launch as the trace has it, of what the ledger has."""
    nulls, pointers, values, seen = 0, [], b"", 0
    for text, (kind, _, kept, addresses) in zip(line["params"], plan, strict=True):
        value = bytes.fromhex(text)
        if kind == POINTER:
            address = int.from_bytes(value, "little")
            nulls |= (not address) << seen
            pointers += [address] if address else []
            seen += 1
        else:
            values += kept_of_value(value, kept, addresses)
    pointers = (pointers + [0] * POINTERS_KEPT)[:POINTERS_KEPT]
    return line["name"], tuple(line["grid"]), tuple(line["block"]), nulls, values.hex(), tuple(pointers)


def dumped(session):
    run = harness.recording.Run([str(harness.recording.TRACE_DUMP), str(session.folder)], {})
    return [json.loads(line) for line in run.out.splitlines()]


class Parameters(harness.Case):
    def check(self, kind, options=(), device="h100-sxm", sim_options=(), **model):
        session = self.run_model(harness.model(kind, **model), "--prompt", "40", "--generate", "6", *options, device=device,
                                 sim_options=sim_options, environment={"SIMGPU_LEDGER_PARAMS": "all"})
        records = dumped(session)
        names = {record["id"]: record["text"] for record in records if record["record"] == "name"}
        plans = {names[record["name"]]: record for record in records if record["record"] == "plan"}
        kernels = [line for line in session.ledger("kernel") if not line["call"]]  # cuBLAS's own aside
        self.assertEqual({line["name"] for line in kernels} - set(plans), set(), "kernels without a plan")
        for line in kernels:
            sizes = [parameter[1] for parameter in plans[line["name"]]["parameters"]]
            for size, text in zip(sizes, line["params"], strict=True):
                self.assertIn(size, (0, len(text) // 2), line["name"])
        ran = {expected(line, plans[line["name"]]["parameters"]) for line in kernels}
        kept = {(names[record["name"]], tuple(record["grid"]), tuple(record["block"]), record["nulls"], record["values"],
                 tuple(record["pointers"])) for record in records
                if record["record"] == "launch" and names[record["name"]] in plans}
        self.assertEqual(ran - kept, set(), "ran, not kept so")
        self.assertEqual(kept - ran, set(), "kept, didn't run so")
        self.assertTrue(any(line["graph"] for line in kernels), "nothing was replayed")
        return plans

    def test_quantised(self):
        self.check("q4_K")

    def test_half(self):
        self.check("f16", device="rtx3090")

    def test_experts(self):
        self.check("q4_K", experts=8)

    def test_slots(self):
        self.check("q8_0", ("--sequences", "3", "--stagger", "17"), device="t4")

    def test_driver_that_tells_no_sizes(self):
        told = self.check("q4_K")
        untold = self.check("q4_K", sim_options=["driver_version=12.2"])
        self.assertEqual(set(told), set(untold))


if __name__ == "__main__":
    harness.main()
