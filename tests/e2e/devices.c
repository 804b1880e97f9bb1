/* SPDX-License-Identifier: Apache-2.0 */
/* A program on several GPUs: `e2e_devices MODE REPEATS`, modes in the table at the end. On each device GEMMs and kernels on
 * one stream, kernels named like NCCL's on another, copies of every direction, also between neighbours. */
#include "gemms.h"
#include "program.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MOST = 8, BUFFER_BYTES = 1 << 20 };

struct rank {
    int device;
    struct gemms gemms;
    cudaStream_t communication, copies;
    cudaEvent_t done, received;
    void *buffer, *host;
};

static struct rank ranks[DEVICES_MOST];
static int devices, repeats;

static void kernel_stub(void)
{
}

static void all_reduce_stub(void)
{
}

static void launch(const void *stub, unsigned blocks, cudaStream_t stream)
{
    MUST(cudaLaunchKernel(stub, (dim3){blocks, 1, 1}, (dim3){32, 1, 1}, NULL, 0, stream));
}

static void open_rank(struct rank *rank, int device)
{
    rank->device = device;
    MUST(cudaSetDevice(device));
    MUST(!gemms_open(&rank->gemms));
    MUST(cudaStreamCreateWithFlags(&rank->communication, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&rank->copies, cudaStreamNonBlocking));
    MUST(cudaEventCreateWithFlags(&rank->done, cudaEventDisableTiming));
    MUST(cudaEventCreateWithFlags(&rank->received, cudaEventDisableTiming));
    MUST(cudaMalloc(&rank->buffer, BUFFER_BYTES));
    MUST(cudaMallocHost(&rank->host, BUFFER_BYTES));
}

static void open_ranks(void)
{
    for (int device = 0; device < devices; device++)
        open_rank(&ranks[device], device);
    for (int device = 0; device < devices; device++)
        for (int peer = 0, can = 0; peer < devices; peer++) {
            MUST(cudaSetDevice(device));
            MUST(cudaDeviceCanAccessPeer(&can, device, peer));
            MUST(can != (device != peer));
            if (can)
                MUST(cudaDeviceEnablePeerAccess(peer, 0));
        }
}

static const struct rank *neighbour(const struct rank *rank)
{
    return &ranks[(rank->device + 1) % devices];
}

/* Compute on one stream, communication beside and after it. */
static void step(struct rank *rank)
{
    MUST(gemms_ex(&rank->gemms, 32 * (1 + rank->device), 64, 32));
    launch((const void *)all_reduce_stub, 4, rank->communication);
    launch((const void *)kernel_stub, 3 + (unsigned)rank->device, rank->gemms.stream);
    MUST(cudaEventRecord(rank->done, rank->gemms.stream));
    MUST(cudaStreamWaitEvent(rank->communication, rank->done, 0));
    launch((const void *)all_reduce_stub, 4, rank->communication);
}

static void copy_around(struct rank *rank)
{
    size_t bytes = BUFFER_BYTES >> rank->device;
    MUST(cudaMemcpyAsync(rank->buffer, rank->host, bytes, cudaMemcpyHostToDevice, rank->copies));
    MUST(cudaMemsetAsync(rank->buffer, 7, bytes / 2, rank->copies));
    MUST(cudaMemcpyAsync((char *)rank->buffer + bytes / 2, rank->buffer, bytes / 2, cudaMemcpyDeviceToDevice,
                         rank->copies));
    if (devices > 1) {
        const struct rank *peer = neighbour(rank);
        MUST(cudaMemcpyPeerAsync(peer->buffer, peer->device, rank->buffer, rank->device, 4096, rank->copies));
        MUST(cudaMemcpyAsync(rank->buffer, peer->buffer, 8192, cudaMemcpyDefault, rank->copies));
    }
    MUST(cudaMemcpyAsync(rank->host, rank->buffer, bytes, cudaMemcpyDeviceToHost, rank->copies));
}

static void finish(void)
{
    for (int device = 0; device < devices; device++) {
        MUST(cudaSetDevice(device));
        MUST(cudaDeviceSynchronize());
    }
}

/* ---- modes ---- */

static void run_eager(void)
{
    open_ranks();
    for (int i = 0; i < repeats; i++)
        for (int device = 0; device < devices; device++) {
            MUST(cudaSetDevice(device));
            step(&ranks[device]);
            copy_around(&ranks[device]);
        }
    finish();
}

static cudaGraphExec_t captured(struct rank *rank)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStream_t stream = rank->gemms.stream;
    MUST(cudaSetDevice(rank->device));
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    MUST(gemms_ex(&rank->gemms, 16 * (1 + rank->device), 64, 32));
    launch((const void *)kernel_stub, 2, stream);
    launch((const void *)all_reduce_stub, 4, stream);
    MUST(cudaMemcpyAsync(neighbour(rank)->buffer, rank->buffer, 16384, cudaMemcpyDefault, stream));
    MUST(cudaMemsetAsync(rank->buffer, 0, 65536, stream));
    MUST(cudaStreamEndCapture(stream, &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphDestroy(graph));
    return exec;
}

