/* SPDX-License-Identifier: Apache-2.0 */
/* cublasLtMatmul and cublasLtMatrixTransform: what the descriptors say goes to the ledger, the work is computed from
 * it, one kernel is launched. A scalar is read only where the descriptor says that it lies on the host. */
#include "lt.h"

#include <stdio.h>

static bool operation_valid(int32_t op)
{
    return op >= CUBLAS_OP_N && op <= CUBLAS_OP_C;
}

int lt_problem_of(const struct lt_desc *desc, const struct lt_layout *a, const struct lt_layout *b,
                  const struct lt_layout *c, const struct lt_layout *d, struct lt_problem *problem)
{
    if (!operation_valid(desc->transa) || !operation_valid(desc->transb))
        return CUBLAS_STATUS_INVALID_VALUE;
    const bool plain_a = desc->transa == CUBLAS_OP_N, plain_b = desc->transb == CUBLAS_OP_N;
    const uint64_t m = d->rows, n = d->cols, k = plain_a ? a->cols : a->rows;
    if ((plain_a ? a->rows : a->cols) != m || (plain_b ? b->cols : b->rows) != n || (plain_b ? b->rows : b->cols) != k)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (c->rows != m || c->cols != n || d->batch_count < 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (a->batch_count != d->batch_count || b->batch_count != d->batch_count || c->batch_count != d->batch_count)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (blas_type_bytes(a->type) <= 0 || blas_type_bytes(b->type) <= 0 || blas_type_bytes(c->type) <= 0 ||
        blas_type_bytes(d->type) <= 0)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    *problem = (struct lt_problem){(int64_t)m, (int64_t)n, (int64_t)k, d->batch_count,
                                   blas_path(a->type, desc->compute_type, CUBLAS_DEFAULT_MATH)};
    if (simgpu_peak_flops(problem->path) <= 0)
        return CUBLAS_STATUS_NOT_SUPPORTED; /* fp8 or fp4 on a device without */
    const bool is_fp8 = a->type == CUDA_R_8F_E4M3 || a->type == CUDA_R_8F_E5M2;
    if (is_fp8 && simgpu_device()->compute_major < 10 && (plain_a || !plain_b))
        return CUBLAS_STATUS_NOT_SUPPORTED; /* before Blackwell fp8 multiplies T,N only */
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- work ---- */

static double operand_bytes(const struct lt_layout *layout, double elements)
{
    const bool shared = layout->batch_mode == CUBLASLT_BATCH_MODE_STRIDED && layout->batch_stride == 0;
    return elements * blas_type_bytes(layout->type) * (shared ? 1 : (double)layout->batch_count);
}

/* Scale factors of an outer x inner operand (inner: the dimension that is summed over). */
static double scale_bytes(const void *pointer, int mode, double outer, double inner)
{
    if (!pointer)
        return 0;
    switch (mode) {
    case CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3:
        return outer * inner / 16;
    case CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0:
        return outer * inner / 32;
    case CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F:
        return 4 * outer;
    case CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F:
        return 4 * outer * inner / 128;
    case CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F:
        return 4 * outer * inner / (128 * 128);
    default:
        return 4;
    }
}

static bool epilogue_has_bias(uint32_t epilogue)
{
    /* BGRAD (16), BGRADA and BGRADB write a bias gradient through the same pointer. */
    return (epilogue & (CUBLASLT_EPILOGUE_BIAS | 16 | CUBLASLT_EPILOGUE_BGRADA | CUBLASLT_EPILOGUE_BGRADB)) != 0;
}

static int bias_type(const struct lt_desc *desc, const struct lt_layout *d)
{
    return desc->bias_type >= 0 ? desc->bias_type : d->type;
}

static double epilogue_bytes(const struct lt_desc *desc, const struct lt_layout *d, const struct lt_problem *p)
{
    const double m = (double)p->m, n = (double)p->n, batch = (double)p->batch;
    double bytes = 0;
    if (epilogue_has_bias(desc->epilogue)) {
        const double length = desc->epilogue & CUBLASLT_EPILOGUE_BGRADB ? n : m;
        bytes += length * blas_type_bytes(bias_type(desc, d)) * (desc->bias_batch_stride ? batch : 1);
    }
    if (desc->epilogue & 128) { /* auxiliary matrix: one bit an element for ReLU, else elements */
        const bool bits = (desc->epilogue & (CUBLASLT_EPILOGUE_RELU | 8)) != 0;
        bytes += m * n * batch * (bits ? 0.125 : blas_type_bytes(desc->aux_type >= 0 ? desc->aux_type : d->type));
    }
    return bytes;
}

static double matmul_bytes(const struct lt_desc *desc, const struct lt_layout *a, const struct lt_layout *b,
                           const struct lt_layout *c, const struct lt_layout *d, const struct lt_problem *p,
                           bool reads_c)
{
    const double m = (double)p->m, n = (double)p->n, k = (double)p->k;
    double bytes =
        operand_bytes(a, m * k) + operand_bytes(b, k * n) + m * n * (double)p->batch * blas_type_bytes(d->type);
    if (reads_c)
        bytes += operand_bytes(c, m * n);
    bytes +=
        scale_bytes(desc->a_scale, desc->a_scale_mode, m, k) + scale_bytes(desc->b_scale, desc->b_scale_mode, n, k);
    bytes +=
        scale_bytes(desc->c_scale, desc->c_scale_mode, m, n) + scale_bytes(desc->d_scale, desc->d_scale_mode, m, n);
    bytes += scale_bytes(desc->d_out_scale, desc->d_out_scale_mode, m, n);
    return bytes + epilogue_bytes(desc, d, p);
}

/* ---- ledger ---- */

static void note_layout(struct blas_call *call, char operand, const struct lt_layout *layout)
{
    const struct {
        const char *suffix;
        int64_t value;
    } fields[] = {
        {"type", layout->type},
        {"order", layout->order},
        {"rows", (int64_t)layout->rows},
        {"cols", (int64_t)layout->cols},
        {"batch_count", layout->batch_count},
        {"batch_mode", layout->batch_mode},
        {"plane_offset", layout->plane_offset},
    };
    char name[24];
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        snprintf(name, sizeof name, i ? "%c_%s" : "%c%s", operand, fields[i].suffix);
        blas_note_int(call, name, fields[i].value);
    }
    snprintf(name, sizeof name, "ld%c", operand | 32);
    blas_note_int(call, name, layout->ld);
    snprintf(name, sizeof name, "stride%c", operand);
    blas_note_int(call, name, layout->batch_stride);
}

static void note_desc(struct blas_call *call, const struct lt_desc *desc)
{
    blas_note_int(call, "computeType", desc->compute_type);
    blas_note_int(call, "scaleType", desc->scale_type);
    blas_note_int(call, "pointer_mode", desc->pointer_mode);
    blas_note_int(call, "transa", desc->transa);
    blas_note_int(call, "transb", desc->transb);
    blas_note_int(call, "epilogue", desc->epilogue);
    blas_note_pointer(call, "bias", desc->bias);
    blas_note_int(call, "bias_batch_stride", desc->bias_batch_stride);
    blas_note_int(call, "bias_type", desc->bias_type);
    blas_note_pointer(call, "aux", desc->aux);
    blas_note_int(call, "aux_type", desc->aux_type);
    blas_note_int(call, "aux_ld", desc->aux_ld);
    blas_note_int(call, "fast_accumulation", desc->fast_accumulation);
    blas_note_pointer(call, "a_scale", desc->a_scale);
    blas_note_pointer(call, "b_scale", desc->b_scale);
    blas_note_pointer(call, "c_scale", desc->c_scale);
    blas_note_pointer(call, "d_scale", desc->d_scale);
    blas_note_int(call, "a_scale_mode", desc->a_scale_mode);
    blas_note_int(call, "b_scale_mode", desc->b_scale_mode);
    blas_note_int(call, "c_scale_mode", desc->c_scale_mode);
    blas_note_int(call, "d_scale_mode", desc->d_scale_mode);
}

static bool note_reads_c(struct blas_call *call, const struct lt_desc *desc, const void *beta)
{
    switch (desc->pointer_mode) {
    case CUBLASLT_POINTER_MODE_HOST:
    case CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST:
        return blas_note_beta(call, beta, desc->scale_type, true);
    case CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO:
        blas_note_text(call, "beta_kind", "zero");
        return false;
    default:
        return blas_note_beta(call, beta, desc->scale_type, false);
    }
}

void lt_matmul(struct blas_call *call, cublasLtHandle_t handle, cublasLtMatmulDesc_t opaque, const void *alpha,
               const void *A, cublasLtMatrixLayout_t Adesc, const void *B, cublasLtMatrixLayout_t Bdesc,
               const void *beta, const void *C, cublasLtMatrixLayout_t Cdesc, void *D, cublasLtMatrixLayout_t Ddesc,
               const cublasLtMatmulAlgo_t *algo, void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
    (void)handle, (void)algo, (void)workspace, (void)workspace_bytes, (void)stream;
    const struct lt_desc *desc = (const struct lt_desc *)opaque;
    const struct lt_layout *a = (const struct lt_layout *)Adesc, *b = (const struct lt_layout *)Bdesc;
    const struct lt_layout *c = (const struct lt_layout *)Cdesc, *d = (const struct lt_layout *)Ddesc;
    blas_expect(call, desc && a && b && c && d);
    if (call->settled)
        return;
    note_desc(call, desc);
    note_layout(call, 'A', a);
    note_layout(call, 'B', b);
    note_layout(call, 'C', c);
    note_layout(call, 'D', d);
    const bool beta_needed = desc->pointer_mode != CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO;
    blas_expect(call, alpha && (beta || !beta_needed));
    struct lt_problem problem;
    const int status = lt_problem_of(desc, a, b, c, d, &problem);
    if (status)
        blas_settle(call, status);
    if (call->settled)
        return;
    blas_note_int(call, "m", problem.m);
    blas_note_int(call, "n", problem.n);
    blas_note_int(call, "k", problem.k);
    blas_note_int(call, "batchCount", problem.batch);
    blas_quick_return(call, problem.m == 0 || problem.n == 0 || problem.k == 0 || problem.batch == 0);
    if (call->settled)
        return;
    const bool reads_c = note_reads_c(call, desc, beta);
    blas_expect(call, A && B && D && (C || !reads_c));
    const double batch = (double)problem.batch;
    const double flops =
        (blas_type_complex(a->type) ? 8.0 : 2.0) * (double)problem.m * (double)problem.n * (double)problem.k * batch;
    blas_launch_gemm(call, problem.path, desc->transa, desc->transb, problem.m, problem.n, 0, problem.batch, flops,
                     matmul_bytes(desc, a, b, c, d, &problem, reads_c));
}

void lt_transform(struct blas_call *call, cublasLtHandle_t handle, cublasLtMatrixTransformDesc_t desc,
                  const void *alpha, const void *A, cublasLtMatrixLayout_t Adesc, const void *beta, const void *B,
                  cublasLtMatrixLayout_t Bdesc, void *C, cublasLtMatrixLayout_t Cdesc, cudaStream_t stream)
{
    (void)handle, (void)stream;
    const struct lt_layout *a = (const struct lt_layout *)Adesc, *b = (const struct lt_layout *)Bdesc;
    const struct lt_layout *c = (const struct lt_layout *)Cdesc;
    blas_expect(call, desc && alpha && a && c && A && C && (!B || (b && beta)));
    if (call->settled)
        return;
    note_layout(call, 'A', a);
    if (b)
        note_layout(call, 'B', b);
    note_layout(call, 'C', c);
    const double elements = (double)c->rows * (double)c->cols;
    blas_quick_return(call, elements <= 0);
    const struct blas_work work = {
        .kernel = "simblas_transform",
        .path = "fp32",
        .flops = elements * (double)c->batch_count * (B ? 3 : 1),
        .bytes = operand_bytes(a, elements) + (B ? operand_bytes(b, elements) : 0) +
                 elements * (double)c->batch_count * blas_type_bytes(c->type),
        .blocks = {((int64_t)c->rows + 63) / 64, ((int64_t)c->cols + 63) / 64, c->batch_count},
    };
    blas_launch(call, &work);
}
