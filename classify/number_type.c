/* SPDX-License-Identifier: Apache-2.0 */
/* cudaDataType values by number, as CUDA's library_types.h has numbered them since 8.0; new formats are appended there. */
#include "classify/number_type.h"

#define REAL(value, type_, bits_)    [value] = {type_, false, bits_}
#define COMPLEX(value, type_, bits_) [value] = {type_, true, 2 * (bits_)}

static const struct number_format formats[] = {
    REAL(0, NUMBER_FP32, 32),       COMPLEX(4, NUMBER_FP32, 32), /* CUDA_R_32F, CUDA_C_32F */
    REAL(1, NUMBER_FP64, 64),       COMPLEX(5, NUMBER_FP64, 64),    REAL(2, NUMBER_FP16, 16),
    COMPLEX(6, NUMBER_FP16, 16),    REAL(3, NUMBER_INT8, 8),        COMPLEX(7, NUMBER_INT8, 8),
    REAL(8, NUMBER_UINT8, 8),       COMPLEX(9, NUMBER_UINT8, 8),    REAL(10, NUMBER_INT32, 32),
    COMPLEX(11, NUMBER_INT32, 32),  REAL(12, NUMBER_UINT32, 32),    COMPLEX(13, NUMBER_UINT32, 32),
    REAL(14, NUMBER_BF16, 16),      COMPLEX(15, NUMBER_BF16, 16),   REAL(16, NUMBER_INT4, 4),
    COMPLEX(17, NUMBER_INT4, 4),    REAL(18, NUMBER_UINT4, 4),      COMPLEX(19, NUMBER_UINT4, 4),
    REAL(20, NUMBER_INT16, 16),     COMPLEX(21, NUMBER_INT16, 16),  REAL(22, NUMBER_UINT16, 16),
    COMPLEX(23, NUMBER_UINT16, 16), REAL(24, NUMBER_INT64, 64),     COMPLEX(25, NUMBER_INT64, 64),
    REAL(26, NUMBER_UINT64, 64),    COMPLEX(27, NUMBER_UINT64, 64), REAL(28, NUMBER_FP8_E4M3, 8),
    REAL(29, NUMBER_FP8_E5M2, 8),   REAL(30, NUMBER_FP8_UE8M0, 8),  REAL(31, NUMBER_FP6_E2M3, 6),
    REAL(32, NUMBER_FP6_E3M2, 6),   REAL(33, NUMBER_FP4_E2M1, 4),
};

static const char *const names[NUMBER_TYPE_COUNT][2] = {
    [NUMBER_FP64] = {"fp64", "complex_fp64"},       [NUMBER_FP32] = {"fp32", "complex_fp32"},
    [NUMBER_TF32] = {"tf32", "complex_tf32"},       [NUMBER_BF16] = {"bf16", "complex_bf16"},
    [NUMBER_FP16] = {"fp16", "complex_fp16"},       [NUMBER_FP8_E4M3] = {"fp8_e4m3", NULL},
    [NUMBER_FP8_E5M2] = {"fp8_e5m2", NULL},         [NUMBER_FP8_UE8M0] = {"fp8_ue8m0", NULL},
    [NUMBER_FP6_E2M3] = {"fp6_e2m3", NULL},         [NUMBER_FP6_E3M2] = {"fp6_e3m2", NULL},
    [NUMBER_FP4_E2M1] = {"fp4_e2m1", NULL},         [NUMBER_INT64] = {"int64", "complex_int64"},
    [NUMBER_UINT64] = {"uint64", "complex_uint64"}, [NUMBER_INT32] = {"int32", "complex_int32"},
    [NUMBER_UINT32] = {"uint32", "complex_uint32"}, [NUMBER_INT16] = {"int16", "complex_int16"},
    [NUMBER_UINT16] = {"uint16", "complex_uint16"}, [NUMBER_INT8] = {"int8", "complex_int8"},
    [NUMBER_UINT8] = {"uint8", "complex_uint8"},    [NUMBER_INT4] = {"int4", "complex_int4"},
    [NUMBER_UINT4] = {"uint4", "complex_uint4"},
};

struct number_format number_format(int32_t cuda_data_type)
{
    if (cuda_data_type < 0 || (size_t)cuda_data_type >= sizeof formats / sizeof formats[0])
        return (struct number_format){NUMBER_UNKNOWN, false, 0};
    return formats[cuda_data_type];
}

const char *number_type_name(enum number_type type)
{
    return (unsigned)type < NUMBER_TYPE_COUNT ? names[type][0] : NULL;
}

const char *number_format_name(struct number_format format)
{
    return (unsigned)format.type < NUMBER_TYPE_COUNT ? names[format.type][format.complex] : NULL;
}
