/* SPDX-License-Identifier: Apache-2.0 */
/* Number formats of operands: what CUDA calls cudaDataType, with the names and bits that a report needs. */
#ifndef CLASSIFY_NUMBER_TYPE_H
#define CLASSIFY_NUMBER_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum number_type {
    NUMBER_UNKNOWN = 0,
    NUMBER_FP64,
    NUMBER_FP32,
    NUMBER_TF32, /* never a storage type: fp32 operands, rounded by the tensor core */
    NUMBER_BF16,
    NUMBER_FP16,
    NUMBER_FP8_E4M3,
    NUMBER_FP8_E5M2,
    NUMBER_FP8_UE8M0,
    NUMBER_FP6_E2M3,
    NUMBER_FP6_E3M2,
    NUMBER_FP4_E2M1,
    NUMBER_INT64,
    NUMBER_UINT64,
    NUMBER_INT32,
    NUMBER_UINT32,
    NUMBER_INT16,
    NUMBER_UINT16,
    NUMBER_INT8,
    NUMBER_UINT8,
    NUMBER_INT4,
    NUMBER_UINT4,
    NUMBER_TYPE_COUNT,
};

/* What one cudaDataType value stands for. */
struct number_format {
    enum number_type type;
    bool complex;
    int bits; /* of one element, both parts of a complex one; 0: not known */
};

/* CUDA_DATA_TYPE is cudaDataType; type NUMBER_UNKNOWN and bits 0 where the value is not known. */
struct number_format number_format(int32_t cuda_data_type);

/* "bf16", "fp8_e4m3", ...; NULL for NUMBER_UNKNOWN. */
const char *number_type_name(enum number_type type);

/* "complex_fp32" for a complex format; NULL where the type is not known. */
const char *number_format_name(struct number_format format);

#endif
