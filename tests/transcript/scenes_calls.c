/* SPDX-License-Identifier: Apache-2.0 */
/* Scenes of calls: what is refused and what that leaves behind, captures into graphs, and sizes beyond 32 bits. */
#include "subject.h"

#include <cuda.h>
#include <stdlib.h>
#include <string.h>

static void unregistered(void)
{
}

/* ---- errors: each with the sticky error after it ---- */

#define REFUSED(name, expression)                                                                                      \
    do {                                                                                                               \
        CALL("errors", name, expression);                                                                              \
        tell_sticky_error(name);                                                                                       \
    } while (0)

static void refused_launches(void)
{
    const void *stub = registered_kernel;
    cudaLaunchConfig_t config = {.gridDim = {1, 1, 1}, .blockDim = {32, 1, 1}, .stream = gemms.stream};
    cudaLaunchConfig_t elsewhere = config, empty = {0}, attributed = config;
    elsewhere.stream = (cudaStream_t)(uintptr_t)0x123450;
    attributed.numAttrs = 1; /* and none there */
    REFUSED("ExC without a config", cudaLaunchKernelExC(NULL, stub, NULL));
    REFUSED("ExC without a kernel", cudaLaunchKernelExC(&config, NULL, NULL));
    REFUSED("ExC on no stream", cudaLaunchKernelExC(&elsewhere, stub, NULL));
    REFUSED("ExC of no blocks", cudaLaunchKernelExC(&empty, stub, NULL));
    REFUSED("ExC with attributes nowhere", cudaLaunchKernelExC(&attributed, stub, NULL));
    REFUSED("unregistered",
            cudaLaunchKernel((const void *)unregistered, (dim3){1, 1, 1}, (dim3){32, 1, 1}, NULL, 0, gemms.stream));
    REFUSED("on no stream", cudaLaunchKernel(stub, (dim3){1, 1, 1}, (dim3){32, 1, 1}, NULL, 0, elsewhere.stream));
    REFUSED("cooperative", cudaLaunchCooperativeKernel(NULL, (dim3){1, 1, 1}, (dim3){32, 1, 1}, NULL, 0, NULL));
    REFUSED("driver without a kernel", cuLaunchKernel(NULL, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    REFUSED("driver without a config", cuLaunchKernelEx(NULL, NULL, NULL, NULL));
    REFUSED("graph of nothing", cudaGraphLaunch(NULL, gemms.stream));
}

static void refused_products(void)
{
    const float one = 1;
    float *x = gemms.memory;
    struct gemms none = {0};
    REFUSED("gemm without a handle", gemms_ex(&none, 8, 8, 8));
    REFUSED("lt without a handle", gemms_lt(&none, 8, 8, 8));
    REFUSED("gemm of a negative size", gemms_ex(&gemms, -1, 8, 8));
    REFUSED("gemm without alpha",
            cublasSgemm(gemms.blas, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, NULL, x, 8, x, 8, &one, x, 8));
    REFUSED("gemm without a matrix",
            cublasSgemm(gemms.blas, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, NULL, 8, NULL, 8, &one, NULL, 8));
    REFUSED("gemm of an unknown operation",
            cublasSgemm(gemms.blas, (cublasOperation_t)99, CUBLAS_OP_N, 8, 8, 8, &one, x, 8, x, 8, &one, x, 8));
    REFUSED("gemm of nothing", gemms_ex(&gemms, 0, 8, 8));
    REFUSED("lt without descriptors", cublasLtMatmul(gemms.lt, NULL, &one, x, NULL, x, NULL, &one, x, NULL, x, NULL,
                                                     NULL, NULL, 0, gemms.stream));
}

int scene_errors(const char *unused)
{
    (void)unused;
    if (!gemms_open(&gemms))
        return 3;
    for (int i = 0; i < 2; i++) {
        refused_launches();
        tell("sticky_error taken %d\n", (int)cudaGetLastError());
        tell("sticky_error then %d\n", (int)cudaGetLastError());
        REFUSED("a good one after that", launch());
        refused_products();
        REFUSED("a free of what is none", cudaFree((void *)(uintptr_t)0x123450));
        call_all("after errors"); /* good calls leave an error where it is */
    }
    look("end");
    return 8;
}

/* ---- captures ---- */

static void good(int result, const char *what)
{
    if (result == 0)
        return;
    tell("results %s failed with %d\n", what, result);
    exit(9);
}

static void tell_nodes(cudaGraph_t graph)
{
    size_t count = 0;
    good(cudaGraphGetNodes(graph, NULL, &count), "number of nodes");
    cudaGraphNode_t *nodes = calloc(count + 1, sizeof *nodes);
    good(cudaGraphGetNodes(graph, nodes, &count), "nodes");
    tell("nodes %zu\n", count);
    for (size_t i = 0; i < count; i++) {
        enum cudaGraphNodeType type;
        struct cudaKernelNodeParams params;
        memset(&params, 0, sizeof params);
        good(cudaGraphNodeGetType(nodes[i], &type), "type of a node");
        if (type == cudaGraphNodeTypeKernel)
            good(cudaGraphKernelNodeGetParams(nodes[i], &params), "parameters of a node");
        tell("nodes %zu type %d grid %u %u %u block %u\n", i, (int)type, params.gridDim.x, params.gridDim.y,
             params.gridDim.z, params.blockDim.x);
    }
    free(nodes);
}

static cudaGraph_t captured(enum cudaStreamCaptureMode mode, int gemm_count)
{
    cudaGraph_t graph = NULL;
    enum cudaStreamCaptureStatus status;
    good(cudaStreamBeginCapture(gemms.stream, mode), "begin");
    for (int i = 0; i < gemm_count; i++)
        CALL("capture", "ex", gemms_ex(&gemms, 64, 8 * (i + 1), 64));
    CALL("capture", "sgemm", gemms_sgemm(&gemms, 16, 16, 16));
    CALL("capture", "lt", gemms_lt(&gemms, 16, 16, 16));
    CALL("capture", "launch", launch());
    CALL("capture", "refused", gemms_ex(&gemms, -1, 8, 8));
    good(cudaStreamIsCapturing(gemms.stream, &status), "status");
    tell("results capturing %d\n", (int)status);
    good(cudaStreamEndCapture(gemms.stream, &graph), "end");
    return graph;
}

/* With `first` the process's first calls are inside a capture. */
int scene_capture(const char *argument)
{
    static const enum cudaStreamCaptureMode modes[] = {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
                                                       cudaStreamCaptureModeRelaxed};
    if (!gemms_open(&gemms))
        return 3;
    if (!argument)
        call_all("before");
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        cudaGraphExec_t exec;
        cudaGraph_t graph = captured(modes[i], 10);
        tell_nodes(graph);
        good(cudaGraphInstantiate(&exec, graph, 0), "instantiate");
        for (int replay = 0; replay < 3; replay++)
            CALL("replay", "graph", cudaGraphLaunch(exec, gemms.stream));
        good(cudaStreamSynchronize(gemms.stream), "synchronize");
        good(cudaGraphExecDestroy(exec), "destroy");
        good(cudaGraphDestroy(graph), "destroy");
        tell_sticky_error("capture");
    }
    look("end");
    return 8;
}

/* ---- products beyond 32 bits, grids as large as can be, contexts that take turns ---- */

static int large_batch(void)
{
    const float one = 1, zero = 0;
    float *x = gemms.memory;
    return cublasSgemmStridedBatched(gemms.blas, CUBLAS_OP_N, CUBLAS_OP_N, 4096, 4096, 4096, &one, x, 4096, 1 << 24, x,
                                     4096, 1 << 24, &zero, x, 4096, 1 << 24, 65536);
}

static int large_grid(void)
{
    return cudaLaunchKernel(registered_kernel, (dim3){65535, 65535, 1}, (dim3){1024, 1, 1}, NULL, 0, gemms.stream);
}

int scene_large(const char *unused)
{
    (void)unused;
    CUcontext contexts[2];
    struct gemms own[2] = {{0}};
    good((int)cuInit(0), "init");
    for (int i = 0; i < 2; i++) {
        good((int)cuCtxCreate(&contexts[i], NULL, 0, 0), "context");
        if (!gemms_open(&own[i]))
            return 3;
    }
    for (int i = 0; i < 10; i++) {
        good((int)cuCtxSetCurrent(contexts[i & 1]), "current");
        gemms = own[i & 1];
        CALL("large", "ex", gemms_ex(&gemms, 70000, 70000, 70000));
        CALL("large", "batch", large_batch());
        CALL("large", "grid", large_grid());
    }
    for (int i = 0; i < 2; i++)
        good((int)cuCtxSetCurrent(contexts[i]) + (int)cuCtxSynchronize(), "synchronize");
    tell_sticky_error("large");
    return 8;
}
