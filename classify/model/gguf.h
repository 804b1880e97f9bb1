/* SPDX-License-Identifier: Apache-2.0 */
/* The header of a GGUF file (ggml-org/ggml, docs/gguf.md, versions 2 and 3, little-endian). */
#ifndef CLASSIFY_MODEL_GGUF_H
#define CLASSIFY_MODEL_GGUF_H

#include <stdio.h>

#include "classify/model/checkpoint.h"

/* FILE stands at the file's first byte; FILE_BYTES is its size. */
bool gguf_read(FILE *file, uint64_t file_bytes, struct checkpoint *checkpoint, struct model_error *error);

/* The name of a tensor as Hugging Face has it, `*` for numbers: "blk.*.attn_q.weight" is
 * "layers.*.self_attn.q_proj.weight". Several families share GGUF names, so there may be ALTERNATIVES: 0, 1, ...; NULL:
 * no more. */
const char *gguf_tensor_name(const char *pattern, int alternative);

#endif
