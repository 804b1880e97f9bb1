#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels that are compiled while the program runs: one of Triton's launched with many grids, on two streams and in a CUDA
graph, and with --compile a small network through torch.compile, whose launcher is another. It knows nothing of rooftap, and nothing
depends on a result. Prints how often it launched its own kernel."""
import argparse
import sys

import torch
import triton
import triton.language as tl

GRIDS = [(1,), (8,), (133,), (3, 5), (2, 3, 4)]
REPEATS, REPLAYS, STEPS = 7, 5, 3


@triton.jit
def add_kernel(x, y, out, count, BLOCK: tl.constexpr):
    place = (tl.program_id(0) + tl.program_id(1) + tl.program_id(2)) * BLOCK + tl.arange(0, BLOCK)
    inside = place < count
    tl.store(out + place, tl.load(x + place, mask=inside) + tl.load(y + place, mask=inside), mask=inside)


def launch_all(x, y, out, block):
    for grid in GRIDS:
        add_kernel[grid](x, y, out, x.numel(), BLOCK=block)
    return len(GRIDS)


def own_kernel():
    x, y = (torch.ones(1000, device="cuda") for _ in range(2))
    out = torch.empty_like(x)
    launched = sum(launch_all(x, y, out, block) for block in (128, 256) for _ in range(REPEATS))
    with torch.cuda.stream(torch.cuda.Stream()):
        launched += launch_all(x, y, out, 128)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        launched += launch_all(x, y, out, 128)
        torch.mm(x[:64].view(8, 8), y[:64].view(8, 8))
    for _ in range(REPLAYS):
        graph.replay()
    torch.cuda.synchronize()
    return launched


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down, self.norm = torch.nn.Linear(256, 512), torch.nn.Linear(512, 256), torch.nn.LayerNorm(256)

    def forward(self, x):
        return self.norm(x + self.down(torch.nn.functional.silu(self.up(x))))


def network():
    block = torch.compile(Block().to(torch.bfloat16).cuda().eval())
    x = torch.ones(17, 256, dtype=torch.bfloat16, device="cuda")
    for _ in range(STEPS):
        y = block(x)
    torch.cuda.synchronize()
    if tuple(y.shape) != (17, 256):
        sys.exit(f"compiled.py: the network gave {tuple(y.shape)}, expected (17, 256)")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compile", action="store_true", help="run a network through torch.compile, too")
    arguments = parser.parse_args()
    with torch.no_grad():
        launched = own_kernel()
        torch.mm(torch.ones(8, 8, device="cuda"), torch.ones(8, 8, device="cuda"))
        if arguments.compile:
            network()
    torch.cuda.synchronize()
    print(f"add_kernel: {launched} launches")


main()
