/* SPDX-License-Identifier: Apache-2.0 */
/* A library that multiplies, as Python loads them: opened RTLD_LOCAL, its own dependencies invisible to everybody else. */
#include "preload/cublas_types.h"

int cublasCreate_v2(cublasHandle_t *);
int cublasGemmEx(cublasHandle_t, int, int, int, int, int, const void *, const void *, int, int, const void *, int, int,
                 const void *, void *, int, int, int, int);
__attribute__((visibility("default"))) int plugin_run(int calls);

int plugin_run(int calls)
{
    static float matrix[64];
    const float one = 1, zero = 0;
    cublasHandle_t handle;
    int status = cublasCreate_v2(&handle);
    for (int i = 0; i < calls; i++)
        status |= cublasGemmEx(handle, 0, 0, 2, 3, 4, &one, matrix, 14, 2, matrix, 14, 4, &zero, matrix, 14, 2, 68, -1);
    return status;
}
