/* SPDX-License-Identifier: Apache-2.0 */
/* Block sizes of GGUF types: ggml-org/ggml, src/ggml-common.h (block_q4_0 and its like) and the table type_traits of
 * src/ggml.c. MXFP4: OCP Microscaling Formats 1.0, 32 elements and one 8-bit scale. NVFP4: 16 elements and one fp8 scale. */
#include "classify/model/formats.h"

#include <stdio.h>
#include <string.h>

#define K  MODEL_FORMAT_KV
#define A  MODEL_FORMAT_OPERANDS
#define NO GPU_PATH_UNKNOWN
#define NG MODEL_FORMAT_NO_GGUF

/* clang-format off */
static const struct model_format formats[] = {
    /* name      bits      path               uses   safetensors  gguf  block  bytes  note */
    {"fp32",     32,       GPU_PATH_FP32,     K | A, "F32",       0,    1,     4,     NULL},
    {"bf16",     16,       GPU_PATH_BF16,     K | A, "BF16",      30,   1,     2,     NULL},
    {"fp16",     16,       GPU_PATH_FP16,     K | A, "F16",       1,    1,     2,     NULL},
    {"fp8",      8,        GPU_PATH_FP8_E4M3, K | A, "F8_E4M3",   NG,   0,     0,     "e4m3, one scale a tensor or channel: not counted"},
    {"fp8_e5m2", 8,        GPU_PATH_FP8_E5M2, K | A, "F8_E5M2",   NG,   0,     0,     NULL},
    {"int8",     8,        GPU_PATH_INT8,     K | A, "I8",        24,   1,     1,     "one scale a tensor or channel: not counted"},
    {"nvfp4",    4.5,      GPU_PATH_FP4_E2M1, K | A, NULL,        40,   64,    36,    "4 bits and an 8-bit scale for 16 elements"},
    {"mxfp4",    4.25,     GPU_PATH_FP4_E2M1, A,     NULL,        39,   32,    17,    "4 bits and an 8-bit scale for 32 elements"},
    {"q4_0",     4.5,      NO,                K,     NULL,        2,    32,    18,    NULL},
    {"q4_1",     5,        NO,                K,     NULL,        3,    32,    20,    NULL},
    {"q5_0",     5.5,      NO,                K,     NULL,        6,    32,    22,    NULL},
    {"q5_1",     6,        NO,                K,     NULL,        7,    32,    24,    NULL},
    {"q8_0",     8.5,      NO,                K,     NULL,        8,    32,    34,    NULL},
    {"q8_1",     9,        NO,                0,     NULL,        9,    32,    36,    NULL},
    {"q2_k",     2.625,    NO,                0,     NULL,        10,   256,   84,    NULL},
    {"q3_k",     3.4375,   NO,                0,     NULL,        11,   256,   110,   NULL},
    {"q4_k",     4.5,      NO,                0,     NULL,        12,   256,   144,   NULL},
    {"q5_k",     5.5,      NO,                0,     NULL,        13,   256,   176,   NULL},
    {"q6_k",     6.5625,   NO,                0,     NULL,        14,   256,   210,   NULL},
    {"q8_k",     9.125,    NO,                0,     NULL,        15,   256,   292,   NULL},
    {"iq2_xxs",  2.0625,   NO,                0,     NULL,        16,   256,   66,    NULL},
    {"iq2_xs",   2.3125,   NO,                0,     NULL,        17,   256,   74,    NULL},
    {"iq3_xxs",  3.0625,   NO,                0,     NULL,        18,   256,   98,    NULL},
    {"iq1_s",    1.5625,   NO,                0,     NULL,        19,   256,   50,    NULL},
    {"iq4_nl",   4.5,      NO,                K,     NULL,        20,   32,    18,    NULL},
    {"iq3_s",    3.4375,   NO,                0,     NULL,        21,   256,   110,   NULL},
    {"iq2_s",    2.5625,   NO,                0,     NULL,        22,   256,   82,    NULL},
    {"iq4_xs",   4.25,     NO,                0,     NULL,        23,   256,   136,   NULL},
    {"iq1_m",    1.75,     NO,                0,     NULL,        29,   256,   56,    NULL},
    {"tq1_0",    1.6875,   NO,                0,     NULL,        34,   256,   54,    NULL},
    {"tq2_0",    2.0625,   NO,                0,     NULL,        35,   256,   66,    NULL},
    {"q1_0",     1.125,    NO,                0,     NULL,        41,   128,   18,    NULL},
    {"q2_0",     2.25,     NO,                0,     NULL,        42,   64,    18,    NULL},
    {"fp64",     64,       NO,                0,     "F64",       28,   1,     8,     NULL},
    {"int64",    64,       NO,                0,     "I64",       27,   1,     8,     NULL},
    {"int32",    32,       NO,                0,     "I32",       26,   1,     4,     NULL},
    {"int16",    16,       NO,                0,     "I16",       25,   1,     2,     NULL},
    {"uint8",    8,        NO,                0,     "U8",        NG,   0,     0,     NULL},
    {"uint16",   16,       NO,                0,     "U16",       NG,   0,     0,     NULL},
    {"uint32",   32,       NO,                0,     "U32",       NG,   0,     0,     NULL},
    {"uint64",   64,       NO,                0,     "U64",       NG,   0,     0,     NULL},
    {"bool",     8,        NO,                0,     "BOOL",      NG,   0,     0,     NULL},
    {"ue8m0",    8,        NO,                0,     "F8_E8M0",   NG,   0,     0,     NULL},
};

static const struct {
    const char *torch, *format;
} torch_names[] = {
    {"float32", "fp32"}, {"bfloat16", "bf16"}, {"float16", "fp16"}, {"half", "fp16"}, {"float", "fp32"},
    {"float8_e4m3fn", "fp8"},
};
/* clang-format on */

enum { FORMATS = sizeof formats / sizeof formats[0] };

const struct model_format *model_formats(size_t *count)
{
    *count = FORMATS;
    return formats;
}

const struct model_format *model_format_by_name(const char *name)
{
    for (size_t i = 0; name && i < FORMATS; i++)
        if (!strcmp(formats[i].name, name))
            return &formats[i];
    return NULL;
}

const struct model_format *model_format_by_gguf(uint32_t ggml_type)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i].gguf_type >= 0 && (uint32_t)formats[i].gguf_type == ggml_type)
            return &formats[i];
    return NULL;
}

const struct model_format *model_format_by_safetensors(const char *dtype)
{
    for (size_t i = 0; dtype && i < FORMATS; i++)
        if (formats[i].safetensors && !strcmp(formats[i].safetensors, dtype))
            return &formats[i];
    return NULL;
}

const struct model_format *model_format_by_torch(const char *dtype)
{
    if (dtype && !strncmp(dtype, "torch.", 6))
        dtype += 6;
    for (size_t i = 0; dtype && i < sizeof torch_names / sizeof torch_names[0]; i++)
        if (!strcmp(torch_names[i].torch, dtype))
            return model_format_by_name(torch_names[i].format);
    return NULL;
}

void model_format_list(enum model_format_use use, char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i].uses & use && used < bytes)
            used += (size_t)snprintf(text + used, bytes - used, "%s%s", used ? "|" : "", formats[i].name);
}
