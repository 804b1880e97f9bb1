/* SPDX-License-Identifier: Apache-2.0 */
/* From a cuBLAS call's arguments to its record. A wrapper fills a struct call_shape from by-value arguments and a struct
 * call_event from addresses, following no pointer (the words of cublas_calls.def are its assignments, see
 * cublas_wrappers.c). What every call passes through is inline, so that a wrapper's arguments stay where they are. */
#ifndef PRELOAD_CALL_RECORD_H
#define PRELOAD_CALL_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "cupti/kernel_timing.h"
#include "cupti/own_cost.h"
#include "preload/call_groups.h"
#include "preload/call_memo.h"
#include "preload/cublas_types.h"
#include "preload/depth.h"
#include "preload/lt_shapes.h"
#include "preload/preload.h"
#include "preload/real_symbol.h"
#include "preload/scalar.h"
#include "trace/clock.h"
#include "trace/trace.h"
#include "trace/trace_writer.h"

/* Bits. Without ON_HOST the handle's pointer mode tells whether the host may read where alpha and beta point. */
enum call_scalars {
    CALL_SCALARS_BY_MODE = 0,
    CALL_SCALARS_ON_HOST = 1, /* whatever the mode; there is no handle to ask */
    CALL_SCALARS_NO_ALPHA = 2,
    CALL_SCALARS_NO_BETA = 4,
    CALL_SCALARS_REAL_BETA = 8, /* alpha is complex */
};

/* Where there is no beta: what is written was not read, as with a beta of zero. */
extern const double call_no_beta[2] __attribute__((visibility("hidden")));

#define CALL_STREAM_UNKNOWN UINT64_MAX

/* A struct of a wrapper's own, which only copies of are passed on: the compiler keeps it apart, where its parts are. */
struct call_event {
    struct trace_thread *thread;
    uint64_t incarnation; /* that THREAD is of, with the marks of own_cost.h */
    uint64_t start_ticks, call_id;
    uint64_t stream;
    cublasHandle_t handle;
    const void *alpha, *beta;
    const void *operand[3];
    /* of cuBLAS: */
    unsigned scalars; /* enum call_scalars */
    int type_scale;   /* CALL_SCALE_BY_TYPES: not looked up yet */
    int type_compute, type_c;
    int kind, batch_mode;
    int trans_a, trans_b; /* as they came */
};

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

/* Side, fill mode and diagonal of level 3, as they came, -1 where there is none: four bits each, 0 for what is not known. */
static inline unsigned call_triangle(int side, int fill, int diagonal)
{
    unsigned kept_side = side >= 0 && side < 15 ? (unsigned)side + 1 : 0;
    unsigned kept_fill = fill >= 0 && fill < 15 ? (unsigned)fill + 1 : 0;
    unsigned kept_diagonal = diagonal >= 0 && diagonal < 15 ? (unsigned)diagonal + 1 : 0;
    return kept_side | kept_fill << 4 | kept_diagonal << 8;
}

