/* SPDX-License-Identifier: Apache-2.0 */
/* What the fake vendor libraries share. They do nothing but what a test asks of them through the environment:
 * FAKE_STATUS=n is what every call returns, FAKE_ERRNO=n what it leaves in errno, FAKE_NESTED=1 makes cublasSgemm_v2 call
 * cublasGemmEx and that cublasLtMatmul, through the PLT as real libraries do. FAKE_SIGNAL_IN=name makes that
 * function raise SIGUSR1 the first time, while it is in flight. */
#ifndef TESTS_PRELOAD_FAKE_H
#define TESTS_PRELOAD_FAKE_H

#include "preload/cublas_types.h"

void fake_called(const char *function);
int fake_status(void);
void *fake_handle(const void *of);
void fake_nest_gemm_ex(void);
void fake_nest_matmul(void);

int fake_cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc, int compute, int scale);
int fake_cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc);
int fake_cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t desc, size_t size, int compute, int scale);
int fake_cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, int attribute, const void *value, size_t bytes);
int fake_cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, int type, uint64_t rows, uint64_t cols, int64_t ld);
int fake_cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout);
int fake_cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout, size_t size, int type, uint64_t rows,
                                           uint64_t cols, int64_t ld);
int fake_cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout, int attribute, const void *value,
                                          size_t bytes);

#endif
