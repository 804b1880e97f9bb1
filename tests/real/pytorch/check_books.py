#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_books.py ROOFTAP SESSION MODEL: the weights that model.py's transformers model multiplied are those of its config.json, to
the byte, in prefill and in decode; model.py knows neither rooftap nor how many calls it makes."""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOFTAP, SESSION, MODEL = sys.argv[1:]
HIDDEN, FFN, KV, VOCABULARY, LAYERS = 256, 512, 64, 1000, 4
CONFIG = dict(model_type=MODEL, hidden_size=HIDDEN, intermediate_size=FFN, num_hidden_layers=LAYERS, num_attention_heads=8,
              num_key_value_heads=2, vocab_size=VOCABULARY, tie_word_embeddings=False, torch_dtype="bfloat16")
BYTES = 2 * (LAYERS * (HIDDEN * (HIDDEN + 2 * KV) + HIDDEN * HIDDEN + 3 * HIDDEN * FFN) + VOCABULARY * HIDDEN)

with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "config.json"
    path.write_text(json.dumps(CONFIG))
    done = subprocess.run([ROOFTAP, "report", "--json", "--predict", path, SESSION], check=True, stdout=subprocess.PIPE)
books = json.loads(done.stdout)["books"]
device, = books["devices"]
found = {"model": books["own_bytes"], "step": device["bytes"], "prefill": device["prefill"]["share"],
         "decode": device["decode"]["share"], "missing": [row["name"] for row in device["rows"] if not row["seen"]]}
wanted = {"model": [BYTES, BYTES], "step": BYTES, "prefill": [1, 1], "decode": [1, 1], "missing": []}
if found != wanted:
    sys.exit(f"check_books.py: {found}\nexpected {wanted}")
print(f"books: {BYTES} bytes of weights a step, all of them")
