#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_bad_input.py ROOFTAP CONFIGS: what can't be used gives one line that names it, exit status 2 and nothing on standard
output."""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOFTAP, CONFIGS = sys.argv[1], pathlib.Path(sys.argv[2])
SCRATCH = pathlib.Path(tempfile.mkdtemp())
FAULTS = []
COUNT = 0


def run(*arguments):
    return subprocess.run([ROOFTAP, "predict", *map(str, arguments)], capture_output=True, text=True)


def refuse(what, arguments, *words):
    global COUNT
    COUNT += 1
    out = run(*arguments)
    lines = out.stderr.splitlines()
    if out.returncode != 2 or out.stdout or len(lines) != 1 or not all(word in out.stderr for word in words):
        FAULTS.append(f"{what}: status {out.returncode}, {len(out.stdout)} bytes, expected {words} in: {out.stderr.strip()}")


def config_file(model, fields=(), without=()):
    config = json.loads((CONFIGS / f"{model}.json").read_text())
    inner = config.get("text_config", config)
    for name in without:
        inner.pop(name)
    inner.update(dict(fields))
    path = SCRATCH / "config.json"
    path.write_text(json.dumps(config))
    return path


def refuse_config(what, model, words, fields=(), without=(), options=()):
    path = config_file(model, fields, without)
    refuse(what, ["--config", path, "--gpu", "h100-sxm", *options], str(path), *words)


def refuse_text(what, text, *words):
    path = SCRATCH / "text.json"
    path.write_bytes(text)
    refuse(what, ["--config", path, "--gpu", "h100-sxm"], str(path), *words)


def missing_fields():
    """Every size that a family's layout needs, taken out one at a time."""
    needed = {
        "llama-2-7b": ["hidden_size", "intermediate_size", "num_attention_heads", "num_hidden_layers", "vocab_size", "model_type"],
        "qwen2.5-7b": ["num_key_value_heads"],
        "mixtral-8x7b": ["num_local_experts", "num_experts_per_tok", "intermediate_size"],
        "qwen3-30b-a3b": ["num_experts", "moe_intermediate_size", "num_experts_per_tok"],
        "qwen1.5-moe-a2.7b": ["shared_expert_intermediate_size"],
        "deepseek-v3": ["kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim", "n_routed_experts",
                        "moe_intermediate_size"],
        "gemma-2-9b": ["num_key_value_heads"],
        "gpt-oss-20b": ["num_local_experts"],
    }
    for model, fields in needed.items():
        for field in fields:
            refuse_config(f"{model} without {field}", model, [f"'{field}'", "missing"], without=[field])


def wrong_values():
    for field in ("hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size", "intermediate_size"):
        for value in (0, -1, 10 ** 12, 9223372036854775807, 4096.5, "4096", [4096], {}, True):
            refuse_config(f"{field} = {value!r}", "llama-2-7b", [f"'{field}'", "expected a whole number"], {field: value})
    refuse_config("heads that don't divide", "llama-2-7b", ["num_attention_heads 32", "num_key_value_heads 5"],
                  {"num_key_value_heads": 5})
    refuse_config("hidden size that gives no head_dim", "llama-2-7b", ["head_dim", "hidden_size 4097"], {"hidden_size": 4097})
    refuse_config("Phi's hidden size", "phi-2", ["hidden_size 2561"], {"hidden_size": 2561})
    refuse_config("more experts a token than there are", "mixtral-8x7b", ["num_experts_per_tok 9"], {"num_experts_per_tok": 9})
    refuse_config("a bias that is a number", "llama-2-7b", ["'attention_bias'", "true or false"], {"attention_bias": 1})
    refuse_config("layer_types too short", "gpt-oss-20b", ["'layer_types'"], {"layer_types": ["full_attention"]})
    refuse_config("layer_types of another kind", "gpt-oss-20b", ["'layer_types'"], {"layer_types": ["linear_attention"] * 24})
    refuse_config("dense layers that are no numbers", "qwen3-30b-a3b", ["'mlp_only_layers'"], {"mlp_only_layers": ["a"]})
    refuse_config("windows that are unclear", "qwen1.5-moe-a2.7b", ["layer_types"], {"use_sliding_window": True})
    refuse_config("a type that is not known", "llama-2-7b", ["'torch_dtype'", "float31"], {"torch_dtype": "float31"})
    refuse_config("a type that is no string", "llama-2-7b", ["'torch_dtype'"], {"torch_dtype": 16})
    refuse_config("an absurd model", "deepseek-v3", ["parameters"],
                  {"hidden_size": 262144, "n_routed_experts": 16384, "moe_intermediate_size": 4194304, "num_hidden_layers": 4096})
    refuse_config("quantisation that is not known", "llama-2-7b", ["quantization_config", "squeezellm", "--weights"],
                  {"quantization_config": {"quant_method": "squeezellm"}})
    refuse_config("awq without bits", "llama-2-7b", ["quantization_config", "awq"], {"quantization_config": {"quant_method": "awq"}})


