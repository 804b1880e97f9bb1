/* SPDX-License-Identifier: Apache-2.0 */
/* Sequence lengths that stand in device memory: what attention kernels read there, and what graphs read anew at each replay
 * though they were captured with the longest. Whoever knows a kernel's arguments registers the buffer (lengths_watch); the
 * copies from the host that fill it are read at their call; the timing's thread pairs both with launches and writes LENGTHS.
 *
 * What is guaranteed. Values are those of the last copy that the program asked for before the launch, in the order of its
 * calls over all threads: for copies and launches on one stream, or on streams that the program orders so, what the kernel
 * reads. Where other than these copies may write the buffer, the values are the host's all the same: copies within the
 * device, and from sources that can't be read, make them unknown; kernels and memsets that write there are not seen. A
 * source that the program changes between the call of an asynchronous copy and its execution is read too early. */
#ifndef CUPTI_LENGTHS_H
#define CUPTI_LENGTHS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cupti/cuda_driver.h"

enum {
    LENGTHS_BUFFERS_MOST = 64,
    LENGTHS_READERS_MOST = 1024, /* a buffer as one captured graph, or the eager calls, read it */
    LENGTHS_CAPTURED_MOST = 64,  /* copies that became nodes of graphs */
};

enum lengths_mode { LENGTHS_OFF = 0, LENGTHS_WATCH, LENGTHS_READ };

#pragma GCC visibility push(hidden)
extern _Atomic int lengths_watched; /* buffers; 0: copies and launches of graphs need not look closer */
#pragma GCC visibility pop

static inline bool lengths_are_watched(void)
{
    return __builtin_expect(atomic_load_explicit(&lengths_watched, memory_order_acquire), 0);
}

/* Before the first call. */
void lengths_configure(enum lengths_mode mode);

struct lengths_buffer {
    uint64_t address;       /* on the device */
    uint32_t element_bytes; /* 4 or 8, signed integers */
    uint32_t count;         /* lengths */
    bool cumulative;        /* count + 1 running sums */
    uint64_t call_id;       /* of the launch whose kernel reads it */
    void *stream;           /* that it was launched on */
};

/* After a launch succeeded, also a captured one, at each launch: no lock, no allocation. False: switched off, too large, or
 * more than there is room for. */
bool lengths_watch(const struct lengths_buffer *buffer);

/* Memory of this process that may be gone: fails instead of faulting; not a call of CUDA. Sets errno. */
bool lengths_read_guarded(void *to, const void *from, size_t bytes);

/* After a copy succeeded, if lengths_are_watched(). WHERE is what the call says; what it says of the host is made sure of
 * before SOURCE is read, by its attributes, or where something captures, by reading it as a stranger would
 * (process_vm_readv), which fails on a device's. Read before this returns, except where STREAM captures. */
enum lengths_source { LENGTHS_SOURCE_HOST, LENGTHS_SOURCE_ASK, LENGTHS_SOURCE_DEVICE };
void lengths_copied(uint64_t destination, const void *source, size_t bytes, enum lengths_source where, void *stream);

/* After a launch of an executable graph outside of captures, if lengths_are_watched(). GRAPH_ID 0: not known. */
void lengths_graph_launched(uint32_t graph_id, void *stream);

/* Whoever follows the nodes of graphs: node NODE_ID of an executable (graph << 32 | node) is what CALL_ID captured. Any
 * thread; between lengths_begin() and lengths_end() it holds for the launches that are in the log. */
void lengths_node(uint64_t node_id, uint64_t call_id);

/* Around the look at what is new of graphs, by one thread at a time: false: nothing is watched, or another thread is at it.
 * The end takes what was logged, and writes. */
bool lengths_begin(void);
void lengths_end(bool last);

/* In a forked child. */
void lengths_stop(void);

#endif
