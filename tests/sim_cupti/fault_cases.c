/* SPDX-License-Identifier: Apache-2.0 */
/* What SIMGPU_CUPTI_FAULT makes go wrong, one fault a process. */
#include "client.h"
#include "release_cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static uint64_t realtime_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void run(int count)
{
    for (int i = 0; i < count; i++)
        CHECK_CUDA(program_launch(0, 1, NULL));
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK_CUPTI(cuptiActivityFlushAll(0));
}

static const struct seen_record *kernel(size_t index)
{
    const struct seen_record *record = client_nth(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, index);

    assert_non_null(record);
    return record;
}

/* leak:3, four replays of two kernels: three are right, then by turns upside down and 0. */
void leak_sets_in(void **state)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    (void)state;
    client_start();
    CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    run(2); /* not of a graph: not counted */
    CHECK_CUDA(cudaStreamCreate(&stream));
    CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    CHECK_CUDA(program_launch(0, 1, stream));
    CHECK_CUDA(program_launch(1, 2, stream));
    CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
    CHECK_CUDA(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 4; i++)
        CHECK_CUDA(cudaGraphLaunch(exec, stream));
    run(1);
    for (size_t i = 0; i < 5; i++)
        assert_true(kernel(i)->start && kernel(i)->end > kernel(i)->start);
    for (size_t i = 5; i < 10; i++)
        if (i % 2 == 1)
            assert_true(kernel(i)->start > kernel(i)->end && kernel(i)->end);
        else
            assert_true(!kernel(i)->start && !kernel(i)->end);
    assert_true(kernel(10)->end > kernel(10)->start);
    client_stop();
}

/* foreign:2,inverted:3 */
void foreign_and_inverted(void **state)
{
    size_t foreign = 0, inverted = 0;

    (void)state;
    client_start();
    CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    run(6);
    for (size_t i = 0; i < 9; i++) {
        foreign += kernel(i)->correlation_id >> 30 & 1;
        inverted += !(kernel(i)->correlation_id >> 30 & 1) && kernel(i)->end < kernel(i)->start;
    }
    assert_null(client_nth(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 9));
    assert_int_equal(foreign, 3);
    assert_int_equal(inverted, 2);
    client_stop();
}

/* A WHILE of one kernel runs three times (the unit device); only the first is recorded. */
void first_iteration_only(void **state)
{
    cudaStream_t stream;
    cudaGraph_t graph, body;
    cudaGraphExec_t exec;
    cudaGraphNode_t node;
    struct cudaGraphNodeParams params = {.type = cudaGraphNodeTypeConditional};

    (void)state;
    client_start();
    CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    CHECK_CUDA(cudaStreamCreate(&stream));
    CHECK_CUDA(cudaGraphCreate(&graph, 0));
    params.conditional.type = cudaGraphCondTypeWhile;
    params.conditional.size = 1;
    CHECK_CUDA(cudaGraphConditionalHandleCreate(&params.conditional.handle, graph, 1, cudaGraphCondAssignDefault));
#if CUDART_VERSION >= 13000
    CHECK_CUDA(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &params));
#else
    CHECK_CUDA(cudaGraphAddNode(&node, graph, NULL, 0, &params));
#endif
    body = params.conditional.phGraph_out[0];
    CHECK_CUDA(cudaStreamBeginCaptureToGraph(stream, body, NULL, NULL, 0, cudaStreamCaptureModeRelaxed));
    CHECK_CUDA(program_launch(0, 1, stream));
    CHECK_CUDA(cudaStreamEndCapture(stream, &body));
    CHECK_CUDA(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK_CUDA(cudaGraphLaunch(exec, stream));
    CHECK_CUDA(cudaStreamSynchronize(stream));
    CHECK_CUPTI(cuptiActivityFlushAll(0));
    assert_int_equal(client_count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), getenv("SIMGPU_CUPTI_FAULT") ? 1 : 3);
    client_stop();
}

