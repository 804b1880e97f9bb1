/* SPDX-License-Identifier: Apache-2.0 */
/* Fake libcublasLt: descriptors as tables of attributes with the sizes that the real library insists on. */
#include <stdlib.h>
#include <string.h>

#include "tests/preload/fake.h"

enum { INVALID_VALUE = 7, NOT_SET = 0 };

struct cublasLtMatmulDescOpaque {
    uint64_t value[32];
};
struct cublasLtMatrixLayoutOpaque {
    uint64_t value[14];
};

/* Bytes by attribute number, 0: unknown. */
static const unsigned char desc_bytes[] = {4, 4, 4, 4, 4, 4, 4, 4, 8, 0, 8, 8, 8, 8, 8, 4, 0, 8, 8,
                                           8, 8, 8, 4, 8, 8, 1, 4, 0, 0, 0, 0, 4, 4, 4, 4, 4, 8, 4};
static const unsigned char layout_bytes[] = {4, 4, 8, 8, 8, 4, 8, 8, 4};
/* Where in the descriptor: attributes from 8 on are packed so that all fit. */
static unsigned desc_place(int attribute)
{
    return attribute < 27 ? (unsigned)attribute : (unsigned)attribute - 7;
}

static int set(uint64_t *to, unsigned char expected, const void *value, size_t bytes)
{
    if (!expected || bytes != expected || !value)
        return INVALID_VALUE;
    memcpy(to, value, bytes);
    return 0;
}

static int get(const uint64_t *from, unsigned char expected, void *value, size_t bytes, size_t *written)
{
    if (!expected || bytes != expected || !value)
        return INVALID_VALUE;
    memcpy(value, from, bytes);
    if (written)
        *written = bytes;
    return 0;
}

int fake_cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t desc, size_t size, int compute, int scale)
{
    int epilogue = 1, none = -1;
    if (!desc || size < sizeof *desc)
        return INVALID_VALUE;
    memset(desc, 0, sizeof *desc);
    memcpy(&desc->value[0], &compute, 4);
    memcpy(&desc->value[1], &scale, 4);
    memcpy(&desc->value[7], &epilogue, 4);
    memcpy(&desc->value[22], &none, 4);
    memcpy(&desc->value[26], &none, 4);
    return 0;
}

int fake_cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc, int compute, int scale)
{
    if (!desc)
        return INVALID_VALUE;
    *desc = malloc(sizeof **desc);
    return fake_cublasLtMatmulDescInit_internal(*desc, sizeof **desc, compute, scale);
}

int fake_cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc)
{
    free(desc);
    return 0;
}

int fake_cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, int attribute, const void *value, size_t bytes)
{
    if (!desc || attribute < 0 || (size_t)attribute >= sizeof desc_bytes)
        return INVALID_VALUE;
    return set(&desc->value[desc_place(attribute)], desc_bytes[attribute], value, bytes);
}

int cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t desc, int attribute, void *value, size_t bytes,
                                   size_t *written);
int cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t desc, int attribute, void *value, size_t bytes, size_t *written)
{
    if (!desc || attribute < 0 || (size_t)attribute >= sizeof desc_bytes)
        return INVALID_VALUE;
    return get(&desc->value[desc_place(attribute)], desc_bytes[attribute], value, bytes, written);
}

int fake_cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout, size_t size, int type, uint64_t rows,
                                           uint64_t cols, int64_t ld)
{
    int one = 1;
    if (!layout || size < 8 * sizeof(uint64_t))
        return INVALID_VALUE;
    memset(layout, 0, size < sizeof *layout ? size : sizeof *layout);
    memcpy(&layout->value[0], &type, 4);
    layout->value[2] = rows;
    layout->value[3] = cols;
    memcpy(&layout->value[4], &ld, 8);
    memcpy(&layout->value[5], &one, 4);
    return 0;
}

int fake_cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, int type, uint64_t rows, uint64_t cols, int64_t ld)
{
    if (!layout)
        return INVALID_VALUE;
    *layout = malloc(sizeof **layout);
    return fake_cublasLtMatrixLayoutInit_internal(*layout, sizeof **layout, type, rows, cols, ld);
}

int fake_cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout)
{
    free(layout);
    return 0;
}

int fake_cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout, int attribute, const void *value, size_t bytes)
{
    if (!layout || attribute < 0 || (size_t)attribute >= sizeof layout_bytes)
        return INVALID_VALUE;
    return set(&layout->value[attribute], layout_bytes[attribute], value, bytes);
}

int cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t layout, int attribute, void *value, size_t bytes,
                                     size_t *written);
int cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t layout, int attribute, void *value, size_t bytes,
                                     size_t *written)
{
    if (!layout || attribute < 0 || (size_t)attribute >= sizeof layout_bytes)
        return INVALID_VALUE;
    return get(&layout->value[attribute], layout_bytes[attribute], value, bytes, written);
}
