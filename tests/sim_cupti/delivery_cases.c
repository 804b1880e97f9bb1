/* SPDX-License-Identifier: Apache-2.0 */
/* How records reach the client: what is lost and counted, what comes without a flush, and what a flush gives. */
#include "delivery_cases.h"
#include "client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>
/* cmocka needs the four above it. */
#include <cmocka.h>

/* The environment drops every 10th record. */
void drops_are_counted(void **state)
{
    size_t dropped = 0;

    (void)state;
    client_start();
    CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    for (int i = 0; i < 105; i++)
        CHECK_CUDA(program_launch(0, 1, NULL));
    CHECK_CUPTI(cuptiActivityFlushAll(0));
    CHECK_CUPTI(cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
    assert_int_equal(dropped, 10);
    assert_int_equal(client_count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 95);
    CHECK_CUPTI(cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
    assert_int_equal(dropped, 0);
    client_stop();
}

void refused_buffers(void **state)
{
    size_t dropped = 0;

    (void)state;
    client_start();
    client.refuse_buffers = true;
    CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    for (int i = 0; i < 7; i++)
        CHECK_CUDA(program_launch(0, 1, NULL));
    CHECK_CUPTI(cuptiActivityFlushAll(0));
    CHECK_CUPTI(cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
    assert_int_equal(dropped, 7);
    assert_int_equal(client.record_count, 0);
    client.refuse_buffers = false;
    CHECK_CUDA(program_launch(0, 1, NULL));
    CHECK_CUPTI(cuptiActivityFlushAll(0));
    assert_int_equal(client_count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 1);
    client_stop();
}

/* The environment takes the times of every 3rd kernel away. */
void zero_times(void **state)
{
    size_t without = 0;

    (void)state;
    client_start();
    CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    for (int i = 0; i < 9; i++)
        CHECK_CUDA(program_launch(0, 1, NULL));
    CHECK_CUPTI(cuptiActivityFlushAll(0));
    for (size_t i = 0; i < 9; i++) {
        const struct seen_record *r = client_nth(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, i);

        without += r->start == 0 && r->end == 0;
    }
    assert_int_equal(without, 3);
    client_stop();
}

/* Full buffers come by the worker, without a flush. */
void worker_delivers(void **state)
{
    size_t before_flush;

    (void)state;
    client.buffer_bytes = 2048;
    client_start();
    CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    for (int i = 0; i < 100; i++)
        CHECK_CUDA(program_launch(0, 1, NULL));
    CHECK_CUDA(cudaDeviceSynchronize());
    for (int wait = 0; wait < 30000 && client_buffers_completed() < 11; wait++) /* a bound for a hang, not a speed */
        usleep(1000);
    before_flush = client_buffers_completed();
    assert_int_equal(before_flush, 11); /* nine records of 216 bytes each; the twelfth holds one */
    CHECK_CUPTI(cuptiActivityFlushAll(0));
    assert_int_equal(client.buffers_completed, 12);
    assert_int_equal(client_count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 100);
    client_stop();
}

/* The environment has a device whose kernels take 0.2 s, and the real clock. */
void only_what_has_ended(void **state)
{
    (void)state;
    client_start();
    CHECK_CUDA(cudaFree(NULL));
    CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    CHECK_CUDA(program_launch(0, 1, NULL));
    CHECK_CUPTI(cuptiActivityFlushAll(0));
    assert_int_equal(client_count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 0);
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK_CUPTI(cuptiActivityFlushAll(0));
    assert_int_equal(client_count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 1);
    client_stop();
}

static void CUPTIAPI flush_at_exit(void *userdata, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data)
{
    const CUpti_CallbackData *call = data;

    (void)domain;
    (void)cbid;
    if (call->callbackSite == CUPTI_API_EXIT)
        *(CUptiResult *)userdata = cuptiActivityFlushAll(0);
}

/* As the documentation allows: from the callback of an API call. */
void flush_inside_a_callback(void **state)
{
    CUpti_SubscriberHandle handle;
    CUptiResult flushed = CUPTI_ERROR_UNKNOWN;

    (void)state;
    client_start();
    CHECK_CUPTI(cuptiUnsubscribe(client.subscriber));
    CHECK_CUPTI(cuptiSubscribe(&handle, flush_at_exit, &flushed));
    CHECK_CUPTI(cuptiEnableCallback(1, handle, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
    CHECK_CUPTI(cuptiEnableCallback(1, handle, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx));
    CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    for (int i = 0; i < 3; i++)
        CHECK_CUDA(program_launch(0, 1, NULL));
    assert_int_equal(flushed, CUPTI_SUCCESS);
    assert_int_equal(client_count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 3);
    client.subscriber = handle;
    client_stop();
}
