/* SPDX-License-Identifier: Apache-2.0 */
/* A program that multiplies matrices, in the shapes that tests need: `gemm_host MODE ...`.
 *
 *   nested           one call each of cublasSgemm_v2, cublasGemmEx and cublasLtMatmul
 *   fork HOW         3 calls, 4 children with 5 calls each that end by HOW, 2 more calls
 *   late HOW         a child that is forked before any CUDA call makes 5 calls and ends by HOW; the parent makes none
 *   seven            3 calls and a launch, then 7 is returned from main
 *   last_thread      3 calls, then main leaves by pthread_exit() while another thread makes 2 more and returns
 *   handler          200 calls while a timer's handler makes more, from before the first call on
 *   signal HOW       two calls and a launch, in one of which SIGUSR1 comes, then 5 calls and 3 launches. HOW: jump, the
 *                    handler leaves the call by siglongjmp(); call, it makes one more, on a stack above the call's
 *   threads T N US   T threads, N calls of each library and N launches each, descriptors made and destroyed in between
 *   loop FILE T US   T threads call for ever; FILE holds a 64-bit count per thread, raised after each return
 *                    US: microseconds that a call takes, as real ones take some; 0 is faster than any
 *   count N          N calls of cublasGemmEx        lt N          N calls of cublasLtMatmul, same descriptors
 *   lt_new N         the same, an attribute set before each call       launch N      N kernel launches
 *   launch_values N  N launches of a kernel with the 19 parameters of llama.cpp's mul_mat_vec_q, which are kept */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "preload/cublas_types.h"

int cublasCreate_v2(cublasHandle_t *);
int cublasSgemm_v2(cublasHandle_t, int, int, int, int, int, const float *, const float *, int, const float *, int,
                   const float *, float *, int);
int cublasGemmEx(cublasHandle_t, int, int, int, int, int, const void *, const void *, int, int, const void *, int, int,
                 const void *, void *, int, int, int, int);
int cublasXtSgemm(cublasXtHandle_t, int, int, size_t, size_t, size_t, const float *, const float *, size_t,
                  const float *, size_t, const float *, float *, size_t);
int cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t, const void *, const void *, cublasLtMatrixLayout_t,
                   const void *, cublasLtMatrixLayout_t, const void *, const void *, cublasLtMatrixLayout_t, void *,
                   cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t *, void *, size_t, cudaStream_t);
int cublasLtCreate(cublasLtHandle_t *) __attribute__((weak));
int cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *, int, int);
int cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t);
int cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t, int, const void *, size_t);
int cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *, int, uint64_t, uint64_t, int64_t);
int cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t);
int cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);
int cudaDeviceSynchronize(void) __attribute__((weak)); /* the fake libraries have none of the weak ones */
void **__cudaRegisterFatBinary(void *) __attribute__((weak));
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, uint3 *, uint3 *, dim3 *, dim3 *, int *);

static cublasHandle_t handle;
static cublasLtHandle_t lt_handle;
static const float one = 1, zero = 0;
static float matrix[1 << 16];

struct matmul {
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t a, b, d;
};

static void kernel(void)
{
}

static int gemm(int m, int n, int k)
{
    return cublasGemmEx(handle, 0, 0, m, n, k, &one, matrix, 14, m, matrix, 14, k, &zero, matrix, 14, m, 68, -1);
}

static struct matmul matmul_make(int m, int n, int k)
{
    struct matmul x;
    cublasLtMatmulDescCreate(&x.desc, 68, 0);
    cublasLtMatrixLayoutCreate(&x.a, 14, (uint64_t)m, (uint64_t)k, m);
    cublasLtMatrixLayoutCreate(&x.b, 14, (uint64_t)k, (uint64_t)n, k);
    cublasLtMatrixLayoutCreate(&x.d, 14, (uint64_t)m, (uint64_t)n, m);
    return x;
}

static void matmul_free(struct matmul *x)
{
    cublasLtMatmulDescDestroy(x->desc);
    cublasLtMatrixLayoutDestroy(x->a);
    cublasLtMatrixLayoutDestroy(x->b);
    cublasLtMatrixLayoutDestroy(x->d);
}

static int matmul_call(const struct matmul *x)
{
    return cublasLtMatmul(lt_handle, x->desc, &one, matrix, x->a, matrix, x->b, &zero, matrix, x->d, matrix, x->d, NULL,
                          NULL, 0, NULL);
}

static int launch(unsigned blocks)
{
    return cudaLaunchKernel((const void *)kernel, (dim3){blocks, 1, 1}, (dim3){32, 1, 1}, NULL, 0, NULL);
}

