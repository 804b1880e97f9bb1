/* SPDX-License-Identifier: Apache-2.0 */
/* What a cublasLtMatmul() call asks: read from its descriptors with the library's public getters, and remembered. */
#ifndef PRELOAD_LT_SHAPES_H
#define PRELOAD_LT_SHAPES_H

#include "preload/cublas_types.h"
#include "trace/trace.h"

struct lt_descriptors {
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t layout[4]; /* A, B, C, D */
};

enum { LT_SHAPES_LINES = 256 };

/* A shape that is remembered: LINE and SEQUENCE together name one shape for as long as the process lives. */
struct lt_found {
    uint64_t sequence;    /* 0: none, and nothing else here is meant */
    uint32_t line;        /* below LT_SHAPES_LINES */
    int32_t type_scale;   /* of the shape; the same as the signature would have it */
    uint8_t pointer_mode; /* the same */
};

/* Both after the call succeeded. Scalars are not touched. */

/* Which remembered shape the descriptors have, if any. */
struct lt_found lt_shapes_find(const struct lt_descriptors *descriptors);

/* REAL: the function that was called. SIGNATURE comes with entry, kind and all else unknown; it stays so, flagged
 * ARGS_NOT_READ, if a descriptor is NULL or the getters can't be found. Returns as what it is remembered from now on. */
struct lt_found lt_shapes_read(const struct lt_descriptors *descriptors, const void *real,
                               struct trace_signature *signature);

/* DESCRIPTOR was made, changed or destroyed. */
void lt_shapes_forget(const void *descriptor);

/* How often lt_shapes_read() found a remembered shape and had to ask the getters; for tests and benches. */
struct lt_shapes_counters {
    uint64_t found, read;
};
struct lt_shapes_counters lt_shapes_counters(void);

#endif
