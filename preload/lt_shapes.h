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

/* After the call succeeded, with REAL the function that was called. SIGNATURE comes with entry, kind and all else unknown;
 * it stays so, flagged ARGS_NOT_READ, if a descriptor is NULL or the getters can't be found. Scalars are not touched. */
void lt_shapes_read(const struct lt_descriptors *descriptors, const void *real, struct trace_signature *signature);

/* DESCRIPTOR was made, changed or destroyed. */
void lt_shapes_forget(const void *descriptor);

/* How often the remembered shape was and was not good; for tests and benches. */
struct lt_shapes_counters {
    uint64_t found, read;
};
struct lt_shapes_counters lt_shapes_counters(void);

#endif
