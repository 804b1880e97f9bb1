/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and waiting for them. */
#include "sim/core/stream.h"
#include "sim/core/device.h"
#include "sim/core/state.h"

struct object_pool core_streams = OBJECT_POOL(simgpu_stream);

static uint32_t last_id;
static __thread struct simgpu_stream *per_thread; /* one a context */

static struct simgpu_stream *make(struct context *context, unsigned flags, int priority)
{
    struct simgpu_stream *stream = context ? object_new(&core_streams) : NULL;
    if (!stream)
        return NULL;
    stream->context = context;
    stream->id = ++last_id;
    stream->flags = flags;
    stream->priority = priority;
    return stream;
}

static struct simgpu_stream *make_default(struct context *context, bool legacy)
{
    struct simgpu_stream *stream = make(context, 0, 0);
    if (stream) {
        stream->legacy = legacy;
        stream->is_default = true;
    }
    return stream;
}

static struct simgpu_stream *stream_of_thread(struct context *context)
{
    for (struct simgpu_stream *stream = per_thread; stream; stream = stream->next_of_thread)
        if (stream->context == context)
            return stream;
    struct simgpu_stream *stream = make_default(context, false);
    if (stream) {
        stream->next_of_thread = per_thread;
        per_thread = stream;
    }
    return stream;
}

/* A thread's default stream stays when the thread ends: its work may not be over. */
static struct simgpu_stream *default_stream(bool of_thread)
{
    struct context *context = context_current();
    if (of_thread || !context)
        return stream_of_thread(context);
    if (!context->legacy)
        context->legacy = make_default(context, true);
    return context->legacy;
}

struct simgpu_stream *simgpu_stream_of(void *handle, int per_thread_default)
{
    uintptr_t number = (uintptr_t)handle;
    core_lock();
    struct simgpu_stream *stream = NULL;
    if (number <= 2)
        stream = default_stream(number == 2 || (number == 0 && per_thread_default));
    else if (object_valid(&core_streams, handle))
        stream = handle;
    core_unlock();
    return stream;
}

uint32_t simgpu_stream_id(const struct simgpu_stream *stream)
{
    return stream->id;
}

static void tell(enum simgpu_resource_event event, struct simgpu_stream *stream)
{
    api_resource(
        &(struct simgpu_resource_notice){.event = event, .context = simgpu_context_current(), .stream = stream});
}

int simgpu_stream_create(unsigned flags, int priority, struct simgpu_stream **created)
{
    if (flags > 1)
        return SIMGPU_INVALID_VALUE;
    if (priority > 0)
        priority = 0;
    if (priority < SIMGPU_PRIORITY_GREATEST)
        priority = SIMGPU_PRIORITY_GREATEST;
    core_lock();
    struct simgpu_stream *stream = make(context_current(), flags, priority);
    core_unlock();
    if (!stream)
        return SIMGPU_OUT_OF_MEMORY;
    *created = stream;
    tell(SIMGPU_STREAM_CREATED, stream);
    return SIMGPU_SUCCESS;
}

int simgpu_stream_destroy(struct simgpu_stream *stream)
{
    core_lock();
    bool ours = object_valid(&core_streams, stream) && !stream->is_default;
    core_unlock();
    if (!ours)
        return SIMGPU_INVALID_HANDLE;
    tell(SIMGPU_STREAM_DESTROYED, stream);
    core_lock();
    ours = object_valid(&core_streams, stream);
    if (ours) {
        capture_stream_gone(stream);
        node_set_clear(&stream->frontier);
        object_free(&core_streams, stream);
    }
    core_unlock();
    return ours ? SIMGPU_SUCCESS : SIMGPU_INVALID_HANDLE;
}

void *simgpu_stream_context(struct simgpu_stream *stream)
{
    core_lock();
    void *context = object_valid(&core_streams, stream) ? stream->context : NULL;
    core_unlock();
    return context;
}

static bool leave_context(void *object, void *context)
{
    struct simgpu_stream *stream = object;
    if (stream->context == context && !stream->is_default) {
        capture_stream_gone(stream);
        node_set_clear(&stream->frontier);
        object_free(&core_streams, stream);
    }
    return true;
}

void streams_of_context_gone(const struct context *context)
{
    object_each(&core_streams, leave_context, (void *)context);
}

int simgpu_stream_get(struct simgpu_stream *stream, unsigned *flags, int *priority, uint32_t *id)
{
    core_lock();
    bool ours = object_valid(&core_streams, stream);
    if (ours) {
        *flags = stream->flags;
        *priority = stream->priority;
        *id = stream->id;
    }
    core_unlock();
    return ours ? SIMGPU_SUCCESS : SIMGPU_INVALID_HANDLE;
}

/* Waiting for a stream that captures is an error that spoils the capture. */
static int refuse_captured(struct simgpu_stream *stream)
{
    if (!stream->capture)
        return SIMGPU_SUCCESS;
    stream->capture->invalidated = true;
    return SIMGPU_CAPTURE_UNSUPPORTED;
}

int simgpu_stream_synchronize(struct simgpu_stream *stream)
{
    core_lock();
    int result = object_valid(&core_streams, stream) ? refuse_captured(stream) : SIMGPU_INVALID_HANDLE;
    uint64_t end = 0, ticket = 0;
    if (!result) {
        end = stream->legacy ? timeline_ready(stream) : stream->tail_ns;
        ticket = stream->legacy ? executor_last() : stream->ticket;
        timeline_reached(end);
    }
    core_unlock();
    if (result)
        return result;
    timeline_sleep_until(end);
    executor_wait(ticket);
    simgpu_deliver();
    return SIMGPU_SUCCESS;
}

int simgpu_stream_settle(struct simgpu_stream *stream)
{
    core_lock();
    int result = object_valid(&core_streams, stream) ? SIMGPU_SUCCESS : SIMGPU_INVALID_HANDLE;
    uint64_t ticket = result ? 0 : stream->legacy ? executor_last() : stream->ticket;
    core_unlock();
    executor_wait(ticket);
    return result;
}

/* In virtual time a program that finds its stream busy has, by asking, let the time pass. */
int simgpu_stream_query(struct simgpu_stream *stream)
{
    core_lock();
    int result = object_valid(&core_streams, stream) ? refuse_captured(stream) : SIMGPU_INVALID_HANDLE;
    if (!result && (stream->tail_ns > timeline_now() || !executor_done(stream->ticket))) {
        result = SIMGPU_NOT_READY;
        timeline_reached(stream->tail_ns);
    }
    core_unlock();
    simgpu_deliver();
    return result;
}

int simgpu_synchronize(void)
{
    core_lock();
    const struct context *context = context_current();
    uint64_t end = context ? context->last_end_ns : 0;
    timeline_reached(end);
    core_unlock();
    timeline_sleep_until(end);
    executor_wait(executor_last());
    simgpu_deliver();
    return SIMGPU_SUCCESS;
}

int simgpu_stream_wait(struct simgpu_stream *stream, struct simgpu_event *event, unsigned flags)
{
    core_lock();
    int result = SIMGPU_INVALID_HANDLE;
    if (object_valid(&core_streams, stream) && object_valid(&core_events, event)) {
        result = capture_wait(stream, event, flags);
        if (result == SIMGPU_NOT_READY) { /* no capture has a say in it */
            result = SIMGPU_SUCCESS;
            if (event->recorded) {
                if (event->time_ns > stream->tail_ns)
                    stream->tail_ns = event->time_ns;
                if (event->ticket > stream->ticket)
                    stream->ticket = event->ticket;
            }
        }
    }
    core_unlock();
    return result;
}
