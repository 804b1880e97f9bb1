#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each matmul of the report, with its M, N, K and type and how often it ran, is one of the model's, and none is missing; so are
heads, head size and the bound on the length of the KV cache. Every matmul and attention is read from its launch or its
call, every other kernel has a name."""
import collections

import harness

SPELLED = {"f32": "fp32", "f16": "fp16"}  # others are called alike
KV_PADDED_TO = 256
PROMPT, GENERATED = 301, 8


def found_matmuls(report, widened):
    """(m, n, k, type): how many weights were multiplied so. WIDENED: types of cuBLAS calls on copies of another type."""
    found = collections.Counter()
    for row in report["operators"]:
        launch = row["launch"]
        if launch and launch["kind"] == "matmul":
            part = launch["matmul"]
            found[part["m"], part["n"], part["k"], launch["weight_format"]] += row["executions"] * part["weights"]
        elif row["cublas"]:
            kind = row["type_" + row["weight"]]
            found[row["m"], row["n"], row["k"], widened.get(kind, kind)] += row["executions"]
    return found


def expected_matmuls(model, last_rows):
    """LAST_ROWS: rows of the last layer's attention output, of which one is needed: PROMPT or 1, by llama.cpp's revision."""
    expected = collections.Counter()
    last = model.described["layers"] - 1
    for matrix in model.matrices:
        if not matrix["multiplied"]:
            continue
        part = matrix["name"].split(".")[-2]
        one_row = matrix["layer"] is None or (matrix["layer"] == last and part.startswith("ffn"))
        rows = 1 if one_row else last_rows if matrix["layer"] == last and part == "attn_output" else PROMPT
        shape = matrix["n"], matrix["k"], SPELLED.get(matrix["type"], matrix["type"])
        expected[(rows, *shape)] += 1
        expected[(1, *shape)] += GENERATED
    return expected


def padded(length):
    return -(-length // KV_PADDED_TO) * KV_PADDED_TO


class Checks(harness.Case):
    def check_attention(self, model, report):
        described = model.described
        found = collections.Counter()
        for row in report["operators"]:
            part = row["launch"] and row["launch"]["attention"]
            if part:
                found[part["queries"], part["keys"]] += row["executions"]
                self.assertEqual((part["n_q"], part["n_kv"], part["d"], part["sequences"], part["keys_at_most"]),
                                 (described["heads"], described["heads_kv"], described["head_dim"], 1, True))
        expected = collections.Counter({(PROMPT, padded(PROMPT)): described["layers"]})
        for step in range(GENERATED):
            expected[1, padded(PROMPT + step + 1)] += described["layers"]
        self.assertEqual(found, expected)

    def check_coverage(self, report):
        coverage = report["coverage"]
        read = {key: coverage["launch_share"][key] for key in ("exact", "params", "at_most")}
        self.assertAlmostEqual(sum(read.values()), 1, 9, coverage["launch_share"])
        self.assertEqual(coverage["unknown_family_names"], [])
        # Neither a known kernel's parameters that are others than known, nor values that can't be: those would be guesses.
        readings = coverage["launches_by_reading"]
        self.assertEqual([readings[key]["launches"] for key in ("other_revision", "refused")], [0, 0])
        self.assertEqual([row for row in report["operators"] if not row["name"] and not row["cublas"]], [])

    def check_shapes(self, model, report, device):
        """REPORT is of a prompt of PROMPT tokens and GENERATED ones."""
        self.check_coverage(report)
        self.check_attention(model, report)
        # Before 8.0 there are no products in bf16: wider ones are of copies in fp32.
        widened = {"fp32": "bf16"} if (model.described["type"], device) == ("bf16", "t4") else {}
        found = found_matmuls(report, widened)
        if model.described["experts"]:  # how often each is read is the device's to choose
            self.assertEqual({shape[1:] for shape in found}, {shape[1:] for shape in expected_matmuls(model, 1)})
        else:
            self.assertIn(found, [expected_matmuls(model, rows) for rows in (PROMPT, 1)])


class Shapes(Checks):
    def check(self, kind, device, **options):
        model = harness.model(kind, **options)
        session = self.run_model(model, "--prompt", str(PROMPT), "--generate", str(GENERATED), device=device)
        self.check_shapes(model, session.report, device)

    def test_quantised(self):
        self.check("q4_K", "h100-sxm")
        self.check("q6_K", "t4", tied=True)

    def test_half(self):
        self.check("f16", "rtx4090")

    def test_grouped_queries(self):
        self.check("q8_0", "rtx3090", heads=16, heads_kv=2, head_dim=64, embedding=1024)

    def test_experts(self):
        self.check("q4_K", "rtx5090", experts=8)


if __name__ == "__main__":
    harness.main()
