#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_figures.py ROOFTAP CONFIGS COUNTS REFERENCE_FIGURES: released parameter counts, the worked figures of published
texts, and one decode and one prefill step worked out by hand."""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

ROOFTAP, CONFIGS = sys.argv[1], pathlib.Path(sys.argv[2])
FAULTS = []


def expect(what, found, expected, tolerance=0.0):
    if found is None or abs(found - expected) > tolerance:
        FAULTS.append(f"{what}: {found}, expected {expected}")


def predict(config, *options):
    path = config if isinstance(config, pathlib.Path) else CONFIGS / f"{config}.json"
    out = subprocess.run([ROOFTAP, "predict", "--config", path, "--gpu", "h100-sxm", "--json", *options],
                         capture_output=True, text=True)
    if out.returncode:
        raise SystemExit(f"{path}: {out.stderr}")
    return json.loads(out.stdout)


def changed(model, **fields):
    """The configuration with other fields, in a file of its own; None takes one out."""
    config = json.loads((CONFIGS / f"{model}.json").read_text())
    inner = config.get("text_config", config)
    for name, value in fields.items():
        inner.pop(name, None) if value is None else inner.update({name: value})
    path = pathlib.Path(tempfile.mkdtemp()) / "config.json"
    path.write_text(json.dumps(config))
    return path


def check_counts():
    rows = list(csv.DictReader(open(sys.argv[3]), delimiter="\t"))
    for row in rows:
        expect(f"parameters of {row['model']}", predict(row["model"])["model"]["parameters"]["total"],
               int(row["parameters"]))
    expect("configurations with a count", len(rows), len(list(CONFIGS.glob("*.json"))))


def check_families():
    """Every family that the command says it supports has a configuration with a released count here."""
    path = pathlib.Path(tempfile.mkdtemp()) / "config.json"
    path.write_text('{"model_type": "?"}')
    told = subprocess.run([ROOFTAP, "predict", "--config", path, "--gpu", "h100-sxm"], capture_output=True, text=True).stderr
    supported = set(told.strip().rpartition("supported are ")[2].split(", "))
    have = {config.get("text_config", config)["model_type"] for config in map(json.loads, (p.read_text() for p in CONFIGS.glob("*.json")))}
    if supported != have:
        FAULTS.append(f"families without a configuration: {supported - have}; without a family: {have - supported}")


def check_step_sums():
    """Shares and the whole step's intensity follow from the rows."""
    for model in ("llama-2-7b", "mixtral-8x7b"):
        step = predict(model, "--batch", "4", "--prompt", "300")["prefill"]
        expect(f"{model} shares", sum(row["share"] for row in step["operators"]), 1, 1e-12)
        expect(f"{model} intensity", step["intensity"]["at_most"], step["flops"] / step["bytes"]["at_least"], 1e-9)
        for bound in ("memory", "compute"):
            expect(f"{model} {bound} share", step[f"{bound}_share"],
                   sum(row["share"] for row in step["operators"] if row["bound"] == bound), 1e-12)


MODELS = {"Llama-2-7B": "llama-2-7b", "Llama-2-70B": "llama-2-70b", "Llama-3-8B": "llama-3-8b"}


def check_reference():
    """Rows of the texts' table that name one of the models."""
    checked = 0
    for line in open(sys.argv[4]):
        fields = line.rstrip("\n").split("\t")
        if len(fields) < 5 or fields[0] == "id":
            continue
        name, value = fields[0], fields[3]
        kind, _, rest = name.partition("-")
        model = next((m for m in MODELS if rest == m or rest.startswith(m + "-")), None)
        if kind not in ("player", "lstar", "share") or (not model and rest != "mixtral"):
            continue
        found = predict(MODELS.get(model, "mixtral-8x7b"))
        checked += 1
        if kind == "player":
            expect(name, found["model"]["parameters"]["layer_mean"], float(value), float(fields[4]))
        elif kind == "lstar":
            expect(name, found["attention"]["crossover_length"], float(value), float(fields[4]))
        else:
            length = int(rest.rsplit("-", 1)[1])
            share = next(row["share"] for row in found["attention"]["prefill_flops_shares"] if row["length"] == length)
            expect(name, 100 * share, float(value), float(fields[4]))
    expect("reference rows", checked, 3 + 4 + 15)
    # params-70b, and what 64 KV heads would give: the error that a tool must not make
    expect("Llama-2-70B without norms", predict("llama-2-70b")["model"]["parameters"]["without_norms"], 68975329280)
    wrong = predict(changed("llama-2-70b", num_key_value_heads=64))
    expect("Llama-2-70B with 64 KV heads", wrong["model"]["parameters"]["without_norms"], 78370570240)