static const char values_name[] =
    "_Z13mul_mat_vec_qIL9ggml_type12ELi1ELb1ELb0ELb0EEvPKvS2_PKi31ggml_cuda_mm_fusion_args_devicePfj"
    "5uint3jjjS7_jjjS7_jjjj";

static void values_kernel(void)
{
}

/* What differs from launch to launch are the addresses. */
static int launch_values(unsigned number)
{
    const void *x = matrix + number % 64, *y = matrix + 64, *ids = NULL, *dst = matrix + 128;
    const void *fusion[6] = {NULL, matrix + number % 32};
    uint32_t k = 4096, one_of[3] = {1, 0, 1}, none[3] = {0}, rows = 14336, blocks = 16, columns = 128, large = 229376;
    void *arguments[] = {&x,     &y,     &ids,   fusion,   &dst,   &k,     none,   &blocks, &columns, &rows,
                         one_of, &large, &large, &columns, one_of, &large, &large, &rows,   &rows};
    return cudaLaunchKernel((const void *)values_kernel, (dim3){rows, 1, 1}, (dim3){32, 4, 1}, arguments, 0, NULL);
}

static int run_nested(void)
{
    struct matmul x = matmul_make(11, 13, 17);
    cublasSgemm_v2(handle, 0, 0, 3, 5, 7, &one, matrix, 3, matrix, 7, &zero, matrix, 3);
    gemm(5, 7, 11);
    matmul_call(&x);
    return 0;
}

static void leave(const char *how, int status)
{
    if (!strcmp(how, "exit"))
        exit(status);
    if (!strcmp(how, "quick_exit"))
        quick_exit(status);
    if (!strcmp(how, "exit_group"))
        syscall(SYS_exit_group, status);
    _exit(status);
}

static int run_fork(const char *how)
{
    int good = 1, status;
    for (int i = 0; i < 3; i++)
        gemm(2, 2, 2);
    for (int child = 0; child < 4; child++)
        if (!fork()) {
            for (int i = 0; i < 5; i++)
                gemm(3, 3, 3);
            launch(1);
            leave(how, 40 + child);
        }
    for (int child = 0; child < 4; child++)
        good &= wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) / 10 == 4;
    for (int i = 0; i < 2; i++)
        gemm(4, 4, 4);
    return good ? 0 : 1;
}

static sigjmp_buf before_signal;

static void jump(int number)
{
    (void)number;
    siglongjmp(before_signal, 1);
}

static void call_more(int number)
{
    (void)number;
    gemm(9, 9, 9);
    launch(9);
}

static __attribute__((noinline)) void be_interrupted(void)
{
    if (sigsetjmp(before_signal, 1) == 0)
        gemm(2, 2, 2);
    if (sigsetjmp(before_signal, 1) == 0)
        cublasXtSgemm(NULL, 0, 0, 2, 2, 2, &one, matrix, 2, matrix, 2, &zero, matrix, 2);
    if (sigsetjmp(before_signal, 1) == 0)
        launch(2);
}