static void run_graphs(void)
{
    cudaGraphExec_t execs[DEVICES_MOST];
    open_ranks();
    for (int device = 0; device < devices; device++)
        execs[device] = captured(&ranks[device]);
    for (int i = 0; i < repeats; i++)
        for (int device = 0; device < devices; device++) {
            MUST(cudaSetDevice(device));
            MUST(cudaGraphLaunch(execs[device], ranks[device].gemms.stream));
        }
    finish();
}

static void *work_in_thread(void *argument)
{
    struct rank *rank = argument;
    MUST(cudaSetDevice(rank->device));
    for (int i = 0; i < repeats; i++)
        step(rank);
    MUST(cudaDeviceSynchronize());
    return NULL;
}

static void run_threads(void)
{
    pthread_t threads[DEVICES_MOST];
    open_ranks();
    for (int device = 0; device < devices; device++)
        MUST(pthread_create(&threads[device], NULL, work_in_thread, &ranks[device]));
    for (int device = 0; device < devices; device++)
        MUST(pthread_join(threads[device], NULL));
}

/* One all-reduce of all ranks after each GEMM, in a group on one thread, through whatever NCCL there is. */
static void run_nccl(void)
{
    enum { HALF_PRECISION = 9 /* ncclBfloat16 */, SUM = 0, COUNT = 1 << 20 };
    int (*init_all)(void **, int, const int *), (*start)(void), (*end)(void), (*destroy)(void *);
    int (*all_reduce)(const void *, void *, size_t, int, int, void *, cudaStream_t);
    void *nccl = dlopen("libnccl.so.2", RTLD_NOW), *communicators[DEVICES_MOST];
    MUST(!nccl);
    *(void **)&init_all = dlsym(nccl, "ncclCommInitAll");
    *(void **)&start = dlsym(nccl, "ncclGroupStart");
    *(void **)&end = dlsym(nccl, "ncclGroupEnd");
    *(void **)&destroy = dlsym(nccl, "ncclCommDestroy");
    *(void **)&all_reduce = dlsym(nccl, "ncclAllReduce");
    open_ranks();
    MUST(init_all(communicators, devices, NULL));
    for (int i = 0; i < repeats; i++) {
        for (int device = 0; device < devices; device++) {
            MUST(cudaSetDevice(device));
            MUST(gemms_ex(&ranks[device].gemms, 64, 64, 32));
        }
        MUST(start());
        for (int device = 0; device < devices; device++)
            MUST(all_reduce(ranks[device].buffer, ranks[device].buffer, COUNT / 2, HALF_PRECISION, SUM,
                            communicators[device], ranks[device].gemms.stream));
        MUST(end());
    }
    finish();
    for (int device = 0; device < devices; device++)
        MUST(destroy(communicators[device]));
}

/* Contexts of the driver's beside the runtime's, on one device; each has a default stream of its own. */
static void run_contexts(void)
{
    int (*create)(void **, unsigned, int), (*set)(void *), (*synchronize)(void);
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *contexts[2];
    MUST(!driver);
    *(void **)&create = dlsym(driver, "cuCtxCreate_v2");
    *(void **)&set = dlsym(driver, "cuCtxSetCurrent");
    *(void **)&synchronize = dlsym(driver, "cuCtxSynchronize");
    open_rank(&ranks[0], 0);
    for (int i = 0; i < 2; i++)
        MUST(create(&contexts[i], 0, 0));
    for (int i = 0; i < repeats; i++) {
        for (unsigned which = 0; which < 2; which++) {
            MUST(set(contexts[which]));
            launch((const void *)kernel_stub, 5 + which, NULL);
        }
        MUST(cudaSetDevice(0));
        step(&ranks[0]);
    }
    for (int i = 0; i < 2; i++) {
        MUST(set(contexts[i]));
        MUST(synchronize());
    }
    MUST(cudaSetDevice(0));
    MUST(cudaDeviceSynchronize());
}

/* clang-format off */
static const struct {
    const char *name;
    void (*run)(void);
} modes[] = {
    {"eager", run_eager}, {"graphs", run_graphs}, {"threads", run_threads}, {"contexts", run_contexts},
    {"nccl", run_nccl},
};
/* clang-format on */

int main(int count, char **arguments)
{
    static char kernel[] = "one_kernel",
                all_reduce[] = "_Z40ncclDevKernel_AllReduce_Sum_bf16_RING_LL24ncclDevKernelArgsStorageILm4096EE";
    for (size_t i = 0; count == 3 && i < sizeof modes / sizeof modes[0]; i++) {
        if (strcmp(modes[i].name, arguments[1]) != 0)
            continue;
        repeats = atoi(arguments[2]);
        __cudaRegisterFunction(NULL, (const char *)kernel_stub, kernel, kernel, -1, NULL, NULL, NULL, NULL, NULL);
        __cudaRegisterFunction(NULL, (const char *)all_reduce_stub, all_reduce, all_reduce, -1, NULL, NULL, NULL, NULL,
                               NULL);
        MUST(cudaGetDeviceCount(&devices));
        printf("%d devices\n", devices);
        modes[i].run();
        return 0;
    }
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        fprintf(stderr, "e2e_devices %s REPEATS\n", modes[i].name);
    return 2;
}
