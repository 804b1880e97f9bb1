#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""model_config.py FOLDER: makes a folder with the config.json of a small Qwen2, all that an engine with dummy weights needs."""
import json
import pathlib
import sys

CONFIG = {"architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "hidden_size": 256, "intermediate_size": 512,
          "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 1024,
          "max_position_embeddings": 512, "rms_norm_eps": 1e-6, "rope_theta": 1000000.0, "hidden_act": "silu",
          "tie_word_embeddings": False, "torch_dtype": "bfloat16", "bos_token_id": 1, "eos_token_id": 2}

if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(CONFIG, indent=1) + "\n")
