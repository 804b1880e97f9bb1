/* SPDX-License-Identifier: Apache-2.0 */
/* External correlation: a stack of ids for each thread and kind. While the kind EXTERNAL_CORRELATION is on, the top of
 * every stack goes into a record that comes before the API record with the same correlation id. */
#include "stand_in.h"

#include <string.h>

enum { KINDS = CUPTI_EXTERNAL_CORRELATION_KIND_SIZE, DEPTH = 128 };

struct id_stack {
    uint64_t ids[DEPTH];
    unsigned depth;
};

static __thread struct id_stack stacks[KINDS];

static struct id_stack *stack_of(CUpti_ExternalCorrelationKind kind)
{
    return kind > CUPTI_EXTERNAL_CORRELATION_KIND_INVALID && (unsigned)kind < KINDS ? &stacks[kind] : NULL;
}

CUptiResult external_push(CUpti_ExternalCorrelationKind kind, uint64_t id)
{
    struct id_stack *stack = stack_of(kind);

    if (!stack)
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    if (stack->depth == DEPTH)
        return result_done(CUPTI_ERROR_OUT_OF_MEMORY);
    stack->ids[stack->depth++] = id;
    return CUPTI_SUCCESS;
}

CUptiResult external_pop(CUpti_ExternalCorrelationKind kind, uint64_t *last_id)
{
    struct id_stack *stack = stack_of(kind);

    if (!stack)
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    if (stack->depth == 0)
        return result_done(CUPTI_ERROR_QUEUE_EMPTY);
    stack->depth--;
    if (last_id)
        *last_id = stack->ids[stack->depth];
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id)
{
    DOOR();
    return scope_is_process() ? external_push(kind, id) : result_done(CUPTI_ERROR_NOT_COMPATIBLE);
}

CUptiResult CUPTIAPI cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t *last_id)
{
    DOOR();
    return scope_is_process() ? external_pop(kind, last_id) : result_done(CUPTI_ERROR_NOT_COMPATIBLE);
}

void external_records(uint32_t correlation_id)
{
    for (unsigned kind = 0; kind < KINDS; kind++) {
        EXTERNAL_RECORD record;

        if (stacks[kind].depth == 0)
            continue;
        memset(&record, 0, sizeof record);
        record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
        record.externalKind = (CUpti_ExternalCorrelationKind)kind;
        record.externalId = stacks[kind].ids[stacks[kind].depth - 1];
        record.correlationId = records_correlation(correlation_id);
        buffers_put(&record, sizeof record);
    }
}