def attention_row(step):
    return next(row for row in step["operators"] if row["kind"] == "attention")


def check_heads():
    """FLOPs go by query heads, KV bytes by KV heads."""
    few, many = predict(changed("llama-2-70b", num_key_value_heads=8)), predict(changed("llama-2-70b", num_key_value_heads=64))
    for phase in ("prefill", "decode"):
        a, b = attention_row(few[phase]), attention_row(many[phase])
        expect(f"{phase} attention FLOPs by query heads", a["flops"], b["flops"])
        expect(f"{phase} KV bytes by KV heads", 8 * a["kv_bytes"], b["kv_bytes"])
    expect("KV bytes a token of Llama-2-70B", few["memory"]["kv_bytes_per_token"], 2 * 80 * 8 * 128 * 2)
    # H = 32, causal, 1024 tokens, d = 128, 32 layers: 4 * 32 * 128 * (1024 * 1025 / 2) * 32
    expect("causal attention FLOPs", attention_row(predict("llama-3-8b", "--prompt", "1024")["prefill"])["flops"],
           4 * 32 * 128 * 524800 * 32)
    # Absorbed MLA, KV-only: 2 * 128 * (576 + 512) / (576 * 2)
    expect("absorbed MLA, KV-only", attention_row(predict("deepseek-v3", "--kv", "bf16")["decode"])["intensity_kv"],
           241.77777777777777, 1e-9)
    # L_ridge on H100: 2 R / g, and 2 R (g + 1) / g, R = 989.5e12 / 3350e9
    for model, g in (("llama-2-7b", 1), ("llama-3-8b", 4), ("llama-2-70b", 8)):
        attention = predict(model)["attention"]
        ridge = 989.5e12 / 3350e9
        expect(f"L_ridge, KV-only, g = {g}", attention["ridge_length_kv"], 2 * ridge / g, 1e-9)
        expect(f"L_ridge, compulsory, g = {g}", attention["ridge_length"], 2 * ridge * (g + 1) / g, 1e-9)


def check_decode_by_hand():
    """Llama-2-7B in fp16, 4 sequences of 1000 keys, on 989.5 TFLOP/s and 3350 GB/s.

    A layer:  q, k, v, o  2*4*4096*4096 = 134,217,728 FLOPs, 2*(4*4096 + 4096*4096 + 4*4096) = 33,619,968 bytes each
              gate, up    2*4*11008*4096 = 360,710,144 FLOPs, 2*(4*4096 + 11008*4096 + 4*11008) = 90,298,368 bytes each
              down        the same, the other way round
              attention   4*32*128*1000 = 16,384,000 FLOPs a sequence; K and V 2*32*1000*128*2 = 16,384,000 bytes,
                          q and output 2*32*128*2 = 16,384 bytes
    lm_head:              2*4*32000*4096 = 1,048,576,000 FLOPs, 2*(4*4096 + 32000*4096 + 4*32000) = 262,432,768 bytes
    FLOPs:    32*(4*134,217,728 + 3*360,710,144 + 4*16,384,000) + 1,048,576,000 = 54,953,771,008
    bytes:    32*(4*33,619,968 + 3*90,298,368 + 4*16,400,384) + 262,432,768 = 15,333,681,152
    All are memory-bound (about 4 FLOP/byte, ridge 295.4): 15,333,681,152 / 3350e9 = 4.577218 ms."""
    step = predict("llama-2-7b", "--batch", "4", "--context", "1000")["decode"]
    expect("decode FLOPs", step["flops"], 54953771008)
    expect("decode bytes", step["bytes"]["at_least"], 15333681152)
    expect("decode seconds", step["seconds"]["at_least"], 0.004577218254328358, 1e-15)
    expect("decode tokens/s", step["tokens_per_second"]["at_most"], 4 / 0.004577218254328358, 1e-9)
    # 6,738,415,616 parameters less the embedding's 32000*4096 and 65 norms of 4096, 2 bytes each
    expect("decode weight bytes", step["weight_bytes"]["at_least"], 2 * (6738415616 - 131072000 - 266240))
    expect("decode norms", step["vector_bytes"], 2 * 266240)
    expect("decode KV bytes", step["kv_bytes"], 32 * 4 * 16384000)
    if {row["bound"] for row in step["operators"]} != {"memory"}:
        FAULTS.append("decode: not all operators are memory-bound")


