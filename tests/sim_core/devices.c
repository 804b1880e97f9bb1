/* SPDX-License-Identifier: Apache-2.0 */
/* Three equal devices: what tells them apart, whose streams, events and memory are whose, copies between them, and that
 * waiting for one leaves the others' time alone. This program starts itself for CUDA_VISIBLE_DEVICES. */
#include "ledger_reader.h"

#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/core/device.h"

#define LEDGER "devices.ledger"
enum { DEVICES = 3 };
CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device); /* gone from the newest header */

static const void *kernel;
static const dim3 one = {1, 1, 1};
static const char *self;

static void told_apart(void **state)
{
    (void)state;
    int count = 0, device = -1, again = -1;
    char bus[16], other[16];
    struct cudaDeviceProp first, last;
    OK(cudaGetDeviceCount(&count));
    assert_int_equal(count, DEVICES);
    OK(cudaGetDeviceProperties(&first, 0));
    OK(cudaGetDeviceProperties(&last, 2));
    assert_string_equal(first.name, last.name);
    assert_memory_not_equal(&first.uuid, &last.uuid, sizeof first.uuid);
    assert_int_not_equal(first.pciBusID, last.pciBusID);
    OK(cudaDeviceGetPCIBusId(bus, sizeof bus, 2));
    OK(cudaDeviceGetPCIBusId(other, sizeof other, 0));
    assert_string_not_equal(bus, other);
    OK(cudaDeviceGetByPCIBusId(&again, bus));
    assert_int_equal(again, 2);
    assert_int_equal(cudaSetDevice(DEVICES), cudaErrorInvalidDevice);
    assert_int_equal(cudaSetDevice(-1), cudaErrorInvalidDevice);
    assert_int_equal(cudaDeviceGetAttribute(&count, cudaDevAttrWarpSize, DEVICES), cudaErrorInvalidDevice);
    OK(cudaGetDevice(&device));
    assert_int_equal(device, 0);
    cudaGetLastError();
}

/* Looking at a device makes no context on it; choosing it does. */
static void contexts_of_devices(void **state)
{
    (void)state;
    unsigned flags;
    int active = -1, device = -1;
    CUcontext context, primary;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxGetState(1, &flags, &active));
    assert_int_equal(active, 0);
    OK(cudaSetDevice(1));
    OK(cuDevicePrimaryCtxGetState(1, &flags, &active));
    assert_int_equal(active, 1);
    OK(cuCtxGetCurrent(&context));
    OK(cuDevicePrimaryCtxRetain(&primary, 1));
    assert_ptr_equal(context, primary);
    OK(cuCtxGetDevice(&device));
    assert_int_equal(device, 1);
    OK(cudaSetDevice(0));
}

static void streams_of_devices(void **state)
{
    (void)state;
    cudaStream_t streams[2];
    cudaEvent_t event;
    int device = -1;
    for (int i = 0; i < 2; i++) {
        OK(cudaSetDevice(i));
        OK(cudaStreamCreate(&streams[i]));
    }
    OK(cudaEventCreate(&event)); /* on device 1 */
    OK(cuStreamGetDevice((CUstream)streams[0], &device));
    assert_int_equal(device, 0);
    size_t before = ledger_count(LEDGER, "kernel");
    OK(cudaLaunchKernel(kernel, one, one, NULL, 0, streams[1]));
    assert_int_equal(cudaLaunchKernel(kernel, one, one, NULL, 0, streams[0]), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaEventRecord(event, streams[0]), cudaErrorInvalidResourceHandle);
    OK(cudaEventRecord(event, streams[1]));
    OK(cudaStreamWaitEvent(streams[0], event, 0)); /* across devices */
    OK(cudaSetDevice(0));
    OK(cudaLaunchKernel(kernel, one, one, NULL, 0, streams[0]));
    OK(cudaLaunchKernel(kernel, one, one, NULL, 0, NULL));
    OK(cudaSetDevice(1));
    OK(cudaLaunchKernel(kernel, one, one, NULL, 0, NULL));
    json_t *lines = ledger_lines(LEDGER, "kernel", before);
    const int devices[] = {1, 0, 0, 1};
    assert_int_equal(json_array_size(lines), 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(number_of(json_array_get(lines, i), "device"), devices[i]);
        assert_int_equal(number_of(json_array_get(lines, i), "context"),
                         number_of(json_array_get(lines, devices[i] ? 0 : 1), "context"));
    }
    assert_true(number_of(json_array_get(lines, 1), "start") >= number_of(json_array_get(lines, 0), "end"));
    assert_int_not_equal(number_of(json_array_get(lines, 2), "stream"), number_of(json_array_get(lines, 3), "stream"));
    assert_int_not_equal(number_of(json_array_get(lines, 0), "context"),
                         number_of(json_array_get(lines, 1), "context"));
    json_decref(lines);
    OK(cudaDeviceSynchronize());
    OK(cudaSetDevice(0));
    OK(cudaDeviceSynchronize());
    cudaGetLastError();
}

