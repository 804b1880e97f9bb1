#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The main job: one decode step of a model on a simulated RTX 4090, and figures worked out by hand on `unit`."""
import ledger
from recording import Case, DECODE_LOOP, main, program

# Qwen2.5-7B: 28 layers of q k v o gate up down, and the vocabulary.
CALLS = 28 * 7 + 1


def rows(report, n, k):
    return [row for row in report["operators"] if (row["n"], row["k"]) == (n, k)]


class DecodeLoop(Case):
    def one_row(self, report, n, k):
        found = rows(report, n, k)
        self.assertEqual(len(found), 1, f"rows of N = {n}, K = {k}")
        return found[0]

    def check_figures(self, row, m, bound, flags, intensity, bias):
        n, k = row["n"], row["k"]
        bytes_moved = 2 * (m * k + n * k + m * n) + (2 * n if bias else 0)
        self.assertEqual(row["m"], m)
        self.assertEqual(row["flops"], 2.0 * m * n * k * row["calls"])
        self.assertEqual(row["bytes"], bytes_moved * row["calls"])
        self.assertAlmostEqual(row["intensity"], 2.0 * m * n * k / bytes_moved, 9)
        self.assertEqual(f"{row['intensity']:.1f}", intensity)
        self.assertEqual(row["bound"], bound)
        self.assertEqual(sorted(row["flags"]), sorted(flags))
        self.assertEqual([row[f"type_{x}"] for x in "abcd"] + [row["type_compute"]], ["bf16"] * 5)

    def test_batch_256_on_rtx4090(self):
        session = self.recorded([str(DECODE_LOOP)], device="rtx4090")
        report = session.report
        ledger.assert_equal(self, session, calls=CALLS, kernels=CALLS)
        self.assertTrue(report["simulated"])
        self.assertIn("SIMULATED", session.text.splitlines()[0])
        self.assertEqual([device["spec"] for device in report["devices"]], ["rtx4090"])
        self.assertEqual({path: report["coverage"]["launch_share"][path] for path in ("name", "none", "at_most")},
                         {"name": 0, "none": 0, "at_most": 0})
        # N = 512 are k and v, which have a bias; 3584 x 3584 are q (bias) and o.
        narrow, up, down = (self.one_row(report, n, k) for n, k in ((512, 3584), (18944, 3584), (3584, 18944)))
        self.check_figures(narrow, 256, "memory", ["near_ridge", "starved"], "162.9", bias=True)
        self.check_figures(up, 256, "compute", [], "236.0", bias=False)
        self.assertEqual((narrow["calls"], up["calls"], down["calls"]), (56, 56, 28))
        square = rows(report, 3584, 3584)
        self.assertEqual(sorted((row["name"], row["calls"]) for row in square),
                         [("cublasGemmEx", 28), ("cublasLtMatmul", 28)])
        output = next(row for row in square if row["name"] == "cublasGemmEx")
        self.assertEqual(f"{output['intensity']:.1f}", "224.0")
        self.assertEqual(output["cublas"], {"m": 3584, "n": 256, "k": 3584, "transa": "T", "transb": "N"})

    def test_batch_256_without_bias(self):
        session = self.recorded([str(DECODE_LOOP), "--no-bias"], device="rtx4090")
        ledger.assert_equal(self, session, calls=CALLS, kernels=CALLS)
        self.check_figures(self.one_row(session.report, 512, 3584), 256, "memory", ["near_ridge", "starved"], "162.9",
                           bias=False)
        self.check_figures(self.one_row(session.report, 18944, 3584), 256, "compute", [], "236.0", bias=False)
        self.assertEqual(f"{self.one_row(session.report, 3584, 3584)['intensity']:.1f}", "224.0")

    def test_batch_1_on_rtx4090(self):
        session = self.recorded([str(DECODE_LOOP), "--batch", "1", "--no-bias"], device="rtx4090")
        ledger.assert_equal(self, session, calls=CALLS, kernels=CALLS)
        square = self.one_row(session.report, 3584, 3584)
        self.assertEqual((square["m"], square["calls"]), (1, 56))
        self.assertEqual(f"{square['intensity']:.1f}", "1.0")
        self.assertEqual(square["bound"], "memory")

    def test_two_kernels_a_call(self):
        session = self.recorded([str(DECODE_LOOP)], device="rtx4090", sim_options=["gemm_kernels=2"])
        ledger.assert_equal(self, session, calls=CALLS, kernels=2 * CALLS)
        self.assertEqual(session.report["coverage"]["kernels_unjoined"], 0)
        for row in session.report["operators"]:
            self.assertEqual((row["kernels"], row["executions"]), (2 * row["calls"], row["calls"]))

    def test_nested(self):
        plain = self.recorded([str(DECODE_LOOP)], device="rtx4090")
        nested = self.recorded([str(DECODE_LOOP)], device="rtx4090", sim_options=["gemm_nested=1"])
        ledger.assert_equal(self, nested, calls=CALLS, kernels=CALLS)
        self.assertGreater(sum(line["nested"] for line in nested.ledger("call")), 0, "nothing was nested")
        key = ("name", "m", "n", "k", "calls", "kernels", "time_ns", "flops", "bytes")
        self.assertEqual(*([tuple(row[name] for name in key) for row in s.report["operators"]] for s in (plain, nested)))


