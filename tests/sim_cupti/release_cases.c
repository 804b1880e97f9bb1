/* SPDX-License-Identifier: Apache-2.0 */
/* The stand-in as each release of CUPTI (SIMGPU_CUPTI): version, records, callbacks, entry points. */
#include "release_cases.h"
#include "client.h"

#include "sim/cupti/stand_in.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* clang-format off */
/* From cuptiGetVersion() and the debug information of NVIDIA's packages nvidia-cuda-cupti of each release, independent of the
 * stand-in's table. Since: callbacks of updated nodes and buffers by thread from 13.0, cuptiGetGraphExecId from 12.3, the
 * source node from 13.4, functions for one subscriber from 13.2 (names in the release's list of symbols). */
static const struct release {
    const char *name;
    uint32_t version;
    size_t kernel, memcpy, memset;
    bool exec_ids, updates, by_thread, scoped, source;
} releases[] = {
    {"11.8", 18,     200, 88,  88,  false, false, false, false, false},
    {"12.4", 22,     208, 88,  88,  true,  false, false, false, false},
    {"12.8", 26,     208, 96,  88,  true,  false, false, false, false},
    {"12.9", 28,     208, 96,  88,  true,  false, false, false, false},
    {"13.0", 130001, 216, 96,  88,  true,  true,  true,  false, false},
    {"13.2", 130202, 224, 96,  88,  true,  true,  true,  true,  false},
    {"13.3", 130301, 232, 96,  88,  true,  true,  true,  true,  false},
    {"13.4", 130401, 248, 112, 104, true,  true,  true,  true,  true},
};
/* clang-format on */

/* ---- the stand-in's structs and table against the vendor's header of this build ---- */

#if CUPTI_API_VERSION >= 130001
#define VENDOR_KERNEL CUpti_ActivityKernel10
#else
#define VENDOR_KERNEL CUpti_ActivityKernel9
#endif
#define SAME(ours, vendors, field)                                                                                     \
    do {                                                                                                               \
        assert_int_equal(offsetof(struct ours, field), offsetof(vendors, field));                                      \
        assert_int_equal(sizeof(((struct ours *)0)->field), sizeof(((vendors *)0)->field));                            \
    } while (0)
#define SAME_SOURCE(ours, node) assert_int_equal(offsetof(struct ours, sourceGraphNodeId), node)

void records_are_the_headers(void **state)
{
    (void)state;
    SAME(kernel_record, VENDOR_KERNEL, registersPerThread);
    SAME(kernel_record, VENDOR_KERNEL, start);
    SAME(kernel_record, VENDOR_KERNEL, completed);
    SAME(kernel_record, VENDOR_KERNEL, deviceId);
    SAME(kernel_record, VENDOR_KERNEL, streamId);
    SAME(kernel_record, VENDOR_KERNEL, gridX);
    SAME(kernel_record, VENDOR_KERNEL, blockZ);
    SAME(kernel_record, VENDOR_KERNEL, dynamicSharedMemory);
    SAME(kernel_record, VENDOR_KERNEL, correlationId);
    SAME(kernel_record, VENDOR_KERNEL, gridId);
    SAME(kernel_record, VENDOR_KERNEL, name);
    SAME(kernel_record, VENDOR_KERNEL, launchType);
    SAME(kernel_record, VENDOR_KERNEL, graphNodeId);
    SAME(kernel_record, VENDOR_KERNEL, graphId);
    SAME(kernel_record, VENDOR_KERNEL, channelType);
    SAME(kernel_record, VENDOR_KERNEL, clusterZ);
    SAME(kernel_record, VENDOR_KERNEL, localMemoryTotal_v2);
    SAME(kernel_record, VENDOR_KERNEL, maxActiveClusters);
    SAME(memcpy_record, CUpti_ActivityMemcpy6, copyKind);
    SAME(memcpy_record, CUpti_ActivityMemcpy6, bytes);
    SAME(memcpy_record, CUpti_ActivityMemcpy6, correlationId);
    SAME(memcpy_record, CUpti_ActivityMemcpy6, graphNodeId);
    SAME(memcpy_record, CUpti_ActivityMemcpy6, channelType);
    SAME(memcpy_record, CUpti_ActivityMemcpy6, copyCount);
    SAME(memset_record, CUpti_ActivityMemset4, value);
    SAME(memset_record, CUpti_ActivityMemset4, memoryKind);
    SAME(memset_record, CUpti_ActivityMemset4, graphNodeId);
    SAME(memset_record, CUpti_ActivityMemset4, channelType);
    SAME(context_record, CUpti_ActivityContext3, nullStreamId);
    SAME(context_record, CUpti_ActivityContext3, numMultiprocessors);
    SAME(graph_record, CUpti_ActivityGraphTrace2, correlationId);
    SAME(graph_record, CUpti_ActivityGraphTrace2, end);
    SAME(graph_record, CUpti_ActivityGraphTrace2, streamId);
    SAME(graph_record, CUpti_ActivityGraphTrace2, endContextId);
    /* These are in no header that is fetched: the debug information of 13.4.92. */
    SAME_SOURCE(kernel_record, 240);
    SAME_SOURCE(memcpy_record, 104);
    SAME_SOURCE(memset_record, 96);
    assert_int_equal(sizeof(struct kernel_record), 248);
    assert_int_equal(sizeof(struct memcpy_record), 112);
    assert_int_equal(sizeof(struct memset_record), 104);
    assert_int_equal(sizeof(struct context_record), 40);
    for (unsigned i = 0; i < sizeof releases / sizeof *releases; i++)
        if (releases[i].version == CUPTI_API_VERSION) {
            assert_int_equal(releases[i].kernel, sizeof(VENDOR_KERNEL));
            assert_int_equal(releases[i].memcpy, sizeof(CUpti_ActivityMemcpy6));
            assert_int_equal(releases[i].memset, sizeof(CUpti_ActivityMemset4));
            return;
        }
    fail();
}

