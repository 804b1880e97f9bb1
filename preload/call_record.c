/* SPDX-License-Identifier: Apache-2.0 */
/* Before the real call: who, what by value, when. After it: what only the library knows, asked of its own getters, and the
 * record. The record is committed before the wrapper returns, so a call whose caller went on is in the trace whatever
 * becomes of the process. No lock, no allocation, no system call. */
#include "preload/call_record.h"

#include <errno.h>

#include "cupti/event_timing.h"
#include "cupti/graph_capture.h"
#include "cupti/kernel_timing.h"
#include "preload/real_symbol.h"
#include "preload/scalar.h"
#include "trace/clock.h"

#define UNKNOWN_4                                                                                                      \
    {                                                                                                                  \
        TRACE_UNKNOWN, TRACE_UNKNOWN, TRACE_UNKNOWN, TRACE_UNKNOWN                                                     \
    }

/* All that is hashed into a signature before the arguments are filled in: copied whole, which is cheaper than clearing and
 * setting, and leaves no byte undefined. */
static const struct trace_signature signature_cublas = {
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
static const struct trace_signature signature_lt = {
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
    .plane_offset = UNKNOWN_4,
};

/* ---- what only the library knows ---- */

const double call_no_beta[2];

unsigned call_classify_scalars(uint8_t pointer_mode, const void *alpha, const void *beta, int type)
{
    switch (pointer_mode) {
    case VENDOR_POINTER_HOST:
        return call_two_scalars(scalar_classify(alpha, type), scalar_classify(beta, type));
    case VENDOR_POINTER_DEVICE:
    case VENDOR_POINTER_DEVICE_VECTOR:
        return call_two_scalars(TRACE_SCALAR_ON_DEVICE, TRACE_SCALAR_ON_DEVICE);
    case VENDOR_POINTER_ALPHA_VECTOR_BETA_ZERO:
        return call_two_scalars(TRACE_SCALAR_ON_DEVICE, TRACE_SCALAR_ZERO);
    case VENDOR_POINTER_ALPHA_VECTOR_BETA_HOST:
        return call_two_scalars(TRACE_SCALAR_ON_DEVICE, scalar_classify(beta, type));
    default: /* not known where they are: not read */
        return call_two_scalars(TRACE_SCALAR_UNKNOWN, TRACE_SCALAR_UNKNOWN);
    }
}

static int real_type(int type)
{
    return type == VENDOR_C_32F ? VENDOR_R_32F : type == VENDOR_C_64F ? VENDOR_R_64F : TRACE_UNKNOWN;
}

/* One that is not there: alpha is then not known, and what is written was not read, as with a beta of zero. */
static unsigned classify_event(uint8_t mode, const struct call_event *event)
{
    int type = call_scale_type(event), type_beta = event->scalars & CALL_SCALARS_REAL_BETA ? real_type(type) : type;
    unsigned alpha = event->scalars & CALL_SCALARS_NO_ALPHA
                         ? TRACE_SCALAR_UNKNOWN
                         : call_classify_scalars(mode, event->alpha, NULL, type) & 0xff;
    unsigned beta = event->scalars & CALL_SCALARS_NO_BETA
                        ? TRACE_SCALAR_ZERO
                        : call_classify_scalars(mode, NULL, event->beta, type_beta) >> 8;
    return alpha | beta << 8;
}

struct call_answers call_answers_classified(int32_t math_mode, int pointer_mode, const struct call_event *event)
{
    uint8_t mode = call_operation(pointer_mode);
    return (struct call_answers){
        .modes = memo_pair((uint32_t)math_mode, mode) | CALL_SCALARS_CLASSIFIED,
        .scalars = classify_event(mode, event),
    };
}

struct call_getters call_getters;

static void remember_getters(struct call_getters found)
{
    int unknown = GETTERS_UNKNOWN;
    if (!found.pointer_mode || !found.math_mode || !found.stream ||
        !atomic_compare_exchange_strong(&real_symbol_getters, &unknown, GETTERS_BEING_SET))
        return;
    call_getters = found;
    int being_set = GETTERS_BEING_SET; /* unless a second copy turned up meanwhile */
    atomic_compare_exchange_strong(&real_symbol_getters, &being_set, GETTERS_KNOWN);
}

/* A getter that is missing or refuses leaves its value unknown. */
struct call_handle_state call_ask_one_by_one(cublasHandle_t handle, const void *real)
{
    struct call_handle_state state = {-1, TRACE_UNKNOWN, CALL_STREAM_UNKNOWN};
    if (!handle)
        return state;
    const struct call_getters get = {
        .pointer_mode = real_symbol_ask(ASKED_cublasGetPointerMode_v2, real),
        .math_mode = real_symbol_ask(ASKED_cublasGetMathMode, real),
        .stream = real_symbol_ask(ASKED_cublasGetStream_v2, real),
    };
    remember_getters(get);
    int mode, math;
    cudaStream_t stream;
    if (get.pointer_mode && get.pointer_mode(handle, &mode) == VENDOR_SUCCESS)
        state.pointer_mode = mode;
    if (get.math_mode && get.math_mode(handle, &math) == VENDOR_SUCCESS)
        state.math_mode = math;
    if (get.stream && get.stream(handle, &stream) == VENDOR_SUCCESS)
        state.stream = (uint64_t)(uintptr_t)stream;
    return state;
}

/* Only for timing by events, and while something captures. */
static void *stream_before(cublasHandle_t handle, const void *real)
{
    int errno_before = errno;
    cublasStatus_t (*get)(cublasHandle_t, cudaStream_t *) =
        handle ? real_symbol_ask(ASKED_cublasGetStream_v2, real) : NULL;
    cudaStream_t stream;
    bool known = get && get(handle, &stream) == VENDOR_SUCCESS;
    errno = errno_before;
    return known ? (void *)stream : EVENT_TIMING_NO_STREAM;
}

void call_enter_slowly(struct kernel_timing_context *timing, uint64_t stream, cublasHandle_t handle, uint64_t call_id,
                       const void *real)
{
    void *known = (void *)(uintptr_t)stream;
    if (stream == CALL_STREAM_UNKNOWN)
        known = event_timing_is_on() || graph_capture_asks() ? stream_before(handle, real) : NULL;
    kernel_timing_enter_slowly(timing, known, call_id);
}

/* ---- signatures ---- */

/* One of the fields of call_triangle(). */
static unsigned triangle_field(const struct call_shape *shape, unsigned index)
{
    return (unsigned)(shape->facts >> (48 + 4 * index)) & 15;
}

static uint8_t triangle_mode(const struct call_shape *shape, unsigned index)
{
    unsigned field = triangle_field(shape, index);
    return field ? (uint8_t)(field - 1) : (uint8_t)TRACE_U8_UNKNOWN;
}

void call_signature_fill(struct trace_signature *s, const struct call_shape *shape, int type_scale)
{
    *s = signature_cublas;
    s->entry = (uint16_t)shape->facts;
    s->kind = (uint8_t)(shape->facts >> 16);
    s->batch_mode = (uint8_t)(shape->facts >> 24);
    s->trans_a = (uint8_t)(shape->facts >> 32);
    s->trans_b = (uint8_t)(shape->facts >> 40);
    s->side = triangle_mode(shape, 0);
    s->fill_mode = triangle_mode(shape, 1);
    s->diagonal = (uint8_t)triangle_field(shape, 2);
    s->m = shape->m;
    s->n = shape->n;
    s->k = shape->k;
    s->batch = shape->batch;
    for (int i = 0; i < 4; i++) { /* D is C */
        int operand = i < 3 ? i : 2;
        s->ld[i] = shape->ld[operand];
        s->batch_stride[i] = shape->batch_stride[operand];
        s->type[i] = shape->type[operand];
    }
    s->type_compute = shape->type_compute;
    s->type_scale = type_scale;
}

static void signature_set_scalars(struct trace_signature *s, unsigned scalars)
{
    s->alpha = (uint8_t)scalars;
    s->beta = (uint8_t)(scalars >> 8);
}

static unsigned scalars_of(struct call_answers answers)
{
    uint32_t alpha = (uint32_t)answers.scalars, beta = (uint32_t)(answers.scalars >> 32);
    if (answers.modes & CALL_SCALARS_CLASSIFIED)
        return (unsigned)answers.scalars;
    return call_two_scalars(scalar_classify_float(&alpha), scalar_classify_float(&beta));
}

void call_signature_answer(struct trace_signature *s, struct call_answers answers)
{
    s->math_mode = (int32_t)answers.modes;
    s->pointer_mode = (uint8_t)(answers.modes >> 32);
    signature_set_scalars(s, scalars_of(answers));
}

/* ---- records ---- */

/* With a signature that the thread's block may not hold yet. *PLACE: where it is now, 0 if the record was dropped. */
static uint64_t write_with_signature(const struct call_event *event, struct trace_signature *signature,
                                     uint64_t end_ticks, uint64_t *place)
{
    uint64_t id = 0;
    uint32_t offset = 0;
    struct trace_call *call = trace_reserve_with(event->thread, TRACE_RECORD_SIGNATURE, signature, sizeof *signature,
                                                 TRACE_RECORD_CALL, sizeof *call, &id, &offset);
    *place = call ? trace_place(event->thread, offset) : 0;
    if (!call)
        return trace_content_id(signature, sizeof *signature);
    call_finish(event, call, offset, end_ticks);
    return id;
}

/* The set's memo of this number may know it. 0: it does not. */
static uint64_t write_remembered(const struct call_shape *shape, const struct call_event *event,
                                 struct call_answers answers, uint64_t end_ticks, unsigned number)
{
    uint64_t id;
    struct trace_thread *thread = event->thread;
    const struct call_memo *memo = call_memo_set(call_memory(thread), shape) + number;
    struct trace_call *call = call_memo_is(memo, shape, answers, true)
                                  ? trace_reserve_at(thread, memo->place, TRACE_RECORD_CALL, sizeof *call, &id)
                                  : NULL;
    if (!call)
        return 0;
    call_finish(event, call, trace_place_offset(memo->place), end_ticks);
    return id;
}

static void remember(struct trace_thread *thread, const struct call_shape *shape, struct call_answers answers,
                     uint64_t place)
{
    struct call_memo *set = call_memo_set(call_memory(thread), shape);
    if (!call_memo_is(&set[0], shape, answers, true))
        set[1] = set[0];
    set[0].shape = *shape;
    set[0].answers = answers;
    set[0].place = place;
}

uint64_t call_write_anew(const struct call_shape *shape, const struct call_event *event, struct call_answers answers,
                         uint64_t end_ticks)
{
    struct trace_signature signature;
    uint64_t id = write_remembered(shape, event, answers, end_ticks, 1);
    if (id)
        return id;
    call_signature_fill(&signature, shape, call_scale_type(event));
    call_signature_answer(&signature, answers);
    return call_write_first(shape, event, answers, &signature, end_ticks);
}

bool call_is_known(const struct call_shape *shape, const struct call_event *event, struct call_answers answers)
{
    const struct call_memo *set = call_memo_set(call_memory(event->thread), shape);
    for (unsigned i = 0; i < 2; i++)
        if (call_memo_is(&set[i], shape, answers, true) && trace_place_is_good(event->thread, set[i].place))
            return true;
    return false;
}

uint64_t call_write_known(const struct call_shape *shape, const struct call_event *event, struct call_answers answers,
                          uint64_t end_ticks)
{
    uint64_t id = write_remembered(shape, event, answers, end_ticks, 0);
    return id ? id : write_remembered(shape, event, answers, end_ticks, 1);
}

uint64_t call_write_first(const struct call_shape *shape, const struct call_event *event, struct call_answers answers,
                          struct trace_signature *signature, uint64_t end_ticks)
{
    uint64_t place, id = write_with_signature(event, signature, end_ticks, &place);
    remember(event->thread, shape, answers, place);
    return id;
}

/* A call that failed may have had anything for arguments: only what was passed by value is kept. */
static void write_failed(const struct call_event *event, struct trace_signature *signature, int status)
{
    uint64_t id;
    uint32_t offset = 0;
    signature->flags |= TRACE_SIGNATURE_ARGS_NOT_READ;
    struct trace_call_failed *failed =
        trace_reserve_with(event->thread, TRACE_RECORD_SIGNATURE, signature, sizeof *signature,
                           TRACE_RECORD_CALL_FAILED, sizeof *failed, &id, &offset);
    event->thread->slot->calls_failed++;
    if (!failed)
        return;
    failed->signature_offset = offset;
    failed->status = status;
    failed->start_ticks = event->start_ticks;
    failed->call_id = event->call_id;
    trace_commit(event->thread, failed);
}

void call_write_failed(const struct call_shape *shape, const struct call_event *event, int status)
{
    struct trace_signature signature;
    call_signature_fill(&signature, shape, call_scale_type(event));
    write_failed(event, &signature, status);
}

/* ---- for calls that need not be quick ---- */

void call_rare_begin(struct trace_thread *thread, struct call_shape *shape, struct call_event *event,
                     const uintptr_t *stack, const void *real)
{
    call_begin_at(thread, shape, event, stack, real);
}

void call_rare_end(struct call_shape *shape, struct call_event *event, const struct call_groups *groups, int status,
                   const void *real)
{
    if (event->batch_mode == TRACE_BATCH_GROUPED)
        call_record_end_groups(shape, event, groups, status, real);
    else
        call_record_end(shape, event, status, real);
}

/* ---- calls that are measured, or counted only ---- */

bool call_ends_here(const struct call_event *event, bool *measured)
{
    *measured = false;
    if (!own_cost_is_marked(event->incarnation))
        return true; /* stale */
    *measured = own_cost_is_measured(event->incarnation);
    if (!own_cost_is_counted(event->incarnation))
        return false;
    kernel_timing_call_end(kernel_timing_context(event->thread), TRACE_OWNER_NONE, 0);
    call_leave(event->thread);
    if (*measured)
        call_measured(event, clock_ticks());
    return true;
}

void call_end_unusual(struct call_shape *shape, struct call_event *event, int status, const void *real,
                      uint64_t end_ticks)
{
    bool measured;
    if (call_ends_here(event, &measured))
        return;
    call_end_now(shape, event, status, real, end_ticks);
    if (measured)
        call_measured(event, end_ticks);
}

/* ---- cuBLASLt, whose shapes are in descriptors ---- */

_Static_assert(LT_MEMOS == 2 * LT_SHAPES_LINES, "a sequence means something in its own line only");

static inline struct lt_memo *lt_memo_of(struct trace_thread *thread, const struct lt_found *found, unsigned scalars)
{
    bool beta_zero = scalars >> 8 == TRACE_SCALAR_ZERO; /* programs use a descriptor with and without */
    return &call_memory(thread)->lt[found->line * 2 + beta_zero];
}

static inline uint64_t lt_answers(const struct call_shape *shape, unsigned scalars)
{
    return (shape->facts & 0xffff) << 32 | scalars;
}

static __attribute__((noinline)) uint64_t write_lt_anew(const struct call_shape *shape, const struct call_event *event,
                                                        const struct lt_descriptors *descriptors, const void *real,
                                                        uint64_t end_ticks)
{
    struct trace_signature signature = signature_lt;
    uint64_t place;
    struct lt_found found = lt_shapes_read(descriptors, real, &signature);
    unsigned scalars = call_classify_scalars(signature.pointer_mode, event->alpha, event->beta, signature.type_scale);
    signature.entry = (uint16_t)shape->facts;
    signature_set_scalars(&signature, scalars);
    uint64_t id = write_with_signature(event, &signature, end_ticks, &place);
    if (found.sequence)
        *lt_memo_of(event->thread, &found, scalars) =
            (struct lt_memo){.sequence = found.sequence, .answers = lt_answers(shape, scalars), .place = place};
    return id;
}

static inline uint64_t write_lt(const struct call_shape *shape, const struct call_event *event,
                                const struct lt_descriptors *descriptors, const void *real, uint64_t end_ticks)
{
    uint64_t id;
    struct trace_thread *thread = event->thread;
    struct lt_found found = lt_shapes_find(descriptors);
    if (__builtin_expect(found.sequence != 0, 1)) {
        unsigned scalars = call_classify_scalars(found.pointer_mode, event->alpha, event->beta, found.type_scale);
        const struct lt_memo *memo = lt_memo_of(thread, &found, scalars);
        struct trace_call *call = memo->sequence == found.sequence && memo->answers == lt_answers(shape, scalars)
                                      ? trace_reserve_at(thread, memo->place, TRACE_RECORD_CALL, sizeof *call, &id)
                                      : NULL;
        if (__builtin_expect(call != NULL, 1)) {
            call_finish(event, call, trace_place_offset(memo->place), end_ticks);
            return id;
        }
    }
    return write_lt_anew(shape, event, descriptors, real, end_ticks);
}

static __attribute__((noinline)) void write_lt_failed(const struct call_shape *shape, const struct call_event *event,
                                                      int status)
{
    struct trace_signature signature = signature_lt;
    signature.entry = (uint16_t)shape->facts;
    write_failed(event, &signature, status);
}

void call_record_end_lt(const struct call_shape *shape, const struct call_event *event,
                        const struct lt_descriptors *descriptors, int status, const void *real)
{
    uint64_t end_ticks = clock_ticks();
    bool measured = false;
    if (call_is_unusual(event) && call_ends_here(event, &measured))
        return;
    struct kernel_timing_context *context = kernel_timing_context(event->thread);
    int *error = trace_thread_errno(event->thread), error_before = *error;
    if (__builtin_expect(status == VENDOR_SUCCESS, 1)) {
        kernel_timing_call_end(context, TRACE_OWNER_CALL, write_lt(shape, event, descriptors, real, end_ticks));
    } else {
        write_lt_failed(shape, event, status);
        kernel_timing_call_end(context, TRACE_OWNER_NONE, 0);
    }
    call_leave(event->thread);
    *error = error_before;
    if (__builtin_expect(measured, 0))
        call_measured(event, end_ticks);
}

/* ---- types ---- */

static int scale_type(int compute, int type_c)
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

int call_scale_type(const struct call_event *event)
{
    return event->type_scale == CALL_SCALE_BY_TYPES ? scale_type(event->type_compute, event->type_c)
                                                    : event->type_scale;
}
