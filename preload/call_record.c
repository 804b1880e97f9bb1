/* SPDX-License-Identifier: Apache-2.0 */
/* Before the real call: who, what by value, when. After it: what only the library knows, asked of its own getters, and the
 * record. The record is committed before the wrapper returns, so a call whose caller went on is in the trace whatever
 * becomes of the process. No lock, no allocation, no system call. */
#include "preload/call_record.h"

#include <errno.h>

#include "cupti/kernel_timing.h"
#include "preload/real_symbol.h"
#include "preload/scalar.h"
#include "trace/clock.h"

_Thread_local struct preload_depth preload_depth;

#define UNKNOWN_4                                                                                                      \
    {                                                                                                                  \
        TRACE_UNKNOWN, TRACE_UNKNOWN, TRACE_UNKNOWN, TRACE_UNKNOWN                                                     \
    }

const struct trace_signature call_signature_cublas = {
    .library = TRACE_LIBRARY_CUBLAS,
    .provenance = TRACE_EXACT,
    .batch = 1,
    .math_mode = TRACE_UNKNOWN,
    .epilogue = VENDOR_EPILOGUE_DEFAULT,
    .type_bias = TRACE_UNKNOWN,
    .type_aux = TRACE_UNKNOWN,
    .scale_mode = UNKNOWN_4,
    .pointer_mode = TRACE_U8_UNKNOWN,
    .fill_mode = TRACE_U8_UNKNOWN,
    .side = TRACE_U8_UNKNOWN,
    .aux_ld = TRACE_UNKNOWN,
};

/* Nothing is known before the descriptors are read. */
const struct trace_signature call_signature_lt = {
    .kind = TRACE_CALL_GEMM,
    .library = TRACE_LIBRARY_CUBLASLT,
    .provenance = TRACE_DESCRIPTOR,
    .flags = TRACE_SIGNATURE_ARGS_NOT_READ,
    .trans_a = TRACE_U8_UNKNOWN,
    .trans_b = TRACE_U8_UNKNOWN,
    .m = TRACE_UNKNOWN,
    .n = TRACE_UNKNOWN,
    .k = TRACE_UNKNOWN,
    .batch = TRACE_UNKNOWN,
    .ld = UNKNOWN_4,
    .batch_stride = UNKNOWN_4,
    .type = UNKNOWN_4,
    .type_compute = TRACE_UNKNOWN,
    .type_scale = TRACE_UNKNOWN,
    .math_mode = TRACE_UNKNOWN,
    .epilogue = TRACE_UNKNOWN,
    .type_bias = TRACE_UNKNOWN,
    .type_aux = TRACE_UNKNOWN,
    .order = UNKNOWN_4,
    .scale_mode = UNKNOWN_4,
    .pointer_mode = TRACE_U8_UNKNOWN,
    .fill_mode = TRACE_U8_UNKNOWN,
    .side = TRACE_U8_UNKNOWN,
    .aux_ld = TRACE_UNKNOWN,
};

static void slot_set(uint64_t *field, uint64_t value)
{
    __atomic_store_n(field, value, __ATOMIC_RELAXED);
}

static void slot_count(uint64_t *field)
{
    __atomic_store_n(field, *field + 1, __ATOMIC_RELAXED);
}

/* Spelled out: a loop over an array built on the stack costs three times as much. */
static inline void slot_begin(struct trace_slot *slot, const struct call_request *request)
{
    const struct trace_signature *s = &request->signature;
    __atomic_store_n(&slot->argument[0], s->m, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->argument[1], s->n, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->argument[2], s->k, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->argument[3], s->batch, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->argument[4], s->ld[0], __ATOMIC_RELAXED);
    __atomic_store_n(&slot->argument[5], s->ld[1], __ATOMIC_RELAXED);
    __atomic_store_n(&slot->argument[6], s->ld[2], __ATOMIC_RELAXED);
    slot_count(&slot->calls_begun);
    slot_set(&slot->start_ticks, request->start_ticks);
    __atomic_store_n(&slot->entry, s->entry, __ATOMIC_RELEASE);
}

bool call_record_begin(struct call_request *request)
{
    struct trace_thread *thread = preload_thread();
    if (!thread)
        return false;
    kernel_timing_start_if_needed(NULL); /* cuBLAS tells the stream only afterwards */
    request->thread = thread;
    request->slot = trace_thread_slot(thread);
    request->call_id = trace_thread_next_call_id(thread);
    preload_depth.call = request->call_id;
    kernel_timing_call_begin(request->call_id);
    request->start_ticks = clock_ticks();
    slot_begin(request->slot, request);
    return true;
}

