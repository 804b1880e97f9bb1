/* SPDX-License-Identifier: Apache-2.0 */
/* bench_classify [ROWS]: how many operator rows a second one core classifies: signature to work, work to roofline, M*. The
 * rows are what a serving process asks: GEMMs of a few weights under many batch sizes, cuBLASLt with bias and scales, batched
 * attention products, GEMVs and a triangle now and then. Prints the best of three passes; asserts no time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "classify/roofline.h"
#include "classify/work.h"

enum { KINDS = 4096, PASSES = 3, BF16 = 14, E4M3 = 28, COMPUTE_32F = 68, BIAS = 4 };

static const int64_t weights[][2] = {{3584, 3584}, {512, 3584}, {18944, 3584}, {3584, 18944}, {152064, 3584}};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct trace_signature row(int i)
{
    const int64_t *weight = weights[i % 5];
    struct trace_signature s = {
        .kind = TRACE_CALL_GEMM,
        .library = TRACE_LIBRARY_CUBLAS,
        .provenance = TRACE_EXACT,
        .trans_a = 1,
        .beta = TRACE_SCALAR_ZERO,
        .m = weight[0],
        .n = 1 + i % 513,
        .k = weight[1],
        .batch = 1,
        .ld = {weight[1], weight[1], weight[0], weight[0]},
        .type = {BF16, BF16, BF16, BF16},
        .type_compute = COMPUTE_32F,
        .epilogue = 1,
        .type_bias = TRACE_UNKNOWN,
        .type_aux = TRACE_UNKNOWN,
        .scale_mode = {TRACE_UNKNOWN, TRACE_UNKNOWN, TRACE_UNKNOWN, TRACE_UNKNOWN},
    };
    if (i % 4 == 1) { /* cuBLASLt, fp8 with a bias and scales for 128 */
        s.library = TRACE_LIBRARY_CUBLASLT;
        s.type[0] = s.type[1] = E4M3;
        s.epilogue = BIAS;
        s.scale_mode[0] = 5;
        s.scale_mode[1] = 4;
    } else if (i % 4 == 2) { /* scores of 28 heads that lie side by side */
        s.batch_mode = TRACE_BATCH_STRIDED;
        s.batch = 28;
        s.m = 1024;
        s.k = 128;
        for (int operand = 0; operand < 4; operand++)
            s.ld[operand] = operand < 2 ? 28 * 128 : 1024, s.batch_stride[operand] = operand < 2 ? 128 : 1024 * s.n;
    } else if (i % 16 == 3) {
        s.kind = TRACE_CALL_GEMV;
        s.k = 1;
    } else if (i % 64 == 7) {
        s.kind = TRACE_CALL_LEVEL3;
        s.side = 0;
    }
    return s;
}

static double classify_all(const struct trace_signature *rows, long count, const struct device_roofs *roofs)
{
    double sum = 0; /* keeps the work from being left out */
    for (long i = 0; i < count; i++) {
        const struct trace_signature *s = &rows[i % KINDS];
        struct work work;
        struct roofline roofline;
        work_of_signature(s, s->kind == TRACE_CALL_LEVEL3 ? "cublasStrsm_v2" : "cublasGemmEx", &work);
        struct roofline_input in = {
            .flops = work.flops,
            .bytes = work.bytes,
            .path = work.path,
            .kernels = 1,
            .time_ns = 30000,
            .floor_ns = 2000,
            .blocks = 64,
            .sm_count = 128,
        };
        roofline_classify(&in, roofs, &roofline);
        double rows_at_ridge = work_rows_at_ridge(&work, roofline.ridge);
        sum += (isfinite(rows_at_ridge) ? rows_at_ridge : 0) + roofline.bound;
    }
    return sum;
}

int main(int count, char **argument)
{
    static struct trace_signature rows[KINDS];
    long total = count > 1 ? atol(argument[1]) : 1000000;
    struct device_roofs roofs = device_roofs(gpu_spec_by_key("rtx4090"), 128, false, -1);
    double best = INFINITY, sum = 0;
    if (total <= 0 || !roofs.spec) {
        fprintf(stderr, "bench_classify: '%s': expected a number of rows\n", count > 1 ? argument[1] : "");
        return 2;
    }
    for (int i = 0; i < KINDS; i++)
        rows[i] = row(i);
    for (int pass = 0; pass < PASSES; pass++) {
        double start = seconds();
        sum = classify_all(rows, total, &roofs);
        best = fmin(best, seconds() - start);
    }
    printf("classify: %9ld operator rows, %6.2f M rows/s on one core (check sum %.6g)\n", total,
           (double)total / best * 1e-6, sum);
    return 0;
}
