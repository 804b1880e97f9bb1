/* SPDX-License-Identifier: Apache-2.0 */
/* Types, attributes and structs by their numbers in cublas_api.h, cublasLt.h and library_types.h of CUDA 11 to 13. */
#include "calibrate/blas.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { R_32F = 0, R_16F = 2, R_8I = 3, R_32I = 10, R_16BF = 14, R_8F_E4M3 = 28 };          /* cudaDataType_t */
enum { COMPUTE_16F = 64, COMPUTE_32F = 68, COMPUTE_32F_FAST_TF32 = 77, COMPUTE_32I = 72 }; /* cublasComputeType_t */
enum { OP_N = 0, OP_T = 1, GEMM_DEFAULT = -1, STATUS_SUCCESS = 0 };
enum { DESC_TRANSA = 3, DESC_TRANSB = 4, DESC_FAST_ACCUM = 25, PREFERENCE_WORKSPACE = 1 }; /* cublasLt attributes */
enum { WORKSPACE_BYTES = 64 << 20 }; /* what PyTorch gives on the largest GPUs is 32 MiB; more is never needed */

/* clang-format off */
const struct blas_path blas_paths[] = {
    {GPU_PATH_BF16,       R_16BF,    R_16BF, COMPUTE_32F,           R_32F, 2, 2, 80, false},
    {GPU_PATH_FP16,       R_16F,     R_16F,  COMPUTE_32F,           R_32F, 2, 2, 70, false},
    {GPU_PATH_FP16_ACC16, R_16F,     R_16F,  COMPUTE_16F,           R_16F, 2, 2, 70, false},
    {GPU_PATH_TF32,       R_32F,     R_32F,  COMPUTE_32F_FAST_TF32, R_32F, 4, 4, 80, false},
    {GPU_PATH_FP8_E4M3,   R_8F_E4M3, R_16BF, COMPUTE_32F,           R_32F, 1, 2, 89, true},
    {GPU_PATH_INT8,       R_8I,      R_32I,  COMPUTE_32I,           R_32I, 1, 4, 75, false},
    {GPU_PATH_FP32,       R_32F,     R_32F,  COMPUTE_32F,           R_32F, 4, 4,  0, false},
};
/* clang-format on */
const size_t blas_path_count = sizeof blas_paths / sizeof blas_paths[0];

struct blas_heuristic { /* cublasLtMatmulHeuristicResult_t */
    unsigned char algorithm[64];
    size_t workspace_bytes;
    int status;
    float waves;
    int reserved[4];
};

struct blas_entries {
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, void *stream);
    int (*set_workspace)(void *handle, void *workspace, size_t bytes);
    int (*version)(void *handle, int *version);
    int (*gemm)(void *handle, int trans_a, int trans_b, int m, int n, int k, const void *alpha, const void *a,
                int type_a, int lda, const void *b, int type_b, int ldb, const void *beta, void *c, int type_c, int ldc,
                int compute, int algorithm);
    int (*lt_create)(void **lt);
    int (*lt_destroy)(void *lt);
    int (*desc_create)(void **desc, int compute, int scale_type);
    int (*desc_set)(void *desc, int attribute, const void *value, size_t bytes);
    int (*desc_destroy)(void *desc);
    int (*layout_create)(void **layout, int type, uint64_t rows, uint64_t columns, int64_t ld);
    int (*layout_destroy)(void *layout);
    int (*preference_create)(void **preference);
    int (*preference_set)(void *preference, int attribute, const void *value, size_t bytes);
    int (*preference_destroy)(void *preference);
    int (*heuristic)(void *lt, void *desc, void *a, void *b, void *c, void *d, void *preference, int asked,
                     struct blas_heuristic *results, int *found);
    int (*matmul)(void *lt, void *desc, const void *alpha, const void *a, void *layout_a, const void *b, void *layout_b,
                  const void *beta, const void *c, void *layout_c, void *d, void *layout_d, const void *algorithm,
                  void *workspace, size_t workspace_bytes, void *stream);
};

