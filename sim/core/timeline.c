/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline: when work of a stream can start (streams run side by side; a context's legacy stream and its blocking
 * ones wait for each other), and the activities that wait to be told to the observer. */
#include "sim/core/state.h"

#include <stdlib.h>
#include <string.h>

#define STREAM_NON_BLOCKING 1u

static struct simgpu_activity *pending;
static size_t pending_count, pending_capacity;
static unsigned deliveries; /* threads that are telling of what they took */
static pthread_cond_t delivered = PTHREAD_COND_INITIALIZER;

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint64_t timeline_ready(const struct simgpu_stream *stream)
{
    uint64_t ready = later(timeline_now(), stream->tail_ns);
    if (stream->legacy)
        return later(ready, stream->context->blocking_tail_ns);
    return stream->flags & STREAM_NON_BLOCKING ? ready : later(ready, stream->context->legacy_tail_ns);
}

void timeline_occupy(struct simgpu_stream *stream, uint64_t end_ns)
{
    struct context *context = stream->context;
    stream->tail_ns = later(stream->tail_ns, end_ns);
    context->last_end_ns = later(context->last_end_ns, end_ns);
    if (stream->legacy)
        context->legacy_tail_ns = later(context->legacy_tail_ns, end_ns);
    else if (!(stream->flags & STREAM_NON_BLOCKING))
        context->blocking_tail_ns = later(context->blocking_tail_ns, end_ns);
}

void timeline_add(const struct simgpu_activity *activity)
{
    const struct simgpu_observer *observer = api_observer();
    if (!observer || !observer->activity)
        return;
    if (pending_count == pending_capacity) {
        size_t capacity = pending_capacity ? 2 * pending_capacity : 1024;
        struct simgpu_activity *grown = realloc(pending, capacity * sizeof *grown);
        if (!grown)
            abort(); /* a simulator that loses what it is the witness of is worth nothing */
        pending = grown;
        pending_capacity = capacity;
    }
    pending[pending_count++] = *activity;
}

/* Moves what has ended by NOW out of the pending ones, in order. */
static struct simgpu_activity *take_ended(uint64_t now, size_t *count)
{
    size_t ended = 0;
    for (size_t i = 0; i < pending_count; i++)
        ended += pending[i].end_ns <= now;
    *count = ended;
    struct simgpu_activity *taken = ended ? malloc(ended * sizeof *taken) : NULL;
    if (!taken)
        return NULL;
    size_t kept = 0, next = 0;
    for (size_t i = 0; i < pending_count; i++)
        if (pending[i].end_ns <= now)
            taken[next++] = pending[i];
        else
            pending[kept++] = pending[i];
    pending_count = kept;
    return taken;
}

/* A flush may come from inside an API callback, so an observer that is already busy on this thread hears too. */
static void deliver_until(uint64_t now)
{
    const struct simgpu_observer *observer = api_observer();
    if (!observer || !observer->activity)
        return;
    bool outermost = api_enter_observer() != NULL;
    size_t count;
    core_lock();
    struct simgpu_activity *ended = take_ended(now, &count);
    deliveries++;
    core_unlock();
    for (size_t i = 0; ended && i < count; i++)
        observer->activity(&ended[i]);
    free(ended);
    core_lock();
    deliveries--;
    pthread_cond_broadcast(&delivered);
    core_unlock();
    if (outermost)
        api_leave_observer();
}

void simgpu_deliver(void)
{
    core_lock();
    uint64_t now = timeline_now();
    core_unlock();
    deliver_until(now);
}

void simgpu_flush(void)
{
    core_lock();
    uint64_t now = clock_is_real() ? timeline_now() : UINT64_MAX;
    core_unlock();
    deliver_until(now);
    core_lock();
    while (deliveries)
        core_wait(&delivered);
    core_unlock();
}
