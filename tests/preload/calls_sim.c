/* SPDX-License-Identifier: Apache-2.0 */
/* On the simulated GPU: handles, a stream and a kernel that its libraries know. What these refuse, they refuse with and
 * without the shim. */
#include "tests/preload/calls.h"
#include "tests/preload/calls_device.h"

#include <stdio.h>
#include <stdlib.h>

int cublasCreate_v2(cublasHandle_t *);
int cublasXtCreate(cublasXtHandle_t *);
int cublasXtDeviceSelect(cublasXtHandle_t, int, int[]);
int cublasLtCreate(cublasLtHandle_t *);
int cublasSetPointerMode_v2(cublasHandle_t, int);
int cublasSetMathMode(cublasHandle_t, int);
int cublasSetStream_v2(cublasHandle_t, cudaStream_t);
int cudaStreamCreate(cudaStream_t *);
int cudaGetFuncBySymbol(CUfunction *, const void *);
int __cudaGetKernel(cudaKernel_t *, const void *);
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, uint3 *, uint3 *, dim3 *, dim3 *, int *);

static void *no_arguments[1];

void kernel_stub(void)
{
}

static void check(int status, const char *what)
{
    if (!status)
        return;
    fprintf(stderr, "calls_sim: %s returned %d\n", what, status);
    exit(3);
}

/* fatbinary_section.h: a wrapper around an image; an empty one registers names alone. */
static struct {
    int magic, version;
    const void *data, *unused;
} wrapper = {0x466243b1, 1, NULL, NULL};

void calls_device_prepare(void)
{
    static char name[] = "test_kernel";
    void **binary = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(binary, (const char *)kernel_stub, name, name, -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(binary);
    kernel_args = no_arguments;
    check(cudaStreamCreate(&stream), "cudaStreamCreate");
    runtime_config.stream = stream;
    driver_config.hStream = stream;
    check(__cudaGetKernel(&kernel_handle, (const void *)kernel_stub), "__cudaGetKernel");
    check(cudaGetFuncBySymbol(&driver_function, (const void *)kernel_stub), "cudaGetFuncBySymbol");
    check(cublasCreate_v2(&handle), "cublasCreate_v2");
    check(cublasXtCreate(&xt_handle), "cublasXtCreate");
    check(cublasXtDeviceSelect(xt_handle, 1, (int[]){0}), "cublasXtDeviceSelect");
    check(cublasLtCreate(&lt_handle), "cublasLtCreate");
    check(cublasSetStream_v2(handle, stream), "cublasSetStream_v2");
    check(cublasSetMathMode(handle, 3), "cublasSetMathMode");
    printf("stream %llu\n", (unsigned long long)(uintptr_t)stream);
}

int calls_device_pointer_mode(int mode)
{
    return cublasSetPointerMode_v2(handle, mode);
}
