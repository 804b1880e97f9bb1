/* SPDX-License-Identifier: Apache-2.0 */
/* Ledger lines, checks and launches common to all entry points of both libraries. Before it: a generated wrapper with
 * the caller's arguments. After it: sim/core, which keeps the ledger and the timeline. */
#include "blas_call.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static void append(struct blas_call *call, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const int needed = vsnprintf(call->fields + call->length, call->capacity - call->length, format, list);
    va_end(list);
    if (needed < 0)
        return;
    if ((size_t)needed >= call->capacity - call->length) {
        const size_t capacity = 2 * (call->capacity + (size_t)needed);
        char *larger = malloc(capacity);
        if (!larger)
            abort(); /* a ledger with a hole would be a wrong oracle */
        memcpy(larger, call->fields, call->length);
        if (call->fields != call->room)
            free(call->fields);
        call->fields = larger;
        call->capacity = capacity;
        va_start(list, format);
        vsnprintf(call->fields + call->length, call->capacity - call->length, format, list);
        va_end(list);
    }
    call->length += (size_t)needed;
}

static void key(struct blas_call *call, const char *name)
{
    append(call, "%s\"%s\":", call->length ? "," : "", name);
}

void blas_note_int(struct blas_call *call, const char *name, int64_t value)
{
    key(call, name);
    append(call, "%" PRId64, value);
}

void blas_note_real(struct blas_call *call, const char *name, double value)
{
    key(call, name);
    if (value - value == 0)
        append(call, "%.17g", value);
    else /* JSON has no infinities */
        append(call, "\"%g\"", value);
}

void blas_note_complex(struct blas_call *call, const char *name, double real, double imaginary)
{
    key(call, name);
    append(call, "[%.17g,%.17g]", real, imaginary);
}

void blas_note_pointer(struct blas_call *call, const char *name, const void *value)
{
    key(call, name);
    if (value)
        append(call, "\"0x%" PRIxPTR "\"", (uintptr_t)value);
    else
        append(call, "null");
}

void blas_note_text(struct blas_call *call, const char *name, const char *value)
{
    key(call, name);
    append(call, "\"%s\"", value);
}

void blas_note_array(struct blas_call *call, const char *name, const void *values, int64_t count, bool wide)
{
    if (!values || count <= 0)
        return;
    key(call, name);
    for (int64_t i = 0; i < count; i++)
        append(call, "%s%" PRId64, i ? "," : "[", wide ? ((const int64_t *)values)[i] : ((const int *)values)[i]);
    append(call, "]");
}

/* ---- begin and end ---- */

static void begin(struct blas_call *call, const char *name, const char *kind)
{
    call->name = name;
    call->settled = false;
    call->status = CUBLAS_STATUS_SUCCESS;
    call->fields = call->room;
    call->room[0] = 0;
    call->capacity = sizeof call->room;
    call->length = 0;
    call->id = simgpu_ledger_call_begin(name); /* the ledger knows which calls are nested */
    blas_note_text(call, "kind", kind);
}

void blas_begin(struct blas_call *call, const char *name, const char *kind, cublasHandle_t handle)
{
    begin(call, name, kind);
    call->handle = handle;
    call->initialized = handle != NULL;
    call->stream = handle ? handle->stream : NULL;
    if (handle) {
        blas_note_int(call, "pointer_mode", handle->pointer_mode);
        blas_note_int(call, "math_mode", handle->math_mode);
    }
}

void blas_begin_lt(struct blas_call *call, const char *name, const char *kind, cublasLtHandle_t handle,
                   cudaStream_t stream)
{
    begin(call, name, kind);
    call->handle = NULL;
    call->initialized = handle != NULL;
    call->stream = stream;
}

bool blas_enter(struct blas_call *call)
{
    const int fault = simgpu_fault(call->name);
    if (fault)
        blas_settle(call, fault);
    else if (!call->initialized)
        blas_settle(call, CUBLAS_STATUS_NOT_INITIALIZED);
    return !call->settled;
}

cublasStatus_t blas_end(struct blas_call *call)
{
    if (call->initialized) {
        const struct simgpu_stream *stream = simgpu_stream_of(call->stream, 0);
        if (stream)
            blas_note_int(call, "stream_id", simgpu_stream_id(stream));
    }
    simgpu_ledger_call_end(call->id, call->fields, call->status);
    if (call->fields != call->room)
        free(call->fields);
    return (cublasStatus_t)call->status;
}

void blas_settle(struct blas_call *call, int status)
{
    if (call->settled)
        return;
    call->settled = true;
    call->status = status;
}

void blas_expect(struct blas_call *call, bool condition)
{
    if (!condition)
        blas_settle(call, CUBLAS_STATUS_INVALID_VALUE);
}

