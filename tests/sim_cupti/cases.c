/* SPDX-License-Identifier: Apache-2.0 */
/* What CUPTI's documentation promises, asked of the stand-in. Each case runs in a process of its own (its name is the
 * argument), as a process has one subscriber and its environment is read once. */
#include "client.h"
#include "delivery_cases.h"
#include "release_cases.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
/* cmocka needs the four above it. */
#include <cmocka.h>

static void CUPTIAPI nothing(void *userdata, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data)
{
    (void)userdata;
    (void)domain;
    (void)cbid;
    (void)data;
}

static void subscriber_rules(void **state)
{
    CUpti_SubscriberHandle first = NULL, second = NULL;
    uint32_t on = 7, version = 0;

    (void)state;
    CHECK_CUPTI(cuptiGetVersion(&version));
    assert_int_equal(version, CUPTI_API_VERSION);
    assert_int_equal(cuptiSubscribe(NULL, nothing, NULL), CUPTI_ERROR_INVALID_PARAMETER);
    assert_int_equal(cuptiSubscribe(&first, NULL, NULL), CUPTI_ERROR_INVALID_PARAMETER);
    CHECK_CUPTI(cuptiSubscribe(&first, nothing, NULL));
    assert_int_equal(cuptiSubscribe(&second, nothing, NULL), CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    assert_int_equal(cuptiGetLastError(), CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    assert_int_equal(cuptiGetLastError(), CUPTI_SUCCESS);
    assert_int_equal(cuptiEnableCallback(1, second, CUPTI_CB_DOMAIN_DRIVER_API, 307), CUPTI_ERROR_INVALID_PARAMETER);
    assert_int_equal(cuptiEnableCallback(1, first, CUPTI_CB_DOMAIN_DRIVER_API, 100000), CUPTI_ERROR_INVALID_PARAMETER);
    CHECK_CUPTI(cuptiEnableCallback(1, first, CUPTI_CB_DOMAIN_DRIVER_API, 307));
    CHECK_CUPTI(cuptiGetCallbackState(&on, first, CUPTI_CB_DOMAIN_DRIVER_API, 307));
    assert_int_equal(on, 1);
    CHECK_CUPTI(cuptiGetCallbackState(&on, first, CUPTI_CB_DOMAIN_DRIVER_API, 308));
    assert_int_equal(on, 0);
    CHECK_CUPTI(cuptiUnsubscribe(first));
    assert_int_equal(cuptiUnsubscribe(first), CUPTI_ERROR_INVALID_PARAMETER);
    CHECK_CUPTI(cuptiSubscribe(&second, nothing, NULL));
    CHECK_CUPTI(cuptiGetCallbackState(&on, second, CUPTI_CB_DOMAIN_DRIVER_API, 307));
    assert_int_equal(on, 0);
    CHECK_CUPTI(cuptiUnsubscribe(second));
}

#if CUPTI_API_VERSION >= 130000
static void subscribers_have_names(void **state)
{
    CUpti_SubscriberHandle first, second;
    char old[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
    CUpti_SubscriberParams params = {.structSize = CUpti_SubscriberParams_STRUCT_SIZE, .subscriberName = "first"};

    (void)state;
    CHECK_CUPTI(cuptiSubscribe_v2(&first, nothing, NULL, &params));
    params.subscriberName = "second";
    params.oldSubscriberName = old;
    params.oldSubscriberSize = sizeof old;
    assert_int_equal(cuptiSubscribe_v2(&second, nothing, NULL, &params),
                     CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    assert_string_equal(old, "first");
    assert_int_equal(cuptiSubscribe_v2(&second, nothing, NULL, NULL), CUPTI_ERROR_INVALID_PARAMETER);
    CHECK_CUPTI(cuptiUnsubscribe(first));
}
#else
/* They came with CUDA 13: who looks for the function must not find it before. */
static void subscribers_have_names(void **state)
{
    void *library = dlopen("libcupti.so.12", RTLD_NOW | RTLD_NOLOAD);

    (void)state;
    assert_non_null(library);
    assert_non_null(dlsym(library, "cuptiSubscribe"));
    assert_null(dlsym(library, "cuptiSubscribe_v2"));
    dlclose(library);
}
#endif

/* The environment injects one fault into each of these. */
static void faults(void **state)
{
    CUpti_SubscriberHandle handle;

    (void)state;
    assert_int_equal(cuptiSubscribe(&handle, nothing, NULL), CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    assert_int_equal(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
}

static void names_and_settings(void **state)
{
    const char *text = NULL;
    size_t bytes = sizeof(size_t), value = 0;
    uint8_t small = 1;

    (void)state;
    CHECK_CUPTI(cuptiGetResultString(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, &text));
    assert_string_equal(text, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED");
    assert_int_equal(cuptiGetResultString((CUptiResult)500, &text), CUPTI_ERROR_INVALID_PARAMETER);
    CHECK_CUPTI(
        cuptiGetCallbackName(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, &text));
    assert_string_equal(text, "cudaLaunchKernel_v7000");
    CHECK_CUPTI(cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, 307, &text));
    assert_string_equal(text, "cuLaunchKernel");
    CHECK_CUPTI(cuptiActivityGetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, &bytes, &value));
    assert_int_equal(value, 250);
    value = 20;
    CHECK_CUPTI(cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, &bytes, &value));
    value = 0;
    CHECK_CUPTI(cuptiActivityGetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, &bytes, &value));
    assert_int_equal(value, 20);
    bytes = 1;
    assert_int_equal(cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &bytes, &small),
                     CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT);
    assert_int_equal(cuptiActivityEnable((CUpti_ActivityKind)1000), CUPTI_ERROR_INVALID_KIND);
    assert_int_equal(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_PC_SAMPLING), CUPTI_ERROR_NOT_SUPPORTED);
    assert_int_equal(cuptiActivityConfigurePCSampling(NULL, NULL), CUPTI_ERROR_NOT_SUPPORTED);
}

/* ---- callbacks ---- */

static bool is_launch(uint32_t driver_cbid)
{
    return driver_cbid == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel ||
           driver_cbid == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx;
}

static void nested_callbacks(void **state)
{
    const struct seen_callback *c;

    (void)state;
    client_start();
    CHECK_CUDA(cudaFree(NULL));
    CHECK_CUPTI(cuptiEnableCallback(1, client.subscriber, CUPTI_CB_DOMAIN_RUNTIME_API,
                                    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000));
    CHECK_CUPTI(cuptiEnableDomain(1, client.subscriber, CUPTI_CB_DOMAIN_DRIVER_API));
    for (int i = 0; i < 2; i++) {
        client.callback_count = 0;
        CHECK_CUDA(program_launch(i, 5, NULL));
        c = client.callbacks;
        assert_int_equal(client.callback_count, 4); /* runtime in, driver in, driver out, runtime out */
        assert_int_equal(c[0].domain, CUPTI_CB_DOMAIN_RUNTIME_API);
        assert_int_equal(c[1].domain, CUPTI_CB_DOMAIN_DRIVER_API);
        assert_true(is_launch(c[1].cbid) && c[2].cbid == c[1].cbid);
        assert_int_equal(c[2].domain, CUPTI_CB_DOMAIN_DRIVER_API);
        assert_int_equal(c[3].domain, CUPTI_CB_DOMAIN_RUNTIME_API);
        assert_true(c[0].site == CUPTI_API_ENTER && c[1].site == CUPTI_API_ENTER);
        assert_true(c[2].site == CUPTI_API_EXIT && c[3].site == CUPTI_API_EXIT);
        for (int j = 1; j < 4; j++)
            assert_int_equal(c[j].correlation_id, c[0].correlation_id);
        assert_int_equal(c[2].correlation_data, 0x1000000000ull + c[0].correlation_id);
        assert_int_equal(c[3].correlation_data, 0x1000000000ull + c[0].correlation_id);
        assert_string_equal(c[0].function, "cudaLaunchKernel_v7000");
        assert_string_equal(c[1].symbol, i == 0 ? "_Z5firstPf" : "_Z6secondPf");
    }
    CHECK_CUPTI(cuptiEnableDomain(0, client.subscriber, CUPTI_CB_DOMAIN_DRIVER_API));
    client.callback_count = 0;
    CHECK_CUDA(program_launch(2, 5, NULL));
    assert_int_equal(client.callback_count, 2);
    client_stop();
}

static void context_callbacks(void **state)
{
    size_t contexts = 0, inits = 0;

    (void)state;
    client_start();
    CHECK_CUPTI(cuptiEnableDomain(1, client.subscriber, CUPTI_CB_DOMAIN_RESOURCE));
    CHECK_CUDA(program_launch(0, 1, NULL));
    for (size_t i = 0; i < client.callback_count; i++) {
        contexts += client.callbacks[i].cbid == CUPTI_CBID_RESOURCE_CONTEXT_CREATED;
        inits += client.callbacks[i].cbid == CUPTI_CBID_RESOURCE_CU_INIT_FINISHED;
    }
    assert_int_equal(contexts, 1);
    assert_int_equal(inits, 1);
    client_stop();
}

/* ---- records ---- */

static void kernel_records(void **state)
{
    enum { LAUNCHES = 50 };
    cudaStream_t stream;
    void *device;
    char host[256] = "";
    uint64_t before, after;

    (void)state;
    client_start();
    CHECK_CUPTI(cuptiGetTimestamp(&before));
    CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY));
    CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET));
    CHECK_CUPTI(cuptiEnableCallback(1, client.subscriber, CUPTI_CB_DOMAIN_RUNTIME_API,
                                    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000));
    CHECK_CUDA(cudaStreamCreate(&stream));
    CHECK_CUDA(cudaMalloc(&device, sizeof host));
    assert_int_equal(client.buffers_requested, 0);
    CHECK_CUDA(program_launch(0, 1, NULL));
    assert_true(client.buffers_requested > 0); /* with the first launch, not with the flush */
    for (int i = 1; i < LAUNCHES; i++)
        CHECK_CUDA(program_launch(i % 3, (unsigned)i + 1, i % 2 ? stream : NULL));
    CHECK_CUDA(cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaMemsetAsync(device, 1, 100, stream));
    CHECK_CUPTI(cuptiActivityFlushAll(0)); /* without a synchronisation before it */
    assert_int_equal(client_count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), LAUNCHES);
    assert_int_equal(client_count(CUPTI_ACTIVITY_KIND_MEMCPY), 1);
    assert_int_equal(client_nth(CUPTI_ACTIVITY_KIND_MEMCPY, 0)->bytes, sizeof host);
    assert_int_equal(client_count(CUPTI_ACTIVITY_KIND_MEMSET), 1);
    assert_int_equal(client_nth(CUPTI_ACTIVITY_KIND_MEMSET, 0)->bytes, 100);
    CHECK_CUPTI(cuptiGetTimestamp(&after));
    for (size_t i = 0; i < LAUNCHES; i++) {
        const struct seen_record *r = client_nth(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, i);

        assert_true(r->start >= before && r->end > r->start);
        assert_true(r->end < after + 1000000000ull);
    }
    client_dump_kernels();
    client_stop();
}

