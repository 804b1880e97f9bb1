#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_model.py ROOFTAP MAKE_TRACE: rooftap report --model with GGUF files written here, and sessions that multiply their
matrices. Every expected figure is added up here from the tensors that are written."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from check_traces import Trace
from gguf_file import bytes_of, write

ROOFTAP, MAKE_TRACE = sys.argv[1:3]
H, KV, F, V, LAYERS = 256, 64, 512, 1000, 2
PAIRS = {"general.architecture": "llama", "general.name": "tiny", "llama.block_count": LAYERS, "llama.embedding_length": H,
         "llama.attention.head_count": 4, "llama.attention.head_count_kv": 1, "tokenizer.ggml.model": "llama"}
LAYER = [("attn_q", H, H), ("attn_k", KV, H), ("attn_v", KV, H), ("attn_output", H, H), ("ffn_gate", F, H), ("ffn_up", F, H),
         ("ffn_down", H, F)]


def dense(kind="bf16", layers=LAYERS, output=True, kinds=None):
    """Tensors of a model; KINDS: types of single names."""
    tensors = [("token_embd.weight", kind, (V, H)), ("output_norm.weight", "f32", (H,))]
    if output:
        tensors.append(("output.weight", (kinds or {}).get("output", kind), (V, H)))
    for layer in range(layers):
        tensors.append((f"blk.{layer}.attn_norm.weight", "f32", (H,)))
        tensors += [(f"blk.{layer}.{name}.weight", (kinds or {}).get(name, kind), (n, k)) for name, n, k in LAYER]
    return tensors


def multiplied(tensors, tied=False):
    return sum(bytes_of(kind, *shape) for name, kind, shape in tensors if len(shape) == 2 and (tied or name != "token_embd.weight"))


SHAPES = [(n, k) for _, n, k in LAYER]


