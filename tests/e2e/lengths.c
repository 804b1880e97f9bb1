/* SPDX-License-Identifier: Apache-2.0 */
/* A decode loop in small: `e2e_lengths MODE REPLAYS`, modes in the table at the end. `paged_attention` reads as many
 * sequence lengths as its parameter 4 says from where its parameter 3 points; each step fills that buffer anew. Prints, for
 * each step whose launches rooftap can know of, a line `least most sum launches` of the lengths that the kernel found. */
#include "program.h"

#include <cuda.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BATCH = 8, LAYERS = 3 };

static int replays;
static cudaStream_t stream;
static int32_t *lengths_on_device; /* BATCH lengths; BATCH + 1 sums */
static void *memory;

static void attention_stub(void)
{
}

static void other_stub(void)
{
}

static void attend(int32_t *lengths, int32_t batch)
{
    float scale = 1;
    void *parameters[] = {&memory, &memory, &scale, &lengths, &batch};
    MUST(cudaLaunchKernel((const void *)attention_stub, (dim3){32, (unsigned)batch, 1}, (dim3){128, 1, 1}, parameters,
                          0, stream));
}

static void other(void)
{
    MUST(cudaLaunchKernel((const void *)other_stub, (dim3){1, 1, 1}, (dim3){32, 1, 1}, NULL, 0, stream));
}

static void layers(int32_t *lengths, int32_t batch)
{
    for (int i = 0; i < LAYERS; i++) {
        other();
        attend(lengths, batch);
    }
}

/* Those of step STEP; some sequences are not there. */
static void lengths_of(int step, int32_t lengths[BATCH])
{
    for (int i = 0; i < BATCH; i++)
        lengths[i] = i == BATCH - 1 && step % 4 == 0 ? 0 : 100 * (i + 1) + step;
}

static void print_step(const int32_t lengths[BATCH], int batch, int launches)
{
    int32_t least = INT32_MAX, most = 0;
    int64_t sum = 0;
    for (int i = 0; i < batch; i++) {
        least = lengths[i] < least ? lengths[i] : least;
        most = lengths[i] > most ? lengths[i] : most;
        sum += lengths[i];
    }
    printf("%d %d %lld %d\n", least, most, (long long)sum, launches);
}

static cudaGraphExec_t captured(int32_t batch)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    size_t nodes = 0;
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    layers(lengths_on_device, batch);
    MUST(cudaStreamEndCapture(stream, &graph));
    MUST(cudaGraphGetNodes(graph, NULL, &nodes));
    if (nodes != 2 * LAYERS)
        exit(7);
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphDestroy(graph));
    return exec;
}

/* ---- modes ---- */

/* Full graphs, as engines decode: the copy stands outside of the graph, its source is pinned. */
static void run_pinned(void)
{
    int32_t *lengths;
    MUST(cudaMallocHost((void **)&lengths, sizeof(int32_t) * BATCH));
    layers(lengths_on_device, BATCH); /* warming up; nobody knows these */
    cudaGraphExec_t exec = captured(BATCH);
    for (int step = 0; step < replays; step++) {
        lengths_of(step, lengths);
        MUST(cudaMemcpyAsync(lengths_on_device, lengths, sizeof(int32_t) * BATCH, cudaMemcpyHostToDevice, stream));
        MUST(cudaGraphLaunch(exec, stream));
        print_step(lengths, BATCH, 1);
        MUST(cudaStreamSynchronize(stream));
    }
}

/* The source is gone as soon as the copy returns. */
static void run_pageable(void)
{
    layers(lengths_on_device, BATCH);
    cudaGraphExec_t exec = captured(BATCH);
    for (int step = 0; step < replays; step++) {
        int32_t *lengths = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        lengths_of(step, lengths);
        int32_t kept[BATCH];
        memcpy(kept, lengths, sizeof kept);
        errno = E2BIG;
        MUST(cudaMemcpyAsync(lengths_on_device, lengths, sizeof kept, cudaMemcpyDefault, stream));
        if (errno != E2BIG)
            exit(4);
        munmap(lengths, 4096);
        MUST(cudaGraphLaunch(exec, stream));
        MUST(cudaGraphLaunch(exec, stream)); /* the same lengths twice */
        print_step(kept, BATCH, 2);
    }
}

