/* SPDX-License-Identifier: Apache-2.0 */
/* Activity kinds and the records made for them: kernels, copies and memsets as the timeline reports them, API calls as
 * they return, a device and its context once. */
#include "stand_in.h"

#include "sim/core/device.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { API_LIMIT = 1024 };

/* A bit for each client. */
static _Atomic uint8_t kind_enabled[CUPTI_ACTIVITY_KIND_COUNT];
static _Atomic uint8_t api_enabled[CUPTI_CB_DOMAIN_RUNTIME_API + 1][API_LIMIT]; /* single functions, by domain */
static atomic_uint api_enabled_count;
static __thread uint8_t api_clients; /* who is to have the API record that this thread puts */
static atomic_bool graph_level;      /* GRAPH_TRACE was on once: no records of what is in graphs any more */
static atomic_bool period_over;      /* a kind of device work was switched off once */

/* What each kind gives. Kinds that are in no row are not supported. */
static const struct {
    CUpti_ActivityKind kind;
    bool device_work; /* the first launch asks for a buffer */
} kinds[] = {
    {CUPTI_ACTIVITY_KIND_KERNEL, true},      {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, true},
    {CUPTI_ACTIVITY_KIND_MEMCPY, true},      {CUPTI_ACTIVITY_KIND_MEMSET, true},
    {CUPTI_ACTIVITY_KIND_MEMCPY2, true}, /* copies between devices */
    {CUPTI_ACTIVITY_KIND_GRAPH_TRACE, true}, {CUPTI_ACTIVITY_KIND_RUNTIME, false},
    {CUPTI_ACTIVITY_KIND_DRIVER, false},     {CUPTI_ACTIVITY_KIND_DEVICE, false},
    {CUPTI_ACTIVITY_KIND_CONTEXT, false},    {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, false},
    {CUPTI_ACTIVITY_KIND_OVERHEAD, false}, /* the simulation has none to tell of */
};

static bool is_on(CUpti_ActivityKind kind)
{
    return atomic_load_explicit(&kind_enabled[kind], memory_order_relaxed);
}

static int kind_row(CUpti_ActivityKind kind)
{
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].kind == kind)
            return (int)i;
    return -1;
}

uint8_t records_device_clients(void)
{
    uint8_t clients = 0;

    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].device_work)
            clients |= atomic_load_explicit(&kind_enabled[kinds[i].kind], memory_order_relaxed);
    return clients;
}

uint8_t records_clients(CUpti_ActivityKind kind)
{
    return api_clients ? api_clients : atomic_load_explicit(&kind_enabled[kind], memory_order_relaxed);
}

/* ---- records ---- */

/* The client frees the name, as CUPTI's documentation says. */
static void put_device(int ordinal)
{
    const struct simgpu_device *device = simgpu_device();
    DEVICE_RECORD record;

    memset(&record, 0, sizeof record);
    record.kind = CUPTI_ACTIVITY_KIND_DEVICE;
    record.globalMemoryBandwidth = (uint64_t)(device->bytes_per_second / 1000); /* kB/s */
    record.globalMemorySize = device->memory_bytes;
    record.numThreadsPerWarp = 32;
    record.coreClockRate = (uint32_t)device->clock_khz;
    record.numMultiprocessors = (uint32_t)device->sm_count;
    record.computeCapabilityMajor = (uint32_t)device->compute_major;
    record.computeCapabilityMinor = (uint32_t)device->compute_minor;
    record.id = (uint32_t)ordinal;
    record.isCudaVisible = 1;
    simgpu_device_uuid(simgpu_device_board(ordinal), (unsigned char *)record.uuid.bytes);
    record.name = strdup(device->name);
    buffers_put(&record, sizeof record);
}

static void put_context(void *context)
{
    CONTEXT_RECORD record;

    memset(&record, 0, sizeof record);
    record.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
    record.contextId = simgpu_context_id(context);
    record.deviceId = (uint32_t)simgpu_context_device(context);
    record.computeApiKind = CUPTI_ACTIVITY_COMPUTE_API_CUDA;
    if (simgpu_context_push(context) == SIMGPU_SUCCESS) {
        record.nullStreamId = (uint16_t)simgpu_stream_id(simgpu_stream_of(NULL, 0));
        simgpu_context_pop(NULL);
    }
    record.numMultiprocessors = (uint16_t)simgpu_device()->sm_count;
    buffers_put(&record, sizeof record);
}

