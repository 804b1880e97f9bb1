/* SPDX-License-Identifier: Apache-2.0 */
/* Captures: while one is on, work becomes nodes; events carry it to other streams and back; calls that a capture
 * forbids spoil it. */
#include "sim/core/state.h"
#include "sim/core/stream.h"

#include <stdlib.h>

static struct capture *captures;
static uint64_t last_id;
static __thread int thread_mode = SIMGPU_CAPTURE_GLOBAL;

struct capture *capture_by_id(uint64_t id)
{
    struct capture *capture = captures;
    while (capture && capture->id != id)
        capture = capture->next;
    return capture;
}

int simgpu_capture_exchange_mode(int mode)
{
    int before = thread_mode;
    thread_mode = mode;
    return before;
}

static bool forbidden_by(const struct capture *capture)
{
    bool own = pthread_equal(capture->thread, pthread_self());
    if (thread_mode == SIMGPU_CAPTURE_RELAXED)
        return false;
    if (own)
        return capture->mode != SIMGPU_CAPTURE_RELAXED;
    return thread_mode == SIMGPU_CAPTURE_GLOBAL && capture->mode == SIMGPU_CAPTURE_GLOBAL;
}

int simgpu_capture_forbids(void)
{
    int result = SIMGPU_SUCCESS;
    core_lock();
    for (struct capture *capture = captures; capture; capture = capture->next)
        if (forbidden_by(capture)) {
            capture->invalidated = true;
            result = SIMGPU_CAPTURE_UNSUPPORTED;
        }
    core_unlock();
    return result;
}

int capture_implicit(const struct simgpu_stream *stream, bool spoil)
{
    int result = SIMGPU_SUCCESS;
    for (struct capture *capture = stream->legacy ? captures : NULL; capture; capture = capture->next)
        if (!(capture->origin->flags & 1)) {
            capture->invalidated |= spoil;
            result = SIMGPU_CAPTURE_IMPLICIT;
        }
    return result;
}

static int begin(struct simgpu_stream *stream, int mode, struct simgpu_graph *graph,
                 struct simgpu_node *const *dependencies, size_t count)
{
    if (stream->legacy)
        return SIMGPU_CAPTURE_UNSUPPORTED;
    if (stream->capture || (graph && !object_valid(&core_graphs, graph)))
        return stream->capture ? SIMGPU_ILLEGAL_STATE : SIMGPU_INVALID_VALUE;
    struct capture *capture = calloc(1, sizeof *capture);
    if (!capture)
        return SIMGPU_OUT_OF_MEMORY;
    *capture = (struct capture){.id = ++last_id,
                                .mode = mode,
                                .borrowed = graph != NULL,
                                .graph = graph ? graph : graph_new(),
                                .origin = stream,
                                .thread = pthread_self(),
                                .next = captures};
    captures = capture;
    stream->capture = capture;
    node_set_clear(&stream->frontier);
    for (size_t i = 0; i < count; i++)
        if (!node_set_add(&stream->frontier, dependencies[i]))
            return SIMGPU_OUT_OF_MEMORY;
    return capture->graph ? SIMGPU_SUCCESS : SIMGPU_OUT_OF_MEMORY;
}

int simgpu_capture_begin(struct simgpu_stream *stream, int mode, struct simgpu_graph *graph,
                         struct simgpu_node *const *dependencies, size_t count)
{
    if (mode < SIMGPU_CAPTURE_GLOBAL || mode > SIMGPU_CAPTURE_RELAXED)
        return SIMGPU_INVALID_VALUE;
    core_lock();
    int result =
        object_valid(&core_streams, stream) ? begin(stream, mode, graph, dependencies, count) : SIMGPU_INVALID_HANDLE;
    core_unlock();
    return result;
}

/* ---- the end: every forked stream must have been joined to the origin ---- */

/* Usually one pass: a capture's nodes come after what they depend on. */
static void mark_reached(const struct capture *capture)
{
    const struct node_set *nodes = &capture->graph->nodes, *frontier = &capture->origin->frontier;
    for (unsigned i = 0; i < frontier->count; i++)
        frontier->items[i]->mirror = frontier->items[i];
    for (bool changed = true; changed;) {
        changed = false;
        for (unsigned i = nodes->count; i-- > 0;) {
            const struct node_set *before = &nodes->items[i]->dependencies;
            for (unsigned k = 0; nodes->items[i]->mirror && k < before->count; k++)
                if (!before->items[k]->mirror) {
                    before->items[k]->mirror = before->items[k];
                    changed = true;
                }
        }
    }
}

struct leaving {
    struct capture *capture;
    bool unjoined;
};

static bool leave(void *object, void *data)
{
    struct simgpu_stream *stream = object;
    struct leaving *leaving = data;
    if (stream->capture != leaving->capture)
        return true;
    for (unsigned i = 0; i < stream->frontier.count; i++)
        leaving->unjoined |= !stream->frontier.items[i]->mirror;
    node_set_clear(&stream->frontier);
    stream->capture = NULL;
    return true;
}

static bool streams_unjoined(struct capture *capture)
{
    struct leaving leaving = {.capture = capture};
    mark_reached(capture);
    object_each(&core_streams, leave, &leaving);
    for (unsigned i = 0; i < capture->graph->nodes.count; i++)
        capture->graph->nodes.items[i]->mirror = NULL;
    return leaving.unjoined;
}