def check_prefill_by_hand():
    """The same model, one prompt of 1000 tokens.

    q, k, v, o  2*1000*4096*4096 = 33,554,432,000 FLOPs, 2*(1000*4096 + 4096*4096 + 1000*4096) = 49,938,432 bytes: 671.9, compute
    gate, ...   2*1000*11008*4096 = 90,177,536,000 FLOPs, 2*(1000*4096 + 11008*4096 + 1000*11008) = 120,385,536 bytes: compute
    attention   4*32*128*(1000*1001/2) = 8,200,192,000 FLOPs; K and V 16,384,000 bytes, q and output 16,384,000 bytes:
                KV-only 500.5, above the ridge of 295.4; compulsory 250.25, below it: memory-bound
    lm_head     of one token: 2*32000*4096 = 262,144,000 FLOPs, 2*(4096 + 32000*4096 + 32000) = 262,216,192 bytes: memory
    seconds     32*(4*33,554,432,000 + 3*90,177,536,000)/989.5e12 + (32*32,768,000 + 262,216,192)/3350e9"""
    step = predict("llama-2-7b", "--prompt", "1000")["prefill"]
    expect("prefill FLOPs", step["flops"], 32 * (4 * 33554432000 + 3 * 90177536000 + 8200192000) + 262144000)
    expect("prefill bytes", step["bytes"]["at_least"], 32 * (4 * 49938432 + 3 * 120385536 + 32768000) + 262216192)
    expect("prefill seconds", step["seconds"]["at_most"],
           32 * (4 * 33554432000 + 3 * 90177536000) / 989.5e12 + (32 * 32768000 + 262216192) / 3350e9, 1e-12)
    row = attention_row(step)
    expect("prefill intensity, KV-only", row["intensity_kv"], 500.5, 1e-9)
    expect("prefill intensity, compulsory", row["intensity"]["at_least"], 250.25, 1e-9)
    bounds = {row["name"].rsplit(".", 1)[-1]: row["bound"] for row in step["operators"]}
    expected = {**dict.fromkeys(("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"), "compute"),
                "self_attn": "memory", "lm_head": "memory"}
    if bounds != expected or row["bound_kv"] != "compute":
        FAULTS.append(f"prefill bounds: {bounds}, KV-only {row['bound_kv']}")


def check_rows_at_ridge():
    """q_proj: 2*M*4096*4096 = R*2*(M*8192 + 4096*4096), so M = R/(1 - R*8192/4096^2); all of a Llama-2-7B layer: the same with
    sums, 202,375,168 weights and 4*8192 + 3*(4096 + 11008) = 78,080 elements a token."""
    ridge = 989.5e12 / 3350e9
    found = predict("llama-2-7b")
    q = next(row for row in found["prefill"]["operators"] if row["name"].endswith("q_proj"))
    expect("M* of q_proj", q["rows_at_ridge"], ridge / (1 - ridge * 8192 / 4096 ** 2), 1e-6)
    expect("M* of a layer", found["layer_rows_at_ridge"]["at_least"],
           ridge * 202375168 / (202375168 - ridge * 78080), 1e-6)


