/* SPDX-License-Identifier: Apache-2.0 */
/* Signature in, FLOPs and compulsory bytes out. cuBLAS is column-major and its callers are row-major, so the roles of m
 * and n are exchanged here, in one place, and nowhere else. */
#include "classify/work.h"

#include <inttypes.h>
#include <math.h>

#include "classify/compute_path.h"
#include "classify/level3_work.h"

enum { OPERAND_A, OPERAND_B, OPERAND_C, OPERAND_D };
enum { OPERATION_N = 0, OPERATION_T = 1, OPERATION_C = 2 };
enum { ORDER_ROW = 1 }; /* CUBLASLT_ORDER_ROW; all others run down columns */

static bool is_lt(const struct trace_signature *s)
{
    return s->library == TRACE_LIBRARY_CUBLASLT;
}

static bool is_row_order(const struct trace_signature *s, int operand)
{
    return is_lt(s) && s->order[operand] == ORDER_ROW;
}

/* NAN where the element size is not known. */
static double type_bits(struct number_format format)
{
    return format.bits ? format.bits : NAN;
}

/* ---- distinct matrices of a batch ---- */

/* How many distinct matrices of an operand a call touches, at most. */
static double distinct_matrices(const struct trace_signature *s, int operand)
{
    if (s->batch_mode == TRACE_BATCH_STRIDED && s->batch_stride[operand] == 0)
        return s->batch > 0 ? 1 : 0;
    return (double)s->batch;
}

/* A stored matrix: COLUMNS of ROWS elements, their starts LD apart. */
struct stored {
    int64_t rows, columns, ld;
};

enum { OVERLAP_STEPS = 4096 };

/* Whether copies of M that lie STRIDE apart share elements, or can't be told not to in so many steps. Copies d apart share
 * some where d * stride, in columns and rows, is a shift by less than both extents. */
static bool copies_overlap(struct stored m, int64_t stride, int64_t copies)
{
    if (m.rows == 0 || m.columns == 0 || m.ld < m.rows)
        return false;
    __extension__ typedef __int128 wide;
    wide span = (wide)m.ld * (m.columns - 1) + m.rows, step = stride < 0 ? -(wide)stride : stride;
    if (step >= span || (step >= m.rows && step * (copies - 1) + m.rows <= m.ld))
        return false;
    for (int64_t d = 1; d < copies && d * step < span; d++) {
        wide columns = d * step / m.ld, rows = d * step % m.ld;
        if ((rows < m.rows && columns < m.columns) || (m.ld - rows < m.rows && columns + 1 < m.columns) ||
            d == OVERLAP_STEPS)
            return true;
    }
    return false;
}

static struct stored stored_operand(const struct trace_signature *s, int operand)
{
    if (s->kind == TRACE_CALL_GEMV && operand != OPERAND_A) { /* a vector: its increment stands in for ld */
        bool transposed = s->trans_a != OPERATION_N;
        int64_t increment = s->ld[operand] < -INT64_MAX ? INT64_MAX : imaxabs(s->ld[operand]);
        return (struct stored){1, (operand == OPERAND_B) != transposed ? s->n : s->m, increment};
    }
    bool transposed = operand == OPERAND_A ? s->trans_a != OPERATION_N : s->trans_b != OPERATION_N;
    int64_t rows = operand == OPERAND_B ? s->k : s->m, columns = operand == OPERAND_A ? s->k : s->n;
    if (s->kind == TRACE_CALL_GEMV)
        columns = s->n; /* m x n whatever the operation */
    else if (transposed != is_row_order(s, operand)) {
        int64_t swap = rows;
        rows = columns;
        columns = swap;
    }
    return (struct stored){rows, columns, s->ld[operand]};
}

/* Whether matrices that are counted apart may be the same or share elements: pointers lie on the device, and may repeat
 * (as for the shared K and V heads of grouped-query attention); strides may be shorter than a matrix. */
static bool may_share_bytes(const struct trace_signature *s)
{
    if (s->batch <= 1)
        return false;
    if (s->batch_mode != TRACE_BATCH_STRIDED)
        return true;
    for (int i = OPERAND_A; i <= OPERAND_B; i++)
        if (s->batch_stride[i] == TRACE_UNKNOWN ||
            (s->batch_stride[i] && copies_overlap(stored_operand(s, i), s->batch_stride[i], s->batch)))
            return true;
    return false;
}

/* ---- a GEMM's epilogue and scales ---- */

/* cublasLtEpilogue_t is a set of bits but for bit 0, which means "none". */
enum {
    EPILOGUE_RELU = 1 << 1,
    EPILOGUE_BIAS = 1 << 2,
    EPILOGUE_DRELU = 1 << 3,
    EPILOGUE_BIAS_GRADIENT = 1 << 4,
    EPILOGUE_GELU = 1 << 5,
    EPILOGUE_DGELU = 1 << 6,
    EPILOGUE_AUX = 1 << 7,
    EPILOGUE_BIAS_GRADIENT_A = 1 << 8,
    EPILOGUE_BIAS_GRADIENT_B = 1 << 9,
};

