/* SPDX-License-Identifier: Apache-2.0 */
/* Expands cublas_calls.def into the functions that programs call instead of the library's. No logic of its own: begin, the
 * real call, end; the words of the table turn into assignments. */
#include "preload/call_record.h"
#include "preload/cublas_types.h"
#include "preload/entries.h"
#include "preload/real_symbol.h"

/* clang-format off */

#define SET(field) shape.field
#define SET3(field, a_, b_, c_) SET(field[0]) = (a_), SET(field[1]) = (b_), SET(field[2]) = (c_)

#define GEMM(transa, transb, m_, n_, k_)                                                                                 \
    event.trans_a = (int)(transa), event.trans_b = (int)(transb), GEMM_SIZES(m_, n_, k_)
#define GEMM_SIZES(m_, n_, k_) event.kind = TRACE_CALL_GEMM, SET(m) = (m_), SET(n) = (n_), SET(k) = (k_)
#define GEMV(trans, m_, n_) event.trans_a = (int)(trans), GEMV_SIZES(m_, n_)
#define GEMV_SIZES(m_, n_) event.kind = TRACE_CALL_GEMV, SET(m) = (m_), SET(n) = (n_), SET(k) = 1
#define LEGACY_OPERATIONS(a, b) event.trans_a = call_operation_of_char(a), event.trans_b = call_operation_of_char(b)
#define LT_DESCRIPTORS(desc_, a, b, c, d)                                                                                \
    descriptors.desc = (desc_), descriptors.layout[0] = (a), descriptors.layout[1] = (b), descriptors.layout[2] = (c),   \
    descriptors.layout[3] = (d), SET(m) = TRACE_UNKNOWN, SET(n) = TRACE_UNKNOWN, SET(k) = TRACE_UNKNOWN,                 \
    SET(batch) = TRACE_UNKNOWN, SET3(ld, TRACE_UNKNOWN, TRACE_UNKNOWN, TRACE_UNKNOWN)

#define NO_BATCH (void)0
#define POINTER_BATCH(count) event.batch_mode = TRACE_BATCH_POINTERS, SET(batch) = (count)
#define STRIDED_BATCH(count, a, b, c)                                                                                    \
    event.batch_mode = TRACE_BATCH_STRIDED, SET(batch) = (count), SET3(batch_stride, a, b, c)
#define LD(a, b, c) SET3(ld, a, b, c)

#define TYPES_S TYPES_FIXED(VENDOR_R_32F, VENDOR_R_32F, VENDOR_R_32F, VENDOR_COMPUTE_32F, VENDOR_R_32F)
#define TYPES_D TYPES_FIXED(VENDOR_R_64F, VENDOR_R_64F, VENDOR_R_64F, VENDOR_COMPUTE_64F, VENDOR_R_64F)
#define TYPES_C TYPES_FIXED(VENDOR_C_32F, VENDOR_C_32F, VENDOR_C_32F, VENDOR_COMPUTE_32F, VENDOR_C_32F)
#define TYPES_Z TYPES_FIXED(VENDOR_C_64F, VENDOR_C_64F, VENDOR_C_64F, VENDOR_COMPUTE_64F, VENDOR_C_64F)
#define TYPES_H TYPES_FIXED(VENDOR_R_16F, VENDOR_R_16F, VENDOR_R_16F, VENDOR_COMPUTE_16F, VENDOR_R_16F)
#define TYPES(a, b, c, compute)                                                                                          \
    TYPES_FIXED(a, b, c, compute, CALL_SCALE_BY_TYPES), event.type_c = (c), event.type_compute = (compute)
#define TYPES_FIXED(a, b, c, compute, scale)                                                                             \
    SET3(type, a, b, c), SET(type_compute) = (compute), event.type_scale = (scale)

#define OPERANDS(a, b, d)                                                                                                \
    event.operand[0] = (const void *)(a), event.operand[1] = (const void *)(b), event.operand[2] = (const void *)(d)
