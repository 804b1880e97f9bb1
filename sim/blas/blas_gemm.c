/* SPDX-License-Identifier: Apache-2.0 */
/* The GEMM family: argument checks, work from the arguments alone, and either one kernel or, on a device that says
 * gemm_nested, the next entry point down by way of the PLT (typed -> Ex -> cublasLtMatmul). */
#include "blas_call.h"

#include <stdlib.h>

int blas_compute_of(int type)
{
    switch (type) {
    case CUDA_R_64F:
    case CUDA_C_64F:
        return CUBLAS_COMPUTE_64F;
    case CUDA_R_16F:
        return CUBLAS_COMPUTE_16F;
    default:
        return CUBLAS_COMPUTE_32F;
    }
}

int blas_scale_of(int compute, int operand_type)
{
    const bool complex = blas_type_complex(operand_type);
    switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
        return CUDA_R_16F;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
        return complex ? CUDA_C_64F : CUDA_R_64F;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
        return CUDA_R_32I;
    default:
        return complex ? CUDA_C_32F : CUDA_R_32F;
    }
}

int blas_operation(char trans)
{
    switch (blas_upper(trans)) {
    case 'N':
        return CUBLAS_OP_N;
    case 'T':
        return CUBLAS_OP_T;
    case 'C':
        return CUBLAS_OP_C;
    default:
        return -1;
    }
}

/* Combinations that no cublas*gemm* takes, whatever the device. */
static bool types_supported(const struct blas_gemm *gemm)
{
    if (blas_type_bytes(gemm->Ctype) <= 0 || gemm->Atype != gemm->Btype)
        return false;
    switch (gemm->computeType) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
        return gemm->Atype == CUDA_R_16F && gemm->Ctype == CUDA_R_16F;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
        return gemm->Atype == CUDA_R_8I && gemm->Ctype == CUDA_R_32I;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
        return (gemm->Atype == CUDA_R_64F || gemm->Atype == CUDA_C_64F) && gemm->Ctype == gemm->Atype;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
        if (gemm->Atype == CUDA_R_16BF || gemm->Atype == CUDA_R_16F || gemm->Atype == CUDA_R_8I)
            return gemm->Ctype == gemm->Atype || gemm->Ctype == CUDA_R_32F;
        if (gemm->Atype == CUDA_C_8I)
            return gemm->Ctype == CUDA_C_32F;
        /* fall through */
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
    case CUBLAS_COMPUTE_32F_EMULATED_16BFX9:
        return (gemm->Atype == CUDA_R_32F || gemm->Atype == CUDA_C_32F) && gemm->Ctype == gemm->Atype;
    default:
        return false;
    }
}

static void check(struct blas_call *call, const struct blas_gemm *gemm)
{
    blas_expect(call, gemm->transa >= 0 && gemm->transa <= 2 && gemm->transb >= 0 && gemm->transb <= 2);
    blas_expect(call, gemm->m >= 0 && gemm->n >= 0 && gemm->k >= 0 && gemm->batchCount >= 0);
    blas_expect(call, gemm->lda >= blas_at_least_one(gemm->transa == CUBLAS_OP_N ? gemm->m : gemm->k));
    blas_expect(call, gemm->ldb >= blas_at_least_one(gemm->transb == CUBLAS_OP_N ? gemm->k : gemm->n));
    blas_expect(call, gemm->ldc >= blas_at_least_one(gemm->m));
    blas_expect(call, gemm->alpha && gemm->beta);
    if (!call->settled && !types_supported(gemm))
        blas_settle(call, CUBLAS_STATUS_NOT_SUPPORTED);
    blas_quick_return(call, gemm->m == 0 || gemm->n == 0 || gemm->k == 0 || gemm->batchCount == 0);
    blas_expect(call, gemm->A && gemm->B && gemm->C);
}

/* Compulsory traffic: A, B and D once each, C again where beta is known to be non-zero. A stride of 0 is one matrix. */
static double gemm_bytes(const struct blas_gemm *gemm, bool reads_c)
{
    const double batch = (double)gemm->batchCount;
    const bool strided = gemm->form == BLAS_GEMM_STRIDED;
    const double copies_a = strided && gemm->strideA == 0 ? 1 : batch;
    const double copies_b = strided && gemm->strideB == 0 ? 1 : batch;
    const double m = (double)gemm->m, n = (double)gemm->n, k = (double)gemm->k;
    return copies_a * m * k * blas_type_bytes(gemm->Atype) + copies_b * k * n * blas_type_bytes(gemm->Btype) +
           batch * m * n * blas_type_bytes(gemm->Ctype) * (reads_c ? 2 : 1);
}

static double gemm_flops(int type, double m, double n, double k)
{
    return (blas_type_complex(type) ? 8 : 2) * m * n * k;
}

/* ---- nesting ---- */