/* cublasLtMatmulMatrixScale_t, by what a scale spans; cublasLt pads the tensors of the first two to tiles of 128 x 4, which
 * is not counted. */
enum { SCALE_MODES = 7, SCALE_SCALAR = 0, SCALE_PER_BATCH = 6 };
static const struct gemm_scales scale_modes[SCALE_MODES] = {
    [SCALE_SCALAR] = {32, 0, 0, 1},    /* SCALAR_32F: one for all of the batch */
    [1] = {8, 1, 16, 0},               /* VEC16_UE4M3: nvfp4 */
    [2] = {8, 1, 32, 0},               /* VEC32_UE8M0: the mx formats */
    [3] = {32, 1, 0, 0},               /* OUTER_VEC_32F: a row of op(A), a column of op(B) */
    [4] = {32, 1, 128, 0},             /* VEC128_32F */
    [5] = {32, 128, 128, 0},           /* BLK128x128_32F */
    [SCALE_PER_BATCH] = {32, 0, 0, 0}, /* PER_BATCH_SCALAR_32F */
};

static struct gemm_scales scales_of(const struct trace_signature *s, int operand)
{
    int32_t mode = s->scale_mode[operand];
    if (!is_lt(s) || mode == TRACE_UNKNOWN) /* no scale pointer is set */
        return (struct gemm_scales){0, 0, 0, 0};
    if (mode < 0 || mode >= SCALE_MODES)
        return (struct gemm_scales){NAN, 0, 0, 0};
    struct gemm_scales scales = scale_modes[mode];
    if (mode == SCALE_PER_BATCH)
        scales.sets = (double)s->batch;
    return scales;
}

static bool is_narrow_float(enum number_type type)
{
    return type == NUMBER_FP8_E4M3 || type == NUMBER_FP8_E5M2 || type == NUMBER_FP6_E2M3 || type == NUMBER_FP6_E3M2 ||
           type == NUMBER_FP4_E2M1;
}

/* The bias vector's own type. Where none is set: D's, but the scalars' for int8 results, and bf16 or fp16 in every row of
 * the cuBLASLt documentation's table of fp8 and fp4 kernels. */
static double bias_bits(const struct trace_signature *s, const struct work *w)
{
    struct number_format type = number_format(s->type_bias);
    if (type.bits)
        return type.bits;
    if (s->type_bias != TRACE_UNKNOWN)
        return NAN;
    if (is_narrow_float(w->type[OPERAND_A].type))
        return 16;
    bool is_int8 = w->type[OPERAND_A].type == NUMBER_INT8 && w->type[OPERAND_D].type == NUMBER_INT8;
    return type_bits(is_int8 ? number_format(s->type_scale) : w->type[OPERAND_D]);
}

static void add_epilogue(const struct trace_signature *s, struct work *w)
{
    if (!is_lt(s) || s->epilogue < 0)
        return;
    bool row_order = is_row_order(s, OPERAND_D);
    double *along_rows = row_order ? &w->model.bias_bits_m : &w->model.bias_bits_n; /* the library's m */
    double *along_columns = row_order ? &w->model.bias_bits_n : &w->model.bias_bits_m;
    if (s->epilogue & (EPILOGUE_BIAS | EPILOGUE_BIAS_GRADIENT | EPILOGUE_BIAS_GRADIENT_A))
        *along_rows = bias_bits(s, w);
    else if (s->epilogue & EPILOGUE_BIAS_GRADIENT_B)
        *along_columns = bias_bits(s, w);
    /* A bit mask for ReLU, D's shape for GELU; written going forward, read going backward. */
    struct number_format type = s->type_aux == TRACE_UNKNOWN ? w->type[OPERAND_D] : number_format(s->type_aux);
    if (s->epilogue & EPILOGUE_AUX)
        w->model.aux_bits = s->epilogue & (EPILOGUE_RELU | EPILOGUE_DRELU) ? 1 : type_bits(type);
}

/* ---- the three kinds ---- */

static bool is_complex(const struct work *w)
{
    return w->type[OPERAND_A].complex || w->type[OPERAND_B].complex;
}

/* No layout of C was passed, so nothing of C can be read, whatever beta. */
static bool has_no_c(const struct trace_signature *s)
{
    return is_lt(s) && s->type[OPERAND_C] == TRACE_UNKNOWN && s->order[OPERAND_C] == TRACE_UNKNOWN;
}

static bool is_beta_unread(const struct trace_signature *s)
{
    return (s->beta == TRACE_SCALAR_ON_DEVICE || s->beta == TRACE_SCALAR_UNKNOWN) && !has_no_c(s);
}

