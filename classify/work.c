/* SPDX-License-Identifier: Apache-2.0 */
/* Signature in, FLOPs and compulsory bytes out. cuBLAS is column-major and its callers are row-major, so the roles of m
 * and n are exchanged here, in one place, and nowhere else. */
#include "classify/work.h"

#include <math.h>
#include <string.h>

enum { OPERAND_A, OPERAND_B, OPERAND_C, OPERAND_D };
enum { OPERATION_N = 0 };
enum { ORDER_ROW = 1 }; /* CUBLASLT_ORDER_ROW */

/* ---- which multipliers do the work ---- */

/* cublasComputeType_t */
enum {
    COMPUTE_16F = 64,
    COMPUTE_16F_PEDANTIC = 65,
    COMPUTE_32F = 68,
    COMPUTE_32F_PEDANTIC = 69,
    COMPUTE_64F = 70,
    COMPUTE_64F_PEDANTIC = 71,
    COMPUTE_32I = 72,
    COMPUTE_32I_PEDANTIC = 73,
    COMPUTE_32F_FAST_16F = 74,
    COMPUTE_32F_FAST_16BF = 75,
    COMPUTE_32F_FAST_TF32 = 77,
};

/* cublasMath_t: a mode in the low bits, permissions above */
enum { MATH_MODE_MASK = 0xf, MATH_MODE_TF32 = 3 };

struct path_rule {
    enum number_type a, b;
    int compute;
    enum gpu_path path;
};

/* First match wins. What is not here (fp8 with bf16, emulated fp32, ...) has no path, so no ridge. */
/* clang-format off */
static const struct path_rule path_rules[] = {
    {NUMBER_FP64,     NUMBER_FP64,     COMPUTE_64F,           GPU_PATH_FP64},
    {NUMBER_FP64,     NUMBER_FP64,     COMPUTE_64F_PEDANTIC,  GPU_PATH_FP64},
    {NUMBER_FP32,     NUMBER_FP32,     COMPUTE_32F_PEDANTIC,  GPU_PATH_FP32},
    {NUMBER_FP32,     NUMBER_FP32,     COMPUTE_32F,           GPU_PATH_FP32},
    {NUMBER_FP32,     NUMBER_FP32,     COMPUTE_32F_FAST_TF32, GPU_PATH_TF32},
    {NUMBER_FP32,     NUMBER_FP32,     COMPUTE_32F_FAST_16F,  GPU_PATH_FP16},
    {NUMBER_FP32,     NUMBER_FP32,     COMPUTE_32F_FAST_16BF, GPU_PATH_BF16},
    {NUMBER_BF16,     NUMBER_BF16,     COMPUTE_32F,           GPU_PATH_BF16},
    {NUMBER_BF16,     NUMBER_BF16,     COMPUTE_32F_PEDANTIC,  GPU_PATH_BF16},
    {NUMBER_BF16,     NUMBER_BF16,     COMPUTE_32F_FAST_16BF, GPU_PATH_BF16},
    {NUMBER_FP16,     NUMBER_FP16,     COMPUTE_32F,           GPU_PATH_FP16},
    {NUMBER_FP16,     NUMBER_FP16,     COMPUTE_32F_PEDANTIC,  GPU_PATH_FP16},
    {NUMBER_FP16,     NUMBER_FP16,     COMPUTE_32F_FAST_16F,  GPU_PATH_FP16},
    {NUMBER_FP16,     NUMBER_FP16,     COMPUTE_16F,           GPU_PATH_FP16_ACC16},
    {NUMBER_FP16,     NUMBER_FP16,     COMPUTE_16F_PEDANTIC,  GPU_PATH_FP16_ACC16},
    {NUMBER_FP8_E4M3, NUMBER_FP8_E4M3, COMPUTE_32F,           GPU_PATH_FP8_E4M3},
    {NUMBER_FP8_E4M3, NUMBER_FP8_E5M2, COMPUTE_32F,           GPU_PATH_FP8_E4M3},
    {NUMBER_FP8_E5M2, NUMBER_FP8_E4M3, COMPUTE_32F,           GPU_PATH_FP8_E5M2},
    {NUMBER_FP8_E5M2, NUMBER_FP8_E5M2, COMPUTE_32F,           GPU_PATH_FP8_E5M2},
    {NUMBER_FP4_E2M1, NUMBER_FP4_E2M1, COMPUTE_32F,           GPU_PATH_FP4_E2M1},
    {NUMBER_INT8,     NUMBER_INT8,     COMPUTE_32I,           GPU_PATH_INT8},
    {NUMBER_INT8,     NUMBER_INT8,     COMPUTE_32I_PEDANTIC,  GPU_PATH_INT8},
    {NUMBER_INT8,     NUMBER_INT8,     COMPUTE_32F,           GPU_PATH_INT8},
    {NUMBER_INT8,     NUMBER_INT8,     COMPUTE_32F_PEDANTIC,  GPU_PATH_INT8},
};
/* clang-format on */

