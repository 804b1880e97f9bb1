#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_checkpoint.py ROOFTAP: checkpoints written here, tensor by tensor, against a small model's config.json: equal, and with
one thing wrong at a time. A mismatch is loud: in the output, on standard error and in the exit status."""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

ROOFTAP = sys.argv[1]
FOLDER = pathlib.Path(tempfile.mkdtemp())
FAULTS = []
LLAMA = dict(model_type="llama", hidden_size=64, intermediate_size=96, num_attention_heads=4, num_key_value_heads=2,
             num_hidden_layers=2, vocab_size=100, tie_word_embeddings=False, torch_dtype="bfloat16")
MIXTRAL = dict(LLAMA, model_type="mixtral", num_local_experts=3, num_experts_per_tok=2)
DEEPSEEK = dict(model_type="deepseek_v3", hidden_size=64, intermediate_size=96, moe_intermediate_size=32, num_attention_heads=4,
                num_hidden_layers=2, vocab_size=100, n_routed_experts=3, n_shared_experts=1, num_experts_per_tok=2,
                first_k_dense_replace=1, q_lora_rank=16, kv_lora_rank=8, qk_nope_head_dim=6, qk_rope_head_dim=4, v_head_dim=5,
                tie_word_embeddings=False, torch_dtype="bfloat16")


def llama_tensors(config):
    h, f, kv = 64, 96, 32
    out = {"model.embed_tokens.weight": [100, h], "lm_head.weight": [100, h], "model.norm.weight": [h]}
    for i in range(config["num_hidden_layers"]):
        p = f"model.layers.{i}."
        out |= {p + "input_layernorm.weight": [h], p + "post_attention_layernorm.weight": [h],
                p + "self_attn.q_proj.weight": [h, h], p + "self_attn.k_proj.weight": [kv, h],
                p + "self_attn.v_proj.weight": [kv, h], p + "self_attn.o_proj.weight": [h, h]}
        if config["model_type"] == "mixtral":
            out[p + "block_sparse_moe.gate.weight"] = [3, h]
            for e in range(3):
                q = f"{p}block_sparse_moe.experts.{e}."
                out |= {q + "w1.weight": [f, h], q + "w2.weight": [h, f], q + "w3.weight": [f, h]}
        else:
            out |= {p + "mlp.gate_proj.weight": [f, h], p + "mlp.up_proj.weight": [f, h], p + "mlp.down_proj.weight": [h, f]}
    return out


def deepseek_tensors(config):
    h = 64
    out = {"model.embed_tokens.weight": [100, h], "lm_head.weight": [100, h], "model.norm.weight": [h]}
    for i in range(2):
        p = f"model.layers.{i}."
        a = p + "self_attn."
        out |= {p + "input_layernorm.weight": [h], p + "post_attention_layernorm.weight": [h],
                a + "q_a_proj.weight": [16, h], a + "q_a_layernorm.weight": [16], a + "q_b_proj.weight": [40, 16],
                a + "kv_a_proj_with_mqa.weight": [12, h], a + "kv_a_layernorm.weight": [8], a + "kv_b_proj.weight": [44, 8],
                a + "o_proj.weight": [h, 20]}
        parts = [("mlp.", 96)] if i == 0 else [(f"mlp.experts.{e}.", 32) for e in range(3)] + [("mlp.shared_experts.", 32)]
        for part, f in parts:
            out |= {p + part + "gate_proj.weight": [f, h], p + part + "up_proj.weight": [f, h], p + part + "down_proj.weight": [h, f]}
        if i:
            out |= {p + "mlp.gate.weight": [3, h], p + "mlp.gate.e_score_correction_bias": [3]}
    return out


GPT_OSS = dict(model_type="gpt_oss", hidden_size=64, intermediate_size=96, num_attention_heads=4, num_key_value_heads=2, head_dim=16,
               num_hidden_layers=2, vocab_size=100, num_local_experts=3, num_experts_per_tok=2, torch_dtype="bfloat16",
               tie_word_embeddings=False)


def gpt_oss_tensors(config):
    h, f = 64, 96
    out = {"model.embed_tokens.weight": [100, h], "lm_head.weight": [100, h], "model.norm.weight": [h]}
    for i in range(2):
        p = f"model.layers.{i}."
        out |= {p + "input_layernorm.weight": [h], p + "post_attention_layernorm.weight": [h], p + "self_attn.sinks": [4],
                p + "mlp.router.weight": [3, h], p + "mlp.router.bias": [3],
                p + "mlp.experts.gate_up_proj": [3, h, 2 * f], p + "mlp.experts.gate_up_proj_bias": [3, 2 * f],
                p + "mlp.experts.down_proj": [3, f, h], p + "mlp.experts.down_proj_bias": [3, h]}
        for name, rows, columns in (("q", h, h), ("k", 32, h), ("v", 32, h), ("o", h, h)):
            out |= {f"{p}self_attn.{name}_proj.weight": [rows, columns], f"{p}self_attn.{name}_proj.bias": [rows]}
    return out


def gpt_oss_gguf():
    """As llama.cpp's conversion writes it: gate and up apart."""
    h, f = 64, 96
    out = {"token_embd.weight": [100, h], "output.weight": [100, h], "output_norm.weight": [h]}
    for i in range(2):
        p = f"blk.{i}."
        out |= {p + "attn_norm.weight": [h], p + "post_attention_norm.weight": [h], p + "attn_sinks.weight": [4],
                p + "ffn_gate_inp.weight": [3, h], p + "ffn_gate_inp.bias": [3],
                p + "ffn_gate_exps.weight": [3, f, h], p + "ffn_gate_exps.bias": [3, f],
                p + "ffn_up_exps.weight": [3, f, h], p + "ffn_up_exps.bias": [3, f],
                p + "ffn_down_exps.weight": [3, h, f], p + "ffn_down_exps.bias": [3, h]}
        for name, rows in (("q", h), ("k", 32), ("v", 32), ("output", h)):
            out |= {f"{p}attn_{name}.weight": [rows, h], f"{p}attn_{name}.bias": [rows]}
    return out


