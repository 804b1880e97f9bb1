/* SPDX-License-Identifier: Apache-2.0 */
/* How a kernel's record leads to the call that launched it, and who is told of what. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/gpu/probe.h"

enum { CALLS = 8, ENTER = CUPTI_API_ENTER, EXIT = CUPTI_API_EXIT };
enum { DRIVER = CUPTI_CB_DOMAIN_DRIVER_API, RUNTIME = CUPTI_CB_DOMAIN_RUNTIME_API };

static void start(bool with_callbacks, bool with_kernels)
{
    gpu_load();
    cupti_load();
    gpu_init();
    int result = cupti_subscribe();
    if (result == 0 && with_kernels)
        result = cupti_record(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    if (result) {
        fprintf(stderr, "probe: CUPTI refused with %d\n", result);
        exit(1);
    }
    if (with_callbacks)
        cupti_launch_callbacks();
}

static int device(void)
{
    int value = 0;
    gpu_load();
    cupti_load();
    gpu_init();
    answer_begin("device");
    answer_text("name", gpu.name);
    answer_bool("simulated", gpu.simulated);
    answer_number("driver_version", gpu.driver_version);
    answer_number("cupti_result", cupti.cuptiGetVersion(&cupti.version));
    answer_number("cupti_version", cupti.version);
    gpu.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, gpu.device);
    answer_number("sm_count", value);
    return answer_end();
}

static unsigned kernels_seen_in_callbacks(unsigned from, unsigned to)
{
    unsigned matched = 0;
    for (unsigned i = from; i < to; i++)
        matched += event_find(DRIVER, 0, ENTER, heard.kernels[i].correlation_id) != NULL;
    return matched;
}

/* Both join ways hang on it: is a kernel's correlation id the one its driver-launch callback had? */
static int join(void)
{
    start(true, true);
    gpu_launch(CALLS);
    gpu_synchronize();
    cupti_flush();
    unsigned direct = heard.kernel_count, direct_matched = kernels_seen_in_callbacks(0, direct);
    answer_begin("join");
    answer_number("direct_kernels", direct);
    answer_number("direct_matched", direct_matched);
    bool blas = gemm_open();
    gpu_synchronize();
    cupti_flush();
    cupti_forget();
    for (unsigned i = 0; blas && i < CALLS; i++)
        gemm_call();
    gpu_synchronize();
    cupti_flush();
    answer_bool("cublas", blas);
    answer_number("cublas_calls", blas ? CALLS : 0);
    answer_number("cublas_kernels", heard.kernel_count);
    answer_number("cublas_matched", kernels_seen_in_callbacks(0, heard.kernel_count));
    answer_number("cublas_launch_callbacks", heard.event_count / 2);
    return answer_holds(direct == CALLS && direct_matched == direct && (!blas || heard.kernel_count >= CALLS) &&
                        kernels_seen_in_callbacks(0, heard.kernel_count) == heard.kernel_count);
}

static int callbacks_only(void)
{
    start(true, false);
    gpu_launch(CALLS);
    unsigned distinct = 0, zero = 0;
    uint32_t last = 0;
    for (unsigned i = 0; i < heard.event_count; i++) {
        if (heard.events[i].site != ENTER)
            continue;
        zero += heard.events[i].correlation_id == 0;
        distinct += heard.events[i].correlation_id > last;
        last = heard.events[i].correlation_id;
    }
    answer_begin("callbacks_only");
    answer_number("launches", CALLS);
    answer_number("increasing_ids", distinct);
    answer_number("zero_ids", zero);
    return answer_end();
}

static int external(void)
{
    int driver_kind, runtime_kind;
    start(false, true);
    bool blas = gemm_open();
    int kind = cupti_record(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
    driver_kind = cupti_record(CUPTI_ACTIVITY_KIND_DRIVER);
    gpu_synchronize();
    cupti_flush();
    cupti_forget();
    for (unsigned i = 0; i < CALLS; i++) {
        uint64_t popped;
        cupti.cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, 1000 + i);
        if (blas)
            gemm_call();
        else
            gpu_launch(1);
        cupti.cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, &popped);
    }
    gpu_synchronize();
    cupti_flush();
    unsigned matched = 0;
    for (unsigned k = 0; k < heard.kernel_count; k++)
        for (unsigned e = 0; e < heard.external_count; e++)
            if (heard.externals[e].correlation_id == heard.kernels[k].correlation_id && heard.externals[e].id >= 1000) {
                matched++;
                break;
            }
    runtime_kind = cupti_record(CUPTI_ACTIVITY_KIND_RUNTIME);
    answer_begin("external");
    answer_bool("inside_cublas", blas);
    answer_number("kind_external", kind);
    answer_number("kind_driver", driver_kind);
    answer_number("kind_runtime", runtime_kind);
    answer_number("kernels", heard.kernel_count);
    answer_number("externals", heard.external_count);
    answer_number("matched_with_driver_kind_only", matched);
    return answer_end();
}