/* ---- a client that looks at bytes ---- */

static struct {
    size_t count[64], bytes[64];
    uint64_t last_source;
    bool gave[4];
} raw;

static void CUPTIAPI give(uint8_t **buffer, size_t *size, size_t *most)
{
    *size = 1 << 16;
    *most = 0;
    *buffer = aligned_alloc(8, *size);
}

static void CUPTIAPI take(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    CUpti_Activity *record = NULL, *last = NULL;

    (void)context, (void)stream, (void)size;
    for (;;) {
        bool more = cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS;
        uint8_t *end = more ? (uint8_t *)record : buffer + valid;

        if (last && (size_t)(end - (uint8_t *)last) > raw.bytes[last->kind])
            raw.bytes[last->kind] = (size_t)(end - (uint8_t *)last);
        if (!more)
            break;
        raw.count[record->kind]++;
        if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
            memcpy(&raw.last_source, (uint8_t *)record + 240, valid >= 248 ? sizeof raw.last_source : 0);
        last = record;
    }
    free(buffer);
}

static void CUPTIAPI ignore(void *userdata, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data)
{
    (void)userdata, (void)domain, (void)cbid, (void)data;
}

static cudaGraph_t capture_two(cudaStream_t stream)
{
    cudaGraph_t graph;

    CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    CHECK_CUDA(program_launch(0, 1, stream));
    CHECK_CUDA(program_launch(1, 2, stream));
    CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
    return graph;
}

static uint64_t replay(int times)
{
    cudaStream_t stream;
    cudaGraphExec_t exec;
    cudaGraphNode_t nodes[2];
    size_t count = 2;
    uint64_t id = 0;

    CHECK_CUDA(cudaStreamCreate(&stream));
    cudaGraph_t graph = capture_two(stream);
    CHECK_CUDA(cudaGraphGetNodes(graph, nodes, &count));
    CHECK_CUPTI(cuptiGetGraphNodeId((CUgraphNode)nodes[1], &id));
    CHECK_CUDA(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < times; i++)
        CHECK_CUDA(cudaGraphLaunch(exec, stream));
    CHECK_CUDA(cudaStreamSynchronize(stream));
    CHECK_CUPTI(cuptiActivityFlushAll(0));
    return id;
}

void release_behaves(void **state)
{
    const char *name = getenv("SIMGPU_CUPTI");
    const struct release *release = releases;
    CUpti_SubscriberHandle handle;
    uint32_t version = 0;
    size_t bytes = 1;
    uint8_t by_thread = 2;
    void *device;

    (void)state;
    while (strcmp(release->name, name))
        release++;
    CHECK_CUDA(cudaFree(NULL));
    CHECK_CUPTI(cuptiGetVersion(&version));
    assert_int_equal(version, release->version);
    CHECK_CUPTI(cuptiSubscribe(&handle, ignore, NULL));
    assert_int_equal(cuptiEnableCallback(1, handle, CUPTI_CB_DOMAIN_RESOURCE, 22),
                     release->updates ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER);
    if (version >= 21 || !by_thread)
        CHECK_CUPTI(cuptiActivityGetAttribute((CUpti_ActivityAttribute)9, &bytes, &by_thread));
    assert_int_equal(by_thread, version >= 21 ? release->by_thread : 2);
#if CUPTI_API_VERSION >= 130001
    assert_int_equal(cuptiSubscribe_v2(&handle, ignore, NULL, NULL),
                     release->updates ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_ERROR_NOT_SUPPORTED);
#endif
    void *scoped = dlsym(RTLD_DEFAULT, "cuptiActivityEnable_v2");
    if (scoped)
        assert_int_equal(((int (*)(void *, int, void *))scoped)(NULL, 10, NULL),
                         release->scoped ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_ERROR_NOT_SUPPORTED);
    CHECK_CUPTI(cuptiActivityRegisterCallbacks(give, take));
    CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY));
    CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET));
    CHECK_CUDA(cudaMalloc(&device, 64));
    CHECK_CUDA(cudaMemset(device, 1, 64));
    CHECK_CUDA(cudaMemcpy(device, &version, 4, cudaMemcpyHostToDevice));
    uint64_t node = replay(3);
    uint32_t exec_id;
    cudaGraphExec_t exec = NULL;
    assert_int_equal(cuptiGetGraphExecId((CUgraphExec)exec, &exec_id),
                     release->exec_ids ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_ERROR_NOT_SUPPORTED);
    assert_int_equal(raw.count[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL], 6);
    assert_int_equal(raw.bytes[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL], release->kernel);
    assert_int_equal(raw.count[CUPTI_ACTIVITY_KIND_MEMCPY], 1);
    assert_int_equal(raw.bytes[CUPTI_ACTIVITY_KIND_MEMCPY], release->memcpy);
    assert_int_equal(raw.bytes[CUPTI_ACTIVITY_KIND_MEMSET], release->memset);
    if (release->source)
        assert_int_equal(raw.last_source, node);
}