/* The timeline runs ahead of the host: one device has work for 1000 s, and another one is waited for. */
static void time_of_devices(void **state)
{
    (void)state;
    const struct simgpu_dims dims = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    OK(cudaSetDevice(1));
    OK(simgpu_launch(simgpu_stream_of(NULL, 0), simgpu_kernel_by_name("slow"), &dims, NULL, 1000000000000, 307));
    OK(cudaSetDevice(0));
    OK(cudaLaunchKernel(kernel, one, one, NULL, 0, NULL));
    OK(cudaDeviceSynchronize());
    OK(cudaStreamQuery(NULL));
    OK(cudaSetDevice(1));
    assert_int_equal(cudaStreamQuery(NULL), cudaErrorNotReady);
    OK(cudaDeviceSynchronize());
    OK(cudaStreamQuery(NULL));
    OK(cudaSetDevice(0));
    cudaGetLastError();
}

static void memory_of_devices(void **state)
{
    (void)state;
    size_t before[2], after, total;
    void *memory[2];
    struct cudaPointerAttributes attributes;
    for (int i = 0; i < 2; i++) {
        OK(cudaSetDevice(i));
        OK(cudaMemGetInfo(&before[i], &total));
        OK(cudaMalloc(&memory[i], (size_t)(1 + i) << 20));
        OK(cudaMemGetInfo(&after, &total));
        assert_int_equal(before[i] - after, (size_t)(1 + i) << 20);
    }
    OK(cudaPointerGetAttributes(&attributes, memory[0]));
    assert_int_equal(attributes.device, 0);
    OK(cudaPointerGetAttributes(&attributes, memory[1]));
    assert_int_equal(attributes.device, 1);
    OK(cudaFree(memory[0])); /* another device's */
    OK(cudaFree(memory[1]));
    OK(cudaSetDevice(0));
    OK(cudaMemGetInfo(&after, &total));
    assert_int_equal(after, before[0]);

    cudaMemPool_t pools[2], used;
    for (int i = 0; i < 2; i++)
        OK(cudaDeviceGetDefaultMemPool(&pools[i], i));
    assert_ptr_not_equal(pools[0], pools[1]);
    assert_int_equal(cudaDeviceSetMemPool(0, pools[1]), cudaErrorInvalidValue);
    OK(cudaSetDevice(1));
    OK(cudaMallocAsync(&memory[1], 4096, NULL));
    OK(cudaPointerGetAttributes(&attributes, memory[1]));
    assert_int_equal(attributes.device, 1);
    OK(cudaDeviceGetMemPool(&used, 1));
    assert_ptr_equal(used, pools[1]);
    OK(cudaFreeAsync(memory[1], NULL));
    OK(cudaSetDevice(0));
    cudaGetLastError();
}