void blas_expect_char(struct blas_call *call, char value, const char *legal)
{
    blas_expect(call, value && strchr(legal, blas_upper(value)));
}

void blas_quick_return(struct blas_call *call, bool nothing_to_do)
{
    if (nothing_to_do)
        blas_settle(call, CUBLAS_STATUS_SUCCESS);
}

/* ---- types ---- */

double blas_type_bytes(int type)
{
    switch (type) {
    case CUDA_R_4I:
    case CUDA_R_4U:
    case CUDA_R_4F_E2M1:
        return 0.5;
    case CUDA_R_6F_E2M3:
    case CUDA_R_6F_E3M2:
        return 0.75;
    case CUDA_R_8I:
    case CUDA_R_8U:
    case CUDA_R_8F_E4M3:
    case CUDA_R_8F_E5M2:
    case CUDA_R_8F_UE8M0:
    case CUDA_C_4I:
    case CUDA_C_4U:
        return 1;
    case CUDA_R_16F:
    case CUDA_R_16BF:
    case CUDA_R_16I:
    case CUDA_R_16U:
    case CUDA_C_8I:
    case CUDA_C_8U:
        return 2;
    case CUDA_R_32F:
    case CUDA_R_32I:
    case CUDA_R_32U:
    case CUDA_C_16F:
    case CUDA_C_16BF:
    case CUDA_C_16I:
    case CUDA_C_16U:
        return 4;
    case CUDA_R_64F:
    case CUDA_R_64I:
    case CUDA_R_64U:
    case CUDA_C_32F:
    case CUDA_C_32I:
    case CUDA_C_32U:
        return 8;
    case CUDA_C_64F:
    case CUDA_C_64I:
    case CUDA_C_64U:
        return 16;
    default:
        return 0;
    }
}

bool blas_type_complex(int type)
{
    return type == CUDA_C_16F || type == CUDA_C_16BF || type == CUDA_C_32F || type == CUDA_C_64F || type == CUDA_C_8I ||
           type == CUDA_C_8U;
}

bool blas_host_scalar_nonzero(const void *scalar, int type)
{
    const float *f = scalar;
    const double *d = scalar;
    switch (type) {
    case CUDA_R_16F:
    case CUDA_R_16BF: /* minus zero is zero too */
        return (*(const uint16_t *)scalar & 0x7fff) != 0;
    case CUDA_R_64F:
        return d[0] != 0;
    case CUDA_C_32F:
        return f[0] != 0 || f[1] != 0;
    case CUDA_C_64F:
        return d[0] != 0 || d[1] != 0;
    case CUDA_R_32I:
        return *(const int32_t *)scalar != 0;
    default:
        return f[0] != 0;
    }
}

bool blas_note_beta(struct blas_call *call, const void *scalar, int type, bool on_host)
{
    if (!scalar)
        return false;
    const bool nonzero = on_host && blas_host_scalar_nonzero(scalar, type);
    blas_note_text(call, "beta_kind", !on_host ? "device" : nonzero ? "nonzero" : "zero");
    return nonzero;
}

bool blas_scalar_nonzero(struct blas_call *call, const void *scalar, int type)
{
    return blas_note_beta(call, scalar, type, call->handle->pointer_mode == CUBLAS_POINTER_MODE_HOST);
}

/* ---- paths and launches ---- */

static const char *first_path_of_device(const char *const *paths)
{
    const char *const *path = paths;
    while (path[1] && simgpu_peak_flops(*path) <= 0)
        path++;
    return *path;
}

const char *blas_path(int operand_type, int compute, int math_mode)
{
    const bool pedantic = compute == CUBLAS_COMPUTE_32F_PEDANTIC || (math_mode & 15) == CUBLAS_PEDANTIC_MATH;
    switch (operand_type) {
    case CUDA_R_16BF:
    case CUDA_C_16BF:
        return first_path_of_device((const char *const[]){"bf16", "fp16", "fp32", NULL});
    case CUDA_R_16F:
    case CUDA_C_16F:
        return first_path_of_device((const char *const[]){"fp16", "bf16", "fp32", NULL});
    case CUDA_R_64F:
    case CUDA_C_64F:
        return first_path_of_device((const char *const[]){"fp64", "fp32", NULL});
    case CUDA_R_8I:
    case CUDA_C_8I:
    case CUDA_R_8U:
        return first_path_of_device((const char *const[]){"int8", "fp32", NULL});
    case CUDA_R_8F_E4M3:
    case CUDA_R_8F_E5M2:
        return "fp8"; /* a device without it does not do it */
    case CUDA_R_4F_E2M1:
        return "fp4";
    default:
        break;
    }
    if (compute == CUBLAS_COMPUTE_32F_FAST_16F)
        return first_path_of_device((const char *const[]){"fp16", "fp32", NULL});
    if (compute == CUBLAS_COMPUTE_32F_FAST_16BF)
        return first_path_of_device((const char *const[]){"bf16", "fp32", NULL});
    if (compute == CUBLAS_COMPUTE_32F_FAST_TF32 || ((math_mode & 15) == CUBLAS_TF32_TENSOR_OP_MATH && !pedantic))
        return first_path_of_device((const char *const[]){"tf32", "fp32", NULL});
    return "fp32";
}