/* One record a launch, none of what is in it, and no way back. */
void graph_level(void **state)
{
    (void)state;
    CHECK_CUDA(cudaFree(NULL));
    CHECK_CUPTI(cuptiActivityRegisterCallbacks(give, take));
    CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE));
    replay(3);
    CHECK_CUDA(program_launch(0, 1, NULL));
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK_CUPTI(cuptiActivityFlushAll(0));
    assert_int_equal(raw.count[CUPTI_ACTIVITY_KIND_GRAPH_TRACE], 3);
    assert_int_equal(raw.bytes[CUPTI_ACTIVITY_KIND_GRAPH_TRACE], strcmp(getenv("SIMGPU_CUPTI"), "11.8") ? 56 : 48);
    assert_int_equal(raw.count[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL], 1);
    CHECK_CUPTI(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE));
    replay(3);
    assert_int_equal(raw.count[CUPTI_ACTIVITY_KIND_GRAPH_TRACE], 3);
    assert_int_equal(raw.count[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL], 1);
}

/* ---- several subscribers, as from 13.3 on ---- */

#if CUPTI_API_VERSION >= 130001
struct params { /* CUpti_SubscriberParams since 13.2 */
    size_t bytes;
    const char *name;
    char *old;
    size_t old_bytes;
    uint8_t several, padding[7];
};
CUptiResult CUPTIAPI cuptiActivityEnable_v2(CUpti_SubscriberHandle handle, CUpti_ActivityKind kind, void *config);
CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks_v2(CUpti_SubscriberHandle handle,
                                                       void (*request)(uint8_t **, size_t *, size_t *, void *),
                                                       void (*complete)(uint8_t *, size_t, size_t, void *));
static size_t taken[2];

static void give_v2(uint8_t **buffer, size_t *size, size_t *most, void *information)
{
    assert_true(*(size_t *)information >= sizeof(size_t));
    give(buffer, size, most);
}

static size_t kernels_in(uint8_t *buffer, size_t valid)
{
    CUpti_Activity *record = NULL;
    size_t count = 0;

    while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
        count += record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    free(buffer);
    return count;
}

static void take_first(uint8_t *buffer, size_t size, size_t valid, void *information)
{
    (void)size, (void)information;
    taken[0] += kernels_in(buffer, valid);
}

static void take_second(uint8_t *buffer, size_t size, size_t valid, void *information)
{
    (void)size, (void)information;
    taken[1] += kernels_in(buffer, valid);
}

static void run_kernels(int count)
{
    for (int i = 0; i < count; i++)
        CHECK_CUDA(program_launch(0, 1, NULL));
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK_CUPTI(cuptiActivityFlushAll(0));
}

void subscribers_share(void **state)
{
    CUpti_SubscriberHandle first, second, third;
    char old[64] = "";
    struct params params = {.bytes = sizeof params, .name = "one", .several = 1};

    (void)state;
    CHECK_CUDA(cudaFree(NULL));
    CHECK_CUPTI(cuptiSubscribe_v2(&first, ignore, NULL, (CUpti_SubscriberParams *)&params));
    params = (struct params){sizeof params, "two", old, sizeof old, 1, {0}};
    CHECK_CUPTI(cuptiSubscribe_v2(&second, ignore, NULL, (CUpti_SubscriberParams *)&params));
    assert_string_equal(old, "one");
    assert_int_equal(cuptiSubscribe(&third, ignore, NULL), CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    assert_int_equal(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY), CUPTI_ERROR_NOT_COMPATIBLE);
    CHECK_CUPTI(cuptiActivityRegisterCallbacks_v2(first, give_v2, take_first));
    CHECK_CUPTI(cuptiActivityRegisterCallbacks_v2(second, give_v2, take_second));
    CHECK_CUPTI(cuptiActivityEnable_v2(first, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, NULL));
    run_kernels(3);
    CHECK_CUPTI(cuptiActivityEnable_v2(second, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, NULL));
    run_kernels(4);
    CHECK_CUPTI(cuptiUnsubscribe(first));
    run_kernels(5);
    assert_int_equal(taken[0], 7);
    assert_int_equal(taken[1], 9);
}
#else
void subscribers_share(void **state)
{
    (void)state; /* the functions are in no library of 12 */
}
#endif
