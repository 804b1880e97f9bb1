#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_programs.py ROOFTAP DECODE_LOOP GROUPED CONFIGS: programs that know nothing of rooftap, on the simulator."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOFTAP, DECODE_LOOP, GROUPED, CONFIGS = sys.argv[1:5]
# Qwen2.5-7B (tests/predict/configs/SOURCES.md): q, k and v, o, gate, up and down of 28 layers, and the vocabulary; bf16.
QWEN = 2 * (28 * (3584 * (3584 + 512 + 512) + 3584 * 3584 + 3 * 3584 * 18944) + 152064 * 3584)
EXPERTS = 48  # as in tests/e2e/grouped.c
UP = "block_sparse_moe.experts.*.w1, block_sparse_moe.experts.*.w3"


def books(command, config):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("SIMGPU_", "ROOFTAP_", "LD_", "CUDA_"))}
    with tempfile.TemporaryDirectory() as folder:
        session = pathlib.Path(folder) / "session"
        subprocess.run([ROOFTAP, "record", "-q", "-o", session, "--simulate", "rtx4090", "--", *command], check=True,
                       env=environment, stdout=subprocess.DEVNULL)
        if isinstance(config, dict):
            path = pathlib.Path(folder) / "config.json"
            path.write_text(json.dumps(config))
        else:
            path = f"{CONFIGS}/{config}.json"
        done = subprocess.run([ROOFTAP, "report", "--json", "--predict", path, session], check=True, env=environment,
                              capture_output=True, text=True)
        report = json.loads(done.stdout)
        return report["books"], report


class Programs(unittest.TestCase):
    def test_qwen(self):
        for steps, source in ((1, "calls"), (3, "phases")):
            found, _ = books([DECODE_LOOP, "--batch", "8", "--steps", str(steps)], "qwen2.5-7b")
            device, = found["devices"]
            self.assertEqual((found["bytes"], device["bytes"], device["share"]), ([QWEN, QWEN], QWEN, [1, 1]))
            self.assertEqual((device["steps"], device["steps_source"]), (steps, source))
            self.assertEqual((device["extra_weights"], [row for row in device["rows"] if not row["seen"]]), ([], []))
            self.assertEqual({row["m_p50"] for row in device["rows"]}, {8})

    def test_wrong_model(self):
        found, _ = books([DECODE_LOOP, "--batch", "8", "--steps", "3"], "llama-2-7b")
        device, = found["devices"]
        self.assertEqual((device["share"], len(device["extra_weights"])), ([0, 0], 5))
        self.assertEqual(found["fits_tensor_parallel"], None)

    def test_too_few_layers(self):
        found, _ = books([DECODE_LOOP, "--batch", "8", "--steps", "3", "--layers", "27"], "qwen2.5-7b")
        layer = (QWEN - 2 * 152064 * 3584) / 28
        self.assertAlmostEqual(found["devices"][0]["share"][0], 1 - layer / QWEN)

    def test_models_as_predicted(self):
        """Of every model that there is a file of, at least what a pass over one token is predicted to read, each matrix as
        it is stored (decode reads copies of some)."""
        command = [DECODE_LOOP, "--batch", "8", "--layers", "1"]
        for path in sorted(pathlib.Path(CONFIGS).glob("*.json")):
            done = subprocess.run([ROOFTAP, "predict", "--json", "--config", path, "--gpu", "h200-sxm", "--prompt", "1"],
                                  check=True, capture_output=True, text=True)
            found, _ = books(command, path.stem)
            self.assertEqual(found["bytes"][0], json.loads(done.stdout)["prefill"]["weight_bytes"]["at_least"], path.stem)

    def test_grouped_experts(self):
        """Which matrices a grouped call reads follows from its FLOPs and bytes; the routing is e2e_grouped's own."""
        config = dict(model_type="mixtral", hidden_size=64, intermediate_size=192, num_attention_heads=4,
                      num_key_value_heads=2, num_hidden_layers=1, vocab_size=100, num_local_experts=EXPERTS,
                      num_experts_per_tok=2, torch_dtype="bfloat16")
        for steps in (1, 2):  # from the second on there are calls with float, too
            found, report = books([GROUPED, str(steps)], config)
            device, = found["devices"]
            row, = [row for row in device["rows"] if (row["n"], row["k"]) == (192, 64)]
            names = [report["operators"][i]["name"] for i in row["operators"]]
            self.assertEqual((row["name"], names.count("cublasGemmGroupedBatchedEx")), (UP, steps))
            if steps == 1:
                read = sum(1 + (i % 3 == 0) for i in range(1, EXPERTS) if i * 7 % 11)
                self.assertEqual((row["executions"], row["measured_bits"]), (read, 16))
                self.assertEqual(row["m_p50"], sum((1 + (i % 3 == 0)) * (i * 7 % 11) for i in range(1, EXPERTS)))
            else:  # where C is read as well, the matrices can't be told
                self.assertEqual(row["executions"], None)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
