/* SPDX-License-Identifier: Apache-2.0 */
/* Expands cublas_calls.def into the functions that programs call instead of the library's. No logic of its own: begin, the
 * real call, end; the words of the table turn into initialisers. */
#include "preload/call_record.h"
#include "preload/cublas_types.h"
#include "preload/entries.h"
#include "preload/real_symbol.h"

/* clang-format off */

#define GEMM(transa, transb, m, n, k)                                                                                    \
    CALL_REQUEST_GEMM_SIZES(m, n, k),                                                                                    \
    .signature.trans_a = call_operation(transa), .signature.trans_b = call_operation(transb)
#define GEMM_SIZES(m, n, k) CALL_REQUEST_GEMM_SIZES(m, n, k)
#define GEMV(trans, m, n) CALL_REQUEST_GEMV_SIZES(m, n), .signature.trans_a = call_operation(trans)
#define GEMV_SIZES(m, n) CALL_REQUEST_GEMV_SIZES(m, n)
#define LEGACY_OPERATIONS(a, b)                                                                                          \
    .signature.trans_a = call_operation_of_char(a), .signature.trans_b = call_operation_of_char(b)
#define LT_DESCRIPTORS(desc, a, b, c, d) CALL_REQUEST_LT(desc, a, b, c, d)

#define NO_BATCH .signature.batch_mode = TRACE_BATCH_NONE, .signature.batch = 1
#define POINTER_BATCH(count) .signature.batch_mode = TRACE_BATCH_POINTERS, .signature.batch = (count)
#define STRIDED_BATCH(count, a, b, c)                                                                                    \
    .signature.batch_mode = TRACE_BATCH_STRIDED, .signature.batch = (count), .signature.batch_stride = {(a), (b), (c), (c)}
#define LD(a, b, c) .signature.ld = {(a), (b), (c), (c)}

#define TYPES_S CALL_REQUEST_TYPES(VENDOR_R_32F, VENDOR_R_32F, VENDOR_R_32F, VENDOR_COMPUTE_32F, VENDOR_R_32F)
#define TYPES_D CALL_REQUEST_TYPES(VENDOR_R_64F, VENDOR_R_64F, VENDOR_R_64F, VENDOR_COMPUTE_64F, VENDOR_R_64F)
#define TYPES_C CALL_REQUEST_TYPES(VENDOR_C_32F, VENDOR_C_32F, VENDOR_C_32F, VENDOR_COMPUTE_32F, VENDOR_C_32F)
#define TYPES_Z CALL_REQUEST_TYPES(VENDOR_C_64F, VENDOR_C_64F, VENDOR_C_64F, VENDOR_COMPUTE_64F, VENDOR_C_64F)
#define TYPES_H CALL_REQUEST_TYPES(VENDOR_R_16F, VENDOR_R_16F, VENDOR_R_16F, VENDOR_COMPUTE_16F, VENDOR_R_16F)
#define TYPES(a, b, c, compute) CALL_REQUEST_TYPES(a, b, c, compute, call_scale_type(compute, c))
#define TYPES_FIXED(a, b, c, compute, scale) CALL_REQUEST_TYPES(a, b, c, compute, scale)

#define OPERANDS(a, b, d) .operand = {(const void *)(a), (const void *)(b), (const void *)(d)}
#define SCALARS(handle_, alpha_, beta_)                                                                                  \
    .stream = CALL_STREAM_UNKNOWN, .handle = (handle_), .alpha = (alpha_), .beta = (beta_), .scalars = CALL_SCALARS_BY_MODE
#define LEGACY_SCALARS(alpha_, beta_)                                                                                    \
    .stream = CALL_STREAM_UNKNOWN, .alpha = &(alpha_), .beta = &(beta_), .scalars = CALL_SCALARS_BY_VALUE
#define LT_SCALARS(alpha_, beta_) .alpha = (alpha_), .beta = (beta_), .scalars = CALL_SCALARS_LT
#define STREAM(stream_) .stream = (uint64_t)(uintptr_t)(stream_)

#define CREATED(pointer) ((pointer) ? (const void *)*(pointer) : NULL)

/* ---- prototypes: the vendor's, so that a caller's and ours agree ---- */
#define CALL(symbol, parameters, arguments, ...) PRELOAD_EXPORT cublasStatus_t symbol parameters;
#define CALL_LEGACY(symbol, parameters, arguments, ...) PRELOAD_EXPORT void symbol parameters;
#define DESCRIPTOR(symbol, parameters, arguments, ...) PRELOAD_EXPORT cublasStatus_t symbol parameters;
#include "preload/cublas_calls.def"

/* ---- bodies ---- */
#define CALL(symbol, parameters, arguments, ...)                                                                         \
    cublasStatus_t symbol parameters                                                                                     \
    {                                                                                                                    \
        cublasStatus_t(*real) parameters = real_symbol_get(ENTRY_##symbol, __builtin_return_address(0));                 \
        if (!real)                                                                                                       \
            return VENDOR_CUBLAS_NOT_INITIALIZED;                                                                        \
        if (!call_record_wanted())                                                                                       \
            return real arguments;                                                                                       \
        struct call_request request = {CALL_REQUEST_COMMON(ENTRY_##symbol), __VA_ARGS__};                                \
        if (!call_record_begin(&request))                                                                                \
            return real arguments;                                                                                       \
        cublasStatus_t status = real arguments;                                                                          \
        call_record_end(&request, status, (const void *)real);                                                           \
        return status;                                                                                                   \
    }

/* These keep their status to themselves until cublasGetError(), which also clears it, so it is not for us to ask. */
#define CALL_LEGACY(symbol, parameters, arguments, ...)                                                                  \
    void symbol parameters                                                                                               \
    {                                                                                                                    \
        void(*real) parameters = real_symbol_get(ENTRY_##symbol, __builtin_return_address(0));                           \
        if (!real)                                                                                                       \
            return;                                                                                                      \
        struct call_request request = {CALL_REQUEST_COMMON(ENTRY_##symbol), __VA_ARGS__};                                \
        bool recorded = call_record_wanted() && call_record_begin(&request);                                             \
        real arguments;                                                                                                  \
        if (recorded)                                                                                                    \
            call_record_end(&request, VENDOR_SUCCESS, (const void *)real);                                               \
    }

#define DESCRIPTOR(symbol, parameters, arguments, changed)                                                               \
    cublasStatus_t symbol parameters                                                                                     \
    {                                                                                                                    \
        cublasStatus_t(*real) parameters = real_symbol_get(ENTRY_##symbol, __builtin_return_address(0));                 \
        if (!real)                                                                                                       \
            return VENDOR_CUBLAS_NOT_INITIALIZED;                                                                        \
        cublasStatus_t status = real arguments;                                                                          \
        if (status == VENDOR_SUCCESS)                                                                                    \
            lt_shapes_forget((const void *)(changed));                                                                   \
        return status;                                                                                                   \
    }
#include "preload/cublas_calls.def"

/* clang-format on */
