/* SPDX-License-Identifier: Apache-2.0 */
/* cublasXt's own handles and settings. Its calls are generated; each is one kernel on the first device, or one call of the
 * cuBLAS entry of the same name. How the real library cuts matrices into tiles is not modelled. */
#include "blas_call.h"
#include "blas_helpers.h"

#include <stdlib.h>

#define NEED(condition, status)                                                                                        \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            return status;                                                                                             \
    } while (0)
#define NEED_HANDLE           NEED(handle, CUBLAS_STATUS_NOT_INITIALIZED)
#define NEED_POINTER(pointer) NEED(pointer, CUBLAS_STATUS_INVALID_VALUE)

enum { BLOCK_DIM = 2048 }; /* until it is set: the stand-in's own */

cublasHandle_t blas_xt_handle(cublasXtHandle_t handle)
{
    return handle && handle->devices ? &handle->inner : NULL;
}

cublasStatus_t sim_cublasXtCreate(cublasXtHandle_t *handle)
{
    NEED_POINTER(handle);
    *handle = NULL;
    NEED(simgpu_init() == SIMGPU_SUCCESS, CUBLAS_STATUS_NOT_INITIALIZED);
    struct cublasXtContext *made = calloc(1, sizeof *made);
    NEED(made, CUBLAS_STATUS_ALLOC_FAILED);
    made->block_dim = BLOCK_DIM;
    *handle = made;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t sim_cublasXtDestroy(cublasXtHandle_t handle)
{
    NEED_HANDLE;
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t sim_cublasXtGetNumBoards(int devices, int ids[], int *boards)
{
    NEED(devices > 0 && ids, CUBLAS_STATUS_INVALID_VALUE);
    NEED_POINTER(boards);
    *boards = devices;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t sim_cublasXtMaxBoards(int *boards)
{
    NEED_POINTER(boards);
    *boards = 2; /* documented: more need a licence */
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t sim_cublasXtDeviceSelect(cublasXtHandle_t handle, int devices, int ids[])
{
    NEED_HANDLE;
    NEED(devices > 0 && ids, CUBLAS_STATUS_INVALID_VALUE);
    for (int i = 0; i < devices; i++)
        NEED(ids[i] == 0, CUBLAS_STATUS_INVALID_VALUE); /* the simulated machine has one */
    handle->devices = devices;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t sim_cublasXtSetBlockDim(cublasXtHandle_t handle, int dim)
{
    NEED_HANDLE;
    NEED(dim > 0, CUBLAS_STATUS_INVALID_VALUE);
    handle->block_dim = dim;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t sim_cublasXtGetBlockDim(cublasXtHandle_t handle, int *dim)
{
    NEED_HANDLE;
    NEED_POINTER(dim);
    *dim = handle->block_dim;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t sim_cublasXtGetPinningMemMode(cublasXtHandle_t handle, cublasXtPinnedMemMode_t *mode)
{
    NEED_HANDLE;
    NEED_POINTER(mode);
    *mode = handle->pinning;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t sim_cublasXtSetPinningMemMode(cublasXtHandle_t handle, cublasXtPinnedMemMode_t mode)
{
    NEED_HANDLE;
    NEED((int)mode == CUBLASXT_PINNING_DISABLED || (int)mode == CUBLASXT_PINNING_ENABLED, CUBLAS_STATUS_INVALID_VALUE);
    handle->pinning = mode;
    return CUBLAS_STATUS_SUCCESS;
}

/* Nothing is computed on the host here, whatever the share. */
cublasStatus_t sim_cublasXtSetCpuRoutine(cublasXtHandle_t handle, cublasXtBlasOp_t op, cublasXtOpType_t type,
                                         void *functor)
{
    (void)functor;
    NEED_HANDLE;
    NEED((unsigned)op < CUBLASXT_ROUTINE_MAX && (unsigned)type <= CUBLASXT_DOUBLECOMPLEX, CUBLAS_STATUS_INVALID_VALUE);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t sim_cublasXtSetCpuRatio(cublasXtHandle_t handle, cublasXtBlasOp_t op, cublasXtOpType_t type, float ratio)
{
    NEED_HANDLE;
    NEED((unsigned)op < CUBLASXT_ROUTINE_MAX && (unsigned)type <= CUBLASXT_DOUBLECOMPLEX && ratio >= 0 && ratio <= 1,
         CUBLAS_STATUS_INVALID_VALUE);
    return CUBLAS_STATUS_SUCCESS;
}
