/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that repeat and differ from one another in one thing at a time, so that what a thread remembers of its calls is
 * tried with near misses: `repeat_host CALLS` prints what each call's record has to say, in order, as JSON lines. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "preload/cublas_types.h"

int cublasCreate_v2(cublasHandle_t *);
int cublasSetPointerMode_v2(cublasHandle_t, int);
int cublasSetMathMode(cublasHandle_t, int);
int cublasSetStream_v2(cublasHandle_t, cudaStream_t);
int cublasSgemm_v2(cublasHandle_t, int, int, int, int, int, const float *, const float *, int, const float *, int,
                   const float *, float *, int);
int cublasDgemm_v2(cublasHandle_t, int, int, int, int, int, const double *, const double *, int, const double *, int,
                   const double *, double *, int);
int cublasGemmEx(cublasHandle_t, int, int, int, int, int, const void *, const void *, int, int, const void *, int, int,
                 const void *, void *, int, int, int, int);
int cublasGemmStridedBatchedEx(cublasHandle_t, int, int, int, int, int, const void *, const void *, int, int, long long,
                               const void *, int, int, long long, const void *, void *, int, int, long long, int, int,
                               int);
int cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t, const void *, const void *, cublasLtMatrixLayout_t,
                   const void *, cublasLtMatrixLayout_t, const void *, const void *, cublasLtMatrixLayout_t, void *,
                   cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t *, void *, size_t, cudaStream_t);
int cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *, int, int);
int cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t, int, const void *, size_t);
int cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *, int, uint64_t, uint64_t, int64_t);
int cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t, int, const void *, size_t);
int cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, uint3 *, uint3 *, dim3 *, dim3 *, int *);

/* What enum trace_scalar calls them. */
enum { CLASS_UNKNOWN = 0, CLASS_ZERO = 1, CLASS_ONE = 2, CLASS_OTHER = 3, CLASS_ON_DEVICE = 4 };

static const float floats[] = {0, 1, 0.5f, -0.0f, 2};
static const double doubles[] = {0, 1, 0.5, -0.0, 2};
static const int classes[] = {CLASS_ZERO, CLASS_ONE, CLASS_OTHER, CLASS_ZERO, CLASS_OTHER};

static cublasHandle_t handle;
static int pointer_mode, math_mode;
static uintptr_t stream;
static char matrix[64];

static struct {
    int trans_a, trans_b, m, n, k, lda, ldb, ldc, type_ab, type_c, compute, batch, alpha, beta;
    long long stride_a, stride_b, stride_c;
} g = {0, 0, 64, 48, 32, 64, 32, 64, 14, 14, 68, 4, 1, 0, 2048, 1536, 3072};

static cublasLtMatmulDesc_t lt_desc;
static cublasLtMatrixLayout_t lt_a, lt_b, lt_d;
static int lt_epilogue = 1, lt_rows = 40;

static int names_now[2];

static void kernel_one(void)
{
}

static void kernel_two(void)
{
}

