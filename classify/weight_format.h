/* SPDX-License-Identifier: Apache-2.0 */
/* How weights are stored: bits of one weight and what lies beside it, a row a format, with its source. */
#ifndef CLASSIFY_WEIGHT_FORMAT_H
#define CLASSIFY_WEIGHT_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "classify/gemm_work.h"

struct weight_format {
    const char *name; /* "bf16", "int4", "q4_K", ...: lower case but for ggml's own spelling */
    double bits;      /* of one weight alone */
    struct gemm_scales scales;
    const char *layout; /* in words: group size and what lies beside it */
    const char *source;
};

/* All rows, *COUNT of them. Static. */
const struct weight_format *weight_formats(size_t *count);

/* NULL if no row has exactly this name. */
const struct weight_format *weight_format_find(const char *name);
/* The same whatever the case: formats of files (classify/model/formats.h) are spelled in lower case. */
const struct weight_format *weight_format_of_file(const char *name);

/* Bytes of an N x K weight, groups along K; the last group of a row may be short, its scale is whole. */
double weight_format_bytes(const struct weight_format *format, int64_t n, int64_t k);

/* Bits of one weight, scales included, where K is whole groups: 4.5 for q4_0; scales of a channel or matrix not counted. */
double weight_format_bits(const struct weight_format *format);

#endif
