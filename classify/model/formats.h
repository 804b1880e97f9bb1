/* SPDX-License-Identifier: Apache-2.0 */
/* How elements are stored, in checkpoints, KV caches and the operands of GEMMs: one row a format, with the bits that one
 * element takes, scales in its block included, and what GGUF and safetensors call it. */
#ifndef CLASSIFY_MODEL_FORMATS_H
#define CLASSIFY_MODEL_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/gpu_specs.h"

enum model_format_use {
    MODEL_FORMAT_KV = 1 << 0,
    MODEL_FORMAT_OPERANDS = 1 << 1, /* a GEMM can multiply in it: the row has a path */
};

enum { MODEL_FORMAT_NO_GGUF = -1 };

struct model_format {
    const char *name;   /* what --kv and --dtype take */
    double bits;        /* of one element, its share of the scales included */
    enum gpu_path path; /* of a GEMM with both operands so; GPU_PATH_UNKNOWN */
    unsigned uses;
    const char *safetensors;     /* "BF16"; NULL */
    int gguf_type;               /* ggml_type, MODEL_FORMAT_NO_GGUF */
    uint32_t block, block_bytes; /* how GGUF stores it: elements and bytes of a block; 0 where it has no such type */
    const char *note;            /* what the bits are made of; NULL where that is plain */
};

const struct model_format *model_formats(size_t *count);
const struct model_format *model_format_by_name(const char *name);         /* NULL: none */
const struct model_format *model_format_by_gguf(uint32_t ggml_type);       /* NULL: none */
const struct model_format *model_format_by_safetensors(const char *dtype); /* NULL: none */
const struct model_format *model_format_by_torch(const char *dtype);       /* "bfloat16"; NULL: none */
/* The names of all rows with USE, as "a|b|c", into TEXT. */
void model_format_list(enum model_format_use use, char *text, size_t bytes);

#endif
