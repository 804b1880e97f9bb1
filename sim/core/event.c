/* SPDX-License-Identifier: Apache-2.0 */
/* Events: a point of a stream's timeline, or of a capture. */
#include "sim/core/state.h"
#include "sim/core/stream.h"

struct object_pool core_events = OBJECT_POOL(simgpu_event);

int simgpu_event_create(unsigned flags, struct simgpu_event **created)
{
    if (flags > 7)
        return SIMGPU_INVALID_VALUE;
    core_lock();
    struct simgpu_event *event = object_new(&core_events);
    const struct context *context = context_current();
    if (event) {
        event->flags = flags;
        event->device = context ? context->device : 0;
    }
    core_unlock();
    if (!event)
        return SIMGPU_OUT_OF_MEMORY;
    *created = event;
    return SIMGPU_SUCCESS;
}

int simgpu_event_destroy(struct simgpu_event *event)
{
    core_lock();
    bool ours = object_valid(&core_events, event);
    if (ours) {
        node_set_clear(&event->nodes);
        object_free(&core_events, event);
    }
    core_unlock();
    return ours ? SIMGPU_SUCCESS : SIMGPU_INVALID_HANDLE;
}

static int record_captured(struct simgpu_event *event, struct simgpu_stream *stream, unsigned flags)
{
    struct capture *capture = stream->capture;
    if (capture->invalidated)
        return SIMGPU_CAPTURE_INVALIDATED;
    if (flags & SIMGPU_EVENT_EXTERNAL) {
        struct simgpu_work work = {.type = SIMGPU_WORK_RECORD_EVENT, .event = event};
        return capture_add(stream, &work, NULL);
    }
    event->capture_id = capture->id;
    event->recorded = false;
    return node_set_copy(&event->nodes, &stream->frontier) ? SIMGPU_SUCCESS : SIMGPU_OUT_OF_MEMORY;
}

int simgpu_event_record(struct simgpu_event *event, struct simgpu_stream *stream, unsigned flags)
{
    core_lock();
    int result = SIMGPU_INVALID_HANDLE;
    bool known = object_valid(&core_events, event) && object_valid(&core_streams, stream);
    if (known && event->device == stream->context->device) {
        if (stream->capture)
            result = record_captured(event, stream, flags);
        else if (!(result = capture_implicit(stream, true)))
            event_mark(event, timeline_ready(stream), stream->ticket);
    }
    core_unlock();
    return result;
}

void event_mark(struct simgpu_event *event, uint64_t time_ns, uint64_t ticket)
{
    event->recorded = true;
    event->capture_id = 0;
    event->time_ns = time_ns;
    event->ticket = ticket;
    node_set_clear(&event->nodes);
}

static int check(const struct simgpu_event *event)
{
    if (!object_valid(&core_events, event))
        return SIMGPU_INVALID_HANDLE;
    struct capture *capture = event->capture_id ? capture_by_id(event->capture_id) : NULL;
    if (!capture)
        return SIMGPU_SUCCESS;
    capture->invalidated = true;
    return SIMGPU_CAPTURED_EVENT;
}

int simgpu_event_query(struct simgpu_event *event)
{
    core_lock();
    int result = check(event);
    if (!result && event->recorded && (event->time_ns > timeline_now() || !executor_done(event->ticket))) {
        result = SIMGPU_NOT_READY;
        timeline_reached(event->time_ns);
    }
    core_unlock();
    simgpu_deliver();
    return result;
}

int simgpu_event_synchronize(struct simgpu_event *event)
{
    core_lock();
    int result = check(event);
    uint64_t time = 0, ticket = 0;
    if (!result && event->recorded) {
        time = event->time_ns;
        ticket = event->ticket;
        timeline_reached(time);
    }
    core_unlock();
    if (result)
        return result;
    timeline_sleep_until(time);
    executor_wait(ticket);
    simgpu_deliver();
    return SIMGPU_SUCCESS;
}

int simgpu_event_elapsed(float *ms, struct simgpu_event *start, struct simgpu_event *end)
{
    core_lock();
    int result = check(start);
    if (!result)
        result = check(end);
    if (!result && (!start->recorded || !end->recorded || start->device != end->device ||
                    ((start->flags | end->flags) & SIMGPU_EVENT_NO_TIMING)))
        result = SIMGPU_INVALID_HANDLE;
    if (!result && (start->time_ns > timeline_now() || end->time_ns > timeline_now()))
        result = SIMGPU_NOT_READY;
    if (!result)
        *ms = (float)((double)(int64_t)(end->time_ns - start->time_ns) /
                      1e6); /* a double of all of it counts in 256 ns */
    core_unlock();
    return result;
}