static bool reads_c(const struct trace_signature *s)
{
    return s->beta != TRACE_SCALAR_ZERO && !has_no_c(s);
}

static struct gemm_operand operand_of(const struct trace_signature *s, const struct work *w, int operand)
{
    return (struct gemm_operand){
        .bits = type_bits(w->type[operand]),
        .matrices = distinct_matrices(s, operand),
        .scales = scales_of(s, operand),
    };
}

/* Fills in the sizes, as the user sees them, and all that follows from the model. */
static void set_product(const struct trace_signature *s, struct work *w, int left, int64_t m, int64_t n, int64_t k)
{
    w->m = m;
    w->n = n;
    w->k = k;
    w->batch = s->batch;
    w->shape_known = m >= 0 && n >= 0 && k >= 0 && s->batch >= 0;
    if (!w->shape_known)
        return;
    struct gemm_model *model = &w->model;
    model->m = m;
    model->n = n;
    model->k = k;
    model->batch = s->batch;
    model->complex = is_complex(w);
    model->right_is_weight = w->weight != WORK_WEIGHT_NONE;
    model->reads_c = reads_c(s);
    model->operand[GEMM_LEFT] = operand_of(s, w, left);
    model->operand[GEMM_RIGHT] = operand_of(s, w, left == OPERAND_A ? OPERAND_B : OPERAND_A);
    model->operand[GEMM_C] = operand_of(s, w, OPERAND_C);
    model->operand[GEMM_D] = operand_of(s, w, OPERAND_D);
    if (s->kind == TRACE_CALL_GEMM)
        add_epilogue(s, w);
    struct gemm_work product;
    gemm_work(model, &product);
    w->flops = product.flops;
    w->bytes = product.bytes;
    if (s->kind == TRACE_CALL_GEMM) {
        w->flops_per_row = product.flops_per_row;
        w->bytes_per_row = product.bytes_per_row;
        w->bytes_fixed = product.bytes_fixed;
    }
}

/* The activations' rows lie in memory one after another, as a layer's input does; where they don't, as in a gradient of the
 * weights, no operand is claimed to be the weight. A row order undoes a transposition. */
static bool has_activation_layout(const struct trace_signature *s, int operand)
{
    uint8_t operation = operand == OPERAND_A ? s->trans_a : s->trans_b;
    if (is_row_order(s, operand) == is_row_order(s, OPERAND_D))
        return operation == OPERATION_N;
    return operation == OPERATION_T || operation == OPERATION_C;
}

static void gemm_of_signature(const struct trace_signature *s, struct work *w)
{
    bool row_major = is_row_order(s, OPERAND_D);
    int left = row_major ? OPERAND_A : OPERAND_B;
    w->path = compute_path_of_gemm(s, w->type[OPERAND_A], w->type[OPERAND_B]);
    if (s->m >= 0 && s->n >= 0 && s->k >= 0 && s->batch >= 0 && has_activation_layout(s, left))
        w->weight = row_major ? WORK_WEIGHT_B : WORK_WEIGHT_A;
    set_product(s, w, left, row_major ? s->m : s->n, row_major ? s->n : s->m, s->k);
}

/* One row of activations, x; A is the weight. */
static void gemv_of_signature(const struct trace_signature *s, struct work *w)
{
    bool transposed = s->trans_a != OPERATION_N;
    w->weight = WORK_WEIGHT_A;
    w->path = compute_path_of_gemv(w->type[OPERAND_A]);
    set_product(s, w, OPERAND_B, 1, transposed ? s->n : s->m, transposed ? s->m : s->n);
}

static void level3_of_signature(const struct trace_signature *s, const char *entry_name, struct work *w)
{
    w->m = s->m;
    w->n = s->n;
    w->k = s->k;
    w->batch = s->batch;
    w->path = compute_path_of_gemm(s, w->type[OPERAND_A], w->type[OPERAND_B]);
    struct level3_model model = {
        .m = s->m,
        .n = s->n,
        .k = s->k,
        .batch = (double)s->batch,
        .side = s->side,
        .diagonal = (enum level3_diagonal)(s->diagonal <= LEVEL3_DIAGONAL_UNIT ? s->diagonal : LEVEL3_DIAGONAL_UNKNOWN),
        .complex = is_complex(w),
        .reads_c = reads_c(s),
        .a_bits = type_bits(w->type[OPERAND_A]),
        .b_bits = type_bits(w->type[OPERAND_B]),
        .c_bits = type_bits(w->type[OPERAND_C]),
        .d_bits = type_bits(w->type[OPERAND_D]),
        .a_matrices = distinct_matrices(s, OPERAND_A),
        .b_matrices = distinct_matrices(s, OPERAND_B),
    };
    struct level3_work found;
    w->shape_known = level3_work(&model, entry_name, &found);
    if (!w->shape_known)
        return;
    w->flops = found.flops;
    w->bytes = found.bytes;
    if (found.at_most)
        w->provenance = TRACE_AT_MOST;
}

