/* SPDX-License-Identifier: Apache-2.0 */
/* A getter for each column. Text that comes from a stranger is made safe where the table is printed. */
#include "report/columns.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/format.h"

static void print_device(const struct operator_row *op, char *cell)
{
    format_size(cell, op->device);
}

static void print_kind(const struct operator_row *op, char *cell)
{
    if (op->of_call && op->work.batch > 1)
        snprintf(cell, COLUMN_CELL_BYTES, "%s x%lld", operator_kind_name(op->kind), (long long)op->work.batch);
    else
        snprintf(cell, COLUMN_CELL_BYTES, "%s", operator_kind_name(op->kind));
}

static void print_m(const struct operator_row *op, char *cell)
{
    format_size(cell, op->work.m);
}

static void print_n(const struct operator_row *op, char *cell)
{
    format_size(cell, op->work.n);
}

static void print_k(const struct operator_row *op, char *cell)
{
    format_size(cell, op->work.k);
}

/* "bf16" where all is bf16; else operands, what they are computed in where that differs, and the result. */
void columns_types(const struct operator_row *op, char *cell)
{
    const struct number_format *type = op->work.type;
    const char *a = number_format_name(type[0]), *b = number_format_name(type[1]), *d = number_format_name(type[3]);
    const char *compute = number_type_name(op->work.type_compute);
    if (!a || !b || !d) {
        strcpy(cell, FORMAT_UNKNOWN);
        return;
    }
    int used = snprintf(cell, COLUMN_CELL_BYTES, "%s", a);
    if (strcmp(a, b))
        used += snprintf(cell + used, COLUMN_CELL_BYTES - (size_t)used, ",%s", b);
    if (compute && op->work.type_compute != type[0].type)
        used += snprintf(cell + used, COLUMN_CELL_BYTES - (size_t)used, "/%s", compute);
    if (strcmp(a, d))
        snprintf(cell + used, COLUMN_CELL_BYTES - (size_t)used, ">%s", d);
}

static void print_calls(const struct operator_row *op, char *cell)
{
    if (op->calls_known)
        format_count(cell, op->calls);
    else
        strcpy(cell, FORMAT_UNKNOWN);
}

static void print_time(const struct operator_row *op, char *cell)
{
    format_duration(cell, op->timed && op->kernels ? (double)op->time_ns : NAN);
}

static void print_share(const struct operator_row *op, char *cell)
{
    format_share(cell, op->timed && op->kernels ? op->share : NAN);
}

static void print_intensity(const struct operator_row *op, char *cell)
{
    format_intensity(cell, op->roofline.intensity);
}

static void print_class(const struct operator_row *op, char *cell)
{
    strcpy(cell, bound_name(op->roofline.bound));
}

static void print_tera(const struct operator_row *op, char *cell)
{
    format_tera(cell, op->roofline.flops_per_second);
}

static void print_giga(const struct operator_row *op, char *cell)
{
    format_giga(cell, op->roofline.bytes_per_second);
}

static void print_roof(const struct operator_row *op, char *cell)
{
    format_share(cell, op->roofline.roof_fraction);
}

static void print_flags(const struct operator_row *op, char *cell)
{
    size_t used = 0;
    cell[0] = '\0';
    for (int i = 0; i < ROOFLINE_FLAG_COUNT; i++)
        if (op->roofline.flags & 1u << i)
            used += (size_t)snprintf(cell + used, COLUMN_CELL_BYTES - used, "%s%s", used ? "," : "",
                                     roofline_flag_name(1u << i));
    if (op->shape_source == TRACE_AT_MOST)
        snprintf(cell + used, COLUMN_CELL_BYTES - used, "%sat_most", used ? "," : "");
}

/* What costs most comes first. All that only a shape can tell comes last: a row without one has its name there. */
/* clang-format off */
static const struct column table[] = {
    {.title = "GPU",     .print = print_device, .identity = true, .several_devices = true},
    {.title = "%TIME",   .print = print_share},
    {.title = "TIME",    .print = print_time},
    {.title = "CALLS",   .print = print_calls},
    {.title = "KIND",    .print = print_kind, .identity = true, .left = true},
    {.title = "M",       .print = print_m, .identity = true, .shape = true},
    {.title = "N",       .print = print_n, .identity = true, .shape = true},
    {.title = "K",       .print = print_k, .identity = true, .shape = true},
    {.title = "TYPES",   .print = columns_types, .identity = true, .shape = true, .left = true},
    {.title = "FLOP/B",  .print = print_intensity, .shape = true},
    {.title = "CLASS",   .print = print_class, .shape = true, .left = true},
    {.title = "TFLOP/s", .print = print_tera, .shape = true, .spare = 2},
    {.title = "GB/s",    .print = print_giga, .shape = true, .spare = 1},
    {.title = "%ROOF",   .print = print_roof, .shape = true},
    {.title = "FLAGS",   .print = print_flags, .shape = true, .left = true},
};
/* clang-format on */

const struct column *columns(size_t *count)
{
    *count = sizeof table / sizeof table[0];
    return table;
}
