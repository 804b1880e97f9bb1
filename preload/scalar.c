/* SPDX-License-Identifier: Apache-2.0 */
/* A scalar is one or two parts of the same width; each part is compared with the bits of zero (either sign) and of one. */
#include "preload/scalar.h"

#include <string.h>

#include "preload/cublas_types.h"

struct scalar_type {
    int type; /* cudaDataType */
    uint8_t part_bytes, parts;
    uint64_t one, sign; /* bits of 1 and of the sign that zero may have */
};

/* clang-format off */
static const struct scalar_type scalar_types[] = {
    {VENDOR_R_32F,  4, 1, 0x3f800000,           0x80000000},
    {VENDOR_R_64F,  8, 1, 0x3ff0000000000000,   0x8000000000000000},
    {VENDOR_R_16F,  2, 1, 0x3c00,               0x8000},
    {VENDOR_C_32F,  4, 2, 0x3f800000,           0x80000000},
    {VENDOR_C_64F,  8, 2, 0x3ff0000000000000,   0x8000000000000000},
    {VENDOR_C_16F,  2, 2, 0x3c00,               0x8000},
    {VENDOR_R_32I,  4, 1, 1,                    0},
    {VENDOR_C_32I,  4, 2, 1,                    0},
    {VENDOR_R_16BF, 2, 1, 0x3f80,               0x8000},
    {VENDOR_C_16BF, 2, 2, 0x3f80,               0x8000},
};
/* clang-format on */

static const struct scalar_type *find_type(int type)
{
    for (size_t i = 0; i < sizeof scalar_types / sizeof scalar_types[0]; i++)
        if (scalar_types[i].type == type)
            return &scalar_types[i];
    return NULL;
}

size_t scalar_bytes(int type)
{
    const struct scalar_type *row = find_type(type);
    return row ? (size_t)row->part_bytes * row->parts : 0;
}

static uint64_t part(const void *value, unsigned bytes, unsigned index)
{
    uint16_t half;
    uint32_t single;
    uint64_t whole;
    const char *at = (const char *)value + bytes * index;
    switch (bytes) {
    case 2:
        memcpy(&half, at, 2);
        return half;
    case 4:
        memcpy(&single, at, 4);
        return single;
    default:
        memcpy(&whole, at, 8);
        return whole;
    }
}

enum trace_scalar scalar_classify_by_table(const void *value, int type)
{
    const struct scalar_type *row = find_type(type);
    if (!row)
        return TRACE_SCALAR_UNKNOWN;
    uint64_t real = part(value, row->part_bytes, 0);
    uint64_t imaginary = row->parts == 2 ? part(value, row->part_bytes, 1) & ~row->sign : 0;
    if (imaginary)
        return TRACE_SCALAR_OTHER;
    if (!(real & ~row->sign))
        return TRACE_SCALAR_ZERO;
    return real == row->one ? TRACE_SCALAR_ONE : TRACE_SCALAR_OTHER;
}
