/* SPDX-License-Identifier: Apache-2.0 */
/* Who is who: CUPTI's version, the ids of contexts, streams and graphs, what result codes mean, and the end. */
#include "stand_in.h"

#include "sim/core/device.h"

#include <unistd.h>

static __thread CUptiResult last_error;

CUptiResult result_done(CUptiResult result)
{
    if (result != CUPTI_SUCCESS)
        last_error = result;
    return result;
}

CUptiResult CUPTIAPI cuptiGetVersion(uint32_t *version)
{
    DOOR();
    if (!version)
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    *version = release_now()->api_version;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetLastError(void)
{
    CUptiResult result = last_error;

    last_error = CUPTI_SUCCESS;
    return result;
}

static const char *result_name(CUptiResult result)
{
    for (unsigned i = 0; i < result_names_count; i++)
        if (result_names[i].cbid == (uint32_t)result)
            return result_names[i].name;
    return NULL;
}

CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult result, const char **text)
{
    const char *name = result_name(result);

    DOOR();
    if (fault_on(FAULT_NO_STRINGS)) /* *text stays what it was */
        return result_done(CUPTI_ERROR_UNKNOWN);
    if (!text || !name)
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    *text = name;
    return CUPTI_SUCCESS;
}

#if CUPTI_API_VERSION >= 20
CUptiResult CUPTIAPI cuptiGetErrorMessage(CUptiResult result, const char **text)
{
    const char *name = result_name(result);

    DOOR_SINCE(CUPTI_ERROR_MESSAGES);
    if (fault_on(FAULT_NO_STRINGS))
        return result_done(CUPTI_ERROR_UNKNOWN);
    if (!text || !name)
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    *text = name;
    return CUPTI_SUCCESS;
}
#endif

CUptiResult CUPTIAPI cuptiGetContextId(CUcontext context, uint32_t *id)
{
    DOOR();
    if (!context || !simgpu_context_valid(context))
        return result_done(CUPTI_ERROR_INVALID_CONTEXT);
    if (!id)
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    *id = simgpu_context_id(context);
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetDeviceId(CUcontext context, uint32_t *id)
{
    int device = context ? simgpu_context_device(context) : simgpu_current_device();

    DOOR();
    if (device < 0)
        return result_done(CUPTI_ERROR_INVALID_CONTEXT);
    if (!id)
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    *id = (uint32_t)device;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetStreamIdEx(CUcontext context, CUstream handle, uint8_t per_thread, uint32_t *id)
{
    struct simgpu_stream *stream;

    DOOR();
    if (context && simgpu_context_push(context) != SIMGPU_SUCCESS)
        return result_done(CUPTI_ERROR_INVALID_CONTEXT);
    stream = simgpu_stream_of(handle, per_thread);
    if (context)
        simgpu_context_pop(NULL);
    if (!stream)
        return result_done(CUPTI_ERROR_INVALID_STREAM);
    if (!id)
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    *id = simgpu_stream_id(stream);
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetStreamId(CUcontext context, CUstream handle, uint32_t *id)
{
    return cuptiGetStreamIdEx(context, handle, 0, id);
}

CUptiResult CUPTIAPI cuptiGetGraphId(CUgraph graph, uint32_t *id)
{
    DOOR();
    if (!graph || !id)
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    *id = simgpu_graph_id((const struct simgpu_graph *)graph);
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetGraphNodeId(CUgraphNode node, uint64_t *id)
{
    DOOR();
    if (!node || !id)
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    *id = simgpu_node_id((const struct simgpu_node *)node);
    return CUPTI_SUCCESS;
}

#if CUPTI_API_VERSION >= 21
CUptiResult CUPTIAPI cuptiGetGraphExecId(CUgraphExec exec, uint32_t *id)
{
    DOOR_SINCE(CUPTI_GRAPH_EXEC_IDS);
    if (!exec || !id)
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    *id = simgpu_exec_id((const struct simgpu_exec *)exec);
    return CUPTI_SUCCESS;
}
#endif

/* Detaches: no callbacks, no kinds, and the core no longer tells us. What was recorded is delivered first. */
CUptiResult CUPTIAPI cuptiFinalize(void)
{
    DOOR();
    cuptiActivityFlushAll(0);
    records_disable_all();
    callbacks_reset();
    scope_reset();
    observer_remove();
    door_finalized();
    return CUPTI_SUCCESS;
}