static enum trace_provenance work_provenance(const struct trace_signature *s, const struct work *w)
{
    if (s->provenance < TRACE_EXACT || s->provenance > TRACE_NONE || !w->shape_known)
        return s->provenance == TRACE_NAME_ONLY ? TRACE_NAME_ONLY : TRACE_NONE;
    bool at_most = w->provenance == TRACE_AT_MOST || is_beta_unread(s) || may_share_bytes(s);
    return at_most && s->provenance < TRACE_AT_MOST ? TRACE_AT_MOST : (enum trace_provenance)s->provenance;
}

void work_of_signature(const struct trace_signature *signature, const char *entry_name, struct work *work)
{
    *work = (struct work){
        .m = TRACE_UNKNOWN,
        .n = TRACE_UNKNOWN,
        .k = TRACE_UNKNOWN,
        .batch = TRACE_UNKNOWN,
        .path = GPU_PATH_UNKNOWN,
        .flops = NAN,
        .bytes = NAN,
        .intensity = NAN,
        .bytes_per_row = NAN,
        .bytes_fixed = NAN,
        .flops_per_row = NAN,
        .model = {.batch = TRACE_UNKNOWN},
    };
    for (int i = 0; i < 4; i++)
        work->type[i] = number_format(signature->type[i]);
    switch (signature->kind) {
    case TRACE_CALL_GEMM:
        gemm_of_signature(signature, work);
        break;
    case TRACE_CALL_GEMV:
        gemv_of_signature(signature, work);
        break;
    case TRACE_CALL_LEVEL3:
        level3_of_signature(signature, entry_name, work);
        break;
    default:
        break;
    }
    if (work->path != GPU_PATH_UNKNOWN)
        work->type_compute = gpu_paths[work->path].type;
    if (work->bytes > 0)
        work->intensity = work->flops / work->bytes;
    work->provenance = work_provenance(signature, work);
}

/* ---- grouped calls ---- */

static bool is_idle(const struct trace_group *group)
{
    return group->batch == 0 || group->m == 0 || group->n == 0;
}

/* GROUP as a call of its own, its matrices found by pointers. */
static void work_of_group(const struct trace_signature *signature, const struct trace_group *group, struct work *work)
{
    struct trace_signature s = *signature;
    s.batch_mode = TRACE_BATCH_POINTERS;
    s.m = group->m;
    s.n = group->n;
    s.k = group->k;
    s.batch = group->batch;
    for (int i = 0; i < 4; i++)
        s.ld[i] = group->ld[i < OPERAND_C ? i : OPERAND_C];
    s.trans_a = group->trans_a;
    s.trans_b = group->trans_b;
    s.beta = group->beta;
    work_of_signature(&s, NULL, work);
}

struct work_of_groups work_sum_groups(const struct trace_signature *signature, const struct trace_group *groups,
                                      size_t count)
{
    /* Pointers of one group or of two may repeat. */
    struct work_of_groups sum = {.known = true, .at_most = signature->batch > 1};
    for (size_t i = 0; i < count; i++) {
        struct work of_group;
        if (is_idle(&groups[i]))
            continue;
        work_of_group(signature, &groups[i], &of_group);
        sum.flops += of_group.flops;
        sum.bytes += of_group.bytes;
        sum.at_most |= of_group.provenance == TRACE_AT_MOST;
    }
    return sum;
}

void work_take_groups(const struct trace_signature *signature, const struct work_of_groups *groups, struct work *work)
{
    bool alike = signature->m >= 0 && signature->n >= 0 && signature->k >= 0;
    if (!groups->known ||
        (alike && signature->beta != TRACE_SCALAR_UNKNOWN)) /* one product: all of it was known before */
        return;
    work->flops = groups->flops;
    work->bytes = groups->bytes;
    work->intensity = work->bytes > 0 ? work->flops / work->bytes : NAN;
    work->flops_per_row = work->bytes_per_row = work->bytes_fixed = NAN;
    work->model = (struct gemm_model){.batch = TRACE_UNKNOWN};
    work->weight = WORK_WEIGHT_NONE;
    work->shape_known = !isnan(work->flops);
    if (!work->shape_known)
        return;
    work->provenance = groups->at_most ? TRACE_AT_MOST : (enum trace_provenance)signature->provenance;
}

double work_rows_at_ridge(const struct work *work, double ridge)
{
    /* Of a GEMV nobody asks: more rows would be another call, on another path. */
    return isnan(work->bytes_per_row) ? NAN : gemm_work_ridge(&work->model, ridge).rows;
}
