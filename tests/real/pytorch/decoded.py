#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A language model's decode step as engines run it: a transformers Llama of random weights with a static cache, one prefill,
one step captured as a CUDA graph, then replayed. It knows nothing of rooftap, and no result decides what it does next: places
are counted on the host and copied into the graph's input.    usage: decoded.py STEPS [--wait]
With --wait it says when all is captured and goes on at a line of input, as a server waits for requests."""
import sys

import torch
import transformers

PREFILL_TOKENS = 17


def main():
    steps = int(sys.argv[1])
    config = transformers.LlamaConfig(hidden_size=256, intermediate_size=512, num_hidden_layers=2, num_attention_heads=8,
                                      num_key_value_heads=2, vocab_size=1000, max_position_embeddings=1024)
    model = transformers.LlamaForCausalLM(config).to(torch.bfloat16).to("cuda").eval()
    cache = transformers.StaticCache(config=config, max_cache_len=PREFILL_TOKENS + steps + 8)
    token = torch.full((1, 1), 7, device="cuda")
    place = torch.full((1, 1), PREFILL_TOKENS, device="cuda")

    def step():
        return model(token, position_ids=place, cache=cache, use_cache=True).logits[:, -1].argmax(-1)

    with torch.no_grad():
        model(torch.randint(3, 999, (1, PREFILL_TOKENS)).to("cuda"), cache=cache, use_cache=True)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(2):
                step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            chosen = step()
        if "--wait" in sys.argv[2:]:
            torch.cuda.synchronize()
            print("captured", flush=True)
            sys.stdin.readline()
        for i in range(steps):
            place.fill_(PREFILL_TOKENS + i)
            graph.replay()
            token.copy_(chosen.view(1, 1))
    torch.cuda.synchronize()
    print(f"{steps} replays of a step of {config.num_hidden_layers} layers")


main()