class Model(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.model = self.folder / "model.gguf"

    def run_report(self, trace, *options):
        session = self.folder / "session"
        session.mkdir(exist_ok=True)
        (self.folder / "trace.txt").write_text(trace.text())
        subprocess.run([MAKE_TRACE, self.folder / "trace.txt", session], check=True)
        return subprocess.run([ROOFTAP, "report", "--model", self.model, *options, session], capture_output=True, text=True)

    def books(self, trace, tensors, pairs=None):
        write(self.model, pairs or PAIRS, tensors)
        done = self.run_report(trace, "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.report = json.loads(done.stdout)
        self.text = self.run_report(trace).stdout
        return self.report["model_books"]

    def steps(self, rows, shapes=SHAPES, layers=LAYERS, head=((V, H),)):
        trace = Trace()
        for m in rows:
            trace.step(list(shapes), list(head), m, layers)
        return trace

    def test_dense_is_equal_to_the_byte(self):
        tensors = dense()
        books = self.books(self.steps([1] * 5), tensors)
        own = multiplied(tensors)
        decode = books["decode"]
        self.assertEqual((decode["steps"], decode["verdict"]), (5, "equal"))
        self.assertEqual((decode["model_bytes"], decode["measured_bytes"]), ([own, own], [own, own]))
        self.assertEqual((books["prefill"]["verdict"], books["extra_operators"], books["layers_seen"]), (None, [], LAYERS))
        self.assertIn(f"weight bytes a decode token: {own:,} measured, {own:,} in the model: equal\n", self.text)
        self.assertEqual((books["architecture"], books["name"], books["layers"], books["tied"]), ("llama", "tiny", LAYERS, False))
        self.assertEqual(books["table_bytes"], bytes_of("bf16", V, H))

    def test_names_by_shape(self):
        books = self.books(self.steps([1] * 3), dense())
        classes = {tuple(c["names"]): (c["n"], c["k"], c["format"], c["tensors"]) for c in books["classes"]}
        self.assertEqual(classes, {
            ("attn_q", "attn_output"): (H, H, "bf16", [2, 2]), ("attn_k", "attn_v"): (KV, H, "bf16", [2, 2]),
            ("ffn_gate", "ffn_up"): (F, H, "bf16", [2, 2]), ("ffn_down",): (H, F, "bf16", [2]), ("output",): (V, H, "bf16", [1])})
        named = {(op["n"], op["k"]): op["model_weights"] for op in self.report["operators"] if op["n"]}
        self.assertEqual(named[H, F], ["ffn_down"])
        self.assertEqual(named[V, H], ["output"])
        self.assertEqual(named[KV, H], ["attn_k", "attn_v"])

    def prompts(self, layer, last):
        """Three prompts whose last layer's second half has one row, as llama.cpp's have."""
        trace = Trace()
        for _ in range(3):
            address = 0x1000
            for i, (shapes, half) in enumerate(((layer, len(layer)), (last, 3))):
                for j, (n, k) in enumerate(shapes):
                    address += 0x1000
                    trace.call(n, k, 301 if j < half else 1, address)
            trace.call(V, H, 1, 0xf0000)
        return trace

    def named(self):
        return {(op["m"], op["n"], op["k"]): op["model_weights"] for op in self.report["operators"] if op["n"]}

    def test_names_by_order(self):
        # Of one row and N = K = H there is the last layer's attn_output alone: its shape is attn_q's, its turn is not.
        self.books(self.prompts(SHAPES, SHAPES), dense())
        self.assertEqual(self.named(), {
            (301, H, H): ["attn_q", "attn_output"], (1, H, H): ["attn_output"], (301, KV, H): ["attn_k", "attn_v"],
            (301, F, H): ["ffn_gate", "ffn_up"], (1, F, H): ["ffn_gate", "ffn_up"], (301, H, F): ["ffn_down"],
            (1, H, F): ["ffn_down"], (1, V, H): ["output"]})
        self.assertRegex(self.text, r"(?m)^ *%TIME .* WEIGHTS ")
        self.assertRegex(self.text, r"(?m)^.* 1 +256 +256 .* attn_output( |$)")

    def test_names_of_the_last_layers(self):
        self.books(self.prompts(SHAPES, SHAPES), dense(layers=5), dict(PAIRS, **{"llama.block_count": 5}))
        self.assertEqual(self.named()[1, H, H], ["attn_output"])

    def test_another_order_tells_nothing(self):
        # ffn_down before gate and up: no llama.
        other = SHAPES[:4] + SHAPES[6:] + SHAPES[4:6]
        self.books(self.prompts(other, other), dense())
        self.assertEqual(self.named()[1, H, H], ["attn_q", "attn_output"])

    def test_names_of_what_has_no_place(self):
        # A matrix of whose turn nothing is known leaves all by shape.
        tensors = dense() + [(f"blk.{i}.attn_gate.weight", "bf16", (24, 8)) for i in range(LAYERS)]
        self.books(self.prompts(SHAPES, SHAPES), tensors)
        self.assertEqual(self.named()[1, H, H], ["attn_q", "attn_output"])

    def test_tied(self):
        tensors = dense(output=False)
        books = self.books(self.steps([1] * 3), tensors)
        own = multiplied(tensors, tied=True)
        self.assertEqual((books["tied"], books["decode"]["verdict"], books["decode"]["model_bytes"]), (True, "equal", [own, own]))
        self.assertIn("token_embd is the output, too", self.text)

    def test_layers_on_the_cpu(self):
        tensors = dense(layers=4)
        books = self.books(self.steps([1] * 4, layers=3), tensors, dict(PAIRS, **{"llama.block_count": 4}))
        short = sum(bytes_of("bf16", n, k) for n, k in SHAPES)
        own = multiplied(tensors)
        self.assertEqual((books["decode"]["verdict"], books["decode"]["measured_bytes"]), ("less", [own - short] * 2))
        self.assertEqual(books["layers_seen"], 3)
        self.assertIn("3 of 4 layers were seen on a GPU: the others ran on the CPU (n_gpu_layers)", self.text)
        self.assertIn("decode differs: ffn_down (256 x 512 bf16): 3 of 4 matrices a step", self.text)

    def test_prompt_and_tokens(self):
        tensors = dense()
        trace = Trace()
        for m, last in ((301, 1), (1, 1), (1, 1)):
            trace.step(SHAPES, [], m)
            trace.call(V, H, last, 0xf0000)
        books = self.books(trace, tensors)
        own = multiplied(tensors)
        for phase, steps in (("prefill", 1), ("decode", 2)):
            self.assertEqual((books[phase]["steps"], books[phase]["verdict"], books[phase]["measured_bytes"]), (steps, "equal", [own, own]))
        self.assertIn(f"weight bytes a prefill step of 301 tokens: {own:,} measured", self.text)
        down = next(c for c in books["classes"] if c["names"] == ["ffn_down"])
        self.assertEqual((down["prefill"]["m_p50"], down["decode"]["m_p50"]), (301, 1))
        self.assertEqual((down["prefill"]["matrices"], down["prefill"]["model_matrices"]), ([2, 2], [2, 2]))

    def test_what_the_model_has_not(self):
        trace = self.steps([1] * 3)
        for i in range(4):
            trace.call(77, 99, 5, 0xabc000)
        books = self.books(trace, dense())
        extra = [self.report["operators"][i] for i in books["extra_operators"]]
        self.assertEqual([(op["n"], op["k"], op["model_weights"]) for op in extra], [(77, 99, None)])
        self.assertIn("N 77  K 99  M 5: 4 times", self.text)

    def test_no_step(self):
        trace = Trace()
        for n, k in SHAPES:
            trace.call(n, k, 1, 0)
        books = self.books(trace, dense())
        self.assertEqual((books["decode"]["steps"], books["decode"]["verdict"]), (0, None))
        self.assertIn("books: not closed, since no step was told apart; the whole run read", self.text)

    def test_other_format(self):
        # Unpacked before its product: read as bf16, stored as q8_0.
        tensors = dense("q8_0")
        books = self.books(self.steps([1] * 3), tensors)
        self.assertEqual(books["decode"]["verdict"], "more")
        self.assertTrue(all(c["other_format"] for c in books["classes"]))
        self.assertIn("in another format than these are stored in", self.text)

    def test_parts(self):
        tensors = dense()
        whole = multiplied(tensors)
        for i, part in enumerate((tensors[:7], tensors[7:])):
            pairs = dict(PAIRS if i == 0 else {}, **{"split.count": 2})
            write(self.folder / f"m-0000{i + 1}-of-00002.gguf", pairs, part)
        self.model = self.folder / "m-00002-of-00002.gguf"
        done = self.run_report(self.steps([1] * 3), "--json")
        books = json.loads(done.stdout)["model_books"]
        self.assertEqual((books["decode"]["verdict"], books["decode"]["model_bytes"], books["files_missing"], books["layers"]),
                         ("equal", [whole, whole], 0, LAYERS))
        (self.folder / "m-00001-of-00002.gguf").unlink()
        books = json.loads(self.run_report(self.steps([1] * 3), "--json").stdout)["model_books"]
        self.assertEqual((books["decode"]["verdict"], books["files_missing"]), ("more", 1))

    def test_every_type(self):
        from gguf_file import TYPES
        for kind in TYPES:
            write(self.model, PAIRS, [("blk.0.ffn_up.weight", kind, (8, 256))])
            done = self.run_report(self.steps([1] * 2), "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            books = json.loads(done.stdout)["model_books"]
            self.assertEqual(books["decode"]["model_bytes"], [bytes_of(kind, 8, 256)] * 2, kind)

    def test_what_is_not_multiplied(self):
        tensors = dense() + [("position_embd.weight", "f32", (128, H)), ("rope_freqs.weight", "f32", (32,)),
                             ("blk.0.ssm_conv1d.weight", "f32", (H, 4)), ("blk.1.attn_q.bias", "f32", (H,))]
        books = self.books(self.steps([1] * 3), tensors)
        self.assertEqual(books["decode"]["verdict"], "equal")

    def test_files_that_can_not_be_used(self):
        trace = self.steps([1] * 2)
        for tensors, words in (([("blk.0.ffn_up.weight", 999, (8, 256))], "has a type that this rooftap does not know"),
                               ([("output_norm.weight", "f32", (H,))], "has no matrix in it")):
            write(self.model, PAIRS, tensors)
            done = self.run_report(trace)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(words, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1)
        self.model.write_bytes(self.model.read_bytes()[:50])
        done = self.run_report(trace)
        self.assertEqual(done.returncode, 2)
        self.assertIn("is no whole GGUF header", done.stderr)

    def test_either_option_takes_either_file(self):
        write(self.model, PAIRS, dense())
        trace = self.steps([1] * 3)
        session = self.folder / "session"
        self.run_report(trace)
        as_predict = subprocess.run([ROOFTAP, "report", "--predict", self.model, session], capture_output=True, text=True)
        self.assertIn("in the model: equal", as_predict.stdout)
        config = self.folder / "config.json"
        config.write_text(json.dumps(dict(model_type="llama", hidden_size=H, intermediate_size=F, num_attention_heads=4,
                                          num_key_value_heads=1, num_hidden_layers=LAYERS, vocab_size=V,
                                          tie_word_embeddings=False, torch_dtype="bfloat16")))
        as_model = subprocess.run([ROOFTAP, "report", "--model", self.folder, session], capture_output=True, text=True)
        self.assertIn("books: 100.0 %", as_model.stdout)
        both = subprocess.run([ROOFTAP, "report", "--model", self.model, "--predict", config, session], capture_output=True, text=True)
        self.assertEqual((both.returncode, both.stdout), (2, ""))
        self.assertIn("expected one of the two", both.stderr)
        missing = subprocess.run([ROOFTAP, "report", "--model", self.folder / "none.gguf", session], capture_output=True, text=True)
        self.assertEqual((missing.returncode, missing.stdout), (2, ""))
        self.assertIn("none.gguf: No such file or directory; expected a .gguf file", missing.stderr)
        with_tp = subprocess.run([ROOFTAP, "report", "--model", self.model, "--tp", "2", session], capture_output=True, text=True)
        self.assertEqual((with_tp.returncode, with_tp.stdout), (2, ""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
