/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events and captures, as the front ends use them. Handles are checked: a wrong one is
 * SIMGPU_INVALID_HANDLE, never a crash. */
#ifndef SIM_CORE_STREAM_H
#define SIM_CORE_STREAM_H

#include "sim/core/simgpu.h"

struct simgpu_event;

SIMGPU_API int simgpu_stream_create(unsigned flags, int priority, struct simgpu_stream **stream);
SIMGPU_API int simgpu_stream_destroy(struct simgpu_stream *stream);
SIMGPU_API int simgpu_stream_synchronize(struct simgpu_stream *stream);
/* Waits for what really has to happen, host functions and what follows them; the timeline doesn't move. */
SIMGPU_API int simgpu_stream_settle(struct simgpu_stream *stream);
SIMGPU_API int simgpu_stream_query(struct simgpu_stream *stream);
SIMGPU_API int simgpu_stream_wait(struct simgpu_stream *stream, struct simgpu_event *event, unsigned flags);
SIMGPU_API int simgpu_stream_get(struct simgpu_stream *stream, unsigned *flags, int *priority, uint32_t *id);
/* Everything of the thread's context. */
SIMGPU_API int simgpu_synchronize(void);
SIMGPU_API void *simgpu_stream_context(struct simgpu_stream *stream); /* NULL: no such stream */
#define SIMGPU_PRIORITY_GREATEST (-5)

#define SIMGPU_EVENT_NO_TIMING 2u
#define SIMGPU_EVENT_EXTERNAL  1u /* record and wait: a node of its own in a capture */
SIMGPU_API int simgpu_event_create(unsigned flags, struct simgpu_event **event);
SIMGPU_API int simgpu_event_destroy(struct simgpu_event *event);
SIMGPU_API int simgpu_event_record(struct simgpu_event *event, struct simgpu_stream *stream, unsigned flags);
SIMGPU_API int simgpu_event_query(struct simgpu_event *event);
SIMGPU_API int simgpu_event_synchronize(struct simgpu_event *event);
SIMGPU_API int simgpu_event_elapsed(float *ms, struct simgpu_event *start, struct simgpu_event *end);

enum simgpu_capture_mode { SIMGPU_CAPTURE_GLOBAL, SIMGPU_CAPTURE_THREAD_LOCAL, SIMGPU_CAPTURE_RELAXED };
struct simgpu_capture_info {
    int status; /* 0 none, 1 active, 2 invalidated */
    uint64_t id;
    struct simgpu_graph *graph;
    struct simgpu_node *const *dependencies; /* until the stream's next call */
    size_t dependency_count;
};
/* GRAPH: capture into it, after the given nodes; NULL: a new one. */
SIMGPU_API int simgpu_capture_begin(struct simgpu_stream *stream, int mode, struct simgpu_graph *graph,
                                    struct simgpu_node *const *dependencies, size_t count);
SIMGPU_API int simgpu_capture_end(struct simgpu_stream *stream, struct simgpu_graph **graph);
SIMGPU_API int simgpu_capture_query(struct simgpu_stream *stream, struct simgpu_capture_info *info);
SIMGPU_API int simgpu_capture_update(struct simgpu_stream *stream, struct simgpu_node *const *dependencies,
                                     size_t count, bool replace);
/* The thread's attitude to calls that a capture forbids; gives the one before. */
SIMGPU_API int simgpu_capture_exchange_mode(int mode);
/* Asked by calls that must not be made while a capture is on; an error also ends the capture's hopes. */
SIMGPU_API int simgpu_capture_forbids(void);

#endif
