/* SPDX-License-Identifier: Apache-2.0 */
/* Makes every planned call and prints one line for each: index, function, variant, the pointer that was NULL, status, and
 * whether errno, floating-point flags and signal mask are as the library left them. Knows nothing of the shim. */
#include "tests/preload/calls.h"

#include <errno.h>
#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/preload/calls_device.h"

cublasHandle_t handle;
cublasXtHandle_t xt_handle;
cublasLtHandle_t lt_handle;
cudaStream_t stream;
cudaKernel_t kernel_handle;
CUfunction driver_function;
void **kernel_args;
cudaLaunchConfig_t runtime_config = {{2, 3, 5}, {7, 11, 1}, 13, NULL, NULL, 0};
CUlaunchConfig driver_config = {2, 3, 5, 7, 11, 1, 13, NULL, NULL, 0};
struct lt_objects lt;

static void *no_access; /* what is on the device can't be read */
static char memory[1 << 20];
static int call_index;
static fexcept_t before_flags;
static sigset_t before_mask;

int cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *, int, int);
int cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t);
int cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t);
int cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t, int, const void *, size_t);
int cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *, int, uint64_t, uint64_t, int64_t);
int cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t, int, const void *, size_t);

void *operand(int index)
{
    return memory + (1 << 16) * index;
}

/* Behind a real scalar lies what would make it another one, were it read as complex. */
const void *scalar(int which, int type)
{
    static const float complexes[3][2] = {{1, 0}, {-0.0f, 0}, {0, 1}}, reals[3][2] = {{1, 7}, {-0.0f, 7}, {0.5f, 7}};
    static const double wide_complexes[3][2] = {{1, 0}, {-0.0, 0}, {0, 1}},
                        wide_reals[3][2] = {{1, 7}, {-0.0, 7}, {0.5, 7}};
    static const unsigned short halves[3] = {0x3c00, 0x8000, 0x3800};
    if (which == SCALAR_device)
        return no_access;
    switch (type) {
    case VENDOR_R_64F:
        return wide_reals[which];
    case VENDOR_C_64F:
        return wide_complexes[which];
    case VENDOR_R_16F:
        return &halves[which];
    case VENDOR_C_32F:
        return complexes[which];
    default:
        return reals[which];
    }
}

static int check(int status, const char *what)
{
    if (status) {
        fprintf(stderr, "calls_host: %s returned %d\n", what, status);
        exit(3);
    }
    return status;
}

static void free_lt(void)
{
    if (!lt.desc)
        return;
    cublasLtMatmulDescDestroy(lt.desc);
    for (int i = 0; i < 4; i++)
        cublasLtMatrixLayoutDestroy(lt.layout[i]);
    lt.desc = NULL;
}

static void set_layouts(int attribute, const void *values, size_t bytes, const char *what)
{
    for (int i = 0; i < 4; i++)
        check(
            cublasLtMatrixLayoutSetAttribute(lt.layout[i], attribute, (const char *)values + bytes * (size_t)i, bytes),
            what);
}

/* D (37 x 41) = op(A) op(B), k = 43, batch of 7; every number told apart. Variants of the layouts: matrices found by
 * pointers, in other orders, with their imaginary parts in a plane of their own. */
static void make_lt(const char *variant)
{
    const int swapped = !strcmp(variant, "swapped"), planar = !strcmp(variant, "planar");
    const int transa = swapped ? 0 : 1, transb = swapped ? 1 : 0, epilogue = 4;
    const int batch[4] = {7, 7, 7, 7}, pointers[4] = {1, 1, 1, 1}, order[4] = {1, 2, 3, 3}, type = planar ? 6 : 14;
    const int64_t stride[4] = {100003, 100019, 100043, 100049}, plane[4] = {200003, 200009, 200017, 200023};
    const void *bias = memory;
    check(cublasLtMatmulDescCreate(&lt.desc, 68, planar ? 4 : 0), "cublasLtMatmulDescCreate");
    check(cublasLtMatmulDescSetAttribute(lt.desc, 3, &transa, 4), "set TRANSA");
    check(cublasLtMatmulDescSetAttribute(lt.desc, 4, &transb, 4), "set TRANSB");
    check(cublasLtMatmulDescSetAttribute(lt.desc, 7, &epilogue, 4), "set EPILOGUE");
    check(cublasLtMatmulDescSetAttribute(lt.desc, 8, &bias, 8), "set BIAS_POINTER");
    check(cublasLtMatrixLayoutCreate(&lt.layout[0], type, transa ? 43 : 37, transa ? 37 : 43, 211), "layout A");
    check(cublasLtMatrixLayoutCreate(&lt.layout[1], type, transb ? 41 : 43, transb ? 43 : 41, 223), "layout B");
    check(cublasLtMatrixLayoutCreate(&lt.layout[2], type, 37, 41, 227), "layout C");
    check(cublasLtMatrixLayoutCreate(&lt.layout[3], type, 37, 41, 229), "layout D");
    set_layouts(5, batch, 4, "set BATCH_COUNT");
    set_layouts(6, stride, 8, "set STRIDED_BATCH_OFFSET");
    if (planar)
        set_layouts(7, plane, 8, "set PLANE_OFFSET");
    if (!strcmp(variant, "pointers"))
        set_layouts(8, pointers, 4, "set BATCH_MODE");
    if (!strcmp(variant, "ordered"))
        set_layouts(1, order, 4, "set ORDER");
}

void begin(const char *function, const char *variant, const char *null)
{
    const int mode = !strcmp(variant, "device");
    if (!strcmp(function, "cublasLtMatmul")) {
        make_lt(variant);
        check(cublasLtMatmulDescSetAttribute(lt.desc, 2, &mode, 4), "set POINTER_MODE");
    }
    check(calls_device_pointer_mode(mode), "cublasSetPointerMode_v2");
    printf("%d %s %s %s ", call_index++, function, variant, *null ? null : "-");
    fesetexceptflag(&before_flags, FE_ALL_EXCEPT);
    errno = 77;
}

void end(int status)
{
    fexcept_t flags;
    sigset_t mask;
    int error = errno;
    fegetexceptflag(&flags, FE_ALL_EXCEPT);
    memset(&mask, 0, sizeof mask); /* the kernel's is shorter */
    sigprocmask(SIG_SETMASK, NULL, &mask);
    printf("%d errno %d fenv %s %#x mask %s\n", status, error, flags == before_flags ? "same" : "changed",
           (unsigned)flags, memcmp(&mask, &before_mask, sizeof mask) ? "changed" : "same");
    fflush(stdout);
    free_lt();
}

int main(void)
{
    printf("start errno %d\n", errno);
    no_access = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    feraiseexcept(FE_INVALID | FE_OVERFLOW);
    fegetexceptflag(&before_flags, FE_ALL_EXCEPT);
    sigprocmask(SIG_SETMASK, NULL, &before_mask);
    sigaddset(&before_mask, SIGUSR1);
    sigprocmask(SIG_SETMASK, &before_mask, NULL);
    sigprocmask(SIG_SETMASK, NULL, &before_mask);
    calls_device_prepare();
    for (const struct planned_call *call = planned_calls; call->make; call++)
        call->make();
    printf("end\n");
    return 7;
}
