# SPDX-License-Identifier: Apache-2.0
"""What rooftap predict should say, worked out a second time from config.json alone: layer by layer, matrix by matrix,
attention pairs counted row by row. Shares nothing with the command: own reading of the configuration, own layouts (from
huggingface/transformers, src/transformers/models/*/modeling_*.py), own arithmetic in whole numbers and fractions."""
from fractions import Fraction as F
from math import ceil

BITS = {"bfloat16": 16, "float16": 16, "float32": 32}


class Matrix:
    """rows of activation x (inputs -> outputs); split: how tensor parallelism divides it."""

    def __init__(self, name, outputs, inputs, split, bias=False, linear=True, kind="dense"):
        self.name, self.outputs, self.inputs, self.split = name, outputs, inputs, split
        self.bias, self.linear, self.kind = bias, linear, kind


class Model:
    def __init__(self, config):
        text = config.get("text_config", config)
        self.c = c = {**config, **text}
        self.kind = "gemma3_text" if c["model_type"] == "gemma3" else c["model_type"]
        self.hidden, self.layers = c["hidden_size"], c["num_hidden_layers"]
        gemma3 = self.kind == "gemma3_text"
        self.heads = c.get("num_attention_heads", 8 if gemma3 else None)
        self.kv_heads = c.get("num_key_value_heads", 4 if gemma3 else self.heads)
        self.vocab = c.get("vocab_size", 262208 if gemma3 else None)
        fallback = 256 if self.kind.startswith("gemma") else self.hidden // self.heads
        self.head_dim = c.get("head_dim", fallback)
        self.value_dim = self.head_dim
        self.mla = "kv_lora_rank" in c
        if self.mla:
            self.head_dim = c["qk_nope_head_dim"] + c["qk_rope_head_dim"]
            self.value_dim = c["v_head_dim"]
            self.kv_heads = self.heads
        self.tied = c.get("tie_word_embeddings", self.kind.startswith("gemma"))
        self.experts = c.get("num_local_experts") or c.get("num_experts") or c.get("n_routed_experts") or 0
        self.top_k = c.get("num_experts_per_tok", 0) if self.experts else 0
        self.bits = BITS[c.get("torch_dtype", "bfloat16")]

    def is_sparse(self, layer):
        if self.kind.startswith(("deepseek", "kimi")):
            return layer >= self.c["first_k_dense_replace"]
        return self.experts > 0

    def window(self, layer):
        """Keys that a row sees, its own included; None: all."""
        c = self.c
        if self.kind in ("mistral", "mixtral", "phi3", "phimoe"):
            return c["sliding_window"]
        if self.kind == "gemma2":
            return c["sliding_window"] if layer % 2 == 0 else None
        if self.kind == "gemma3_text":
            return None if layer % 6 == 5 else c["sliding_window"]
        if self.kind == "gpt_oss":
            return c["sliding_window"] if c["layer_types"][layer] == "sliding_attention" else None
        return None

    def attention(self):
        h, q, kv = self.hidden, self.heads * self.head_dim, self.kv_heads * self.head_dim
        if self.mla:
            rank, rope = self.c["kv_lora_rank"], self.c["qk_rope_head_dim"]
            unfolded = self.heads * (self.c["qk_nope_head_dim"] + self.value_dim)
            down = self.c.get("q_lora_rank")
            first = ([Matrix("q_a", down, h, "none"), Matrix("q_b", q, down, "n")] if down else [Matrix("q", q, h, "n")])
            return first + [Matrix("kv_a", rank + rope, h, "none"), Matrix("kv_b", unfolded, rank, "n", kind="kv_b"),
                            Matrix("o", h, self.heads * self.value_dim, "k")]
        everything = self.kind in ("phi", "gpt_oss", "phimoe")
        bias = everything or self.kind in ("qwen2", "qwen2_moe")
        if self.kind == "phi3":
            return [Matrix("qkv", q + 2 * kv, h, "qkv"), Matrix("o", h, q, "k")]
        return [Matrix("q", q, h, "n", bias), Matrix("k", kv, h, "kv", bias), Matrix("v", kv, h, "kv", bias),
                Matrix("o", h, q, "k", everything)]

    def ffn(self, layer):
        h, c = self.hidden, self.c
        if not self.is_sparse(layer):
            wide = c["intermediate_size"]
            if self.kind == "phi":
                return [Matrix("fc1", wide, h, "n", True), Matrix("fc2", h, wide, "k", True)]
            if self.kind == "phi3":
                return [Matrix("gate_up", 2 * wide, h, "n"), Matrix("down", h, wide, "k")]
            return [Matrix("gate", wide, h, "n"), Matrix("up", wide, h, "n"), Matrix("down", h, wide, "k")]
        wide = c.get("moe_intermediate_size", c["intermediate_size"])
        oss = self.kind == "gpt_oss"
        out = [Matrix("router", self.experts, h, "none", oss, linear=False)]
        ups = [Matrix("gate_up", 2 * wide, h, "n", True, kind="up")] if oss else [
            Matrix("gate", wide, h, "n", kind="up"), Matrix("up", wide, h, "n", kind="up")]
        out += ups + [Matrix("down", h, wide, "k", oss, kind="down")]
        shared = c.get("shared_expert_intermediate_size", wide * (c.get("n_shared_experts") or 0))
        if shared:
            out += [Matrix("sg", shared, h, "n"), Matrix("su", shared, h, "n"), Matrix("sd", h, shared, "k")]
        if self.kind == "qwen2_moe":
            out.append(Matrix("shared_gate", 1, h, "none", linear=False))
        return out

    def vectors(self, layer):
        """Parameters of a layer that no matrix product has."""
        norms = {"gemma2": 4, "gemma3_text": 4, "phi": 1}.get(self.kind, 2)
        count = norms * self.hidden * (2 if self.kind in ("phi", "phimoe") else 1)
        if self.kind in ("qwen3", "qwen3_moe", "gemma3_text"):
            count += 2 * self.head_dim
        if self.mla:
            count += self.c["kv_lora_rank"] + (self.c.get("q_lora_rank") or 0)
        if self.kind == "gpt_oss":
            count += self.heads
        if self.kind in ("deepseek_v3", "kimi_k2") and self.is_sparse(layer):
            count += self.experts
        return count

    def head(self):
        return Matrix("lm_head", self.vocab, self.hidden, "vocab", self.kind == "phi" or self.c.get("lm_head_bias", False),
                      linear=False)

    def final_vectors(self):
        return self.hidden * (2 if self.kind in ("phi", "phimoe") else 1)

    def parameters(self):
        total = self.vocab * self.hidden * (1 if self.tied else 2) + self.final_vectors()
        total += self.vocab if self.head().bias else 0
        for layer in range(self.layers):
            total += self.vectors(layer)
            for m in self.attention() + self.ffn(layer):
                total += (m.outputs * m.inputs + (m.outputs if m.bias else 0)) * (
                    self.experts if m.kind in ("up", "down") else 1)
        return total