static enum gpu_path gemm_path(const struct trace_signature *s, const struct work *w)
{
    enum gpu_path path = GPU_PATH_UNKNOWN;
    for (size_t i = 0; i < sizeof path_rules / sizeof path_rules[0]; i++) {
        const struct path_rule *r = &path_rules[i];
        if (r->a == w->type[OPERAND_A].type && r->b == w->type[OPERAND_B].type && r->compute == s->type_compute) {
            path = r->path;
            break;
        }
    }
    /* The handle may allow TF32 where the compute type alone says fp32. Pedantic compute types forbid it. */
    bool tf32_allowed = s->math_mode >= 0 && (s->math_mode & MATH_MODE_MASK) == MATH_MODE_TF32;
    if (path == GPU_PATH_FP32 && s->type_compute == COMPUTE_32F && tf32_allowed)
        path = GPU_PATH_TF32;
    return path;
}

/* A matrix-vector product has one row: tensor cores have nothing to reuse, and cuBLAS's kernels use FMA units. */
static enum gpu_path fma_path(const struct work *w)
{
    switch (w->type[OPERAND_A].type) {
    case NUMBER_FP64:
        return GPU_PATH_FP64;
    case NUMBER_FP32:
    case NUMBER_BF16:
    case NUMBER_FP16:
        return GPU_PATH_FP32;
    default:
        return GPU_PATH_UNKNOWN;
    }
}

/* ---- bytes ---- */

/* NAN where the element size is not known. */
static double type_bytes(struct number_format format)
{
    return format.bits ? format.bits / 8.0 : NAN;
}

/* How many distinct matrices of an operand a call touches. */
static double distinct_matrices(const struct trace_signature *s, int operand)
{
    if (s->batch_mode == TRACE_BATCH_STRIDED && s->batch_stride[operand] == 0)
        return s->batch > 0 ? 1 : 0;
    return (double)s->batch;
}

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

static double bias_bytes(const struct trace_signature *s, const struct work *w)
{
    if (s->epilogue < 0 || s->library != TRACE_LIBRARY_CUBLASLT)
        return 0;
    double elements = 0;
    if (s->epilogue & (EPILOGUE_BIAS | EPILOGUE_BIAS_GRADIENT | EPILOGUE_BIAS_GRADIENT_A))
        elements = (double)s->m; /* one for each row of D, whatever its order */
    else if (s->epilogue & EPILOGUE_BIAS_GRADIENT_B)
        elements = (double)s->n;
    if (elements == 0)
        return 0;
    struct number_format type = number_format(s->type_bias);
    return elements * type_bytes(type.bits ? type : w->type[OPERAND_D]);
}

/* The auxiliary matrix: a bit mask for ReLU, D's shape for GELU; written going forward, read going backward. */
static double aux_bytes(const struct trace_signature *s, const struct work *w)
{
    if (s->epilogue < 0 || s->library != TRACE_LIBRARY_CUBLASLT || !(s->epilogue & EPILOGUE_AUX))
        return 0;
    double elements = (double)s->m * (double)s->n * (double)s->batch;
    if (s->epilogue & (EPILOGUE_RELU | EPILOGUE_DRELU))
        return elements / 8;
    struct number_format type = number_format(s->type_aux);
    return elements * type_bytes(type.bits ? type : w->type[OPERAND_D]);
}

/* cublasLtMatmulMatrixScale_t */
enum {
    SCALE_SCALAR = 0,
    SCALE_VEC16_UE4M3 = 1,
    SCALE_VEC32_UE8M0 = 2,
    SCALE_OUTER_VEC = 3,
    SCALE_VEC128 = 4,
    SCALE_BLOCK128 = 5,
    SCALE_PER_BATCH = 6,
};

/* Scales of one matrix of OUTER vectors, each INNER long (INNER is K for A and B). NAN for a mode that is not known. */
static double scale_bytes(int32_t mode, double outer, double inner, double matrices)
{
    switch (mode) {
    case TRACE_UNKNOWN: /* no scale pointer is set */
        return 0;
    case SCALE_SCALAR:
        return 4;
    case SCALE_VEC16_UE4M3:
        return outer * ceil(inner / 16) * matrices;
    case SCALE_VEC32_UE8M0:
        return outer * ceil(inner / 32) * matrices;
    case SCALE_OUTER_VEC:
        return 4 * outer * matrices;
    case SCALE_VEC128:
        return 4 * outer * ceil(inner / 128) * matrices;
    case SCALE_BLOCK128:
        return 4 * ceil(outer / 128) * ceil(inner / 128) * matrices;
    case SCALE_PER_BATCH:
        return 4 * matrices;
    default:
        return NAN;
    }
}

