/* SPDX-License-Identifier: Apache-2.0 */
/* Handles, settings and the interface without handles: everything of libcublas that starts no work. The generated
 * wrappers ask for faults first, then call the sim_ functions here. */
#include "blas_call.h"
#include "blas_helpers.h"
#include "status.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEED(condition, status)                                                                                        \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            return status;                                                                                             \
    } while (0)
#define NEED_HANDLE           NEED(handle, CUBLAS_STATUS_NOT_INITIALIZED)
#define NEED_POINTER(pointer) NEED(pointer, CUBLAS_STATUS_INVALID_VALUE)

cublasStatus_t sim_cublasCreate_v2(cublasHandle_t *handle)
{
    NEED_POINTER(handle);
    *handle = NULL;
    /* The real library brings a runtime of its own, whose first act is the driver's initialisation. */
    NEED(simgpu_init() == SIMGPU_SUCCESS, CUBLAS_STATUS_NOT_INITIALIZED);
    struct cublasContext *made = calloc(1, sizeof *made);
    NEED(made, CUBLAS_STATUS_ALLOC_FAILED);
    *handle = made;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t sim_cublasDestroy_v2(cublasHandle_t handle)
{
    NEED_HANDLE;
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t sim_cublasGetVersion_v2(cublasHandle_t handle, int *version)
{
    (void)handle; /* the real one answers without */
    NEED_POINTER(version);
    *version = SIM_BLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t sim_cublasGetProperty(libraryPropertyType type, int *value)
{
    return version_property(type, value);
}

size_t sim_cublasGetCudartVersion(void)
{
    return SIM_CUDA_VERSION;
}

cublasStatus_t sim_cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t bytes)
{
    NEED_HANDLE;
    NEED(((uintptr_t)workspace & 255) == 0, CUBLAS_STATUS_INVALID_VALUE);
    handle->workspace = workspace;
    handle->workspace_bytes = bytes;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t sim_cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream)
{
    NEED_HANDLE;
    handle->stream = stream;
    handle->workspace = NULL; /* documented: back to the library's own workspace */
    handle->workspace_bytes = 0;
    return CUBLAS_STATUS_SUCCESS;
}

/* A pair of functions around one field of the context. */
#define SETTING(Get, Set, type, field, valid)                                                                          \
    cublasStatus_t sim_##Get(cublasHandle_t handle, type *value)                                                       \
    {                                                                                                                  \
        NEED_HANDLE;                                                                                                   \
        NEED_POINTER(value);                                                                                           \
        *value = handle->field;                                                                                        \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }                                                                                                                  \
    cublasStatus_t sim_##Set(cublasHandle_t handle, type value)                                                        \
    {                                                                                                                  \
        NEED_HANDLE;                                                                                                   \
        NEED(valid, CUBLAS_STATUS_INVALID_VALUE);                                                                      \
        handle->field = value;                                                                                         \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }

SETTING(cublasGetPointerMode_v2, cublasSetPointerMode_v2, cublasPointerMode_t, pointer_mode,
        (int)value == CUBLAS_POINTER_MODE_HOST || (int)value == CUBLAS_POINTER_MODE_DEVICE)
SETTING(cublasGetAtomicsMode, cublasSetAtomicsMode, cublasAtomicsMode_t, atomics_mode,
        (int)value == CUBLAS_ATOMICS_NOT_ALLOWED || (int)value == CUBLAS_ATOMICS_ALLOWED)
SETTING(cublasGetMathMode, cublasSetMathMode, cublasMath_t, math_mode, ((int)value & ~31) == 0)
SETTING(cublasGetSmCountTarget, cublasSetSmCountTarget, int, sm_count_target,
        value >= 0 && value <= simgpu_device()->sm_count)
SETTING(cublasGetEmulationStrategy, cublasSetEmulationStrategy, cublasEmulationStrategy_t, emulation_strategy,
        (int)value >= CUBLAS_EMULATION_STRATEGY_DEFAULT && (int)value <= CUBLAS_EMULATION_STRATEGY_EAGER)

cublasStatus_t sim_cublasGetStream_v2(cublasHandle_t handle, cudaStream_t *stream)
{
    NEED_HANDLE;
    NEED_POINTER(stream);
    *stream = handle->stream;
    return CUBLAS_STATUS_SUCCESS;
}

const char *sim_cublasGetStatusName(cublasStatus_t status)
{
    const struct status_text *found = status_find(status);
    return found ? found->name : "unrecognized status";
}

const char *sim_cublasGetStatusString(cublasStatus_t status)
{
    const struct status_text *found = status_find(status);
    return found ? found->text : "unrecognized status";
}

/* ---- logging: settings are kept, nothing is logged (the ledger does that) ---- */

static cublasLogCallback logger;

cublasStatus_t sim_cublasLoggerConfigure(int on, int to_stdout, int to_stderr, const char *file)
{
    (void)on, (void)to_stdout, (void)to_stderr, (void)file;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t sim_cublasSetLoggerCallback(cublasLogCallback callback)
{
    logger = callback;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t sim_cublasGetLoggerCallback(cublasLogCallback *callback)
{
    NEED_POINTER(callback);
    *callback = logger;
    return CUBLAS_STATUS_SUCCESS;
}

void sim_cublasXerbla(const char *name, int info)
{
    fprintf(stderr, "** On entry to %s parameter number %d had an illegal value\n", name ? name : "?", info);
}

/* ---- copies of vectors and matrices: device memory is host memory here, so they are what they say ---- */

static cublasStatus_t copy_vector(int64_t n, int64_t bytes, const void *x, int64_t incx, void *y, int64_t incy)
{
    NEED(n >= 0 && bytes > 0 && incx > 0 && incy > 0, CUBLAS_STATUS_INVALID_VALUE);
    NEED(n == 0 || (x && y), CUBLAS_STATUS_INVALID_VALUE);
    for (int64_t i = 0; i < n; i++)
        memcpy((char *)y + i * incy * bytes, (const char *)x + i * incx * bytes, (size_t)bytes);
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t copy_matrix(int64_t rows, int64_t cols, int64_t bytes, const void *a, int64_t lda, void *b,
                                  int64_t ldb)
{
    NEED(rows >= 0 && cols >= 0 && bytes > 0, CUBLAS_STATUS_INVALID_VALUE);
    NEED(lda >= blas_at_least_one(rows) && ldb >= blas_at_least_one(rows), CUBLAS_STATUS_INVALID_VALUE);
    NEED(rows == 0 || cols == 0 || (a && b), CUBLAS_STATUS_INVALID_VALUE);
    for (int64_t j = 0; rows > 0 && j < cols; j++)
        memcpy((char *)b + j * ldb * bytes, (const char *)a + j * lda * bytes, (size_t)(rows * bytes));
    return CUBLAS_STATUS_SUCCESS;
}

#define VECTOR_COPY(name, index)                                                                                       \
    cublasStatus_t sim_##name(index n, index bytes, const void *x, index incx, void *y, index incy)                    \
    {                                                                                                                  \
        return copy_vector(n, bytes, x, incx, y, incy);                                                                \
    }
#define VECTOR_COPY_ASYNC(name, index)                                                                                 \
    cublasStatus_t sim_##name(index n, index bytes, const void *x, index incx, void *y, index incy,                    \
                              cudaStream_t stream)                                                                     \
    {                                                                                                                  \
        (void)stream;                                                                                                  \
        return copy_vector(n, bytes, x, incx, y, incy);                                                                \
    }
#define MATRIX_COPY(name, index)                                                                                       \
    cublasStatus_t sim_##name(index rows, index cols, index bytes, const void *a, index lda, void *b, index ldb)       \
    {                                                                                                                  \
        return copy_matrix(rows, cols, bytes, a, lda, b, ldb);                                                         \
    }
#define MATRIX_COPY_ASYNC(name, index)                                                                                 \
    cublasStatus_t sim_##name(index rows, index cols, index bytes, const void *a, index lda, void *b, index ldb,       \
                              cudaStream_t stream)                                                                     \
    {                                                                                                                  \
        (void)stream;                                                                                                  \
        return copy_matrix(rows, cols, bytes, a, lda, b, ldb);                                                         \
    }
VECTOR_COPY(cublasSetVector, int)
VECTOR_COPY(cublasSetVector_64, int64_t)
VECTOR_COPY(cublasGetVector, int)
VECTOR_COPY(cublasGetVector_64, int64_t)
VECTOR_COPY_ASYNC(cublasSetVectorAsync, int)
VECTOR_COPY_ASYNC(cublasSetVectorAsync_64, int64_t)
VECTOR_COPY_ASYNC(cublasGetVectorAsync, int)
VECTOR_COPY_ASYNC(cublasGetVectorAsync_64, int64_t)
MATRIX_COPY(cublasSetMatrix, int)
MATRIX_COPY(cublasSetMatrix_64, int64_t)
MATRIX_COPY(cublasGetMatrix, int)
MATRIX_COPY(cublasGetMatrix_64, int64_t)
MATRIX_COPY_ASYNC(cublasSetMatrixAsync, int)
MATRIX_COPY_ASYNC(cublasSetMatrixAsync_64, int64_t)
MATRIX_COPY_ASYNC(cublasGetMatrixAsync, int)
MATRIX_COPY_ASYNC(cublasGetMatrixAsync_64, int64_t)

/* ---- without handles: one context for the process, made by cublasInit or the first call ---- */

static pthread_mutex_t legacy_lock = PTHREAD_MUTEX_INITIALIZER;
static cublasHandle_t legacy;
static int legacy_error;

cublasHandle_t blas_legacy_handle(void)
{
    pthread_mutex_lock(&legacy_lock);
    if (!legacy)
        sim_cublasCreate_v2(&legacy);
    cublasHandle_t handle = legacy;
    pthread_mutex_unlock(&legacy_lock);
    return handle;
}

void blas_legacy_end(struct blas_call *call)
{
    const int status = (int)blas_end(call);
    if (status)
        __atomic_store_n(&legacy_error, status, __ATOMIC_RELAXED);
}

cublasStatus sim_cublasInit(void)
{
    return blas_legacy_handle() ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus sim_cublasShutdown(void)
{
    pthread_mutex_lock(&legacy_lock);
    cublasHandle_t handle = legacy;
    legacy = NULL;
    pthread_mutex_unlock(&legacy_lock);
    return sim_cublasDestroy_v2(handle);
}

cublasStatus sim_cublasGetError(void)
{
    return (cublasStatus)__atomic_exchange_n(&legacy_error, 0, __ATOMIC_RELAXED);
}

cublasStatus sim_cublasGetVersion(int *version)
{
    return sim_cublasGetVersion_v2(NULL, version);
}

cublasStatus sim_cublasAlloc(int n, int bytes, void **pointer)
{
    (void)n, (void)bytes, (void)pointer;
    simgpu_not_supported("cublasAlloc"); /* device memory belongs to the runtime */
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus sim_cublasFree(void *pointer)
{
    (void)pointer;
    simgpu_not_supported("cublasFree");
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus sim_cublasSetKernelStream(cudaStream_t stream)
{
    return sim_cublasSetStream_v2(blas_legacy_handle(), stream);
}