#define AT(field) offsetof(struct blas_entries, field)
/* clang-format off */
static const struct blas_entry {
    size_t offset;
    const char *name;
} plain_entries[] = {
    {AT(create), "cublasCreate_v2"}, {AT(destroy), "cublasDestroy_v2"}, {AT(set_stream), "cublasSetStream_v2"},
    {AT(set_workspace), "cublasSetWorkspace_v2"}, {AT(version), "cublasGetVersion_v2"}, {AT(gemm), "cublasGemmEx"},
}, lt_entries[] = {
    {AT(lt_create), "cublasLtCreate"}, {AT(lt_destroy), "cublasLtDestroy"},
    {AT(desc_create), "cublasLtMatmulDescCreate"}, {AT(desc_set), "cublasLtMatmulDescSetAttribute"},
    {AT(desc_destroy), "cublasLtMatmulDescDestroy"}, {AT(layout_create), "cublasLtMatrixLayoutCreate"},
    {AT(layout_destroy), "cublasLtMatrixLayoutDestroy"}, {AT(preference_create), "cublasLtMatmulPreferenceCreate"},
    {AT(preference_set), "cublasLtMatmulPreferenceSetAttribute"},
    {AT(preference_destroy), "cublasLtMatmulPreferenceDestroy"}, {AT(heuristic), "cublasLtMatmulAlgoGetHeuristic"},
    {AT(matmul), "cublasLtMatmul"},
};

/* Newest major first; where in it, as the loader finds it first. `%s` is the environment variable's value. */
static const int majors[] = {13, 12, 11};
static const struct {
    const char *variable; /* NULL: none is needed */
    const char *pattern;
} places[] = {
    {"VIRTUAL_ENV",  "%s/lib/python3*/site-packages/nvidia/cu13/lib"},
    {"VIRTUAL_ENV",  "%s/lib/python3*/site-packages/nvidia/cublas/lib"},
    {"CONDA_PREFIX", "%s/lib"},
    {"CONDA_PREFIX", "%s/lib/python3*/site-packages/nvidia/cu13/lib"},
    {"CONDA_PREFIX", "%s/lib/python3*/site-packages/nvidia/cublas/lib"},
    {"CUDA_HOME",    "%s/lib64"},
    {NULL,           "/usr/local/cuda*/lib64"},
    {NULL,           "/usr/local/lib/python3*/*-packages/nvidia/cu13/lib"},
    {NULL,           "/usr/local/lib/python3*/*-packages/nvidia/cublas/lib"},
    {NULL,           "/usr/lib/python3/dist-packages/nvidia/cublas/lib"},
    {"HOME",         "%s/.local/lib/python3*/site-packages/nvidia/cu13/lib"},
    {"HOME",         "%s/.local/lib/python3*/site-packages/nvidia/cublas/lib"},
};
/* clang-format on */

static bool fail(struct blas *blas, const char *what, int status)
{
    if (status == STATUS_SUCCESS)
        return true;
    snprintf(blas->error, sizeof blas->error, "%s: cuBLAS status %d", what, status);
    return false;
}

static bool find_entries(struct blas *blas, void *library, const struct blas_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        void *found = dlsym(library, entries[i].name);
        if (!found) {
            snprintf(blas->error, sizeof blas->error, "cuBLAS has no %s", entries[i].name);
            return false;
        }
        memcpy((char *)blas->entries + entries[i].offset, &found, sizeof found);
    }
    return true;
}

/* ---- finding it ---- */

static void *open_in(const char *folder, const char *stem, int major)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s%s%s.so.%d", folder ? folder : "", folder ? "/" : "", stem, major);
    return length < (int)sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) : NULL;
}

