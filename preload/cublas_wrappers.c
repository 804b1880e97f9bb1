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
#define RARE rare = true

#define SIDE(side, uplo, m_, n_) TRIANGLE_SIZES(side, uplo, -1, m_, n_)
#define TRIANGLE(side, uplo, trans, diag, m_, n_) event.trans_a = (int)(trans), TRIANGLE_SIZES(side, uplo, diag, m_, n_)
#define TRIANGLE_SIZES(side, uplo, diag, m_, n_)                                                                         \
    event.kind = TRACE_CALL_LEVEL3, triangle = call_triangle((int)(side), (int)(uplo), (int)(diag)),               \
    SET(m) = (int64_t)(m_), SET(n) = (int64_t)(n_), SET(k) = call_side_size((int)(side), (int64_t)(m_), (int64_t)(n_))
#define UPDATE(uplo, trans, n_, k_)                                                                                      \
    event.kind = TRACE_CALL_LEVEL3, triangle = call_triangle(-1, (int)(uplo), -1), event.trans_a = (int)(trans),   \
    SET(m) = (int64_t)(n_), SET(n) = (int64_t)(n_), SET(k) = (int64_t)(k_)

#define SIDE_OF(c) call_choice_of_char(c, 'L', 'R')
#define FILL_OF(c) call_choice_of_char(c, 'L', 'U')
#define DIAGONAL_OF(c) call_choice_of_char(c, 'N', 'U')
#define LEGACY_SIDE(side, uplo, m_, n_) SIDE(SIDE_OF(side), FILL_OF(uplo), m_, n_)
#define LEGACY_TRIANGLE(side, uplo, trans, diag, m_, n_)                                                                 \
    TRIANGLE(SIDE_OF(side), FILL_OF(uplo), call_operation_of_char(trans), DIAGONAL_OF(diag), m_, n_)
#define LEGACY_UPDATE(uplo, trans, n_, k_) UPDATE(FILL_OF(uplo), call_operation_of_char(trans), n_, k_)

/* How many groups there are is passed by value, all else is in arrays. */
#define GROUPED(count_, sizes_, transa_, transb_, m_, n_, k_)                                                            \
    event.kind = TRACE_CALL_GEMM, event.batch_mode = TRACE_BATCH_GROUPED, event.trans_a = event.trans_b = -1,            \
    SET(m) = TRACE_UNKNOWN, SET(n) = TRACE_UNKNOWN, SET(k) = TRACE_UNKNOWN, SET(batch) = TRACE_UNKNOWN,                  \
    groups.count = (count_), groups.wide = sizeof(count_) == 8, groups.batch = (sizes_), groups.trans_a = (transa_),     \
    groups.trans_b = (transb_), groups.size[0] = (m_), groups.size[1] = (n_), groups.size[2] = (k_)
#define GROUPED_LD(a, b, c)                                                                                              \
    LD(TRACE_UNKNOWN, TRACE_UNKNOWN, TRACE_UNKNOWN), groups.ld[0] = (a), groups.ld[1] = (b), groups.ld[2] = (c)
#define LEGACY_OPERATIONS(a, b) event.trans_a = call_operation_of_char(a), event.trans_b = call_operation_of_char(b)
#define LT_DESCRIPTORS(desc_, a, b, c, d)                                                                                \
    descriptors.desc = (desc_), descriptors.layout[0] = (a), descriptors.layout[1] = (b), descriptors.layout[2] = (c),   \
    descriptors.layout[3] = (d), SET(m) = TRACE_UNKNOWN, SET(n) = TRACE_UNKNOWN, SET(k) = TRACE_UNKNOWN,                 \
    SET(batch) = TRACE_UNKNOWN, SET3(ld, TRACE_UNKNOWN, TRACE_UNKNOWN, TRACE_UNKNOWN)

#define NO_BATCH (void)0
#define POINTER_BATCH(count) event.batch_mode = TRACE_BATCH_POINTERS, SET(batch) = (count)
#define STRIDED_BATCH(count, a, b, c)                                                                                    \
    event.batch_mode = TRACE_BATCH_STRIDED, SET(batch) = (count), SET3(batch_stride, a, b, c)
