#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_traces.py ROOFTAP MAKE_TRACE: sessions of small models, call by call, with the forms, splits and faults that engines
have, against a config.json. Every expected figure is added up here from the shapes that are written."""
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

ROOFTAP, MAKE_TRACE = sys.argv[1:3]
H, F, V, LAYERS = 64, 96, 100, 2  # 4 query heads and 2 KV heads of 16
LLAMA = dict(model_type="llama", hidden_size=H, intermediate_size=F, num_attention_heads=4, num_key_value_heads=2,
             num_hidden_layers=LAYERS, vocab_size=V, tie_word_embeddings=False, torch_dtype="bfloat16")
MIXTRAL = dict(LLAMA, model_type="mixtral", num_local_experts=4, num_experts_per_tok=2)
MLA = dict(model_type="deepseek_v3", hidden_size=H, intermediate_size=F, moe_intermediate_size=32, num_attention_heads=4,
           num_hidden_layers=2, vocab_size=V, n_routed_experts=3, n_shared_experts=1, num_experts_per_tok=2,
           first_k_dense_replace=1, q_lora_rank=16, kv_lora_rank=8, qk_nope_head_dim=6, qk_rope_head_dim=4, v_head_dim=5,
           tie_word_embeddings=False, torch_dtype="bfloat16")
QKV, GATE_UP, O, DOWN, HEAD = [(64, H), (32, H), (32, H)], [(F, H)] * 2, [(H, 64)], [(H, F)], [(V, H)]
LAYER = QKV + O + GATE_UP + DOWN
BYTES = 2 * sum(n * k for n, k in LAYER * LAYERS + HEAD)


class Trace:
    """One process: signatures as they come, a weight's address by its place in the step."""

    def __init__(self, name="100.trace", pid=100, devices=(0,)):
        self.head = [f"file {name} pid={pid} incarnation={pid}", 'process command="prog"', 'note timing_on ""', "entry 1 cublasGemmEx"]
        for device in devices:
            self.head.append(f'device {device} name="Simulated unit" sms=100 simulated=1 uuid={device + 1}')
        self.head.append('name g "gemm"')
        self.names, self.body, self.device = {}, [], devices[0]

    def call(self, n, k, m=4, address=0, batch=0, matrices=1, ns=1000, kind="bf16"):
        key = f"s{n}_{k}_{m}_{batch}_{matrices}_{kind.replace(',', '_')}"
        if key not in self.names:
            strides = f"stride={n * k if matrices > 1 else 0},{m * k},{m * n},{m * n}"
            extra = f" batch={batch} batch_mode=strided {strides}" if batch else ""
            self.names[key] = f"signature {key} m={n} n={m} k={k} type={kind}{extra}"
        self.body.append(f"call {key} a={address:#x} b=0xb d=0xd kernels=1 name=g ns={ns} device={self.device}")

    def step(self, layer, head, m=4, layers=LAYERS, known=True):
        address = 0x1000
        for n, k in layer * layers + head:
            address = address + 0x1000 if (n, k) not in head else 0xf0000
            self.call(n, k, m, address if known else 0)

    def launch(self, name, text, times=1, ns=1000):
        if f'name {name} "{text}"' not in self.head:
            self.head.append(f'name {name} "{text}"')
        self.body.append(f"launch {name} times={times} kernels=1 ns={ns} device={self.device}")

    def text(self):
        return "\n".join(self.head + list(self.names.values()) + self.body + ["end"]) + "\n"


