/* SPDX-License-Identifier: Apache-2.0 */
/* From a cuBLAS call's arguments to its record. A wrapper fills a struct call_request from by-value arguments and
 * addresses, following no pointer (the words of cublas_calls.def are its assignments, see cublas_wrappers.c). */
#ifndef PRELOAD_CALL_RECORD_H
#define PRELOAD_CALL_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/cublas_types.h"
#include "preload/depth.h"
#include "preload/lt_shapes.h"
#include "preload/preload.h"
#include "trace/trace.h"
#include "trace/trace_writer.h"

enum call_scalars {
    CALL_SCALARS_BY_MODE = 1, /* pointers; the handle's pointer mode tells whether the host may read them */
    CALL_SCALARS_BY_VALUE,    /* pointers into the wrapper's own arguments */
    CALL_SCALARS_LT,          /* pointers; the descriptor's pointer mode tells */
};

#define CALL_STREAM_UNKNOWN UINT64_MAX

struct call_request {
    struct trace_signature signature; /* complete but for what only the library knows: modes, scalars, descriptors */
    uint64_t stream;
    cublasHandle_t handle;
    const void *alpha, *beta;
    const void *operand[3];
    enum call_scalars scalars;
    struct lt_descriptors lt;
    /* between begin and end */
    struct trace_thread *thread;
    struct trace_slot *slot;
    uint64_t start_ticks, call_id;
};

/* False: nobody records this call, make it and return. To be asked only if call_record_wanted(). */
bool call_record_begin(struct call_request *request);
/* REAL: the function that was called. */
void call_record_end(struct call_request *request, int status, const void *real);

static inline bool call_record_wanted(void)
{
    return !preload_depth.call && !atomic_load_explicit(&preload_off, memory_order_relaxed);
}

static inline uint8_t call_operation(int operation)
{
    return operation >= 0 && operation < (int)TRACE_U8_UNKNOWN ? (uint8_t)operation : TRACE_U8_UNKNOWN;
}

static inline uint8_t call_operation_of_char(char c)
{
    switch (c) {
    case 'n':
    case 'N':
        return VENDOR_OP_N;
    case 't':
    case 'T':
        return VENDOR_OP_T;
    case 'c':
    case 'C':
        return VENDOR_OP_C;
    default:
        return TRACE_U8_UNKNOWN;
    }
}

/* What alpha and beta are in the Ex functions: fixed by the compute type, and complex where C is (cublasGemmEx's table). */
static inline int call_scale_type(int compute, int type_c)
{
    bool is_complex = type_c == VENDOR_C_32F || type_c == VENDOR_C_64F || type_c == VENDOR_C_16F ||
                      type_c == VENDOR_C_16BF || type_c == VENDOR_C_8I;
    switch (compute) {
    case VENDOR_COMPUTE_16F:
    case VENDOR_COMPUTE_16F_PEDANTIC:
        return VENDOR_R_16F;
    case VENDOR_COMPUTE_32I:
    case VENDOR_COMPUTE_32I_PEDANTIC:
        return VENDOR_R_32I;
    case VENDOR_COMPUTE_64F:
    case VENDOR_COMPUTE_64F_PEDANTIC:
    case VENDOR_COMPUTE_64F_EMULATED_FIXEDPOINT:
        return is_complex ? VENDOR_C_64F : VENDOR_R_64F;
    case VENDOR_COMPUTE_32F:
    case VENDOR_COMPUTE_32F_PEDANTIC:
    case VENDOR_COMPUTE_32F_FAST_16F:
    case VENDOR_COMPUTE_32F_FAST_16BF:
    case VENDOR_COMPUTE_32F_FAST_TF32:
    case VENDOR_COMPUTE_32F_EMULATED_16BFX9:
        return is_complex ? VENDOR_C_32F : VENDOR_R_32F;
    default:
        return TRACE_UNKNOWN;
    }
}

/* All that hashed into a signature before a wrapper fills in what its arguments say: copied whole, which is cheaper than
 * clearing and setting, and leaves no byte undefined. */
extern const struct trace_signature call_signature_cublas, call_signature_lt;

#endif