#define SCALARS(handle_, alpha_, beta_)                                                                                  \
    event.stream = CALL_STREAM_UNKNOWN, event.handle = (handle_), event.alpha = (alpha_), event.beta = (beta_),          \
    event.scalars = CALL_SCALARS_BY_MODE
#define LEGACY_SCALARS(alpha_, beta_)                                                                                    \
    event.stream = CALL_STREAM_UNKNOWN, event.alpha = &(alpha_), event.beta = &(beta_),                                  \
    event.scalars = CALL_SCALARS_BY_VALUE
#define LT_SCALARS(alpha_, beta_)                                                                                        \
    event.alpha = (alpha_), event.beta = (beta_)
#define STREAM(stream_) event.stream = (uint64_t)(uintptr_t)(stream_)

/* Every byte of a cuBLAS shape but strides is set here or by the words of the table; not as a whole, which costs twice. */
#define FILL(entry_id, ...)                                                                                              \
    (event.batch_mode = TRACE_BATCH_NONE, SET(batch) = 1, event.kind = TRACE_CALL_GEMM,                                  \
     event.trans_a = 0, event.trans_b = 0, event.type_scale = TRACE_UNKNOWN, __VA_ARGS__,                                \
     SET(facts) = call_facts(entry_id, &event))

/* Only copies leave, see struct call_event. */
#define END(symbol) END_IF(ENTRY_##symbol == ENTRY_cublasLtMatmul)
#define END_IF(is_lt)                                                                                                    \
    do {                                                                                                                 \
        if (is_lt) {                                                                                                     \
            struct call_event passed = event;                                                                            \
            call_record_end_lt(&shape, &passed, &descriptors, status, (const void *)real);                               \
        } else {                                                                                                         \
            call_record_end(&shape, &event, status, (const void *)real);                                                 \
        }                                                                                                                \
    } while (0)

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
        cublasStatus_t(*real) parameters = real_symbol_known(ENTRY_##symbol);                                            \
        if (__builtin_expect(!real, 0)) {                                                                                \
            real = real_symbol_find(ENTRY_##symbol, __builtin_return_address(0));                                        \
            if (!real)                                                                                                   \
                return VENDOR_CUBLAS_NOT_INITIALIZED;                                                                    \
        }                                                                                                                \
        struct trace_thread *thread = call_record_thread();                                                              \
        if (!thread)                                                                                                     \
            return real arguments;                                                                                       \
        _Alignas(16) struct call_shape shape;                                                                            \
        struct call_event event;                                                                                         \
        struct lt_descriptors descriptors;                                                                               \
        (void)descriptors;                                                                                               \
        FILL(ENTRY_##symbol, __VA_ARGS__);                                                                               \
        call_record_begin(thread, &shape, &event);                                                                       \
        cublasStatus_t status = real arguments;                                                                          \
        END(symbol);                                                                                                     \
        return status;                                                                                                   \
    }

/* These keep their status to themselves until cublasGetError(), which also clears it, so it is not for us to ask. */
#define CALL_LEGACY(symbol, parameters, arguments, ...)                                                                  \
    void symbol parameters                                                                                               \
    {                                                                                                                    \
        void(*real) parameters = real_symbol_get(ENTRY_##symbol, __builtin_return_address(0));                           \
        if (!real)                                                                                                       \
            return;                                                                                                      \
        struct trace_thread *thread = call_record_thread();                                                              \
        _Alignas(16) struct call_shape shape;                                                                            \
        struct call_event event;                                                                                         \
        FILL(ENTRY_##symbol, __VA_ARGS__);                                                                               \
        if (thread)                                                                                                      \
            call_record_begin(thread, &shape, &event);                                                                   \
        real arguments;                                                                                                  \
        if (thread)                                                                                                      \
            call_record_end(&shape, &event, VENDOR_SUCCESS, (const void *)real);                                         \
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