def check_rows_at_ridge_of_experts():
    """Mixtral-8x7B: attention and router have 41,943,040 + 32,768 weights and 26,624 + 4,104 elements a token; two experts have
    352,321,536 weights, all eight 1,409,286,144; elements a token: gate and up 4096 + 2*14336 gathered, 2*(4096 + 14336) copied;
    down 2*14336 + 4096, 2*(14336 + 4096)."""
    ridge, found = 989.5e12 / 3350e9, predict("mixtral-8x7b")["layer_rows_at_ridge"]
    active = 41975808 + 352321536
    few, many = 30728 + 2 * 32768 + 32768, 30728 + 3 * 36864
    expect("M* of all layers, at least", found["at_least"], ridge * active / (active - ridge * few), 1e-6)
    expect("M* of all layers, at most", found["at_most"], ridge * (41975808 + 1409286144) / (active - ridge * many), 1e-6)


def check_memory():
    """Llama-2-7B: 80e9 bytes less 13,476,831,232 of weights hold 61.95 sequences of 2048 * 524,288 bytes; 80 * 2^30 hold 67.4."""
    found = predict("llama-2-7b", "--prompt", "2048")["memory"]
    expect("sequences that fit", found["sequences_that_fit"], 61)
    expect("sequences that fit at most", found["sequences_that_fit_at_most"], 67)
    for batch, fits in ((61, True), (62, None), (67, None), (68, False)):
        if predict("llama-2-7b", "--prompt", "2048", "--batch", str(batch))["memory"]["fits"] is not fits:
            FAULTS.append(f"whether {batch} sequences fit should be {fits}")
    expect("sequences beside weights that do not fit", predict("llama-2-70b")["memory"]["sequences_that_fit"], 0)
    # 32001 tokens on 2 GPUs: 16001 each, padded
    row = predict(changed("llama-2-7b", vocab_size=32001), "--tp", "2")["decode"]["operators"][-1]
    expect("padded vocabulary", row["n"], 16001)
    # prefill of MLA reads keys and values that it has just unfolded, in bf16 whatever the cache has
    expect("L_ridge of MLA with an fp8 cache", predict("deepseek-v3", "--kv", "fp8")["attention"]["ridge_length_kv"],
           2 * 989.5e12 / 3350e9, 1e-9)
    expect("L_ridge with an fp8 cache", predict("llama-2-7b", "--kv", "fp8")["attention"]["ridge_length_kv"], 989.5e12 / 3350e9, 1e-9)


def check_text():
    """What people read: every part is there, and no line is wider than 120 columns."""
    for path in sorted(CONFIGS.glob("*.json")):
        out = subprocess.run([ROOFTAP, "predict", "--config", path, "--gpu", "h100-sxm", "--batch", "8", "--chunk", "1000", "--tp", "2"],
                             capture_output=True, text=True)
        total = f"{predict(path)['model']['parameters']['total']:,} parameters"
        missing = [text for text in (total, "PREFILL", "DECODE STEP", "KV-only", "compulsory", "L_ridge", "L*", "MEMORY",
                                     "TOKENS IN A PASS", "not a forecast", "specification roof", "all-reduces") if text not in out.stdout]
        wide = [line for line in out.stdout.splitlines() if len(line) > 120]
        if out.returncode or out.stderr or missing or wide:
            FAULTS.append(f"text of {path.stem}: {out.returncode}, {out.stderr}, missing {missing}, wide {wide}")


def check_positions():
    """A length that the model was not made for is told, the longest that it was made for is not."""
    config = changed("llama-3-8b", max_position_embeddings=8192)
    for option, length, told in (("--context", 8192, False), ("--context", 8193, True), ("--prompt", 9000, True)):
        out = subprocess.run([ROOFTAP, "predict", "--config", config, "--gpu", "h100-sxm", option, str(length)],
                             capture_output=True, text=True, check=True)
        if ("max_position_embeddings, 8192:" in out.stdout) != told:
            FAULTS.append(f"{option} {length}: max_position_embeddings of 8192 is {'not ' if told else ''}told")


