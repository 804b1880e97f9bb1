/* SPDX-License-Identifier: Apache-2.0 */
/* What the words of copy_calls.def mean. */
#ifndef PRELOAD_COPY_RECORD_H
#define PRELOAD_COPY_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cupti/event_timing.h"
#include "cupti/length_reads.h"
#include "cupti/lengths.h"
#include "preload/cublas_types.h"

/* cudaMemcpyKind: by its word; the default leaves it to the pointers. */
static inline enum lengths_source copy_source_of_kind(int kind)
{
    return kind == VENDOR_COPY_HOST_TO_DEVICE                                ? LENGTHS_SOURCE_HOST
           : kind == VENDOR_COPY_HOST_TO_HOST || kind == VENDOR_COPY_DEFAULT ? LENGTHS_SOURCE_ASK
                                                                             : LENGTHS_SOURCE_DEVICE;
}

/* Of the calling thread's context; -1: none. */
int copy_device_now(void);

/* Whether something of ours lives in contexts. */
static inline bool copy_needs_contexts(void)
{
    return event_timing_is_started() || atomic_load(&length_reads_wanted);
}

/* Before and after a call that may end contexts, if copy_needs_contexts(). DEVICE of the latter: whose primary context may
 * have stayed, -1: none. */
uint32_t copy_context_ends(void *context, int device);
void copy_context_ended(uint32_t held, int device, bool succeeded);

#endif
