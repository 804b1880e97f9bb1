#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A captured GEMM runs when its graph does: kernels and time are those of the replays, whoever owns them."""

from recording import Case, main, program

REPLAYS = 100


class Graphs(Case):
    def test_replays(self):
        session = self.recorded([program("calls"), "graph", str(REPLAYS)])
        kernels = session.ledger("kernel")
        self.assertEqual(len(kernels), 1 + 2 * REPLAYS, "kernels in the ledger")
        total_ns = sum(line["end"] - line["start"] for line in kernels)
        coverage, operators = session.report["coverage"], session.report["operators"]
        self.assertEqual((coverage["kernels"], coverage["gpu_time_ns"]), (len(kernels), total_ns))
        self.assertEqual((coverage["calls"], coverage["failed_calls"], coverage["records_dropped"]), (2, 0, 0))

        gemm_ns = sum(line["end"] - line["start"] for line in kernels if line["graph"] and "gemm" in line["name"])
        row = next(row for row in operators if (row["cublas"] or {}).get("m") == 128)
        if row["kernels"]:
            # Owned by the captured call: one call, as many executions as replays, work counted for each of them.
            self.assertEqual((row["calls"], row["executions"], row["kernels"], row["time_ns"]), (1, REPLAYS, REPLAYS, gemm_ns))
            self.assertEqual(row["flops"], REPLAYS * 2.0 * 128 * 64 * 32)
        else:
            # Openly unowned: a row under the kernel's name, and the call says that nothing of it was timed.
            named = next(r for r in operators if r["cublas"] is None and "gemm" in r["name"])
            self.assertEqual((named["kernels"], named["time_ns"]), (REPLAYS, gemm_ns))
            self.assertIn(row["executions"], (0, None))
        other = next(row for row in operators if row["name"] == "e2e_kernel")
        self.assertEqual(other["kernels"], REPLAYS)
        warm = next(row for row in operators if (row["cublas"] or {}).get("m") == 64)
        self.assertEqual((warm["calls"], warm["executions"], warm["kernels"]), (1, 1, 1))


if __name__ == "__main__":
    main()
