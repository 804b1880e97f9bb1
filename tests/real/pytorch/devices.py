#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program on all GPUs that there are, as users write them: products on each device, tensors moved between them, a model
whose layers lie on two devices, NCCL's all-reduce, and a CUDA graph a device. It knows nothing of rooftap, and nothing in it
depends on a result. Prints one line."""
import argparse

import torch


def products(device, steps):
    x = torch.randn(32, 256, dtype=torch.bfloat16, device=device)
    w = torch.randn(256, 512 + 64 * torch.device(device).index, dtype=torch.bfloat16, device=device)
    for _ in range(steps):
        (x @ w).relu()


def pipeline(devices, steps):
    """Layers on one device after another; activations go along."""
    layers = [torch.nn.Linear(256, 256, dtype=torch.bfloat16, device=device) for device in devices]
    for _ in range(steps):
        x = torch.randn(8, 256, dtype=torch.bfloat16, device=devices[0])
        for layer, device in zip(layers, devices):
            x = layer(x.to(device, non_blocking=True))
        x.to(devices[0]).cpu()


def all_reduce(devices, steps):
    for _ in range(steps):
        torch.cuda.nccl.all_reduce([torch.ones(1 << 16, dtype=torch.bfloat16, device=device) for device in devices])


def graph(device, replays):
    with torch.cuda.device(device):
        x = torch.randn(16, 128, dtype=torch.bfloat16, device=device)
        w = torch.randn(128, 384, dtype=torch.bfloat16, device=device)
        x @ w  # libraries make their workspaces before the capture
        torch.cuda.synchronize()
        captured = torch.cuda.CUDAGraph()
        with torch.cuda.graph(captured):
            y = (x @ w).relu()
        for _ in range(replays):
            captured.replay()
        torch.cuda.synchronize()
        return y


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=20)
    steps = parser.parse_args().steps
    devices = [f"cuda:{index}" for index in range(torch.cuda.device_count())]
    with torch.no_grad():
        for device in devices:
            products(device, steps)
        pipeline(devices, steps)
        if len(devices) > 1:
            all_reduce(devices, steps)
        for device in devices:
            graph(device, steps)
    for device in devices:
        torch.cuda.synchronize(device)
    print(f"{len(devices)} x {torch.cuda.get_device_name()}: done")


main()