static int run_signal(const char *how)
{
    char stack[65536];
    stack_t above = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = !strcmp(how, "jump") ? jump : call_more, .sa_flags = SA_ONSTACK};
    if (sigaltstack(&above, NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0)
        return 1;
    be_interrupted();
    for (int i = 0; i < 5; i++)
        gemm(3, 3, 3);
    for (int i = 0; i < 3; i++)
        launch(3);
    above.ss_flags = SS_DISABLE;
    return sigaltstack(&above, NULL) != 0;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void prepare(void)
{
    static char name[] = "gemm_host_kernel";
    static struct {
        int magic, version;
        const void *data, *unused;
    } wrapper = {0x466243b1, 1, NULL, NULL}; /* fatbinary_section.h; empty: registers names alone */
    void **binary = __cudaRegisterFatBinary ? __cudaRegisterFatBinary(&wrapper) : NULL;
    __cudaRegisterFunction(binary, (const char *)kernel, name, name, -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(binary, (const char *)values_kernel, (char *)values_name, values_name, -1, NULL, NULL, NULL,
                           NULL, NULL);
    cublasCreate_v2(&handle);
    if (cublasLtCreate)
        cublasLtCreate(&lt_handle);
}

static int run_late(const char *how)
{
    int status = 0;
    if (!fork()) {
        prepare();
        for (int i = 0; i < 5; i++)
            gemm(3, 3, 3);
        launch(1);
        if (cudaDeviceSynchronize)
            cudaDeviceSynchronize();
        usleep(300000); /* the helper fetches what has run */
        leave(how, 43);
    }
    wait(&status);
    return WIFEXITED(status) && WEXITSTATUS(status) == 43 ? 0 : 1;
}

static int run_seven(void)
{
    for (int i = 0; i < 3; i++)
        gemm(3, 3, 3);
    launch(1);
    if (cudaDeviceSynchronize)
        cudaDeviceSynchronize();
    return 7;
}

static void *two_calls(void *unused)
{
    usleep(300000); /* main has left by then */
    gemm(4, 4, 4);
    gemm(4, 4, 4);
    return unused;
}

static int run_last_thread(void)
{
    pthread_t other;
    for (int i = 0; i < 3; i++)
        gemm(3, 3, 3);
    if (pthread_create(&other, NULL, two_calls, NULL))
        return 1;
    pthread_exit(NULL);
}

static void on_timer(int signal)
{
    (void)signal;
    gemm(5, 5, 5);
}

static int run_handler(void)
{
    const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 200; i++)
        gemm(3, 3, 3);
    setitimer(ITIMER_REAL, &never, NULL);
    return 0;
}

static int calls_per_thread, call_us;

static void take_time(void)
{
    if (!call_us)
        return;
    for (double start = seconds(); seconds() - start < call_us * 1e-6;)
        ;
}

static void *thread_body(void *argument)
{
    int index = (int)(intptr_t)argument;
    struct matmul x = matmul_make(index + 1, 13, 17);
    for (int i = 0; i < calls_per_thread; i++) {
        gemm(index + 1, i % 100 + 1, 7);
        take_time();
        launch((unsigned)index + 1);
        take_time();
        matmul_call(&x);
        take_time();
        if (i % 16 == 15) {
            matmul_free(&x);
            x = matmul_make(index + 1, i % 100 + 1, 17);
        }
    }
    matmul_free(&x);
    return NULL;
}

static int run_threads(int threads, int count)
{
    pthread_t thread[64];
    calls_per_thread = count;
    for (int i = 0; i < threads && i < 64; i++)
        pthread_create(&thread[i], NULL, thread_body, (void *)(intptr_t)i);
    for (int i = 0; i < threads && i < 64; i++)
        pthread_join(thread[i], NULL);
    return 0;
}

static uint64_t *witness;

static void *loop_body(void *argument)
{
    int index = (int)(intptr_t)argument;
    for (int i = 0;; i++) {
        gemm(index + 1, i % 100 + 1, 7);
        take_time();
        __atomic_store_n(&witness[index], witness[index] + 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

static int run_loop(const char *path, int threads)
{
    pthread_t thread;
    int fd = open(path, O_RDWR);
    witness = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (witness == MAP_FAILED)
        return 1;
    for (int i = 1; i < threads; i++)
        pthread_create(&thread, NULL, loop_body, (void *)(intptr_t)i);
    loop_body(NULL);
    return 0;
}

static int run_bench(const char *mode, long count)
{
    struct matmul x = matmul_make(64, 48, 32);
    const int epilogue = 1;
    double start = 0;
    for (long i = -16; i < count; i++) { /* the first few find functions and start the trace */
        if (i == 0)
            start = seconds();
        if (!strcmp(mode, "count"))
            gemm(64, 48, 32);
        else if (!strcmp(mode, "launch"))
            launch(5);
        else if (!strcmp(mode, "launch_values"))
            launch_values((unsigned)i);
        else {
            if (!strcmp(mode, "lt_new"))
                cublasLtMatmulDescSetAttribute(x.desc, 7, &epilogue, sizeof epilogue);
            matmul_call(&x);
        }
    }
    printf("%.1f\n", (seconds() - start) / (double)count * 1e9);
    return 0;
}

int main(int count, char **arguments)
{
    const char *mode = count > 1 ? arguments[1] : "";
    if (!strcmp(mode, "late") && count > 2)
        return run_late(arguments[2]);
    prepare();
    if (!strcmp(mode, "seven"))
        return run_seven();
    if (!strcmp(mode, "nested"))
        return run_nested();
    if (!strcmp(mode, "last_thread"))
        return run_last_thread();
    if (!strcmp(mode, "handler"))
        return run_handler();
    if (!strcmp(mode, "fork") && count > 2)
        return run_fork(arguments[2]);
    if (!strcmp(mode, "signal") && count > 2)
        return run_signal(arguments[2]);
    call_us = count > 4 ? atoi(arguments[4]) : 0;
    if (!strcmp(mode, "threads") && count > 3)
        return run_threads(atoi(arguments[2]), atoi(arguments[3]));
    if (!strcmp(mode, "loop") && count > 3)
        return run_loop(arguments[2], atoi(arguments[3]));
    if (count > 2)
        return run_bench(mode, atol(arguments[2]));
    return 2;
}
