# SPDX-License-Identifier: Apache-2.0
"""A decode-like loop of PyTorch on the GPU: projections, a batched product, attention, an elementwise tail; 20 steps."""
import torch

torch.manual_seed(0)
weights = [torch.randn(n, k, device="cuda", dtype=torch.bfloat16) for n, k in ((4096, 1024), (1024, 4096))]
query = torch.randn(8, 16, 1, 64, device="cuda", dtype=torch.bfloat16)
past = torch.randn(8, 16, 512, 64, device="cuda", dtype=torch.bfloat16)
state = torch.randn(8, 1024, device="cuda", dtype=torch.bfloat16)
for _ in range(20):
    hidden = torch.nn.functional.linear(state, weights[0])
    state = torch.nn.functional.linear(torch.nn.functional.silu(hidden), weights[1])
    scores = torch.matmul(query, past.transpose(-1, -2))
    torch.matmul(torch.softmax(scores, -1), past)
torch.cuda.synchronize()
print("torch_loop: 20 steps on", torch.cuda.get_device_name(0))
