/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of cuBLASLt: create, init, set, get. Sizes are exact, as in the real library (a buffer that is larger than
 * the attribute is refused too), and a size of 0 asks for the size. */
#include "lt.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct attribute {
    int id;
    uint16_t offset, bytes;
};

struct attribute_table {
    const struct attribute *rows;
    size_t count;
};

struct lt_preference {
    int32_t search_mode;
    uint32_t reduction_scheme_mask, min_alignment[4];
    float max_waves_count;
    uint64_t max_workspace_bytes, impl_mask;
};

struct lt_transform_desc {
    int32_t scale_type, pointer_mode, transa, transb;
};

struct lt_emulation {
    int32_t strategy, special_values, mantissa_control, max_mantissa_bits, mantissa_bit_offset;
    void *mantissa_bit_count;
};

struct lt_algo {
    int32_t id;
    uint32_t tile_id, split_k, reduction_scheme, cta_swizzling, custom_option, stages_id;
    uint16_t inner_shape_id, cluster_shape_id, reserved_10;
};

_Static_assert(sizeof(struct lt_layout) <= sizeof(cublasLtMatrixLayoutOpaque_t), "layout");
_Static_assert(sizeof(struct lt_desc) <= sizeof(cublasLtMatmulDescOpaque_t), "matmul descriptor");
_Static_assert(sizeof(struct lt_preference) <= sizeof(cublasLtMatmulPreferenceOpaque_t), "preference");
_Static_assert(sizeof(struct lt_transform_desc) <= sizeof(cublasLtMatrixTransformDescOpaque_t), "transform");
_Static_assert(sizeof(struct lt_emulation) <= sizeof(cublasLtEmulationDescOpaque_t), "emulation");
_Static_assert(sizeof(struct lt_algo) <= sizeof(cublasLtMatmulAlgo_t), "algorithm");

#define AT(type, id, field)                                                                                            \
    {                                                                                                                  \
        id, offsetof(struct type, field), sizeof(((struct type *)0)->field)                                            \
    }
#define TABLE(rows)                                                                                                    \
    {                                                                                                                  \
        rows, sizeof rows / sizeof *rows                                                                               \
    }

