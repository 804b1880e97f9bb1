/* SPDX-License-Identifier: Apache-2.0 */
/* A fake libcublas of major COPY: every function says which copy it is of, and refuses, loudly, a handle of another one. */
#include <stdio.h>
#include <stdlib.h>

struct cublasContext {
    int copy;
};
typedef struct cublasContext *handle_t;

int cublasLtMatmul(void *handle, void *desc, const void *alpha, const void *A, void *Adesc, const void *B, void *Bdesc,
                   const void *beta, const void *C, void *Cdesc, void *D, void *Ddesc, const void *algo,
                   void *workspace, size_t bytes, void *stream);
int cublasCreate_v2(handle_t *handle);
int cublasGetPointerMode_v2(handle_t handle, int *mode);
int cublasGetMathMode(handle_t handle, int *mode);
int cublasGetStream_v2(handle_t handle, void **stream);
int cublasSetEnvironmentMode(int mode);
int cublasGemmEx(handle_t handle, int transa, int transb, int m, int n, int k, const void *alpha, const void *A,
                 int Atype, int lda, const void *B, int Btype, int ldb, const void *beta, void *C, int Ctype, int ldc,
                 int compute, int algo);
int cublasSgemm_v2(handle_t handle, int transa, int transb, int m, int n, int k, const float *alpha, const float *A,
                   int lda, const float *B, int ldb, const float *beta, float *C, int ldc);

static void check(handle_t handle, const char *function)
{
    if (handle->copy == COPY)
        return;
    printf("%s of %d called with a handle of %d\n", function, COPY, handle->copy);
    fflush(stdout);
    abort();
}

int cublasCreate_v2(handle_t *handle)
{
    *handle = malloc(sizeof **handle);
    (*handle)->copy = COPY;
    return 0;
}

int cublasGetPointerMode_v2(handle_t handle, int *mode)
{
    check(handle, __func__);
    *mode = 0;
    return 0;
}

int cublasGetMathMode(handle_t handle, int *mode)
{
    check(handle, __func__);
    *mode = COPY; /* so that a record shows who was asked */
    return 0;
}

int cublasGetStream_v2(handle_t handle, void **stream)
{
    check(handle, __func__);
    *stream = NULL;
    return 0;
}

int cublasSetEnvironmentMode(int mode)
{
    return mode;
}

int cublasGemmEx(handle_t handle, int transa, int transb, int m, int n, int k, const void *alpha, const void *A,
                 int Atype, int lda, const void *B, int Btype, int ldb, const void *beta, void *C, int Ctype, int ldc,
                 int compute, int algo)
{
    (void)transa, (void)transb, (void)n, (void)k, (void)alpha, (void)A, (void)Atype, (void)lda, (void)B, (void)Btype;
    (void)ldb, (void)beta, (void)C, (void)Ctype, (void)ldc, (void)compute, (void)algo;
    check(handle, __func__);
    printf("cublasGemmEx of %d, m = %d\n", COPY, m);
    return 0;
}

/* Through the PLT, as the real one calls its libcublasLt. */
int cublasSgemm_v2(handle_t handle, int transa, int transb, int m, int n, int k, const float *alpha, const float *A,
                   int lda, const float *B, int ldb, const float *beta, float *C, int ldc)
{
    (void)transa, (void)transb, (void)m, (void)n, (void)k, (void)lda, (void)ldb, (void)ldc;
    check(handle, __func__);
    int copy = cublasLtMatmul(NULL, NULL, alpha, A, NULL, B, NULL, beta, C, NULL, C, NULL, NULL, NULL, 0, NULL);
    printf("cublasSgemm_v2 of %d, cublasLtMatmul of %d\n", COPY, copy);
    return copy == COPY ? 0 : 1;
}
