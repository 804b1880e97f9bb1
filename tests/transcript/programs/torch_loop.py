#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torch_loop.py matmul|linear|graph|threads|workers: PyTorch as users use it. Nothing depends on what a simulated kernel computes."""
import sys
import threading

import torch

KIND = sys.argv[1]


def linear(steps, width=256):
    layers = torch.nn.Sequential(torch.nn.Linear(width, 2 * width), torch.nn.GELU(), torch.nn.Linear(2 * width, width))
    layers = layers.to("cuda", torch.bfloat16)
    x = torch.ones(3, width, device="cuda", dtype=torch.bfloat16)
    for _ in range(steps):
        x = layers(x)
    torch.cuda.synchronize()
    return tuple(x.shape)


def graph():
    a = torch.ones(64, 64, device="cuda", dtype=torch.bfloat16)
    weights = [torch.ones(64, 64, device="cuda", dtype=torch.bfloat16) for _ in range(10)]
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for weight in weights:
            a @ weight
    torch.cuda.current_stream().wait_stream(side)
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        x = a
        for weight in weights:
            x = x @ weight
    for _ in range(5):
        captured.replay()
    torch.cuda.synchronize()
    return tuple(x.shape)


def in_threads():
    made = [threading.Thread(target=linear, args=(5, 64 * (i + 1))) for i in range(4)]
    for thread in made:
        thread.start()
        thread.join()
    return len(made)


def matmul():
    for kind in (torch.float32, torch.bfloat16, torch.float16):
        a, b = (torch.ones(48, 48, device="cuda", dtype=kind) for _ in range(2))
        for _ in range(20):
            a @ b
            torch.bmm(a.view(3, 16, 48), b.view(3, 48, 16))
    try:
        a @ torch.ones(7, device="cuda", dtype=torch.float16)
    except RuntimeError as error:
        print(str(error).splitlines()[0])
    torch.cuda.synchronize()
    return torch.cuda.memory_allocated()


def work(index):
    return linear(3, 64 * (index + 1))


if __name__ == "__main__":
    if KIND == "workers":
        import torch.multiprocessing as processes
        with processes.get_context("spawn").Pool(1) as pool:
            print(pool.map(work, range(2)))
    else:
        print({"matmul": matmul, "linear": lambda: linear(50), "graph": graph, "threads": in_threads}[KIND]())