/* clang-format off */
static const struct attribute layout_rows[] = {
    AT(lt_layout, CUBLASLT_MATRIX_LAYOUT_TYPE, type),
    AT(lt_layout, CUBLASLT_MATRIX_LAYOUT_ORDER, order),
    AT(lt_layout, CUBLASLT_MATRIX_LAYOUT_ROWS, rows),
    AT(lt_layout, CUBLASLT_MATRIX_LAYOUT_COLS, cols),
    AT(lt_layout, CUBLASLT_MATRIX_LAYOUT_LD, ld),
    AT(lt_layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, batch_count),
    AT(lt_layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, batch_stride),
    AT(lt_layout, CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, plane_offset),
    AT(lt_layout, CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, batch_mode),
};
static const struct attribute desc_rows[] = {
    AT(lt_desc, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, compute_type),
    AT(lt_desc, CUBLASLT_MATMUL_DESC_SCALE_TYPE, scale_type),
    AT(lt_desc, CUBLASLT_MATMUL_DESC_POINTER_MODE, pointer_mode),
    AT(lt_desc, CUBLASLT_MATMUL_DESC_TRANSA, transa),
    AT(lt_desc, CUBLASLT_MATMUL_DESC_TRANSB, transb),
    AT(lt_desc, CUBLASLT_MATMUL_DESC_TRANSC, transc),
    AT(lt_desc, CUBLASLT_MATMUL_DESC_FILL_MODE, fill_mode),
    AT(lt_desc, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue),
    AT(lt_desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias),
    AT(lt_desc, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, bias_batch_stride),
    AT(lt_desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, aux),
    AT(lt_desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, aux_ld),
    AT(lt_desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, aux_batch_stride),
    AT(lt_desc, CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE, alpha_vector_batch_stride),
    AT(lt_desc, CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, sm_count_target),
    AT(lt_desc, 16, reserved_16), /* undocumented, but answered by every version */
    AT(lt_desc, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, a_scale),
    AT(lt_desc, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, b_scale),
    AT(lt_desc, CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, c_scale),
    AT(lt_desc, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, d_scale),
    AT(lt_desc, CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, amax_d),
    AT(lt_desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, aux_type),
    AT(lt_desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER, aux_scale),
    AT(lt_desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER, aux_amax),
    AT(lt_desc, CUBLASLT_MATMUL_DESC_FAST_ACCUM, fast_accumulation),
    AT(lt_desc, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, bias_type),
    AT(lt_desc, CUBLASLT_MATMUL_DESC_A_SCALE_MODE, a_scale_mode),
    AT(lt_desc, CUBLASLT_MATMUL_DESC_B_SCALE_MODE, b_scale_mode),
    AT(lt_desc, CUBLASLT_MATMUL_DESC_C_SCALE_MODE, c_scale_mode),
    AT(lt_desc, CUBLASLT_MATMUL_DESC_D_SCALE_MODE, d_scale_mode),
    AT(lt_desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE, aux_scale_mode),
    AT(lt_desc, CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER, d_out_scale),
    AT(lt_desc, CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE, d_out_scale_mode),
#if SIM_CUDA_MAJOR >= 13
    AT(lt_desc, CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR, emulation),
#else
    AT(lt_desc, 27, atomic_rows), /* ATOMIC_SYNC_NUM_CHUNKS_D_ROWS, _COLS, _IN_ and _OUT_COUNTERS_POINTER: removed in 13.0 */
    AT(lt_desc, 28, atomic_cols),
    AT(lt_desc, 29, atomic_in),
    AT(lt_desc, 30, atomic_out),
#endif
};
static const struct attribute preference_rows[] = {
    AT(lt_preference, CUBLASLT_MATMUL_PREF_SEARCH_MODE, search_mode),
    AT(lt_preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, max_workspace_bytes),
    AT(lt_preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, reduction_scheme_mask),
    AT(lt_preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, min_alignment[0]),
    AT(lt_preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, min_alignment[1]),
    AT(lt_preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, min_alignment[2]),
    AT(lt_preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, min_alignment[3]),
    AT(lt_preference, CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT, max_waves_count),
    AT(lt_preference, CUBLASLT_MATMUL_PREF_IMPL_MASK, impl_mask),
};
static const struct attribute transform_rows[] = {
    AT(lt_transform_desc, CUBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE, scale_type),
    AT(lt_transform_desc, CUBLASLT_MATRIX_TRANSFORM_DESC_POINTER_MODE, pointer_mode),
    AT(lt_transform_desc, CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, transa),
    AT(lt_transform_desc, CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSB, transb),
};
static const struct attribute emulation_rows[] = {
    AT(lt_emulation, CUBLASLT_EMULATION_DESC_STRATEGY, strategy),
    AT(lt_emulation, CUBLASLT_EMULATION_DESC_SPECIAL_VALUES_SUPPORT, special_values),
    AT(lt_emulation, CUBLASLT_EMULATION_DESC_FIXEDPOINT_MANTISSA_CONTROL, mantissa_control),
    AT(lt_emulation, CUBLASLT_EMULATION_DESC_FIXEDPOINT_MAX_MANTISSA_BIT_COUNT, max_mantissa_bits),
    AT(lt_emulation, CUBLASLT_EMULATION_DESC_FIXEDPOINT_MANTISSA_BIT_OFFSET, mantissa_bit_offset),
    AT(lt_emulation, CUBLASLT_EMULATION_DESC_FIXEDPOINT_MANTISSA_BIT_COUNT_POINTER, mantissa_bit_count),
};
static const struct attribute algo_rows[] = {
    AT(lt_algo, CUBLASLT_ALGO_CONFIG_ID, id),
    AT(lt_algo, CUBLASLT_ALGO_CONFIG_TILE_ID, tile_id),
    AT(lt_algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, split_k),
    AT(lt_algo, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, reduction_scheme),
    AT(lt_algo, CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, cta_swizzling),
    AT(lt_algo, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, custom_option),
    AT(lt_algo, CUBLASLT_ALGO_CONFIG_STAGES_ID, stages_id),
    AT(lt_algo, CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, inner_shape_id),
    AT(lt_algo, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, cluster_shape_id),
    AT(lt_algo, 10, reserved_10), /* undocumented, but answered */
};
/* clang-format on */

static const struct attribute_table layout_table = TABLE(layout_rows);
static const struct attribute_table desc_table = TABLE(desc_rows);
static const struct attribute_table preference_table = TABLE(preference_rows);
static const struct attribute_table transform_table = TABLE(transform_rows);
static const struct attribute_table emulation_table = TABLE(emulation_rows);
static const struct attribute_table algo_table = TABLE(algo_rows);

static const struct attribute *find(const struct attribute_table *table, int id)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].id == id)
            return &table->rows[i];
    return NULL;
}