/* The bytes of a GEMM by what they grow with. */
struct gemm_bytes {
    double a, b, d; /* d: written, and C read where beta asks for it, and the auxiliary matrix */
    double bias;
};

static struct gemm_bytes gemm_bytes(const struct trace_signature *s, const struct work *w)
{
    double m = (double)s->m, n = (double)s->n, k = (double)s->k;
    double matrices[4];
    for (int i = 0; i < 4; i++)
        matrices[i] = distinct_matrices(s, i);
    struct gemm_bytes bytes = {
        .a = m * k * matrices[OPERAND_A] * type_bytes(w->type[OPERAND_A]),
        .b = k * n * matrices[OPERAND_B] * type_bytes(w->type[OPERAND_B]),
        .d = m * n * matrices[OPERAND_D] * type_bytes(w->type[OPERAND_D]),
        .bias = bias_bytes(s, w),
    };
    if (s->beta != TRACE_SCALAR_ZERO)
        bytes.d += m * n * matrices[OPERAND_C] * type_bytes(w->type[OPERAND_C]);
    bytes.d += aux_bytes(s, w);
    if (s->library == TRACE_LIBRARY_CUBLASLT) {
        bytes.a += scale_bytes(s->scale_mode[OPERAND_A], m, k, matrices[OPERAND_A]);
        bytes.b += scale_bytes(s->scale_mode[OPERAND_B], n, k, matrices[OPERAND_B]);
        if (s->beta != TRACE_SCALAR_ZERO)
            bytes.d += scale_bytes(s->scale_mode[OPERAND_C], n, m, matrices[OPERAND_C]);
        bytes.d += scale_bytes(s->scale_mode[OPERAND_D], n, m, matrices[OPERAND_D]);
    }
    return bytes;
}

/* ---- the three kinds ---- */

static void gemm_of_signature(const struct trace_signature *s, struct work *w)
{
    bool row_major = s->library == TRACE_LIBRARY_CUBLASLT && s->order[OPERAND_D] == ORDER_ROW;
    w->m = row_major ? s->m : s->n;
    w->n = row_major ? s->n : s->m;
    w->k = s->k;
    w->batch = s->batch;
    w->path = gemm_path(s, w);
    w->shape_known = s->m >= 0 && s->n >= 0 && s->k >= 0 && s->batch >= 0;
    if (!w->shape_known)
        return;

    uint8_t activation_operation = row_major ? s->trans_a : s->trans_b;
    if (activation_operation == OPERATION_N)
        w->weight = row_major ? WORK_WEIGHT_B : WORK_WEIGHT_A;

    double flops_per_product = w->type[OPERAND_A].complex ? 8 : 2;
    w->flops_per_row = flops_per_product * (double)w->n * (double)w->k * (double)s->batch;
    w->flops = w->flops_per_row * (double)w->m;

    struct gemm_bytes bytes = gemm_bytes(s, w);
    double growing = (row_major ? bytes.a : bytes.b) + bytes.d;
    double fixed = (row_major ? bytes.b : bytes.a) + bytes.bias;
    w->bytes = growing + fixed;
    w->bytes_fixed = fixed;
    w->bytes_per_row = w->m ? growing / (double)w->m : NAN;
}

static void gemv_work(const struct trace_signature *s, struct work *w)
{
    bool transposed = s->trans_a != OPERATION_N;
    w->m = 1;
    w->n = transposed ? s->n : s->m;
    w->k = transposed ? s->m : s->n;
    w->batch = s->batch;
    w->weight = WORK_WEIGHT_A;
    w->path = fma_path(w);
    w->shape_known = s->m >= 0 && s->n >= 0 && s->batch >= 0;
    if (!w->shape_known)
        return;
    double n = (double)w->n, k = (double)w->k;
    w->flops = (w->type[OPERAND_A].complex ? 8 : 2) * n * k * (double)s->batch;
    w->bytes = n * k * distinct_matrices(s, OPERAND_A) * type_bytes(w->type[OPERAND_A]) +
               k * distinct_matrices(s, OPERAND_B) * type_bytes(w->type[OPERAND_B]) +
               n * distinct_matrices(s, OPERAND_D) * type_bytes(w->type[OPERAND_D]);
    if (s->beta != TRACE_SCALAR_ZERO)
        w->bytes += n * distinct_matrices(s, OPERAND_C) * type_bytes(w->type[OPERAND_C]);
}