/* The same of a character: YES (an upper case letter) is 1, NO is 0. */
static inline int call_choice_of_char(char c, char no, char yes)
{
    c = (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    return c == yes ? 1 : c == no ? 0 : -1;
}

/* How large the triangle at one side of an M x N matrix is. */
static inline int64_t call_side_size(int side, int64_t m, int64_t n)
{
    return side == VENDOR_SIDE_LEFT ? m : side == VENDOR_SIDE_RIGHT ? n : TRACE_UNKNOWN;
}

/* What alpha and beta are. In the Ex functions it is fixed by the compute type, and complex where C is (cublasGemmEx's
 * table). */
#define CALL_SCALE_BY_TYPES (-2)
int call_scale_type(const struct call_event *event);

static inline __attribute__((always_inline)) bool call_scale_is_float(const struct call_event *event)
{
    const unsigned real = 1u << VENDOR_R_32F | 1u << VENDOR_R_16F | 1u << VENDOR_R_16BF;
    if (event->type_scale != CALL_SCALE_BY_TYPES)
        return event->type_scale == VENDOR_R_32F;
    return event->type_compute == VENDOR_COMPUTE_32F && (unsigned)event->type_c < 32 && (real >> event->type_c & 1);
}

/* Entry, kind, batch mode, operations, call_triangle(): 16, 8, 8, 8, 8, 16 bits. */
static inline __attribute__((always_inline)) uint64_t call_facts(unsigned entry, const struct call_event *event,
                                                                 unsigned triangle)
{
    unsigned trans_a = (unsigned)event->trans_a, trans_b = (unsigned)event->trans_b;
    if (__builtin_expect((trans_a | trans_b) >= TRACE_U8_UNKNOWN, 0)) {
        trans_a = call_operation(event->trans_a);
        trans_b = call_operation(event->trans_b);
    }
    return (entry | (unsigned)event->kind << 16 | (unsigned)event->batch_mode << 24) |
           (uint64_t)(trans_a | trans_b << 8 | triangle << 16) << 32;
}

/* ---- before the call ---- */

/* NULL: nobody records this call, make it and return. *INCARNATION is what the thread's state is of. */
static inline __attribute__((always_inline)) struct trace_thread *call_record_thread(uint64_t *incarnation)
{
    struct trace_thread *thread;
    if (__builtin_expect(trace_thread_find(&thread, incarnation), 1) &&
        __builtin_expect((preload_depth(thread)->call | trace_thread_busy(thread)) == 0, 1)) {
        *incarnation = own_cost_begin(thread, *incarnation, OWN_COST_CALL);
        return thread;
    }
    thread = depth_thread_slowly((uintptr_t)__builtin_dwarf_cfa(), false);
    *incarnation = own_cost_begin_slowly(thread, OWN_COST_CALL);
    return thread;
}

/* kernel_timing_enter(): cuBLAS tells the stream only afterwards, so where it is needed before, HANDLE is asked for it, of the
 * library that REAL is in. */
void call_enter_slowly(struct kernel_timing_context *timing, uint64_t stream, cublasHandle_t handle, uint64_t call_id,
                       const void *real);

/* STACK: where the wrapper is, see depth_note_stack(). */
static inline __attribute__((always_inline)) void call_begin_at(struct trace_thread *thread, struct call_shape *shape,
                                                                struct call_event *event, const uintptr_t *stack,
                                                                const void *real)
{
    struct trace_slot *slot = thread->slot;
    struct preload_depth *depth = preload_depth(thread);
    slot->argument[0] = shape->m;
    slot->argument[1] = shape->n;
    slot->argument[2] = shape->k;
    slot->argument[3] = shape->batch;
    slot->argument[4] = shape->ld[0];
    slot->argument[5] = shape->ld[1];
    slot->argument[6] = shape->ld[2];
    slot->calls_begun++;
    event->thread = thread;
    event->call_id = trace_thread_take_call_id(thread);
    depth->call = event->call_id;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (stack)
        depth->call_stack = *stack;
    else
        depth_note_stack(&depth->call_stack);
    uint32_t entry = (uint16_t)shape->facts;
    MEMO_SETTLE(*shape);
    struct kernel_timing_context *timing = kernel_timing_context(thread);
    if (__builtin_expect(atomic_load_explicit(&kernel_timing_attention, memory_order_acquire), 0))
        call_enter_slowly(timing, event->stream, event->stream == CALL_STREAM_UNKNOWN ? event->handle : NULL,
                          event->call_id, real);
    else
        kernel_timing_note_call(timing, event->call_id);
    event->start_ticks = clock_ticks();
    slot->start_ticks = event->start_ticks;
    __atomic_store_n(&slot->entry, entry, __ATOMIC_RELEASE);
}

static inline __attribute__((always_inline)) void
call_record_begin(struct trace_thread *thread, struct call_shape *shape, struct call_event *event, const void *real)
{
    call_begin_at(thread, shape, event, NULL, real);
}

/* ---- after it: what only the library knows ---- */

/* enum trace_scalar of alpha, of beta << 8. Reads them where the pointer mode says that they are on the host, and nowhere
 * else; NULL and types that no scalar has are unknown. */
unsigned call_classify_scalars(uint8_t pointer_mode, const void *alpha, const void *beta, int type);
static inline unsigned call_two_scalars(enum trace_scalar alpha, enum trace_scalar beta)
{
    return (unsigned)alpha | (unsigned)beta << 8;
}
struct call_answers call_answers_classified(int32_t math_mode, int pointer_mode, const struct call_event *event);

/* The usual scalars are compared bit by bit with those of the last call: that is cheaper than to say what they are. */
static inline __attribute__((always_inline)) struct call_answers call_answers(int32_t math_mode, int pointer_mode,
                                                                              const struct call_event *event)
{
    const void *alpha = event->alpha, *beta = event->beta;
    if (__builtin_expect(pointer_mode == VENDOR_POINTER_HOST && alpha && beta && call_scale_is_float(event), 1)) {
        uint32_t alpha_bits, beta_bits;
        __builtin_memcpy(&alpha_bits, alpha, sizeof alpha_bits);
        __builtin_memcpy(&beta_bits, beta, sizeof beta_bits);
        return (struct call_answers){(uint32_t)math_mode, memo_pair(alpha_bits, beta_bits)};
    }
    struct call_event passed = *event;
    return call_answers_classified(math_mode, pointer_mode, &passed);
}

/* What a handle's getters say; what one does not is unknown. */
struct call_handle_state {
    int pointer_mode, math_mode;
    uint64_t stream;
};
struct call_handle_state call_ask_one_by_one(cublasHandle_t handle, const void *real);

/* The three of them once all are known, for then they stay. */
struct call_getters {
    cublasStatus_t (*pointer_mode)(cublasHandle_t, int *), (*math_mode)(cublasHandle_t, int *);
    cublasStatus_t (*stream)(cublasHandle_t, cudaStream_t *);
};
#pragma GCC visibility push(hidden)
extern struct call_getters call_getters;
#pragma GCC visibility pop

static inline __attribute__((always_inline)) struct call_handle_state call_ask_handle(cublasHandle_t handle,
                                                                                      const void *real)
{
    bool known = atomic_load_explicit(&real_symbol_getters, memory_order_acquire) == GETTERS_KNOWN;
    if (__builtin_expect(handle && known, 1)) {
        struct call_handle_state state;
        cudaStream_t stream;
        cublasStatus_t status = call_getters.pointer_mode(handle, &state.pointer_mode);
        status |= call_getters.math_mode(handle, &state.math_mode);
        status |= call_getters.stream(handle, &stream);
        state.stream = (uint64_t)(uintptr_t)stream;
        if (__builtin_expect(status == VENDOR_SUCCESS, 1))
            return state;
    }
    return call_ask_one_by_one(handle, real);
}

static inline __attribute__((always_inline)) struct call_answers call_ask_library(struct call_event *event,
                                                                                  const void *real)
{
    if (event->scalars & CALL_SCALARS_ON_HOST)
        return call_answers(TRACE_UNKNOWN, VENDOR_POINTER_HOST, event);
    struct call_handle_state state = call_ask_handle(event->handle, real);
    event->stream = state.stream;
    return call_answers(state.math_mode, state.pointer_mode, event);
}

/* ---- the record ---- */

static inline __attribute__((always_inline)) void call_finish(const struct call_event *event, struct trace_call *call,
                                                              uint32_t signature_offset, uint64_t end_ticks)
{
    uint64_t ticks = end_ticks - event->start_ticks;
    call->signature_offset = signature_offset;
    call->duration_ticks = ticks > UINT32_MAX ? UINT32_MAX : (uint32_t)ticks;
    call->start_ticks = event->start_ticks;
    call->stream = event->stream;
    call->operand[0] = (uint64_t)(uintptr_t)event->operand[0];
    call->operand[1] = (uint64_t)(uintptr_t)event->operand[1];
    call->operand[2] = (uint64_t)(uintptr_t)event->operand[2];
    call->call_id = event->call_id;
    trace_commit_sized(event->thread, call, sizeof *call);
    event->thread->slot->calls_recorded++;
}

/* Ids of the signature; for one that the thread's block may not hold yet, and may be dropped. */
uint64_t call_write_anew(const struct call_shape *shape, const struct call_event *event, struct call_answers answers,
                         uint64_t end_ticks);
void call_write_failed(const struct call_shape *shape, const struct call_event *event, int status);

/* Before others than the wrapper see SHAPE. */
static inline __attribute__((always_inline)) void call_shape_complete(struct call_shape *shape,
                                                                      const struct call_event *event)
{
    if (event->batch_mode != TRACE_BATCH_STRIDED)
        shape->batch_stride[0] = shape->batch_stride[1] = shape->batch_stride[2] = 0;
}

static inline __attribute__((always_inline)) uint64_t
call_write(struct call_shape *shape, const struct call_event *event, struct call_answers answers, uint64_t end_ticks)
{
    uint64_t id;
    struct trace_thread *thread = event->thread;
    const struct call_memo *memo = call_memo_set(call_memory(thread), shape);
    if (__builtin_expect(call_memo_is(memo, shape, answers, event->batch_mode == TRACE_BATCH_STRIDED), 1)) {
        uint64_t place = memo->place;
        struct trace_call *call = trace_reserve_at(thread, place, TRACE_RECORD_CALL, sizeof *call, &id);
        if (__builtin_expect(call != NULL, 1)) {
            call_finish(event, call, trace_place_offset(place), end_ticks);
            return id;
        }
    }
    struct call_event passed = *event;
    call_shape_complete(shape, event);
    return call_write_anew(shape, &passed, answers, end_ticks);
}

/* Stale: in a child that a signal handler forked inside of the call, all that EVENT leads to may be gone. Or the call is
 * marked: to be measured, or counted only. */
static inline bool call_is_unusual(const struct call_event *event)
{
    return __builtin_expect(event->incarnation != trace_incarnation(), 0);
}

static inline void call_leave(struct trace_thread *thread)
{
    struct preload_depth *depth = preload_depth(thread);
    __atomic_store_n(&thread->slot->entry, ENTRY_NONE, __ATOMIC_RELEASE);
    depth->call_stack = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* a handler's calls use the thread's memory from here on */
    depth->call = 0;
}

/* The end of an unusual one; SHAPE is what call_end_now() gets. */
void call_end_unusual(struct call_shape *shape, struct call_event *event, int status, const void *real,
                      uint64_t end_ticks);
/* True: an end that is none of the above has nothing more to do. Else *MEASURED tells whether call_measured() is to be told. */
bool call_ends_here(const struct call_event *event, bool *measured);
static inline void call_measured(const struct call_event *event, uint64_t end_ticks)
{
    own_cost_end(event->thread, OWN_COST_CALL, event->start_ticks, end_ticks);
}

static inline __attribute__((always_inline)) void call_end_now(struct call_shape *shape, struct call_event *event,
                                                               int status, const void *real, uint64_t end_ticks)
{
    struct kernel_timing_context *context = kernel_timing_context(event->thread);
    int *error = trace_thread_errno(event->thread), error_before = *error;
    if (__builtin_expect(status == VENDOR_SUCCESS, 1)) {
        struct call_answers answers = call_ask_library(event, real);
        kernel_timing_call_end(context, TRACE_OWNER_CALL, call_write(shape, event, answers, end_ticks));
    } else {
        struct call_event passed = *event;
        call_shape_complete(shape, event);
        call_write_failed(shape, &passed, status);
        kernel_timing_call_end(context, TRACE_OWNER_NONE, 0);
    }
    call_leave(event->thread);
    *error = error_before;
}

/* REAL: the function that was called. */
static inline __attribute__((always_inline)) void call_record_end(struct call_shape *shape, struct call_event *event,
                                                                  int status, const void *real)
{
    uint64_t end_ticks = clock_ticks();
    if (call_is_unusual(event)) {
        struct call_event passed = *event;
        call_end_unusual(shape, &passed, status, real, end_ticks);
        return;
    }
    call_end_now(shape, event, status, real, end_ticks);
}

/* Both halves for calls that need not be quick: one piece of code for all wrappers. */
void call_rare_begin(struct trace_thread *thread, struct call_shape *shape, struct call_event *event,
                     const uintptr_t *stack, const void *real);
void call_rare_end(struct call_shape *shape, struct call_event *event, const struct call_groups *groups, int status,
                   const void *real);

/* What call_groups.c shares with a call of one size. */
void call_signature_fill(struct trace_signature *signature, const struct call_shape *shape, int type_scale);
void call_signature_answer(struct trace_signature *signature, struct call_answers answers);
/* Whether a call that asked the same is remembered in this block, so that call_write_known() writes; else that gives 0. */
bool call_is_known(const struct call_shape *shape, const struct call_event *event, struct call_answers answers);
uint64_t call_write_known(const struct call_shape *shape, const struct call_event *event, struct call_answers answers,
                          uint64_t end_ticks);
/* The first: SHAPE and ANSWERS are what it is remembered by. */
uint64_t call_write_first(const struct call_shape *shape, const struct call_event *event, struct call_answers answers,
                          struct trace_signature *signature, uint64_t end_ticks);

/* The same for cuBLASLt, where SHAPE says no more than the entry and what the slot shows. */
void call_record_end_lt(const struct call_shape *shape, const struct call_event *event,
                        const struct lt_descriptors *descriptors, int status, const void *real);

#endif