static cublasStatus_t set(const struct attribute_table *table, void *object, int id, const void *buf, size_t bytes)
{
    const struct attribute *row = find(table, id);
    if (!object || !row || !buf || bytes != row->bytes)
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy((char *)object + row->offset, buf, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t get(const struct attribute_table *table, const void *object, int id, void *buf, size_t bytes,
                          size_t *written)
{
    const struct attribute *row = find(table, id);
    if (!object || !row)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (bytes == 0 && written) {
        *written = row->bytes;
        return CUBLAS_STATUS_SUCCESS;
    }
    if (!buf || bytes != row->bytes)
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(buf, (const char *)object + row->offset, bytes);
    if (written)
        *written = bytes;
    return CUBLAS_STATUS_SUCCESS;
}

/* Object of BYTES for *PLACE, or INVALID_VALUE / ALLOC_FAILED. */
static cublasStatus_t create(void *place, size_t bytes)
{
    if (!place)
        return CUBLAS_STATUS_INVALID_VALUE;
    void *made = calloc(1, bytes);
    memcpy(place, &made, sizeof made);
    return made ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

static cublasStatus_t init_checked(void *object, size_t size, size_t needed)
{
    if (!object)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (size < needed)
        return CUBLAS_STATUS_ALLOC_FAILED;
    memset(object, 0, needed);
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- matrix layout ---- */

cublasStatus_t sim_cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t object, size_t size, cudaDataType type,
                                                     uint64_t rows, uint64_t cols, int64_t ld)
{
    const cublasStatus_t status = init_checked(object, size, sizeof(struct lt_layout));
    if (status)
        return status;
    *(struct lt_layout *)object =
        (struct lt_layout){.type = (int32_t)type, .rows = rows, .cols = cols, .ld = ld, .batch_count = 1};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t sim_cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *object, cudaDataType type, uint64_t rows,
                                              uint64_t cols, int64_t ld)
{
    const cublasStatus_t status = create(object, sizeof **object);
    return status ? status : sim_cublasLtMatrixLayoutInit_internal(*object, sizeof **object, type, rows, cols, ld);
}

cublasStatus_t sim_cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t object)
{
    free(object);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t sim_cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t object, cublasLtMatrixLayoutAttribute_t id,
                                                    const void *buf, size_t bytes)
{
    return set(&layout_table, object, (int)id, buf, bytes);
}

cublasStatus_t sim_cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t object, cublasLtMatrixLayoutAttribute_t id,
                                                    void *buf, size_t bytes, size_t *written)
{
    return get(&layout_table, object, (int)id, buf, bytes, written);
}

/* ---- matmul descriptor ---- */

cublasStatus_t sim_cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t object, size_t size,
                                                   cublasComputeType_t compute, cudaDataType_t scale)
{
    const cublasStatus_t status = init_checked(object, size, sizeof(struct lt_desc));
    if (status)
        return status;
    *(struct lt_desc *)object = (struct lt_desc){
        .compute_type = (int32_t)compute,
        .scale_type = (int32_t)scale,
        .fill_mode = CUBLAS_FILL_MODE_FULL,
        .epilogue = CUBLASLT_EPILOGUE_DEFAULT,
        .aux_type = -1, /* follow D */
        .bias_type = -1,
    };
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t sim_cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *object, cublasComputeType_t compute,
                                            cudaDataType_t scale)
{
    const cublasStatus_t status = create(object, sizeof **object);
    return status ? status : sim_cublasLtMatmulDescInit_internal(*object, sizeof **object, compute, scale);
}

cublasStatus_t sim_cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t object)
{
    free(object);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t sim_cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t object, cublasLtMatmulDescAttributes_t id,
                                                  const void *buf, size_t bytes)
{
    return set(&desc_table, object, (int)id, buf, bytes);
}

cublasStatus_t sim_cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t object, cublasLtMatmulDescAttributes_t id,
                                                  void *buf, size_t bytes, size_t *written)
{
    return get(&desc_table, object, (int)id, buf, bytes, written);
}

/* ---- transform descriptor ---- */

cublasStatus_t sim_cublasLtMatrixTransformDescInit_internal(cublasLtMatrixTransformDesc_t object, size_t size,
                                                            cudaDataType scale)
{
    const cublasStatus_t status = init_checked(object, size, sizeof *object);
    if (!status)
        ((struct lt_transform_desc *)object)->scale_type = (int32_t)scale;
    return status;
}

