/* SPDX-License-Identifier: Apache-2.0 */
/* Getters for weights: which M they see, what holds them back, what a change would save. */
#include "report/weight_columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/format.h"

static const struct weight_row *weight_of(const void *row)
{
    return row;
}

/* ---- numbers ---- */

static double value_share(const struct column_source *source, const void *row)
{
    (void)source;
    return weight_has_time(weight_of(row)) ? weight_of(row)->share : NAN;
}

static double value_time(const struct column_source *source, const void *row)
{
    (void)source;
    return weight_has_time(weight_of(row)) ? (double)weight_of(row)->time_ns : NAN;
}

static double value_calls(const struct column_source *source, const void *row)
{
    (void)source;
    return (double)weight_of(row)->executions;
}

static double size_value(int64_t size)
{
    return size >= 0 ? (double)size : NAN;
}

static double value_n(const struct column_source *source, const void *row)
{
    (void)source;
    return size_value(weight_of(row)->n);
}

static double value_k(const struct column_source *source, const void *row)
{
    (void)source;
    return size_value(weight_of(row)->k);
}

static double value_p50(const struct column_source *source, const void *row)
{
    (void)source;
    return size_value(weight_of(row)->m_p50);
}

static double value_p90(const struct column_source *source, const void *row)
{
    (void)source;
    return size_value(weight_of(row)->m_p90);
}

static double value_star(const struct column_source *source, const void *row)
{
    (void)source;
    return weight_of(row)->rows_at_ridge;
}

static double value_below(const struct column_source *source, const void *row)
{
    (void)source;
    return isnan(weight_of(row)->time_below) ? weight_of(row)->executions_below : weight_of(row)->time_below;
}

static double value_fill(const struct column_source *source, const void *row)
{
    (void)source;
    return weight_of(row)->fill;
}

static double value_gain(const struct column_source *source, const void *row)
{
    const struct weight_row *weight = row;
    double gain = 0;
    for (size_t i = 0; i < weight->operator_count; i++)
        gain += source->session->operators[weight->operators[i]].gain_ns;
    return weight_has_time(weight) ? columns_busy_share(source, weight->device, gain) : NAN;
}

/* Of busy time, or where nothing was timed of the time at the roof. */
static double saved_share(const struct column_source *source, const void *row, enum weight_change change)
{
    return columns_busy_share(source, weight_of(row)->device, weight_of(row)->saved_ns[change]);
}

static double value_batch(const struct column_source *source, const void *row)
{
    return saved_share(source, row, WEIGHT_BATCH);
}

static double value_fuse(const struct column_source *source, const void *row)
{
    return saved_share(source, row, WEIGHT_FUSE);
}

static double value_split(const struct column_source *source, const void *row)
{
    return saved_share(source, row, WEIGHT_SPLIT_K);
}

static double value_8_bit(const struct column_source *source, const void *row)
{
    return saved_share(source, row, WEIGHT_8_BIT);
}

static double value_4_bit(const struct column_source *source, const void *row)
{
    return saved_share(source, row, WEIGHT_4_BIT);
}

/* ---- cells ---- */

static void print_device(const struct column_source *source, const void *row, char *cell)
{
    (void)source;
    format_size(cell, weight_of(row)->device);
}

static void print_share(const struct column_source *source, const void *row, char *cell)
{
    format_share(cell, value_share(source, row));
}

static void print_time(const struct column_source *source, const void *row, char *cell)
{
    format_duration(cell, value_time(source, row));
}

static void print_calls(const struct column_source *source, const void *row, char *cell)
{
    (void)source;
    format_count(cell, weight_of(row)->executions);
}

static void print_n(const struct column_source *source, const void *row, char *cell)
{
    (void)source;
    if (weight_of(row)->batch > 1)
        snprintf(cell, COLUMN_CELL_BYTES, "%" PRId64 "x %" PRId64, weight_of(row)->batch, weight_of(row)->n);
    else
        format_size(cell, weight_of(row)->n);
}

