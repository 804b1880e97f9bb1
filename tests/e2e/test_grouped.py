#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls with many sizes, and of cublasXt: what the report says of their work is what the simulator counted, group by group."""
import collections

from recording import Case, main, program

STEPS = 12


def sums(rows, name, count):
    found = collections.defaultdict(lambda: [0, 0, 0])
    for row in rows:
        for index, value in enumerate((count(row), row["flops"], row["bytes"])):
            found[row[name]][index] += value
    return {key: tuple(value) for key, value in found.items()}


class Grouped(Case):
    def check(self, sim_options):
        session = self.recorded([program("grouped"), str(STEPS)], sim_options=sim_options)
        made = [{"function": line["function"], **line["args"]} for line in session.ledger("call") if not line["nested"]]
        wanted = sums(made, "function", lambda line: 1)
        self.assertEqual({name: tally[0] for name, tally in wanted.items()},
                         {"cublasGemmGroupedBatchedEx": STEPS, "cublasSgemmGroupedBatched": STEPS // 2, "cublasXtSsyrk": 1})
        rows = session.report["operators"]
        self.assertEqual(sums(rows, "name", lambda row: row["calls"]), wanted)
        return session, rows

    def test_groups(self):
        session, rows = self.check([])
        grouped = [row for row in rows if "Grouped" in row["name"]]
        self.assertEqual(len(grouped), STEPS + STEPS // 2, "a row for each list of groups: none comes twice")
        for row in grouped:
            self.assertEqual((row["m"], row["n"], row["k"]), (None, 192, 64))
            self.assertEqual(row["shape_source"], "at_most")  # matrices found by pointers may be the same
            self.assertGreater(row["roof_fraction"], 0)
        text = session.report_run().out
        self.assertNotRegex(text, "[MNK] +-1")
        self.assertRegex(text, "groups #[0-9a-f]{8}")

    def test_xt_calls_cublas(self):
        self.check(["gemm_nested=1"])


if __name__ == "__main__":
    main()