/* The Ex entry of the same form and width. */
#define NEST_IN_EX(function, suffix, index)                                                                            \
    static cublasStatus_t function(cublasHandle_t handle, const struct blas_gemm *g)                                   \
    {                                                                                                                  \
        const cublasOperation_t transa = (cublasOperation_t)g->transa, transb = (cublasOperation_t)g->transb;          \
        const cudaDataType a = (cudaDataType)g->Atype, b = (cudaDataType)g->Btype, c = (cudaDataType)g->Ctype;         \
        const cublasComputeType_t compute = (cublasComputeType_t)g->computeType;                                       \
        const cublasGemmAlgo_t algo = (cublasGemmAlgo_t)g->algo;                                                       \
        const index m = (index)g->m, n = (index)g->n, k = (index)g->k, count = (index)g->batchCount;                   \
        const index lda = (index)g->lda, ldb = (index)g->ldb, ldc = (index)g->ldc;                                     \
        switch (g->form) {                                                                                             \
        case BLAS_GEMM_BATCHED:                                                                                        \
            return cublasGemmBatchedEx##suffix(handle, transa, transb, m, n, k, g->alpha, g->A, a, lda, g->B, b, ldb,  \
                                               g->beta, g->C, c, ldc, count, compute, algo);                           \
        case BLAS_GEMM_STRIDED:                                                                                        \
            return cublasGemmStridedBatchedEx##suffix(handle, transa, transb, m, n, k, g->alpha, g->A, a, lda,         \
                                                      g->strideA, g->B, b, ldb, g->strideB, g->beta, g->C, c, ldc,     \
                                                      g->strideC, count, compute, algo);                               \
        default:                                                                                                       \
            return cublasGemmEx##suffix(handle, transa, transb, m, n, k, g->alpha, g->A, a, lda, g->B, b, ldb,         \
                                        g->beta, g->C, c, ldc, compute, algo);                                         \
        }                                                                                                              \
    }
NEST_IN_EX(nest_in_ex, , int)
NEST_IN_EX(nest_in_ex_64, _64, int64_t)

static cublasStatus_t describe(cublasLtMatrixLayout_t *layout, const struct blas_gemm *g, int type, int64_t rows,
                               int64_t cols, int64_t ld, int64_t stride)
{
    cublasStatus_t status = cublasLtMatrixLayoutCreate(layout, (cudaDataType)type, (uint64_t)rows, (uint64_t)cols, ld);
    if (status || g->form == BLAS_GEMM)
        return status;
    const int32_t count = (int32_t)g->batchCount;
    status = cublasLtMatrixLayoutSetAttribute(*layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count);
    if (status)
        return status;
    if (g->form == BLAS_GEMM_STRIDED)
        return cublasLtMatrixLayoutSetAttribute(*layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                                sizeof stride);
    const int32_t mode = CUBLASLT_BATCH_MODE_POINTER_ARRAY;
    return cublasLtMatrixLayoutSetAttribute(*layout, CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, &mode, sizeof mode);
}

static cublasStatus_t describe_operation(cublasLtMatmulDesc_t *desc, const struct blas_gemm *g, int32_t pointer_mode)
{
    const int32_t transa = g->transa, transb = g->transb;
    cublasStatus_t status =
        cublasLtMatmulDescCreate(desc, (cublasComputeType_t)g->computeType, (cudaDataType)g->scale_type);
    if (!status)
        status = cublasLtMatmulDescSetAttribute(*desc, CUBLASLT_MATMUL_DESC_TRANSA, &transa, sizeof transa);
    if (!status)
        status = cublasLtMatmulDescSetAttribute(*desc, CUBLASLT_MATMUL_DESC_TRANSB, &transb, sizeof transb);
    if (!status)
        status = cublasLtMatmulDescSetAttribute(*desc, CUBLASLT_MATMUL_DESC_POINTER_MODE, &pointer_mode,
                                                sizeof pointer_mode);
    return status;
}

static cublasStatus_t nest_in_lt(struct blas_call *call, const struct blas_gemm *g)
{
    cublasLtMatmulDesc_t desc = NULL;
    cublasLtMatrixLayout_t a = NULL, b = NULL, c = NULL;
    const bool plain_a = g->transa == CUBLAS_OP_N, plain_b = g->transb == CUBLAS_OP_N;
    cublasStatus_t status = describe_operation(&desc, g, (int32_t)call->handle->pointer_mode);
    if (!status)
        status = describe(&a, g, g->Atype, plain_a ? g->m : g->k, plain_a ? g->k : g->m, g->lda, g->strideA);
    if (!status)
        status = describe(&b, g, g->Btype, plain_b ? g->k : g->n, plain_b ? g->n : g->k, g->ldb, g->strideB);
    if (!status)
        status = describe(&c, g, g->Ctype, g->m, g->n, g->ldc, g->strideC);
    if (!status)
        status = cublasLtMatmul((cublasLtHandle_t)call->handle, desc, g->alpha, g->A, a, g->B, b, g->beta, g->C, c,
                                g->C, c, NULL, NULL, 0, call->stream);
    cublasLtMatrixLayoutDestroy(a);
    cublasLtMatrixLayoutDestroy(b);
    cublasLtMatrixLayoutDestroy(c);
    cublasLtMatmulDescDestroy(desc);
    return status;
}

