#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program as users of vLLM write them, for the profiler to look at: an engine on a small Qwen2 of random weights, which
answers a few prompts. It knows nothing of rooftap. The engine runs in a process of its own, as it does by default.

    serve.py MODEL [--graphs] [--worker] [--prompts N] [--prompt-tokens N] [--new-tokens N]

MODEL is the folder that model_config.py made. What is read back from a simulated kernel is stale, so no answer is looked at,
but for its length: the end of a sequence is ignored and the number of tokens is fixed. Prints one line of JSON."""
import argparse
import json


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--graphs", action="store_true", help="torch.compile and CUDA graphs, as vLLM has them by default")
    parser.add_argument("--worker", action="store_true", help="the model in a process of its own below the engine's")
    parser.add_argument("--prompts", type=int, default=4)
    parser.add_argument("--prompt-tokens", type=int, default=48)
    parser.add_argument("--new-tokens", type=int, default=16)
    arguments = parser.parse_args()

    from vllm import LLM, SamplingParams

    engine = LLM(model=arguments.model, load_format="dummy", skip_tokenizer_init=True, max_model_len=256, max_num_seqs=8,
                 max_num_batched_tokens=512, gpu_memory_utilization=0.1, enforce_eager=not arguments.graphs,
                 distributed_executor_backend="mp" if arguments.worker else None)
    prompts = [{"prompt_token_ids": list(range(5 + i, 5 + i + arguments.prompt_tokens))} for i in range(arguments.prompts)]
    sampling = SamplingParams(max_tokens=arguments.new_tokens, ignore_eos=True, temperature=0, detokenize=False)
    answers = engine.generate(prompts, sampling, use_tqdm=False)
    print(json.dumps({"answers": [len(answer.outputs[0].token_ids) for answer in answers]}), flush=True)


if __name__ == "__main__":  # the engine's process is spawned, and imports this file
    main()
