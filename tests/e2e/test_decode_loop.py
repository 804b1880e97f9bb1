#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The main job: one decode step of a model on a simulated RTX 4090, and figures worked out by hand on `unit`."""
import math

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

    def weight(self, report, n, k):
        found = [weight for weight in report["weights"] if (weight["n"], weight["k"]) == (n, k)]
        self.assertEqual(len(found), 1, f"weights of N = {n}, K = {k}")
        return found[0]

    def siblings(self, report, n_fused):
        found = [group for group in report["sibling_groups"] if group["n_fused"] == n_fused]
        self.assertEqual(len(found), 1, f"siblings of N = {n_fused} together")
        return found[0]

    def check_saving(self, report, saved_ns, tolerance):
        group = self.siblings(report, 3584 + 512 + 512)
        self.assertEqual(group["times"], 28)
        self.assertEqual([report["operators"][i]["n"] for i in group["operators"]], [3584, 512, 512])
        self.assertAlmostEqual(group["roof_ns"] - group["roof_fused_ns"], saved_ns, delta=tolerance)
        self.assertAlmostEqual(group["saved_ns"], 28 * (group["roof_ns"] - group["roof_fused_ns"]), 3)
        return group

    # 165.2 TFLOP/s and 1008 GB/s, so R = 163.8889. k and v, N = 512 and K = 3584: M* = 1/(1/R - 1/512 - 1/3584) = 258.428.
    def test_skinny_siblings(self):
        report = self.recorded([str(DECODE_LOOP), "--no-bias"], device="rtx4090").report
        narrow = self.weight(report, 512, 3584)
        self.assertAlmostEqual(narrow["m_star"], 258.428, 3)
        self.assertEqual((narrow["skinny"], narrow["short_side"], narrow["m_p50"], narrow["m_p90"]), (True, "M", 256, 256))
        self.assertEqual((narrow["executions"], narrow["executions_below"], narrow["time_below"]), (56, 1, 1))
        # 2*512*3584*256 FLOPs at the peak are 5687.0 ns and its 5767168 bytes 5721.4; q and q+k+v are compute-bound
        # (39809.4 and 51183.5), so that fusing saves 2 * 34.2 ns.
        group = self.check_saving(report, 68.4, 0.1)
        self.assertEqual(f"{group['intensity_fused']:.1f}", "227.2")
        self.assertAlmostEqual(group["intensity_fused"], 2 / (2 * (1 / 256 + 1 / 4608 + 1 / 3584)), 9)
        self.assertEqual(group["bytes_saved"], 2 * 2 * 256 * 3584)
        self.assertEqual(group["operators"][1], group["operators"][2])
        gate_and_up = self.siblings(report, 2 * 18944)
        self.assertEqual((gate_and_up["times"], gate_and_up["saved_ns"]), (28, 0))
        self.assertEqual(len(report["sibling_groups"]), 2)

    def test_fill_is_the_cause(self):
        session = self.recorded([str(DECODE_LOOP), "--no-bias"], device="rtx4090")
        narrow = self.weight(session.report, 512, 3584)
        # k and v have the smallest grids of the ledger, and nothing else is as small.
        grids = sorted(math.prod(line["grid"]) for line in session.ledger("kernel"))
        blocks = grids[0]
        self.assertEqual(grids.count(blocks), 56)
        self.assertLess(blocks, 128)
        self.assertEqual((narrow["blocks"], narrow["sm_count"], narrow["fill"], narrow["starved"]),
                         (blocks, 128, blocks / 128, True))
        self.assertGreater(narrow["saved_ns"]["split_k"], 10 * narrow["saved_ns"]["fuse"])
        # What fusing saves is 28 * 68.4 ns of some 28 ms, less than a thousandth: the fill is named, fusing isn't advised.
        self.assertEqual([advice["id"] for advice in session.report["advice"]], ["fill"])
        self.assertEqual(session.report["verdict"]["lever"], "fill")

    def test_siblings_of_two_entry_points(self):
        # q, k and v have biases and go through cublasLtMatmul; they save 2 * (34.2 + 1.0) ns, for 1024 bytes more each.
        report = self.recorded([str(DECODE_LOOP)], device="rtx4090").report
        self.check_saving(report, 70.4, 0.1)
        self.assertEqual(f"{self.weight(report, 512, 3584)['m_star']:.2f}", "258.50")

    def test_siblings_at_160(self):
        # All memory-bound: 2 * 2 * 160 * 3584 bytes at 1008 GB/s.
        report = self.recorded([str(DECODE_LOOP), "--batch", "160"], device="rtx4090").report
        self.check_saving(report, 2 * 2 * 160 * 3584 / 1008, 0.1)
        busy_ns = report["devices"][0]["gpu_busy_ns"]
        self.assertGreater(28 * 2276, busy_ns / 1000)
        [fuse] = [advice for advice in report["advice"] if advice["id"] == "fuse_siblings"]
        self.assertAlmostEqual(fuse["saved_share"], fuse["saved_ns"] / busy_ns, 9)
        self.assertEqual(f"{2 * 2 * 160 * 3584 / 1008 / 1000:.2f}", "2.28")

    def phase_calls(self, report):
        return [sum(row["phase_calls"][phase] for row in report["operators"]) for phase in ("unknown", "prefill", "decode")]

    def test_phases(self):
        # One step of 256 rows might be a prompt whose logits were all asked for; three alike are a batch that decodes.
        for arguments, calls in (([], [CALLS, 0, 0]), (["--steps", "3"], [0, 0, 3 * CALLS]),
                                 (["--batch", "1"], [0, 0, CALLS]), (["--batch", "1", "--layers", "1"], [8, 0, 0])):
            with self.subTest(arguments):
                report = self.recorded([str(DECODE_LOOP), *arguments], device="rtx4090").report
                self.assertEqual(self.phase_calls(report), calls)
        flops, moved = (sum(row[key] for row in report["operators"]) for key in ("flops", "bytes"))
        self.assertAlmostEqual(report["step"]["intensity"], flops / moved, 9)

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
