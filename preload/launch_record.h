/* SPDX-License-Identifier: Apache-2.0 */
/* From a kernel launch's arguments to its record; the words of launch_calls.def. */
#ifndef PRELOAD_LAUNCH_RECORD_H
#define PRELOAD_LAUNCH_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/cublas_types.h"
#include "preload/depth.h"
#include "preload/preload.h"
#include "trace/trace_writer.h"

struct launch_request {
    const void *kernel; /* key of its name */
    uint32_t entry;
    uint32_t grid[3], block[3]; /* zeros with a config: it is read once the launch succeeded */
    uint32_t shared_bytes;
    uint32_t default_stream; /* what stream 0 means */
    uint64_t stream;
    const cudaLaunchConfig_t *runtime_config;
    const CUlaunchConfig *driver_config;
    /* between begin and end */
    struct trace_thread *thread;
    struct trace_slot *slot;
    uint64_t start_ticks, call_id;
};

bool launch_record_begin(struct launch_request *request);
void launch_record_end(struct launch_request *request, int status);

static inline bool launch_record_wanted(void)
{
    return !preload_depth.launch && !atomic_load_explicit(&preload_off, memory_order_relaxed);
}

#endif
