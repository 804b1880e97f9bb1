/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU as the questions use it. cuBLAS's few declarations are ours, since its headers come only with large packages. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/gpu/probe.h"

struct gpu gpu;

/* Any toolkit of the last years takes it, and every GPU since Turing. */
static const char empty_ptx[] = ".version 6.5\n.target sm_75\n.address_size 64\n"
                                ".visible .entry probe_empty()\n{\n    ret;\n}\n";

uint64_t monotonic_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t realtime_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void *library_open(const char *const *names)
{
    void *handle = NULL;
    for (; *names && !handle; names++)
        handle = dlopen(*names, RTLD_NOW | RTLD_GLOBAL);
    return handle;
}

static void no_gpu(const char *why)
{
    fprintf(stderr, "probe: no GPU here: %s; nothing was asked\n", why);
    exit(77);
}

static void must(CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "probe: %s returned %d, expected 0\n", what, (int)result);
    exit(1);
}
#define MUST(call) must(gpu.call, #call)

#define NAME_OF(name) #name
#define BIND(name)                                                                                                     \
    *(void **)&gpu.name = dlsym(handle, NAME_OF(name));                                                                \
    if (!gpu.name)                                                                                                     \
        no_gpu("the driver lacks " NAME_OF(name));

void gpu_load(void)
{
    static const char *const names[] = {"libcuda.so.1", NULL};
    void *handle = library_open(names);
    if (!handle)
        no_gpu("libcuda.so.1 does not load");
#define F(name) BIND(name)
    DRIVER_FUNCTIONS(F)
#undef F
}

void gpu_init(void)
{
    CUmodule module;
    char why[64];
    CUresult result = gpu.cuInit(0);
    snprintf(why, sizeof why, "cuInit returned %d", (int)result);
    if (result != CUDA_SUCCESS)
        no_gpu(why);
    MUST(cuDriverGetVersion(&gpu.driver_version));
    MUST(cuDeviceGet(&gpu.device, 0));
    MUST(cuDeviceGetName(gpu.name, sizeof gpu.name, gpu.device));
    gpu.simulated = strncmp(gpu.name, "Simulated ", 10) == 0;
    MUST(cuDevicePrimaryCtxRetain(&gpu.context, gpu.device));
    MUST(cuCtxSetCurrent(gpu.context));
    MUST(cuStreamCreate(&gpu.stream, CU_STREAM_NON_BLOCKING));
    MUST(cuModuleLoadData(&module, empty_ptx));
    MUST(cuModuleGetFunction(&gpu.empty, module, "probe_empty"));
}

void gpu_launch(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        MUST(cuLaunchKernel(gpu.empty, 3, 2, 1, 32, 1, 1, 0, gpu.stream, NULL, NULL));
}

void gpu_synchronize(void)
{
    MUST(cuStreamSynchronize(gpu.stream));
}

CUgraph gpu_capture(unsigned kernels)
{
    CUgraph graph = NULL;
    MUST(cuStreamBeginCapture(gpu.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    gpu_launch(kernels);
    MUST(cuStreamEndCapture(gpu.stream, &graph));
    return graph;
}

/* ---- cuBLAS ---- */

enum { GEMM_SIDE = 512, CUDA_R_16BF_ = 14, CUBLAS_COMPUTE_32F_ = 68 };

static struct {
    int (*create)(void **handle);
    int (*set_stream)(void *handle, CUstream stream);
    int (*gemm_ex)(void *handle, int transa, int transb, int m, int n, int k, const void *alpha, const void *a,
                   int type_a, int lda, const void *b, int type_b, int ldb, const void *beta, void *c, int type_c,
                   int ldc, int type_compute, int algorithm);
    void *handle;
    CUdeviceptr operands;
} blas;

bool gemm_open(void)
{
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", NULL};
    void *handle = library_open(names);
    if (!handle)
        return false;
    *(void **)&blas.create = dlsym(handle, "cublasCreate_v2");
    *(void **)&blas.set_stream = dlsym(handle, "cublasSetStream_v2");
    *(void **)&blas.gemm_ex = dlsym(handle, "cublasGemmEx");
    if (!blas.create || !blas.set_stream || !blas.gemm_ex || blas.create(&blas.handle) != 0)
        return false;
    MUST(cuMemAlloc(&blas.operands, 3 * 2 * GEMM_SIDE * GEMM_SIDE));
    return blas.set_stream(blas.handle, gpu.stream) == 0;
}

bool gemm_call(void)
{
    float one = 1, zero = 0;
    const char *a = (const char *)(uintptr_t)blas.operands;
    const char *b = a + 2 * GEMM_SIDE * GEMM_SIDE;
    void *c = (void *)(uintptr_t)(blas.operands + 4 * GEMM_SIDE * GEMM_SIDE);
    return blas.gemm_ex(blas.handle, 1, 0, GEMM_SIDE, GEMM_SIDE, GEMM_SIDE, &one, a, CUDA_R_16BF_, GEMM_SIDE, b,
                        CUDA_R_16BF_, GEMM_SIDE, &zero, c, CUDA_R_16BF_, GEMM_SIDE, CUBLAS_COMPUTE_32F_, -1) == 0;
}