/* cuBLAS carries a runtime of its own: what do its calls look like from outside? */
static int runtime_params(void)
{
    start(true, true);
    bool blas = gemm_open();
    cupti.cuptiEnableDomain(1, cupti.subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);
    gpu_synchronize();
    cupti_flush();
    cupti_forget();
    if (blas)
        gemm_call();
    gpu_synchronize();
    cupti_flush();
    const struct event *launch = event_find(RUNTIME, 505, ENTER, 0);
    if (!launch)
        launch = event_find(RUNTIME, 211, ENTER, 0);
    if (!launch)
        launch = event_find(RUNTIME, 430, ENTER, 0);
    const struct event *any = event_find(RUNTIME, 0, ENTER, 0);
    answer_begin("runtime_params");
    answer_bool("cublas", blas);
    answer_bool("runtime_callbacks_inside_cublas", any != NULL);
    answer_number("launch_cbid", launch ? launch->cbid : 0);
    bool grid_matches = false;
    for (unsigned k = 0; launch && k < heard.kernel_count; k++)
        grid_matches = grid_matches || memcmp(&launch->params[2], heard.kernels[k].grid, 12) == 0;
    answer_bool("params_hold_the_grid_behind_the_function", grid_matches);
    return answer_end();
}

/* Are driver callbacks nested in runtime ones under the same id, and who delivers buffers? */
static int nesting(void)
{
    static const char *const names[] = {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0", NULL};
    start(false, true);
    void *runtime = library_open(names);
    int (*runtime_memset)(void *, int, size_t, CUstream) = NULL;
    CUdeviceptr memory = 0;
    gpu.cuMemAlloc(&memory, 4096);
    if (runtime)
        *(void **)&runtime_memset = dlsym(runtime, "cudaMemsetAsync");
    cupti.cuptiEnableDomain(1, cupti.subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);
    cupti.cuptiEnableDomain(1, cupti.subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
    if (runtime_memset)
        runtime_memset((void *)(uintptr_t)memory, 0, 4096, gpu.stream);
    const struct event *outer = NULL, *inner = NULL;
    for (unsigned i = 0; i < heard.event_count; i++) {
        const struct event *e = &heard.events[i];
        if (e->domain == RUNTIME && e->cbid == CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020)
            outer = e->site == ENTER ? e : NULL;
        else if (outer && e->domain == DRIVER && e->site == ENTER)
            inner = e;
    }
    const struct event *enter = event_find(RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020, ENTER, 0);
    gpu_launch(1);
    gpu_synchronize();
    cupti_flush();
    answer_begin("nesting");
    answer_bool("runtime_found", runtime_memset != NULL);
    answer_bool("driver_nested_in_runtime", inner != NULL);
    answer_bool("same_correlation_id", inner && enter && inner->correlation_id == enter->correlation_id);
    answer_number("buffers", heard.buffers);
    answer_bool("delivered_by_the_flushing_thread", heard.completing_tid == (int)syscall(SYS_gettid));
    return answer_end();
}

/* ---- another client ---- */

static _Atomic unsigned second_requests, second_completions;

static void CUPTIAPI second_requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
    second_requests++;
    *buffer = aligned_alloc(8, 65536);
    *size = 65536;
    *max_records = 0;
}

static void CUPTIAPI second_completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    (void)context, (void)stream, (void)size, (void)valid, (void)buffer;
    second_completions++;
}

static int register_again(void)
{
    start(false, true);
    gpu_launch(CALLS);
    gpu_synchronize();
    int result = cupti.cuptiActivityRegisterCallbacks(second_requested, second_completed);
    cupti_flush();
    unsigned kept = heard.kernel_count;
    gpu_launch(CALLS);
    gpu_synchronize();
    cupti_flush();
    answer_begin("register_again");
    answer_number("second_registration", result);
    answer_number("kernels_before_to_first", kept);
    answer_number("kernels_after_to_first", heard.kernel_count - kept);
    answer_number("requests_to_second", second_requests);
    answer_number("completions_to_second", second_completions);
    return answer_end();
}

static void CUPTIAPI ignore(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data)
{
    (void)user, (void)domain, (void)cbid, (void)data;
}

/* CUpti_SubscriberParams of 13.2 and later, by bytes: size @0, allowMultipleSubscribers @32. */
static int subscribe_v2(void)
{
    uint64_t parameters[5] = {40, 0, 0, 0, 1};
    CUpti_SubscriberHandle handle, other;
    int (*subscribe)(CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *, void *);
    gpu_load();
    cupti_load();
    gpu_init();
    cupti.cuptiGetVersion(&cupti.version);
    *(void **)&subscribe = dlsym(cupti.handle, "cuptiSubscribe_v2");
    answer_begin("subscribe_v2");
    answer_number("cupti_version", cupti.version);
    answer_number("driver_version", gpu.driver_version);
    answer_bool("exported", subscribe != NULL);
    if (subscribe) {
        answer_number("allow_multiple_result", subscribe(&handle, ignore, NULL, parameters));
        answer_number("second_v1_result", cupti.cuptiSubscribe(&other, ignore, NULL));
    }
    return answer_end();
}

const struct question join_questions[] = {
    {"device", "which GPU, driver and CUPTI", device},
    {"join", "do kernel records carry the correlation id of their driver-launch callback, in cuBLAS too", join},
    {"callbacks_only", "are correlation ids valid with only callbacks enabled", callbacks_only},
    {"external", "do external correlation ids reach kernels launched inside cuBLAS", external},
    {"runtime_params", "what the runtime inside cuBLAS shows, and what functionParams of a launch hold",
     runtime_params},
    {"nesting", "are driver callbacks nested in runtime ones, and which thread delivers buffers", nesting},
    {"register_again", "who gets the buffers after a second registration", register_again},
    {"subscribe_v2", "does this driver take several subscribers", subscribe_v2},
    {NULL, NULL, NULL},
};
