/* SPDX-License-Identifier: Apache-2.0 */
/* Another preload that stands in front of dlsym(), and of a function of cuBLAS through RTLD_NEXT; says at the end how many
 * calls came by. */
#include <dlfcn.h>
#include <stdio.h>

static int calls;

int cublasGemmEx(void *, int, int, int, int, int, const void *, const void *, int, int, const void *, int, int,
                 const void *, void *, int, int, int, int);

__attribute__((visibility("default"))) void *dlsym(void *handle, const char *name)
{
    static void *(*real)(void *, const char *);
    if (!real)
        *(void **)&real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    return real(handle, name);
}

__attribute__((visibility("default"))) int cublasGemmEx(void *h, int a, int b, int m, int n, int k, const void *alpha,
                                                        const void *A, int ta, int lda, const void *B, int tb, int ldb,
                                                        const void *beta, void *C, int tc, int ldc, int compute,
                                                        int algo)
{
    int (*real)(void *, int, int, int, int, int, const void *, const void *, int, int, const void *, int, int,
                const void *, void *, int, int, int, int);
    *(void **)&real = dlsym(RTLD_NEXT, "cublasGemmEx");
    calls++;
    return real(h, a, b, m, n, k, alpha, A, ta, lda, B, tb, ldb, beta, C, tc, ldc, compute, algo);
}

__attribute__((destructor)) static void say(void)
{
    printf("%d calls\n", calls);
}
