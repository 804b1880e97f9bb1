/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: the ledger of this process read back, and kernels as a compiled program would register them. */
#ifndef TESTS_SIM_CORE_LEDGER_READER_H
#define TESTS_SIM_CORE_LEDGER_READER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include <cuda_runtime_api.h>

/* The tests speak CUDA 13, where the forms with edges have the plain names. */
#if CUDART_VERSION < 13000
#undef cudaStreamGetCaptureInfo
#define cudaGraphAddDependencies     cudaGraphAddDependencies_v2
#define cudaGraphGetEdges            cudaGraphGetEdges_v2
#define cudaGraphNodeGetDependencies cudaGraphNodeGetDependencies_v2
#define cudaGraphRemoveDependencies  cudaGraphRemoveDependencies_v2
#define cudaStreamGetCaptureInfo     cudaStreamGetCaptureInfo_v3
#endif

#define OK(call) assert_int_equal((int)(call), 0)

/* Before the first CUDA call: the ledger goes to NAME in the working folder, which is emptied. */
void ledger_use(const char *name);
/* All lines so far, as an array; a line that is not a JSON object fails the test. */
json_t *ledger_read(const char *name);
/* Lines of one type from the WHENCE-th on; NULL type: all. */
json_t *ledger_lines(const char *name, const char *type, size_t whence);
size_t ledger_count(const char *name, const char *type);

uint64_t number_of(const json_t *line, const char *key);
const char *text_of(const json_t *line, const char *key);

/* Registers a host stub under NAME. */
const void *stub_of(const char *name);

/* What the vendor declares for its compiler only. */
void **__cudaRegisterFatBinary(void *image);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *stub, char *device_stub, const char *name, int thread_limit,
                            void *thread, void *block, void *block_dim, void *grid_dim, int *warp_size);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t size,
                       int constant, int global);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *stub);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared,
                               cudaStream_t stream);

#endif
