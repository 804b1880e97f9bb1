#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""P05: traces that were cut anywhere, filled with zeros from anywhere on, changed in a byte, or joined to another. `rooftap report`
gives each whole record before the damage, not one more, and says that there was some. What is whole is found out here from
trace/FORMAT.md. tests/trace/fuzz.sh and tests/report/fuzz_report.sh ask the same of AddressSanitizer."""
import json
import os
import random
import struct

from recording import Case, clean_environment, main, program, ROOFTAP, Run

CALLS = 3000
BLOCK, HEADER, RECORD = 65536, 128, 8
MAGIC, RECORDS, OPEN, SEALED = b"ROOFTAP\n", 1, 1, 2
CALL = 8
SEED = int(os.environ.get("DAMAGE_SEED", random.randrange(1 << 32)))


def commit_word(sequence, offset):
    return (((sequence << 16 ^ offset) * 0x9e3779b97f4a7c15) & (1 << 64) - 1) >> 32 | 1


def records_of(block):
    """(type, end) of each committed record, from the start on."""
    magic, _, _, kind, state, _, _, _, sequence = struct.unpack_from("<8sIIIIQIIQ", block.ljust(HEADER, b"\0"))
    at = HEADER
    while magic == MAGIC and kind == RECORDS and state in (OPEN, SEALED) and at + RECORD <= len(block):
        of_type, size, commit = struct.unpack_from("<HHI", block, at)
        if commit != commit_word(sequence, at) or size < RECORD or at + size > len(block):
            return
        at += size
        yield of_type, at


def whole_calls(trace):
    return sum(of_type == CALL for at in range(0, len(trace), BLOCK) for of_type, _ in records_of(trace[at:at + BLOCK]))


def end_of_records(trace):
    return max(at + end for at in range(0, len(trace), BLOCK) for _, end in records_of(trace[at:at + BLOCK]))


class Damage(Case):
    def setUp(self):
        super().setUp()
        self.chance = random.Random(SEED)
        self.trace = self.recorded_trace("ex")

    def recorded_trace(self, entry):
        session = self.recorded([program("calls"), "one", entry, "64", "32", "16", str(CALLS)],
                                environment={"SIMGPU_LEDGER": ""}, options=["--timing", "off"])
        path, = session.traces
        trace = path.read_bytes()
        self.assertEqual(whole_calls(trace), CALLS, "this test reads another format than the library writes")
        return trace

    def report(self, trace):
        """(calls, whether anything is said to be missing), or (None, what was said) of a file that holds nothing."""
        path = self.scratch / "damaged.trace"
        path.write_bytes(trace)
        run = Run([str(ROOFTAP), "report", "--json", str(path)], clean_environment())
        if run.status == 2:
            self.assertEqual(len(run.err.splitlines()), 1, run.err)
            return None, run.err
        self.assertIn(run.status, (0, 1), run.err)
        report = json.loads(run.out)
        coverage = report["coverage"]
        told = [report["problems"], *(coverage[key] for key in (
            "traces_cut", "records_damaged", "records_unknown", "blocks_damaged", "calls_missing", "launches_missing"))]
        # The last block may hold only what the GPU is: then the report has none, or one without a name.
        told.append(not any(device["name"] for device in report["devices"]))
        return coverage["calls"], any(told)

    def places(self, count):
        """Offsets up to behind the last record: at random, and at and around the ends of blocks."""
        end = end_of_records(self.trace)
        near = [at + by for at in range(BLOCK, end, BLOCK) for by in (-8, 0, 1, HEADER, HEADER + 8)]
        return [self.chance.randrange(end) for _ in range(count)] + [at for at in near if at < end]

    def test_cut(self):
        for at in (0, 1, 64, HEADER - 1, *self.places(100)):
            calls, told = self.report(self.trace[:at])
            self.assertEqual(calls or 0, whole_calls(self.trace[:at]), f"cut at {at}, DAMAGE_SEED={SEED}")
            self.assertTrue(told, f"cut at {at}: nothing is said")

    def test_zeros_to_the_end(self):
        for at in self.places(60):
            damaged = self.trace[:at].ljust(len(self.trace), b"\0")
            if damaged == self.trace:
                continue  # the last record ends in zeros: a device's name, which is short
            calls, told = self.report(damaged)
            # A record that zeros begin in may still look like one.
            self.assertIn(calls or 0, {whole_calls(self.trace[:at]), whole_calls(damaged)},
                          f"zeros from {at}, DAMAGE_SEED={SEED}")
            self.assertTrue(told, f"zeros from {at}: nothing is said")

    def test_changed_byte(self):
        """In a sealed block nothing changes unnoticed; in an open one only what a record says, not how many there are."""
        for at in self.places(100):
            damaged = bytearray(self.trace)
            damaged[at] ^= 1 << self.chance.randrange(8)
            calls, told = self.report(bytes(damaged))
            self.assertLessEqual(calls or 0, CALLS, f"byte {at}, DAMAGE_SEED={SEED}")
            self.assertTrue(told or calls == CALLS, f"byte {at}: {calls} calls, and nothing is said")

    def test_two_in_one(self):
        """Blocks stand alone: both programs' calls are there."""
        self.assertEqual(self.report(self.trace + self.recorded_trace("lt"))[0], 2 * CALLS)

    def test_undamaged(self):
        self.assertEqual(self.report(self.trace), (CALLS, False))


if __name__ == "__main__":
    main()