/* The library's own word for how HANDLE works. A getter that is missing or refuses leaves the value unknown. */
static inline void ask_handle(struct call_request *request, const void *real)
{
    cublasHandle_t handle = request->handle;
    if (!handle)
        return;
    cublasStatus_t (*get_mode)(cublasHandle_t, int *) = real_symbol_get(ASKED_cublasGetPointerMode_v2, real);
    cublasStatus_t (*get_math)(cublasHandle_t, int *) = real_symbol_get(ASKED_cublasGetMathMode, real);
    cublasStatus_t (*get_stream)(cublasHandle_t, cudaStream_t *) = real_symbol_get(ASKED_cublasGetStream_v2, real);
    int mode, math;
    cudaStream_t stream;
    if (get_mode && get_mode(handle, &mode) == VENDOR_SUCCESS)
        request->signature.pointer_mode = call_operation(mode);
    if (get_math && get_math(handle, &math) == VENDOR_SUCCESS)
        request->signature.math_mode = math;
    if (get_stream && get_stream(handle, &stream) == VENDOR_SUCCESS)
        request->stream = (uint64_t)(uintptr_t)stream;
}

/* Reads alpha and beta where the pointer mode says that they are on the host, and nowhere else. */
static inline void read_scalars(struct call_request *request)
{
    struct trace_signature *s = &request->signature;
    switch (s->pointer_mode) {
    case VENDOR_POINTER_HOST:
        s->alpha = (uint8_t)scalar_classify(request->alpha, s->type_scale);
        s->beta = (uint8_t)scalar_classify(request->beta, s->type_scale);
        break;
    case VENDOR_POINTER_DEVICE:
    case VENDOR_POINTER_DEVICE_VECTOR:
        s->alpha = s->beta = TRACE_SCALAR_ON_DEVICE;
        break;
    case VENDOR_POINTER_ALPHA_VECTOR_BETA_ZERO:
        s->alpha = TRACE_SCALAR_ON_DEVICE;
        s->beta = TRACE_SCALAR_ZERO;
        break;
    case VENDOR_POINTER_ALPHA_VECTOR_BETA_HOST:
        s->alpha = TRACE_SCALAR_ON_DEVICE;
        s->beta = (uint8_t)scalar_classify(request->beta, s->type_scale);
        break;
    default: /* not known where they are: not read */
        break;
    }
}

static inline void ask_library(struct call_request *request, const void *real)
{
    if (__builtin_expect(request->scalars == CALL_SCALARS_BY_MODE, 1))
        ask_handle(request, real);
    else if (request->scalars == CALL_SCALARS_LT)
        lt_shapes_read(&request->lt, real, &request->signature);
    else
        request->signature.pointer_mode = VENDOR_POINTER_HOST;
    read_scalars(request);
}

static uint32_t saturated(uint64_t ticks)
{
    return ticks > UINT32_MAX ? UINT32_MAX : (uint32_t)ticks;
}

static uint64_t write_call(struct call_request *request, uint64_t end_ticks)
{
    uint64_t id = 0;
    uint32_t offset = 0;
    struct trace_call *call =
        trace_reserve_with(request->thread, TRACE_RECORD_SIGNATURE, &request->signature, sizeof request->signature,
                           TRACE_RECORD_CALL, sizeof *call, &id, &offset);
    if (!call)
        return trace_content_id(&request->signature, sizeof request->signature);
    call->signature_offset = offset;
    call->duration_ticks = saturated(end_ticks - request->start_ticks);
    call->start_ticks = request->start_ticks;
    call->stream = request->stream;
    for (int i = 0; i < 3; i++)
        call->operand[i] = (uint64_t)(uintptr_t)request->operand[i];
    call->call_id = request->call_id;
    trace_commit(request->thread, call);
    slot_count(&request->slot->calls_recorded);
    return id;
}

/* A call that failed may have had anything for arguments: only what was passed by value is kept. */
static void write_failed(struct call_request *request, int status)
{
    uint64_t id;
    uint32_t offset = 0;
    request->signature.flags |= TRACE_SIGNATURE_ARGS_NOT_READ;
    struct trace_call_failed *failed =
        trace_reserve_with(request->thread, TRACE_RECORD_SIGNATURE, &request->signature, sizeof request->signature,
                           TRACE_RECORD_CALL_FAILED, sizeof *failed, &id, &offset);
    slot_count(&request->slot->calls_failed);
    if (!failed)
        return;
    failed->signature_offset = offset;
    failed->status = status;
    failed->start_ticks = request->start_ticks;
    failed->call_id = request->call_id;
    trace_commit(request->thread, failed);
}

void call_record_end(struct call_request *request, int status, const void *real)
{
    uint64_t end_ticks = clock_ticks();
    int saved_errno = errno;
    if (status == VENDOR_SUCCESS) {
        ask_library(request, real);
        kernel_timing_call_end(TRACE_OWNER_CALL, write_call(request, end_ticks));
    } else {
        write_failed(request, status);
        kernel_timing_call_end(TRACE_OWNER_NONE, 0);
    }
    __atomic_store_n(&request->slot->entry, ENTRY_NONE, __ATOMIC_RELEASE);
    preload_depth.call = 0;
    errno = saved_errno;
}