/* What CUDA takes in each direction; a kernel with more to do than its grid can hold loops. */
static unsigned grid_size(int64_t blocks, int64_t most)
{
    return (unsigned)(blocks < 1 ? 1 : blocks > most ? most : blocks);
}

static void launch(struct blas_call *call, const char *kernel, const int64_t blocks[3], uint64_t duration_ns)
{
    /* Kernels for clusters (compute capability 9 and on) are launched by cuLaunchKernelEx, older ones by cuLaunchKernel. */
    const uint32_t driver_cbid = simgpu_device()->compute_major >= 9 ? 652 : 307;
    const struct simgpu_dims dims = {
        .grid = {grid_size(blocks[0], INT32_MAX), grid_size(blocks[1], 65535), grid_size(blocks[2], 65535)},
        .block = {128, 1, 1},
    };
    struct simgpu_stream *stream = simgpu_stream_of(call->stream, 0);
    if (!stream || simgpu_launch(stream, simgpu_kernel_by_name(kernel), &dims, NULL, duration_ns, driver_cbid))
        blas_settle(call, CUBLAS_STATUS_EXECUTION_FAILED);
}

static void launch_slowed(struct blas_call *call, const struct blas_work *work, double slowdown)
{
    if (call->settled)
        return;
    blas_note_real(call, "flops", work->flops);
    blas_note_real(call, "bytes", work->bytes);
    blas_note_text(call, "path", work->path);
    const uint64_t ns = simgpu_work_ns(work->flops, work->bytes, work->path);
    launch(call, work->kernel, work->blocks, (uint64_t)((double)ns * slowdown + 0.5));
}

void blas_launch(struct blas_call *call, const struct blas_work *work)
{
    launch_slowed(call, work, 1);
}

void blas_launch_gemm(struct blas_call *call, const char *path, int transa, int transb, int64_t m, int64_t n,
                      int64_t tiles_or_zero, int64_t batch, double flops, double bytes)
{
    static const char letters[] = "NTC";
    const struct simgpu_device *device = simgpu_device();
    const unsigned tile_m = device->gemm_tile_m, tile_n = device->gemm_tile_n;
    char name[96];
    if (!call->settled && simgpu_gemm_fails(call->name))
        blas_settle(call, CUBLAS_STATUS_EXECUTION_FAILED);
    if (tiles_or_zero)
        snprintf(name, sizeof name, "simgemm_grouped_%s_%ux%u", path, tile_m, tile_n);
    else
        snprintf(name, sizeof name, "simgemm_%s_%c%c_%ux%u", path, letters[transa], letters[transb], tile_m, tile_n);
    const struct blas_work work = {
        .kernel = name,
        .path = path,
        .flops = flops,
        .bytes = bytes,
        .blocks = {tiles_or_zero ? tiles_or_zero : (m + tile_m - 1) / tile_m,
                   tiles_or_zero ? 1 : (n + tile_n - 1) / tile_n, tiles_or_zero ? 1 : batch},
    };
    launch_slowed(call, &work, device->gemm_slowdown);
    for (unsigned extra = 1; extra < device->gemm_kernels && !call->settled; extra++) {
        snprintf(name, sizeof name, "simgemm_splitK_reduce_%s", path);
        launch(call, name, work.blocks, 0);
    }
}

void blas_run(struct blas_call *call, const char *family, int type, double flops, double bytes, int64_t m, int64_t n,
              int64_t batch)
{
    const char *path = blas_path(type, CUBLAS_COMPUTE_32F, call->handle->math_mode);
    char name[96];
    snprintf(name, sizeof name, "simblas_%s_%s", family, path);
    const struct blas_work work = {
        .kernel = name,
        .path = path,
        .flops = flops,
        .bytes = bytes,
        .blocks = {(m + 127) / 128, (n + 63) / 64, batch},
    };
    blas_launch(call, &work);
}

void blas_zero_result(struct blas_call *call, void *result, size_t bytes)
{
    /* The kernel computes nothing; a host result is at least always the same. */
    if (result && !call->status && call->handle->pointer_mode == CUBLAS_POINTER_MODE_HOST)
        memset(result, 0, bytes);
}