static int end(struct simgpu_stream *stream, struct simgpu_graph **graph)
{
    struct capture *capture = stream->capture;
    *graph = NULL;
    if (!capture)
        return SIMGPU_ILLEGAL_STATE;
    if (capture->origin != stream)
        return SIMGPU_CAPTURE_UNMATCHED;
    if (capture->mode != SIMGPU_CAPTURE_RELAXED && !pthread_equal(capture->thread, pthread_self()))
        return SIMGPU_CAPTURE_WRONG_THREAD;
    bool unjoined = streams_unjoined(capture);
    int result = capture->invalidated ? SIMGPU_CAPTURE_INVALIDATED
                 : unjoined           ? SIMGPU_CAPTURE_UNJOINED
                                      : SIMGPU_SUCCESS;
    if (!result)
        *graph = capture->graph;
    else if (!capture->borrowed)
        graph_free(capture->graph);
    struct capture **link = &captures;
    while (*link != capture)
        link = &(*link)->next;
    *link = capture->next;
    free(capture);
    return result;
}

int simgpu_capture_end(struct simgpu_stream *stream, struct simgpu_graph **graph)
{
    core_lock();
    int result = object_valid(&core_streams, stream) ? end(stream, graph) : SIMGPU_INVALID_HANDLE;
    core_unlock();
    return result;
}

void capture_stream_gone(struct simgpu_stream *stream)
{
    struct simgpu_graph *graph;
    if (!stream->capture)
        return;
    stream->capture->invalidated = true;
    if (stream->capture->origin != stream)
        return;
    stream->capture->thread = pthread_self();
    end(stream, &graph);
}

/* ---- what streams do meanwhile ---- */

int capture_add(struct simgpu_stream *stream, const struct simgpu_work *work, struct simgpu_node **added)
{
    struct capture *capture = stream->capture;
    if (capture->invalidated)
        return SIMGPU_CAPTURE_INVALIDATED;
    struct simgpu_node *node = graph_add(capture->graph, stream->frontier.items, stream->frontier.count, work);
    if (!node)
        return SIMGPU_OUT_OF_MEMORY;
    node_set_clear(&stream->frontier);
    if (added)
        *added = node;
    return node_set_add(&stream->frontier, node) ? SIMGPU_SUCCESS : SIMGPU_OUT_OF_MEMORY;
}

static int join(struct simgpu_stream *stream, struct capture *capture, const struct simgpu_event *event)
{
    if (capture->invalidated)
        return SIMGPU_CAPTURE_INVALIDATED;
    if (stream->legacy) {
        capture->invalidated = true;
        return SIMGPU_CAPTURE_IMPLICIT;
    }
    if (stream->capture && stream->capture != capture) {
        capture->invalidated = stream->capture->invalidated = true;
        return SIMGPU_CAPTURE_MERGE;
    }
    stream->capture = capture;
    for (unsigned i = 0; i < event->nodes.count; i++)
        if (!node_set_add(&stream->frontier, event->nodes.items[i]))
            return SIMGPU_OUT_OF_MEMORY;
    return SIMGPU_SUCCESS;
}

/* SIMGPU_NOT_READY: neither the stream nor the event is in a capture. */
int capture_wait(struct simgpu_stream *stream, struct simgpu_event *event, unsigned flags)
{
    struct capture *capture = event->capture_id ? capture_by_id(event->capture_id) : NULL;
    if (capture)
        return join(stream, capture, event);
    if (!stream->capture)
        return SIMGPU_NOT_READY;
    if (stream->capture->invalidated)
        return SIMGPU_CAPTURE_INVALIDATED;
    if (flags & SIMGPU_EVENT_EXTERNAL) {
        struct simgpu_work work = {.type = SIMGPU_WORK_WAIT_EVENT, .event = event};
        return capture_add(stream, &work, NULL);
    }
    if (!event->recorded && !event->capture_id)
        return SIMGPU_SUCCESS;
    stream->capture->invalidated = true;
    return SIMGPU_CAPTURE_ISOLATION;
}

int simgpu_capture_query(struct simgpu_stream *stream, struct simgpu_capture_info *info)
{
    core_lock();
    int result = object_valid(&core_streams, stream) ? SIMGPU_SUCCESS : SIMGPU_INVALID_HANDLE;
    *info = (struct simgpu_capture_info){0};
    const struct capture *capture = result ? NULL : stream->capture;
    if (capture)
        *info = (struct simgpu_capture_info){.status = capture->invalidated ? 2 : 1,
                                             .id = capture->id,
                                             .graph = capture->graph,
                                             .dependencies = stream->frontier.items,
                                             .dependency_count = stream->frontier.count};
    if (!result && !capture)
        result = capture_implicit(stream, false);
    core_unlock();
    return result;
}

int simgpu_capture_update(struct simgpu_stream *stream, struct simgpu_node *const *dependencies, size_t count,
                          bool replace)
{
    core_lock();
    int result = SIMGPU_SUCCESS;
    if (!object_valid(&core_streams, stream))
        result = SIMGPU_INVALID_HANDLE;
    else if (!stream->capture)
        result = SIMGPU_ILLEGAL_STATE;
    else if (stream->capture->invalidated)
        result = SIMGPU_CAPTURE_INVALIDATED;
    for (size_t i = 0; i < count && !result; i++)
        if (!object_valid(&core_nodes, dependencies[i]) || dependencies[i]->graph != stream->capture->graph)
            result = SIMGPU_INVALID_VALUE;
    struct node_set set = {0};
    for (size_t i = 0; i < count && !result; i++)
        if (!node_set_add(&set, dependencies[i]))
            result = SIMGPU_OUT_OF_MEMORY;
    if (!result) {
        if (!replace)
            for (unsigned i = 0; i < stream->frontier.count; i++)
                node_set_add(&set, stream->frontier.items[i]);
        node_set_clear(&stream->frontier);
        stream->frontier = set;
    } else {
        node_set_clear(&set);
    }
    core_unlock();
    return result;
}
