#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torch.compile(mode="reduce-overhead"): a small network as a tree of CUDA graphs, whose kernels Triton and cuBLAS bring, run
often for two batch sizes. It knows nothing of rooftap, and no result decides what it does next.    usage: reduced.py STEPS"""
import sys

import torch

WARM = 3  # of each size: compiled, warmed up, captured


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = torch.nn.Linear(width, 2 * width), torch.nn.Linear(2 * width, width)
        self.norm = torch.nn.LayerNorm(width)

    def forward(self, x):
        return self.norm(x + self.down(torch.nn.functional.silu(self.up(x))))


def main():
    steps = int(sys.argv[1])
    model = torch.nn.Sequential(*[Block(256) for _ in range(2)]).to("cuda", torch.bfloat16).eval()
    compiled = torch.compile(model, mode="reduce-overhead", dynamic=False)
    inputs = [torch.ones(batch, 256, dtype=torch.bfloat16, device="cuda") for batch in (1, 24)]
    with torch.no_grad():
        for x in inputs:
            for _ in range(WARM):
                torch.compiler.cudagraph_mark_step_begin()
                compiled(x)
        for step in range(steps):
            torch.compiler.cudagraph_mark_step_begin()
            y = compiled(inputs[step % 2])
    torch.cuda.synchronize()
    print(f"{steps} steps after {WARM * len(inputs)}: {tuple(y.shape)}")


main()
