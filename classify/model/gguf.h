/* SPDX-License-Identifier: Apache-2.0 */
/* The header of a GGUF file (ggml-org/ggml, docs/gguf.md, versions 2 and 3, little-endian). */
#ifndef CLASSIFY_MODEL_GGUF_H
#define CLASSIFY_MODEL_GGUF_H

#include <stdio.h>

#include "classify/model/checkpoint.h"

/* FILE stands at the file's first byte; FILE_BYTES is its size. */
bool gguf_read(FILE *file, uint64_t file_bytes, struct checkpoint *checkpoint, struct model_error *error);

/* A tensor's name in GGUF and in Hugging Face's words, `*` for numbers. */
struct gguf_name {
    const char *gguf; /* "blk.*.attn_q.weight" */
    const char *name; /* "layers.*.self_attn.q_proj.weight" */
    int parts;        /* how many GGUF tensors one of the other name is cut into */
};

/* Several families share GGUF names, so there may be ALTERNATIVES: 0, 1, ...; NULL: no more. */
const struct gguf_name *gguf_tensor_name(const char *pattern, int alternative);

#endif
