/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime: errors, memory, copies, launches, events, streams, host functions; each against the ledger. */
#include "ledger_reader.h"

#include "sim/core/simgpu.h"

#include <pthread.h>

#define LEDGER "runtime.ledger"
static const void *kernel;

static void versions_and_errors_need_no_device(void **state)
{
    (void)state;
    int version = 0;
    OK(cudaRuntimeGetVersion(&version));
    assert_int_equal(version, CUDART_VERSION);
    assert_string_equal(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation");
    assert_string_equal(cudaGetErrorName(cudaSuccess), "cudaSuccess");
    assert_int_equal(ledger_count(LEDGER, "init"), 0);
}

static void errors_are_kept_until_asked(void **state)
{
    (void)state;
    assert_int_equal(cudaSetDevice(7), cudaErrorInvalidDevice);
    assert_int_equal(cudaPeekAtLastError(), cudaErrorInvalidDevice);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidDevice);
    OK(cudaGetLastError());
    assert_int_equal(cudaFree((void *)8), cudaErrorInvalidValue);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidValue);
}

static void device_is_the_unit_one(void **state)
{
    (void)state;
    struct cudaDeviceProp properties;
    int count, capability;
    OK(cudaGetDeviceCount(&count));
    assert_int_equal(count, 1);
    OK(cudaGetDeviceProperties(&properties, 0));
    assert_string_equal(properties.name, "Simulated unit");
    assert_int_equal(properties.multiProcessorCount, 100);
    OK(cudaDeviceGetAttribute(&capability, cudaDevAttrComputeCapabilityMajor, 0));
    assert_int_equal(capability, 9);
    assert_int_equal(cudaDeviceGetAttribute(&capability, (enum cudaDeviceAttr)100000, 0), cudaErrorInvalidValue);
}

static void memory_runs_out_at_its_size(void **state)
{
    (void)state;
    size_t before, after, total;
    void *most, *more;
    OK(cudaMemGetInfo(&before, &total));
    assert_int_equal(total, 64ull << 30);
    OK(cudaMalloc(&most, before));
    assert_int_equal(cudaMalloc(&more, 4096), cudaErrorMemoryAllocation);
    assert_int_equal(cudaGetLastError(), cudaErrorMemoryAllocation);
    OK(cudaFree(most));
    OK(cudaMemGetInfo(&after, &total));
    assert_int_equal(after, before);
    OK(cudaMalloc(&more, 0));
    assert_null(more);
    OK(cudaFree(NULL));
}

static void pointers_tell_what_they_are(void **state)
{
    (void)state;
    struct cudaPointerAttributes attributes;
    void *device, *host;
    int local;
    OK(cudaMalloc(&device, 3 << 20));
    OK(cudaPointerGetAttributes(&attributes, (char *)device + (3 << 20) - 1));
    assert_int_equal(attributes.type, cudaMemoryTypeDevice);
    OK(cudaPointerGetAttributes(&attributes, &local));
    assert_int_equal(attributes.type, cudaMemoryTypeUnregistered);
    OK(cudaMallocHost(&host, 100));
    OK(cudaPointerGetAttributes(&attributes, host));
    assert_int_equal(attributes.type, cudaMemoryTypeHost);
    OK(cudaFreeHost(host));
    OK(cudaHostRegister(&local, sizeof local, 0));
    assert_int_equal(cudaHostRegister(&local, sizeof local, 0), cudaErrorHostMemoryAlreadyRegistered);
    OK(cudaPointerGetAttributes(&attributes, &local));
    assert_int_equal(attributes.type, cudaMemoryTypeHost);
    OK(cudaHostUnregister(&local));
    assert_int_equal(cudaHostUnregister(&local), cudaErrorHostMemoryNotRegistered);
    OK(cudaFree(device));
    assert_int_equal(cudaFree(device), cudaErrorInvalidValue);
    cudaGetLastError();
}