H = 64
SMALL = dict(hidden_size=H, intermediate_size=96, num_attention_heads=4, num_key_value_heads=2, num_hidden_layers=2, vocab_size=100,
             torch_dtype="bfloat16", tie_word_embeddings=False)
ATTENTION = [("self_attn.q_proj.weight", "attn_q.weight", [H, H]), ("self_attn.k_proj.weight", "attn_k.weight", [32, H]),
             ("self_attn.v_proj.weight", "attn_v.weight", [32, H])]
QKV_BIASES = [("self_attn.q_proj.bias", "attn_q.bias", [H]), ("self_attn.k_proj.bias", "attn_k.bias", [32]),
              ("self_attn.v_proj.bias", "attn_v.bias", [32])]
OUTPUT = [("self_attn.o_proj.weight", "attn_output.weight", [H, H])]
NORMS = [("input_layernorm.weight", "attn_norm.weight", [H]), ("post_attention_layernorm.weight", "ffn_norm.weight", [H])]
FFN = [("mlp.gate_proj.weight", "ffn_gate.weight", [96, H]), ("mlp.up_proj.weight", "ffn_up.weight", [96, H]),
       ("mlp.down_proj.weight", "ffn_down.weight", [H, 96])]
ENDS = [("model.embed_tokens.weight", "token_embd.weight", [100, H]), ("model.norm.weight", "output_norm.weight", [H])]
HEAD = [("lm_head.weight", "output.weight", [100, H])]
QK_NORMS = [("self_attn.q_norm.weight", "attn_q_norm.weight", [16]), ("self_attn.k_norm.weight", "attn_k_norm.weight", [16])]
# configuration; name of the first part; tensors of a layer and besides, as (Hugging Face, GGUF, shape); {} is an expert
OTHERS = [
    (dict(SMALL, model_type="qwen2"), "model.", ATTENTION + QKV_BIASES + OUTPUT + NORMS + FFN, ENDS + HEAD),
    (dict(SMALL, model_type="qwen3", head_dim=16), "model.", ATTENTION + QK_NORMS + OUTPUT + NORMS + FFN, ENDS + HEAD),
    (dict(SMALL, model_type="gemma2", head_dim=16, tie_word_embeddings=True), "model.",
     ATTENTION + OUTPUT + FFN + [("input_layernorm.weight", "attn_norm.weight", [H]),
                                 ("post_attention_layernorm.weight", "post_attention_norm.weight", [H]),
                                 ("pre_feedforward_layernorm.weight", "ffn_norm.weight", [H]),
                                 ("post_feedforward_layernorm.weight", "post_ffw_norm.weight", [H])], ENDS),
    (dict(SMALL, model_type="phi3"), "model.",
     OUTPUT + NORMS + [("self_attn.qkv_proj.weight", "attn_qkv.weight", [128, H]), ("mlp.gate_up_proj.weight", "ffn_up.weight", [192, H]),
                       ("mlp.down_proj.weight", "ffn_down.weight", [H, 96])], ENDS + HEAD),
    (dict(SMALL, model_type="phi"), "model.",
     ATTENTION + QKV_BIASES + [("self_attn.dense.weight", "attn_output.weight", [H, H]), ("self_attn.dense.bias", "attn_output.bias", [H]),
                               ("mlp.fc1.weight", "ffn_up.weight", [96, H]), ("mlp.fc1.bias", "ffn_up.bias", [96]),
                               ("mlp.fc2.weight", "ffn_down.weight", [H, 96]), ("mlp.fc2.bias", "ffn_down.bias", [H]),
                               ("input_layernorm.weight", "attn_norm.weight", [H]), ("input_layernorm.bias", "attn_norm.bias", [H])],
     ENDS[:1] + HEAD + [("lm_head.bias", "output.bias", [100]), ("model.final_layernorm.weight", "output_norm.weight", [H]),
                        ("model.final_layernorm.bias", "output_norm.bias", [H])]),
    (dict(SMALL, model_type="qwen2_moe", num_experts=3, num_experts_per_tok=2, moe_intermediate_size=32,
          shared_expert_intermediate_size=48), "model.",
     ATTENTION + QKV_BIASES + OUTPUT + NORMS + [
         ("mlp.gate.weight", "ffn_gate_inp.weight", [3, H]), ("mlp.shared_expert_gate.weight", "ffn_gate_inp_shexp.weight", [1, H]),
         ("mlp.experts.{}.gate_proj.weight", "ffn_gate_exps.weight", [32, H]), ("mlp.experts.{}.up_proj.weight", "ffn_up_exps.weight", [32, H]),
         ("mlp.experts.{}.down_proj.weight", "ffn_down_exps.weight", [H, 32]),
         ("mlp.shared_expert.gate_proj.weight", "ffn_gate_shexp.weight", [48, H]),
         ("mlp.shared_expert.up_proj.weight", "ffn_up_shexp.weight", [48, H]),
         ("mlp.shared_expert.down_proj.weight", "ffn_down_shexp.weight", [H, 48])], ENDS + HEAD),
]


