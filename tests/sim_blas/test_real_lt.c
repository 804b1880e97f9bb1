/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptor functions of the stand-in against those of a real libcublasLt, which need no driver: for every attribute
 * number and size the same status, the same size written, the same value. Skipped (77) where there is none. */
#include <cublasLt.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ATTRIBUTES 48
#define SIZES      17

typedef cublasStatus_t get_function(const void *, int, void *, size_t, size_t *);
typedef cublasStatus_t set_function(void *, int, const void *, size_t);

static void *real, *standin;
static int failures, compared;

static void *function(void *library, const char *name)
{
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "%s: %s\n", name, dlerror());
        exit(1);
    }
    return found;
}

static void same(const char *what, int attribute, size_t size, long wanted, long got)
{
    compared++;
    if (wanted == got)
        return;
    fprintf(stderr, "%s, attribute %d, size %zu: the real library says %ld, the stand-in %ld\n", what, attribute, size,
            wanted, got);
    failures++;
}

/* Objects of the same making on both sides. */
static void compare_gets(const char *name, const void *real_object, const void *standin_object)
{
    get_function *real_get = (get_function *)(uintptr_t)function(real, name);
    get_function *standin_get = (get_function *)(uintptr_t)function(standin, name);
    for (int attribute = 0; attribute < ATTRIBUTES; attribute++)
        for (size_t size = 0; size < SIZES; size++) {
            unsigned char a[64] = {0}, b[64] = {0};
            size_t written_a = 99, written_b = 99;
            const cublasStatus_t wanted = real_get(real_object, attribute, a, size, &written_a);
            same(name, attribute, size, (long)wanted,
                 (long)standin_get(standin_object, attribute, b, size, &written_b));
            same("its sizeWritten", attribute, size, wanted ? 0 : (long)written_a, wanted ? 0 : (long)written_b);
            same("its value", attribute, size, 0, memcmp(a, b, sizeof a));
        }
}

static void compare_sets(const char *name, void *real_object, void *standin_object, const void *value)
{
    set_function *real_set = (set_function *)(uintptr_t)function(real, name);
    set_function *standin_set = (set_function *)(uintptr_t)function(standin, name);
    for (int attribute = 0; attribute < ATTRIBUTES; attribute++)
        for (size_t size = 0; size < SIZES; size++)
            same(name, attribute, size, (long)real_set(real_object, attribute, value, size),
                 (long)standin_set(standin_object, attribute, value, size));
}

static void compare(const char *family, void *real_object, void *standin_object, const void *value)
{
    char get[64], set[64];
    snprintf(get, sizeof get, "%sGetAttribute", family);
    snprintf(set, sizeof set, "%sSetAttribute", family);
    compare_gets(get, real_object, standin_object);
    compare_sets(set, real_object, standin_object, value);
    compare_gets(get, real_object, standin_object);
}

static void layouts(void)
{
    typedef cublasStatus_t create(cublasLtMatrixLayout_t *, cudaDataType, uint64_t, uint64_t, int64_t);
    static const char name[] = "cublasLtMatrixLayoutCreate";
    cublasLtMatrixLayout_t a, b;
    const uint64_t value[4] = {1, 0, 0, 0};
    ((create *)(uintptr_t)function(real, name))(&a, CUDA_R_16BF, 100, 200, 128);
    ((create *)(uintptr_t)function(standin, name))(&b, CUDA_R_16BF, 100, 200, 128);
    compare("cublasLtMatrixLayout", a, b, value);
}

static void operations(void)
{
    typedef cublasStatus_t create(cublasLtMatmulDesc_t *, cublasComputeType_t, cudaDataType);
    static const char name[] = "cublasLtMatmulDescCreate";
    cublasLtMatmulDesc_t a, b;
    const uint64_t value[4] = {0, 0, 0, 0};
    ((create *)(uintptr_t)function(real, name))(&a, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    ((create *)(uintptr_t)function(standin, name))(&b, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    compare("cublasLtMatmulDesc", a, b, value);
}

static void others(void)
{
    typedef cublasStatus_t create(void *);
    static const char *const families[] = {"cublasLtMatmulPreference", "cublasLtEmulationDesc"};
    const uint64_t value[4] = {0, 0, 0, 0};
    for (int i = 0; i < 2; i++) {
        char name[64];
        snprintf(name, sizeof name, "%sCreate", families[i]);
        same(name, 0, 0, dlsym(real, name) != NULL, dlsym(standin, name) != NULL);
        if (!dlsym(real, name))
            continue; /* CUDA 12 has no emulation */
        void *a, *b;
        ((create *)(uintptr_t)function(real, name))(&a);
        ((create *)(uintptr_t)function(standin, name))(&b);
        compare(families[i], a, b, value);
    }
    cublasLtMatmulAlgo_t a, b;
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    compare_gets("cublasLtMatmulAlgoConfigGetAttribute", &a, &b);
}

static void nulls(void)
{
    static const char *const families[] = {"cublasLtMatrixLayout", "cublasLtMatmulDesc", "cublasLtMatmulPreference",
                                           "cublasLtMatrixTransformDesc", "cublasLtEmulationDesc"};
    for (int i = 0; i < 5; i++) {
        char name[64];
        unsigned char buffer[8];
        snprintf(name, sizeof name, "%sGetAttribute", families[i]);
        if (!dlsym(real, name))
            continue;
        same(name, 0, 0, (long)((get_function *)(uintptr_t)function(real, name))(NULL, 0, buffer, 4, NULL),
             (long)((get_function *)(uintptr_t)function(standin, name))(NULL, 0, buffer, 4, NULL));
        snprintf(name, sizeof name, "%sDestroy", families[i]);
        same(name, 0, 0, (long)((cublasStatus_t(*)(void *))(uintptr_t)function(real, name))(NULL),
             (long)((cublasStatus_t(*)(void *))(uintptr_t)function(standin, name))(NULL));
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: test_real_lt REAL STANDIN\n");
        return 2;
    }
    real = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!real) {
        printf("skipped: no real libcublasLt: %s\n", dlerror());
        return 77;
    }
    standin = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    if (!standin || dlsym(real, "cublasLtCreate") == dlsym(standin, "cublasLtCreate")) {
        fprintf(stderr, "no stand-in beside the real library: %s\n", standin ? "they are one" : dlerror());
        return 1;
    }
    layouts();
    operations();
    others();
    nulls();
    printf("%d comparisons, %d differences\n", compared, failures);
    return failures != 0;
}