#define LD(a, b, c) SET3(ld, (int64_t)(a), (int64_t)(b), (int64_t)(c))

#define TYPES_S TYPES_FIXED(VENDOR_R_32F, VENDOR_R_32F, VENDOR_R_32F, VENDOR_COMPUTE_32F, VENDOR_R_32F)
#define TYPES_D TYPES_FIXED(VENDOR_R_64F, VENDOR_R_64F, VENDOR_R_64F, VENDOR_COMPUTE_64F, VENDOR_R_64F)
#define TYPES_C TYPES_FIXED(VENDOR_C_32F, VENDOR_C_32F, VENDOR_C_32F, VENDOR_COMPUTE_32F, VENDOR_C_32F)
#define TYPES_Z TYPES_FIXED(VENDOR_C_64F, VENDOR_C_64F, VENDOR_C_64F, VENDOR_COMPUTE_64F, VENDOR_C_64F)
#define TYPES_H TYPES_FIXED(VENDOR_R_16F, VENDOR_R_16F, VENDOR_R_16F, VENDOR_COMPUTE_16F, VENDOR_R_16F)
#define TYPES_C_REAL_SCALARS TYPES_FIXED(VENDOR_C_32F, VENDOR_C_32F, VENDOR_C_32F, VENDOR_COMPUTE_32F, VENDOR_R_32F)
#define TYPES_Z_REAL_SCALARS TYPES_FIXED(VENDOR_C_64F, VENDOR_C_64F, VENDOR_C_64F, VENDOR_COMPUTE_64F, VENDOR_R_64F)
#define TYPES_C_REAL_BETA TYPES_C, event.scalars |= CALL_SCALARS_REAL_BETA
#define TYPES_Z_REAL_BETA TYPES_Z, event.scalars |= CALL_SCALARS_REAL_BETA
#define TYPES_HSH TYPES_FIXED(VENDOR_R_16F, VENDOR_R_16F, VENDOR_R_16F, VENDOR_COMPUTE_32F, VENDOR_R_32F)
#define TYPES_HSS TYPES_FIXED(VENDOR_R_16F, VENDOR_R_16F, VENDOR_R_32F, VENDOR_COMPUTE_32F, VENDOR_R_32F)
#define TYPES_TST TYPES_FIXED(VENDOR_R_16BF, VENDOR_R_16BF, VENDOR_R_16BF, VENDOR_COMPUTE_32F, VENDOR_R_32F)
#define TYPES_TSS TYPES_FIXED(VENDOR_R_16BF, VENDOR_R_16BF, VENDOR_R_32F, VENDOR_COMPUTE_32F, VENDOR_R_32F)
#define TYPES(a, b, c, compute)                                                                                          \
    TYPES_FIXED(a, b, c, compute, CALL_SCALE_BY_TYPES), event.type_c = (c), event.type_compute = (compute)
#define TYPES_FIXED(a, b, c, compute, scale)                                                                             \
    SET3(type, a, b, c), SET(type_compute) = (compute), event.type_scale = (scale)

#define OPERANDS(a, b, d)                                                                                                \
    event.operand[0] = (const void *)(a), event.operand[1] = (const void *)(b), event.operand[2] = (const void *)(d)
#define SCALARS(handle_, alpha_, beta_)                                                                                  \
    event.stream = CALL_STREAM_UNKNOWN, event.handle = (handle_), event.alpha = (alpha_), event.beta = (beta_)
#define ONE_SCALAR(handle_, alpha_) SCALARS(handle_, alpha_, call_no_beta), event.scalars |= CALL_SCALARS_NO_BETA
#define NO_SCALARS(handle_)                                                                                              \
    SCALARS(handle_, NULL, call_no_beta), event.scalars |= CALL_SCALARS_NO_ALPHA | CALL_SCALARS_NO_BETA
