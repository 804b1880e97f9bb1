/* SPDX-License-Identifier: Apache-2.0 */
/* The table of weight formats. To add one: a row, with its source. */
#include "classify/weight_format.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define GGML       "ggml-org/llama.cpp ggml/src/ggml-common.h, static_assert of the block"
#define OCP_MX     "OCP Microscaling Formats (MX) specification 1.0, section 5.3"
#define CUBLAS_LT  "cuBLAS 13 documentation, cublasLtMatmulMatrixScale_t"
#define COMPRESSED "vllm-project/compressed-tensors README: channel scales of the weight"

/* bits of a scale with what else lies in the block, outer block (N), inner block (K); see struct gemm_scales */
/* clang-format off */
static const struct weight_format formats[] = {
    {"fp32",          32, {0, 0, 0, 0},   "none",                                             "IEEE 754"},
    {"fp16",          16, {0, 0, 0, 0},   "none",                                             "IEEE 754"},
    {"bf16",          16, {0, 0, 0, 0},   "none",                                             "bfloat16: upper half of fp32"},
    {"fp8",            8, {32, 1, 0, 0},  "an fp32 scale a channel",                          COMPRESSED},
    {"fp8-tensor",     8, {32, 0, 0, 0},  "an fp32 scale a matrix",                           CUBLAS_LT},
    {"fp8-block128",   8, {32, 128, 128, 0}, "an fp32 scale for 128 x 128",                   "deepseek-ai/DeepSeek-V3 config.json, weight_block_size"},
    {"int8",           8, {16, 1, 0, 0},  "a 16-bit scale a channel",                         COMPRESSED},
    {"int4",           4, {20, 1, 128, 0}, "groups of 128: a 16-bit scale, a 4-bit zero",     "AWQ, arXiv 2306.00978; GPTQ, arXiv 2210.17323, with group_size 128"},
    {"int4-g64",       4, {20, 1, 64, 0}, "groups of 64: a 16-bit scale, a 4-bit zero",       "AWQ, arXiv 2306.00978, with group_size 64"},
    {"int4-g32",       4, {20, 1, 32, 0}, "groups of 32: a 16-bit scale, a 4-bit zero",       "GPTQ, arXiv 2210.17323, with group_size 32"},
    {"int4-symmetric", 4, {16, 1, 128, 0}, "groups of 128: a 16-bit scale",                   "Marlin, arXiv 2408.11743: 128-column groups, no zero point"},
    {"mxfp8",          8, {8, 1, 32, 0},  "an 8-bit exponent for 32",                         OCP_MX},
    {"mxfp6",          6, {8, 1, 32, 0},  "an 8-bit exponent for 32",                         OCP_MX},
    {"mxfp4",          4, {8, 1, 32, 0},  "an 8-bit exponent for 32",                         OCP_MX},
    {"nvfp4",          4, {8, 1, 16, 0},  "an fp8 scale for 16",                              CUBLAS_LT},
    {"q4_0",           4, {16, 1, 32, 0}, "blocks of 32: fp16 scale",                         GGML},
    {"q4_1",           4, {32, 1, 32, 0}, "blocks of 32: fp16 scale and minimum",             GGML},
    {"q5_0",           5, {16, 1, 32, 0}, "blocks of 32: fp16 scale",                         GGML},
    {"q5_1",           5, {32, 1, 32, 0}, "blocks of 32: fp16 scale and minimum",             GGML},
    {"q8_0",           8, {16, 1, 32, 0}, "blocks of 32: fp16 scale",                         GGML},
    {"q2_K",           2, {160, 1, 256, 0}, "blocks of 256: 16 x (4 + 4) bits, two fp16",     GGML},
    {"q3_K",           3, {112, 1, 256, 0}, "blocks of 256: 16 x 6 bits, one fp16",           GGML},
    {"q4_K",           4, {128, 1, 256, 0}, "blocks of 256: 8 x (6 + 6) bits, two fp16",      GGML},
    {"q5_K",           5, {128, 1, 256, 0}, "blocks of 256: 8 x (6 + 6) bits, two fp16",      GGML},
    {"q6_K",           6, {144, 1, 256, 0}, "blocks of 256: 16 x 8 bits, one fp16",           GGML},
    {"iq1_s",          1, {144, 1, 256, 0}, "blocks of 256: 8 x 16 bits, one fp16",           GGML},
    {"iq1_m",          1, {192, 1, 256, 0}, "blocks of 256: 128 bits of index, 8 x 8 bits",   GGML},
    {"iq2_xxs",        2, {16, 1, 256, 0}, "blocks of 256: one fp16",                         GGML},
    {"iq2_xs",         2, {80, 1, 256, 0}, "blocks of 256: 8 x 8 bits, one fp16",             GGML},
    {"iq2_s",          2, {144, 1, 256, 0}, "blocks of 256: 16 x 8 bits, one fp16",           GGML},
    {"iq3_xxs",        3, {16, 1, 256, 0}, "blocks of 256: one fp16",                         GGML},
    {"iq3_s",          3, {112, 1, 256, 0}, "blocks of 256: 8 x 8 + 4 x 8 bits, one fp16",    GGML},
    {"iq4_nl",         4, {16, 1, 32, 0}, "blocks of 32: fp16 scale",                         GGML},
    {"iq4_xs",         4, {64, 1, 256, 0}, "blocks of 256: 8 x 6 bits, one fp16",             GGML},
    {"tq1_0",          1.6875, {0, 0, 0, 0}, "blocks of 256: 432 bits in all",                   GGML},
    {"tq2_0",          2, {16, 1, 256, 0}, "blocks of 256: one fp16",                         GGML},
    {"q1_0",           1, {16, 1, 128, 0}, "blocks of 128: fp16 scale",                       GGML},
    {"q2_0",           2, {16, 1, 64, 0}, "blocks of 64: fp16 scale",                         GGML},
};
/* clang-format on */

const struct weight_format *weight_formats(size_t *count)
{
    *count = sizeof formats / sizeof formats[0];
    return formats;
}

const struct weight_format *weight_format_find(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (name && !strcmp(formats[i].name, name))
            return &formats[i];
    return NULL;
}

const struct weight_format *weight_format_of_file(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (!strcasecmp(formats[i].name, name))
            return &formats[i];
    return NULL;
}

double weight_format_bytes(const struct weight_format *format, int64_t n, int64_t k)
{
    struct gemm_model model =
        gemm_with_weight(&(struct gemm_model){.m = 1, .n = n, .k = k, .batch = 1}, format->bits, format->scales);
    struct gemm_work work;
    model.operand[GEMM_RIGHT].matrices = 1;
    gemm_work(&model, &work);
    return work.operand_bytes[GEMM_RIGHT];
}

double weight_format_bits(const struct weight_format *format)
{
    const struct gemm_scales *scales = &format->scales;
    if (scales->bits == 0 || scales->inner <= 0)
        return format->bits;
    double block = (double)scales->inner * (scales->outer > 0 ? (double)scales->outer : 1);
    return format->bits + scales->bits / block;
}