def wrong_files():
    refuse_text("an unknown model", b'{"model_type": "mamba2"}', "mamba2", "llama")
    refuse_text("no model type", b"{}", "model_type", "llama")
    refuse_text("a model type that is no string", b'{"model_type": 3}', "model_type")
    for text in (b"", b"{", b"null", b"[]", b'"llama"', b"\xff\xfe", b'{"model_type": "llama",}', b'{"a": 1, "a": 2}',
                 b'{"model_type": "llama", "hidden_size": 99999999999999999999}', b"[" * 100000):
        refuse_text(f"text {text[:40]!r}", text, "JSON")
    refuse("no such file", ["--config", SCRATCH / "none.json", "--gpu", "h100-sxm"], "none.json")
    refuse("a folder without one", ["--config", SCRATCH / "..", "--gpu", "h100-sxm"], "config.json")
    refuse("a device", ["--config", "/dev/null", "--gpu", "h100-sxm"], "regular file")
    (SCRATCH / "large.json").write_bytes(b" " * (5 << 20))
    refuse("a large file", ["--config", SCRATCH / "large.json", "--gpu", "h100-sxm"], "bytes")


def wrong_options():
    good = ["--config", CONFIGS / "llama-2-7b.json", "--gpu", "h100-sxm"]
    refuse("nothing", [], "--config")
    refuse("no GPU", good[:2], "--gpu")
    refuse("an unknown GPU", [*good[:2], "--gpu", "h100"], "h100", "rooftap gpus")
    for option in ("batch", "prompt", "context", "chunk", "tp"):
        for value in ("0", "-1", "x", "1.5", "9999999999", "1e3", " 8", "8 "):
            refuse(f"--{option} {value!r}", [*good, f"--{option}={value}"], f"--{option}", "whole number")
    refuse("--weights", [*good, "--weights", "int3"], "--weights", "int4", "int3")
    refuse("--kv", [*good, "--kv", "int3"], "--kv", "fp8", "int3")
    refuse("--dtype", [*good, "--dtype", "int64"], "--dtype", "bf16", "int64")
    refuse("heads not divisible", [*good, "--tp", "3"], "num_attention_heads 32", "3")
    refuse("FFN not divisible", ["--config", CONFIGS / "qwen2.5-7b.json", "--gpu", "h100-sxm", "--tp", "7"], "intermediate_size 18944", "7")
    refuse("KV heads not divisible", ["--config", CONFIGS / "phi-4.json", "--gpu", "h100-sxm", "--tp", "4"], "num_key_value_heads 10")
    refuse("too many tokens", [*good, "--prompt", "1073741824", "--batch", "1073741824"], "batch", "tokens")
    refuse("a million chunks", [*good, "--prompt", "1000000", "--chunk", "1"], "chunk")
    refuse("an argument", [*good, "more"], "more")
    refuse("no such checkpoint", [*good, "--checkpoint", SCRATCH / "none.gguf"], "none.gguf")
    refuse("a checkpoint of another kind", [*good, "--checkpoint", sys.argv[0]], "safetensors", "GGUF")


def overriding():
    """--weights makes up for a quantisation that is not understood."""
    path = config_file("llama-2-7b", {"quantization_config": {"quant_method": "squeezellm"}})
    out = run("--config", path, "--gpu", "h100-sxm", "--weights", "int4")
    if out.returncode:
        FAULTS.append(f"--weights does not override: {out.stderr}")


def main():
    for part in (missing_fields, wrong_values, wrong_files, wrong_options, overriding):
        part()
    print(f"{COUNT} refusals, {len(FAULTS)} faults", *FAULTS, sep="\n")
    return 1 if FAULTS else 0


sys.exit(main())
