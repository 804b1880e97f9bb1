/* SPDX-License-Identifier: Apache-2.0 */
#include "client.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct client client;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- the program: three kernels, registered as a compiler's host code does ---- */

extern void **__cudaRegisterFatBinary(void *wrapper);
extern void __cudaRegisterFatBinaryEnd(void **handle);
extern void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int threads,
                                   void *tid, void *bid, void *block, void *grid, int *warp);

static char host_stubs[3]; /* their addresses stand for the kernels */
static char *const kernel_names[3] = {"_Z5firstPf", "_Z6secondPf", "_Z5thirdPf"};

static void register_kernels(void)
{
    static struct {
        int magic, version;
        const void *data;
        void *unused;
    } wrapper = {0x466243b1, 1, NULL, NULL};
    void **handle = __cudaRegisterFatBinary(&wrapper);

    for (int i = 0; i < 3; i++)
        __cudaRegisterFunction(handle, &host_stubs[i], kernel_names[i], kernel_names[i], -1, NULL, NULL, NULL, NULL,
                               NULL);
    __cudaRegisterFatBinaryEnd(handle);
}

cudaError_t program_launch(int which, unsigned grid, cudaStream_t stream)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    float *pointer = NULL;
    void *args[] = {&pointer};
    struct dim3 blocks = {grid, 1, 1}, threads = {64, 1, 1};

    pthread_once(&once, register_kernels);
    return cudaLaunchKernel(&host_stubs[which], blocks, threads, args, 0, stream);
}

/* ---- the client ---- */

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *max_records)
{
    pthread_mutex_lock(&lock);
    client.buffers_requested++;
    *size = client.buffer_bytes;
    pthread_mutex_unlock(&lock);
    *max_records = 0;
    *buffer = client.refuse_buffers ? NULL : aligned_alloc(8, *size);
    if (*buffer)
        memset(*buffer, 0xaa, *size);
}

/* A library fills the newest record that it has, whatever its client was built with. */
#if CUPTI_API_VERSION >= 130000
#define NEWEST_KERNEL CUpti_ActivityKernel10
#else
#define NEWEST_KERNEL CUpti_ActivityKernel9
#endif

static void note_record(const CUpti_Activity *activity)
{
    struct seen_record *seen = &client.records[client.record_count++];

    memset(seen, 0, sizeof *seen);
    seen->kind = activity->kind;
    switch (activity->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
        const NEWEST_KERNEL *r = (const void *)activity;

        *seen = (struct seen_record){.kind = r->kind,
                                     .start = r->start,
                                     .end = r->end,
                                     .name = r->name,
                                     .graph_node_id = r->graphNodeId,
                                     .correlation_id = r->correlationId,
                                     .stream = r->streamId,
                                     .graph_id = r->graphId,
                                     .grid = {r->gridX, r->gridY, r->gridZ}};
        break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
        const CUpti_ActivityMemcpy6 *r = (const void *)activity;

        *seen = (struct seen_record){.kind = r->kind,
                                     .start = r->start,
                                     .end = r->end,
                                     .bytes = r->bytes,
                                     .correlation_id = r->correlationId,
                                     .stream = r->streamId};
        break;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
        const CUpti_ActivityMemset4 *r = (const void *)activity;

        *seen = (struct seen_record){.kind = r->kind,
                                     .start = r->start,
                                     .end = r->end,
                                     .bytes = r->bytes,
                                     .correlation_id = r->correlationId,
                                     .stream = r->streamId};
        break;
    }
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: {
        const CUpti_ActivityAPI *r = (const void *)activity;

        *seen = (struct seen_record){.kind = r->kind,
                                     .start = r->start,
                                     .end = r->end,
                                     .cbid = r->cbid,
                                     .correlation_id = r->correlationId,
                                     .thread_id = r->threadId};
        break;
    }
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
        const CUpti_ActivityExternalCorrelation *r = (const void *)activity;

        *seen = (struct seen_record){.kind = r->kind,
                                     .external_id = r->externalId,
                                     .external_kind = r->externalKind,
                                     .correlation_id = r->correlationId};
        break;
    }
    default:
        break;
    }
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    CUpti_Activity *record = NULL;

    (void)context;
    (void)stream;
    (void)size;
    pthread_mutex_lock(&lock);
    client.buffers_completed++;
    while (client.record_count < RECORD_LIMIT && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
        note_record(record);
    pthread_mutex_unlock(&lock);
    free(buffer);
}