static void external_correlation(void **state)
{
    uint64_t popped = 0;
    const struct seen_record *e, *k;

    (void)state;
    client_start();
    CHECK_CUDA(cudaFree(NULL));
    CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION));
    CHECK_CUPTI(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, 41));
    CHECK_CUDA(program_launch(0, 1, NULL)); /* no API kind is on: no record */
    CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME));
    CHECK_CUPTI(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, 42));
    CHECK_CUPTI(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 7));
    CHECK_CUDA(program_launch(1, 1, NULL));
    CHECK_CUPTI(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, &popped));
    assert_int_equal(popped, 42);
    CHECK_CUPTI(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, &popped));
    assert_int_equal(popped, 41);
    assert_int_equal(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, &popped),
                     CUPTI_ERROR_QUEUE_EMPTY);
    CHECK_CUPTI(cuptiActivityFlushAll(0));
    assert_int_equal(client_count(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION), 2);
    k = client_nth(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 1);
    e = client_nth(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, 0);
    assert_true(e->external_kind == CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0 && e->external_id == 7);
    assert_int_equal(e->correlation_id, k->correlation_id);
    e = client_nth(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, 1);
    assert_true(e->external_kind == CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2 && e->external_id == 42);
    assert_int_equal(e->correlation_id, k->correlation_id);
    for (size_t i = 0; i < client.record_count; i++)
        if (client.records[i].kind == CUPTI_ACTIVITY_KIND_RUNTIME &&
            client.records[i].correlation_id == e->correlation_id)
            assert_true(&client.records[i] > e); /* the external record comes first */
    client_stop();
}