static void print_k(const struct column_source *source, const void *row, char *cell)
{
    (void)source;
    format_size(cell, weight_of(row)->k);
}

/* As the weight's most expensive operator shows them: all have the same. */
void columns_weight_types(const struct session *session, const struct weight_row *weight, char *cell)
{
    if (weight->operator_count)
        columns_types(&session->operators[weight->operators[0]], cell);
    else
        strcpy(cell, FORMAT_UNKNOWN);
}

static void print_types(const struct column_source *source, const void *row, char *cell)
{
    columns_weight_types(source->session, row, cell);
}

static void print_p50(const struct column_source *source, const void *row, char *cell)
{
    (void)source;
    format_size(cell, weight_of(row)->m_p50);
}

static void print_p90(const struct column_source *source, const void *row, char *cell)
{
    (void)source;
    format_size(cell, weight_of(row)->m_p90);
}

static void print_star(const struct column_source *source, const void *row, char *cell)
{
    (void)source;
    if (isinf(weight_of(row)->rows_at_ridge))
        strcpy(cell, "never");
    else
        format_intensity(cell, weight_of(row)->rows_at_ridge);
}

static void print_below(const struct column_source *source, const void *row, char *cell)
{
    format_share(cell, value_below(source, row));
}

static void print_side(const struct column_source *source, const void *row, char *cell)
{
    const char *name = gemm_side_name(weight_of(row)->short_side);
    (void)source;
    strcpy(cell, name ? name : FORMAT_UNKNOWN);
}

/* Blocks and SMs; persistent kernels launch as many as there are SMs whatever the work, so there is nothing to say. */
static void print_fill(const struct column_source *source, const void *row, char *cell)
{
    const struct weight_row *weight = row;
    (void)source;
    if (isnan(weight->fill) || !weight->blocks || weight->sm_count <= 0)
        strcpy(cell, FORMAT_UNKNOWN);
    else
        snprintf(cell, COLUMN_CELL_BYTES, "%" PRIu64 "/%" PRId32, weight->blocks, weight->sm_count);
}

static void print_gain(const struct column_source *source, const void *row, char *cell)
{
    format_gain(cell, value_gain(source, row));
}

static void print_batch(const struct column_source *source, const void *row, char *cell)
{
    format_gain(cell, value_batch(source, row));
}

static void print_fuse(const struct column_source *source, const void *row, char *cell)
{
    format_gain(cell, value_fuse(source, row));
}

static void print_split(const struct column_source *source, const void *row, char *cell)
{
    format_gain(cell, value_split(source, row));
}

static void print_8_bit(const struct column_source *source, const void *row, char *cell)
{
    format_gain(cell, value_8_bit(source, row));
}

static void print_4_bit(const struct column_source *source, const void *row, char *cell)
{
    format_gain(cell, value_4_bit(source, row));
}

/* clang-format off */
static const struct column of_weight[] = {
    {.title = "GPU", .meaning = "number of the GPU, as the report lists them",
     .print = print_device, .several_devices = true},
    {.title = "%TIME", .meaning = "share of the kernel time of all GPUs",
     .key = "share", .print = print_share, .value = value_share},
    {.title = "TIME", .meaning = "time of all products with it",
     .key = "time", .print = print_time, .value = value_time},
    {.title = "CALLS", .meaning = "executions of all products with it",
     .key = "calls", .print = print_calls, .value = value_calls},
    {.title = "N", .meaning = "output features; x: matrices of one call",
     .key = "n", .print = print_n, .value = value_n, .shape = true},
    {.title = "K", .meaning = "input features",
     .key = "k", .print = print_k, .value = value_k, .shape = true},
    {.title = "TYPES", .meaning = "of operands, / what they are multiplied in, > result, where these differ",
     .key = "types", .print = print_types, .left = true, .ascending = true, .shape = true},
    {.title = "M p50", .meaning = "rows of the activation: half of the executions have no more",
     .key = "m", .print = print_p50, .value = value_p50, .shape = true},
    {.title = "M p90", .meaning = "rows of the activation: nine of ten executions have no more",
     .key = "m90", .print = print_p90, .value = value_p90, .shape = true},
    {.title = "M*", .meaning = "rows from which on it is compute-bound",
     .key = "m_star", .print = print_star, .value = value_star, .shape = true},
    {.title = "%<M*", .meaning = "share of its time with fewer rows than M*",
     .key = "below", .print = print_below, .value = value_below, .shape = true},
    {.title = "BLOCKS", .meaning = "thread blocks of its longest product, and SMs of the GPU",
     .key = "fill", .print = print_fill, .value = value_fill, .ascending = true, .spare = 1, .shape = true},
    {.title = "%GAIN", .meaning = "share of busy time saved if all of it ran at the roof",
     .key = "gain", .print = print_gain, .value = value_gain, .shape = true},
};