class Books(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) if hasattr(
            self, "enterContext") else pathlib.Path(tempfile.mkdtemp())

    def run_report(self, traces, config, *options):
        session = self.folder / "session"
        session.mkdir(exist_ok=True)
        for i, trace in enumerate(traces):
            (self.folder / f"{i}.txt").write_text(trace.text())
            subprocess.run([MAKE_TRACE, self.folder / f"{i}.txt", session], check=True)
        path = self.folder / "config.json"
        if config:
            path.write_text(json.dumps(config))
        return subprocess.run([ROOFTAP, "report", "--predict", path, *options, session], capture_output=True, text=True)

    def books(self, traces, config, *options):
        done = self.run_report(traces, config, "--json", *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.report = json.loads(done.stdout)
        self.text = self.run_report(traces, None, *options).stdout
        return self.report["books"]

    def device(self, traces, config, *options):
        books = self.books(traces, config, *options)
        self.assertEqual(len(books["devices"]), 1)
        return books["devices"][0]

    def rows(self, device, seen=True):
        return {row["name"]: row for row in device["rows"] if row["seen"] == seen}

    def line(self):
        """The sentence that closes the books, unwrapped."""
        return re.sub(r"\n +", " ", self.text[self.text.index("\nbooks: ") + 1:]).splitlines()[0]

    # ---- forms ----

    def test_as_the_checkpoint_has_it(self):
        trace = Trace()
        for m in (4, 4, 4):
            trace.step(LAYER, HEAD, m)
        device = self.device([trace], LLAMA)
        self.assertEqual((device["steps"], device["steps_source"]), (3, "phases"))
        self.assertEqual((device["bytes"], device["share"], device["parameter_share"]), (BYTES, [1, 1], [1, 1]))
        rows = self.rows(device)
        self.assertEqual({name: (row["n"], row["k"], row["calls"], row["measured_calls"]) for name, row in rows.items()}, {
            "self_attn.q_proj, self_attn.o_proj": (64, 64, [4, 4], 4), "self_attn.k_proj, self_attn.v_proj": (32, 64, [4, 4], 4),
            "mlp.gate_proj, mlp.up_proj": (96, 64, [4, 4], 4), "mlp.down_proj": (64, 96, [2, 2], 2),
            "lm_head": (100, 64, [1, 1], 1)})
        down = rows["mlp.down_proj"]
        roof = 2 * 2 * (64 * 96 + 4 * 96 + 4 * 64) / 1e12 * 1e9  # two calls, memory-bound on 1 TB/s
        self.assertEqual((down["m_p50"], down["time_ns"]), (4, 2000))
        self.assertAlmostEqual(down["t_roof_ns"], roof)
        self.assertAlmostEqual(down["times_roof"], 2000 / roof)
        self.assertEqual((device["extra_weights"], self.rows(device, False)), ([], {}))
        self.assertIn("100.0 % of 132.5 KiB of weights a step accounted for; missing: nothing", self.line())

    def test_fused(self):
        trace = Trace()
        for _ in range(3):
            trace.step([(128, H)] + O + [(2 * F, H)] + DOWN, HEAD)
        device = self.device([trace], LLAMA)
        rows = self.rows(device)
        self.assertEqual({name: row["form"] for name, row in rows.items()}, {
            "self_attn.q_proj+k_proj+v_proj": "fused", "mlp.gate_proj+up_proj": "fused", "self_attn.o_proj": "plain",
            "mlp.down_proj": "plain", "lm_head": "plain"})
        self.assertEqual(rows["self_attn.q_proj+k_proj+v_proj"]["model_weights"],
                         ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"])
        self.assertEqual((device["bytes"], device["share"], self.rows(device, False)), (BYTES, [1, 1], {}))

    def test_keys_and_values_fused(self):
        # k and v as one are as large as q and as o: how often that shape came tells nothing is missing.
        trace = Trace()
        for _ in range(3):
            trace.step([(H, H), (64, H)] + O + GATE_UP + DOWN, HEAD)
        device = self.device([trace], LLAMA)
        self.assertEqual((device["share"], self.rows(device, False)), ([1, 1], {}))

    def test_both_forms_in_one_run(self):
        trace = Trace()
        for layer in [LAYER] * 3 + [QKV + O + [(2 * F, H)] + DOWN] * 3:
            trace.step(layer, HEAD)
        device = self.device([trace], LLAMA)
        rows = self.rows(device)
        self.assertEqual(device["steps"], 6)
        self.assertEqual(rows["mlp.gate_proj, mlp.up_proj"]["measured_calls"], 3 * 4 / 6)
        self.assertEqual(rows["mlp.gate_proj+up_proj"]["measured_calls"], 3 * 2 / 6)
        self.assertEqual(device["share"], [1, 1])

    def test_shape_of_two_fused_forms(self):
        # 128 rows are q, k and v, and the vocabulary of 100 padded; both ran apart as well: then it is the first.
        trace = Trace()
        for layer in [LAYER] * 3 + [[(128, H)] + O + GATE_UP + DOWN] * 3:
            trace.step(layer, HEAD)
        device = self.device([trace], LLAMA)
        self.assertEqual(self.rows(device)["self_attn.q_proj+k_proj+v_proj"]["measured_calls"], 3 * 2 / 6)
        self.assertEqual((device["extra_weights"], device["share"]), ([], [1, 1]))

    def test_tied(self):
        trace = Trace()
        for _ in range(3):
            trace.step(LAYER, HEAD)
        device = self.device([trace], dict(LLAMA, tie_word_embeddings=True))
        self.assertEqual((device["bytes"], device["share"]), (BYTES, [1, 1]))
        self.assertIn("the embedding is counted as lm_head", self.text)

    def test_padded_vocabulary(self):
        trace = Trace()
        for _ in range(3):
            trace.step(LAYER, [(128, H)])
        device = self.device([trace], LLAMA)
        self.assertEqual(self.rows(device)["lm_head (padded)"]["form"], "padded")
        self.assertAlmostEqual(device["share"][0], 1 + 2 * 28 * H / BYTES)  # 28 rows more are read: not clamped

    def test_absorbed_mla(self):
        latent = [(16, H), (12, H), (40, 16), (H, 20)]
        ffn = [(F, H)] * 2 + [(H, F)]
        trace = Trace()
        for _ in range(3):
            address = 0x1000
            for layer in range(2):
                for n, k in latent:
                    trace.call(n, k, 1, address := address + 0x1000)
                trace.call(8, 6, 1, address := address + 0x1000, batch=4, matrices=4)
                trace.call(5, 8, 1, address := address + 0x1000, batch=4, matrices=4)
                sparse = [(3, H)] + [(32, H)] * 2 * 3 + [(H, 32)] * 3  # router, shared, and two routed experts
                for n, k in ffn if layer == 0 else sparse:
                    trace.call(n, k, 1, address := address + 0x1000)
            trace.call(V, H, 1, address + 0x1000)
        device = self.device([trace], MLA)
        rows = self.rows(device)
        self.assertEqual({row["form"] for name, row in rows.items() if "kv_b_proj" in name}, {"heads"})
        self.assertEqual(self.rows(device, False), {})
        # Routed and shared experts have one shape here: two and one in one layer, and one row is routed to no more than two.
        up = next(row for row in rows.values() if (row["n"], row["k"]) == (32, 64))
        self.assertEqual((up["calls"], up["measured_calls"], up["experts"]), ([2 * 3, 2 * 3], 6, True))
        read = 2 * (2 * (sum(n * k for n, k in latent) + 4 * (8 * 6 + 5 * 8)) + sum(n * k for n, k in ffn + sparse) + V * H)
        self.assertEqual(device["bytes"], read)
        self.assertEqual((device["own_bytes"], device["share"]), ([read, read], [1, 1]))

    def test_experts_in_one_batched_call(self):
        trace = Trace()
        for _ in range(3):
            address = 0x1000
            for _ in range(LAYERS):
                for n, k in QKV + O + [(4, H)]:
                    trace.call(n, k, 4, address := address + 0x1000)
                for n, k in GATE_UP + DOWN:
                    trace.call(n, k, 2, address := address + 0x1000, batch=4, matrices=4)
            trace.call(V, H, 4, address + 0x1000)
        device = self.device([trace], MIXTRAL)
        row = next(row for row in device["rows"] if (row["n"], row["k"]) == (F, H))
        self.assertEqual((row["calls"], row["measured_calls"]), ([2 * 2 * 2, 2 * 2 * 4], 2 * 2 * 4))
        self.assertEqual(device["share"][0], 1)  # all experts were read: of the least that is more
        self.assertGreater(device["share"][1], 1)

    # ---- what does not match ----

    def test_wrong_model(self):
        trace = Trace()
        for _ in range(3):
            trace.step(LAYER, HEAD)
        device = self.device([trace], dict(LLAMA, hidden_size=128, head_dim=32))
        self.assertEqual((device["share"], device["bytes"], self.rows(device)), ([0, 0], 0, {}))
        self.assertEqual(len(device["extra_weights"]), 5)
        self.assertEqual(device["extra_bytes"], BYTES)
        self.assertIn("nothing that was measured has a shape of the model's", self.text)
        self.assertRegex(self.line(), r"^books: 0\.0 % of .*extra: 5 shapes that the model has not")

    def test_missing_and_extra(self):
        trace = Trace()
        for _ in range(3):
            trace.step(QKV + O + GATE_UP + [(48, 48)], HEAD)
            trace.launch("marlin", "_ZN4vllm6marlin6MarlinILi256ELi1EEEvv", 2, 3000)
        device = self.device([trace], LLAMA)
        self.assertEqual(list(self.rows(device, False)), ["mlp.down_proj"])
        self.assertAlmostEqual(device["share"][0], 1 - 2 * 2 * H * F / BYTES)
        extra = [self.report["weights"][i] for i in device["extra_weights"]]
        self.assertEqual([(w["n"], w["k"], w["executions"]) for w in extra], [(48, 48, 6)])
        self.assertEqual(device["extra_bytes"], 2 * 2 * 48 * 48)
        self.assertEqual(device["gemms_by_name"]["kernels"], 6)
        self.assertEqual(device["gemms_by_name"]["time_ns"], 18000)
        self.assertIn("missing: mlp.down_proj; extra: 1 shape", self.line())
        self.assertIn("6 GEMMs by name", re.sub(r"\s+", " ", self.text))

    def test_too_many_calls(self):
        trace = Trace()
        for _ in range(3):
            trace.step(LAYER + [(H, F)], HEAD)
        device = self.device([trace], LLAMA)
        self.assertEqual(self.rows(device)["mlp.down_proj"]["measured_calls"], 4)
        self.assertAlmostEqual(device["share"][0], 1 + 2 * 2 * H * F / BYTES)

    def test_unpacked_weights(self):
        trace = Trace()
        for _ in range(3):
            trace.step(LAYER, HEAD)
        device = self.device([trace], LLAMA, "--weights", "int4-g32")
        down = self.rows(device)["mlp.down_proj"]
        self.assertEqual((down["bits"], down["measured_bits"]), (4 + 20 / 32, 16))
        self.assertEqual((device["bits_differ"], device["parameter_share"]), (True, [1, 1]))
        stored = (BYTES - 2 * V * H) * (4 + 20 / 32) / 16 + 2 * V * H  # lm_head stays as it is
        self.assertAlmostEqual(device["share"][0], BYTES / stored)
        self.assertIn("by number of weights 100.0 %", re.sub(r"\s+", " ", self.text))

    # ---- steps ----

    def test_no_addresses(self):
        trace = Trace()
        for _ in range(5):
            trace.step(LAYER, HEAD, known=False)
        device = self.device([trace], LLAMA)
        self.assertEqual((device["steps"], device["steps_source"], device["passes_share"]), (5, "calls", 1))
        self.assertEqual(device["share"], [1, 1])
        self.assertIn("no step was told apart", self.text)

    def test_untimed(self):
        trace = Trace()
        for _ in range(3):
            trace.step(LAYER, HEAD)
        trace.head[2] = 'note timing_off ""'
        trace.body = [line.replace(" kernels=1 name=g ns=1000", "") for line in trace.body]
        device = self.device([trace], LLAMA)
        down = self.rows(device)["mlp.down_proj"]
        self.assertEqual((device["share"], down["measured_calls"]), ([1, 1], 2))
        self.assertEqual((down["time_ns"], down["times_roof"], device["attention"]["time_ns"]), (None, None, None))
        self.assertGreater(down["t_roof_ns"], 0)

    def test_calls_agree_on_nothing(self):
        trace = Trace()
        for times, (n, k) in enumerate([(64, 64), (32, H), (F, H), (H, F), (V, H)], 1):
            for _ in range(times * 8):
                trace.call(n, k)
        device = self.device([trace], LLAMA)
        self.assertEqual((device["steps"], device["steps_source"], device["bytes"]), (None, None, None))
        self.assertEqual((device["share"], device["shape_share"]), ([None, None], 1))
        self.assertIn("not closed, since steps are not known", self.line())

    def test_calls_outside_of_steps(self):
        # A call of one layer's weight again and again is many passes over one product: of no phase.
        trace = Trace()
        for _ in range(3):
            trace.step(LAYER, HEAD)
        for _ in range(30):
            trace.call(H, F, 4, 0x77000)
        device = self.device([trace], LLAMA)
        down = self.rows(device)["mlp.down_proj"]
        self.assertEqual((device["steps_source"], down["executions"]), ("phases", 36))
        self.assertLess(down["executions_counted"], 36)
        self.assertIn("% of the matched calls in them", re.sub(r"\s+", " ", self.text))

    def test_prefill_and_decode(self):
        trace = Trace()
        for m, last in ((32, 1), (1, 1), (1, 1)):
            address = 0x1000
            for n, k in LAYER * LAYERS:
                trace.call(n, k, m, address := address + 0x1000, ns=100 * m)
            trace.call(V, H, last, 0xf0000)
        device = self.device([trace], LLAMA)
        self.assertEqual((device["prefill"], device["decode"]),
                         ({"steps": 1, "share": [1, 1]}, {"steps": 2, "share": [1, 1]}))
        down = self.rows(device)["mlp.down_proj"]
        for phase, m in (("prefill", 32), ("decode", 1)):
            of = down[phase]
            self.assertEqual((of["measured_calls"], of["m_p50"], of["time_ns"]), (2, m, 2 * 100 * m))
            self.assertAlmostEqual(of["t_roof_ns"], 2 * 2 * (64 * 96 + m * 96 + m * 64) / 1e12 * 1e9)
        self.assertEqual(down["time_ns"], (6400 + 200 * 2) / 3)
        self.assertRegex(self.text, r"\nprefill: 1 step, 100\.0 % of .*\n(.*\n)*\ndecode: 2 steps, 100\.0 %")

    def test_stranger_of_a_fused_shape(self):
        # Outside of any step, and all of its parts ran apart: a product of that shape is none of the model's.
        trace = Trace()
        for _ in range(3):
            trace.step(LAYER, HEAD)
        trace.step(LAYER, HEAD)
        for i in range(9):
            trace.call(2 * F, H, 32, 0x500000)
        device = self.device([trace], LLAMA)
        self.assertEqual((device["share"], len(device["rows"])), ([1, 1], 5))
        extra = [self.report["weights"][i] for i in device["extra_weights"]]
        self.assertEqual([(w["n"], w["executions"]) for w in extra], [(2 * F, 9)])

    # ---- several GPUs ----

    def test_tensor_parallel(self):
        part = [(32, H), (16, H), (16, H), (H, 32), (F // 2, H), (F // 2, H), (H, F // 2)]
        traces = []
        for rank in range(2):
            trace = Trace(f"{100 + rank}.trace", 100 + rank, (rank,))
            for _ in range(3):
                trace.step(part, [(V // 2, H)])
            traces.append(trace)
        books = self.books(traces, LLAMA, "--tp", "2")
        self.assertEqual([d["device"] for d in books["devices"]], [0, 1])
        for device in books["devices"]:
            self.assertEqual((device["steps"], device["bytes"], device["share"]), (3, BYTES / 2, [1, 1]))
        self.assertEqual(books["fits_tensor_parallel"], None)
        books = self.books(traces, LLAMA)
        self.assertEqual(books["fits_tensor_parallel"], 2)
        self.assertIn("pass --tp 2", self.text)

    def test_split_by_layers(self):
        trace = Trace(devices=(0, 1))
        for _ in range(3):
            address = 0x1000
            for layer in range(LAYERS):
                trace.device = layer
                for n, k in LAYER + (HEAD if layer else []):
                    trace.call(n, k, 4, address := address + 0x1000)
        books = self.books([trace], LLAMA)
        first, second = books["devices"]
        self.assertEqual((first["steps"], second["steps"]), (3, 3))
        self.assertAlmostEqual(first["share"][0], 2 * sum(n * k for n, k in LAYER) / BYTES)
        self.assertEqual(list(self.rows(first, False)), ["lm_head"])
        self.assertAlmostEqual(books["share_of_all_devices"], 1)

    # ---- attention, checkpoint, input ----

    def test_attention(self):
        trace = Trace()
        for _ in range(3):
            trace.step(LAYER, HEAD)
            trace.launch("attention", "_ZN4vllm25paged_attention_v1_kernelItLi16EEEvv", 2, 5000)
        device = self.device([trace], LLAMA, "--context", "1000")
        attention = device["attention"]
        self.assertEqual((attention["kernels"], attention["time_ns"], attention["batch"]), (6, 30000, 4))
        bytes_ = LAYERS * 4 * 2 * (2 * 2 * 1000 * 16 + 2 * 4 * 16)  # K and V of 2 heads, q and o of 4
        self.assertAlmostEqual(attention["decode_step_t_roof_ns"], bytes_ / 1e12 * 1e9)
        self.assertIn("6 kernels by name", re.sub(r"\s+", " ", self.text))

    def test_naive_attention(self):
        # Scores and values as batched products with a softmax between: no weights, and neither missing nor extra.
        trace = Trace()
        trace.head.append('name softmax "_ZN2at6native12_GLOBAL__N_119cunn_SoftMaxForwardILi8EEEvv"')
        trace.head.append("signature scores m=40 n=4 k=16 ta=T tb=N batch=4 batch_mode=strided stride=640,64,160,160")
        trace.head.append("signature values m=16 n=4 k=40 ta=N tb=N batch=4 batch_mode=strided stride=640,160,64,64")
        for _ in range(3):
            trace.step(LAYER, HEAD)
            trace.body.append("call scores a=0x70 b=0x71 d=0x72 kernels=1 name=g ns=1000")
            trace.body.append("launch softmax kernels=1 ns=1000")
            trace.body.append("call values a=0x73 b=0x72 d=0x74 kernels=1 name=g ns=1000")
        device = self.device([trace], LLAMA)
        self.assertEqual((device["attention"]["naive_times"], device["attention"]["naive_time_ns"]), (3, 6000))
        self.assertEqual((device["extra_weights"], device["share"]), ([], [1, 1]))
        self.assertIn("ran 3 times as two batched GEMMs", self.text)

    def write_checkpoint(self, name, tensors):
        header, at = {}, 0
        for tensor, shape in tensors.items():
            size = 2
            for extent in shape:
                size *= extent
            header[tensor] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, at + size]}
            at += size
        text = json.dumps(header).encode()
        (self.folder / name).write_bytes(struct.pack("<Q", len(text)) + text + bytes(at))

    def test_checkpoint(self):
        tensors = {"model.embed_tokens.weight": [V, H], "lm_head.weight": [V, H], "model.norm.weight": [H]}
        for i in range(LAYERS):
            p = f"model.layers.{i}."
            tensors |= {p + "input_layernorm.weight": [H], p + "post_attention_layernorm.weight": [H],
                        p + "self_attn.q_proj.weight": [64, H], p + "self_attn.k_proj.weight": [32, H],
                        p + "self_attn.v_proj.weight": [32, H], p + "self_attn.o_proj.weight": [H, 64],
                        p + "mlp.gate_proj.weight": [F, H], p + "mlp.up_proj.weight": [F, H],
                        p + "mlp.down_proj.weight": [H, F]}
        self.write_checkpoint("model.safetensors", tensors)  # found beside config.json
        trace = Trace()
        for _ in range(3):
            trace.step(LAYER, HEAD)
        books = self.books([trace], LLAMA)
        self.assertEqual((books["checkpoint"]["verdict"], books["own_source"]), ("equal", "checkpoint"))
        self.assertEqual((books["own_bytes"], books["devices"][0]["share"]), ([BYTES, BYTES], [1, 1]))
        self.assertIn("(bytes of the checkpoint)", self.line())
        (self.folder / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\n")
        books = self.books([trace], LLAMA)  # nobody asked for it: told of, and no reason to fail
        self.assertEqual((books["own_source"], books["devices"][0]["share"]), ("config", [1, 1]))
        self.assertTrue(books["checkpoint"]["problem"])
        self.assertIn("model.safetensors can't be: ", re.sub(r"\s+", " ", self.text))
        del tensors["model.layers.1.mlp.down_proj.weight"]
        self.write_checkpoint("other.safetensors", tensors)
        books = self.books([trace], LLAMA, "--checkpoint", str(self.folder / "other.safetensors"))
        self.assertEqual((books["checkpoint"]["verdict"], books["own_source"]), ("different", "config"))
        self.assertRegex(re.sub(r"\s+", " ", self.text), "config.json means [0-9,]+: .*down_proj")

    def test_bad_input(self):
        trace = Trace()
        trace.step(LAYER, HEAD)
        bad = self.folder / "bad.json"
        bad.write_text("{")
        cases = [(LLAMA, ["--tp", "3"], "can't be divided"), (LLAMA, ["--tp", "0"], "--tp"),
                 (LLAMA, ["--weights", "int5"], "--weights takes"), (LLAMA, ["--kv", "wide"], "--kv takes"),
                 (LLAMA, ["--by", "weight"], "--predict"), (LLAMA, ["--context", "-1"], "--context"),
                 (LLAMA, ["--checkpoint", "/nowhere"], "/nowhere"), (LLAMA, ["--checkpoint", str(bad)], "bad.json"),
                 (LLAMA, ["--predict", "/nowhere/config.json"], "/nowhere/config.json"),
                 (LLAMA, ["--predict", str(bad)], "bad.json"),
                 ({k: v for k, v in LLAMA.items() if k != "hidden_size"}, [], "hidden_size")]
        for config, options, word in cases:
            with self.subTest(options=options):
                done = self.run_report([trace], config, *options)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertEqual(len(done.stderr.splitlines()), 1)
                self.assertIn(word, done.stderr)
        done = subprocess.run([ROOFTAP, "report", "--tp", "2", self.folder / "session"], capture_output=True, text=True)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
