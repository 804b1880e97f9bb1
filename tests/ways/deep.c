/* SPDX-License-Identifier: Apache-2.0 */
/* A plug-in with a cuBLAS of its own that it calls as any linked library does: opened RTLD_DEEPBIND, it finds that before
 * any preload. */
int cublasCreate_v2(void **handle);
int cublasGemmEx(void *handle, int transa, int transb, int m, int n, int k, const void *alpha, const void *A, int Atype,
                 int lda, const void *B, int Btype, int ldb, const void *beta, void *C, int Ctype, int ldc, int compute,
                 int algo);
int cublasSgemm_v2(void *handle, int transa, int transb, int m, int n, int k, const float *alpha, const float *A,
                   int lda, const float *B, int ldb, const float *beta, float *C, int ldc);
int deep_use(int m, void *matrix);

static const float one = 1, zero = 0;

/* A cublasGemmEx and a cublasSgemm of M rows; not 0: one of them failed. */
__attribute__((visibility("default"))) int deep_use(int m, void *matrix)
{
    static void *handle;
    int status = handle ? 0 : cublasCreate_v2(&handle);
    status |= cublasGemmEx(handle, 0, 0, m, 9, 11, &one, matrix, 14, m, matrix, 14, 11, &zero, matrix, 14, m, 68, -1);
    return status | cublasSgemm_v2(handle, 0, 0, m, 4, 5, &one, matrix, m, matrix, 5, &zero, matrix, m);
}
