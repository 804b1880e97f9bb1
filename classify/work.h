/* SPDX-License-Identifier: Apache-2.0 */
/* What one library call asks of the GPU: its shape as a user sees it, its FLOPs and its compulsory bytes, each distinct
 * byte once. Works on the call's recorded signature alone. All figures are doubles: a product of three 64-bit sizes does
 * not fit an integer, and a figure that is not known is NAN. */
#ifndef CLASSIFY_WORK_H
#define CLASSIFY_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/gemm_work.h"
#include "classify/gpu_specs.h"
#include "classify/number_type.h"
#include "trace/trace.h"

enum work_weight {
    WORK_WEIGHT_NONE, /* no operand is claimed to be the weight */
    WORK_WEIGHT_A,
    WORK_WEIGHT_B,
};

struct work {
    bool shape_known;
    int64_t m, n, k; /* as a user sees them: activation rows, output features, input features */
    int64_t batch;
    enum work_weight weight;
    struct number_format type[4];     /* A, B, C, D as the library names them */
    enum gpu_path path;               /* GPU_PATH_UNKNOWN: none of the paths that a GPU row can have */
    enum number_type type_compute;    /* what the multipliers work in; NUMBER_UNKNOWN */
    enum trace_provenance provenance; /* the record's own, or AT_MOST where only a maximum of the bytes is known */
    double flops;                     /* of one call */
    double bytes;
    double intensity; /* NAN where bytes is 0 or not known */
    /* Bytes that one more row (m) adds and those that it doesn't: what M* is solved from. NAN where bytes is. */
    double bytes_per_row, bytes_fixed, flops_per_row;
    /* The product behind a GEMM or a GEMV, for gemm_work_ridge(), gemm_with_weight() and the like. model.batch is negative
     * where there is none: level 3 and what is not known. */
    struct gemm_model model;
};

/* ENTRY_NAME is the interposed function, which tells the level-3 routines apart; may be NULL. */
void work_of_signature(const struct trace_signature *signature, const char *entry_name, struct work *work);

/* What the groups of a grouped call ask, summed; those without matrices, rows or columns add nothing. */
struct work_of_groups {
    bool known;   /* zeroed: no list was found */
    bool at_most; /* of bytes only a maximum is known */
    double flops, bytes;
};

struct work_of_groups work_sum_groups(const struct trace_signature *signature, const struct trace_group *groups,
                                      size_t count);

/* Into the WORK that work_of_signature() made. Sizes that differ between groups stay unknown, and with them all figures per
 * row and the model; shape_known is set where the sums are known. */
void work_take_groups(const struct trace_signature *signature, const struct work_of_groups *groups, struct work *work);

/* Rows at which the call turns compute-bound at RIDGE; INFINITY where no number of rows does, NAN where not known. */
double work_rows_at_ridge(const struct work *work, double ridge);

#endif