class Prediction:
    """peaks: FLOP/s by type; bandwidth in bytes/s. weights: (bits, scale bits, group) for linear layers, or None."""

    def __init__(self, model, batch, prompt, context, chunk=0, weights=None, kv_bits=None, tp=1, block=None,
                 tiles=False, experts_only=False, operand_bits=None, peak=989.5e12, operand_peak=None, bandwidth=3350e9):
        self.m, self.batch, self.prompt, self.context, self.chunk, self.tp = model, batch, prompt, context, chunk, tp
        self.weights, self.kv_bits, self.block, self.experts_only = weights, kv_bits or model.bits, block, experts_only
        self.tiles = tiles
        self.operand_bits, self.peak, self.bandwidth = operand_bits or model.bits, peak, bandwidth
        self.operand_peak = operand_peak or peak

    def local(self, m):
        n, k, tp = m.outputs, m.inputs, self.tp
        kv_local = max(1, self.m.kv_heads // tp) * self.m.head_dim
        if m.split == "kv":
            n = kv_local
        elif m.split == "qkv":
            n = self.m.heads // tp * self.m.head_dim + 2 * kv_local
        elif m.split == "vocab":
            n = ceil(n / tp)
        elif m.split == "n":
            n //= tp
        elif m.split == "k":
            k //= tp
        return n, k

    def quantised(self, m):
        return m.linear and (not self.experts_only or m.kind in ("up", "down"))

    def stored(self, m, n, k):
        """Bytes of one such weight."""
        if self.quantised(m) and self.block:
            return F(n * k) + 4 * ceil(n / self.block) * ceil(k / self.block)
        if self.quantised(m) and self.weights:
            bits, scale, group = self.weights
            return F(n * k * bits, 8) + F(n * ceil(k / group) * scale, 8)
        return F(n * k * self.m.bits, 8)

    def left_bits(self, m):
        return self.operand_bits if self.quantised(m) else self.m.bits

    def calls(self, decode):
        """(tokens of a pass, times)"""
        if decode:
            return [(self.batch, 1)]
        if not self.chunk:
            return [(self.batch * self.prompt, 1)]
        out = [(self.chunk, self.batch * (self.prompt // self.chunk))] if self.prompt >= self.chunk else []
        return out + ([(self.prompt % self.chunk, self.batch)] if self.prompt % self.chunk else [])

    def product(self, m, rows):
        """(flops, at least, at most, weight at least, weight at most) of one call"""
        n, k = self.local(m)
        weight, bits = self.stored(m, n, k), self.m.bits
        bias = F(n * bits, 8) if m.bias else 0
        left, out = F(k * self.left_bits(m), 8), F(n * bits, 8)
        if self.quantised(m) and self.block and self.tiles:  # a row's scales, one for as many as a block is wide
            left += 4 * ceil(k / self.block)
        if m.kind not in ("up", "down"):
            total = weight + bias + rows * (left + out)
            return 2 * rows * n * k, total, total, weight, weight
        top, most = self.m.top_k, min(self.m.experts, rows * self.m.top_k)
        routed = rows * top
        few = top * (weight + bias) + (rows * left + routed * out if m.kind == "up" else routed * left + rows * out)
        return 2 * routed * n * k, few, most * (weight + bias) + routed * (left + out), top * weight, most * weight

    def heads_product(self, m, rows):
        """kv_b absorbed: two products a head, in the activations' type whatever the weights are stored in."""
        heads, rank = self.m.heads // self.tp, self.m.c["kv_lora_rank"]
        for n, k in ((rank, self.m.c["qk_nope_head_dim"]), (self.m.value_dim, rank)):
            weight = heads * F(n * k * self.m.bits, 8)
            total = weight + heads * rows * F((k + n) * self.m.bits, 8)
            yield 2 * heads * rows * n * k, total, total, weight, weight

    def attention_call(self, decode, window, queries, keys):
        """(flops, bytes, kv bytes) of one sequence"""
        m = self.m
        heads, kv_heads, d, dv, kv_bits = m.heads // self.tp, max(1, m.kv_heads // self.tp), m.head_dim, m.value_dim, self.kv_bits
        shared = m.mla and decode
        if shared:
            kv_heads, dv, d = 1, m.c["kv_lora_rank"], m.c["kv_lora_rank"] + m.c["qk_rope_head_dim"]
        elif m.mla:
            kv_bits = m.bits
        seen = [min(keys - queries + i + 1, window or keys) for i in range(queries)]
        read = min(keys, (window or keys) + queries - 1)
        kv = F(kv_heads * read * (d + (0 if shared else dv)), 8) * F(kv_bits)
        return 2 * heads * (d + dv) * sum(seen), kv + F(heads * queries * (d + dv) * m.bits, 8), kv

    def attention_calls(self, decode):
        """(queries, keys, sequences, times a layer)"""
        if decode:
            return [(1, self.context, self.batch, 1)]
        if not self.chunk:
            return [(self.prompt, self.prompt, self.batch, 1)]
        ends = list(range(self.chunk, self.prompt + 1, self.chunk))
        out = [(self.chunk, end, 1, self.batch) for end in ends]
        return out + ([(self.prompt % self.chunk, self.prompt, 1, self.batch)] if self.prompt % self.chunk else [])

    def rows_of_layer(self, layer, decode):
        """(peak, times, call) of all products of a layer"""
        for m in self.m.attention() + self.m.ffn(layer):
            peak = self.operand_peak if self.quantised(m) else self.peak
            if m.kind == "kv_b" and decode:
                for call in self.heads_product(m, self.batch):
                    yield self.peak, 1, call
            elif m.kind == "kv_b" and self.chunk:
                for _, end, _, times in self.attention_calls(False):
                    yield peak, times, self.product(m, end)
            else:
                for rows, times in self.calls(decode):
                    yield peak, times, self.product(m, rows)

    def step(self, decode):
        sums = dict(flops=0, low=F(0), high=F(0), weight_low=F(0), weight_high=F(0), kv=F(0), time_low=0.0, time_high=0.0)

        def add(peak, times, flops, low, high, weight_low, weight_high, kv=0):
            for key, value in (("flops", flops), ("low", low), ("high", high), ("weight_low", weight_low),
                               ("weight_high", weight_high), ("kv", kv)):
                sums[key] += times * value
            sums["time_low"] += times * max(flops / peak, float(low) / self.bandwidth)
            sums["time_high"] += times * max(flops / peak, float(high) / self.bandwidth)

        cache = {}
        for layer in range(self.m.layers):
            key = self.m.is_sparse(layer)
            if key not in cache:
                cache[key] = list(self.rows_of_layer(layer, decode))
            for peak, times, call in cache[key]:
                add(peak, times, *call)
            window = ("window", self.m.window(layer))
            if window not in cache:
                cache[window] = [(sequences, times, self.attention_call(decode, window[1], queries, keys))
                                 for queries, keys, sequences, times in self.attention_calls(decode)]
            for sequences, times, (flops, bytes_, kv) in cache[window]:
                add(self.peak, times, sequences * flops, sequences * bytes_, sequences * bytes_, 0, 0, sequences * kv)
        chunked = self.chunk and not decode
        add(self.peak, self.batch if chunked else 1, *self.product(self.m.head(), 1 if chunked else self.batch))
        return sums

    def resident(self):
        norms = self.m.final_vectors() + sum(self.m.vectors(layer) for layer in range(self.m.layers))
        total = F(norms * self.m.bits, 8) + (1 if self.m.tied else 2) * F(
            ceil(self.m.vocab / self.tp) * self.m.hidden * self.m.bits, 8)
        if self.m.head().bias:
            total += F(ceil(self.m.vocab / self.tp) * self.m.bits, 8)
        for layer in range(self.m.layers):
            for m in self.m.attention() + self.m.ffn(layer):
                n, k = self.local(m)
                each = self.stored(m, n, k) + (F(n * self.m.bits, 8) if m.bias else 0)
                total += each * (self.m.experts if m.kind in ("up", "down") else 1)
        return total

    def kv_of_sequence(self):
        tokens, m = max(self.prompt, self.context), self.m
        elements = (m.c["kv_lora_rank"] + m.c["qk_rope_head_dim"] if m.mla
                    else max(1, m.kv_heads // self.tp) * (m.head_dim + m.value_dim))
        return sum(min(tokens, m.window(layer) or tokens) for layer in range(m.layers)) * F(elements, 8) * F(self.kv_bits)
