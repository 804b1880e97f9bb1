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

static _Atomic uint8_t kind_enabled[CUPTI_ACTIVITY_KIND_COUNT];
static _Atomic uint8_t api_enabled[CUPTI_CB_DOMAIN_RUNTIME_API + 1][API_LIMIT]; /* single functions, by domain */
static atomic_uint api_enabled_count;

/* What each kind gives. Kinds that are in no row are not supported. */
static const struct {
    CUpti_ActivityKind kind;
    bool device_work; /* the first launch asks for a buffer */
} kinds[] = {
    {CUPTI_ACTIVITY_KIND_KERNEL, true},
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, true},
    {CUPTI_ACTIVITY_KIND_MEMCPY, true},
    {CUPTI_ACTIVITY_KIND_MEMSET, true},
    {CUPTI_ACTIVITY_KIND_MEMCPY2, true}, /* copies between devices */
    {CUPTI_ACTIVITY_KIND_RUNTIME, false},
    {CUPTI_ACTIVITY_KIND_DRIVER, false},
    {CUPTI_ACTIVITY_KIND_DEVICE, false},
    {CUPTI_ACTIVITY_KIND_CONTEXT, false},
    {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, false},
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

static bool wants_device_work(void)
{
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].device_work && is_on(kinds[i].kind))
            return true;
    return false;
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
#if CUPTI_API_VERSION >= 26
    record.numMultiprocessors = (uint16_t)simgpu_device()->sm_count;
#endif
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

static void put_kernel(const struct simgpu_activity *activity)
{
    static atomic_llong grid_id;
    KERNEL_RECORD record;
    const struct simgpu_dims *dims = &activity->dims;

    memset(&record, 0, sizeof record);
    record.kind = is_on(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
                                                               : CUPTI_ACTIVITY_KIND_KERNEL;
    if (!zero_this_one()) {
        record.start = clock_convert(activity->start_ns);
        record.end = record.completed = clock_convert(activity->end_ns);
    }
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
    buffers_put(&record, sizeof record);
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
    record.start = clock_convert(activity->start_ns);
    record.end = clock_convert(activity->end_ns);
    record.deviceId = activity->device;
    record.contextId = activity->context;
    record.streamId = activity->stream;
    record.correlationId = records_correlation(activity->correlation_id);
    record.graphNodeId = activity->graph_node_id;
    record.graphId = activity->graph_id;
#if CUPTI_API_VERSION >= 26
    record.copyCount = 1;
#endif
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
    record.start = clock_convert(activity->start_ns);
    record.end = clock_convert(activity->end_ns);
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
    record.start = clock_convert(activity->start_ns);
    record.end = clock_convert(activity->end_ns);
    record.deviceId = activity->device;
    record.contextId = activity->context;
    record.streamId = activity->stream;
    record.correlationId = records_correlation(activity->correlation_id);
    record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    record.graphNodeId = activity->graph_node_id;
    record.graphId = activity->graph_id;
    buffers_put(&record, sizeof record);
}

void records_activity(const struct simgpu_activity *activity)
{
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
    case SIMGPU_ACTIVITY_GRAPH: /* the kind GRAPH_TRACE, which is in no row yet */
        break;
    }
}

/* ---- API calls ---- */

static CUpti_ActivityKind kind_of(const struct simgpu_api_call *call)
{
    return call->domain == SIMGPU_DRIVER_API ? CUPTI_ACTIVITY_KIND_DRIVER : CUPTI_ACTIVITY_KIND_RUNTIME;
}

static bool is_recorded(const struct simgpu_api_call *call)
{
    return is_on(kind_of(call)) ||
           (atomic_load_explicit(&api_enabled_count, memory_order_relaxed) && call->cbid < API_LIMIT &&
            atomic_load_explicit(&api_enabled[call->domain][call->cbid], memory_order_relaxed));
}

void records_api_enter(const struct simgpu_api_call *call)
{
    static __thread uint32_t told; /* a driver call inside a runtime call has the same id: told once */

    if (call->symbol && wants_device_work())
        buffers_prepare();
    if (is_on(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) && is_recorded(call) && call->correlation_id != told) {
        told = call->correlation_id;
        external_records(told);
    }
}

void records_api_exit(const struct simgpu_api_call *call)
{
    API_RECORD record;

    if (!is_recorded(call))
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
    buffers_put(&record, sizeof record);
}

/* ---- switching ---- */

static CUptiResult switch_kind(CUpti_ActivityKind kind, bool on)
{
    char what[64];

    if (kind <= CUPTI_ACTIVITY_KIND_INVALID || kind >= CUPTI_ACTIVITY_KIND_COUNT)
        return CUPTI_ERROR_INVALID_KIND;
    if (kind_row(kind) < 0) {
        snprintf(what, sizeof what, "cuptiActivity%sable(%d)", on ? "En" : "Dis", (int)kind);
        simgpu_not_supported(what);
        return CUPTI_ERROR_NOT_SUPPORTED;
    }
    atomic_store(&kind_enabled[kind], on);
    if (!on)
        return CUPTI_SUCCESS;
    observer_install();
    if (kind == CUPTI_ACTIVITY_KIND_DEVICE)
        for (int ordinal = 0; ordinal < simgpu_device_count(); ordinal++)
            put_device(ordinal);
    if (kind == CUPTI_ACTIVITY_KIND_CONTEXT)
        simgpu_context_each(put_context);
    return CUPTI_SUCCESS;
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

#if CUPTI_API_VERSION >= 23
static CUptiResult switch_api(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, bool on)
{
    bool was;

    if (cbid == 0 || cbid >= API_LIMIT)
        return CUPTI_ERROR_INVALID_PARAMETER;
    was = atomic_exchange(&api_enabled[domain][cbid], on);
    if (on && !was)
        atomic_fetch_add(&api_enabled_count, 1);
    if (!on && was)
        atomic_fetch_sub(&api_enabled_count, 1);
    observer_install();
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t enable)
{
    DOOR();
    return result_done(switch_api(CUPTI_CB_DOMAIN_DRIVER_API, cbid, enable));
}

CUptiResult CUPTIAPI cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t enable)
{
    DOOR();
    return result_done(switch_api(CUPTI_CB_DOMAIN_RUNTIME_API, cbid, enable));
}
#endif

void records_disable_all(void)
{
    for (int kind = 0; kind < CUPTI_ACTIVITY_KIND_COUNT; kind++)
        atomic_store(&kind_enabled[kind], false);
    for (int domain = 0; domain <= CUPTI_CB_DOMAIN_RUNTIME_API; domain++)
        for (int cbid = 0; cbid < API_LIMIT; cbid++)
            atomic_store(&api_enabled[domain][cbid], false);
    atomic_store(&api_enabled_count, 0);
}