static void copies_are_real_and_bounded(void **state)
{
    (void)state;
    char out[300], back[300];
    void *device;
    size_t before = ledger_count(LEDGER, "copy");
    for (int i = 0; i < 300; i++)
        out[i] = (char)i;
    OK(cudaMalloc(&device, 300));
    OK(cudaMemcpy(device, out, 300, cudaMemcpyHostToDevice));
    OK(cudaMemset((char *)device + 10, 0x5a, 5));
    OK(cudaMemcpy(back, device, 300, cudaMemcpyDefault));
    memset(out + 10, 0x5a, 5);
    assert_memory_equal(out, back, 300);
    assert_int_equal(cudaMemcpy(back, device, 301, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpy(back, out, 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpy(device, NULL, 1, cudaMemcpyDefault), cudaErrorInvalidValue);
    /* 2 rows of 4 bytes out of a pitch of 8 */
    OK(cudaMemcpy2D(device, 4, out, 8, 4, 2, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(back, device, 8, cudaMemcpyDeviceToHost));
    assert_memory_equal(back, "\0\1\2\3\x8\x9\x5a\x5a", 8);
    OK(cudaFree(device));

    json_t *copies = ledger_lines(LEDGER, "copy", before);
    assert_int_equal(json_array_size(copies), 4); /* failed ones leave none */
    assert_int_equal(number_of(json_array_get(copies, 0), "bytes"), 300);
    assert_int_equal(number_of(json_array_get(copies, 0), "copy_kind"), 1);
    assert_int_equal(number_of(json_array_get(copies, 1), "copy_kind"), 2);
    assert_int_equal(number_of(json_array_get(copies, 2), "bytes"), 8);
    json_decref(copies);
    cudaGetLastError();
}

static void launches_are_in_the_ledger(void **state)
{
    (void)state;
    size_t before = ledger_count(LEDGER, "kernel");
    dim3 grid = {7, 2, 1}, block = {32, 4, 2}, popped;
    cudaStream_t stream, popped_stream;
    size_t shared;
    unsigned long long id;
    cudaKernel_t handle;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaStreamGetId(stream, &id));
    OK(cudaLaunchKernel(kernel, grid, block, NULL, 512, stream));
    /* the way that nvcc 13's host code goes */
    assert_int_equal(__cudaPushCallConfiguration(grid, block, 512, stream), 0);
    OK(__cudaPopCallConfiguration(&popped, &block, &shared, &popped_stream));
    OK(__cudaGetKernel(&handle, kernel));
    OK(__cudaLaunchKernel(handle, popped, block, NULL, shared, popped_stream));
    OK(cudaStreamSynchronize(stream));

    json_t *lines = ledger_lines(LEDGER, "kernel", before);
    assert_int_equal(json_array_size(lines), 2);
    for (size_t i = 0; i < 2; i++) {
        const json_t *line = json_array_get(lines, i);
        assert_string_equal(text_of(line, "name"), "_Z5firstPf");
        char *dims = json_dumps(json_object_get(line, "grid"), JSON_COMPACT);
        assert_string_equal(dims, "[7,2,1]");
        free(dims);
        dims = json_dumps(json_object_get(line, "block"), JSON_COMPACT);
        assert_string_equal(dims, "[32,4,2]");
        free(dims);
        assert_int_equal(number_of(line, "shared"), 512);
        assert_int_equal(number_of(line, "stream"), id);
        assert_int_equal(number_of(line, "graph"), 0);
        assert_int_equal(number_of(line, "call"), 0);
        assert_int_equal(number_of(line, "end") - number_of(line, "start"), 2000);
    }
    const json_t *first = json_array_get(lines, 0), *second = json_array_get(lines, 1);
    assert_true(number_of(second, "start") >= number_of(first, "end"));
    assert_int_not_equal(number_of(first, "correlation"), number_of(second, "correlation"));
    json_decref(lines);
    OK(cudaStreamDestroy(stream));
    assert_int_equal(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
    cudaGetLastError();
}

static void impossible_launches_are_refused(void **state)
{
    (void)state;
    dim3 one = {1, 1, 1}, none = {0, 1, 1}, many = {1024, 2, 1}, deep = {1, 1, 65};
    size_t before = ledger_count(LEDGER, "kernel");
    int not_registered;
    assert_int_equal(cudaLaunchKernel(kernel, one, many, NULL, 0, NULL), cudaErrorInvalidConfiguration);
    assert_int_equal(cudaLaunchKernel(kernel, none, one, NULL, 0, NULL), cudaErrorInvalidConfiguration);
    assert_int_equal(cudaLaunchKernel(kernel, one, deep, NULL, 0, NULL), cudaErrorInvalidConfiguration);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidConfiguration);
    assert_int_equal(cudaLaunchKernel(&not_registered, one, one, NULL, 0, NULL), cudaErrorInvalidDeviceFunction);
    assert_int_equal(cudaLaunchKernel(kernel, one, one, NULL, 48 * 1024 + 1, NULL), cudaErrorInvalidValue);
    OK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
    OK(cudaLaunchKernel(kernel, one, one, NULL, 227 * 1024, NULL));
    assert_int_equal(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 228 * 1024),
                     cudaErrorInvalidValue);
    assert_int_equal(ledger_count(LEDGER, "kernel"), before + 1);
    cudaGetLastError();
}

static void events_tell_modelled_time(void **state)
{
    (void)state;
    cudaStream_t stream;
    cudaEvent_t start, end, untimed;
    float ms;
    dim3 one = {1, 1, 1};
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&end));
    OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    assert_int_equal(cudaEventElapsedTime(&ms, start, end), cudaErrorInvalidResourceHandle); /* not recorded */
    OK(cudaLaunchKernel(kernel, one, one, NULL, 0, stream)); /* so that the next start back to back */
    for (int i = 0; i < 200; i++)
        OK(cudaLaunchKernel(kernel, one, one, NULL, 0, stream));
    OK(cudaEventRecord(start, stream));
    for (int i = 0; i < 5; i++)
        OK(cudaLaunchKernel(kernel, one, one, NULL, 0, stream));
    OK(cudaEventRecord(end, stream));
    OK(cudaEventRecord(untimed, stream));
    OK(cudaEventSynchronize(end));
    OK(cudaEventElapsedTime(&ms, start, end));
    assert_true(ms > 0.0099f && ms < 1.f); /* 5 kernels of 2 us; a slow host adds gaps, never takes away */
    assert_int_equal(cudaEventElapsedTime(&ms, start, untimed), cudaErrorInvalidResourceHandle);
    OK(cudaEventQuery(end));
    OK(cudaEventDestroy(start));
    assert_int_equal(cudaEventQuery(start), cudaErrorInvalidResourceHandle);
    OK(cudaEventDestroy(end));
    OK(cudaEventDestroy(untimed));
    OK(cudaStreamDestroy(stream));
    cudaGetLastError();
}

