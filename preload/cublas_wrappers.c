/* SPDX-License-Identifier: Apache-2.0 */
/* Expands cublas_calls.def into the functions that programs call instead of the library's. No logic of its own: begin, the
 * real call, end; the words of the table turn into assignments. */
#include "preload/call_record.h"
#include "preload/cublas_types.h"
#include "preload/entries.h"
#include "preload/real_symbol.h"

/* clang-format off */

#define SET(field) request.signature.field
#define SET4(field, a_, b_, c_, d_) SET(field[0]) = (a_), SET(field[1]) = (b_), SET(field[2]) = (c_), SET(field[3]) = (d_)

#define GEMM(transa, transb, m_, n_, k_)                                                                                 \
    SET(trans_a) = call_operation(transa), SET(trans_b) = call_operation(transb), GEMM_SIZES(m_, n_, k_)
#define GEMM_SIZES(m_, n_, k_) SET(kind) = TRACE_CALL_GEMM, SET(m) = (m_), SET(n) = (n_), SET(k) = (k_)
#define GEMV(trans, m_, n_) SET(trans_a) = call_operation(trans), GEMV_SIZES(m_, n_)
#define GEMV_SIZES(m_, n_) SET(kind) = TRACE_CALL_GEMV, SET(m) = (m_), SET(n) = (n_), SET(k) = 1
#define LEGACY_OPERATIONS(a, b) SET(trans_a) = call_operation_of_char(a), SET(trans_b) = call_operation_of_char(b)
#define LT_DESCRIPTORS(desc_, a, b, c, d)                                                                                \
    request.lt.desc = (desc_), request.lt.layout[0] = (a), request.lt.layout[1] = (b), request.lt.layout[2] = (c),       \
    request.lt.layout[3] = (d)

#define NO_BATCH (void)0
#define POINTER_BATCH(count) SET(batch_mode) = TRACE_BATCH_POINTERS, SET(batch) = (count)
#define STRIDED_BATCH(count, a, b, c)                                                                                    \
    SET(batch_mode) = TRACE_BATCH_STRIDED, SET(batch) = (count), SET4(batch_stride, a, b, c, c)
#define LD(a, b, c) SET4(ld, a, b, c, c)

#define TYPES_S TYPES_FIXED(VENDOR_R_32F, VENDOR_R_32F, VENDOR_R_32F, VENDOR_COMPUTE_32F, VENDOR_R_32F)
#define TYPES_D TYPES_FIXED(VENDOR_R_64F, VENDOR_R_64F, VENDOR_R_64F, VENDOR_COMPUTE_64F, VENDOR_R_64F)
#define TYPES_C TYPES_FIXED(VENDOR_C_32F, VENDOR_C_32F, VENDOR_C_32F, VENDOR_COMPUTE_32F, VENDOR_C_32F)
#define TYPES_Z TYPES_FIXED(VENDOR_C_64F, VENDOR_C_64F, VENDOR_C_64F, VENDOR_COMPUTE_64F, VENDOR_C_64F)
#define TYPES_H TYPES_FIXED(VENDOR_R_16F, VENDOR_R_16F, VENDOR_R_16F, VENDOR_COMPUTE_16F, VENDOR_R_16F)
#define TYPES(a, b, c, compute) TYPES_FIXED(a, b, c, compute, call_scale_type(compute, c))
#define TYPES_FIXED(a, b, c, compute, scale)                                                                             \
    SET4(type, a, b, c, c), SET(type_compute) = (compute), SET(type_scale) = (scale)

#define OPERANDS(a, b, d)                                                                                                \
    request.operand[0] = (const void *)(a), request.operand[1] = (const void *)(b), request.operand[2] = (const void *)(d)
#define SCALARS(handle_, alpha_, beta_)                                                                                  \
    request.stream = CALL_STREAM_UNKNOWN, request.handle = (handle_), request.alpha = (alpha_), request.beta = (beta_),  \
    request.scalars = CALL_SCALARS_BY_MODE
#define LEGACY_SCALARS(alpha_, beta_)                                                                                    \
    request.stream = CALL_STREAM_UNKNOWN, request.alpha = &(alpha_), request.beta = &(beta_),                            \
    request.scalars = CALL_SCALARS_BY_VALUE
#define LT_SCALARS(alpha_, beta_)                                                                                        \
    request.alpha = (alpha_), request.beta = (beta_), request.scalars = CALL_SCALARS_LT
#define STREAM(stream_) request.stream = (uint64_t)(uintptr_t)(stream_)

/* Every field that is read later is set here or by the words of the table; signatures start as a whole. */
#define FILL(base, entry_id, ...) (request.signature = (base), SET(entry) = (entry_id), __VA_ARGS__)
#define BASE(symbol) (ENTRY_##symbol == ENTRY_cublasLtMatmul ? call_signature_lt : call_signature_cublas)

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
        struct call_request request;                                                                                     \
        FILL(BASE(symbol), ENTRY_##symbol, __VA_ARGS__);                                                                 \
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
        struct call_request request;                                                                                     \
        FILL(BASE(symbol), ENTRY_##symbol, __VA_ARGS__);                                                                 \
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