static void note_resource(struct seen_callback *seen, const CUpti_ResourceData *data)
{
    const CUpti_GraphData *graph = data->resourceDescriptor;

    if (seen->cbid < CUPTI_CBID_RESOURCE_GRAPH_CREATED || !graph)
        return;
    if (graph->node)
        cuptiGetGraphNodeId(graph->node, &seen->node_id);
    if (graph->originalNode)
        cuptiGetGraphNodeId(graph->originalNode, &seen->original_node_id);
    if (graph->graph)
        cuptiGetGraphId(graph->graph, &seen->graph_id);
    if (graph->graphExec)
        cuptiGetGraphExecId(graph->graphExec, &seen->exec_id);
}

static void CUPTIAPI on_callback(void *userdata, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data)
{
    struct client *own = userdata;
    struct seen_callback *seen;

    pthread_mutex_lock(&lock);
    if (own->callback_count < CALLBACK_LIMIT) {
        seen = &own->callbacks[own->callback_count++];
        memset(seen, 0, sizeof *seen);
        seen->domain = domain;
        seen->cbid = cbid;
        if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
            note_resource(seen, data);
        } else {
            const CUpti_CallbackData *call = data;

            seen->site = call->callbackSite;
            seen->function = call->functionName;
            seen->symbol = call->symbolName;
            seen->correlation_id = call->correlationId;
            if (call->callbackSite == CUPTI_API_ENTER)
                *call->correlationData = 0x1000000000ull + call->correlationId;
            else
                seen->correlation_data = *call->correlationData;
        }
    }
    pthread_mutex_unlock(&lock);
}

void client_start(void)
{
    client.records = calloc(RECORD_LIMIT, sizeof *client.records);
    client.callbacks = calloc(CALLBACK_LIMIT, sizeof *client.callbacks);
    client.buffer_bytes = client.buffer_bytes ? client.buffer_bytes : 65536;
    if (!client.records || !client.callbacks || cuptiSubscribe(&client.subscriber, on_callback, &client) ||
        cuptiActivityRegisterCallbacks(give_buffer, take_buffer)) {
        fprintf(stderr, "client_start: cannot subscribe\n");
        exit(1);
    }
}

size_t client_buffers_completed(void)
{
    size_t count;

    pthread_mutex_lock(&lock);
    count = client.buffers_completed;
    pthread_mutex_unlock(&lock);
    return count;
}

void client_stop(void)
{
    cuptiActivityFlushAll(0);
    cuptiUnsubscribe(client.subscriber);
    cuptiFinalize();
    free(client.records);
    free(client.callbacks);
    memset(&client, 0, sizeof client);
}

size_t client_count(CUpti_ActivityKind kind)
{
    size_t count = 0;

    for (size_t i = 0; i < client.record_count; i++)
        count += client.records[i].kind == kind;
    return count;
}

const struct seen_record *client_nth(CUpti_ActivityKind kind, size_t n)
{
    for (size_t i = 0; i < client.record_count; i++)
        if (client.records[i].kind == kind && n-- == 0)
            return &client.records[i];
    return NULL;
}

void client_dump_kernels(void)
{
    const char *path = getenv("SIM_CUPTI_RECORDS");
    FILE *file = path ? fopen(path, "w") : NULL;

    if (!file)
        return;
    for (size_t i = 0; i < client.record_count; i++) {
        const struct seen_record *r = &client.records[i];

        if (r->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
            fprintf(file, "%s %d,%d,%d %u %u %llu %llu %llu\n", r->name, r->grid[0], r->grid[1], r->grid[2], r->stream,
                    r->graph_id, (unsigned long long)r->graph_node_id, (unsigned long long)r->start,
                    (unsigned long long)r->end);
    }
    fclose(file);
}
