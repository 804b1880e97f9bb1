#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An unmodified PyTorch program that decodes by graph replay, as engines do: a small network is warmed up on a side stream,
captured once for each batch size, and replayed; one graph is captured again into the same object. It knows nothing of
rooftap.    usage: graphs.py REPLAYS"""
import sys

import torch
import torch.nn.functional as functional


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        self.up = torch.nn.Linear(width, 3 * width)
        self.down = torch.nn.Linear(3 * width, width, bias=False)

    def forward(self, x):
        return x + self.down(functional.gelu(self.up(self.norm(x))))


def capture(model, x, graph):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            model(x)
    torch.cuda.current_stream().wait_stream(side)
    with torch.cuda.graph(graph):
        out = model(x)
    return out


def main():
    replays = int(sys.argv[1])
    torch.manual_seed(0)
    model = torch.nn.Sequential(*[Block(256) for _ in range(3)]).to("cuda", torch.bfloat16)
    inputs = {batch: torch.randn(batch, 256, device="cuda", dtype=torch.bfloat16) for batch in (1, 8, 32)}
    graphs = {batch: torch.cuda.CUDAGraph() for batch in inputs}
    with torch.no_grad():
        kept = [capture(model, x, graphs[batch]) for batch, x in inputs.items()]
        for step in range(replays):
            graphs[(1, 8, 32)[step % 3]].replay()
        graphs[8].reset()
        kept.append(capture(model, inputs[32], graphs[8]))
        for _ in range(5):
            graphs[8].replay()
    torch.cuda.synchronize()
    print(f"{replays + 5} replays of {len(graphs) + 1} captures")
    return kept


if __name__ == "__main__":
    main()