void first_period_only(void **state)
{
    (void)state;
    client_start();
    CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    run(2);
    CHECK_CUPTI(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    run(2);
    assert_int_equal(client_count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 2);
    client_stop();
}

void dropped_unknown(void **state)
{
    size_t count = 7;

    (void)state;
    client_start();
    assert_int_equal(cuptiActivityGetNumDroppedRecords(NULL, 0, &count), CUPTI_ERROR_NOT_COMPATIBLE);
    assert_int_equal(count, 7);
    CHECK_CUPTI(cuptiActivityGetNumDroppedRecords(NULL, 0, &count));
    assert_int_equal(count, 12345);
    CHECK_CUPTI(cuptiActivityGetNumDroppedRecords(NULL, 0, &count));
    assert_int_equal(count, 0);
    client_stop();
}

/* skew:5000000000: records and timestamps alike. */
void clock_is_ahead(void **state)
{
    uint64_t stamp, before = realtime_ns();

    (void)state;
    client_start();
    CHECK_CUPTI(cuptiGetTimestamp(&stamp));
    assert_true(stamp >= before + 5000000000u && stamp < before + 8000000000u);
    CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    run(1);
    assert_true(kernel(0)->start > stamp);
    client_stop();
}

/* early:1000000000, a second: before the call that launched it. */
void kernels_are_early(void **state)
{
    (void)state;
    client_start();
    CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME));
    run(1);
    assert_true(kernel(0)->start < client_nth(CUPTI_ACTIVITY_KIND_RUNTIME, 0)->start);
    client_stop();
}

static uint8_t *held;
static size_t held_valid;

static void CUPTIAPI give_one(uint8_t **buffer, size_t *size, size_t *most)
{
    *size = 4096;
    *most = 0;
    *buffer = held = aligned_alloc(8, *size);
}

static void CUPTIAPI take_one(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    (void)context, (void)stream, (void)buffer, (void)size;
    held_valid = valid;
}

/* late-write:20: what CUPTI holds it may write to after it was told to stop. */
void late_writes(void **state)
{
    struct timespec pause = {0, 200000000};

    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); /* what is asked for here is a race */
#endif
    CHECK_CUDA(cudaFree(NULL));
    CHECK_CUPTI(cuptiActivityRegisterCallbacks(give_one, take_one));
    CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    CHECK_CUDA(program_launch(0, 1, NULL));
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK_CUPTI(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    assert_int_equal(held[4095], 0);
    nanosleep(&pause, NULL);
    assert_int_equal(held[4095], 0xc6);
    CHECK_CUPTI(cuptiActivityFlushAll(0));
    assert_true(held_valid > 0);
}

/* As measured without a driver: 15 before 13.0, then 999; the version is told until 13.3. */
void stub_refuses(void **state)
{
    CUpti_SubscriberHandle handle;
    uint32_t version = 0;
    const char *release = getenv("SIMGPU_CUPTI");
    bool old = !strncmp(release, "12", 2), dumb = !strcmp(release, "13.3");
    CUptiResult refused = old ? CUPTI_ERROR_NOT_INITIALIZED : CUPTI_ERROR_UNKNOWN;

    (void)state;
    CHECK_CUDA(cudaFree(NULL));
    assert_int_equal(cuptiSubscribe(&handle, NULL, NULL), refused);
    assert_int_equal(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), refused);
    assert_int_equal(cuptiActivityFlushAll(0), refused);
    assert_int_equal(cuptiGetVersion(&version), dumb ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS);
    assert_int_equal(version != 0, !dumb);
}

void strings_fail(void **state)
{
    const char *text = "as it was";

    (void)state;
    assert_int_equal(cuptiGetResultString(CUPTI_ERROR_UNKNOWN, &text), CUPTI_ERROR_UNKNOWN);
    assert_string_equal(text, "as it was");
}
