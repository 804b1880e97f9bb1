/* SPDX-License-Identifier: Apache-2.0 */
/* A CUPTI client that keeps everything it is told, in arrays made beforehand. Apart from cupti/: an answer must not depend on
 * the code whose assumptions it tests. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/gpu/probe.h"

enum { BUFFER_BYTES = 1 << 20 };

struct cupti_api cupti;
struct heard heard;

static void *array_of(size_t bytes)
{
    void *array = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (array == MAP_FAILED)
        exit(1);
    return array;
}

void cupti_load(void)
{
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8", NULL};
    void *handle = library_open(names);
    if (!handle) {
        fprintf(stderr, "probe: no libcupti found by the loader; set LD_LIBRARY_PATH\n");
        exit(77);
    }
#define F(name)                                                                                                        \
    *(void **)&cupti.name = dlsym(handle, #name);                                                                      \
    if (!cupti.name) {                                                                                                 \
        fprintf(stderr, "probe: this libcupti lacks " #name "\n");                                                     \
        exit(77);                                                                                                      \
    }
    CUPTI_FUNCTIONS(F)
#undef F
    cupti.handle = handle;
    heard.events = array_of(EVENTS_MAX * sizeof *heard.events);
    heard.kernels = array_of(KERNELS_MAX * sizeof *heard.kernels);
    heard.externals = array_of(KERNELS_MAX * sizeof *heard.externals);
}

/* ---- callbacks ---- */

static struct event *new_event(uint32_t domain, uint32_t cbid)
{
    unsigned index = atomic_fetch_add(&heard.event_count, 1);
    if (index >= EVENTS_MAX)
        return NULL;
    struct event *event = &heard.events[index];
    memset(event, 0, sizeof *event);
    event->domain = domain;
    event->cbid = cbid;
    event->tid = (int)syscall(SYS_gettid);
    return event;
}

static void on_resource(uint32_t cbid, const CUpti_ResourceData *data)
{
    struct event *event = new_event(CUPTI_CB_DOMAIN_RESOURCE, cbid);
    const CUpti_GraphData *graph = data->resourceDescriptor;
    if (!event || !graph)
        return;
    if (cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED || cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED)
        cupti.cuptiGetGraphNodeId(graph->node, &event->node_id);
    if (cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED)
        cupti.cuptiGetGraphNodeId(graph->originalNode, &event->original_id);
}

static bool is_runtime_launch(uint32_t domain, uint32_t cbid)
{
    return domain == CUPTI_CB_DOMAIN_RUNTIME_API && (cbid == 211 || cbid == 505 || cbid == 506 || cbid == 430);
}

static void CUPTIAPI on_callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data)
{
    (void)user;
    if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
        on_resource(cbid, data);
        return;
    }
    const CUpti_CallbackData *call = data;
    struct event *event = new_event(domain, cbid);
    if (!event)
        return;
    event->site = call->callbackSite;
    event->correlation_id = call->correlationId;
    if (is_runtime_launch(domain, cbid) && call->functionParams)
        memcpy(event->params, call->functionParams, 40); /* func, gridDim, blockDim, args: 8 + 12 + 12 + 8 */
}

int cupti_subscribe(void)
{
    int result = cupti.cuptiGetVersion(&cupti.version);
    return result ? result : (int)cupti.cuptiSubscribe(&cupti.subscriber, on_callback, NULL);
}

void cupti_callback(CUpti_CallbackDomain domain, uint32_t cbid)
{
    cupti.cuptiEnableCallback(1, cupti.subscriber, domain, cbid);
}

void cupti_launch_callbacks(void)
{
    static const uint32_t cbids[] = {307, 442, 477, 478, 652, 653, 514, 515};
    for (unsigned i = 0; i < sizeof cbids / sizeof *cbids; i++)
        cupti_callback(CUPTI_CB_DOMAIN_DRIVER_API, cbids[i]);
}

const struct event *event_find(uint32_t domain, uint32_t cbid, uint32_t site, uint32_t correlation_id)
{
    for (unsigned i = 0; i < heard.event_count && i < EVENTS_MAX; i++) {
        const struct event *e = &heard.events[i];
        if (e->domain == domain && (!cbid || e->cbid == cbid) && e->site == site &&
            (!correlation_id || e->correlation_id == correlation_id))
            return e;
    }
    return NULL;
}

/* ---- activities ---- */

static void CUPTIAPI on_requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
    *buffer = aligned_alloc(8, BUFFER_BYTES);
    *size = BUFFER_BYTES;
    *max_records = 0;
}

static void on_kernel(const CUpti_ActivityKernel5 *k)
{
    if (k->start == 0 || k->end < k->start)
        heard.invalid_kernels++;
    unsigned index = atomic_fetch_add(&heard.kernel_count, 1);
    if (index < KERNELS_MAX)
        heard.kernels[index] = (struct kernel){
            .correlation_id = k->correlationId,
            .graph_id = k->graphId,
            .node_id = k->graphNodeId,
            .start_ns = k->start,
            .end_ns = k->end,
            .grid = {(uint32_t)k->gridX, (uint32_t)k->gridY, (uint32_t)k->gridZ},
        };
}

static void on_external(const CUpti_ActivityExternalCorrelation *e)
{
    unsigned index = atomic_fetch_add(&heard.external_count, 1);
    if (index < KERNELS_MAX)
        heard.externals[index] = (struct external){e->correlationId, e->externalId};
}

static void CUPTIAPI on_completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    (void)context, (void)stream, (void)size;
    CUpti_Activity *record = NULL;
    heard.buffers++;
    heard.completing_tid = (int)syscall(SYS_gettid);
    while (cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
        if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || record->kind == CUPTI_ACTIVITY_KIND_KERNEL)
            on_kernel((const void *)record);
        else if (record->kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)
            on_external((const void *)record);
        else if (record->kind == CUPTI_ACTIVITY_KIND_DRIVER || record->kind == CUPTI_ACTIVITY_KIND_RUNTIME)
            heard.api_records++;
        else
            heard.other_records++;
    }
    free(buffer);
}

int cupti_record(CUpti_ActivityKind kind)
{
    static bool registered;
    if (!registered) {
        int result = cupti.cuptiActivityRegisterCallbacks(on_requested, on_completed);
        if (result)
            return result;
        registered = true;
    }
    return cupti.cuptiActivityEnable(kind);
}

void cupti_flush(void)
{
    cupti.cuptiActivityFlushAll(0);
    usleep(20000); /* delivery may go on in CUPTI's own thread */
}

void cupti_forget(void)
{
    heard.event_count = heard.kernel_count = heard.external_count = 0;
    heard.buffers = heard.invalid_kernels = heard.api_records = heard.other_records = 0;
}
