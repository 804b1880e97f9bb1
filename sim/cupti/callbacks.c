/* SPDX-License-Identifier: Apache-2.0 */
/* Subscribers and callbacks: one a process, or several where all came by cuptiSubscribe_v2 and want it; a switch for each
 * callback id, and the data structs that they are handed for API calls, graphs, contexts and modules. */
#include "stand_in.h"

#include "sim/core/device.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CBID_LIMIT = 1024, SUBSCRIBER_NAME_BYTES = 64, DOMAINS = 7 };
enum { NODE_UPDATED_CBID = 22, NODE_SET_PARAMS_CBID = 23 }; /* of 13.0: older headers have no names for them */

struct subscriber {
    CUpti_CallbackFunc callback;
    void *userdata;
    char name[SUBSCRIBER_NAME_BYTES];
    struct subscriber *older;
};

/* Kept for ever: a callback may still run in one when another thread unsubscribes. */
static struct subscriber *_Atomic subscribers[CLIENTS_MOST], *newest; /* by the number of the client, from 1 */
static _Atomic uint8_t enabled[DOMAINS][CBID_LIMIT];                  /* a bit for each client */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;              /* over subscribing and unsubscribing */
static enum { UNDECIDED, ONE, SEVERAL } mode;

static unsigned domain_size(CUpti_CallbackDomain domain)
{
    switch (domain) {
    case CUPTI_CB_DOMAIN_DRIVER_API:
        return CUPTI_DRIVER_TRACE_CBID_SIZE;
    case CUPTI_CB_DOMAIN_RUNTIME_API:
        return CUPTI_RUNTIME_TRACE_CBID_SIZE;
    case CUPTI_CB_DOMAIN_RESOURCE:
        return release_now()->number >= CUPTI_NODE_UPDATES ? NODE_SET_PARAMS_CBID + 1 : NODE_UPDATED_CBID;
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
_Static_assert((int)CUPTI_CB_DOMAIN_SIZE <= DOMAINS, "and every domain");

/* Why somebody else's being there forbids it, if it does. With the lock held. */
static CUptiResult refused_subscription(bool several, const char **holder)
{
    static unsigned subscriptions;

    if (fault_on(FAULT_SECOND_SUBSCRIBE) && subscriptions++)
        raise(SIGSEGV);
    if (fault_on(FAULT_SUBSCRIBED_OLD))
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    if (fault_on(FAULT_SUBSCRIBED) || (several && release_now()->number < CUPTI_SEVERAL_SUBSCRIBERS) ||
        (mode == SEVERAL && !several))
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    for (unsigned i = 1; i < CLIENTS_MOST && !*holder; i++)
        if (atomic_load(&subscribers[i]))
            *holder = atomic_load(&subscribers[i])->name;
    return *holder && !(several && mode == SEVERAL) ? CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED : CUPTI_SUCCESS;
}

static unsigned free_number(void)
{
    for (unsigned i = 1; i < CLIENTS_MOST; i++)
        if (!atomic_load(&subscribers[i]))
            return i;
    return 0;
}

CUptiResult callbacks_subscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *userdata,
                                const char *name, bool several, const char **holder)
{
    struct subscriber *subscriber;
    unsigned number = 0;
    CUptiResult result;

    if (!handle || !callback)
        return CUPTI_ERROR_INVALID_PARAMETER;
    subscriber = calloc(1, sizeof *subscriber);
    if (!subscriber)
        return CUPTI_ERROR_OUT_OF_MEMORY;
    subscriber->callback = callback;
    subscriber->userdata = userdata;
    if (name)
        snprintf(subscriber->name, sizeof subscriber->name, "%s", name);
    pthread_mutex_lock(&lock);
    result = refused_subscription(several, holder);
    if (result == CUPTI_SUCCESS && !(number = free_number()))
        result = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    if (result == CUPTI_SUCCESS) {
        mode = several ? SEVERAL : mode == SEVERAL ? mode : ONE;
        subscriber->older = newest;
        newest = subscriber;
        *handle = (CUpti_SubscriberHandle)subscriber;
        atomic_store(&subscribers[number], subscriber);
    }
    pthread_mutex_unlock(&lock);
    if (result != CUPTI_SUCCESS)
        free(subscriber);
    else
        observer_install();
    return result;
}

CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *userdata)
{
    const char *holder = NULL;

    DOOR();
    return result_done(callbacks_subscribe(handle, callback, userdata, NULL, false, &holder));
}

unsigned callbacks_client(CUpti_SubscriberHandle handle)
{
    for (unsigned i = 1; handle && i < CLIENTS_MOST; i++)
        if ((struct subscriber *)handle == atomic_load(&subscribers[i]))
            return i;
    return 0;
}

static void forget(unsigned client)
{
    atomic_store(&subscribers[client], NULL);
    for (int domain = 0; domain < DOMAINS; domain++)
        for (int cbid = 0; cbid < CBID_LIMIT; cbid++)
            atomic_fetch_and_explicit(&enabled[domain][cbid], (uint8_t) ~(1u << client), memory_order_relaxed);
}