/* ---- graphs ---- */

enum { NODES = 3, REPLAYS = 5 };

static uint64_t clone_of(uint64_t original)
{
    for (size_t i = 0; i < client.callback_count; i++)
        if (client.callbacks[i].cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED &&
            client.callbacks[i].original_node_id == original)
            return client.callbacks[i].node_id;
    return 0;
}

static void graph_records(void **state)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    uint64_t created[NODES];
    size_t nodes = 0, execs = 0, found[NODES] = {0};
    uint32_t launches[REPLAYS];

    (void)state;
    client_start();
    CHECK_CUDA(cudaStreamCreate(&stream));
    CHECK_CUPTI(cuptiEnableDomain(1, client.subscriber, CUPTI_CB_DOMAIN_RESOURCE));
    CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < NODES; i++)
        CHECK_CUDA(program_launch(i, 3, stream));
    CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
    for (size_t i = 0; i < client.callback_count; i++)
        if (client.callbacks[i].cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED && nodes < NODES)
            created[nodes++] = client.callbacks[i].node_id;
    assert_int_equal(nodes, NODES);
    CHECK_CUDA(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    for (size_t i = 0; i < client.callback_count; i++)
        execs += client.callbacks[i].cbid == CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED;
    assert_int_equal(execs, 1);
    CHECK_CUPTI(cuptiEnableCallback(1, client.subscriber, CUPTI_CB_DOMAIN_RUNTIME_API,
                                    CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000));
    for (int i = 0; i < REPLAYS; i++) {
        CHECK_CUDA(cudaGraphLaunch(exec, stream));
        launches[i] = client.callbacks[client.callback_count - 1].correlation_id;
    }
    CHECK_CUPTI(cuptiActivityFlushAll(0));
    assert_int_equal(client_count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), NODES * REPLAYS);
    for (size_t i = 0; i < NODES * REPLAYS; i++) {
        const struct seen_record *r = client_nth(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, i);

        assert_true(r->graph_id != 0);
        assert_int_equal(r->correlation_id, launches[i / NODES]);
        for (int node = 0; node < NODES; node++)
            found[node] += r->graph_node_id == clone_of(created[node]);
    }
    for (int node = 0; node < NODES; node++) {
        assert_true(clone_of(created[node]) != 0 && clone_of(created[node]) != created[node]);
        assert_int_equal(found[node], REPLAYS);
    }
    client_dump_kernels();
    CHECK_CUDA(cudaGraphExecDestroy(exec));
    CHECK_CUDA(cudaGraphDestroy(graph));
    CHECK_CUDA(cudaStreamDestroy(stream));
    client_stop();
}