def check_missing_peak():
    """A T4 has no bf16: nothing that needs it is a number, and one line says what to pass; in fp16 all is known."""
    out = subprocess.run([ROOFTAP, "predict", "--config", CONFIGS / "llama-3-8b.json", "--gpu", "t4"], capture_output=True, text=True).stdout
    if out.count("pass another --dtype") != 1 or "by time" in out:
        FAULTS.append("bf16 on a T4: no line says what to pass, or shares of an unknown time are shown")
    for dtype, known in (("bf16", False), ("fp16", True)):
        step = predict("llama-3-8b", "--gpu", "t4", "--dtype", dtype)["decode"]
        for name in ("memory_share", "compute_share"):
            if (step[name] is not None) is not known:
                FAULTS.append(f"{name} on a T4 in {dtype}: {step[name]}")


def check_windows():
    """Layers 5, 11, 17, 23 of 29 are full in Gemma 3; 0, 2, ... slide in Gemma 2."""
    expect("windows of Gemma 3", predict(changed("gemma-3-4b", num_hidden_layers=29))["model"]["window_layers"], 25)
    expect("windows of Gemma 2", predict(changed("gemma-2-9b", num_hidden_layers=41))["model"]["window_layers"], 21)
    expect("windows of Qwen2", predict(changed("qwen2.5-7b", use_sliding_window=True, max_window_layers=20))["model"]["window_layers"], 8)
    expect("windows of Qwen2, switched off", predict("qwen2.5-7b")["model"]["window_layers"], 0)
    listed = changed("qwen2.5-7b", use_sliding_window=True, num_hidden_layers=2, layer_types=["sliding_attention", "full_attention"])
    expect("layer_types wins", predict(listed)["model"]["window_layers"], 1)
    # a window of 4096 never catches up: 2*n_q*(d+d_v)*4096 < 2*P a token; and 8192 tokens see 4096*8192 - 4096^2/2 pairs
    mistral = predict("mistral-7b-v0.1")["attention"]
    if mistral["crossover_length_windowed"] is not None:
        FAULTS.append("Mistral's windowed attention never meets the GEMMs")
    pairs, per_token = 4096 * 8192 - 4096 ** 2 / 2, 2 * 218103808
    share = 2 * 32 * 256 * pairs / (2 * 32 * 256 * pairs + per_token * 8192)
    expect("share with windows", next(r["share"] for r in mistral["prefill_flops_shares"] if r["length"] == 8192), share, 1e-12)
    # Gemma 2: half the layers cut at 4096; L* from equal FLOPs, checked by putting it back
    gemma = predict("gemma-2-9b", "--dtype", "bf16")["attention"]
    length = gemma["crossover_length_windowed"]
    pairs = 21 * length ** 2 / 2 + 21 * (4096 * length - 4096 ** 2 / 2)
    expect("L* with windows", 2 * 16 * 512 * pairs / (2 * 198180864 * 42 * length), 1, 1e-9)


def check_defaults():
    config = changed("llama-3-8b", torch_dtype=None)
    if predict(config)["options"]["activations_assumed"] is not True or predict(config, "--dtype", "fp16")["options"]["activations_assumed"]:
        FAULTS.append("a type that is assumed is not told, or one that was given is")
    text = predict("llama-1-7b")["model"]["defaulted"]
    if "num_key_value_heads = 32" not in text or "head_dim = 128" not in text:
        FAULTS.append(f"Llama 1's defaults are not told: {text}")
    expect("missing KV heads are the query heads", predict(changed("llama-2-7b", num_key_value_heads=None))["model"]["kv_heads"], 32)
    expect("head_dim given", predict(changed("llama-2-7b", head_dim=64))["model"]["head_dim"], 64)
    tied = predict(changed("llama-2-7b", tie_word_embeddings=True))
    expect("tied embeddings", tied["model"]["parameters"]["total"], 6738415616 - 131072000)
    expect("lm_head reads the tied embedding", tied["decode"]["weight_bytes"]["at_least"], 2 * (6738415616 - 131072000 - 266240))