static void copies_between_devices(void **state)
{
    (void)state;
    enum { BYTES = 4096, LINK_NS = 1000 + BYTES / 25 }; /* 1 us, then 25 GB/s */
    unsigned char *memory[2], host[BYTES], back[BYTES];
    CUcontext contexts[2];
    size_t before = ledger_count(LEDGER, "copy");
    for (int i = 0; i < 2; i++) {
        OK(cudaSetDevice(i));
        OK(cudaMalloc((void **)&memory[i], BYTES));
        OK(cuDevicePrimaryCtxRetain(&contexts[i], i));
    }
    for (int i = 0; i < BYTES; i++)
        host[i] = (unsigned char)(i * 7);
    OK(cudaMemcpy(memory[0], host, BYTES, cudaMemcpyHostToDevice));
    OK(cudaMemcpyPeer(memory[1], 1, memory[0], 0, BYTES));
    OK(cudaMemcpy(back, memory[1], BYTES, cudaMemcpyDefault));
    assert_memory_equal(host, back, BYTES);
    OK(cudaMemcpyPeerAsync(memory[0], 0, memory[1], 1, 1024, NULL));
    OK(cudaMemcpyAsync(memory[1], memory[0], 2048, cudaMemcpyDeviceToDevice, NULL));
    OK(cuMemcpyPeer((CUdeviceptr)memory[0], contexts[0], (CUdeviceptr)memory[1], contexts[1], 512));
    assert_int_equal(cudaMemcpyPeer(memory[1], 1, memory[0], DEVICES, BYTES), cudaErrorInvalidDevice);
    OK(cudaDeviceSynchronize());
    json_t *lines = ledger_lines(LEDGER, "copy", before);
    static const struct {
        int kind, bytes, from, to;
    } expected[] = {{1, BYTES, 0, 0}, {10, BYTES, 0, 1}, {2, BYTES, 0, 0},
                    {10, 1024, 1, 0}, {10, 2048, 0, 1},  {10, 512, 1, 0}};
    assert_int_equal(json_array_size(lines), 6);
    for (size_t i = 0; i < 6; i++) {
        const json_t *line = json_array_get(lines, i);
        assert_int_equal(number_of(line, "copy_kind"), expected[i].kind);
        assert_int_equal(number_of(line, "bytes"), expected[i].bytes);
        assert_int_equal(number_of(line, "device"), 1); /* whose stream it was */
        if (expected[i].kind == 10) {
            assert_int_equal(number_of(line, "from_device"), expected[i].from);
            assert_int_equal(number_of(line, "to_device"), expected[i].to);
        } else {
            assert_null(json_object_get(line, "from_device"));
        }
    }
    assert_in_range(number_of(json_array_get(lines, 1), "end") - number_of(json_array_get(lines, 1), "start"), LINK_NS,
                    LINK_NS + 1);
    json_decref(lines);
    for (int i = 0; i < 2; i++)
        OK(cudaFree(memory[i]));
    OK(cudaSetDevice(0));
    cudaGetLastError();
}

static void peer_access(void **state)
{
    (void)state;
    int can = -1, value = -1;
    CUcontext peer;
    OK(cudaDeviceCanAccessPeer(&can, 0, 1));
    assert_int_equal(can, 1);
    OK(cudaDeviceCanAccessPeer(&can, 1, 1));
    assert_int_equal(can, 0);
    assert_int_equal(cudaDeviceCanAccessPeer(&can, 0, DEVICES), cudaErrorInvalidDevice);
    OK(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 2));
    assert_int_equal(value, 1);
    assert_int_equal(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
    OK(cudaDeviceEnablePeerAccess(1, 0));
    assert_int_equal(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
    assert_int_equal(cudaDeviceEnablePeerAccess(2, 1), cudaErrorInvalidValue);
    assert_int_equal(cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice);
    OK(cuDevicePrimaryCtxRetain(&peer, 1));
    OK(cuCtxDisablePeerAccess(peer));
    cudaGetLastError();
}

/* A graph's nodes stay on the device that they were captured on, whatever is current when it is launched. */
static void graphs_of_devices(void **state)
{
    (void)state;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    size_t before = ledger_count(LEDGER, "kernel");
    OK(cudaSetDevice(2));
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaLaunchKernel(kernel, one, one, NULL, 0, stream));
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaSetDevice(0));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    json_t *lines = ledger_lines(LEDGER, "kernel", before);
    assert_int_equal(json_array_size(lines), 1);
    assert_int_equal(number_of(json_array_get(lines, 0), "device"), 2);
    json_decref(lines);
}