/* Graphs of two batch sizes read the begin of one buffer, which is filled whole. */
static void run_two_sizes(void)
{
    int32_t lengths[BATCH];
    layers(lengths_on_device, BATCH);
    cudaGraphExec_t large = captured(BATCH), small = captured(3);
    for (int step = 0; step < replays; step++) {
        lengths_of(step, lengths);
        MUST(cuMemcpyHtoDAsync((CUdeviceptr)(uintptr_t)lengths_on_device, lengths, sizeof lengths, (CUstream)stream));
        MUST(cudaGraphLaunch(step % 2 ? large : small, stream));
        print_step(lengths, step % 2 ? BATCH : 3, 1);
    }
}

/* Launch by launch; the lengths of the first step are filled before anybody watches. */
static void run_eager(void)
{
    int32_t lengths[BATCH];
    for (int step = 0; step < replays; step++) {
        lengths_of(step, lengths);
        MUST(cudaMemcpyAsync(lengths_on_device, lengths, sizeof lengths, cudaMemcpyHostToDevice, stream));
        layers(lengths_on_device, BATCH);
        if (step)
            print_step(lengths, BATCH, LAYERS);
    }
}

/* Running sums, named so by the rule. */
static void run_cumulative(void)
{
    int32_t lengths[BATCH], sums[BATCH + 1] = {0};
    layers(lengths_on_device, BATCH);
    cudaGraphExec_t exec = captured(BATCH);
    for (int step = 0; step < replays; step++) {
        lengths_of(step, lengths);
        for (int i = 0; i < BATCH; i++)
            sums[i + 1] = sums[i] + lengths[i];
        MUST(cudaMemcpy(lengths_on_device, sums, sizeof sums, cudaMemcpyHostToDevice));
        MUST(cudaGraphLaunch(exec, stream));
        print_step(lengths, BATCH, 1);
    }
}

/* The copy is a node of the graph: its source is read at each replay. */
static void run_copy_captured(void)
{
    int32_t *lengths;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    MUST(cudaMallocHost((void **)&lengths, sizeof(int32_t) * BATCH));
    layers(lengths_on_device, BATCH);
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    MUST(cudaMemcpyAsync(lengths_on_device, lengths, sizeof(int32_t) * BATCH, cudaMemcpyHostToDevice, stream));
    layers(lengths_on_device, BATCH);
    MUST(cudaStreamEndCapture(stream, &graph));
    size_t nodes = 0;
    MUST(cudaGraphGetNodes(graph, NULL, &nodes));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    if (nodes != 1 + 2 * LAYERS)
        exit(5);
    /* Which copies a graph has is known soon after its first launch; until then its lengths are not. */
    for (int step = 0; step < 40; step++) {
        lengths_of(7, lengths);
        MUST(cudaGraphLaunch(exec, stream));
        MUST(cudaStreamSynchronize(stream));
        usleep(10000);
    }
    for (int step = 1000; step < 1000 + replays; step++) {
        lengths_of(step, lengths);
        MUST(cudaGraphLaunch(exec, stream));
        print_step(lengths, BATCH, 1);
        MUST(cudaStreamSynchronize(stream));
    }
}

/* What other writers put there is not known, and not what was there before. */
static void run_overwritten(void)
{
    int32_t lengths[BATCH], *elsewhere;
    MUST(cudaMalloc((void **)&elsewhere, 4096));
    layers(lengths_on_device, BATCH);
    cudaGraphExec_t exec = captured(BATCH);
    for (int step = 0; step < replays; step++) {
        lengths_of(step, lengths);
        MUST(cudaMemcpyAsync(lengths_on_device, lengths, sizeof lengths, cudaMemcpyHostToDevice, stream));
        MUST(cudaGraphLaunch(exec, stream));
        print_step(lengths, BATCH, 1);
        MUST(cudaMemcpyAsync(lengths_on_device + 2, elsewhere, 4, cudaMemcpyDeviceToDevice, stream));
        MUST(cudaGraphLaunch(exec, stream)); /* not known */
        MUST(cudaMemcpyAsync(lengths_on_device + 2, lengths + 2, 4, cudaMemcpyHostToDevice, stream));
        MUST(cudaGraphLaunch(exec, stream));
        print_step(lengths, BATCH, 1);
    }
}

