/* SPDX-License-Identifier: Apache-2.0 */
/* A program to be timed by events: `e2e_events MODE COUNT`, modes in the table at the end. Prints what a run without rooftap
 * must print too. */
#include "gemms.h"
#include "program.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gemms gemms;
static int count;

static void stub(void)
{
}

static void launch_on(cudaStream_t stream)
{
    MUST(cudaLaunchKernel((const void *)stub, (dim3){3, 1, 1}, (dim3){32, 1, 1}, NULL, 0, stream));
}

/* GEMMs of some 14 ms on the `unit` device: what follows on the stream begins when what is before it ends. */
static void keep_busy(void)
{
    for (int i = 0; i < 10; i++)
        MUST(gemms_ex(&gemms, 8192, 8192, 8192));
}

static void print_nodes(cudaGraph_t graph)
{
    size_t nodes = 0, edges = 0;
    MUST(cudaGraphGetNodes(graph, NULL, &nodes));
#if CUDART_VERSION >= 13000
    MUST(cudaGraphGetEdges(graph, NULL, NULL, NULL, &edges));
#else
    MUST(cudaGraphGetEdges(graph, NULL, NULL, &edges));
#endif
    printf("%zu nodes, %zu edges\n", nodes, edges);
}

static cudaGraphExec_t captured(cudaStream_t stream, int m)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    MUST(gemms_ex(&gemms, m, 64, 32));
    launch_on(stream);
    MUST(gemms_lt(&gemms, m, 24, 40));
    MUST(cudaStreamEndCapture(stream, &graph));
    print_nodes(graph);
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphDestroy(graph));
    return exec;
}

/* ---- modes ---- */

static void run_busy(void)
{
    keep_busy();
    for (int i = 0; i < count; i++) {
        MUST(gemms_ex(&gemms, 128, 64, 32));
        launch_on(gemms.stream);
        MUST(gemms_lt(&gemms, 64, 16, 16));
    }
}

/* Graphs between eager work, all of it queued. */
static void run_graphs(void)
{
    MUST(cudaStreamBeginCapture(gemms.stream, cudaStreamCaptureModeGlobal));
    cudaGraphExec_t exec = captured(gemms.stream, 128);
    keep_busy();
    for (int i = 0; i < count; i++) {
        MUST(gemms_ex(&gemms, 32, 32, 32));
        MUST(cudaGraphLaunch(exec, gemms.stream));
    }
    MUST(cudaStreamSynchronize(gemms.stream));
    MUST(cudaGraphExecDestroy(exec));
}

static int capture_ended;

static void *work_beside(void *unused)
{
    cudaStream_t stream;
    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    int mode = cudaStreamCaptureModeRelaxed;
    MUST(cudaThreadExchangeStreamCaptureMode((enum cudaStreamCaptureMode *)&mode));
    while (!__atomic_load_n(&capture_ended, __ATOMIC_ACQUIRE))
        launch_on(stream);
    MUST(cudaStreamSynchronize(stream));
    return unused;
}

/* Captures in the global mode while another thread launches on a stream of its own, and calls are looked at. */
static void run_beside(void)
{
    pthread_t thread;
    MUST(gemms_ex(&gemms, 128, 64, 32));
    MUST(cudaStreamSynchronize(gemms.stream));
    MUST(pthread_create(&thread, NULL, work_beside, NULL));
    for (int i = 0; i < count; i++) {
        MUST(cudaStreamBeginCapture(gemms.stream, cudaStreamCaptureModeGlobal));
        for (int j = 0; j < 50; j++)
            launch_on(gemms.stream);
        cudaGraphExec_t exec = captured(gemms.stream, 16 * (i + 1));
        MUST(cudaGraphLaunch(exec, gemms.stream));
        MUST(cudaStreamSynchronize(gemms.stream));
    }
    __atomic_store_n(&capture_ended, 1, __ATOMIC_RELEASE);
    MUST(pthread_join(thread, NULL));
}

/* The legacy stream while a blocking stream captures: a call without work there is no error, and must not become one. */
static void run_legacy(void)
{
    cudaStream_t blocking;
    cudaGraph_t graph;
    struct gemms legacy = gemms;
    const float one = 1, zero = 0;
    MUST(cublasCreate(&legacy.blas));
    MUST(cudaStreamCreate(&blocking));
    for (int i = 0; i < count; i++) {
        MUST(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeRelaxed));
        launch_on(blocking);
        MUST(cublasSgemm(legacy.blas, CUBLAS_OP_N, CUBLAS_OP_N, 0, 0, 0, &one, NULL, 1, NULL, 1, &zero, NULL, 1));
        launch_on(blocking);
        MUST(cudaStreamEndCapture(blocking, &graph));
        print_nodes(graph);
        launch_on(NULL);
        MUST(gemms_ex(&legacy, 64, 64, 64));
    }
}

/* Errors are the program's own, and errno is what it was. */
static void run_errors(void)
{
    MUST(cudaDeviceSynchronize());
    for (int i = 0; i < count; i++) {
        errno = E2BIG;
        int bad = (int)cudaLaunchKernel((const void *)stub, (dim3){0, 1, 1}, (dim3){32, 1, 1}, NULL, 0, gemms.stream);
        int kept = (int)cudaPeekAtLastError(), taken = (int)cudaGetLastError(), none = (int)cudaGetLastError();
        printf("%d %d %d %d %s\n", bad, kept, taken, none, errno == E2BIG ? "kept" : "changed");
        errno = E2BIG;
        MUST(gemms_ex(&gemms, 32, 32, 32));
        launch_on(gemms.stream);
        printf("%d %s\n", (int)cudaGetLastError(), errno == E2BIG ? "kept" : "changed");
    }
}

static void run_reset(void)
{
    for (int i = 0; i < count; i++) {
        launch_on(gemms.stream);
        launch_on(gemms.stream);
        MUST(cudaStreamSynchronize(gemms.stream));
        MUST(cublasDestroy(gemms.blas));
        MUST(cudaDeviceReset());
        if (!gemms_open(&gemms))
            exit(1);
    }
    printf("%d resets\n", count);
}

static const struct {
    const char *name;
    void (*run)(void);
} modes[] = {
    {"busy", run_busy},     {"graphs", run_graphs}, {"beside", run_beside},
    {"legacy", run_legacy}, {"errors", run_errors}, {"reset", run_reset},
};

int main(int argument_count, char **arguments)
{
    __cudaRegisterFunction(NULL, (const char *)stub, NULL, "one_kernel", -1, NULL, NULL, NULL, NULL, NULL);
    count = argument_count == 3 ? atoi(arguments[2]) : 0;
    for (size_t i = 0; count > 0 && i < sizeof modes / sizeof modes[0]; i++)
        if (!strcmp(modes[i].name, arguments[1])) {
            if (!gemms_open(&gemms))
                return 1;
            modes[i].run();
            MUST(cudaDeviceSynchronize());
            return 0;
        }
    fprintf(stderr, "usage: e2e_events busy|graphs|beside|legacy|errors|reset COUNT\n");
    return 2;
}