def named(layer, ends, prefix):
    """The same tensors under Hugging Face's and GGUF's names."""
    huggingface, gguf_ones = {h: shape for h, _, shape in ends}, {g: shape for _, g, shape in ends}
    for i in range(2):
        for h, g, shape in layer:
            if "{}" in h:
                huggingface |= {f"{prefix}layers.{i}.{h.format(e)}": shape for e in range(3)}
                gguf_ones[f"blk.{i}.{g}"] = [3, *shape]
            else:
                huggingface[f"{prefix}layers.{i}.{h}"] = shape
                # a matrix of one row is a vector there
                gguf_ones[f"blk.{i}.{g}"] = shape[1:] if len(shape) == 2 and shape[0] == 1 else shape
    return huggingface, gguf_ones


def elements(shape):
    product = 1
    for size in shape:
        product *= size
    return product


def safetensors(tensors, types=None):
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, shape in tensors.items():
        kind = (types or {}).get(name, "BF16")
        size = elements(shape) * {"BF16": 2, "F32": 4, "I32": 4, "F8_E4M3": 1, "U8": 1}[kind]
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text  # readers of headers need no more


GGUF = {"model.embed_tokens": "token_embd", "lm_head": "output", "model.norm": "output_norm",
        "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "self_attn.q_proj": "attn_q",
        "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
        "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
        "block_sparse_moe.gate": "ffn_gate_inp"}