void records_context(void *context)
{
    if (is_on(CUPTI_ACTIVITY_KIND_CONTEXT))
        put_context(context);
}

/* SIMGPU_CUPTI_ZERO_EVERY=n: the times of every nth kernel "could not be collected". */
static bool zero_this_one(void)
{
    static atomic_long every = -1;
    static atomic_ulong count;
    long n = atomic_load_explicit(&every, memory_order_relaxed);

    if (n < 0) {
        const char *text = getenv("SIMGPU_CUPTI_ZERO_EVERY");

        n = text ? atol(text) : 0;
        if (n < 0)
            n = 0;
        atomic_store(&every, n);
    }
    return n > 0 && (atomic_fetch_add(&count, 1) + 1) % (unsigned long)n == 0;
}

/* SIMGPU_CUPTI_SHIFT_CORRELATION=n: the ids of all records are n more than those that callbacks tell. */
uint32_t records_correlation(uint32_t correlation_id)
{
    static atomic_long shift = -1;
    long n = atomic_load_explicit(&shift, memory_order_relaxed);

    if (n < 0) {
        const char *text = getenv("SIMGPU_CUPTI_SHIFT_CORRELATION");

        n = text ? atol(text) : 0;
        if (n < 0)
            n = 0;
        atomic_store(&shift, n);
    }
    return correlation_id + (uint32_t)n;
}

/* SIMGPU_CUPTI_FAULT=leak: nothing is right any more after so many kernels of graphs, by turns 0 and upside down. */
static bool leaked(const struct simgpu_activity *activity, bool *zero)
{
    static atomic_ullong count;
    unsigned long long number;

    if (!fault_on(FAULT_LEAK) || !activity->graph_id)
        return false;
    number = atomic_fetch_add(&count, 1);
    *zero = number % 2 == 0;
    return (int64_t)number >= fault_value(FAULT_LEAK);
}

static void set_times(KERNEL_RECORD *record, const struct simgpu_activity *activity)
{
    bool zero = false, wrong = leaked(activity, &zero);

    if (zero_this_one() || fault_hits(FAULT_ZERO) || (wrong && zero))
        return;
    record->start = clock_of_records(activity->start_ns);
    record->end = clock_of_records(activity->end_ns);
    if (fault_hits(FAULT_INVERTED) || wrong) {
        uint64_t end = record->start;

        record->start = record->end;
        record->end = end;
    }
    record->completed = record->end;
}