/* A library that is too new for the driver is there, but makes no handle. */
static bool try_folder(struct blas *blas, const char *folder, int major)
{
    /* cublas needs cublasLt by its name: loaded first, it is the one of the same folder. */
    void *lt = open_in(folder, "libcublasLt", major), *plain = lt ? open_in(folder, "libcublas", major) : NULL;
    int version = 0;
    if (!plain || !find_entries(blas, plain, plain_entries, sizeof plain_entries / sizeof plain_entries[0]) ||
        !fail(blas, "cublasCreate", blas->entries->create(&blas->handle)))
        return false;
    if (!find_entries(blas, lt, lt_entries, sizeof lt_entries / sizeof lt_entries[0]) ||
        blas->entries->lt_create(&blas->lt) != STATUS_SUCCESS)
        blas->lt = NULL;
    blas->entries->version(blas->handle, &version);
    /* 120803 is 12.8.3, and 130000 13.0.0; up to 11 it was 11605 for 11.6.5. */
    if (version >= 100000)
        snprintf(blas->version, sizeof blas->version, "%d.%d.%d", version / 10000, version / 100 % 100, version % 100);
    else
        snprintf(blas->version, sizeof blas->version, "%d.%d.%d", version / 1000, version / 100 % 10, version % 100);
    return true;
}

static bool try_pattern(struct blas *blas, const char *pattern, int major)
{
    glob_t found;
    bool good = false;
    if (glob(pattern, 0, NULL, &found) != 0)
        return false;
    for (size_t i = found.gl_pathc; i-- > 0 && !good;) /* later names are newer versions, mostly */
        good = try_folder(blas, found.gl_pathv[i], major);
    globfree(&found);
    return good;
}

static bool try_places(struct blas *blas, int major)
{
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const char *value = places[i].variable ? getenv(places[i].variable) : "";
        char pattern[PATH_MAX];
        if (!value || (places[i].variable && !*value))
            continue;
        const char *rest = places[i].variable ? places[i].pattern + 2 : places[i].pattern; /* behind "%s" */
        if (snprintf(pattern, sizeof pattern, "%s%s", value, rest) < PATH_MAX && try_pattern(blas, pattern, major))
            return true;
    }
    return false;
}

static bool find_library(struct blas *blas, const char *folder)
{
    for (size_t i = 0; i < sizeof majors / sizeof majors[0]; i++)
        if (try_folder(blas, folder, majors[i]) || (!folder && try_places(blas, majors[i])))
            return true;
    if (!blas->error[0])
        snprintf(
            blas->error, sizeof blas->error,
            "no libcublas.so.13, .12 or .11 found; install the CUDA toolkit or 'pip install nvidia-cublas', and put "
            "its folder into LD_LIBRARY_PATH");
    return false;
}

bool blas_open(struct blas *blas, struct cuda *cuda, const char *folder)
{
    *blas = (struct blas){.entries = calloc(1, sizeof *blas->entries), .stream = cuda->stream};
    if (!blas->entries) {
        snprintf(blas->error, sizeof blas->error, "out of memory");
        return false;
    }
    if (!find_library(blas, folder) ||
        !fail(blas, "cublasSetStream", blas->entries->set_stream(blas->handle, cuda->stream)))
        return false;
    if (cuda_allocate(cuda, WORKSPACE_BYTES, &blas->workspace)) {
        blas->workspace_bytes = WORKSPACE_BYTES;
        blas->entries->set_workspace(blas->handle, (void *)(uintptr_t)blas->workspace, blas->workspace_bytes);
    }
    return true;
}

void blas_close(struct blas *blas, struct cuda *cuda)
{
    if (blas->lt)
        blas->entries->lt_destroy(blas->lt);
    if (blas->handle)
        blas->entries->destroy(blas->handle);
    cuda_release(cuda, blas->workspace);
    free(blas->entries);
    *blas = (struct blas){0};
}

/* ---- products; column-major: D' (N, M) = W' transposed (N, K) X' (K, M) ---- */

static const void *scalar(const struct blas_path *path, int value)
{
    static const float real[2] = {0, 1};
    static const int32_t whole[2] = {0, 1};
    static const uint16_t half[2] = {0, 0x3c00};
    return path->scale_type == R_32I   ? (const void *)&whole[value]
           : path->scale_type == R_16F ? (const void *)&half[value]
                                       : (const void *)&real[value];
}

