/* SPDX-License-Identifier: Apache-2.0 */
/* cuBLASLt besides descriptors and launches: handles, version, logging settings and the choice of algorithms, of which
 * the stand-in has one (its id is 0) for every problem that it can do. */
#include "lt.h"
#include "status.h"

#include <stdlib.h>
#include <string.h>

cublasStatus_t sim_cublasLtCreate(cublasLtHandle_t *handle)
{
    if (!handle)
        return CUBLAS_STATUS_INVALID_VALUE;
    *handle = NULL;
    if (simgpu_init() != SIMGPU_SUCCESS)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    *handle = calloc(1, sizeof **handle);
    return *handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t sim_cublasLtDestroy(cublasLtHandle_t handle)
{
    if (!handle)
        return CUBLAS_STATUS_INVALID_VALUE;
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}

size_t sim_cublasLtGetVersion(void)
{
    return SIM_BLAS_VERSION;
}

size_t sim_cublasLtGetCudartVersion(void)
{
    return SIM_CUDA_VERSION;
}

cublasStatus_t sim_cublasLtGetProperty(libraryPropertyType type, int *value)
{
    return version_property(type, value);
}

const char *sim_cublasLtGetStatusName(cublasStatus_t status)
{
    const struct status_text *found = status_find(status);
    return found ? found->name : "unrecognized status";
}

const char *sim_cublasLtGetStatusString(cublasStatus_t status)
{
    const struct status_text *found = status_find(status);
    return found ? found->text : "unrecognized status";
}

static size_t cache_capacity;

cublasStatus_t sim_cublasLtHeuristicsCacheGetCapacity(size_t *capacity)
{
    if (!capacity)
        return CUBLAS_STATUS_INVALID_VALUE;
    *capacity = cache_capacity;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t sim_cublasLtHeuristicsCacheSetCapacity(size_t capacity)
{
    cache_capacity = capacity;
    return CUBLAS_STATUS_SUCCESS;
}

unsigned sim_cublasLtDisableCpuInstructionsSetMask(unsigned mask)
{
    static unsigned current;
    const unsigned before = current;
    current = mask;
    return before;
}

/* ---- logging: settings are taken, nothing is logged ---- */

cublasStatus_t sim_cublasLtLoggerSetCallback(cublasLtLoggerCallback_t callback)
{
    (void)callback;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t sim_cublasLtLoggerSetFile(FILE *file)
{
    (void)file;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t sim_cublasLtLoggerOpenFile(const char *file)
{
    return file ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t sim_cublasLtLoggerSetLevel(int level)
{
    return level >= 0 && level <= 5 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t sim_cublasLtLoggerSetMask(int mask)
{
    (void)mask;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t sim_cublasLtLoggerForceDisable(void)
{
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- algorithms ---- */

static void fill_result(const struct lt_problem *problem, cublasLtMatmulHeuristicResult_t *result)
{
    const struct simgpu_device *device = simgpu_device();
    const double tiles = (double)((problem->m + device->gemm_tile_m - 1) / device->gemm_tile_m) *
                         (double)((problem->n + device->gemm_tile_n - 1) / device->gemm_tile_n) *
                         (double)problem->batch;
    result->workspaceSize = 0;
    result->state = CUBLAS_STATUS_SUCCESS;
    result->wavesCount = device->sm_count > 0 ? (float)(tiles / device->sm_count) : 0;
}

static cublasStatus_t problem_of(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
                                 cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                 struct lt_problem *problem)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!desc || !a || !b || !c || !d)
        return CUBLAS_STATUS_INVALID_VALUE;
    return (cublasStatus_t)lt_problem_of((const struct lt_desc *)desc, (const struct lt_layout *)a,
                                         (const struct lt_layout *)b, (const struct lt_layout *)c,
                                         (const struct lt_layout *)d, problem);
}

cublasStatus_t sim_cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                                  cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                                  cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                                  cublasLtMatmulPreference_t preference, int requested,
                                                  cublasLtMatmulHeuristicResult_t results[], int *returned)
{
    if (returned)
        *returned = 0;
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!preference || requested < 1 || !results || !returned)
        return CUBLAS_STATUS_INVALID_VALUE;
    struct lt_problem problem;
    const cublasStatus_t status = problem_of(handle, desc, a, b, c, d, &problem);
    if (status)
        return status;
    memset(&results[0], 0, sizeof results[0]);
    fill_result(&problem, &results[0]);
    *returned = 1;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t sim_cublasLtMatmulAlgoGetIds(cublasLtHandle_t handle, cublasComputeType_t compute, cudaDataType_t scale,
                                            cudaDataType_t a, cudaDataType_t b, cudaDataType_t c, cudaDataType_t d,
                                            int requested, int ids[], int *returned)
{
    (void)compute, (void)scale, (void)a, (void)b, (void)c, (void)d;
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (requested < 1 || !ids || !returned)
        return CUBLAS_STATUS_INVALID_VALUE;
    ids[0] = 0;
    *returned = 1;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t sim_cublasLtMatmulAlgoInit(cublasLtHandle_t handle, cublasComputeType_t compute, cudaDataType_t scale,
                                          cudaDataType_t a, cudaDataType_t b, cudaDataType_t c, cudaDataType_t d,
                                          int id, cublasLtMatmulAlgo_t *algo)
{
    (void)compute, (void)scale, (void)a, (void)b, (void)c, (void)d;
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!algo || id < 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    memset(algo, 0, sizeof *algo);
    const int32_t number = id;
    memcpy(algo, &number, sizeof number);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t sim_cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
                                           cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                           const cublasLtMatmulAlgo_t *algo, cublasLtMatmulHeuristicResult_t *result)
{
    if (handle && (!algo || !result))
        return CUBLAS_STATUS_INVALID_VALUE;
    struct lt_problem problem;
    const cublasStatus_t status = problem_of(handle, desc, a, b, c, d, &problem);
    if (status)
        return status;
    memset(result, 0, sizeof *result);
    result->algo = *algo;
    fill_result(&problem, result);
    return CUBLAS_STATUS_SUCCESS;
}

/* What the one algorithm can do: attribute, bytes of an element, value. */
static const struct {
    int id, bytes;
    uint64_t value;
} capabilities[] = {
    {CUBLASLT_ALGO_CAP_SPLITK_SUPPORT, 4, 0},
    {CUBLASLT_ALGO_CAP_REDUCTION_SCHEME_MASK, 4, CUBLASLT_REDUCTION_SCHEME_NONE},
    {CUBLASLT_ALGO_CAP_CTA_SWIZZLING_SUPPORT, 4, 0},
    {CUBLASLT_ALGO_CAP_STRIDED_BATCH_SUPPORT, 4, 1},
    {CUBLASLT_ALGO_CAP_OUT_OF_PLACE_RESULT_SUPPORT, 4, 1},
    {CUBLASLT_ALGO_CAP_UPLO_SUPPORT, 4, 0},
    {CUBLASLT_ALGO_CAP_TILE_IDS, 4, 0},
    {CUBLASLT_ALGO_CAP_CUSTOM_OPTION_MAX, 4, 0},
    {CUBLASLT_ALGO_CAP_CUSTOM_MEMORY_ORDER, 4, 1},
    {CUBLASLT_ALGO_CAP_POINTER_MODE_MASK, 4, 31},
    {CUBLASLT_ALGO_CAP_EPILOGUE_MASK, 4, 1023},
    {CUBLASLT_ALGO_CAP_STAGES_IDS, 4, 0},
    {CUBLASLT_ALGO_CAP_LD_NEGATIVE, 4, 0},
    {CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS, 8, 0},
    {CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES, 4, 1},
    {CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_B_BYTES, 4, 1},
    {CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_C_BYTES, 4, 1},
    {CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_D_BYTES, 4, 1},
    {CUBLASLT_ALGO_CAP_POINTER_ARRAY_BATCH_SUPPORT, 4, 1},
    {CUBLASLT_ALGO_CAP_FLOATING_POINT_EMULATION_SUPPORT, 4, 0},
};

cublasStatus_t sim_cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t *algo,
                                                     cublasLtMatmulAlgoCapAttributes_t id, void *buf, size_t bytes,
                                                     size_t *written)
{
    if (!algo)
        return CUBLAS_STATUS_INVALID_VALUE;
    for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++) {
        if (capabilities[i].id != (int)id)
            continue;
        const size_t needed = (size_t)capabilities[i].bytes;
        if (bytes == 0 && written) {
            *written = needed;
            return CUBLAS_STATUS_SUCCESS;
        }
        if (!buf || bytes < needed) /* the two lists of ids may be given more room */
            return CUBLAS_STATUS_INVALID_VALUE;
        memcpy(buf, &capabilities[i].value, needed);
        if (written)
            *written = needed;
        return CUBLAS_STATUS_SUCCESS;
    }
    return CUBLAS_STATUS_INVALID_VALUE;
}