static unsigned pick(unsigned below)
{
    static uint64_t state = 20261130;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

static void print_head(void)
{
    printf("{\"record\":\"call\",\"stream\":%llu,\"pointer_mode\":%d,\"math_mode\":%d,", (unsigned long long)stream,
           pointer_mode, math_mode);
}

static void print_gemm(int type_ab, int type_c, int compute, int scale, int scalars_are_classed)
{
    int alpha = pointer_mode ? CLASS_ON_DEVICE : scalars_are_classed ? classes[g.alpha] : CLASS_UNKNOWN;
    int beta = pointer_mode ? CLASS_ON_DEVICE : scalars_are_classed ? classes[g.beta] : CLASS_UNKNOWN;
    print_head();
    printf("\"trans_a\":%d,\"trans_b\":%d,\"m\":%d,\"n\":%d,\"k\":%d,\"ld\":[%d,%d,%d,%d],\"type\":[%d,%d,%d,%d],"
           "\"type_compute\":%d,\"type_scale\":%d,\"alpha\":%d,\"beta\":%d,\"operand\":[%llu,%llu,%llu],",
           g.trans_a, g.trans_b, g.m, g.n, g.k, g.lda, g.ldb, g.ldc, g.ldc, type_ab, type_ab, type_c, type_c, compute,
           scale, alpha, beta, (unsigned long long)(uintptr_t)matrix, (unsigned long long)(uintptr_t)(matrix + 8),
           (unsigned long long)(uintptr_t)(matrix + 16));
}

static void call_gemm_ex(void)
{
    cublasGemmEx(handle, g.trans_a, g.trans_b, g.m, g.n, g.k, &floats[g.alpha], matrix, g.type_ab, g.lda, matrix + 8,
                 g.type_ab, g.ldb, &floats[g.beta], matrix + 16, g.type_c, g.ldc, g.compute, -1);
    print_gemm(g.type_ab, g.type_c, g.compute, 0, 1);
    printf("\"batch\":1,\"batch_mode\":0,\"batch_stride\":[0,0,0,0]}\n");
}

static void call_strided(void)
{
    cublasGemmStridedBatchedEx(handle, g.trans_a, g.trans_b, g.m, g.n, g.k, &floats[g.alpha], matrix, g.type_ab, g.lda,
                               g.stride_a, matrix + 8, g.type_ab, g.ldb, g.stride_b, &floats[g.beta], matrix + 16,
                               g.type_c, g.ldc, g.stride_c, g.batch, g.compute, -1);
    print_gemm(g.type_ab, g.type_c, g.compute, 0, 1);
    printf("\"batch\":%d,\"batch_mode\":1,\"batch_stride\":[%lld,%lld,%lld,%lld]}\n", g.batch, g.stride_a, g.stride_b,
           g.stride_c, g.stride_c);
}

static void call_sgemm(void)
{
    cublasSgemm_v2(handle, g.trans_a, g.trans_b, g.m, g.n, g.k, &floats[g.alpha], (float *)matrix, g.lda,
                   (float *)(matrix + 8), g.ldb, &floats[g.beta], (float *)(matrix + 16), g.ldc);
    print_gemm(0, 0, 68, 0, 1);
    printf("\"batch\":1,\"batch_mode\":0}\n");
}

static void call_dgemm(void)
{
    cublasDgemm_v2(handle, g.trans_a, g.trans_b, g.m, g.n, g.k, &doubles[g.alpha], (double *)matrix, g.lda,
                   (double *)(matrix + 8), g.ldb, &doubles[g.beta], (double *)(matrix + 16), g.ldc);
    print_gemm(1, 1, 70, 1, 1);
    printf("\"batch\":1,\"batch_mode\":0}\n");
}

static void call_matmul(void)
{
    cublasLtMatmul(NULL, lt_desc, &floats[g.alpha], matrix, lt_a, matrix + 8, lt_b, &floats[g.beta], matrix, lt_d,
                   matrix + 16, lt_d, NULL, NULL, 0, (cudaStream_t)stream);
    printf(
        "{\"record\":\"call\",\"stream\":%llu,\"m\":%d,\"epilogue\":%d,\"alpha\":%d,\"beta\":%d,\"pointer_mode\":0}\n",
        (unsigned long long)stream, lt_rows, lt_epilogue, classes[g.alpha], classes[g.beta]);
}

static void name_kernel(int which, int name)
{
    static char names[2][2][8] = {{"one", "uno"}, {"two", "due"}};
    const char *stub = which ? (const char *)kernel_two : (const char *)kernel_one;
    names_now[which] = name;
    __cudaRegisterFunction(NULL, stub, names[which][name], names[which][name], -1, NULL, NULL, NULL, NULL, NULL);
}

static void call_launch(void)
{
    static const char *const names[2][2] = {{"one", "uno"}, {"two", "due"}};
    int which = (int)pick(2);
    const dim3 grid = {1 + pick(3), 1 + pick(2), 1 + pick(2)}, block = {32u << pick(2), 1 + pick(2), 1};
    size_t shared = pick(2) * 1024;
    cudaLaunchKernel(which ? (const void *)kernel_two : (const void *)kernel_one, grid, block, NULL, shared,
                     (cudaStream_t)stream);
    printf("{\"record\":\"launch\",\"stream\":%llu,\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"shared\":%zu,"
           "\"name\":\"%s\"}\n",
           (unsigned long long)stream, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared,
           names[which][names_now[which]]);
}

/* One thing changes; every other time nothing. */
static void change_something(void)
{
    static const int computes[] = {68, 69, 74, 77}, types[] = {14, 2, 0};
    switch (pick(40)) {
    case 0:
        g.trans_a = (int)pick(2);
        break;
    case 1:
        g.trans_b = (int)pick(2);
        break;
    case 2:
        g.m = 64 + (int)pick(3);
        break;
    case 3:
        g.n = 48 + (int)pick(3);
        break;
    case 4:
        g.k = 32 + (int)pick(3);
        break;
    case 5:
        g.lda = 64 + (int)pick(2);
        break;
    case 6:
        g.ldb = 32 + (int)pick(2);
        break;
    case 7:
        g.ldc = 64 + (int)pick(2);
        break;
    case 8:
        g.type_ab = types[pick(3)];
        break;
    case 9:
        g.type_c = types[pick(3)];
        break;
    case 10:
        g.compute = computes[pick(4)];
        break;
    case 11:
        g.batch = 4 + (int)pick(2);
        break;
    case 12:
        g.alpha = (int)pick(5);
        break;
    case 13:
        g.beta = (int)pick(5);
        break;
    case 14:
        g.stride_a = 2048 * (int)pick(2);
        break;
    case 15:
        g.stride_b = 1536 * (int)pick(2);
        break;
    case 16:
        g.stride_c = 3072 + (int)pick(2);
        break;
    case 17:
        cublasSetPointerMode_v2(handle, pointer_mode = (int)pick(2));
        break;
    case 18:
        cublasSetMathMode(handle, math_mode = (int)pick(4));
        break;
    case 19:
        cublasSetStream_v2(handle, (cudaStream_t)(stream = 0x1000 + pick(3)));
        break;
    case 20:
        lt_epilogue = 1 + (int)pick(2);
        cublasLtMatmulDescSetAttribute(lt_desc, 7, &lt_epilogue, sizeof lt_epilogue);
        break;
    case 21: {
        uint64_t rows = 40 + pick(2);
        lt_rows = (int)rows;
        cublasLtMatrixLayoutSetAttribute(lt_d, 2, &rows, sizeof rows);
        break;
    }
    case 22:
        name_kernel((int)pick(2), (int)pick(2));
        break;
    default:
        break;
    }
}

int main(int count, char **arguments)
{
    static void (*const calls[])(void) = {call_gemm_ex, call_strided, call_sgemm, call_dgemm, call_matmul, call_launch};
    long calls_wanted = count > 1 ? atol(arguments[1]) : 0;
    cublasCreate_v2(&handle);
    cublasLtMatmulDescCreate(&lt_desc, 68, 0);
    cublasLtMatrixLayoutCreate(&lt_a, 14, (uint64_t)lt_rows, 16, lt_rows);
    cublasLtMatrixLayoutCreate(&lt_b, 14, 16, 24, 16);
    cublasLtMatrixLayoutCreate(&lt_d, 14, (uint64_t)lt_rows, 24, lt_rows);
    name_kernel(0, 0);
    name_kernel(1, 0);
    for (long i = 0; i < calls_wanted; i++) {
        change_something();
        calls[pick(6)]();
        if (i % 4000 == 3999)
            usleep(20000); /* blocks are reserved ahead for about so many calls */
    }
    return 0;
}
