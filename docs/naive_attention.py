# SPDX-License-Identifier: Apache-2.0
"""naive_attention.py [LENGTH]: attention as PyTorch's two products and a softmax, with the heads of a Qwen2.5-7B."""
import sys

import torch

length = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
heads, dim = 28, 128
q, k, v = (torch.randn(heads, length, dim, dtype=torch.bfloat16, device="cuda") for _ in range(3))
for _ in range(8):
    scores = torch.bmm(q, k.transpose(1, 2)) * dim**-0.5
    torch.bmm(torch.softmax(scores, dim=-1), v)
torch.cuda.synchronize()