void callbacks_reset(void)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 1; i < CLIENTS_MOST; i++)
        forget(i);
    mode = UNDECIDED;
    pthread_mutex_unlock(&lock);
}

CUptiResult CUPTIAPI cuptiUnsubscribe(CUpti_SubscriberHandle handle)
{
    unsigned client = callbacks_client(handle);

    DOOR();
    if (!client)
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    pthread_mutex_lock(&lock);
    forget(client);
    pthread_mutex_unlock(&lock);
    records_disable(client);
    return CUPTI_SUCCESS;
}

static void set_enabled(CUpti_CallbackDomain domain, uint32_t cbid, unsigned client, bool enable)
{
    if (enable)
        atomic_fetch_or(&enabled[domain][cbid], (uint8_t)(1u << client));
    else
        atomic_fetch_and(&enabled[domain][cbid], (uint8_t) ~(1u << client));
}

uint32_t callbacks_enabled(unsigned clients, CUpti_CallbackDomain domain, CUpti_CallbackId *ids, uint32_t room)
{
    uint32_t count = 0;

    for (CUpti_CallbackId cbid = 1; cbid < domain_size(domain); cbid++)
        if (atomic_load(&enabled[domain][cbid]) & clients) {
            if (ids && count < room)
                ids[count] = cbid;
            count++;
        }
    return count;
}

static bool graphs_are_told(uint32_t cbid);

CUptiResult CUPTIAPI cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain,
                                         CUpti_CallbackId cbid)
{
    unsigned client = callbacks_client(handle);

    DOOR();
    if (!client || cbid == 0 || cbid >= domain_size(domain))
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    if (domain == CUPTI_CB_DOMAIN_RESOURCE && !graphs_are_told(cbid))
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    set_enabled(domain, cbid, client, enable);
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain)
{
    unsigned size = domain_size(domain), client = callbacks_client(handle);

    DOOR();
    if (!client || size == 0)
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    for (unsigned cbid = 1; cbid < size; cbid++)
        set_enabled(domain, cbid, client, enable);
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle handle)
{
    unsigned client = callbacks_client(handle);

    DOOR();
    if (!client)
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    for (int domain = CUPTI_CB_DOMAIN_DRIVER_API; domain < CUPTI_CB_DOMAIN_SIZE; domain++)
        for (unsigned cbid = 1; cbid < domain_size(domain); cbid++)
            set_enabled(domain, cbid, client, enable);
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetCallbackState(uint32_t *enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain,
                                           CUpti_CallbackId cbid)
{
    unsigned client = callbacks_client(handle);

    DOOR();
    if (!enable || !client || cbid >= domain_size(domain))
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    *enable = (atomic_load(&enabled[domain][cbid]) >> client) & 1u;
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

/* Tells all whose switch is on, in the order of their numbers. */
static void tell(CUpti_CallbackDomain domain, uint32_t cbid, const void *data)
{
    uint8_t clients = cbid < CBID_LIMIT ? atomic_load_explicit(&enabled[domain][cbid], memory_order_relaxed) : 0;

    for (unsigned i = 1; clients >> i; i++) {
        struct subscriber *subscriber = clients & 1u << i ? atomic_load(&subscribers[i]) : NULL;

        if (subscriber)
            subscriber->callback(subscriber->userdata, domain, cbid, data);
    }
}

void callbacks_api(const struct simgpu_api_call *call, uint64_t *correlation_data, CUpti_ApiCallbackSite site)
{
    CUpti_CallbackDomain domain = (CUpti_CallbackDomain)call->domain;
    CUpti_CallbackData data;

    if (call->cbid >= CBID_LIMIT || !atomic_load_explicit(&enabled[domain][call->cbid], memory_order_relaxed))
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
    tell(domain, call->cbid, &data);
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
    [SIMGPU_NODE_UPDATED] = NODE_UPDATED_CBID,
    [SIMGPU_NODE_SET_PARAMS] = NODE_SET_PARAMS_CBID,
};

/* SIMGPU_CUPTI_GRAPHS=off: a CUPTI that tells nothing of graphs. =calls: one that tells nothing of updated nodes, as those
 * before CUDA 13. */
static bool graphs_are_told(uint32_t cbid)
{
    const char *setting = getenv("SIMGPU_CUPTI_GRAPHS");
    bool off = fault_on(FAULT_NO_NODES) || (setting && !strcmp(setting, "off"));
    bool only_calls = fault_on(FAULT_NO_UPDATES) || (setting && !strcmp(setting, "calls"));

    for (unsigned i = 0; i < sizeof graph_cbids / sizeof *graph_cbids; i++)
        if (cbid && graph_cbids[i] == cbid)
            return !off && !(only_calls && (i == SIMGPU_NODE_UPDATED || i == SIMGPU_NODE_SET_PARAMS));
    return true;
}

static void tell_resource(uint32_t cbid, CUpti_ResourceData *resource)
{
    tell(CUPTI_CB_DOMAIN_RESOURCE, cbid, resource);
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