def check_quantisation():
    """Bits of one weight of q_proj (4096 x 4096) and of lm_head, and what q_proj multiplies in."""
    def linear(**weights):
        return {"quant_method": "compressed-tensors", "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights,
                "input_activations": {"num_bits": weights["num_bits"]} if weights.pop("inputs", False) else None}}}
    cases = [
        ({"quant_method": "awq", "bits": 4, "group_size": 128}, 4 + 20 / 128, "bf16"),
        ({"quant_method": "gptq", "bits": 4, "group_size": -1}, 4 + 20 / 4096, "bf16"),
        ({"quant_method": "gptq", "bits": 8, "group_size": 64}, 8 + 24 / 64, "bf16"),
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, 8 + 32 / 16384, "fp8_e4m3"),
        ({"quant_method": "fp8"}, 8 + 32 / 4096 ** 2, "fp8_e4m3"),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, 4 + 32 / 64, "bf16"),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_use_double_quant": True}, 4 + 8 / 64 + 32 / 64 / 256, "bf16"),
        ({"load_in_8bit": True}, 8 + 32 / 4096, "bf16"),
        (linear(num_bits=4, type="int", strategy="group", group_size=128, symmetric=True), 4 + 16 / 128, "bf16"),
        (linear(num_bits=8, type="int", strategy="channel", symmetric=True, inputs=True), 8 + 16 / 4096, "int8"),
        (linear(num_bits=8, type="float", strategy="tensor", symmetric=True, inputs=True), 8 + 16 / 4096 ** 2, "fp8_e4m3"),
        (linear(num_bits=4, type="float", strategy="group", group_size=16, symmetric=True), 4 + 8 / 16, "bf16"),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, 4.5, "fp4_e2m1"),
    ]
    for quantisation, bits, path in cases:
        rows = {r["name"].split(".")[-1]: r for r in
                predict(changed("llama-3-8b", quantization_config=quantisation))["decode"]["operators"]}
        expect(f"bits of {quantisation}", rows["q_proj"]["weight_bits"], bits, 1e-12)
        expect(f"bits of lm_head, {quantisation}", rows["lm_head"]["weight_bits"], 16)
        if rows["q_proj"]["path"] != path or rows["lm_head"]["path"] != "bf16":
            FAULTS.append(f"path of {quantisation}: {rows['q_proj']['path']}, lm_head {rows['lm_head']['path']}")
    oss = {r["name"].split(".")[-1]: r["weight_bits"] for r in predict("gpt-oss-20b")["decode"]["operators"] if "weight_bits" in r}
    expect("mxfp4 experts", oss["gate_up_proj"], 4.25)
    expect("attention beside mxfp4 experts", oss["q_proj"], 16)


def check_released_bytes():
    """openai/gpt-oss-20b, model.safetensors.index.json: total_size 13,761,264,768 bytes, mxfp4 blocks and scales included;
    Meta-Llama-3-8B and Qwen2.5-7B: 16,060,522,496 and 15,231,233,024 bytes."""
    for model, size in (("gpt-oss-20b", 13761264768), ("llama-3-8b", 16060522496), ("qwen2.5-7b", 15231233024)):
        expect(f"bytes of {model}", predict(model)["memory"]["weight_bytes"], size)


