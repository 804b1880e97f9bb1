/* SPDX-License-Identifier: Apache-2.0 */
/* Writes made-up calls as the shim would: one signature each of a few kinds. */
#ifndef TESTS_TRACE_PRODUCER_H
#define TESTS_TRACE_PRODUCER_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/trace_writer.h"

/* The signature's m is KIND. False: dropped. */
static inline bool produce_call(struct trace_thread *thread, int64_t kind, uint64_t *call_id)
{
    struct trace_signature signature = {.entry = 1, .m = kind, .n = 4096, .k = 4096, .batch = 1};
    uint64_t id;
    uint32_t offset;
    struct trace_call *call = thread ? trace_reserve_with(thread, TRACE_RECORD_SIGNATURE, &signature, sizeof signature,
                                                          TRACE_RECORD_CALL, sizeof *call, &id, &offset)
                                     : NULL;
    if (!call)
        return false;
    call->signature_offset = offset;
    call->duration_ticks = (uint32_t)kind;
    call->start_ticks = 1;
    call->stream = 0;
    call->operand[0] = call->operand[1] = call->operand[2] = id;
    call->call_id = trace_thread_next_call_id(thread);
    if (call_id)
        *call_id = call->call_id;
    trace_commit(thread, call);
    return true;
}

#endif