static const struct column of_skinny[] = {
    {.title = "GPU", .meaning = "number of the GPU, as the report lists them",
     .print = print_device, .several_devices = true},
    {.title = "%TIME", .meaning = "share of the kernel time of all GPUs",
     .key = "share", .print = print_share, .value = value_share},
    {.title = "CALLS", .meaning = "executions of all products with it",
     .key = "calls", .print = print_calls, .value = value_calls, .spare = 1},
    {.title = "N", .meaning = "output features; x: matrices of one call",
     .key = "n", .print = print_n, .value = value_n},
    {.title = "K", .meaning = "input features",
     .key = "k", .print = print_k, .value = value_k},
    {.title = "TYPES", .meaning = "of operands, / what they are multiplied in, > result, where these differ",
     .key = "types", .print = print_types, .left = true, .ascending = true},
    {.title = "M p50", .meaning = "rows of the activation: half of the executions have no more",
     .key = "m", .print = print_p50, .value = value_p50},
    {.title = "p90", .meaning = "rows of the activation: nine of ten executions have no more",
     .key = "m90", .print = print_p90, .value = value_p90, .spare = 2},
    {.title = "SHORT", .meaning = "the dimension that holds it back",
     .key = "short", .print = print_side, .left = true, .ascending = true, .spare = 3},
    {.title = "M*", .meaning = "rows from which on it is compute-bound",
     .key = "m_star", .print = print_star, .value = value_star},
    {.title = "%<M*", .meaning = "share of its time with fewer rows than M*",
     .key = "below", .print = print_below, .value = value_below},
    {.title = "BLOCKS", .meaning = "thread blocks of its longest product, and SMs of the GPU",
     .key = "fill", .print = print_fill, .value = value_fill, .ascending = true},
    {.title = "BATCH", .meaning = "saved at the roof with M* rows in each call, in % of busy time",
     .key = "batch", .print = print_batch, .value = value_batch},
    {.title = "FUSE", .meaning = "saved at the roof by one product with those that read the same activation, in % of busy time",
     .key = "fuse", .print = print_fuse, .value = value_fuse},
    {.title = "FILL", .meaning = "saved at the roof if K were split over the SMs that have nothing to do, in % of busy time",
     .key = "split_k", .print = print_split, .value = value_split},
    {.title = "8BIT", .meaning = "saved at the roof with the weight in 8 bits, in % of busy time",
     .key = "8_bit", .print = print_8_bit, .value = value_8_bit},
    {.title = "4BIT", .meaning = "saved at the roof with the weight in 4 bits, in % of busy time",
     .key = "4_bit", .print = print_4_bit, .value = value_4_bit},
    {.title = NULL,      .key = "time", .print = print_time, .value = value_time},
};
/* clang-format on */

const struct column *weight_columns(size_t *count)
{
    *count = sizeof of_weight / sizeof of_weight[0];
    return of_weight;
}

const struct column *weight_columns_skinny(size_t *count)
{
    *count = sizeof of_skinny / sizeof of_skinny[0];
    return of_skinny;
}