enum level3_shape {
    LEVEL3_SIDE, /* m x n, with a triangle on one side */
    LEVEL3_RANK, /* an n x n triangle from n x k */
};

struct level3_routine {
    const char *name; /* behind "cublas" and the type's letter; longer names first */
    enum level3_shape shape;
    double products;   /* multiply-adds per (m, n, side) or per (triangle, k) */
    bool reads_b;      /* beside A */
    bool writes_apart; /* the output is not what was read as B */
    bool has_beta;
};

/* clang-format off */
static const struct level3_routine level3_routines[] = {
    {"symm",  LEVEL3_SIDE, 1.0, true,  true,  true},
    {"hemm",  LEVEL3_SIDE, 1.0, true,  true,  true},
    {"trmm",  LEVEL3_SIDE, 0.5, true,  true,  false},
    {"trsm",  LEVEL3_SIDE, 0.5, true,  true,  false}, /* B is read, then overwritten: both cross the bus */
    {"syrkx", LEVEL3_RANK, 1.0, true,  true,  true},
    {"herkx", LEVEL3_RANK, 1.0, true,  true,  true},
    {"syr2k", LEVEL3_RANK, 2.0, true,  true,  true},
    {"her2k", LEVEL3_RANK, 2.0, true,  true,  true},
    {"syrk",  LEVEL3_RANK, 1.0, false, true,  true},
    {"herk",  LEVEL3_RANK, 1.0, false, true,  true},
};
/* clang-format on */

static const struct level3_routine *find_level3(const char *entry_name)
{
    static const char prefix[] = "cublas";
    size_t skip = sizeof prefix - 1 + 1; /* and the letter of the type */
    if (!entry_name || strncmp(entry_name, prefix, sizeof prefix - 1) || strlen(entry_name) < skip)
        return NULL;
    for (size_t i = 0; i < sizeof level3_routines / sizeof level3_routines[0]; i++)
        if (!strncmp(entry_name + skip, level3_routines[i].name, strlen(level3_routines[i].name)))
            return &level3_routines[i];
    return NULL;
}

static void level3_work(const struct trace_signature *s, const char *entry_name, struct work *w)
{
    const struct level3_routine *routine = find_level3(entry_name);
    w->m = s->m;
    w->n = s->n;
    w->k = s->k;
    w->batch = s->batch;
    w->path = gemm_path(s, w);
    if (!routine || s->batch < 0 || s->n < 0 || (routine->shape == LEVEL3_SIDE ? s->m : s->k) < 0 ||
        (routine->shape == LEVEL3_SIDE && s->side > 1))
        return;
    w->shape_known = true;
    double m = (double)s->m, n = (double)s->n, k = (double)s->k, products, a, b, output;
    if (routine->shape == LEVEL3_SIDE) {
        double side = s->side == 0 ? m : n; /* CUBLAS_SIDE_LEFT */
        products = m * n * side;
        a = side * (side + 1) / 2;
        b = output = m * n;
    } else {
        output = n * (n + 1) / 2;
        products = output * k;
        a = b = n * k;
    }
    double batch = (double)s->batch;
    w->flops = (w->type[OPERAND_A].complex ? 8 : 2) * products * routine->products * batch;
    w->bytes = a * batch * type_bytes(w->type[OPERAND_A]);
    if (routine->reads_b)
        w->bytes += b * batch * type_bytes(w->type[OPERAND_B]);
    if (routine->writes_apart)
        w->bytes += output * batch * type_bytes(w->type[OPERAND_D]);
    if (routine->has_beta && s->beta != TRACE_SCALAR_ZERO)
        w->bytes += output * batch * type_bytes(w->type[OPERAND_C]);
}

static enum trace_provenance work_provenance(const struct trace_signature *s, const struct work *w)
{
    if (s->provenance < TRACE_EXACT || s->provenance > TRACE_NONE || !w->shape_known)
        return s->provenance == TRACE_NAME_ONLY ? TRACE_NAME_ONLY : TRACE_NONE;
    bool beta_unread = s->beta == TRACE_SCALAR_ON_DEVICE || s->beta == TRACE_SCALAR_UNKNOWN;
    if (beta_unread && s->provenance < TRACE_AT_MOST)
        return TRACE_AT_MOST;
    return s->provenance;
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
        gemv_work(signature, work);
        break;
    case TRACE_CALL_LEVEL3:
        level3_work(signature, entry_name, work);
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

double work_rows_at_ridge(const struct work *work, double ridge)
{
    double gain = work->flops_per_row - ridge * work->bytes_per_row;
    if (isnan(gain) || isnan(work->bytes_fixed))
        return NAN;
    return gain > 0 ? ridge * work->bytes_fixed / gain : INFINITY;
}