static void waiting_orders_streams(void **state)
{
    (void)state;
    cudaStream_t streams[2];
    cudaEvent_t event;
    dim3 one = {1, 1, 1};
    size_t before = ledger_count(LEDGER, "kernel");
    OK(cudaEventCreate(&event));
    for (int i = 0; i < 2; i++)
        OK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
    for (int i = 0; i < 50; i++)
        OK(cudaLaunchKernel(kernel, one, one, NULL, 0, streams[0]));
    OK(cudaEventRecord(event, streams[0]));
    OK(cudaStreamWaitEvent(streams[1], event, 0));
    OK(cudaLaunchKernel(kernel, one, one, NULL, 0, streams[1]));
    json_t *lines = ledger_lines(LEDGER, "kernel", before);
    assert_true(number_of(json_array_get(lines, 50), "start") >= number_of(json_array_get(lines, 49), "end"));
    json_decref(lines);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 2; i++)
        OK(cudaStreamDestroy(streams[i]));
    OK(cudaEventDestroy(event));
}

static void legacy_stream_waits_for_blocking_ones(void **state)
{
    (void)state;
    cudaStream_t blocking;
    dim3 one = {1, 1, 1};
    size_t before = ledger_count(LEDGER, "kernel");
    OK(cudaStreamCreate(&blocking));
    for (int i = 0; i < 50; i++)
        OK(cudaLaunchKernel(kernel, one, one, NULL, 0, blocking));
    OK(cudaLaunchKernel(kernel, one, one, NULL, 0, NULL));
    OK(cudaLaunchKernel(kernel, one, one, NULL, 0, blocking));
    json_t *lines = ledger_lines(LEDGER, "kernel", before);
    assert_true(number_of(json_array_get(lines, 50), "start") >= number_of(json_array_get(lines, 49), "end"));
    assert_true(number_of(json_array_get(lines, 51), "start") >= number_of(json_array_get(lines, 50), "end"));
    json_decref(lines);
    OK(cudaStreamDestroy(blocking));
}

