/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts, streams, events and graphs' ids of libcuda.so.1's stand-in. */
#include "tests/cupti/fake_events.h"

#include <pthread.h>
#include <stdlib.h>

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    INVALID_CONTEXT = 201,
    INVALID_HANDLE = 400,
    NOT_READY = 600
};
enum { STREAMS = 128, STACK = 8, GONE = 128 };

static struct fake_event {
    struct fake_event *older;
    void *context;
    bool recorded;
    uint64_t at_ns;
} * newest;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t now_ns = 1000;
static struct {
    void *stream;
    uint64_t tail_ns;
} streams[STREAMS];
static void *gone[GONE]; /* contexts */
static unsigned gone_count, offences[FAKE_OFFENCES], made, refuse_after;
static int refuse_record;
static _Thread_local void *stack[STACK];
static _Thread_local unsigned depth; /* the current one is stack[depth] */

FAKE_API int cuCtxGetCurrent(void **context);
FAKE_API int cuCtxPushCurrent_v2(void *context);
FAKE_API int cuCtxPopCurrent_v2(void **context);
FAKE_API int cuCtxGetDevice(int *device);
FAKE_API int cuStreamCreate(void **stream, unsigned flags);
FAKE_API int cuEventCreate(void **event, unsigned flags);
FAKE_API int cuEventRecord(void *event, void *stream);
FAKE_API int cuEventQuery(void *event);
FAKE_API int cuEventSynchronize(void *event);
FAKE_API int cuEventElapsedTime(float *milliseconds, void *start, void *end);
FAKE_API int cuGraphExecGetId(void *executable, unsigned *id);
int cuStreamIsCapturing(void *stream, int *status);

static void offend(enum fake_offence which)
{
    __atomic_fetch_add(&offences[which], 1, __ATOMIC_RELAXED);
}

static bool is_gone(const void *context)
{
    for (unsigned i = 0; i < gone_count; i++)
        if (gone[i] == context)
            return true;
    return false;
}

static void check_alive(const void *context)
{
    pthread_mutex_lock(&lock);
    if (is_gone(context))
        offend(FAKE_AFTER_DESTROY);
    pthread_mutex_unlock(&lock);
}

static void check_safe(void)
{
    if (fake_cuda_capture_mode() != 2)
        offend(FAKE_UNSAFE_CALL);
}

static uint64_t *tail_of(void *stream)
{
    for (unsigned i = 0; i < STREAMS; i++) {
        if (!streams[i].tail_ns) {
            streams[i].stream = stream;
            streams[i].tail_ns = now_ns;
        }
        if (streams[i].stream == stream)
            return &streams[i].tail_ns;
    }
    abort();
}

static uint64_t ready_at(void *stream)
{
    uint64_t *tail = tail_of(stream);
    return *tail > now_ns ? *tail : now_ns;
}

/* ---- knobs ---- */

void fake_events_use_context(void *context)
{
    stack[depth] = context;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < gone_count; i++) /* an address that is used again */
        if (gone[i] == context)
            gone[i] = NULL;
    pthread_mutex_unlock(&lock);
}

void fake_events_destroy_context(void *context)
{
    pthread_mutex_lock(&lock);
    if (gone_count == GONE)
        abort();
    gone[gone_count++] = context;
    pthread_mutex_unlock(&lock);
}

void fake_events_work(void *stream, uint64_t ns)
{
    pthread_mutex_lock(&lock);
    uint64_t from = ready_at(stream);
    *tail_of(stream) = from + ns;
    pthread_mutex_unlock(&lock);
}

void fake_events_reach(uint64_t ns)
{
    pthread_mutex_lock(&lock);
    now_ns += ns;
    pthread_mutex_unlock(&lock);
}

void fake_events_refuse_record(int result)
{
    refuse_record = result;
}

void fake_events_refuse_create_after(unsigned events)
{
    refuse_after = events;
}

unsigned fake_events_offences(enum fake_offence which)
{
    return __atomic_load_n(&offences[which], __ATOMIC_RELAXED);
}

unsigned fake_events_made(void)
{
    return __atomic_load_n(&made, __ATOMIC_RELAXED);
}

/* ---- the driver ---- */

int cuCtxGetCurrent(void **context)
{
    *context = stack[depth];
    return SUCCESS;
}

int cuCtxPushCurrent_v2(void *context)
{
    check_alive(context);
    if (depth + 1 == STACK)
        return INVALID_CONTEXT;
    stack[++depth] = context;
    return SUCCESS;
}

int cuCtxPopCurrent_v2(void **context)
{
    if (!depth)
        return INVALID_CONTEXT;
    *context = stack[depth--];
    return SUCCESS;
}

int cuCtxGetDevice(int *device)
{
    *device = 0;
    return stack[depth] ? SUCCESS : INVALID_CONTEXT;
}

int cuStreamCreate(void **stream, unsigned flags)
{
    static char handles[STREAMS];
    static _Atomic unsigned next;
    check_safe();
    if (flags != 1)
        return INVALID_VALUE; /* it would wait for the legacy stream */
    *stream = &handles[next++ % STREAMS];
    return SUCCESS;
}

int cuEventCreate(void **event, unsigned flags)
{
    check_safe();
    check_alive(stack[depth]);
    if (!stack[depth] || flags)
        return stack[depth] ? INVALID_VALUE : INVALID_CONTEXT;
    if (refuse_after && made >= refuse_after)
        return OUT_OF_MEMORY;
    struct fake_event *created = calloc(1, sizeof *created);
    created->context = stack[depth];
    pthread_mutex_lock(&lock);
    created->older = newest; /* what nobody destroys is the driver's, and no leak */
    newest = created;
    pthread_mutex_unlock(&lock);
    *event = created;
    __atomic_fetch_add(&made, 1, __ATOMIC_RELAXED);
    return SUCCESS;
}

int cuEventRecord(void *event, void *stream)
{
    struct fake_event *recorded = event;
    int status = 0;
    check_alive(recorded->context);
    if (refuse_record)
        return refuse_record;
    if (cuStreamIsCapturing(stream, &status) != SUCCESS || status)
        offend(FAKE_RECORDED_IN_CAPTURE);
    if (stack[depth] != recorded->context)
        offend(FAKE_WRONG_CONTEXT);
    pthread_mutex_lock(&lock);
    recorded->at_ns = ready_at(stream);
    recorded->recorded = true;
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}

int cuEventQuery(void *event)
{
    const struct fake_event *asked = event;
    check_safe();
    check_alive(asked->context);
    pthread_mutex_lock(&lock);
    int result = asked->recorded && asked->at_ns > now_ns ? NOT_READY : SUCCESS;
    pthread_mutex_unlock(&lock);
    return result;
}

int cuEventSynchronize(void *event)
{
    (void)event;
    offend(FAKE_WAITED);
    return SUCCESS;
}

int cuEventElapsedTime(float *milliseconds, void *start, void *end)
{
    const struct fake_event *from = start, *to = end;
    check_alive(from->context);
    check_alive(to->context);
    if (!from->recorded || !to->recorded)
        return INVALID_HANDLE;
    *milliseconds = (float)((double)(int64_t)(to->at_ns - from->at_ns) / 1e6);
    return from->at_ns > now_ns || to->at_ns > now_ns ? NOT_READY : SUCCESS;
}

int cuGraphExecGetId(void *executable, unsigned *id)
{
    *id = *(const unsigned *)executable;
    return SUCCESS;
}
