/* SPDX-License-Identifier: Apache-2.0 */
/* Every row of reference_figures.tsv, which holds its own values: nothing expected is computed here. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "classify/gpu_specs.h"
#include "classify/work.h"

struct figure {
    char what[32], gpu[32], type[32];
    long long m, n, k;
    double value, tolerance;
};

static enum gpu_path path_of(const char *type)
{
    for (int p = 0; p < GPU_PATH_COUNT; p++)
        if (!strcmp(number_type_name(gpu_paths[p].type), type))
            return (enum gpu_path)p;
    return GPU_PATH_UNKNOWN;
}

/* As a row-major caller asks cuBLAS for it: m and n exchanged, the weight transposed. */
static struct work gemm(const struct figure *f)
{
    struct trace_signature s = {
        .kind = TRACE_CALL_GEMM,
        .library = TRACE_LIBRARY_CUBLAS,
        .provenance = TRACE_EXACT,
        .trans_a = 1,
        .beta = TRACE_SCALAR_ZERO,
        .m = f->n,
        .n = f->m,
        .k = f->k,
        .batch = 1,
        .type = {14, 14, 14, 14},
        .type_compute = 68,
    };
    struct work work;
    work_of_signature(&s, "cublasGemmEx", &work);
    return work;
}

static double computed(const struct figure *f)
{
    if (!strcmp(f->what, "intensity"))
        return gemm(f).intensity;
    const struct gpu_spec *spec = gpu_spec_by_key(f->gpu);
    assert_non_null(spec);
    double ridge = gpu_spec_ridge(spec, path_of(f->type));
    if (!strcmp(f->what, "ridge"))
        return ridge;
    assert_string_equal(f->what, "m_star");
    struct work work = gemm(f);
    return work_rows_at_ridge(&work, ridge);
}

static void test_figures(void **state)
{
    char line[512];
    int figures = 0;
    FILE *file = fopen("reference_figures.tsv", "r");
    (void)state;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        struct figure f;
        if (*line == '#')
            continue;
        assert_int_equal(sscanf(line, "%31s %31s %31s %lld %lld %lld %lf %lf", f.what, f.gpu, f.type, &f.m, &f.n, &f.k,
                                &f.value, &f.tolerance),
                         8);
        double value = computed(&f);
        bool equal = isinf(f.value) ? isinf(value) : fabs(value - f.value) <= f.tolerance;
        if (!equal)
            fail_msg("%.40s...: %.6f", line, value);
        figures++;
    }
    fclose(file);
    assert_true(figures >= 14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_figures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
