/* SPDX-License-Identifier: Apache-2.0 */
/* Grouped calls of every kind of length on the fake libraries: none, one, the most that is recorded, one more, the same list
 * again and again, many lists that fill blocks. Prints each call's groups as the trace should have them, a JSON line a
 * call: null where they can't be read. Knows nothing of the shim. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "preload/cublas_types.h"

enum { MOST = 1000, ROOM = 1200 };

int cublasCreate_v2(cublasHandle_t *);
cublasStatus_t cublasSgemmGroupedBatched_64(cublasHandle_t handle, const cublasOperation_t transa[],
                                            const cublasOperation_t transb[], const int64_t m[], const int64_t n[],
                                            const int64_t k[], const float alpha[], const float *const A[],
                                            const int64_t lda[], const float *const B[], const int64_t ldb[],
                                            const float beta[], float *const C[], const int64_t ldc[], int64_t count,
                                            const int64_t size[]);

static cublasHandle_t handle;
static cublasOperation_t transa[ROOM], transb[ROOM];
static int64_t m[ROOM], n[ROOM], k[ROOM], lda[ROOM], ldb[ROOM], ldc[ROOM], size[ROOM];
static float alpha[ROOM], beta[ROOM];
static float *matrices[1];

static uint64_t state = 1;
static int64_t below(int64_t limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)(state >> 33) % limit;
}

static void fill(int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        transa[i] = (int)below(3);
        transb[i] = (int)below(3);
        m[i] = below(5) ? below((int64_t)1 << 40) : 0;
        n[i] = below(4096);
        k[i] = below(4096);
        lda[i] = below((int64_t)1 << 40);
        ldb[i] = below(4096);
        ldc[i] = below(4096);
        size[i] = below(9);
        alpha[i] = (float)below(3);
        beta[i] = (float)below(3);
    }
}

static int scalar(float value) /* enum trace_scalar */
{
    return value == 0 ? 1 : value == 1 ? 2 : 3;
}

static void call(int64_t count)
{
    const float *const *inputs = (const float *const *)matrices;
    if (cublasSgemmGroupedBatched_64(handle, transa, transb, m, n, k, alpha, inputs, lda, inputs, ldb, beta, matrices,
                                     ldc, count, size))
        exit(3);
    if (count < 1 || count > MOST) {
        printf("null\n");
        return;
    }
    for (int64_t i = 0; i < count; i++)
        printf("%s[%d,%d,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%d,%d]", i ? "," : "[", transa[i], transb[i],
               (long long)m[i], (long long)n[i], (long long)k[i], (long long)lda[i], (long long)ldb[i],
               (long long)ldc[i], (long long)size[i], scalar(alpha[i]), scalar(beta[i]));
    printf("]\n");
    usleep(2000); /* a list may take a block of its own: let the helper keep up */
}

int main(void)
{
    cublasCreate_v2(&handle);
    fill(MOST + 1);
    call(0);
    call(1);
    call(MOST);
    call(MOST + 1);
    for (int i = 0; i < 20; i++)
        call(64); /* the same each time */
    for (int i = 0; i < 60; i++) {
        int64_t count = 1 + below(MOST);
        fill(count);
        call(count);
        call(1 + below(count)); /* its beginning alone is another list */
    }
    for (int i = 0; i < 40; i++) { /* two lists in turn, as a model's layers have them */
        state = (uint64_t)(i % 2);
        fill(16);
        call(16);
    }
    return 0;
}