def check_exclusions():
    """Modules that stay as they are: by name, by number in all layers, by number in some, by regular expression."""
    def look(modules, *options):
        config = changed("llama-3-8b", quantization_config={"quant_method": "fp8", "modules_to_not_convert": modules})
        found = predict(config, *options)
        return ({r["name"].split(".")[-1]: r.get("weight_bits") for r in found["decode"]["operators"]},
                found["options"]["weights_note"])
    bits, note = look(["lm_head", "self_attn", "re:.*lm_head"])
    if (bits["q_proj"], bits["o_proj"], note) != (16, 16, None) or bits["up_proj"] == 16:
        FAULTS.append(f"excluded by name: {bits}, {note}")
    bits, note = look([f"model.layers.{i}.mlp.down_proj" for i in range(32)])
    if bits["down_proj"] != 16 or bits["up_proj"] == 16 or note:
        FAULTS.append(f"excluded in all layers: {bits}, {note}")
    bits, note = look([f"model.layers.{i}.mlp.down_proj" for i in range(31)] + [f"model.layers.{i}.mlp.x" for i in range(500)])
    if bits["down_proj"] == 16 or not note or "1 matrices" not in note:
        FAULTS.append(f"excluded in some layers: {bits}, {note}")
    experts = {"quant_method": "fp8", "modules_to_not_convert": [f"model.layers.{i}.block_sparse_moe" for i in range(32)]}
    rows = predict(changed("mixtral-8x7b", quantization_config=experts))["decode"]["operators"]
    expect("experts of excluded layers", next(r["weight_bits"] for r in rows if r["name"].endswith("w1")), 16)
    bits, note = look(["re:.*self_attn.*", "visual.*.x*"])
    if bits["q_proj"] == 16 or not note or "2 modules" not in note:
        FAULTS.append(f"excluded by patterns: {bits}, {note}")
    bits, note = look(["proj", "mlp.up"])
    if 16 in (bits["q_proj"], bits["up_proj"]):
        FAULTS.append(f"parts of words exclude nothing: {bits}")
    bits, _ = look(["k_proj", "q_proj", "v_proj"], "--fused")
    expect("fused and excluded", bits["q_proj+k_proj+v_proj"], 16)


def check_fused():
    """q, k, v of Llama-3-8B: 4096 + 1024 + 1024 columns; the FLOPs stay, the activation is read once instead of three times (and
    once instead of twice by gate and up), in each of 32 layers."""
    plain, fused = predict("llama-3-8b", "--prompt", "100")["prefill"], predict("llama-3-8b", "--prompt", "100", "--fused")["prefill"]
    shapes = {row["name"]: row["n"] for row in fused["operators"] if row["kind"] == "gemm"}
    expected = {"layers.*.self_attn.q_proj+k_proj+v_proj": 6144, "layers.*.self_attn.o_proj": 4096,
                "layers.*.mlp.gate_proj+up_proj": 28672, "layers.*.mlp.down_proj": 4096, "lm_head": 128256}
    if shapes != expected:
        FAULTS.append(f"fused shapes: {shapes}")
    expect("fused FLOPs", fused["flops"], plain["flops"])
    expect("fused weights", fused["weight_bytes"]["at_least"], plain["weight_bytes"]["at_least"])
    expect("bytes that fusing saves", plain["bytes"]["at_least"] - fused["bytes"]["at_least"], 32 * 3 * 100 * 4096 * 2)
    names = [row["name"] for row in predict("deepseek-v3", "--fused")["decode"]["operators"]]
    if "layers.*.self_attn.q_a_proj+kv_a_proj_with_mqa" not in names:
        FAULTS.append(f"MLA's down projections are not fused: {names}")


def check_tensor_parallel():
    """2 all-reduces a layer and one of the embedding, of batch x hidden values."""
    step = predict("llama-2-70b", "--tp", "8", "--batch", "32")["decode"]
    expect("all-reduces", step["all_reduces"], 161)
    expect("all-reduced bytes", step["all_reduce_bytes"], 161 * 32 * 8192 * 2)
    # 16 GPUs and 8 KV heads: one head each, so two GPUs hold the same
    one, two = predict("llama-2-70b", "--tp", "8"), predict("llama-2-70b", "--tp", "16")
    expect("repeated KV heads", two["memory"]["kv_bytes_per_token"], one["memory"]["kv_bytes_per_token"])


def main():
    for name, check in sorted(globals().items()):
        if name.startswith("check_"):
            check()
    print(f"{len(FAULTS)} faults", *FAULTS, sep="\n")
    return 1 if FAULTS else 0


sys.exit(main())
