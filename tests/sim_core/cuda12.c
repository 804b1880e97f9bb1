/* SPDX-License-Identifier: Apache-2.0 */
/* What CUDA 12's runtime has besides CUDA 13's: its own numbers, forms without edges, devices by number, old names. */
#include <cuda_runtime_api.h>
#include <stdbool.h>

/* Before the test's header gives the plain names to the forms with edges. */
static cudaError_t plain_edges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count)
{
    return cudaGraphGetEdges(graph, from, to, count);
}

static cudaError_t plain_connect(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, bool remove)
{
    return remove ? cudaGraphRemoveDependencies(graph, from, to, 1) : cudaGraphAddDependencies(graph, from, to, 1);
}

static cudaError_t plain_dependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count)
{
    return cudaGraphNodeGetDependencies(node, nodes, count);
}

static cudaError_t plain_info(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
                              size_t *count)
{
    return cudaStreamGetCaptureInfo(stream, status, id, NULL, NULL, count);
}

#include "ledger_reader.h"

#include <dlfcn.h>

#define LEDGER "cuda12.jsonl"

static void says_which_it_is(void **state)
{
    (void)state;
    int runtime, driver;
    struct cudaDeviceProp properties;
    Dl_info info;
    OK(cudaRuntimeGetVersion(&runtime));
    OK(cudaDriverGetVersion(&driver));
    assert_int_equal(runtime, CUDART_VERSION);
    assert_int_equal(runtime / 1000, 12);
    assert_true(driver >= runtime); /* one driver for all, the newest's */
    OK(cudaGetDeviceProperties(&properties, 0));
    assert_string_equal(properties.name, "Simulated unit");
    assert_int_equal(properties.multiProcessorCount, 100);
    assert_true(properties.clockRate > 0);         /* CUDA 13 dropped the field */
    assert_int_equal(properties.clusterLaunch, 1); /* one of the last */
    assert_true(dladdr((void *)cudaRuntimeGetVersion, &info));
    assert_non_null(strstr(info.dli_fname, "libcudart.so.12"));
}

static void graphs_without_edges(void **state)
{
    (void)state;
    cudaGraph_t graph;
    cudaGraphNode_t nodes[2], from, to;
    size_t count = 1;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddEmptyNode(&nodes[0], graph, NULL, 0));
    OK(cudaGraphAddEmptyNode(&nodes[1], graph, NULL, 0));
    OK(plain_connect(graph, &nodes[0], &nodes[1], false));
    OK(plain_edges(graph, &from, &to, &count));
    assert_int_equal(count, 1);
    assert_ptr_equal(from, nodes[0]);
    assert_ptr_equal(to, nodes[1]);
    OK(plain_dependencies(nodes[1], NULL, &count));
    assert_int_equal(count, 1);
    OK(plain_connect(graph, &nodes[0], &nodes[1], true));
    OK(plain_edges(graph, NULL, NULL, &count));
    assert_int_equal(count, 0);
    OK(cudaGraphDestroy(graph));
}

static void captures_tell_of_themselves_in_both_forms(void **state)
{
    (void)state;
    enum cudaStreamCaptureStatus status;
    unsigned long long second_form = 0, third_form = 0;
    const cudaGraphEdgeData *edges;
    cudaStream_t stream;
    cudaGraph_t graph;
    size_t count = 7;
    const void *kernel = stub_of("captured");
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    OK(cudaLaunchKernel(kernel, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, stream));
    OK(plain_info(stream, &status, &second_form, &count));
    assert_int_equal(status, cudaStreamCaptureStatusActive);
    assert_int_equal(count, 1);
    OK(cudaStreamGetCaptureInfo_v3(stream, &status, &third_form, NULL, NULL, &edges, &count));
    assert_true(second_form && second_form == third_form);
    OK(cudaStreamUpdateCaptureDependencies(stream, NULL, 0, cudaStreamSetCaptureDependencies));
    OK(plain_info(stream, &status, NULL, &count));
    assert_int_equal(count, 0);
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(stream));
}

static void batches_name_the_copy_that_failed(void **state)
{
    (void)state;
    char source[2][16] = {"first", "second"};
    void *device[2], *from[2] = {source[0], source[1]};
    size_t sizes[2] = {16, 16}, index = 0, failed = 7;
    struct cudaMemcpyAttributes attributes = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    OK(cudaMalloc(&device[0], 16));
    OK(cudaMalloc(&device[1], 16));
    OK(cudaMemcpyBatchAsync(device, from, sizes, 2, &attributes, &index, 1, &failed, NULL));
    assert_int_equal(failed, 7);
    OK(cudaDeviceSynchronize());
    char back[16];
    OK(cudaMemcpy(back, device[1], 16, cudaMemcpyDeviceToHost));
    assert_string_equal(back, "second");
    sizes[1] = 1 << 20; /* beyond the allocation */
    assert_int_not_equal(cudaMemcpyBatchAsync(device, from, sizes, 2, &attributes, &index, 1, &failed, NULL), 0);
    assert_int_equal(failed, 1);
    cudaGetLastError();
    OK(cudaFree(device[0]));
    OK(cudaFree(device[1]));
}

static void devices_by_number(void **state)
{
    (void)state;
    void *memory;
    OK(cudaMallocManaged(&memory, 4096, cudaMemAttachGlobal));
    OK(cudaMemAdvise(memory, 4096, cudaMemAdviseSetPreferredLocation, 0));
    OK(cudaMemPrefetchAsync(memory, 4096, cudaCpuDeviceId, NULL));
    assert_int_equal(cudaMemPrefetchAsync(memory, 4096, 3, NULL), cudaErrorInvalidDevice);
    assert_int_equal(cudaMemAdvise(memory, 4096, cudaMemAdviseSetAccessedBy, 3), cudaErrorInvalidDevice);
    OK(cudaMemAdvise(memory, 4096, cudaMemAdviseSetReadMostly, 3)); /* ignores it */
    cudaGetLastError();
    OK(cudaFree(memory));
}

int main(void)
{
    ledger_use(LEDGER);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_which_it_is),
        cmocka_unit_test(graphs_without_edges),
        cmocka_unit_test(captures_tell_of_themselves_in_both_forms),
        cmocka_unit_test(batches_name_the_copy_that_failed),
        cmocka_unit_test(devices_by_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