/* ---- threads ---- */

enum { THREADS = 4, LAUNCHES_EACH = 2000 };

static void *launch_many(void *failed)
{
    cudaStream_t stream;

    if (cudaStreamCreate(&stream))
        *(bool *)failed = true;
    for (int i = 0; i < LAUNCHES_EACH; i++) {
        cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, (uint64_t)i);
        if (program_launch(i % 3, 1, stream))
            *(bool *)failed = true;
        cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, NULL);
        if (i % 500 == 0)
            cudaStreamSynchronize(stream);
    }
    cudaStreamSynchronize(stream);
    return NULL;
}

static int by_id(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static void four_threads(void **state)
{
    enum { TOTAL = THREADS * LAUNCHES_EACH };
    pthread_t threads[THREADS];
    bool failed[THREADS] = {false};
    size_t dropped = 0, n = 0;
    uint32_t *ids = calloc(TOTAL, sizeof *ids);

    (void)state;
    client.buffer_bytes = 8192;
    client_start();
    CHECK_CUDA(cudaFree(NULL));
    CHECK_CUPTI(cuptiActivityFlushPeriod(1));
    CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION));
    CHECK_CUPTI(cuptiActivityEnableRuntimeApi(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, 1));
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, launch_many, &failed[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_CUPTI(cuptiActivityFlushPeriod(0));
    CHECK_CUPTI(cuptiActivityFlushAll(0));
    for (int i = 0; i < THREADS; i++)
        assert_false(failed[i]);
    CHECK_CUPTI(cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
    assert_int_equal(dropped, 0);
    assert_int_equal(client_count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), TOTAL);
    assert_int_equal(client_count(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION), TOTAL);
    assert_int_equal(client_count(CUPTI_ACTIVITY_KIND_RUNTIME), TOTAL);
    for (size_t i = 0; i < client.record_count; i++)
        if (client.records[i].kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
            ids[n++] = client.records[i].correlation_id;
    qsort(ids, TOTAL, sizeof *ids, by_id);
    for (size_t i = 1; i < TOTAL; i++)
        assert_true(ids[i] != ids[i - 1]);
    free(ids);
    client_dump_kernels();
    client_stop();
}

/* ---- clocks ---- */

static uint64_t CUPTIAPI three_a_nanosecond(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return 3 * ((uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec);
}

static void timestamp_callback(void **state)
{
    uint64_t before, after, now;
    const struct seen_record *r;

    (void)state;
    client_start();
    CHECK_CUDA(cudaFree(NULL));
    CHECK_CUPTI(cuptiActivityRegisterTimestampCallback(three_a_nanosecond));
    CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME));
    usleep(30000);
    before = three_a_nanosecond();
    CHECK_CUDA(program_launch(0, 1, NULL));
    after = three_a_nanosecond();
    CHECK_CUPTI(cuptiGetTimestamp(&now));
    assert_true(now >= after && now < after + 3000000000ull);
    CHECK_CUPTI(cuptiActivityFlushAll(0));
    r = client_nth(CUPTI_ACTIVITY_KIND_RUNTIME, 0);
    assert_non_null(r);
    assert_true(r->start + 300000 > before && r->end < after + 300000); /* within 0.1 ms */
    client_stop();
}

