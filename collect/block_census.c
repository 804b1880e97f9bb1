/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the block as a report would, so that it counts what a report would have found. */
#include "collect/block_census.h"

#include "trace/launch_values.h"
#include "trace/trace_reader.h"

/* Of windows the marks alone: what was timed in those that are gone is gone, too. */
static bool is_said_once(const struct trace_record *record)
{
    const uint16_t type = record->type;
    if (type == TRACE_RECORD_WINDOW)
        return ((const struct trace_window *)(const void *)record)->what == TRACE_WINDOW_MARK;
    return type == TRACE_RECORD_PROCESS || type == TRACE_RECORD_ENTRY || type == TRACE_RECORD_DEVICE ||
           type == TRACE_RECORD_NOTE || type == TRACE_RECORD_NAME || type == TRACE_RECORD_END ||
           type == TRACE_RECORD_TIMING || type == TRACE_RECORD_GRAPH_NODE || type == TRACE_RECORD_PARAMETER_PLAN;
}

static bool is_shape_with_values(const struct trace_record *record)
{
    return record->type == TRACE_RECORD_LAUNCH_SHAPE && launch_shape_values((const void *)record);
}

struct block_census block_census_of(const unsigned char *block, block_census_visit *visit, void *context)
{
    struct block_census census = {0};
    struct trace_item item;
    struct trace_reader *reader = trace_reader_open_memory(block, TRACE_BLOCK_BYTES, NULL);
    while (reader && trace_reader_next(reader, &item)) {
        uint16_t type = item.record->type;
        census.calls += type == TRACE_RECORD_CALL;
        census.failed_calls += type == TRACE_RECORD_CALL_FAILED;
        census.launches += type == TRACE_RECORD_LAUNCH;
        census.kernels += type == TRACE_RECORD_KERNEL;
        census.copies += type == TRACE_RECORD_COPY;
        const bool is_shape = is_shape_with_values(item.record), said_once = is_said_once(item.record);
        census.said_once += said_once;
        census.shapes += is_shape;
        if (visit && (said_once || is_shape))
            visit(context, item.record);
    }
    if (reader)
        trace_reader_close(reader);
    return census;
}
