/* SPDX-License-Identifier: Apache-2.0 */
/* A bad shim: after each cublasGemmEx it does what PLANT says, one of the things that a library in someone else's process must
 * not do. The harness has to notice each. */
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef cublasStatus_t gemm_ex(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                               int k, const void *alpha, const void *a, cudaDataType a_type, int lda, const void *b,
                               cudaDataType b_type, int ldb, const void *beta, void *c, cudaDataType c_type, int ldc,
                               cublasComputeType_t compute, cublasGemmAlgo_t algo);

static const char *plant;

static bool planted(const char *what)
{
    if (!plant)
        plant = getenv("PLANT") ? getenv("PLANT") : "";
    return !strcmp(plant, what);
}

static void *stay(void *unused)
{
    for (;;)
        pause();
    return unused;
}

static void add_thread(bool blocks_signals)
{
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, blocks_signals ? &all : NULL, &before);
    pthread_create(&thread, NULL, stay, NULL);
    pthread_setname_np(thread, "rooftap");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void add_threads(int count, bool block_signals)
{
    static bool made;
    for (int i = 0; i < count && !made; i++)
        add_thread(block_signals);
    made = true;
}

static void leave_descriptor(void)
{
    static int left = -1;
    if (left < 0)
        left = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void change_process(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    if (planted("mask"))
        pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (planted("pending"))
        pthread_sigmask(SIG_BLOCK, &set, NULL), raise(SIGUSR2);
    if (planted("disposition"))
        signal(SIGUSR2, SIG_IGN);
    if (planted("umask"))
        umask(0123);
    if (planted("folder") && chdir("/") != 0)
        abort();
    if (planted("environment"))
        setenv("PLANTED", "yes", 1);
    if (planted("priority") && nice(1) == -1)
        abort();
    if (planted("descriptor"))
        leave_descriptor();
    if (planted("thread with signals"))
        add_threads(1, false);
    if (planted("two threads"))
        add_threads(2, true);
    if (planted("output") && write(STDOUT_FILENO, "planted\n", 8) != 8)
        abort();
    if (planted("complaint") && write(STDERR_FILENO, "planted\n", 8) != 8)
        abort();
}

static void ask_name(void)
{
    char name[64];
    int (*get_name)(char *text, int bytes, int device) = NULL;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (driver)
        *(void **)&get_name = dlsym(driver, "cuDeviceGetName");
    if (get_name)
        get_name(name, sizeof name, 0);
    if (driver)
        dlclose(driver);
}

static void call_cuda(cublasHandle_t handle, void *on_device)
{
    cudaStream_t stream = NULL;
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    int device;
    if (planted("call"))
        cudaGetDevice(&device);
    if (planted("facts each time"))
        ask_name();
    if (planted("setter"))
        cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH);
    if (planted("sticky error"))
        cudaSetDevice(99);
    if (planted("taken error"))
        cudaGetLastError();
    if (!planted("node") || cublasGetStream(handle, &stream) != CUBLAS_STATUS_SUCCESS)
        return;
    if (cudaStreamIsCapturing(stream, &status) == cudaSuccess && status == cudaStreamCaptureStatusActive)
        cudaMemsetAsync(on_device, 0, 16, stream);
}

__attribute__((visibility("default"))) cublasStatus_t
cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
             const void *alpha, const void *a, cudaDataType a_type, int lda, const void *b, cudaDataType b_type,
             int ldb, const void *beta, void *c, cudaDataType c_type, int ldc, cublasComputeType_t compute,
             cublasGemmAlgo_t algo)
{
    static gemm_ex *real;
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "cublasGemmEx");
    if (planted("skipped"))
        return handle && m > 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
    cublasStatus_t status = real(handle, transa, transb, planted("argument") ? m - 1 : m, n, k, alpha, a, a_type, lda,
                                 b, b_type, ldb, beta, c, c_type, ldc, compute, algo);
    if (planted("twice"))
        real(handle, transa, transb, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc, compute,
             algo);
    if (planted("status") && status)
        status = CUBLAS_STATUS_SUCCESS;
    change_process();
    call_cuda(handle, c);
    if (planted("errno"))
        errno = EAGAIN;
    if (planted("flag"))
        feraiseexcept(FE_INEXACT);
    if (planted("rounding"))
        fesetround(FE_DOWNWARD);
    if (planted("masked"))
        feenableexcept(FE_DIVBYZERO);
    if (planted("exit"))
        _exit(1);
    if (planted("death"))
        raise(SIGTERM);
    return status;
}
