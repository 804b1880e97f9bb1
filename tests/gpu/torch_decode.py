#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torch_decode.py [--graph] [--steps N] [--profile FILE]: decode steps of a small transformer on the GPU, of random weights; with
--graph the second step is captured and replayed from then on. Prints `step_ns N` for each step. With --profile all of it, the
setting up included, runs under torch.profiler, whose trace goes to FILE."""
import argparse
import time

import torch
from torch.nn.functional import linear, scaled_dot_product_attention, silu

LAYERS, BATCH, HEADS, SIZE, INNER, PAST = 4, 8, 16, 64, 4096, 512
HIDDEN = HEADS * SIZE


def weights():
    return [torch.randn(n, k, device="cuda", dtype=torch.bfloat16) * 0.02
            for n, k in ((3 * HIDDEN, HIDDEN), (HIDDEN, HIDDEN), (INNER, HIDDEN), (HIDDEN, INNER))]


def step(layers, past, state):
    for qkv, out, up, down in layers:
        query, key, value = linear(state, qkv).view(BATCH, 3, HEADS, 1, SIZE).unbind(1)
        keys, values = (torch.cat((old, new), 2) for old, new in zip(past, (key, value)))
        attended = scaled_dot_product_attention(query, keys, values).reshape(BATCH, HIDDEN)
        state = state + linear(attended, out)
        state = state + linear(silu(linear(state, up)), down)
    return state


def run(options):
    layers = [weights() for _ in range(LAYERS)]
    past = [torch.randn(BATCH, HEADS, PAST, SIZE, device="cuda", dtype=torch.bfloat16) for _ in range(2)]
    state = torch.randn(BATCH, HIDDEN, device="cuda", dtype=torch.bfloat16)
    torch.cuda.synchronize()
    graph = None
    for number in range(options.steps):
        start = time.perf_counter_ns()
        if not options.graph or number == 0:
            step(layers, past, state)
        else:
            if not graph:
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    step(layers, past, state)
            graph.replay()
        torch.cuda.synchronize()
        print("step_ns", time.perf_counter_ns() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graph", action="store_true")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--profile", metavar="FILE")
    options = parser.parse_args()
    if not options.profile:
        return run(options)
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities, record_shapes=True) as profiler:
        run(options)
    profiler.export_chrome_trace(options.profile)
    return None


if __name__ == "__main__":
    torch.set_grad_enabled(False)
    main()
