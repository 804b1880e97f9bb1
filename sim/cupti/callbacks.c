/* SPDX-License-Identifier: Apache-2.0 */
/* Subscriber and callbacks: one subscriber a process, a switch for each callback id, and the data structs that the
 * subscriber is handed for API calls, graphs, contexts and modules. */
#include "stand_in.h"

#include "sim/core/device.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CBID_LIMIT = 1024, SUBSCRIBER_NAME_BYTES = 64 };

struct subscriber {
    CUpti_CallbackFunc callback;
    void *userdata;
    char name[SUBSCRIBER_NAME_BYTES];
    struct subscriber *older;
};

/* Kept for ever: a callback may still run in one when another thread unsubscribes. */
static struct subscriber *_Atomic current, *_Atomic newest;
static _Atomic uint8_t enabled[CUPTI_CB_DOMAIN_SIZE][CBID_LIMIT];

static unsigned domain_size(CUpti_CallbackDomain domain)
{
    switch (domain) {
    case CUPTI_CB_DOMAIN_DRIVER_API:
        return CUPTI_DRIVER_TRACE_CBID_SIZE;
    case CUPTI_CB_DOMAIN_RUNTIME_API:
        return CUPTI_RUNTIME_TRACE_CBID_SIZE;
    case CUPTI_CB_DOMAIN_RESOURCE:
        return CUPTI_CBID_RESOURCE_SIZE;
    case CUPTI_CB_DOMAIN_SYNCHRONIZE:
        return CUPTI_CBID_SYNCHRONIZE_SIZE;
    case CUPTI_CB_DOMAIN_NVTX:
        return CUPTI_CBID_NVTX_SIZE;
#if CUPTI_API_VERSION >= 20
    case CUPTI_CB_DOMAIN_STATE:
        return CUPTI_CBID_STATE_SIZE;
#endif
    default:
        return 0;
    }
}

_Static_assert((int)CUPTI_DRIVER_TRACE_CBID_SIZE <= CBID_LIMIT && (int)CUPTI_RUNTIME_TRACE_CBID_SIZE <= CBID_LIMIT,
               "the switch table holds every callback id");

CUptiResult callbacks_subscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *userdata,
                                const char *name, const char **holder)
{
    struct subscriber *subscriber, *none = NULL;

    if (!handle || !callback)
        return CUPTI_ERROR_INVALID_PARAMETER;
    subscriber = calloc(1, sizeof *subscriber);
    if (!subscriber)
        return CUPTI_ERROR_OUT_OF_MEMORY;
    subscriber->callback = callback;
    subscriber->userdata = userdata;
    if (name)
        snprintf(subscriber->name, sizeof subscriber->name, "%s", name);
    if (!atomic_compare_exchange_strong(&current, &none, subscriber)) {
        free(subscriber);
        *holder = none->name;
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    }
    subscriber->older = atomic_exchange(&newest, subscriber); /* only the holder of CURRENT comes here */
    *handle = (CUpti_SubscriberHandle)subscriber;
    observer_install();
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *userdata)
{
    const char *holder = NULL;

    DOOR();
    return result_done(callbacks_subscribe(handle, callback, userdata, NULL, &holder));
}

static bool is_current(CUpti_SubscriberHandle handle)
{
    return handle && (struct subscriber *)handle == atomic_load(&current);
}

void callbacks_reset(void)
{
    atomic_store(&current, NULL);
    for (int domain = 0; domain < CUPTI_CB_DOMAIN_SIZE; domain++)
        for (int cbid = 0; cbid < CBID_LIMIT; cbid++)
            atomic_store_explicit(&enabled[domain][cbid], 0, memory_order_relaxed);
}

CUptiResult CUPTIAPI cuptiUnsubscribe(CUpti_SubscriberHandle handle)
{
    DOOR();
    if (!is_current(handle))
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    callbacks_reset();
    return CUPTI_SUCCESS;
}

static bool graphs_are_told(uint32_t cbid);

