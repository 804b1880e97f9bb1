/* SPDX-License-Identifier: Apache-2.0 */
/* A sibling of cuBLAS that imports from it by version what no public header has, and a function that we stand in front of. */
int cublasSetEnvironmentMode(int mode);
int cublasCreate_v2(void **handle);
int cublasGemmEx(void *, int, int, int, int, int, const void *, const void *, int, int, const void *, int, int,
                 const void *, void *, int, int, int, int);
__attribute__((visibility("default"))) int solver_run(void);

int solver_run(void)
{
    static const float one = 1, zero = 0;
    static float matrix[64];
    void *handle;
    return cublasSetEnvironmentMode(0) || cublasCreate_v2(&handle) ||
           cublasGemmEx(handle, 0, 0, 13, 2, 3, &one, matrix, 0, 13, matrix, 0, 3, &zero, matrix, 0, 13, 68, -1);
}
