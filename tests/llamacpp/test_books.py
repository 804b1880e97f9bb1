#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The books of llama.cpp closed: what a report says was multiplied is what make_model.py put into the model, to the byte, by
its arithmetic; prompts and tokens are told apart and counted, replayed from graphs or launched."""
import json
import math
import subprocess

import harness
import recording

PROMPT = 301
FEED_FORWARD, EMBEDDING = 1536, 512


def bytes_per_token(model, used=None):
    """Of one token: of experts those that it is routed to."""
    return sum(m["bytes"] * (min(used, m["experts"]) if m["experts"] > 1 else 1) for m in model.matrices if m["multiplied"])


def all_bytes(model):
    return model.multiplied_bytes


class Books(harness.Case):
    def closed(self, model, *arguments, **record):
        """The report of a run of MODEL with it."""
        session = self.run_model(model, *arguments, **record)
        done = subprocess.run([str(recording.ROOFTAP), "report", "--json", "--model", str(model.path), str(session.folder)],
                              capture_output=True, text=True, check=True)
        report = json.loads(done.stdout)
        report["session"] = session
        return report

    def assert_tokens(self, report, own, generated, rows=1):
        decode = report["model_books"]["decode"]
        self.assertEqual((decode["steps"], decode["rows_per_step"]), (generated, rows))
        self.assertEqual((decode["model_bytes"], decode["measured_bytes"], decode["verdict"]), ([own, own], [own, own], "equal"))

    def assert_prompt(self, report, own, rows=PROMPT):
        prefill = report["model_books"]["prefill"]
        self.assertEqual((prefill["steps"], prefill["rows_per_step"]), (1, rows))
        self.assertEqual((prefill["measured_bytes"], prefill["verdict"]), ([own, own], "equal"))

    def assert_attention(self, report, heads, heads_kv, head_dim, generated):
        """Heads and head dim as the model's; keys as many as were there at least, rounded up to 256 at most."""
        rows = [op["launch"]["attention"] for op in report["operators"] if op["kind"] == "attention"]
        self.assertTrue(rows)
        for row in rows:
            self.assertEqual((row["n_q"], row["n_kv"], row["d"], row["d_v"], row["keys_at_most"]),
                             (heads, heads_kv, head_dim, head_dim, True))
        self.assertIn(256 * math.ceil((PROMPT + generated) / 256), {row["keys"] for row in rows})

    def check(self, kind, own=None, device="h100-sxm", **options):
        model = harness.model(kind, **options)
        report = self.closed(model, "--prompt", str(PROMPT), "--generate", "20", device=device)
        own = own or all_bytes(model)
        self.assertEqual(own, all_bytes(model))
        self.assert_prompt(report, own)
        self.assert_tokens(report, own, 20)
        self.assertEqual((report["model_books"]["extra_operators"], report["model_books"]["layers_seen"]),
                         ([], model.described.get("layers", 2)))
        return model, report

    def test_q4_K(self):
        self.check("q4_K", own=3_686_400)

    def test_q8_0(self):
        self.check("q8_0", own=6_963_200, device="t4")

    def test_f16(self):
        # The prompt by cuBLAS, and the last layer's second half by kernels of llama.cpp's own.
        _, report = self.check("f16", own=13_107_200)
        rows = {(op["n"], op["k"]): set() for op in report["operators"] if op.get("model_weights")}
        for op in report["operators"]:
            if op.get("model_weights"):
                rows[op["n"], op["k"]].add(op["m"])
        self.assertTrue(all(m == {1, PROMPT} for m in rows.values()), rows)

    def test_others(self):
        for kind, device in (("f32", "rtx4090"), ("bf16", "rtx3090"), ("q5_K", "rtx5090"), ("q6_K", "rtx4090"), ("q4_0", "t4")):
            with self.subTest(kind=kind, device=device):
                self.check(kind, device=device)

    def test_heads(self):
        for options in ({"heads": 4, "heads_kv": 2, "head_dim": 128}, {"heads": 8, "heads_kv": 8, "head_dim": 64},
                        {"heads": 8, "heads_kv": 2, "head_dim": 64}):
            with self.subTest(**options):
                _, report = self.check("q4_K", **options)
                self.assert_attention(report, options["heads"], options["heads_kv"], options["head_dim"], 20)

    def test_tied(self):
        _, report = self.check("q4_K", tied=True)
        self.assertTrue(report["model_books"]["tied"])
        self.assertIn(["token_embd"], [c["names"][-1:] for c in report["model_books"]["classes"]])

    def test_names(self):
        _, report = self.check("q4_K", vocabulary=1000)
        named = {(c["n"], c["k"]): c["names"] for c in report["model_books"]["classes"]}
        self.assertEqual(named, {(512, 512): ["attn_q", "attn_output"], (256, 512): ["attn_k", "attn_v"],
                                 (FEED_FORWARD, EMBEDDING): ["ffn_gate", "ffn_up"], (EMBEDDING, FEED_FORWARD): ["ffn_down"],
                                 (1000, EMBEDDING): ["output"]})

    def test_experts(self):
        model = harness.model("q4_K", experts=8, experts_used=2)
        report = self.closed(model, "--prompt", str(PROMPT), "--generate", "20")
        token, whole = bytes_per_token(model, 2), all_bytes(model)
        self.assert_tokens(report, token, 20)  # of one token it is known how many
        prefill = report["model_books"]["prefill"]
        self.assertEqual((prefill["model_bytes"], prefill["verdict"]), ([token, whole], "within"))
        low, high = prefill["measured_bytes"]
        self.assertTrue(token <= low < high <= whole)

    def test_graphs_and_none(self):
        model = harness.model("q4_K")
        options = ("--prompt", str(PROMPT), "--generate", "600")
        replayed = self.closed(model, *options)
        launched = self.closed(model, *options, environment={"GGML_CUDA_DISABLE_GRAPHS": "1"})
        for report in (replayed, launched):
            self.assert_prompt(report, all_bytes(model))
            self.assert_tokens(report, all_bytes(model), 600)
        sums = [sorted((op["m"], op["n"], op["k"], op["executions_all"], tuple(op["phase_calls"].values()), *op["model_weights"])
                       for op in report["operators"] if op["model_weights"]) for report in (replayed, launched)]
        self.assertEqual(*sums)
        self.assertEqual([sum(graphs["launches"] for graphs in [process["graph_replays"]] if graphs) > 500
                          for process in replayed["processes"] + launched["processes"]], [True, False])

    def test_sums(self):
        """Of a session without records: the collector tells which steps were replayed."""
        model = harness.model("q4_K")
        report = self.closed(model, "--prompt", str(PROMPT), "--generate", "600", options=["--aggregate"])
        self.assertTrue(all(process["sums"] for process in report["processes"]))
        self.assert_prompt(report, all_bytes(model))
        self.assert_tokens(report, all_bytes(model), 600)

    def check_devices(self, split, options=None, **more):
        model = harness.model("q4_K", layers=4, **(options or {}))
        report = self.closed(model, "--prompt", "40", "--generate", "20", "--split", split, sim_options=["devices=2"], **more)
        own = all_bytes(model)
        self.assert_tokens(report, own, 20)
        self.assert_prompt(report, own, 40)
        devices = report["model_books"]["devices"]
        self.assertEqual([device["device"] for device in sorted(devices, key=lambda d: d["device"])], [0, 1])
        self.assertAlmostEqual(sum(device["decode"][0] for device in devices), own)
        return model, report, devices

    def test_layer_split(self):
        model, _, devices = self.check_devices("layer")
        head = next(m["bytes"] for m in model.matrices if m["name"] == "output.weight")
        layer = (all_bytes(model) - head) / 4
        read = {device["device"]: device["decode"][0] for device in devices}
        # The output counts as a layer: 3 and 2 of 5. Which device a shape's calls of a phase ran on is known where it
        # has one phase or one device; shapes of one row of the last layer have both, so a step or two may be the other's.
        self.assertLess(abs(read[0] - 3 * layer), 0.03 * read[0])
        self.assertLess(abs(read[1] - layer - head), 0.08 * read[1])

    def test_tensor_split(self):
        for environment in ({}, {"GGML_CUDA_DISABLE_GRAPHS": "1"}):
            model, report, devices = self.check_devices("tensor", environment=environment)
            self.assertEqual({device["decode"][0] for device in devices}, {all_bytes(model) / 2})
            self.assertTrue(all(c["cut"] for c in report["model_books"]["classes"]))

    def test_layers_on_the_cpu(self):
        model = harness.model("q4_K", layers=4)
        report = self.closed(model, "--prompt", "4", "--generate", "12", "--gpu-layers", "3")
        head = next(m["bytes"] for m in model.matrices if m["name"] == "output.weight")
        layer = (all_bytes(model) - head) / 4
        decode = report["model_books"]["decode"]
        self.assertEqual(decode["verdict"], "less")
        self.assertEqual(decode["measured_bytes"][0], 2 * layer + head)  # output is one of the three
        self.assertEqual(report["model_books"]["layers_seen"], 2)

    def test_weights_copied_for_a_prompt(self):
        """All layers on the CPU: a long prompt's weights are copied to the GPU one after the other, so that no step is told
        apart by their addresses, and neither by order are matrices of one shape."""
        report = self.closed(harness.model("q4_K", vocabulary=1000), "--prompt", "301", "--generate", "2", "--gpu-layers", "0")
        self.assertEqual({(op["n"], op["k"]): op["model_weights"] for op in report["operators"] if op["model_weights"]},
                         {(512, 512): ["attn_q", "attn_output"], (256, 512): ["attn_k", "attn_v"],
                          (FEED_FORWARD, EMBEDDING): ["ffn_gate", "ffn_up"], (EMBEDDING, FEED_FORWARD): ["ffn_down"]})

    def test_slots(self):
        """Four sequences at once: each step reads the weights once for four tokens."""
        model = harness.model("q4_K")
        report = self.closed(model, "--prompt", "40", "--generate", "20", "--sequences", "4")
        self.assert_tokens(report, all_bytes(model), 20, rows=4)
        self.assertEqual(report["model_books"]["prefill"]["rows_per_step"], 4 * 40)

    def test_slots_of_one_cache(self):
        """Attention has four queries of one sequence then; that the output has a shape of its own tells a batch."""
        model = harness.model("q4_K", vocabulary=1000)
        report = self.closed(model, "--prompt", "40", "--generate", "20", "--sequences", "4", "--unified")
        self.assert_tokens(report, all_bytes(model), 20, rows=4)

    def test_long_prompt(self):
        """In parts of 512: of all but the last no logits are asked for, so they leave the last layer's second half out."""
        model = harness.model("q4_K")
        report = self.closed(model, "--prompt", "1300", "--generate", "6")
        self.assert_tokens(report, all_bytes(model), 6)
        self.assertEqual((report["phases"]["prefill"]["steps"], report["phases"]["unknown"]["steps"]), (3, 0))
        self.assertEqual(report["phases"]["prefill"]["rows_per_step"] * 3, 1300)


if __name__ == "__main__":
    harness.main()