cublasStatus_t sim_cublasLtMatrixTransformDescCreate(cublasLtMatrixTransformDesc_t *object, cudaDataType scale)
{
    const cublasStatus_t status = create(object, sizeof **object);
    return status ? status : sim_cublasLtMatrixTransformDescInit_internal(*object, sizeof **object, scale);
}

cublasStatus_t sim_cublasLtMatrixTransformDescDestroy(cublasLtMatrixTransformDesc_t object)
{
    free(object);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t sim_cublasLtMatrixTransformDescSetAttribute(cublasLtMatrixTransformDesc_t object,
                                                           cublasLtMatrixTransformDescAttributes_t id, const void *buf,
                                                           size_t bytes)
{
    return set(&transform_table, object, (int)id, buf, bytes);
}

cublasStatus_t sim_cublasLtMatrixTransformDescGetAttribute(cublasLtMatrixTransformDesc_t object,
                                                           cublasLtMatrixTransformDescAttributes_t id, void *buf,
                                                           size_t bytes, size_t *written)
{
    return get(&transform_table, object, (int)id, buf, bytes, written);
}

/* ---- preference ---- */

cublasStatus_t sim_cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t object, size_t size)
{
    const cublasStatus_t status = init_checked(object, size, sizeof *object);
    if (!status)
        *(struct lt_preference *)object = (struct lt_preference){
            .reduction_scheme_mask = CUBLASLT_REDUCTION_SCHEME_MASK,
            .min_alignment = {256, 256, 256, 256},
            .impl_mask = UINT64_MAX,
        };
    return status;
}

cublasStatus_t sim_cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *object)
{
    const cublasStatus_t status = create(object, sizeof **object);
    return status ? status : sim_cublasLtMatmulPreferenceInit_internal(*object, sizeof **object);
}

cublasStatus_t sim_cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t object)
{
    free(object);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t sim_cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t object,
                                                        cublasLtMatmulPreferenceAttributes_t id, const void *buf,
                                                        size_t bytes)
{
    return set(&preference_table, object, (int)id, buf, bytes);
}

cublasStatus_t sim_cublasLtMatmulPreferenceGetAttribute(cublasLtMatmulPreference_t object,
                                                        cublasLtMatmulPreferenceAttributes_t id, void *buf,
                                                        size_t bytes, size_t *written)
{
    return get(&preference_table, object, (int)id, buf, bytes, written);
}

/* ---- emulation descriptor ---- */

cublasStatus_t sim_cublasLtEmulationDescInit_internal(cublasLtEmulationDesc_t object, size_t size)
{
    const cublasStatus_t status = init_checked(object, size, sizeof *object);
    if (!status)
        ((struct lt_emulation *)object)->special_values = 0xffff; /* the documented default */
    return status;
}

cublasStatus_t sim_cublasLtEmulationDescCreate(cublasLtEmulationDesc_t *object)
{
    const cublasStatus_t status = create(object, sizeof **object);
    return status ? status : sim_cublasLtEmulationDescInit_internal(*object, sizeof **object);
}

cublasStatus_t sim_cublasLtEmulationDescDestroy(cublasLtEmulationDesc_t object)
{
    free(object);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t sim_cublasLtEmulationDescSetAttribute(cublasLtEmulationDesc_t object,
                                                     cublasLtEmulationDescAttributes_t id, const void *buf,
                                                     size_t bytes)
{
    return set(&emulation_table, object, (int)id, buf, bytes);
}

cublasStatus_t sim_cublasLtEmulationDescGetAttribute(cublasLtEmulationDesc_t object,
                                                     cublasLtEmulationDescAttributes_t id, void *buf, size_t bytes,
                                                     size_t *written)
{
    return get(&emulation_table, object, (int)id, buf, bytes, written);
}

/* ---- algorithm configuration ---- */

cublasStatus_t sim_cublasLtMatmulAlgoConfigSetAttribute(cublasLtMatmulAlgo_t *algo,
                                                        cublasLtMatmulAlgoConfigAttributes_t id, const void *buf,
                                                        size_t bytes)
{
    if ((int)id == CUBLASLT_ALGO_CONFIG_ID)
        return CUBLAS_STATUS_INVALID_VALUE; /* read-only: an algorithm is made by its id */
    return set(&algo_table, algo, (int)id, buf, bytes);
}

cublasStatus_t sim_cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t *algo,
                                                        cublasLtMatmulAlgoConfigAttributes_t id, void *buf,
                                                        size_t bytes, size_t *written)
{
    return get(&algo_table, algo, (int)id, buf, bytes, written);
}
