/* SPDX-License-Identifier: Apache-2.0 */
/* A piece of device work: what a stream is given, what a graph's node holds. */
#ifndef SIM_CORE_WORK_H
#define SIM_CORE_WORK_H

#include "sim/core/simgpu.h"

enum simgpu_work_type { /* CUgraphNodeType's numbers */
                        SIMGPU_WORK_KERNEL = 0,
                        SIMGPU_WORK_COPY = 1,
                        SIMGPU_WORK_FILL = 2,
                        SIMGPU_WORK_HOST = 3,
                        SIMGPU_WORK_GRAPH = 4,
                        SIMGPU_WORK_EMPTY = 5,
                        SIMGPU_WORK_WAIT_EVENT = 6,
                        SIMGPU_WORK_RECORD_EVENT = 7,
                        SIMGPU_WORK_CONDITIONAL = 13,
};

/* A box of bytes; one row has height = depth = 1. Pitches and slices in bytes. */
struct simgpu_copy {
    void *to;
    const void *from;
    size_t width, height, depth;
    size_t to_pitch, from_pitch, to_slice, from_slice;
    int kind;                   /* CUpti_ActivityMemcpyKind, filled in by the core */
    int to_device, from_device; /* ordinals, likewise; they differ in a copy between devices alone */
};

struct simgpu_fill {
    void *to;
    unsigned value, element; /* 1, 2 or 4 bytes each */
    size_t width, height;    /* width in elements */
    size_t pitch;            /* in bytes */
};

struct simgpu_kernel_launch {
    struct simgpu_kernel *kernel;
    struct simgpu_dims dims;
    uint64_t duration_ns;
    void **args;        /* addresses of parameters, or NULL */
    void *buffer;       /* parameters as one block (a graph's node: its own copy), or NULL */
    size_t buffer_size; /* 0: unknown */
    int priority;
    const struct simgpu_index_kernel *index; /* what it writes, or NULL: filled in by the core */
    bool cooperative;
    bool programmatic; /* may start before the kernel before it in its stream has ended */
};

struct simgpu_host_call {
    void (*function)(void *data);
    void (*stream_function)(void *stream, int status, void *data); /* instead, with a status */
    void *stream, *data;
};

enum simgpu_conditional_kind { /* CUgraphConditionalNodeType's numbers */
                               SIMGPU_IF = 0,
                               SIMGPU_WHILE = 1,
                               SIMGPU_SWITCH = 2
};

/* Bodies that run as VALUE says, which is the handle's default: no kernel here sets another. */
struct simgpu_conditional {
    uint64_t handle;
    enum simgpu_conditional_kind kind;
    unsigned value, count;
    struct simgpu_graph **bodies; /* COUNT of them, the node's own; NULL: to be made */
};

struct simgpu_event;

struct simgpu_work {
    enum simgpu_work_type type;
    uint64_t call; /* the ledger's library call that asked for it; 0: none */
    int device;    /* ordinal, and the id of the context on it: filled in by the core, context 0 before */
    uint32_t context;
    union {
        struct simgpu_kernel_launch kernel;
        struct simgpu_copy copy;
        struct simgpu_fill fill;
        struct simgpu_host_call host;
        struct simgpu_graph *graph;
        struct simgpu_conditional conditional;
        struct simgpu_event *event;
    };
};

/* Enqueues or, while STREAM captures, adds a node. */
SIMGPU_API int simgpu_enqueue(struct simgpu_stream *stream, const struct simgpu_work *work);
/* As simgpu_launch, with all there is to say. DRIVER_CBID 0: the caller is the driver's own door. */
SIMGPU_API int simgpu_launch_work(struct simgpu_stream *stream, const struct simgpu_kernel_launch *launch,
                                  uint32_t driver_cbid);

/* How long the next kernel takes that this thread launches by the driver's own door; 0: as any other. */
SIMGPU_API void simgpu_next_duration(uint64_t duration_ns);

#endif