static void put_kernel(const struct simgpu_activity *activity)
{
    static atomic_llong grid_id;
    KERNEL_RECORD record;
    const struct simgpu_dims *dims = &activity->dims;

    memset(&record, 0, sizeof record);
    record.kind = is_on(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
                                                               : CUPTI_ACTIVITY_KIND_KERNEL;
    set_times(&record, activity);
    record.deviceId = activity->device;
    record.contextId = activity->context;
    record.streamId = activity->stream;
    record.gridX = (int32_t)dims->grid[0];
    record.gridY = (int32_t)dims->grid[1];
    record.gridZ = (int32_t)dims->grid[2];
    record.blockX = (int32_t)dims->block[0];
    record.blockY = (int32_t)dims->block[1];
    record.blockZ = (int32_t)dims->block[2];
    record.clusterX = dims->cluster[0];
    record.clusterY = dims->cluster[1];
    record.clusterZ = dims->cluster[2];
    record.registersPerThread = (uint16_t)activity->registers;
    record.staticSharedMemory = (int32_t)activity->static_shared_bytes;
    record.dynamicSharedMemory = (int32_t)dims->shared_bytes;
    record.correlationId = records_correlation(activity->correlation_id);
    record.gridId = atomic_fetch_add(&grid_id, 1) + 1;
    record.name = activity->name;
    record.graphId = activity->graph_id;
    record.graphNodeId = activity->graph_node_id;
    record.sourceGraphId = (uint32_t)(activity->source_node_id >> 32);
    record.sourceGraphNodeId = activity->source_node_id;
    buffers_put(&record, sizeof record);
    if (fault_hits(FAULT_FOREIGN)) { /* somebody else's: no such call was ever told of */
        record.correlationId ^= 0x40000000;
        record.graphId = 0;
        record.graphNodeId = record.sourceGraphNodeId = 0;
        buffers_put(&record, sizeof record);
    }
}

/* Which memory the two ends of a copy lie in, from CUpti_ActivityMemcpyKind. */
static void copy_ends(int kind, uint8_t *source, uint8_t *target)
{
    bool from_host = kind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD || kind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOH;
    bool to_host = kind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH || kind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOH;

    *source = from_host ? CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE : CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    *target = to_host ? CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE : CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
}

static void put_memcpy(const struct simgpu_activity *activity)
{
    MEMCPY_RECORD record;

    memset(&record, 0, sizeof record);
    record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
    record.copyKind = (uint8_t)activity->copy_kind;
    copy_ends(activity->copy_kind, &record.srcKind, &record.dstKind);
    record.bytes = activity->bytes;
    record.start = clock_of_records(activity->start_ns);
    record.end = clock_of_records(activity->end_ns);
    record.deviceId = activity->device;
    record.contextId = activity->context;
    record.streamId = activity->stream;
    record.correlationId = records_correlation(activity->correlation_id);
    record.graphNodeId = activity->graph_node_id;
    record.graphId = activity->graph_id;
    record.sourceGraphId = (uint32_t)(activity->source_node_id >> 32);
    record.sourceGraphNodeId = activity->source_node_id;
    record.copyCount = 1;
    buffers_put(&record, sizeof record);
}

static void put_memcpy_peer(const struct simgpu_activity *activity)
{
    PEER_RECORD record;

    memset(&record, 0, sizeof record);
    record.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
    record.copyKind = (uint8_t)activity->copy_kind;
    copy_ends(activity->copy_kind, &record.srcKind, &record.dstKind);
    record.bytes = activity->bytes;
    record.start = clock_of_records(activity->start_ns);
    record.end = clock_of_records(activity->end_ns);
    record.deviceId = activity->device;
    record.contextId = activity->context;
    record.streamId = activity->stream;
    record.srcDeviceId = activity->from_device;
    record.srcContextId = activity->from_context;
    record.dstDeviceId = activity->to_device;
    record.dstContextId = activity->to_context;
    record.correlationId = records_correlation(activity->correlation_id);
    record.graphNodeId = activity->graph_node_id;
    record.graphId = activity->graph_id;
    buffers_put(&record, sizeof record);
}

static void put_memset(const struct simgpu_activity *activity)
{
    MEMSET_RECORD record;

    memset(&record, 0, sizeof record);
    record.kind = CUPTI_ACTIVITY_KIND_MEMSET;
    record.value = (uint32_t)activity->value;
    record.bytes = activity->bytes;
    record.start = clock_of_records(activity->start_ns);
    record.end = clock_of_records(activity->end_ns);
    record.deviceId = activity->device;
    record.contextId = activity->context;
    record.streamId = activity->stream;
    record.correlationId = records_correlation(activity->correlation_id);
    record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    record.graphNodeId = activity->graph_node_id;
    record.graphId = activity->graph_id;
    record.sourceGraphId = (uint32_t)(activity->source_node_id >> 32);
    record.sourceGraphNodeId = activity->source_node_id;
    buffers_put(&record, sizeof record);
}

static void put_graph(const struct simgpu_activity *activity)
{
    struct graph_record record;

    memset(&record, 0, sizeof record);
    record.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
    record.correlationId = records_correlation(activity->correlation_id);
    record.start = clock_of_records(activity->start_ns);
    record.end = clock_of_records(activity->end_ns);
    record.deviceId = record.endDeviceId = activity->device;
    record.contextId = record.endContextId = activity->context;
    record.streamId = activity->stream;
    record.graphId = activity->graph_id;
    buffers_put(&record, sizeof record);
}

/* What has no record though its kind is on. */
static bool is_left_out(const struct simgpu_activity *activity)
{
    bool in_graph = activity->graph_id && activity->kind != SIMGPU_ACTIVITY_GRAPH;

    return (in_graph && atomic_load_explicit(&graph_level, memory_order_relaxed)) ||
           (activity->iteration && fault_on(FAULT_FIRST_ITERATION)) ||
           (fault_on(FAULT_FIRST_PERIOD) && atomic_load_explicit(&period_over, memory_order_relaxed));
}

void records_activity(const struct simgpu_activity *activity)
{
    if (is_left_out(activity))
        return;
    switch (activity->kind) {
    case SIMGPU_ACTIVITY_KERNEL:
        if (is_on(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) || is_on(CUPTI_ACTIVITY_KIND_KERNEL))
            put_kernel(activity);
        break;
    case SIMGPU_ACTIVITY_MEMCPY:
        if (activity->copy_kind == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP) {
            if (is_on(CUPTI_ACTIVITY_KIND_MEMCPY2))
                put_memcpy_peer(activity);
        } else if (is_on(CUPTI_ACTIVITY_KIND_MEMCPY)) {
            put_memcpy(activity);
        }
        break;
    case SIMGPU_ACTIVITY_MEMSET:
        if (is_on(CUPTI_ACTIVITY_KIND_MEMSET))
            put_memset(activity);
        break;
    case SIMGPU_ACTIVITY_GRAPH:
        if (is_on(CUPTI_ACTIVITY_KIND_GRAPH_TRACE))
            put_graph(activity);
        break;
    }
}

/* ---- API calls ---- */

static CUpti_ActivityKind kind_of(const struct simgpu_api_call *call)
{
    return call->domain == SIMGPU_DRIVER_API ? CUPTI_ACTIVITY_KIND_DRIVER : CUPTI_ACTIVITY_KIND_RUNTIME;
}

static uint8_t recorded_for(const struct simgpu_api_call *call)
{
    uint8_t clients = atomic_load_explicit(&kind_enabled[kind_of(call)], memory_order_relaxed);

    if (atomic_load_explicit(&api_enabled_count, memory_order_relaxed) && call->cbid < API_LIMIT)
        clients |= atomic_load_explicit(&api_enabled[call->domain][call->cbid], memory_order_relaxed);
    return clients;
}

void records_api_enter(const struct simgpu_api_call *call)
{
    static __thread uint32_t told; /* a driver call inside a runtime call has the same id: told once */

    if (call->symbol && records_device_clients())
        buffers_prepare();
    if (is_on(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) && recorded_for(call) && call->correlation_id != told) {
        told = call->correlation_id;
        external_records(told);
    }
}

void records_api_exit(const struct simgpu_api_call *call)
{
    API_RECORD record;
    uint8_t clients = recorded_for(call);

    if (!clients)
        return;
    memset(&record, 0, sizeof record);
    record.kind = kind_of(call);
    record.cbid = call->cbid;
    record.start = clock_convert(call->start_ns);
    record.end = clock_convert(call->end_ns);
    record.processId = (uint32_t)getpid();
    record.threadId = thread_id_type() == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM ? (uint32_t)syscall(SYS_gettid)
                                                                               : (uint32_t)pthread_self();
    record.correlationId = records_correlation(call->correlation_id);
    record.returnValue = call->return_value ? *(const uint32_t *)call->return_value : 0;
    api_clients = clients;
    buffers_put(&record, sizeof record);
    api_clients = 0;
}

/* ---- switching ---- */

/* Why KIND can't be on, if it can't. */
static CUptiResult refusal(CUpti_ActivityKind kind, bool on)
{
    char what[64];

    if (kind <= CUPTI_ACTIVITY_KIND_INVALID || kind >= CUPTI_ACTIVITY_KIND_COUNT)
        return CUPTI_ERROR_INVALID_KIND;
    if (on && fault_on(FAULT_PERMISSION))
        return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    if (on && fault_on(FAULT_BUSY))
        return CUPTI_ERROR_HARDWARE_BUSY;
    if (kind_row(kind) >= 0)
        return CUPTI_SUCCESS;
    snprintf(what, sizeof what, "cuptiActivity%sable(%d)", on ? "En" : "Dis", (int)kind);
    simgpu_not_supported(what);
    return CUPTI_ERROR_NOT_SUPPORTED;
}

CUptiResult records_switch(unsigned client, CUpti_ActivityKind kind, bool on)
{
    CUptiResult result = refusal(kind, on);

    if (result != CUPTI_SUCCESS)
        return result;
    if (on) {
        atomic_fetch_or(&kind_enabled[kind], (uint8_t)(1u << client));
    } else {
        atomic_fetch_and(&kind_enabled[kind], (uint8_t) ~(1u << client));
        atomic_store(&period_over, kinds[kind_row(kind)].device_work || atomic_load(&period_over));
        buffers_switched_off(client);
        return CUPTI_SUCCESS;
    }
    if (kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE)
        atomic_store(&graph_level, true); /* switching it off does not undo this */
    observer_install();
    if (kind == CUPTI_ACTIVITY_KIND_DEVICE)
        for (int ordinal = 0; ordinal < simgpu_device_count(); ordinal++)
            put_device(ordinal);
    if (kind == CUPTI_ACTIVITY_KIND_CONTEXT)
        simgpu_context_each(put_context);
    return CUPTI_SUCCESS;
}

static CUptiResult switch_kind(CUpti_ActivityKind kind, bool on)
{
    return scope_is_process() ? records_switch(0, kind, on) : CUPTI_ERROR_NOT_COMPATIBLE;
}

CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind)
{
    DOOR();
    return result_done(switch_kind(kind, true));
}

