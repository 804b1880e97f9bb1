#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_oracle.py ROOFTAP CONFIGS: the totals of every configuration under several options against oracle.py."""
import json
import pathlib
import subprocess
import sys

from oracle import Model, Prediction

H100 = dict(peak=989.5e12, bandwidth=3350e9)  # fp16 and bf16, dense; NVIDIA H100 data sheet
FP8 = 1979e12
# command line, what the oracle is told
CASES = [
    ("--batch 1 --prompt 512 --context 512", dict(batch=1, prompt=512, context=512)),
    ("--batch 32 --prompt 4096 --context 8192 --kv fp8", dict(batch=32, prompt=4096, context=8192, kv_bits=8)),
    ("--batch 7 --prompt 1000 --context 333 --chunk 384", dict(batch=7, prompt=1000, context=333, chunk=384)),
    ("--batch 3 --prompt 100 --context 5000 --chunk 4096", dict(batch=3, prompt=100, context=5000, chunk=4096)),
    # groups of 128 along K with a 16-bit scale and a 4-bit zero point, AWQ's layout
    ("--batch 64 --prompt 300 --context 2000 --weights int4", dict(batch=64, prompt=300, context=2000, weights=(4, 20, 128))),
    ("--batch 16 --prompt 2048 --context 2048 --tp 2", dict(batch=16, prompt=2048, context=2048, tp=2)),
]
SPLITS_IN_4 = {"llama-2-70b": 8, "mixtral-8x7b": 4, "deepseek-v3": 8, "gpt-oss-20b": 4}


def near(found, expected, tolerance=1e-12):
    return abs(found - float(expected)) <= tolerance * max(1.0, abs(float(expected)))


def run(rooftap, path, options):
    out = subprocess.run([rooftap, "predict", "--config", path, "--gpu", "h100-sxm", "--json", *options.split()],
                         capture_output=True, text=True)
    if out.returncode:
        raise SystemExit(f"{path} {options}: {out.stderr}")
    return json.loads(out.stdout)


def stored(model, options):
    """What the configuration itself says of its weights."""
    quantisation = model.c.get("quantization_config")
    if not quantisation or "weights" in options:
        return {}
    if quantisation["quant_method"] == "fp8":
        return dict(block=quantisation["weight_block_size"][0], operand_bits=8, operand_peak=FP8,
                    tiles=quantisation["activation_scheme"] == "dynamic")
    return dict(weights=(4, 8, 32), experts_only=True)  # mxfp4: an 8-bit scale for 32


def differences(found, prediction):
    for phase in ("prefill", "decode"):
        step, sums = found[phase], prediction.step(phase == "decode")
        for name, value, expected in [
                ("flops", step["flops"], sums["flops"]),
                ("bytes at least", step["bytes"]["at_least"], sums["low"]),
                ("bytes at most", step["bytes"]["at_most"], sums["high"]),
                ("weights at least", step["weight_bytes"]["at_least"], sums["weight_low"]),
                ("weights at most", step["weight_bytes"]["at_most"], sums["weight_high"]),
                ("KV bytes", step["kv_bytes"], sums["kv"])]:
            if not near(value, expected):
                yield f"{phase} {name}: {value}, expected {float(expected)}"
        peaks_known = prediction.m.bits == 16
        for name, key in (("at_least", "time_low"), ("at_most", "time_high")):
            if peaks_known and not near(step["seconds"][name] / sums[key], 1, 1e-9):
                yield f"{phase} seconds {name}: {step['seconds'][name]}, expected {sums[key]}"
    memory = found["memory"]
    for name, expected in (("weight_bytes", prediction.resident()), ("kv_bytes_per_sequence", prediction.kv_of_sequence())):
        if not near(memory[name], expected):
            yield f"memory {name}: {memory[name]}, expected {float(expected)}"
    if found["model"]["parameters"]["total"] != prediction.m.parameters():
        yield f"parameters: {found['model']['parameters']['total']}, expected {prediction.m.parameters()}"


def main():
    rooftap, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    faults, checked = [], 0
    for path in sorted(folder.glob("*.json")):
        model = Model(json.loads(path.read_text()))
        cases = list(CASES)
        if path.stem in SPLITS_IN_4:
            tp = SPLITS_IN_4[path.stem]
            cases.append((f"--batch 5 --prompt 700 --context 900 --tp {tp} --chunk 256",
                          dict(batch=5, prompt=700, context=900, tp=tp, chunk=256)))
        for line, options in cases:
            prediction = Prediction(model, **{**options, **stored(model, options), **H100})
            faults += [f"{path.stem} {line}: {text}" for text in differences(run(rooftap, path, line), prediction)]
            checked += 1
    print(f"{checked} predictions, {len(faults)} faults", *faults[:40], sep="\n")
    return 1 if faults or checked < 100 else 0


sys.exit(main())