CUptiResult CUPTIAPI cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain,
                                         CUpti_CallbackId cbid)
{
    DOOR();
    if (!is_current(handle) || cbid == 0 || cbid >= domain_size(domain))
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    if (domain == CUPTI_CB_DOMAIN_RESOURCE && !graphs_are_told(cbid))
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    atomic_store(&enabled[domain][cbid], enable ? 1 : 0);
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain)
{
    unsigned size = domain_size(domain);

    DOOR();
    if (!is_current(handle) || size == 0)
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    for (unsigned cbid = 1; cbid < size; cbid++)
        atomic_store(&enabled[domain][cbid], enable ? 1 : 0);
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle handle)
{
    DOOR();
    if (!is_current(handle))
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    for (int domain = CUPTI_CB_DOMAIN_DRIVER_API; domain < CUPTI_CB_DOMAIN_SIZE; domain++)
        for (unsigned cbid = 1; cbid < domain_size(domain); cbid++)
            atomic_store(&enabled[domain][cbid], enable ? 1 : 0);
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetCallbackState(uint32_t *enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain,
                                           CUpti_CallbackId cbid)
{
    DOOR();
    if (!enable || !is_current(handle) || cbid >= domain_size(domain))
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    *enable = atomic_load(&enabled[domain][cbid]);
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiSupportedDomains(size_t *count, CUpti_DomainTable *table)
{
    static CUpti_CallbackDomain domains[] = {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RUNTIME_API,
                                             CUPTI_CB_DOMAIN_RESOURCE};

    DOOR();
    if (!count || !table)
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    *count = sizeof domains / sizeof *domains;
    *table = domains;
    return CUPTI_SUCCESS;
}

static const char *name_of(const struct callback_name *names, unsigned count, uint32_t cbid)
{
    for (unsigned i = 0; i < count; i++)
        if (names[i].cbid == cbid)
            return names[i].name;
    return NULL;
}

CUptiResult CUPTIAPI cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid, const char **name)
{
    const char *found = NULL;

    DOOR();
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
        found = name_of(driver_callback_names, driver_callback_names_count, cbid);
    else if (domain == CUPTI_CB_DOMAIN_RUNTIME_API)
        found = name_of(runtime_callback_names, runtime_callback_names_count, cbid);
    if (!name || !found)
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    *name = found;
    return CUPTI_SUCCESS;
}

static struct subscriber *listener(CUpti_CallbackDomain domain, uint32_t cbid)
{
    if (cbid >= CBID_LIMIT || !atomic_load_explicit(&enabled[domain][cbid], memory_order_relaxed))
        return NULL;
    return atomic_load(&current);
}

void callbacks_api(const struct simgpu_api_call *call, uint64_t *correlation_data, CUpti_ApiCallbackSite site)
{
    CUpti_CallbackDomain domain = (CUpti_CallbackDomain)call->domain;
    struct subscriber *subscriber = listener(domain, call->cbid);
    CUpti_CallbackData data;

    if (!subscriber)
        return;
    memset(&data, 0, sizeof data);
    data.callbackSite = site;
    data.functionName = call->function;
    data.functionParams = call->params;
    data.functionReturnValue = site == CUPTI_API_EXIT ? call->return_value : NULL;
    data.symbolName = call->symbol;
    data.context = call->context;
    data.contextUid = call->context ? simgpu_context_id(call->context) : 0;
    data.correlationData = correlation_data;
    data.correlationId = call->correlation_id;
    subscriber->callback(subscriber->userdata, domain, call->cbid, &data);
}

/* The core's events by CUPTI's ids. The ..._STARTING twins of creations are not told: no handle exists then. */
static const uint32_t graph_cbids[] = {
    [SIMGPU_GRAPH_CREATED] = CUPTI_CBID_RESOURCE_GRAPH_CREATED,
    [SIMGPU_GRAPH_DESTROYED] = CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING,
    [SIMGPU_NODE_CREATED] = CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
    [SIMGPU_NODE_DESTROYED] = CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING,
    [SIMGPU_NODE_CLONED] = CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED,
    [SIMGPU_EXEC_CREATED] = CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED,
    [SIMGPU_EXEC_DESTROYED] = CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING,
    [SIMGPU_GRAPH_CLONED] = CUPTI_CBID_RESOURCE_GRAPH_CLONED,
#if SIM_CUDA_MAJOR >= 13 /* CUPTI has these from 13.0 on */
    [SIMGPU_NODE_UPDATED] = CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED,
    [SIMGPU_NODE_SET_PARAMS] = CUPTI_CBID_RESOURCE_GRAPH_NODE_SET_PARAMS,
#else
    [SIMGPU_NODE_SET_PARAMS] = 0,
#endif
};

/* SIMGPU_CUPTI_GRAPHS=off: a CUPTI that tells nothing of graphs. =calls: one that tells nothing of updated nodes, as those
 * before CUDA 13. */
static bool graphs_are_told(uint32_t cbid)
{
    const char *setting = getenv("SIMGPU_CUPTI_GRAPHS");
    bool off = setting && !strcmp(setting, "off"), only_calls = setting && !strcmp(setting, "calls");

    for (unsigned i = 0; i < sizeof graph_cbids / sizeof *graph_cbids; i++)
        if (cbid && graph_cbids[i] == cbid)
            return !off && !(only_calls && (i == SIMGPU_NODE_UPDATED || i == SIMGPU_NODE_SET_PARAMS));
    return true;
}

static void tell_resource(uint32_t cbid, CUpti_ResourceData *resource)
{
    struct subscriber *subscriber = listener(CUPTI_CB_DOMAIN_RESOURCE, cbid);

    if (subscriber)
        subscriber->callback(subscriber->userdata, CUPTI_CB_DOMAIN_RESOURCE, cbid, resource);
}

void callbacks_graph(const struct simgpu_graph_notice *notice)
{
    CUpti_GraphData data;
    CUpti_ResourceData resource;

    memset(&data, 0, sizeof data);
    memset(&resource, 0, sizeof resource);
    data.graph = (CUgraph)notice->graph;
    data.originalGraph = (CUgraph)notice->original_graph;
    data.node = (CUgraphNode)notice->node;
    data.originalNode = (CUgraphNode)notice->original_node;
    data.nodeType = (CUgraphNodeType)notice->node_type;
    data.graphExec = (CUgraphExec)notice->exec;
    resource.resourceDescriptor = &data;
    if (graph_cbids[notice->event])
        tell_resource(graph_cbids[notice->event], &resource);
}

static const uint32_t resource_cbids[] = {
    [SIMGPU_INIT_FINISHED] = CUPTI_CBID_RESOURCE_CU_INIT_FINISHED,
    [SIMGPU_CONTEXT_CREATED] = CUPTI_CBID_RESOURCE_CONTEXT_CREATED,
    [SIMGPU_CONTEXT_DESTROYED] = CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
    [SIMGPU_STREAM_CREATED] = CUPTI_CBID_RESOURCE_STREAM_CREATED,
    [SIMGPU_STREAM_DESTROYED] = CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING,
    [SIMGPU_MODULE_LOADED] = CUPTI_CBID_RESOURCE_MODULE_LOADED,
    [SIMGPU_MODULE_UNLOADED] = CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING,
};

void callbacks_resource(const struct simgpu_resource_notice *notice)
{
    CUpti_ModuleResourceData module;
    CUpti_ResourceData resource;

    memset(&resource, 0, sizeof resource);
    resource.context = notice->context;
    resource.resourceHandle.stream = notice->stream;
    if (notice->event == SIMGPU_MODULE_LOADED || notice->event == SIMGPU_MODULE_UNLOADED) {
        memset(&module, 0, sizeof module);
        module.moduleId = notice->module_id;
        module.cubinSize = notice->cubin_bytes;
        module.pCubin = notice->cubin;
        resource.resourceDescriptor = &module;
    }
    tell_resource(resource_cbids[notice->event], &resource);
}