#define HOST_SCALARS(alpha_, beta_)                                                                                      \
    event.stream = CALL_STREAM_UNKNOWN, event.handle = NULL, event.alpha = (alpha_), event.beta = (beta_),               \
    event.scalars |= CALL_SCALARS_ON_HOST
#define HOST_ONE_SCALAR(alpha_) HOST_SCALARS(alpha_, call_no_beta), event.scalars |= CALL_SCALARS_NO_BETA
#define LEGACY_SCALARS(alpha_, beta_) HOST_SCALARS(&(alpha_), &(beta_))
#define LEGACY_ONE_SCALAR(alpha_) HOST_ONE_SCALAR(&(alpha_))
#define LT_SCALARS(alpha_, beta_)                                                                                        \
    event.alpha = (alpha_), event.beta = (beta_)
#define STREAM(stream_) event.stream = (uint64_t)(uintptr_t)(stream_)

/* Every byte of a cuBLAS shape but strides is set here or by the words of the table; not as a whole, which costs twice. */
#define FILL(entry_id, ...)                                                                                              \
    (event.incarnation = incarnation, event.batch_mode = TRACE_BATCH_NONE, SET(batch) = 1, event.kind = TRACE_CALL_GEMM,                                  \
     event.trans_a = 0, event.trans_b = 0, event.type_scale = TRACE_UNKNOWN,                                             \
     event.scalars = CALL_SCALARS_BY_MODE, triangle = 0, rare = false, __VA_ARGS__,                                      \
     SET(facts) = call_facts(entry_id, &event, triangle))

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

/* The whole of a call of RARE: noted where the wrapper is, since what it calls in turn lies below. */
#define NOTE_RARE(thread)                                                                                                \
    struct call_event noted = event;                                                                                     \
    uintptr_t stack;                                                                                                     \
    depth_note_stack(&stack);                                                                                            \
    call_rare_begin(thread, &shape, &noted, &stack, (const void *)real)

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
        cublasStatus_t(*real) parameters = real_symbol_called(ENTRY_##symbol);                                           \
        if (__builtin_expect(!real, 0)) {                                                                                \
            real = real_symbol_find(ENTRY_##symbol, __builtin_return_address(0));                                        \
            if (!real)                                                                                                   \
                return VENDOR_CUBLAS_NOT_INITIALIZED;                                                                    \
        }                                                                                                                \
        uint64_t incarnation;                                                                                            \
        struct trace_thread *thread = call_record_thread(&incarnation);                                                  \
        if (!thread)                                                                                                     \
            return real arguments;                                                                                       \
        _Alignas(16) struct call_shape shape;                                                                            \
        struct call_event event;                                                                                         \
        struct lt_descriptors descriptors;                                                                               \
        struct call_groups groups;                                                                                       \
        (void)descriptors;                                                                                               \
        (void)groups;                                                                                                    \
        unsigned triangle;                                                                                               \
        bool rare;                                                                                                       \
        FILL(ENTRY_##symbol, __VA_ARGS__);                                                                               \
        if (rare) {                                                                                                      \
            NOTE_RARE(thread);                                                                                           \
            cublasStatus_t status = real arguments;                                                                      \
            call_rare_end(&shape, &noted, &groups, status, (const void *)real);                                          \
            return status;                                                                                               \
        }                                                                                                                \
        call_record_begin(thread, &shape, &event, (const void *)real);                                                   \
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
        uint64_t incarnation;                                                                                            \
        struct trace_thread *thread = call_record_thread(&incarnation);                                                  \
        if (!thread) {                                                                                                   \
            real arguments;                                                                                              \
            return;                                                                                                      \
        }                                                                                                                \
        _Alignas(16) struct call_shape shape;                                                                            \
        struct call_event event;                                                                                         \
        unsigned triangle;                                                                                               \
        bool rare;                                                                                                       \
        FILL(ENTRY_##symbol, __VA_ARGS__);                                                                               \
        (void)rare;                                                                                                      \
        NOTE_RARE(thread);                                                                                               \
        real arguments;                                                                                                  \
        call_rare_end(&shape, &noted, NULL, VENDOR_SUCCESS, (const void *)real);                                         \
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
