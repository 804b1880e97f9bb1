/* SPDX-License-Identifier: Apache-2.0 */
/* Between the generated calls and the program around them (calls_host.c). */
#ifndef TESTS_PRELOAD_CALLS_H
#define TESTS_PRELOAD_CALLS_H

#include "preload/cublas_types.h"

struct planned_call {
    void (*make)(void);
    const char *function, *kind, *variant, *null;
};
extern const struct planned_call planned_calls[];

enum { SCALAR_one, SCALAR_zero, SCALAR_other, SCALAR_device };

extern cublasHandle_t handle;
extern cublasXtHandle_t xt_handle;
extern cublasLtHandle_t lt_handle;
extern cudaStream_t stream;
extern cudaKernel_t kernel_handle;
extern CUfunction driver_function;
extern void **kernel_args;
extern cudaLaunchConfig_t runtime_config;
extern CUlaunchConfig driver_config;
extern struct lt_objects {
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t layout[4];
} lt;

void kernel_stub(void);
const void *scalar(int which, int type);
void *operand(int index);
void begin(const char *function, const char *variant, const char *null);
void end(int status);

#endif