class Unit(Case):
    """100 TFLOP/s, 1 TB/s, efficiency 0.8, 2000 ns start-up, tiles of 64 x 64, 100 SMs."""

    def one(self, entry, m, n, k, count=10):
        session = self.recorded([program("calls"), "one", entry, *map(str, (m, n, k, count))])
        ledger.assert_equal(self, session, calls=count, kernels=count)
        self.assertEqual(len(session.report["operators"]), 1)
        return session.report["operators"][0]

    def test_compute_bound(self):
        # 2 * 4096 * 4096 * 10000 FLOPs / 100e12 / 0.8 = 4 194 304 ns, and 2000.
        row = self.one("ex", 4096, 4096, 10000)
        self.assertEqual((row["time_ns"], row["blocks"]), (10 * 4196304, 64 * 64))
        self.assertEqual((row["bound"], row["flags"]), ("compute", []))
        self.assertEqual(row["t_roof_ns"], 10 * 3355443.2)
        self.assertAlmostEqual(row["roof_fraction"], 3355443.2 / 4196304)
        self.assertAlmostEqual(row["flops_per_second"], 2 * 4096 * 4096 * 10000 / 4196304e-9, -3)
        self.assertEqual(row["ridge"], 100)

    def test_memory_bound(self):
        # 2 (4096*4096 + 4096 + 4096) bytes at 1 TB/s / 0.8 = 41 963.52, and 2000.
        row = self.one("ex", 4096, 1, 4096)
        self.assertEqual((row["m"], row["n"], row["k"]), (1, 4096, 4096))
        self.assertEqual(row["time_ns"], 10 * 43964)
        self.assertEqual(row["bound"], "memory")
        self.assertEqual(row["bytes"], 10 * 2 * (4096 * 4096 + 2 * 4096))
        self.assertAlmostEqual(row["intensity"], 4096 / 4098)

    def test_lt_and_fp32(self):
        for entry, name, size, types in (("lt", "cublasLtMatmul", 2, "bf16"), ("sgemm", "cublasSgemm_v2", 4, "fp32")):
            row = self.one(entry, 512, 256, 1024)
            flops, moved = 2 * 512 * 256 * 1024, size * (512 * 1024 + 1024 * 256 + 512 * 256)
            self.assertEqual((row["name"], row["type_a"], row["flops"], row["bytes"]),
                             (name, types, 10 * flops, 10 * moved))
            expected = max(flops / 100e12, moved / 1e12) / 0.8 * 1e9 + 2000
            self.assertEqual(row["time_ns"], 10 * int(expected + 0.5))


if __name__ == "__main__":
    main()
