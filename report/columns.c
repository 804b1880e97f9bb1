/* SPDX-License-Identifier: Apache-2.0 */
/* Getters for the columns of operators, and what all tables share. Text that comes from a stranger is made safe where the
 * table is printed. */
#include "report/columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/launch_groups.h"
#include "classify/model_books.h"
#include "classify/roof_time.h"
#include "report/format.h"
#include "report/launch_cells.h"
#include "report/operator_rows.h"
#include "report/timing_text.h"
#include "report/weight_columns.h"

struct column_source column_source_of(const struct session *session)
{
    struct column_source source = {.session = session, .by_roof = true};
    source.base_ns = allocate(session->device_count + 1, sizeof *source.base_ns);
    for (size_t i = 0; i < session->device_count; i++) {
        source.base_ns[i] = roof_base_ns(session, (int)i);
        source.by_roof &= !(source.base_ns[i] > 0);
    }
    for (size_t i = 0; source.by_roof && i < session->operator_count; i++) {
        const struct operator_row *op = &session->operators[i];
        if (op->device >= 0 && op->t_roof_ns > 0)
            source.base_ns[op->device] += op->t_roof_ns;
    }
    return source;
}

void column_source_free(struct column_source *source)
{
    free(source->base_ns);
    *source = (struct column_source){0};
}

double columns_busy_share(const struct column_source *source, int device, double ns)
{
    return device >= 0 && source->base_ns[device] > 0 ? ns / source->base_ns[device] : NAN;
}

/* ---- numbers ---- */

static double value_calls(const struct column_source *source, const void *row)
{
    const struct operator_row *op = row;
    (void)source;
    return op->calls_known ? (double)op->calls : NAN;
}

static double value_time(const struct column_source *source, const void *row)
{
    const struct operator_row *op = row;
    (void)source;
    return op->timed && op->kernels ? (double)op->time_ns : NAN;
}

static double value_share(const struct column_source *source, const void *row)
{
    const struct operator_row *op = row;
    (void)source;
    return op->timed && op->kernels ? op->share : NAN;
}

static double value_mean(const struct column_source *source, const void *row)
{
    const struct operator_row *op = row;
    return value_time(source, row) / (double)op->kernels;
}

static int64_t size_of(const struct operator_row *op, enum launch_size size)
{
    if (launch_of_operator_is_read(op))
        return launch_cells_size_value(op, size);
    return size == LAUNCH_SIZE_M ? op->work.m : size == LAUNCH_SIZE_N ? op->work.n : op->work.k;
}

static double size_value(const struct operator_row *op, enum launch_size size)
{
    return operator_has_shape(op) && size_of(op, size) >= 0 ? (double)size_of(op, size) : NAN;
}

static double value_m(const struct column_source *source, const void *row)
{
    (void)source;
    return size_value(row, LAUNCH_SIZE_M);
}

static double value_n(const struct column_source *source, const void *row)
{
    (void)source;
    return size_value(row, LAUNCH_SIZE_N);
}

static double value_k(const struct column_source *source, const void *row)
{
    (void)source;
    return size_value(row, LAUNCH_SIZE_K);
}

static double value_intensity(const struct column_source *source, const void *row)
{
    const struct operator_row *op = row;
    (void)source;
    return op->roofline.intensity;
}

static double value_tera(const struct column_source *source, const void *row)
{
    const struct operator_row *op = row;
    (void)source;
    return op->roofline.flops_per_second;
}

static double value_giga(const struct column_source *source, const void *row)
{
    const struct operator_row *op = row;
    (void)source;
    return op->roofline.bytes_per_second;
}

static double value_roof(const struct column_source *source, const void *row)
{
    const struct operator_row *op = row;
    (void)source;
    return op->roofline.roof_fraction;
}

double columns_gain_share(const struct column_source *source, const struct operator_row *op)
{
    return op->timed && op->kernels ? columns_busy_share(source, op->device, op->gain_ns) : NAN;
}