/* The driver's own contexts on one device: default streams of their own, and streams that go with them. */
static void contexts_of_one_device(void **state)
{
    (void)state;
    CUcontext context;
    CUstream stream, defaults[2];
    unsigned long long ids[2];
    OK(cudaSetDevice(0));
    OK(cuStreamGetId(NULL, &ids[0]));
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuStreamGetId(NULL, &ids[1]));
    assert_int_not_equal(ids[0], ids[1]);
    OK(cuStreamCreate(&stream, 0));
    OK(cuStreamGetCtx(stream, (CUcontext *)&defaults[0]));
    assert_ptr_equal(defaults[0], context);
    OK(cuCtxDestroy_v2(context));
    assert_int_equal(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuCtxSetCurrent(context), CUDA_ERROR_INVALID_CONTEXT);
}

/* ---- CUDA_VISIBLE_DEVICES: a process reads it once ---- */

static int list_visible(void)
{
    int count = 0, result = cudaGetDeviceCount(&count);
    printf("%d:", result);
    for (int i = 0; i < count; i++) {
        struct cudaDeviceProp p;
        cudaGetDeviceProperties(&p, i);
        printf("%c", p.uuid.bytes[15]);
    }
    return 0;
}

static void visible(const char *list, const char *expected)
{
    int ends[2], status;
    char text[64];
    OK(pipe(ends));
    pid_t child = fork();
    if (!child) {
        dup2(ends[1], STDOUT_FILENO);
        setenv("CUDA_VISIBLE_DEVICES", list, 1);
        unsetenv("SIMGPU_LEDGER");
        execl(self, self, "visible", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    ssize_t got = read(ends[0], text, sizeof text - 1);
    text[got > 0 ? got : 0] = 0;
    close(ends[0]);
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_string_equal(text, expected);
}

static void visible_devices(void **state)
{
    (void)state;
    char uuid[SIMGPU_UUID_TEXT_BYTES], list[96];
    visible("0,1,2", "0:012");
    visible("2, 0", "0:20");
    visible("1,7,0", "0:1"); /* up to the first that isn't there */
    visible("1,1", "0:1");
    visible("", "100:");
    visible("-1", "100:");
    simgpu_device_uuid_text(2, uuid);
    snprintf(list, sizeof list, "%s,0", uuid);
    visible(list, "0:20");
    visible("GPU-73", "100:"); /* the beginning of all of them */
}

int main(int count, char **arguments)
{
    setenv("SIMGPU_DEVICE_COUNT", "3", 1);
    if (count == 2 && !strcmp(arguments[1], "visible"))
        return list_visible();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(told_apart),
        cmocka_unit_test(contexts_of_devices),
        cmocka_unit_test(streams_of_devices),
        cmocka_unit_test(time_of_devices),
        cmocka_unit_test(memory_of_devices),
        cmocka_unit_test(copies_between_devices),
        cmocka_unit_test(peer_access),
        cmocka_unit_test(graphs_of_devices),
        cmocka_unit_test(contexts_of_one_device),
        cmocka_unit_test(visible_devices),
    };
    self = arguments[0];
    unsetenv("CUDA_VISIBLE_DEVICES");
    ledger_use(LEDGER);
    kernel = stub_of("a_kernel");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
