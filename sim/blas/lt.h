/* SPDX-License-Identifier: Apache-2.0 */
/* cuBLASLt's descriptors as the stand-in keeps them, inside the public opaque structs, and its two launching calls. */
#ifndef SIM_BLAS_LT_H
#define SIM_BLAS_LT_H

#include "blas_call.h"
#include "lt_helpers.h"

struct lt_layout { /* attributes in the order of their numbers */
    int32_t type, order;
    uint64_t rows, cols;
    int64_t ld;
    int32_t batch_count, batch_mode;
    int64_t batch_stride, plane_offset;
};

struct lt_desc {
    int32_t compute_type, scale_type, pointer_mode, transa, transb, transc, fill_mode;
    uint32_t epilogue;
    const void *bias;
    int64_t bias_batch_stride;
    void *aux;
    int64_t aux_ld, aux_batch_stride, alpha_vector_batch_stride;
    int32_t sm_count_target, reserved_16;
    const void *a_scale, *b_scale, *c_scale, *d_scale;
    void *amax_d;
    int32_t aux_type, bias_type;
    const void *aux_scale;
    void *aux_amax;
    int32_t a_scale_mode, b_scale_mode, c_scale_mode, d_scale_mode, aux_scale_mode, d_out_scale_mode;
    void *d_out_scale;
    int32_t atomic_rows, atomic_cols; /* synchronisation, CUDA 12 only */
    const void *atomic_in;
    void *atomic_out;
    cublasLtEmulationDesc_t emulation; /* from CUDA 13 on */
    int8_t fast_accumulation;
};

/* What a multiplication is, once its descriptors agree with each other. */
struct lt_problem {
    int64_t m, n, k, batch;
    const char *path;
};
/* SUCCESS, INVALID_VALUE (the descriptors contradict each other) or NOT_SUPPORTED. */
int lt_problem_of(const struct lt_desc *desc, const struct lt_layout *a, const struct lt_layout *b,
                  const struct lt_layout *c, const struct lt_layout *d, struct lt_problem *problem);

void lt_matmul(struct blas_call *call, cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void *alpha,
               const void *A, cublasLtMatrixLayout_t Adesc, const void *B, cublasLtMatrixLayout_t Bdesc,
               const void *beta, const void *C, cublasLtMatrixLayout_t Cdesc, void *D, cublasLtMatrixLayout_t Ddesc,
               const cublasLtMatmulAlgo_t *algo, void *workspace, size_t workspace_bytes, cudaStream_t stream);
void lt_transform(struct blas_call *call, cublasLtHandle_t handle, cublasLtMatrixTransformDesc_t desc,
                  const void *alpha, const void *A, cublasLtMatrixLayout_t Adesc, const void *beta, const void *B,
                  cublasLtMatrixLayout_t Bdesc, void *C, cublasLtMatrixLayout_t Cdesc, cudaStream_t stream);

#endif