static void run_fork(void)
{
    int32_t lengths[BATCH];
    layers(lengths_on_device, BATCH);
    cudaGraphExec_t exec = captured(BATCH);
    for (int step = 0; step < replays; step++) {
        lengths_of(step, lengths);
        MUST(cudaMemcpyAsync(lengths_on_device, lengths, sizeof lengths, cudaMemcpyHostToDevice, stream));
        if (step == replays / 2) {
            pid_t child = fork();
            if (!child)
                _exit(0);
            int status = 1;
            if (waitpid(child, &status, 0) != child || status)
                exit(6);
        }
        MUST(cudaGraphLaunch(exec, stream));
        print_step(lengths, BATCH, 1);
    }
}

/* Lengths that come from the device itself, as where a kernel computes them: no copy from the host tells them. */
static void run_from_device(void)
{
    int32_t lengths[BATCH], *elsewhere;
    MUST(cudaMalloc((void **)&elsewhere, 4096));
    layers(lengths_on_device, BATCH);
    cudaGraphExec_t exec = captured(BATCH);
    for (int step = 0; step < replays; step++) {
        lengths_of(step, lengths);
        MUST(cudaMemcpyAsync(elsewhere, lengths, sizeof lengths, cudaMemcpyHostToDevice, stream));
        MUST(cudaMemcpyAsync(lengths_on_device, elsewhere, sizeof lengths, cudaMemcpyDeviceToDevice, stream));
        MUST(cudaGraphLaunch(exec, stream));
        MUST(cudaStreamSynchronize(stream));
        print_step(lengths, BATCH, 1);
        usleep(5000);
        if (step % 10 == 9) /* nothing is asked for in here, nor does anything of it get into the graph */
            MUST(cudaGraphExecDestroy(captured(BATCH)));
    }
    MUST(cudaDeviceReset());
}

/* Other threads copy elsewhere. */
struct elsewhere {
    cudaStream_t stream;
    void *device;
};

static void *copy_elsewhere(void *argument)
{
    const struct elsewhere *to = argument;
    char host[256] = {0};
    for (int i = 0; i < 2000; i++)
        MUST(cudaMemcpyAsync(to->device, host, sizeof host, cudaMemcpyHostToDevice, to->stream));
    return NULL;
}

static void run_threads(void)
{
    pthread_t threads[3];
    struct elsewhere elsewhere[3];
    for (int i = 0; i < 3; i++) {
        MUST(cudaStreamCreateWithFlags(&elsewhere[i].stream, cudaStreamNonBlocking));
        MUST(cudaMalloc(&elsewhere[i].device, 256));
    }
    for (int i = 0; i < 3; i++)
        MUST(pthread_create(&threads[i], NULL, copy_elsewhere, &elsewhere[i]));
    run_pageable();
    for (int i = 0; i < 3; i++)
        MUST(pthread_join(threads[i], NULL));
}

/* clang-format off */
static const struct {
    const char *name;
    void (*run)(void);
} modes[] = {
    {"pinned", run_pinned},           {"pageable", run_pageable},       {"two_sizes", run_two_sizes}, {"eager", run_eager},
    {"cumulative", run_cumulative},   {"copy_captured", run_copy_captured}, {"overwritten", run_overwritten},
    {"fork", run_fork},               {"threads", run_threads},         {"from_device", run_from_device},
};
/* clang-format on */

int main(int count, char **arguments)
{
    static char attention[] = "paged_attention", another[] = "other_kernel";
    __cudaRegisterFunction(NULL, (const char *)attention_stub, attention, attention, -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(NULL, (const char *)other_stub, another, another, -1, NULL, NULL, NULL, NULL, NULL);
    replays = count == 3 ? atoi(arguments[2]) : 0;
    for (size_t i = 0; replays > 0 && i < sizeof modes / sizeof modes[0]; i++)
        if (!strcmp(modes[i].name, arguments[1])) {
            MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
            MUST(cudaMalloc(&memory, 1 << 20));
            MUST(cudaMalloc((void **)&lengths_on_device, 4096));
            modes[i].run();
            MUST(cudaDeviceSynchronize());
            return 0;
        }
    fprintf(stderr, "usage: e2e_lengths MODE REPLAYS\n");
    return 2;
}