/* A kind is on for all contexts or for none. */
CUptiResult CUPTIAPI cuptiActivityEnableContext(CUcontext context, CUpti_ActivityKind kind)
{
    DOOR();
    return result_done(context ? switch_kind(kind, true) : CUPTI_ERROR_INVALID_CONTEXT);
}

CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind)
{
    DOOR();
    return result_done(switch_kind(kind, false));
}

CUptiResult CUPTIAPI cuptiActivityDisableContext(CUcontext context, CUpti_ActivityKind kind)
{
    DOOR();
    return result_done(context ? switch_kind(kind, false) : CUPTI_ERROR_INVALID_CONTEXT);
}

CUptiResult CUPTIAPI cuptiActivityEnableAndDump(CUpti_ActivityKind kind)
{
    DOOR();
    return result_done(switch_kind(kind, true));
}

CUptiResult records_switch_api(unsigned client, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, bool on)
{
    uint8_t bit = (uint8_t)(1u << client), was;

    if (cbid == 0 || cbid >= API_LIMIT)
        return CUPTI_ERROR_INVALID_PARAMETER;
    was = on ? atomic_fetch_or(&api_enabled[domain][cbid], bit)
             : atomic_fetch_and(&api_enabled[domain][cbid], (uint8_t)~bit);
    if (on && !(was & bit))
        atomic_fetch_add(&api_enabled_count, 1);
    if (!on && was & bit)
        atomic_fetch_sub(&api_enabled_count, 1);
    observer_install();
    return CUPTI_SUCCESS;
}