/* ---- one case a process ---- */

static const struct CMUnitTest cases[] = {
    cmocka_unit_test(only_what_has_ended),
    cmocka_unit_test(flush_inside_a_callback),
    cmocka_unit_test(subscribers_have_names),
    cmocka_unit_test(subscriber_rules),
    cmocka_unit_test(faults),
    cmocka_unit_test(names_and_settings),
    cmocka_unit_test(nested_callbacks),
    cmocka_unit_test(context_callbacks),
    cmocka_unit_test(kernel_records),
    cmocka_unit_test(drops_are_counted),
    cmocka_unit_test(refused_buffers),
    cmocka_unit_test(zero_times),
    cmocka_unit_test(worker_delivers),
    cmocka_unit_test(external_correlation),
    cmocka_unit_test(graph_records),
    cmocka_unit_test(four_threads),
    cmocka_unit_test(timestamp_callback),
    cmocka_unit_test(records_are_the_headers),
    cmocka_unit_test(release_behaves),
    cmocka_unit_test(graph_level),
    cmocka_unit_test(subscribers_share),
    cmocka_unit_test(leak_sets_in),
    cmocka_unit_test(foreign_and_inverted),
    cmocka_unit_test(first_iteration_only),
    cmocka_unit_test(first_period_only),
    cmocka_unit_test(dropped_unknown),
    cmocka_unit_test(clock_is_ahead),
    cmocka_unit_test(kernels_are_early),
    cmocka_unit_test(late_writes),
    cmocka_unit_test(stub_refuses),
    cmocka_unit_test(strings_fail),
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(cases[i].name, argv[1])) {
            cmocka_set_test_filter(argv[1]);
            return cmocka_run_group_tests(cases, NULL, NULL);
        }
    fprintf(stderr, "usage: test_sim_cupti CASE\n");
    return 2;
}
