/* SPDX-License-Identifier: Apache-2.0 */
/* A program that asks the GPU for work: `e2e_calls MODE [ARGUMENT]...`, modes in the table at the end. It prints nothing
 * unless something failed that should not. */
#include "gemms.h"
#include "program.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct gemms gemms;

static void kernel_stub(void)
{
}

static int launch(cudaStream_t stream, unsigned blocks)
{
    return cudaLaunchKernel((const void *)kernel_stub, (dim3){blocks, 1, 1}, (dim3){32, 1, 1}, NULL, 0, stream);
}

static int finish(const struct gemms *of)
{
    return cudaStreamSynchronize(of->stream) == cudaSuccess ? 0 : 1;
}

/* ---- modes: each returns the exit status ---- */

static int run_one(char **arguments)
{
    const char *entry = arguments[0];
    int m = atoi(arguments[1]), n = atoi(arguments[2]), k = atoi(arguments[3]), failed = 0;
    int (*call)(struct gemms *, int, int, int) = !strcmp(entry, "lt")      ? gemms_lt
                                                 : !strcmp(entry, "sgemm") ? gemms_sgemm
                                                                           : gemms_ex;
    for (int i = atoi(arguments[4]); i > 0; i--)
        failed += call(&gemms, m, n, k) != CUBLAS_STATUS_SUCCESS;
    failed += finish(&gemms);
    if (failed)
        fprintf(stderr, "%d failed\n", failed);
    return failed ? 1 : 0;
}

static int run_failing(char **arguments)
{
    int failed = 0;
    for (int i = atoi(arguments[0]); i > 0; i--)
        failed += gemms_ex(&gemms, 64, 32, 16) != CUBLAS_STATUS_SUCCESS;
    printf("%d failed\n", failed);
    return finish(&gemms);
}

static int run_leave(char **arguments)
{
    const char *how = arguments[0];
    int status = atoi(arguments[1]);
    for (int i = 0; i < 25; i++)
        gemms_ex(&gemms, 64, 32, 16);
    launch(gemms.stream, 1);
    finish(&gemms);
    if (!strcmp(how, "return"))
        return status;
    if (!strcmp(how, "exit"))
        exit(status);
    if (!strcmp(how, "quick_exit"))
        quick_exit(status);
    if (!strcmp(how, "exit_group"))
        syscall(SYS_exit_group, status);
    _exit(status);
}

static int thread_calls, thread_count;
static struct gemms streams[16];
static int stream_count;

static void *thread_body(void *argument)
{
    int index = (int)(intptr_t)argument;
    struct gemms own;
    intptr_t failed = !gemms_open(&own);
    for (int i = 0; !failed && i < thread_calls; i++) {
        /* the handle is the thread's, the streams are shared */
        own.stream = streams[(index + i) % stream_count].stream;
        cublasSetStream(own.blas, own.stream);
        failed += gemms_ex(&own, 16 * (index + 1), 1 + i % 7, 64) != CUBLAS_STATUS_SUCCESS;
        failed += launch(own.stream, (unsigned)index + 1) != cudaSuccess;
        failed += gemms_lt(&own, 16 * (index + 1), 8, 32) != CUBLAS_STATUS_SUCCESS;
        if (i % 5 == 0)
            failed += gemms_sgemm(&own, 16, 1 + index, 8) != CUBLAS_STATUS_SUCCESS;
        if (i % 64 == 63)
            failed += finish(&own);
    }
    return (void *)failed;
}

static int run_threads(char **arguments)
{
    pthread_t thread[64];
    intptr_t failed = 0;
    thread_count = atoi(arguments[0]);
    thread_calls = atoi(arguments[1]);
    stream_count = atoi(arguments[2]);
    if (thread_count < 1 || thread_count > 64 || stream_count < 1 || stream_count > 16)
        return 2;
    for (int i = 0; i < stream_count; i++)
        if (!gemms_open(&streams[i]))
            return 1;
    for (int i = 0; i < thread_count; i++)
        pthread_create(&thread[i], NULL, thread_body, (void *)(intptr_t)i);
    for (int i = 0; i < thread_count; i++) {
        void *result;
        pthread_join(thread[i], &result);
        failed += (intptr_t)result;
    }
    if (failed)
        fprintf(stderr, "%ld failed\n", (long)failed);
    return failed || cudaDeviceSynchronize() != cudaSuccess ? 1 : 0;
}

