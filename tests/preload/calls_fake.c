/* SPDX-License-Identifier: Apache-2.0 */
/* On the fake libraries every handle is as good as any other. */
#include "tests/preload/calls.h"
#include "tests/preload/calls_device.h"

#include <stdio.h>

int cublasCreate_v2(cublasHandle_t *);
int cublasSetPointerMode_v2(cublasHandle_t, int);
int cublasSetMathMode(cublasHandle_t, int);
int cublasSetStream_v2(cublasHandle_t, cudaStream_t);
int __cudaGetKernel(cudaKernel_t *, const void *);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, uint3 *, uint3 *, dim3 *, dim3 *, int *);

static void *no_arguments[1];

void kernel_stub(void)
{
}

void calls_device_prepare(void)
{
    static char name[] = "test_kernel";
    kernel_args = no_arguments;
    stream = (cudaStream_t)0x5712ea;
    driver_function = (CUfunction)0xf0c;
    runtime_config.stream = stream;
    driver_config.hStream = stream;
    lt_handle = (cublasLtHandle_t)0x17;
    xt_handle = (cublasXtHandle_t)0x27;
    cublasCreate_v2(&handle);
    cublasSetStream_v2(handle, stream);
    cublasSetMathMode(handle, 3);
    __cudaRegisterFunction(NULL, (const char *)kernel_stub, name, name, -1, NULL, NULL, NULL, NULL, NULL);
    __cudaGetKernel(&kernel_handle, (const void *)kernel_stub);
}

int calls_device_pointer_mode(int mode)
{
    return cublasSetPointerMode_v2(handle, mode);
}
