/* SPDX-License-Identifier: Apache-2.0 */
/* Captures: fork and join by events, and each way of spoiling one. */
#include "ledger_reader.h"

#include <pthread.h>

#define LEDGER "capture.ledger"
static const void *kernel;
static const dim3 one = {1, 1, 1};
static cudaStream_t first, second;
static cudaEvent_t fork_event, join_event;

static void launch(cudaStream_t stream)
{
    OK(cudaLaunchKernel(kernel, one, one, NULL, 0, stream));
}

static int setup(void **state)
{
    (void)state;
    return cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking) ||
           cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking) ||
           cudaEventCreateWithFlags(&fork_event, cudaEventDisableTiming) ||
           cudaEventCreateWithFlags(&join_event, cudaEventDisableTiming);
}

static int teardown(void **state)
{
    (void)state;
    cudaGetLastError();
    return cudaStreamDestroy(first) || cudaStreamDestroy(second) || cudaEventDestroy(fork_event) ||
           cudaEventDestroy(join_event);
}

static void expect_status(cudaStream_t stream, enum cudaStreamCaptureStatus expected)
{
    enum cudaStreamCaptureStatus status;
    OK(cudaStreamIsCapturing(stream, &status));
    assert_int_equal(status, expected);
}

static void expect_spoilt(cudaStream_t stream)
{
    cudaGraph_t graph = (cudaGraph_t)1;
    expect_status(stream, cudaStreamCaptureStatusInvalidated);
    assert_int_equal(cudaLaunchKernel(kernel, one, one, NULL, 0, stream), cudaErrorStreamCaptureInvalidated);
    assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    assert_null(graph);
    expect_status(stream, cudaStreamCaptureStatusNone);
}

static void fork_and_join_make_a_diamond(void **state)
{
    (void)state;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    size_t nodes = 0, edges = 0, roots = 0, before = ledger_count(LEDGER, "kernel");
    OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal));
    launch(first);
    OK(cudaEventRecord(fork_event, first));
    OK(cudaStreamWaitEvent(second, fork_event, 0));
    expect_status(second, cudaStreamCaptureStatusActive);
    launch(second);
    launch(first);
    OK(cudaEventRecord(join_event, second));
    OK(cudaStreamWaitEvent(first, join_event, 0));
    launch(first);
    OK(cudaStreamEndCapture(first, &graph));
    expect_status(second, cudaStreamCaptureStatusNone);
    assert_int_equal(ledger_count(LEDGER, "kernel"), before); /* nothing has run */

    OK(cudaGraphGetNodes(graph, NULL, &nodes));
    OK(cudaGraphGetRootNodes(graph, NULL, &roots));
    OK(cudaGraphGetEdges(graph, NULL, NULL, NULL, &edges));
    assert_int_equal(nodes, 4);
    assert_int_equal(roots, 1);
    assert_int_equal(edges, 4);

    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, first));
    OK(cudaStreamSynchronize(first));
    json_t *lines = ledger_lines(LEDGER, "kernel", before);
    assert_int_equal(json_array_size(lines), 4);
    uint64_t start[4], end[4];
    for (size_t i = 0; i < 4; i++) {
        start[i] = number_of(json_array_get(lines, i), "start");
        end[i] = number_of(json_array_get(lines, i), "end");
    }
    assert_int_equal(start[1], end[0]); /* the two branches run side by side */
    assert_int_equal(start[2], end[0]);
    assert_int_equal(start[3], end[1]);
    json_decref(lines);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

static void unjoined_work_is_an_error(void **state)
{
    (void)state;
    cudaGraph_t graph;
    OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal));
    launch(first);
    OK(cudaEventRecord(fork_event, first));
    OK(cudaStreamWaitEvent(second, fork_event, 0));
    launch(second);
    assert_int_equal(cudaStreamEndCapture(first, &graph), cudaErrorStreamCaptureUnjoined);
    expect_status(second, cudaStreamCaptureStatusNone);
}

static void info_names_the_frontier(void **state)
{
    (void)state;
    enum cudaStreamCaptureStatus status;
    unsigned long long id = 0;
    cudaGraph_t graph, ended;
    const cudaGraphNode_t *dependencies;
    size_t count = 77;
    OK(cudaStreamGetCaptureInfo(first, &status, &id, &graph, &dependencies, NULL, &count));
    assert_int_equal(status, cudaStreamCaptureStatusNone);
    OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeRelaxed));
    OK(cudaStreamGetCaptureInfo(first, &status, &id, &graph, &dependencies, NULL, &count));
    assert_int_equal(count, 0);
    launch(first);
    OK(cudaStreamGetCaptureInfo(first, &status, &id, &graph, &dependencies, NULL, &count));
    assert_int_equal(status, cudaStreamCaptureStatusActive);
    assert_int_equal(count, 1);
    assert_true(id != 0);
    enum cudaGraphNodeType type;
    OK(cudaGraphNodeGetType(dependencies[0], &type));
    assert_int_equal(type, cudaGraphNodeTypeKernel);
    OK(cudaStreamEndCapture(first, &ended));
    assert_ptr_equal(ended, graph);
    OK(cudaGraphDestroy(ended));
}