#if CUPTI_API_VERSION >= 23
static CUptiResult switch_api(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, bool on)
{
    return scope_is_process() ? records_switch_api(0, domain, cbid, on) : CUPTI_ERROR_NOT_COMPATIBLE;
}

CUptiResult CUPTIAPI cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t enable)
{
    DOOR_SINCE(CUPTI_SINGLE_APIS);
    return result_done(switch_api(CUPTI_CB_DOMAIN_DRIVER_API, cbid, enable));
}

CUptiResult CUPTIAPI cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t enable)
{
    DOOR_SINCE(CUPTI_SINGLE_APIS);
    return result_done(switch_api(CUPTI_CB_DOMAIN_RUNTIME_API, cbid, enable));
}
#endif

void records_disable(unsigned client)
{
    for (int kind = 0; kind < CUPTI_ACTIVITY_KIND_COUNT; kind++)
        atomic_fetch_and(&kind_enabled[kind], (uint8_t) ~(1u << client));
    for (int domain = 0; domain <= CUPTI_CB_DOMAIN_RUNTIME_API; domain++)
        for (CUpti_CallbackId cbid = 1; cbid < API_LIMIT; cbid++)
            if (atomic_load_explicit(&api_enabled[domain][cbid], memory_order_relaxed) & 1u << client)
                records_switch_api(client, (CUpti_CallbackDomain)domain, cbid, false);
}

void records_disable_all(void)
{
    for (unsigned client = 0; client < CLIENTS_MOST; client++)
        records_disable(client);
}
