#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a GGUF of random weights, small enough for a test, of the architecture `llama`; prints what is in it as JSON.

    make_model.py OUT.gguf [--type q4_K] [--layers 2] [--embedding 512] [--heads 4] [--heads-kv 2] [--head-dim 128]
        [--feed-forward 1536] [--vocabulary 512] [--experts 0] [--experts-used 2] [--context 8192] [--tied] [--seed 1]

The JSON has each matrix with its name, n (rows), k (columns), type, bytes of one matrix and how many there are of it
(`experts`, 1 elsewhere): arithmetic of its own, from the block sizes below (ggml-common.h of llama.cpp), which tests hold
a report against. A matrix that the CPU keeps (token_embd, looked up and not multiplied) has `multiplied`: false."""
import argparse
import json
import sys

try:
    import gguf
    import numpy
except ImportError as error:
    sys.exit(f"make_model.py: {error}; fetch.sh gets what is needed, and prints the PYTHONPATH")

# Elements and bytes of a block; where its 16-bit scales lie, with a size that keeps products finite.
BLOCKS = {"f32": (1, 4, {}), "f16": (1, 2, {}), "bf16": (1, 2, {}),
          "q8_0": (32, 34, {0: 2e-4}), "q4_0": (32, 18, {0: 4e-3}),
          "q4_K": (256, 144, {0: 1e-4, 2: 1e-3}), "q5_K": (256, 176, {0: 5e-5, 2: 1e-3}), "q6_K": (256, 210, {208: 2e-5})}
SPECIAL_TOKENS = ["<unk>", "<s>", "</s>"]


def matrix_bytes(kind, n, k):
    elements, size, _ = BLOCKS[kind]
    if k % elements:
        sys.exit(f"make_model.py: rows of {k} elements are not whole blocks of {elements} of {kind}")
    return n * (k // elements) * size


class Model:
    def __init__(self, options):
        self.options = options
        self.random = numpy.random.default_rng(options.seed)
        self.writer = gguf.GGUFWriter(options.out, "llama")
        self.matrices = []

    def norm(self, name, length):
        self.writer.add_tensor(name, numpy.ones(length, numpy.float32))

    def values(self, kind, shape):
        numbers = (self.random.standard_normal(shape, numpy.float32) * (0.5 / shape[-1] ** 0.5)).astype(numpy.float32)
        if kind == "bf16":  # the upper half of a float
            return (numbers.view(numpy.uint32) >> 16).astype(numpy.uint16).view(numpy.uint8)
        return numbers.astype(numpy.float16) if kind == "f16" else numbers

    def blocks(self, kind, shape):
        elements, size, scales = BLOCKS[kind]
        count = int(numpy.prod(shape)) // elements
        filled = self.random.integers(0, 256, (count, size), dtype=numpy.uint8)
        for offset, scale in scales.items():
            filled[:, offset:offset + 2] = numpy.frombuffer(numpy.float16(scale).tobytes(), numpy.uint8)
        return filled.reshape(*shape[:-1], shape[-1] // elements * size)

    def matrix(self, name, n, k, layer=None, experts=1, kind=None, multiplied=True):
        kind = kind or self.options.type
        shape = (experts, n, k) if experts > 1 else (n, k)
        plain = kind in ("f32", "f16")
        data = self.values(kind, shape) if plain or kind == "bf16" else self.blocks(kind, shape)
        raw = None if plain else gguf.GGMLQuantizationType[kind.upper()]
        self.writer.add_tensor(name, data, raw_dtype=raw)
        size = matrix_bytes(kind, n, k)
        assert data.nbytes == size * experts, f"{name}: {data.nbytes} bytes are written, {size * experts} expected"
        self.matrices.append({"name": name, "layer": layer, "n": n, "k": k, "type": kind, "bytes": size,
                              "experts": experts, "multiplied": multiplied})

    def header(self):
        options, writer = self.options, self.writer
        writer.add_name(f"random {options.type}")
        writer.add_context_length(options.context)
        writer.add_embedding_length(options.embedding)
        writer.add_block_count(options.layers)
        writer.add_feed_forward_length(options.feed_forward)
        writer.add_head_count(options.heads)
        writer.add_head_count_kv(options.heads_kv)
        writer.add_key_length(options.head_dim)
        writer.add_value_length(options.head_dim)
        writer.add_rope_dimension_count(options.head_dim)
        writer.add_layer_norm_rms_eps(1e-5)
        writer.add_vocab_size(options.vocabulary)
        if options.experts:
            writer.add_expert_count(options.experts)
            writer.add_expert_used_count(options.experts_used)

    def vocabulary(self):
        """SentencePiece's kind with a token for each byte, so that any text can be told in tokens."""
        kinds = gguf.TokenType
        tokens = SPECIAL_TOKENS + [f"<0x{byte:02X}>" for byte in range(256)]
        types = [kinds.UNKNOWN, kinds.CONTROL, kinds.CONTROL] + [kinds.BYTE] * 256
        while len(tokens) < self.options.vocabulary:
            types.append(kinds.NORMAL)
            tokens.append(f"\u2581w{len(tokens)}")
        self.writer.add_tokenizer_model("llama")
        self.writer.add_token_list(tokens)
        self.writer.add_token_scores([-float(i) for i in range(len(tokens))])
        self.writer.add_token_types([int(kind) for kind in types])
        self.writer.add_bos_token_id(1)
        self.writer.add_eos_token_id(2)
        self.writer.add_unk_token_id(0)
        self.writer.add_add_bos_token(True)

    def layer(self, index):
        options, prefix = self.options, f"blk.{index}."
        rows, rows_kv = options.heads * options.head_dim, options.heads_kv * options.head_dim
        self.norm(prefix + "attn_norm.weight", options.embedding)
        self.matrix(prefix + "attn_q.weight", rows, options.embedding, index)
        self.matrix(prefix + "attn_k.weight", rows_kv, options.embedding, index)
        self.matrix(prefix + "attn_v.weight", rows_kv, options.embedding, index)
        self.matrix(prefix + "attn_output.weight", options.embedding, rows, index)
        self.norm(prefix + "ffn_norm.weight", options.embedding)
        ending, experts = ".weight", 1
        if options.experts:
            self.matrix(prefix + "ffn_gate_inp.weight", options.experts, options.embedding, index, kind="f32")
            ending, experts = "_exps.weight", options.experts
        self.matrix(prefix + "ffn_gate" + ending, options.feed_forward, options.embedding, index, experts)
        self.matrix(prefix + "ffn_up" + ending, options.feed_forward, options.embedding, index, experts)
        self.matrix(prefix + "ffn_down" + ending, options.embedding, options.feed_forward, index, experts)

    def write(self):
        options = self.options
        self.header()
        self.vocabulary()
        # Tied: the lookup stays on the CPU, and a copy on the GPU is what the output is multiplied with.
        self.matrix("token_embd.weight", options.vocabulary, options.embedding, multiplied=options.tied)
        for index in range(options.layers):
            self.layer(index)
        self.norm("output_norm.weight", options.embedding)
        if not options.tied:
            self.matrix("output.weight", options.vocabulary, options.embedding)
        self.writer.write_header_to_file()
        self.writer.write_kv_data_to_file()
        self.writer.write_tensors_to_file()
        self.writer.close()


def read_options():
    parser = argparse.ArgumentParser(description="Writes a small GGUF of random weights.")
    parser.add_argument("out")
    parser.add_argument("--type", default="q4_K", choices=BLOCKS)
    for name, value in (("layers", 2), ("embedding", 512), ("heads", 4), ("heads-kv", 2), ("head-dim", 0),
                        ("feed-forward", 1536), ("vocabulary", 512), ("experts", 0), ("experts-used", 2),
                        ("context", 8192), ("seed", 1)):
        parser.add_argument("--" + name, type=int, default=value)
    parser.add_argument("--tied", action="store_true")
    options = parser.parse_args()
    options.head_dim = options.head_dim or options.embedding // options.heads
    if options.vocabulary < len(SPECIAL_TOKENS) + 256:
        parser.error("--vocabulary: at least 259, special tokens and one for each byte")
    return options


def main():
    options = read_options()
    model = Model(options)
    model.write()
    described = {name: getattr(options, name) for name in ("type", "layers", "embedding", "heads", "heads_kv", "head_dim",
                                                           "feed_forward", "vocabulary", "experts", "experts_used", "tied")}
    print(json.dumps({**described, "matrices": model.matrices}, indent=1))


if __name__ == "__main__":
    main()
