#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""profiled.py before|later|first FOLDER: matrix products on `cuda`, and the user's own torch.profiler around a part of them, as its
documentation shows it. `before`: BEFORE steps and no profiler; `later`: those, then the profiler with its steps, then the rest;
`first`: the profiler is started before anything else asks for CUDA. Its trace goes to FOLDER."""
import os
import sys

import torch

BEFORE, PROFILED, AFTER = 20, 30, 10
mode, folder = sys.argv[1:]
if mode not in ("before", "later", "first"):
    sys.exit(__doc__)


def run(count):
    x = torch.full((16, 64), 0.5, device="cuda")
    w = torch.full((64, 64), 0.25, device="cuda")
    for _ in range(count):
        x = torch.relu(x @ w)
    torch.cuda.synchronize()


def profile(count):
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profiler:
        run(count)
    profiler.export_chrome_trace(os.path.join(folder, "trace.json"))


if mode != "first":
    run(BEFORE)
if mode != "before":
    profile(PROFILED)
    run(AFTER)
