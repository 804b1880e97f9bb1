#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program as users write them, for the profiler to look at: a random-weight transformers model on `cuda` in bf16, one
prefill and a decode loop, then single matrix products of the kinds that models use. It knows nothing of rooftap.

What is read back from a simulated kernel is stale, so nothing here depends on a result: the loop is counted, and
generate() with its stop flag is never called. Prints one line; exits 1 if a vendor's library was loaded beside a
stand-in."""
import argparse
import os
import sys

PREFILL_TOKENS = 17


def vendor_libraries():
    """Mapped CUDA libraries that do not lie beside libsimgpu.so; None: not on the simulator."""
    stems = ("libcuda.", "libcudart.", "libcublas.", "libcublasLt.", "libcudnn", "libcupti.", "libnvidia-ml.",
             "libcufft", "libcusparse", "libcusolver", "libcurand.", "libnvrtc", "libnccl.", "libnvshmem", "libcufile.",
             "libnvJitLink.")
    paths = {line.split(None, 5)[5].strip() for line in open("/proc/self/maps") if "/" in line}
    simulators = {os.path.dirname(p) for p in paths if os.path.basename(p).startswith("libsimgpu.so")}
    if not simulators:
        return None
    return sorted(p for p in paths
                  if os.path.basename(p).startswith(stems) and os.path.dirname(p) not in simulators)


def run_model(torch, kind, layers, steps):
    import transformers
    configuration, model = {
        "qwen2": (transformers.Qwen2Config, transformers.Qwen2ForCausalLM),
        "llama": (transformers.LlamaConfig, transformers.LlamaForCausalLM),
    }[kind]
    config = configuration(hidden_size=256, intermediate_size=512, num_hidden_layers=layers, num_attention_heads=8,
                           num_key_value_heads=2, vocab_size=1000, max_position_embeddings=512)
    model = model(config).to(torch.bfloat16).to("cuda").eval()
    ids = torch.randint(3, 999, (1, PREFILL_TOKENS)).to("cuda")
    token = torch.full((1, 1), 7, device="cuda")
    output = model(ids, use_cache=True)
    cache = output.cache
    for _ in range(steps):
        output = model(token, cache=cache, use_cache=True)
        output.logits[:, -1].argmax(-1)
    torch.cuda.synchronize()
    expected = PREFILL_TOKENS + steps
    if cache.get_seq_length() != expected or tuple(output.logits.shape) != (1, 1, 1000):
        sys.exit(f"model.py: a cache of {cache.get_seq_length()} and logits {tuple(output.logits.shape)}, "
                 f"expected {expected} and (1, 1, 1000)")
    return f"{kind} {layers} layers, prefill {PREFILL_TOKENS}, {steps} steps"


def operations(torch):
    """Name -> a matrix product of that kind."""
    bf16, cuda = torch.bfloat16, "cuda"

    def bf(*shape):
        return torch.randn(*shape, dtype=bf16, device=cuda)

    def fp8(*shape):
        return torch.randn(*shape, device=cuda).to(torch.float8_e4m3fn)

    def int8(*shape):
        return torch.ones(*shape, dtype=torch.int8, device=cuda)

    def replayed_graph():
        """Products and a pointwise kernel, captured once (on a stream of its own) and replayed ten times."""
        x, w, bias = bf(17, 256), bf(256, 512), bf(512)
        torch.addmm(bias, x, w) # libraries make their workspaces before the capture
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = torch.mm(x, w)
            z = torch.addmm(bias, x, w) + y
        for _ in range(10):
            graph.replay()
        torch.cuda.synchronize()
        return z

    one = torch.ones((), device=cuda)
    return {
        "mm": lambda: torch.mm(bf(17, 256), bf(256, 512)),
        "mm_transposed": lambda: torch.mm(bf(17, 256), bf(512, 256).t()),
        "bmm": lambda: torch.bmm(bf(8, 17, 64), bf(8, 64, 33)),
        "addmm_bias": lambda: torch.addmm(bf(512), bf(17, 256), bf(256, 512)),
        "addmm_gelu": lambda: torch._addmm_activation(bf(512), bf(17, 256), bf(256, 512), use_gelu=True),
        "bmm_fp32": lambda: torch.bmm(torch.randn(8, 17, 64, device=cuda), torch.randn(8, 64, 33, device=cuda)),
        "mm_fp32": lambda: torch.mm(torch.randn(17, 256, device=cuda), torch.randn(256, 512, device=cuda)),
        "int_mm": lambda: torch._int_mm(int8(32, 64), int8(64, 128)),
        "graph": replayed_graph,
        "scaled_mm": lambda: torch._scaled_mm(fp8(32, 256), fp8(128, 256).t(), one, one, out_dtype=bf16),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=("qwen2", "llama", "none"), default="qwen2")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--steps", type=int, default=32)
    parser.add_argument("--operations", default="all", help="names with commas between, none, or all (but the graph)")
    arguments = parser.parse_args()

    import torch
    if not torch.cuda.is_available():
        sys.exit("model.py: torch sees no GPU; set LD_LIBRARY_PATH to the simulator's libraries or use a machine with one")
    done = []
    with torch.no_grad():
        if arguments.model != "none":
            done.append(run_model(torch, arguments.model, arguments.layers, arguments.steps))
        table = operations(torch)
        groups = {"all": [name for name in table if name != "graph"], "none": []}
        names = groups.get(arguments.operations, arguments.operations.split(","))
        if not set(names) <= set(table):
            sys.exit(f"model.py: --operations {arguments.operations}: expected all, none or of {', '.join(table)}")
        for name in names:
            table[name]()
        torch.cuda.synchronize()
        done += names
    strangers = vendor_libraries()
    if strangers:
        sys.exit(f"model.py: vendor libraries loaded beside stand-ins: {', '.join(strangers)}")
    where = "simulated" if strangers is not None else "real"
    print(f"{torch.cuda.get_device_name()} ({where}): {'; '.join(done)}")


main()