static double value_gain(const struct column_source *source, const void *row)
{
    return columns_gain_share(source, row);
}

/* ---- cells ---- */

static void print_device(const struct column_source *source, const void *row, char *cell)
{
    const struct operator_row *op = row;
    (void)source;
    format_size(cell, op->device);
}

/* A stage around a GEMM or attention is none: "attention combine", "gemm helper". */
static void print_family(const struct operator_row *op, char *cell)
{
    bool stage = op->role == KERNEL_ROLE_HELPER || op->role == KERNEL_ROLE_COMBINE;
    snprintf(cell, COLUMN_CELL_BYTES, "%s%s%s", kernel_family_name(op->family), stage ? " " : "",
             stage ? kernel_role_name(op->role) : "");
}

static void print_kind(const struct column_source *source, const void *row, char *cell)
{
    const struct operator_row *op = row;
    (void)source;
    if (op->graph)
        strcpy(cell, "graph");
    else if (launch_of_operator_is_read(op))
        launch_cells_kind(op, cell);
    else if (op->of_call && op->work.batch > 1)
        snprintf(cell, COLUMN_CELL_BYTES, "%s x%lld", operator_kind_name(op->kind), (long long)op->work.batch);
    else if (!op->of_call && op->kind == OPERATOR_OTHER)
        print_family(op, cell);
    else
        snprintf(cell, COLUMN_CELL_BYTES, "%s", operator_kind_name(op->kind));
}

static void print_size(const struct operator_row *op, enum launch_size size, char *cell)
{
    if (launch_of_operator_is_read(op))
        launch_cells_size(op, size, cell);
    else
        format_size(cell, size_of(op, size));
}

static void print_m(const struct column_source *source, const void *row, char *cell)
{
    (void)source;
    print_size(row, LAUNCH_SIZE_M, cell);
}

static void print_n(const struct column_source *source, const void *row, char *cell)
{
    (void)source;
    print_size(row, LAUNCH_SIZE_N, cell);
}

static void print_k(const struct column_source *source, const void *row, char *cell)
{
    (void)source;
    print_size(row, LAUNCH_SIZE_K, cell);
}

void columns_shape(const struct operator_row *op, char *text)
{
    char m[COLUMN_CELL_BYTES], n[COLUMN_CELL_BYTES], k[COLUMN_CELL_BYTES];
    print_size(op, LAUNCH_SIZE_M, m);
    print_size(op, LAUNCH_SIZE_N, n);
    print_size(op, LAUNCH_SIZE_K, k);
    snprintf(text, COLUMN_SHAPE_BYTES, "M %s  N %s  K %s", m, n, k);
}

