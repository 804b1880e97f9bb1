#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""llama.cpp's wheel, unmodified, on simulated GPUs: it runs, and the report equals the ledger."""
import collections

import harness


def kernels_by_name(session):
    return collections.Counter(line["name"] for line in session.ledger("kernel"))


class Runs(harness.Case):
    def check(self, model, *options, **record):
        session = self.run_model(model, *options, **record)
        self.assert_ledger_equal(session)
        self.assertEqual([line for line in session.ledger() if line["type"] in ("not_supported", "fault")], [])
        return session

    def test_quantised(self):
        for device in ("h100-sxm", "rtx4090"):
            session = self.check(harness.model("q4_K"), "--prompt", "40", "--generate", "8", device=device)
            self.assertEqual((session.driven["prompt_tokens"], session.driven["generate_tokens"]), (40, 8))
            self.assertEqual(session.ledger("call"), [], "q4_K needs no cuBLAS")

    def test_half(self):
        for device in ("h100-sxm", "rtx4090"):
            session = self.check(harness.model("f16"), "--prompt", "40", "--generate", "8", device=device)
            # 40 tokens: cuBLAS, all but the last layer's second half and the output, which take one token.
            self.assertTrue(session.ledger("call"))
            self.assertEqual({(line["function"], line["args"]["n"]) for line in session.ledger("call")
                              if line["function"].startswith("cublasGemm")}, {("cublasGemmEx", 40)})

    def test_graphs_and_none(self):
        """600 tokens: nearly all by replay; the same kernels without graphs."""
        model = harness.model("q4_K")
        options = ("--prompt", "16", "--generate", "600")
        replayed = self.check(model, *options)
        launched = self.check(model, *options, environment={"GGML_CUDA_DISABLE_GRAPHS": "1"})
        self.assertEqual(kernels_by_name(replayed), kernels_by_name(launched))
        in_graphs = sum(line["graph"] != 0 for line in replayed.ledger("kernel"))
        self.assertGreater(in_graphs, 0.98 * len(replayed.ledger("kernel")))
        self.assertEqual({line["graph"] for line in launched.ledger("kernel")}, {0})

    def test_ways_to_time(self):
        """Whatever is timed, all executions are counted, as the ledger has them by name; helpers are in no row of their own."""
        for timing in ("node", "graph", "events", "sampled", "off"):
            with self.subTest(timing=timing):
                session = self.run_model(harness.model("q4_K"), "--prompt", "40", "--generate", "40", options=["--timing", timing])
                counted, ran = collections.Counter(), kernels_by_name(session)
                for row in session.report["operators"]:
                    if row["name"] in ran:
                        counted[row["name"]] += row["executions_all"]
                self.assertGreater(len(counted), 10)
                self.assertEqual(counted, {name: ran[name] for name in counted})

    def check_devices(self, split):
        session = self.check(harness.model("q4_K", layers=4), "--prompt", "16", "--generate", "8", "--split", split,
                             sim_options=["devices=2"])
        ran = collections.Counter(line["device"] for line in session.ledger("kernel"))
        self.assertEqual(set(ran), {0, 1})
        reported = collections.Counter()
        for row in session.report["operators"]:
            reported[row["device"]] += row["kernels"] or 0
        self.assertEqual(reported, ran)
        return session, ran

    def test_layer_split(self):
        session, _ = self.check_devices("layer")
        self.assertTrue([line for line in session.ledger("copy") if line["copy_kind"] == 10], "no copy between devices")

    def test_tensor_split(self):
        _, ran = self.check_devices("tensor")
        self.assertEqual(ran[0], ran[1])

    def test_every_symbol(self):
        """Bound at once, as a program linked with `-z now` is: a missing one would leave the model on the CPU."""
        session = self.check(harness.model("q4_K"), environment={"LD_BIND_NOW": "1"})
        self.assertEqual(session.driven["devices"], ["CUDA0", "CPU"])

    def test_experts_that_the_host_sorts(self):
        """f16 experts of a long prompt: the host reads which were chosen, and multiplies with one after the other. The
        simulator chooses them by turns, so each has 301 * 2 / 8 tokens, one more or less."""
        session = self.check(harness.model("f16", experts=8), "--prompt", "301", "--generate", "4",
                             sim_options=["index_kernel=topk_moe_cuda:2:4:8"])
        by_expert = [line["args"]["n"] for line in session.ledger("call") if line["args"].get("m") == 1536]
        self.assertEqual(sum(by_expert), 301 * 2 * 2, "gate and up of one layer: the last has one token")
        self.assertLessEqual(set(by_expert), {74, 75, 76})

    def test_nothing_on_the_gpu(self):
        session = self.run_model(harness.model("q4_K"), "--gpu-layers", "0")
        self.assertEqual(session.ledger("kernel"), [])
        shown = session.report_run()
        self.assertIn("no CUDA launch seen", shown.out + shown.err)


if __name__ == "__main__":
    harness.main()