static bool choose_algorithm(struct blas *blas, struct blas_product *product)
{
    struct blas_heuristic result;
    void *preference = NULL;
    int found = 0;
    memset(&result, 0, sizeof result);
    if (!fail(blas, "cublasLtMatmulPreferenceCreate", blas->entries->preference_create(&preference)))
        return false;
    blas->entries->preference_set(preference, PREFERENCE_WORKSPACE, &blas->workspace_bytes,
                                  sizeof blas->workspace_bytes);
    int status = blas->entries->heuristic(blas->lt, product->description, product->layout[0], product->layout[1],
                                          product->layout[2], product->layout[2], preference, 1, &result, &found);
    blas->entries->preference_destroy(preference);
    if (!fail(blas, "cublasLtMatmulAlgoGetHeuristic", status))
        return false;
    product->algorithm_known = found > 0 && result.status == STATUS_SUCCESS;
    memcpy(product->algorithm, result.algorithm, sizeof product->algorithm);
    return product->algorithm_known || fail(blas, "cublasLtMatmulAlgoGetHeuristic found nothing", 15);
}

static bool begin_lt(struct blas *blas, struct blas_product *product)
{
    const struct blas_path *path = product->path;
    const int32_t transpose = OP_T, plain = OP_N;
    const int8_t fast = 1; /* as inference engines ask for it */
    struct blas_entries *entries = blas->entries;
    uint64_t m = (uint64_t)product->m, n = (uint64_t)product->n, k = (uint64_t)product->k;
    if (!blas->lt)
        return fail(blas, "no cuBLASLt", 1);
    bool made =
        fail(blas, "cublasLtMatmulDescCreate",
             entries->desc_create(&product->description, path->compute, path->scale_type)) &&
        fail(blas, "TRANSA", entries->desc_set(product->description, DESC_TRANSA, &transpose, sizeof transpose)) &&
        fail(blas, "TRANSB", entries->desc_set(product->description, DESC_TRANSB, &plain, sizeof plain)) &&
        fail(blas, "layout", entries->layout_create(&product->layout[0], path->operand_type, k, n, product->k)) &&
        fail(blas, "layout", entries->layout_create(&product->layout[1], path->operand_type, k, m, product->k)) &&
        fail(blas, "layout", entries->layout_create(&product->layout[2], path->result_type, n, m, product->n));
    if (!made)
        return false;
    entries->desc_set(product->description, DESC_FAST_ACCUM, &fast, sizeof fast);
    return choose_algorithm(blas, product);
}

bool blas_product_begin(struct blas *blas, struct blas_product *product)
{
    product->description = product->layout[0] = product->layout[1] = product->layout[2] = NULL;
    product->algorithm_known = false;
    return product->path->lt ? begin_lt(blas, product) : true;
}

bool blas_product_run(struct blas *blas, const struct blas_product *product)
{
    const struct blas_path *path = product->path;
    const void *one = scalar(path, 1), *zero = scalar(path, 0);
    const void *w = (const void *)(uintptr_t)product->w, *x = (const void *)(uintptr_t)product->x;
    void *d = (void *)(uintptr_t)product->d;
    if (path->lt)
        return fail(blas, "cublasLtMatmul",
                    blas->entries->matmul(blas->lt, product->description, one, w, product->layout[0], x,
                                          product->layout[1], zero, d, product->layout[2], d, product->layout[2],
                                          product->algorithm, (void *)(uintptr_t)blas->workspace, blas->workspace_bytes,
                                          blas->stream));
    return fail(blas, "cublasGemmEx",
                blas->entries->gemm(blas->handle, OP_T, OP_N, (int)product->n, (int)product->m, (int)product->k, one, w,
                                    path->operand_type, (int)product->k, x, path->operand_type, (int)product->k, zero,
                                    d, path->result_type, (int)product->n, path->compute, GEMM_DEFAULT));
}

void blas_product_end(struct blas *blas, struct blas_product *product)
{
    for (int i = 0; i < 3; i++)
        if (product->layout[i])
            blas->entries->layout_destroy(product->layout[i]);
    if (product->description)
        blas->entries->desc_destroy(product->description);
}