/* "bf16" where all is bf16; else operands, what they are computed in where that differs, and the result. */
void columns_types(const struct operator_row *op, char *cell)
{
    const struct number_format *type = op->work.type;
    const char *a = number_format_name(type[0]), *b = number_format_name(type[1]), *d = number_format_name(type[3]);
    const char *compute = number_type_name(op->work.type_compute);
    if (launch_of_operator_is_read(op)) {
        launch_cells_types(op, cell);
        return;
    }
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

static void print_types(const struct column_source *source, const void *row, char *cell)
{
    (void)source;
    columns_types(row, cell);
}

static void print_calls(const struct column_source *source, const void *row, char *cell)
{
    if (isnan(value_calls(source, row)))
        strcpy(cell, FORMAT_UNKNOWN);
    else
        format_count(cell, ((const struct operator_row *)row)->calls);
}

static void print_time(const struct column_source *source, const void *row, char *cell)
{
    format_duration(cell, value_time(source, row));
    strcat(cell, timing_text_mark(row));
}

static void print_mean(const struct column_source *source, const void *row, char *cell)
{
    format_duration(cell, value_mean(source, row));
}

static void print_share(const struct column_source *source, const void *row, char *cell)
{
    format_share(cell, value_share(source, row));
}

static void print_intensity(const struct column_source *source, const void *row, char *cell)
{
    format_intensity(cell, value_intensity(source, row));
}

static void print_class(const struct column_source *source, const void *row, char *cell)
{
    (void)source;
    strcpy(cell, bound_name(((const struct operator_row *)row)->roofline.bound));
}

static void print_tera(const struct column_source *source, const void *row, char *cell)
{
    format_tera(cell, value_tera(source, row));
}

static void print_giga(const struct column_source *source, const void *row, char *cell)
{
    format_giga(cell, value_giga(source, row));
}

static void print_roof(const struct column_source *source, const void *row, char *cell)
{
    format_share(cell, value_roof(source, row));
}

static void print_gain(const struct column_source *source, const void *row, char *cell)
{
    format_gain(cell, value_gain(source, row));
}

static void print_flags(const struct column_source *source, const void *row, char *cell)
{
    const struct operator_row *op = row;
    size_t used = 0;
    (void)source;
    cell[0] = '\0';
    for (int i = 0; i < ROOFLINE_FLAG_COUNT; i++)
        if (op->roofline.flags & 1u << i)
            used += (size_t)snprintf(cell + used, COLUMN_CELL_BYTES - used, "%s%s", used ? "," : "",
                                     roofline_flag_name(1u << i));
    if (op->shape_source == TRACE_AT_MOST)
        used += (size_t)snprintf(cell + used, COLUMN_CELL_BYTES - used, "%sat_most", used ? "," : "");
    const char *from = launch_of_operator_is_read(op) ? launch_cells_source(op) : NULL;
    if (from)
        snprintf(cell + used, COLUMN_CELL_BYTES - used, "%s%s", used ? "," : "", from);
}

/* Matrices of the model that it may have multiplied. */
static void print_weights(const struct column_source *source, const void *row, char *cell)
{
    const char *names[MODEL_BOOKS_NAMES_MOST];
    const size_t op = (size_t)((const struct operator_row *)row - source->session->operators);
    const size_t count = source->model_books ? model_books_names(source->model_books, op, names) : 0;
    size_t used = 0;
    cell[0] = '\0';
    for (size_t i = 0; i < count && used < COLUMN_CELL_BYTES; i++)
        used += (size_t)snprintf(cell + used, COLUMN_CELL_BYTES - used, "%s%s", i ? "," : "", names[i]);
}

/* Of a struct kernel_row. */
static void print_kernel_class(const struct column_source *source, const void *row, char *cell)
{
    if (((const struct kernel_row *)row)->mixed)
        strcpy(cell, "mixed");
    else
        print_class(source, row, cell);
}

static double value_shapes(const struct column_source *source, const void *row)
{
    (void)source;
    return (double)((const struct kernel_row *)row)->shapes;
}

static void print_shapes(const struct column_source *source, const void *row, char *cell)
{
    (void)source;
    format_count(cell, ((const struct kernel_row *)row)->shapes);
}

/* For `--sort` alone where the name isn't a cell. */
static void print_name(const struct column_source *source, const void *row, char *cell)
{
    const struct operator_row *op = row;
    (void)source;
    snprintf(cell, COLUMN_CELL_BYTES, "%s", op->name ? op->name : "");
}

/* ---- tables ---- */

/* What costs most comes first. All that only a shape can tell comes last: a row without one has its name there. */
/* clang-format off */
static const struct column shape_columns[] = {
    {.title = "GPU", .meaning = "number of the GPU, as the report lists them",
     .print = print_device, .identity = true, .several_devices = true},
    {.title = "%TIME", .meaning = "share of the kernel time of all GPUs",
     .key = "share", .print = print_share, .value = value_share},
    {.title = "TIME", .meaning = "time of its kernels, all executions together",
     .key = "time", .print = print_time, .value = value_time},
    {.title = "CALLS", .meaning = "calls or launches, as the program made them",
     .key = "calls", .print = print_calls, .value = value_calls},
    {.title = "KIND", .meaning = "what it is; x: products of one call",
     .key = "kind", .print = print_kind, .identity = true, .left = true, .loose = true, .least = 13,
     .ascending = true},
    {.title = "M", .meaning = "rows of the activation; of an attention queries",
     .key = "m", .print = print_m, .value = value_m, .identity = true, .shape = true},
    {.title = "N", .meaning = "output features; of an attention keys",
     .key = "n", .print = print_n, .value = value_n, .identity = true, .shape = true},
    {.title = "K", .meaning = "input features; of an attention the head dimension",
     .key = "k", .print = print_k, .value = value_k, .identity = true, .shape = true},
    {.title = "TYPES", .meaning = "of operands, / what they are multiplied in, > result, where these differ",
     .key = "types", .print = print_types, .identity = true, .shape = true, .left = true,
     .ascending = true},
    {.title = "FLOP/B", .meaning = "arithmetic intensity: FLOPs by bytes that must move at least",
     .key = "intensity", .print = print_intensity, .value = value_intensity, .shape = true},
    {.title = "CLASS", .meaning = "what bounds it on this GPU, by FLOP/B against the ridge",
     .key = "class", .print = print_class, .shape = true, .left = true, .coloured = true,
     .ascending = true},
    {.title = "TFLOP/s", .meaning = "FLOPs by time, as achieved",
     .key = "flops", .print = print_tera, .value = value_tera, .shape = true, .spare = 2},
    {.title = "GB/s", .meaning = "bytes that must move by time, as achieved",
     .key = "bytes", .print = print_giga, .value = value_giga, .shape = true, .spare = 1},
    {.title = "%ROOF", .meaning = "time at the roof by time: 100 is as fast as the GPU can",
     .key = "roof", .print = print_roof, .value = value_roof, .shape = true, .ascending = true},
    {.title = "%GAIN", .meaning = "share of busy time saved if it ran at the roof",
     .key = "gain", .print = print_gain, .value = value_gain, .shape = true, .spare = 3},
    {.title = "WEIGHTS", .meaning = "matrices of the model that it may have multiplied",
     .print = print_weights, .shape = true, .left = true, .of_model = true},
    {.title = "FLAGS", .meaning = "what is special about it: explained below the table",
     .print = print_flags, .shape = true, .left = true},
    {.title = NULL,      .key = "name", .print = print_name, .ascending = true},
};

static const struct column kernel_columns[] = {
    {.title = "GPU", .meaning = "number of the GPU, as the report lists them",
     .print = print_device, .several_devices = true},
    {.title = "%TIME", .meaning = "share of the kernel time of all GPUs",
     .key = "share", .print = print_share, .value = value_share},
    {.title = "TIME", .meaning = "time of its kernels, all shapes together",
     .key = "time", .print = print_time, .value = value_time},
    {.title = "CALLS", .meaning = "calls or launches, as the program made them",
     .key = "calls", .print = print_calls, .value = value_calls},
    {.title = "MEAN", .meaning = "mean time of one kernel",
     .key = "mean", .print = print_mean, .value = value_mean, .spare = 2},
    {.title = "KIND", .meaning = "what it is, by the call or by its name",
     .key = "kind", .print = print_kind, .left = true, .ascending = true},
    {.title = "SHAPES", .meaning = "how many different shapes are in this row",
     .key = "shapes", .print = print_shapes, .value = value_shapes, .spare = 3},
    {.title = "CLASS", .meaning = "what bounds it on this GPU; mixed: not the same for all of its shapes",
     .key = "class", .print = print_kernel_class, .left = true, .coloured = true,
     .ascending = true},
    {.title = "%ROOF", .meaning = "time at the roof by time: 100 is as fast as the GPU can",
     .key = "roof", .print = print_roof, .value = value_roof, .ascending = true},
    {.title = "%GAIN", .meaning = "share of busy time saved if it ran at the roof",
     .key = "gain", .print = print_gain, .value = value_gain, .spare = 1},
    {.title = "NAME", .meaning = "library function or kernel, shortened",
     .key = "name", .print = print_name, .left = true, .shape = true, .ascending = true},
};
/* clang-format on */

const struct column *columns(enum columns_of of, size_t *count)
{
    switch (of) {
    case COLUMNS_OF_WEIGHT:
        return weight_columns(count);
    case COLUMNS_OF_SKINNY:
        return weight_columns_skinny(count);
    case COLUMNS_OF_KERNEL:
        *count = sizeof kernel_columns / sizeof kernel_columns[0];
        return kernel_columns;
    default:
        *count = sizeof shape_columns / sizeof shape_columns[0];
        return shape_columns;
    }
}

const struct column *columns_by_key(enum columns_of of, const char *key)
{
    size_t count;
    const struct column *column = columns(of, &count);
    for (size_t i = 0; i < count; i++)
        if (column[i].key && !strcmp(column[i].key, key))
            return &column[i];
    return NULL;
}

bool columns_hidden(const struct column *column, const struct column_source *source)
{
    return !column->title || (column->several_devices && source->session->device_count < 2) ||
           (column->of_model && !source->model_books);
}

struct text_table *columns_table(enum columns_of of, const struct column_source *source)
{
    size_t count;
    const struct column *column = columns(of, &count);
    struct text_column text[TEXT_TABLE_COLUMNS_MOST] = {0};
    for (size_t c = 0; c < count; c++)
        text[c] = (struct text_column){
            .title = column[c].title,
            .hidden = columns_hidden(&column[c], source),
            .left = column[c].left,
            .named = column[c].shape,
            .loose = column[c].loose,
            .coloured = column[c].coloured,
            .spare = column[c].spare,
            .least = column[c].least,
        };
    return text_table_open(text, count);
}

void columns_add(struct text_table *table, enum columns_of of, const struct column_source *source, const void *row,
                 bool named, const char *name, enum colour colour)
{
    size_t count;
    const struct column *column = columns(of, &count);
    char text[TEXT_TABLE_COLUMNS_MOST][COLUMN_CELL_BYTES] = {{0}};
    const char *cells[TEXT_TABLE_COLUMNS_MOST] = {NULL};
    for (size_t c = 0; c < count; c++) {
        if (!named || !column[c].shape)
            column[c].print(source, row, text[c]);
        cells[c] = text[c];
    }
    if (named)
        text_table_add_named(table, cells, name, colour);
    else
        text_table_add(table, cells, colour);
}

/* ---- sorting ---- */

struct sorted {
    const void *row;
    size_t index;
    double value;
    char *text;
};

static int by_value(const void *left, const void *right)
{
    const struct sorted *a = left, *b = right;
    int order = a->text && b->text ? strcmp(a->text, b->text) : (a->value > b->value) - (a->value < b->value);
    return order ? order : (a->index > b->index) - (a->index < b->index);
}

void columns_sort(const struct column *column, const struct column_source *source, const void **rows, size_t count)
{
    struct sorted *sorted = allocate(count + 1, sizeof *sorted);
    char cell[COLUMN_CELL_BYTES];
    for (size_t i = 0; i < count; i++) {
        sorted[i] = (struct sorted){.row = rows[i], .index = i};
        if (column->value) {
            double value = column->value(source, rows[i]);
            sorted[i].value = isnan(value) ? INFINITY : column->ascending ? value : -value;
        } else {
            column->print(source, rows[i], cell);
            sorted[i].text = allocate_text(cell);
        }
    }
    if (count)
        qsort(sorted, count, sizeof *sorted, by_value);
    for (size_t i = 0; i < count; i++) {
        rows[i] = sorted[i].row;
        free(sorted[i].text);
    }
    free(sorted);
}