static void polling_ends(void **state)
{
    (void)state;
    cudaStream_t stream;
    struct simgpu_dims dims = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(simgpu_launch(simgpu_stream_of(stream, 0), simgpu_kernel_by_name("slow"), &dims, NULL, 3600 * 1000000000ull,
                     307));
    assert_int_equal(cudaStreamQuery(stream), cudaErrorNotReady);
    OK(cudaStreamQuery(stream)); /* by asking, the hour has passed */
    OK(cudaStreamDestroy(stream));
    cudaGetLastError();
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static char *target;

static void fill_target(void *data)
{
    pthread_mutex_lock(&gate); /* held by the caller until everything is enqueued */
    memcpy(target, data, 4);
    pthread_mutex_unlock(&gate);
}

static void host_functions_keep_their_place(void **state)
{
    (void)state;
    cudaStream_t stream;
    void *host, *device;
    char back[4] = "----";
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaMallocHost(&host, 4));
    OK(cudaMalloc(&device, 4));
    target = host;
    pthread_mutex_lock(&gate);
    OK(cudaLaunchHostFunc(stream, fill_target, "done"));
    OK(cudaMemcpyAsync(device, host, 4, cudaMemcpyHostToDevice, stream)); /* must see what the function wrote */
    OK(cudaMemcpyAsync(back, device, 4, cudaMemcpyDeviceToHost, stream));
    pthread_mutex_unlock(&gate);
    OK(cudaStreamSynchronize(stream));
    assert_memory_equal(back, "done", 4);
    OK(cudaStreamDestroy(stream));
    OK(cudaFreeHost(host));
    OK(cudaFree(device));
}

static void symbols_are_variables(void **state)
{
    (void)state;
    static char host_symbol, image;
    void **handle = __cudaRegisterFatBinary(&image), *address;
    int out = 42, back = 0;
    size_t size;
    __cudaRegisterVar(handle, &host_symbol, &host_symbol, "answer", 0, sizeof out, 0, 0);
    OK(cudaGetSymbolSize(&size, &host_symbol));
    assert_int_equal(size, sizeof out);
    OK(cudaMemcpyToSymbol(&host_symbol, &out, sizeof out, 0, cudaMemcpyHostToDevice));
    OK(cudaGetSymbolAddress(&address, &host_symbol));
    OK(cudaMemcpy(&back, address, sizeof back, cudaMemcpyDeviceToHost));
    assert_int_equal(back, 42);
    assert_int_equal(cudaMemcpyToSymbol(&host_symbol, &out, sizeof out, 1, cudaMemcpyHostToDevice),
                     cudaErrorInvalidValue);
    __cudaUnregisterFatBinary(handle);
    assert_int_equal(cudaGetSymbolSize(&size, &host_symbol), cudaErrorInvalidSymbol);
    cudaGetLastError();
}

static void pools_count(void **state)
{
    (void)state;
    cudaMemPool_t pool;
    uint64_t used, high;
    void *memory;
    OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    OK(cudaMallocAsync(&memory, 1 << 20, NULL));
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    assert_int_equal(used, 1 << 20);
    OK(cudaFreeAsync(memory, NULL));
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &high));
    assert_int_equal(used, 0);
    assert_int_equal(high, 1 << 20);
    OK(cudaMemPoolTrimTo(pool, 0));
}

static void absent_functions_say_so(void **state)
{
    (void)state;
    cudaIpcMemHandle_t handle;
    size_t before = ledger_count(LEDGER, "not_supported");
    assert_int_equal(cudaIpcGetMemHandle(&handle, NULL), cudaErrorNotSupported);
    assert_int_equal(cudaIpcGetMemHandle(&handle, NULL), cudaErrorNotSupported);
    assert_int_equal(cudaGetLastError(), cudaErrorNotSupported);
    json_t *lines = ledger_lines(LEDGER, "not_supported", before);
    assert_int_equal(json_array_size(lines), 1); /* once a name */
    assert_string_equal(text_of(json_array_get(lines, 0), "function"), "cudaIpcGetMemHandle");
    json_decref(lines);
}

int main(void)
{
    ledger_use(LEDGER);
    kernel = stub_of("_Z5firstPf");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_and_errors_need_no_device),
        cmocka_unit_test(errors_are_kept_until_asked),
        cmocka_unit_test(device_is_the_unit_one),
        cmocka_unit_test(memory_runs_out_at_its_size),
        cmocka_unit_test(pointers_tell_what_they_are),
        cmocka_unit_test(copies_are_real_and_bounded),
        cmocka_unit_test(launches_are_in_the_ledger),
        cmocka_unit_test(impossible_launches_are_refused),
        cmocka_unit_test(events_tell_modelled_time),
        cmocka_unit_test(waiting_orders_streams),
        cmocka_unit_test(legacy_stream_waits_for_blocking_ones),
        cmocka_unit_test(host_functions_keep_their_place),
        cmocka_unit_test(symbols_are_variables),
        cmocka_unit_test(pools_count),
        cmocka_unit_test(absent_functions_say_so),
        cmocka_unit_test(polling_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