static int run_graph(char **arguments)
{
    int replays = atoi(arguments[0]), failed = 0;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    gemms_ex(&gemms, 64, 32, 16); /* once directly, as frameworks warm up */
    failed += finish(&gemms);
    failed += cudaStreamBeginCapture(gemms.stream, cudaStreamCaptureModeGlobal) != cudaSuccess;
    failed += gemms_ex(&gemms, 128, 64, 32) != CUBLAS_STATUS_SUCCESS;
    failed += launch(gemms.stream, 3) != cudaSuccess;
    failed += cudaStreamEndCapture(gemms.stream, &graph) != cudaSuccess;
    failed += cudaGraphInstantiate(&exec, graph, 0) != cudaSuccess;
    for (int i = 0; i < replays; i++) {
        failed += cudaGraphLaunch(exec, gemms.stream) != cudaSuccess;
        if (i % 256 == 255) /* a GPU's queue is full at some time; the simulated one's never is */
            failed += finish(&gemms);
    }
    failed += finish(&gemms);
    failed += cudaGraphExecDestroy(exec) != cudaSuccess;
    failed += cudaGraphDestroy(graph) != cudaSuccess;
    if (failed)
        fprintf(stderr, "%d failed\n", failed);
    return failed ? 1 : 0;
}

/* Nothing of CUDA was called before: the runtime initialises the driver in the first launch. */
static int run_bare(char **arguments)
{
    int failed = 0;
    for (int i = atoi(arguments[0]); i > 0; i--)
        failed += launch(NULL, 1) != cudaSuccess;
    return failed || cudaDeviceSynchronize() != cudaSuccess ? 1 : 0;
}

/* The first launches are captured, and many. */
static int run_captured(char **arguments)
{
    int failed = 0;
    cudaStream_t stream;
    cudaGraph_t graph;
    failed += cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess;
    failed += cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) != cudaSuccess;
    for (int i = atoi(arguments[0]); i > 0; i--)
        failed += launch(stream, 3) != cudaSuccess;
    failed += cudaStreamEndCapture(stream, &graph) != cudaSuccess;
    for (int i = atoi(arguments[1]); i > 0; i--)
        failed += launch(stream, 1) != cudaSuccess;
    return failed || cudaDeviceSynchronize() != cudaSuccess ? 1 : 0;
}

/* clang-format off */
static const struct {
    const char *name;
    int arguments;
    int (*run)(char **arguments);
    const char *help;
    bool bare; /* does without a cuBLAS handle */
} modes[] = {
    {"one",     5, run_one,     "ex|sgemm|lt M N K COUNT: so many calls of one entry point", false},
    {"failing", 1, run_failing, "COUNT: calls that may fail; prints how many did", false},
    {"leave",   2, run_leave,   "return|exit|_exit|quick_exit|exit_group STATUS: 25 calls and a launch, then leaves so", false},
    {"threads", 3, run_threads, "THREADS CALLS STREAMS: cublasGemmEx, launch and cublasLtMatmul CALLS times in each thread", false},
    {"graph",   1, run_graph,   "REPLAYS: a GEMM and a kernel captured, then replayed", false},
    {"bare",    1, run_bare,    "COUNT: launches, and no other call of CUDA before them", true},
    {"captured", 2, run_captured, "CAPTURED LAUNCHES: launches, the first of them captured", true},
};
/* clang-format on */

int main(int count, char **arguments)
{
    static char name[] = "e2e_kernel";
    for (size_t i = 0; count > 1 && i < sizeof modes / sizeof modes[0]; i++) {
        if (strcmp(modes[i].name, arguments[1]) != 0 || modes[i].arguments != count - 2)
            continue;
        __cudaRegisterFunction(NULL, (const char *)kernel_stub, name, name, -1, NULL, NULL, NULL, NULL, NULL);
        if (!modes[i].bare && !gemms_open(&gemms)) {
            fprintf(stderr, "no GPU\n");
            return 3;
        }
        return modes[i].run(arguments + 2);
    }
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        fprintf(stderr, "e2e_calls %s %s\n", modes[i].name, modes[i].help);
    return 2;
}