EXPERTS = {"w1": "ffn_gate_exps", "w2": "ffn_down_exps", "w3": "ffn_up_exps"}


def gguf_names(tensors):
    out = {}
    for name, shape in tensors.items():
        parts = name.removesuffix(".weight").split(".")
        if "experts" in parts:
            out[f"blk.{parts[2]}.{EXPERTS[parts[-1]]}.weight"] = [3, *shape]
        elif parts[1:2] == ["layers"]:
            out[f"blk.{parts[2]}.{GGUF['.'.join(parts[3:])]}.weight"] = shape
        else:
            out[GGUF[".".join(parts)] + ".weight"] = shape
    return out


def gguf(tensors, kind=1):
    def text(value):
        return struct.pack("<Q", len(value)) + value.encode()
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), 3)
    out += text("general.architecture") + struct.pack("<I", 8) + text("llama")
    out += text("tokenizer.tokens") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("bc")
    out += text("general.alignment") + struct.pack("<II", 4, 32)
    for name, shape in tensors.items():
        out += text(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", size) for size in reversed(shape))
        out += struct.pack("<IQ", kind, 0)
    return out


def run(config, name, data):
    (FOLDER / "config.json").write_text(json.dumps(config))
    (FOLDER / name).write_bytes(data)
    out = subprocess.run([ROOFTAP, "predict", "--config", FOLDER, "--gpu", "h100-sxm", "--checkpoint", FOLDER / name, "--json"],
                         capture_output=True, text=True)
    return out, json.loads(out.stdout)["checkpoint"] if out.stdout else None


def expect(what, config, name, data, verdict, **values):
    """values: of the JSON; `told` is a text that standard error and the differences have."""
    out, found = run(config, name, data)
    told = values.pop("told", None)
    wrong = {key: (found or {}).get(key) for key in values if (found or {}).get(key) != values[key]}
    loud = (out.returncode == 1 and len(out.stderr.splitlines()) == 1) if verdict == "different" else (
        out.returncode == 0 and not out.stderr)
    if not found or found["verdict"] != verdict or wrong or not loud or (
            told and (told not in out.stderr or not any(told in text for text in found["differences"]))):
        FAULTS.append(f"{what}: status {out.returncode}, {found}, {wrong}, {out.stderr.strip()}")


def refuse(what, config, name, data, *words):
    out, _ = run(config, name, data)
    if out.returncode != 2 or out.stdout or len(out.stderr.splitlines()) != 1 or not all(word in out.stderr for word in words):
        FAULTS.append(f"{what}: status {out.returncode}, {out.stderr.strip()}")


def total(tensors):
    return sum(elements(shape) for shape in tensors.values())


def whole_files():
    for config, make in ((LLAMA, llama_tensors), (MIXTRAL, llama_tensors), (DEEPSEEK, deepseek_tensors),
                         (GPT_OSS, gpt_oss_tensors)):
        kind, tensors = config["model_type"], make(config)
        expect(f"{kind}, equal", config, "a.safetensors", safetensors(tensors), "equal", parameters=total(tensors),
               expected_parameters=total(tensors), tensors=len(tensors))
        for name in tensors:  # each tensor, once away and once of another shape
            rest = {n: s for n, s in tensors.items() if n != name}
            expect(f"{kind} without {name}", config, "a.safetensors", safetensors(rest), "different", missing=1)
            other = dict(tensors, **{name: [tensors[name][0] + 1, *tensors[name][1:]]})
            expect(f"{kind}, {name} larger", config, "a.safetensors", safetensors(other), "different", wrong_shape=1, told=name,
                   parameters=total(other))
        if make == llama_tensors:
            names = gguf_names(tensors)
            expect(f"{kind} as GGUF", config, "a.gguf", gguf(names), "equal", parameters=total(tensors))
            for name in names:
                other = dict(names, **{name: [names[name][0] + 1, *names[name][1:]]})
                expect(f"{kind} as GGUF, {name}", config, "a.gguf", gguf(other), "different", wrong_shape=1, told=name)
    more = dict(llama_tensors(LLAMA), **{"model.layers.0.self_attn.q_proj.bias": [64]})
    expect("a bias that is not expected", LLAMA, "a.safetensors", safetensors(more), "different", unknown=1, told="q_proj.bias")
    # F16 is 2 bytes an element, Q8_0 (type 8) 34 bytes for 32: bytes follow the type
    names = gguf_names(llama_tensors(LLAMA))
    expect("bytes of f16", LLAMA, "a.gguf", gguf(names), "equal", bytes=2.0 * total(names))
    expect("bytes of q8_0", LLAMA, "a.gguf", gguf(names, 8), "equal", bytes=total(names) * 34 / 32)


def other_families():
    for config, prefix, layer, ends in OTHERS:
        huggingface, gguf_ones = named(layer, ends, prefix)
        kind = config["model_type"]
        for name, data, tensors in (("a.safetensors", safetensors, huggingface), ("a.gguf", gguf, gguf_ones)):
            expect(f"{kind}, {name}", config, name, data(tensors), "equal", parameters=total(huggingface), tensors=len(tensors))
            for away in tensors:
                expect(f"{kind}, {name}, without {away}", config, name, data({n: t for n, t in tensors.items() if n != away}),
                       "different", missing=1)
    # a model for text and images: the names have one more part, its other towers are not compared
    config, prefix, layer, ends = OTHERS[2]
    layer = layer + QK_NORMS
    inner = {key: value for key, value in config.items() if key not in ("torch_dtype", "model_type")}
    nested = dict(model_type="gemma3", torch_dtype="bfloat16", text_config=dict(inner, model_type="gemma3_text"))
    for prefix in ("language_model.model.", "model.language_model."):
        tensors = named(layer, [], prefix)[0] | {prefix + h.removeprefix("model."): shape for h, _, shape in ends}
        tensors["vision_tower.encoder.layers.0.self_attn.q_proj.weight"] = [9, 9]
        expect(f"gemma3, {prefix}", nested, "a.safetensors", safetensors(tensors), "equal", parameters=total(tensors) - 81,
               other_tensors=1, other_parameters=81)


def cut_parts():
    """What GGUF keeps as several tensors."""
    names = gpt_oss_gguf()
    count = total(names)
    expect("gpt-oss as GGUF", GPT_OSS, "a.gguf", gguf(names), "equal", parameters=count, expected_parameters=count)
    for name in names:
        rest = {n: s for n, s in names.items() if n != name}
        expect(f"gpt-oss as GGUF without {name}", GPT_OSS, "a.gguf", gguf(rest), "different", missing=1)
        other = dict(names, **{name: [*names[name][:-1], names[name][-1] + 1]})
        expect(f"gpt-oss as GGUF, {name} larger", GPT_OSS, "a.gguf", gguf(other), "different", wrong_shape=1)
    blocks = {}
    for name, shape in gpt_oss_tensors(GPT_OSS).items():
        if name.endswith(("gate_up_proj", "down_proj")):  # 32 elements are 16 bytes and a scale, along K
            e, k, n = shape
            blocks |= {name + "_blocks": [e, n, k // 32, 16], name + "_scales": [e, n, k // 32]}
        else:
            blocks[name] = shape
    expect("mxfp4 blocks", dict(GPT_OSS, quantization_config={"quant_method": "mxfp4"}), "a.safetensors",
           safetensors(blocks, {n: "U8" for n in blocks if n.endswith(("_blocks", "_scales"))}), "not_comparable",
           missing=0, unknown=0, wrong_shape=0, parameters=count)


def special_parts():
    tied = dict(LLAMA, tie_word_embeddings=True)
    tensors = llama_tensors(tied)
    expect("a copy of the tied embedding", tied, "a.safetensors", safetensors(tensors), "equal", other_tensors=1)
    del tensors["lm_head.weight"]
    expect("no copy of it", tied, "a.safetensors", safetensors(tensors), "equal", parameters=total(tensors))
    tensors = llama_tensors(LLAMA)
    beside = dict(tensors, **{"model.layers.0.self_attn.rotary_emb.inv_freq": [8], "model.layers.2.eh_proj.weight": [64, 128]})
    expect("rotary buffers and a layer for multi-token prediction", LLAMA, "a.safetensors", safetensors(beside), "equal",
           other_tensors=2, other_parameters=8 + 64 * 128)
    packed, types = {}, {}
    for name, shape in tensors.items():
        if "_proj" not in name:
            packed[name] = shape
            continue
        base = name.removesuffix(".weight")
        packed |= {base + ".qweight": [shape[1] // 8, shape[0]], base + ".qzeros": [1, shape[0] // 8], base + ".scales": [1, shape[0]]}
        types |= {base + ".qweight": "I32", base + ".qzeros": "I32"}
    gptq = dict(LLAMA, quantization_config={"quant_method": "gptq", "bits": 4, "group_size": 64})
    expect("packed weights", gptq, "a.safetensors", safetensors(packed, types), "not_comparable", missing=0, unknown=0)
    del packed["model.layers.1.mlp.up_proj.qweight"]
    expect("one packed weight missing", gptq, "a.safetensors", safetensors(packed, types), "different", missing=1)
    fp8 = dict(LLAMA, quantization_config={"quant_method": "fp8", "weight_block_size": [32, 32]})
    scaled = dict(tensors, **{"model.layers.0.mlp.up_proj.weight_scale_inv": [3, 2]})
    out, found = run(fp8, "a.safetensors", safetensors(scaled, {"model.layers.0.mlp.up_proj.weight": "F8_E4M3"}))
    if found["wrong_shape"] or found["unknown"] or found["parameters"] != total(tensors):
        FAULTS.append(f"fp8: {found}")


def indexes():
    tensors = llama_tensors(LLAMA)
    names = list(tensors)

    def index(total_size, parts=("one", "two"), metadata=None, listed=names):
        places = {name: f"{parts[i % len(parts)]}.safetensors" for i, name in enumerate(listed)}
        return json.dumps({"metadata": {"total_size": total_size, **(metadata or {})}, "weight_map": places}).encode()

    name, size = "model.safetensors.index.json", 2 * total(tensors)
    expect("an index alone", LLAMA, name, index(size), "equal", parameters=total(tensors))
    expect("an index of fp32", LLAMA, name, index(2 * size), "equal", parameters=total(tensors))
    expect("an index of another size", LLAMA, name, index(size + 128), "different", parameters=total(tensors) + 64)
    expect("total_parameters", LLAMA, name, index(1, metadata={"total_parameters": total(tensors) + 1}), "different",
           parameters=total(tensors) + 1)
    expect("an index without a size", LLAMA, name, index(0), "not_comparable", parameters=None)
    expect("an index without a name", LLAMA, name, index(size, listed=names[1:]), "different", missing=1)
    expect("an index that leads elsewhere", LLAMA, name, index(size, parts=("../one", "/etc/passwd")), "equal")
    for part in (0, 1):
        (FOLDER / f"part{part}.safetensors").write_bytes(safetensors({n: tensors[n] for n in names[part::2]}))
    expect("an index with its files", LLAMA, name, index(1, parts=("part0", "part1")), "equal", parameters=total(tensors), bytes=float(size))
    (FOLDER / "part1.safetensors").write_bytes(safetensors({n: [s + 1 for s in tensors[n]] for n in names[1::2]}))
    expect("files of other shapes", LLAMA, name, index(size, parts=("part0", "part1")), "different")
    (FOLDER / "part1.safetensors").write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    expect("files that are pointers", LLAMA, name, index(size, parts=("part0", "part1")), "equal", parameters=total(tensors))


def several_files():
    """Parts are found beside the one that is named; what is not there is no mismatch."""
    for suffix, write, tensors in (("safetensors", safetensors, llama_tensors(LLAMA)),
                                   ("gguf", gguf, gguf_names(llama_tensors(LLAMA)))):
        names = list(tensors)
        parts = [write({n: tensors[n] for n in names[i::3]}) for i in range(3)]
        paths = [FOLDER / f"x-{i:05d}-of-00003.{suffix}" for i in (1, 2, 3)]
        for path, part in zip(paths, parts):
            path.write_bytes(part)
        for path, part in zip(paths, parts):
            expect(f"{suffix}, named {path.name}", LLAMA, path.name, part, "equal", parameters=total(tensors), tensors=len(tensors))
        paths[2].unlink()
        expect(f"{suffix}, one part away", LLAMA, paths[0].name, parts[0], "not_comparable", parameters=None,
               missing=len(names[2::3]), unknown=0)
        wrong = write({n: [s + 1 for s in tensors[n]] for n in names[0::3]})
        expect(f"{suffix}, one part away, one wrong", LLAMA, paths[0].name, wrong, "different")
        paths[0].unlink()


def folders():
    """A checkpoint beside config.json is at hand; naming the file leaves it out."""
    folder = pathlib.Path(tempfile.mkdtemp())
    (folder / "config.json").write_text(json.dumps(LLAMA))

    def predict(config, *options):
        out = subprocess.run([ROOFTAP, "predict", "--config", config, "--gpu", "h100-sxm", "--json", *options], capture_output=True, text=True)
        return out, json.loads(out.stdout)["checkpoint"] if out.stdout else None
    if predict(folder)[1] is not None:
        FAULTS.append("a checkpoint where there is none")
    (folder / "model.safetensors").write_bytes(safetensors(llama_tensors(LLAMA)))
    out, found = predict(folder)
    if not found or found["verdict"] != "equal" or out.returncode:
        FAULTS.append(f"a checkpoint in the model's folder: {found}, {out.stderr}")
    out, found = predict(folder / "config.json", "--checkpoint", folder)
    if not found or found["verdict"] != "equal":
        FAULTS.append(f"a checkpoint's folder: {found}, {out.stderr}")
    if predict(folder / "config.json")[1] is not None:
        FAULTS.append("config.json alone takes up a checkpoint")
    (folder / "model.safetensors").write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    out, _ = predict(folder)
    if out.returncode != 2 or "name config.json itself" not in out.stderr:
        FAULTS.append(f"a pointer in the model's folder: {out.returncode}, {out.stderr}")


def broken_files():
    tensors = llama_tensors(LLAMA)
    good = safetensors(tensors)
    refuse("a short header", LLAMA, "a.safetensors", good[:-1], "bytes")
    refuse("a huge header", LLAMA, "a.safetensors", struct.pack("<Q", 1 << 62) + good[8:], "header")
    for fault, word in ((b'{"a":{"dtype":"BF16","shape":[-1],"data_offsets":[0,2]}}', "shape"), (b'{"a":{"shape":[1]}}', "dtype"),
                        (b'{"a":{"dtype":"BF16","shape":[1],"data_offsets":[0,3]}}', "data_offsets"),
                        (b'{"a":{"dtype":"BF16","shape":[4294967296,4294967296],"data_offsets":[0,2]}}', "larger"),
                        (b'{"a":1}', "dtype"), (b"{,}      ", "JSON")):
        refuse(f"header {fault!r}", LLAMA, "a.safetensors", struct.pack("<Q", len(fault)) + fault, word)
    whole = gguf(gguf_names(tensors))
    refuse("a short GGUF", LLAMA, "a.gguf", whole[:-1], "GGUF")
    refuse("GGUF 1", LLAMA, "a.gguf", whole[:4] + struct.pack("<I", 1) + whole[8:], "version 1")
    refuse("GGUF of the other byte order", LLAMA, "a.gguf", whole[:4] + struct.pack(">I", 3) + whole[8:], "version")
    refuse("nothing", LLAMA, "a.gguf", b"", "neither")
    refuse("an index without weight_map", LLAMA, "a.json", b"{}", "weight_map")


def main():
    for part in (whole_files, other_families, cut_parts, special_parts, indexes, several_files, folders, broken_files):
        part()
    print(f"{len(FAULTS)} faults", *FAULTS[:30], sep="\n")
    return 1 if FAULTS else 0


sys.exit(main())
