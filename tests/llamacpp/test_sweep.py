#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every weight type, and what a model can be besides, on every compute capability that llama.cpp chooses kernels by: it runs,
the report equals the ledger and has the model's matmuls and attention, and the witness knows the parameters of each launch."""
import harness
import test_shapes

MODELS = {
    **{kind: {"kind": kind} for kind in harness.TYPES},
    "experts": {"kind": "q4_K", "experts": 8, "experts_used": 2},
    # Narrow enough for kernels of their own: the way of wider ones lets the host sort what a kernel chose.
    "experts_f16": {"kind": "f16", "experts": 8, "experts_used": 2, "feed_forward": 1024},
    "grouped": {"kind": "q4_K", "heads": 16, "heads_kv": 2, "head_dim": 64, "embedding": 1024},
    "narrow_heads": {"kind": "q8_0", "heads": 8, "heads_kv": 8, "head_dim": 64},
    "tied": {"kind": "q6_K", "tied": True},
}
RUNS = {"alone": ("--prompt", str(test_shapes.PROMPT), "--generate", str(test_shapes.GENERATED)),
        "slots": ("--prompt", "60", "--stagger", "40", "--generate", "6", "--sequences", "4"),
        "without_attention_kernels": ("--prompt", "40", "--generate", "4", "--flash-attention", "off"),
        "quantised_cache": ("--prompt", "40", "--generate", "4", "--flash-attention", "on", "--type-k", "q8_0", "--type-v",
                            "q8_0")}


class Sweep(test_shapes.Checks):
    def check(self, name, run, device):
        model = harness.model(**MODELS[name])
        session = self.run_model(model, *RUNS[run], device=device, environment={"SIMGPU_LEDGER_PARAMS": "all"})
        self.assert_ledger_equal(session)
        lines = session.ledger()
        self.assertEqual([line for line in lines if line["type"] in ("not_supported", "fault")], [])
        unknown = {line["name"] for line in lines if line["type"] == "kernel" and line["params"] is None
                   and not line["call"]}  # cuBLAS's own kernels are the simulator's
        self.assertEqual(unknown, set())
        if run == "alone":
            self.check_shapes(model, session.report, device)
        else:
            self.check_coverage(session.report)

    def each(self, names, runs, devices):
        for device in devices:
            for name in names:
                for run in runs:
                    with self.subTest(model=name, run=run, device=device):
                        self.check(name, run, device)

    def test_models(self):
        self.each(MODELS, ["alone"], harness.DEVICES)

    def test_runs(self):
        self.each(["q4_K", "f16", "grouped"], [run for run in RUNS if run != "alone"], harness.DEVICES)


if __name__ == "__main__":
    harness.main()