void blas_gemm(struct blas_call *call, const struct blas_gemm *gemm)
{
    check(call, gemm);
    if (call->settled)
        return;
    const bool reads_c = blas_scalar_nonzero(call, gemm->beta, gemm->scale_type);
    const double flops =
        (double)gemm->batchCount * gemm_flops(gemm->Atype, (double)gemm->m, (double)gemm->n, (double)gemm->k);
    const double bytes = gemm_bytes(gemm, reads_c);
    const char *path = blas_path(gemm->Atype, gemm->computeType, (int)call->handle->math_mode);
    if (simgpu_device()->gemm_nested && !gemm->legacy) {
        blas_note_real(call, "flops", flops);
        blas_note_real(call, "bytes", bytes);
        blas_note_text(call, "path", path);
        blas_settle(call, (int)(gemm->ex     ? nest_in_lt(call, gemm)
                                : gemm->wide ? nest_in_ex_64(call->handle, gemm)
                                             : nest_in_ex(call->handle, gemm)));
        return;
    }
    blas_launch_gemm(call, path, gemm->transa, gemm->transb, gemm->m, gemm->n, 0, gemm->batchCount, flops, bytes);
}

/* ---- grouped ---- */

static int64_t element(const void *array, bool wide, int64_t i)
{
    return wide ? ((const int64_t *)array)[i] : ((const int *)array)[i];
}

static void note_groups(struct blas_call *call, const struct blas_groups *groups)
{
    const struct {
        const char *key;
        const void *values;
        bool wide;
    } arrays[] = {
        {"transa_values", groups->transa, false},
        {"transb_values", groups->transb, false},
        {"m_values", groups->m, groups->wide},
        {"n_values", groups->n, groups->wide},
        {"k_values", groups->k, groups->wide},
        {"lda_values", groups->lda, groups->wide},
        {"ldb_values", groups->ldb, groups->wide},
        {"ldc_values", groups->ldc, groups->wide},
        {"group_size_values", groups->size, groups->wide},
    };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        blas_note_array(call, arrays[i].key, arrays[i].values, groups->count, arrays[i].wide);
}

void blas_gemm_groups(struct blas_call *call, const struct blas_groups *groups)
{
    blas_expect(call, groups->count >= 0);
    blas_quick_return(call, groups->count == 0);
    blas_expect(call, groups->transa && groups->transb && groups->m && groups->n && groups->k && groups->alpha &&
                          groups->beta && groups->lda && groups->ldb && groups->ldc && groups->A && groups->B &&
                          groups->C && groups->size);
    if (call->settled)
        return;
    note_groups(call, groups);
    const struct simgpu_device *device = simgpu_device();
    const double scale_bytes = blas_type_bytes(groups->scale_type);
    const bool on_host = call->handle->pointer_mode == CUBLAS_POINTER_MODE_HOST;
    double flops = 0, bytes = 0;
    int64_t tiles = 0, groups_with_beta = 0;
    for (int64_t i = 0; i < groups->count && !call->settled; i++) {
        struct blas_gemm one = {
            .transa = groups->transa[i],
            .transb = groups->transb[i],
            .m = element(groups->m, groups->wide, i),
            .n = element(groups->n, groups->wide, i),
            .k = element(groups->k, groups->wide, i),
            .alpha = groups->alpha,
            .beta = groups->beta,
            .A = groups->A,
            .B = groups->B,
            .C = (void *)(uintptr_t)groups->C,
            .lda = element(groups->lda, groups->wide, i),
            .ldb = element(groups->ldb, groups->wide, i),
            .ldc = element(groups->ldc, groups->wide, i),
            .batchCount = element(groups->size, groups->wide, i),
            .Atype = groups->Atype,
            .Btype = groups->Btype,
            .Ctype = groups->Ctype,
            .computeType = groups->computeType,
            .form = BLAS_GEMM_BATCHED,
        };
        const char *beta = (const char *)groups->beta + (size_t)(scale_bytes * (double)i);
        struct blas_call checked = *call; /* an empty group settles only itself */
        check(&checked, &one);
        if (checked.settled && checked.status)
            blas_settle(call, checked.status);
        if (checked.settled)
            continue;
        flops += (double)one.batchCount * gemm_flops(one.Atype, (double)one.m, (double)one.n, (double)one.k);
        const bool reads_c = on_host && blas_host_scalar_nonzero(beta, groups->scale_type);
        groups_with_beta += reads_c;
        bytes += gemm_bytes(&one, reads_c);
        tiles += one.batchCount * ((one.m + device->gemm_tile_m - 1) / device->gemm_tile_m) *
                 ((one.n + device->gemm_tile_n - 1) / device->gemm_tile_n);
    }
    if (on_host)
        blas_note_int(call, "groups_with_beta", groups_with_beta);
    blas_quick_return(call, tiles == 0);
    if (!call->settled)
        blas_launch_gemm(call, blas_path(groups->Atype, groups->computeType, (int)call->handle->math_mode), 0, 0, 0, 0,
                         tiles, 1, flops, bytes);
}
