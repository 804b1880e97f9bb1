/* SPDX-License-Identifier: Apache-2.0 */
/* A program without CUDA among what it is linked to, on the simulated GPU.
 *   sim_host gemms LIBRARY local|deepbind [dlvsym]   three cublasGemmEx of 7 x 9 x 11 and one nested cublasSgemm of 5 x 3 x 2
 *   sim_host launches                                five kernels through the driver's look-up, two as Triton launches */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *from(void *library, const char *name)
{
    void *symbol = library ? dlsym(library, name) : NULL;
    if (!symbol) {
        fprintf(stderr, "sim_host: %s: %s\n", name, dlerror());
        exit(2);
    }
    return symbol;
}

static void *opened(const char *file, int mode)
{
    void *library = dlopen(file, RTLD_NOW | mode);
    if (!library) {
        fprintf(stderr, "sim_host: %s\n", dlerror());
        exit(2);
    }
    return library;
}

#define GET(variable, library, name) (*(void **)&(variable) = from(library, name))

static int gemms(const char *path, int mode, int by_version)
{
    static const float one = 1, zero = 0;
    int (*create)(void **), (*allocate)(void **, size_t), (*synchronize)(void);
    int (*gemm)(void *, int, int, int, int, int, const void *, const void *, int, int, const void *, int, int,
                const void *, void *, int, int, int, int);
    int (*sgemm)(void *, int, int, int, int, int, const float *, const float *, int, const float *, int, const float *,
                 float *, int);
    void *runtime = opened("libcudart.so.13", RTLD_LOCAL), *blas = opened(path, mode), *handle, *x;
    GET(allocate, runtime, "cudaMalloc");
    GET(synchronize, runtime, "cudaDeviceSynchronize");
    GET(create, blas, "cublasCreate_v2");
    GET(gemm, blas, "cublasGemmEx");
    GET(sgemm, blas, "cublasSgemm_v2");
    if (by_version && !(*(void **)&gemm = dlvsym(blas, "cublasGemmEx", "libcublas.so.13")))
        return 3;
    int status = allocate(&x, 1 << 16) || create(&handle);
    for (int i = 0; i < 3; i++)
        status |= gemm(handle, 0, 0, 7, 9, 11, &one, x, 14, 7, x, 14, 11, &zero, x, 14, 7, 68, -1);
    status |= sgemm(handle, 0, 0, 5, 3, 2, &one, x, 5, x, 2, &zero, x, 5);
    return status || synchronize();
}

static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry empty()\n{ ret; }\n";

struct launch_config { /* CUlaunchConfig */
    unsigned grid[3], block[3], shared;
    void *stream, *attributes;
    unsigned attribute_count;
};

static int launches(void)
{
    int (*init)(unsigned), (*retain)(void **, int), (*set)(void *), (*load)(void **, const void *);
    int (*function_of)(void **, void *, const char *), (*synchronize)(void);
    int (*get)(const char *, void **, int, uint64_t, int *);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                  void **);
    int (*launch_ex)(const void *, void *, void **, void **);
    void *driver = opened("libcuda.so.1", RTLD_LOCAL), *context, *module, *function;
    GET(get, driver, "cuGetProcAddress_v2");
    GET(init, driver, "cuInit");
    GET(retain, driver, "cuDevicePrimaryCtxRetain");
    GET(set, driver, "cuCtxSetCurrent");
    GET(load, driver, "cuModuleLoadData");
    GET(function_of, driver, "cuModuleGetFunction");
    GET(synchronize, driver, "cuCtxSynchronize");
    int status =
        init(0) || retain(&context, 0) || set(context) || load(&module, ptx) || function_of(&function, module, "empty");
    status |= get("cuLaunchKernel", (void **)&launch, 12000, 0, NULL);
    for (unsigned i = 1; !status && i <= 5; i++)
        status = launch(function, i, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
    struct launch_config config = {.grid = {6, 1, 1}, .block = {32, 1, 1}};
    GET(launch_ex, driver, "cuLaunchKernelEx"); /* as Triton's launcher does */
    GET(launch, driver, "cuLaunchKernel");
    status =
        status || launch_ex(&config, function, NULL, NULL) || launch(function, 7, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
    return status || synchronize();
}

int main(int count, char **arguments)
{
    if (count >= 4 && !strcmp(arguments[1], "gemms"))
        return gemms(arguments[2], strcmp(arguments[3], "deepbind") ? RTLD_LOCAL : RTLD_LOCAL | RTLD_DEEPBIND,
                     count > 4);
    return count == 2 && !strcmp(arguments[1], "launches") ? launches() : 2;
}
