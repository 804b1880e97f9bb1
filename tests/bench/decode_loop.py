#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""decode_loop.py STEPS FOLDER plain|profiler: STEPS decode steps of a small transformers Qwen2 on `cuda`, for bench_profiler.py.

`profiler`: under torch.profiler with its CPU and CUDA activities, whose trace goes to FOLDER, as its documentation shows it.
Prints a line of JSON: seconds of the loop, and of the loop with the profiler's start, stop and export; each by the wall clock, and
CPU time of all threads. The loop is warmed up before, and the last thing in it is a synchronisation."""
import contextlib
import json
import os
import sys
import time

import torch
import transformers

WARM_UP = 8
steps, folder, mode = int(sys.argv[1]), sys.argv[2], sys.argv[3]
if mode not in ("plain", "profiler"):
    sys.exit(__doc__)


def now():
    return time.monotonic(), time.process_time()


def run(model, token, cache, count):
    for _ in range(count):
        output = model(token, cache=cache, use_cache=True)
        output.logits[:, -1].argmax(-1)
    torch.cuda.synchronize()


config = transformers.Qwen2Config(hidden_size=256, intermediate_size=512, num_hidden_layers=4, num_attention_heads=8,
                                  num_key_value_heads=2, vocab_size=1000, max_position_embeddings=8192)
with torch.no_grad():
    model = transformers.Qwen2ForCausalLM(config).to(torch.bfloat16).to("cuda").eval()
    token = torch.full((1, 1), 7, device="cuda")
    cache = model(torch.randint(3, 999, (1, 17)).to("cuda"), use_cache=True).cache
    run(model, token, cache, WARM_UP)
    whole = now()
    profiler = contextlib.nullcontext()
    if mode == "profiler":
        profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA])
    with profiler:
        start = now()
        run(model, token, cache, steps)
        end = now()
    if mode == "profiler":
        profiler.export_chrome_trace(os.path.join(folder, "trace.json"))
    done = now()
print(json.dumps({"loop": [b - a for a, b in zip(start, end)], "whole": [b - a for a, b in zip(whole, done)]}))