static void waiting_for_it_spoils_it(void **state)
{
    (void)state;
    OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal));
    launch(first);
    assert_int_equal(cudaStreamSynchronize(first), cudaErrorStreamCaptureUnsupported);
    expect_spoilt(first);
    OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal));
    assert_int_equal(cudaStreamQuery(first), cudaErrorStreamCaptureUnsupported);
    expect_spoilt(first);
    OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal));
    OK(cudaEventRecord(fork_event, first));
    assert_int_equal(cudaEventQuery(fork_event), cudaErrorCapturedEvent);
    expect_spoilt(first);
}

static void unsafe_calls_depend_on_the_mode(void **state)
{
    (void)state;
    void *memory;
    cudaGraph_t graph;
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    assert_int_equal(cudaMalloc(&memory, 64), cudaErrorStreamCaptureUnsupported);
    expect_spoilt(first);
    OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeRelaxed));
    OK(cudaMalloc(&memory, 64));
    OK(cudaFree(memory));
    OK(cudaStreamEndCapture(first, &graph));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    OK(cudaThreadExchangeStreamCaptureMode(&mode));
    assert_int_equal(mode, cudaStreamCaptureModeGlobal);
    OK(cudaMalloc(&memory, 64));
    OK(cudaThreadExchangeStreamCaptureMode(&mode));
    assert_int_equal(mode, cudaStreamCaptureModeRelaxed);
    OK(cudaStreamEndCapture(first, &graph));
    OK(cudaGraphDestroy(graph));
    OK(cudaFree(memory));
}

static void *allocate(void *result)
{
    void *memory;
    *(cudaError_t *)result = cudaMalloc(&memory, 64);
    return NULL;
}

static void other_threads_matter_in_global_mode(void **state)
{
    (void)state;
    pthread_t thread;
    cudaError_t result;
    cudaGraph_t graph;
    OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal));
    OK(pthread_create(&thread, NULL, allocate, &result));
    OK(pthread_join(thread, NULL));
    OK(result);
    OK(cudaStreamEndCapture(first, &graph));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    OK(pthread_create(&thread, NULL, allocate, &result));
    OK(pthread_join(thread, NULL));
    assert_int_equal(result, cudaErrorStreamCaptureUnsupported);
    expect_spoilt(first);
}

static void other_captures_and_streams_stay_apart(void **state)
{
    (void)state;
    cudaGraph_t graph;
    cudaStream_t blocking;
    enum cudaStreamCaptureStatus status;
    OK(cudaEventRecord(fork_event, second)); /* outside */
    OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal));
    assert_int_equal(cudaStreamWaitEvent(first, fork_event, 0), cudaErrorStreamCaptureIsolation);
    expect_spoilt(first);
    OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal));
    OK(cudaStreamBeginCapture(second, cudaStreamCaptureModeThreadLocal));
    OK(cudaEventRecord(fork_event, first));
    assert_int_equal(cudaStreamWaitEvent(second, fork_event, 0), cudaErrorStreamCaptureMerge);
    expect_spoilt(first);
    expect_spoilt(second);
    assert_int_equal(cudaStreamBeginCapture(NULL, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
    assert_int_equal(cudaStreamEndCapture(first, &graph), cudaErrorIllegalState);
    OK(cudaStreamCreate(&blocking));
    OK(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeThreadLocal));
    assert_int_equal(cudaStreamIsCapturing(NULL, &status), cudaErrorStreamCaptureImplicit); /* asking spoils nothing */
    expect_status(blocking, cudaStreamCaptureStatusActive);
    assert_int_equal(cudaLaunchKernel(kernel, one, one, NULL, 0, NULL), cudaErrorStreamCaptureImplicit);
    expect_spoilt(blocking);
    OK(cudaStreamDestroy(blocking));
}

static void destroying_the_stream_ends_it(void **state)
{
    (void)state;
    cudaStream_t stream;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    launch(stream);
    OK(cudaStreamDestroy(stream));
    OK(cudaDeviceSynchronize()); /* no capture is left to forbid it */
}

int main(void)
{
    ledger_use(LEDGER);
    kernel = stub_of("captured");
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(fork_and_join_make_a_diamond),
        TEST(unjoined_work_is_an_error),
        TEST(info_names_the_frontier),
        TEST(waiting_for_it_spoils_it),
        TEST(unsafe_calls_depend_on_the_mode),
        TEST(other_threads_matter_in_global_mode),
        TEST(other_captures_and_streams_stay_apart),
        TEST(destroying_the_stream_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
