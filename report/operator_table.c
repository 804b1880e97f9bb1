/* SPDX-License-Identifier: Apache-2.0 */
/* Two walks over the same cells: one for the widths, one to print. A row without a shape knows nothing that stands in the
 * columns behind its kind, so its name has all their room. */
#include "report/operator_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "report/columns.h"
#include "report/format.h"
#include "report/row_names.h"
#include "report/safe_text.h"

enum {
    WIDE_GAP = 2,   /* columns between cells */
    NARROW_GAP = 1, /* where the table would be too wide otherwise */
    SPARE_MOST = 2,
    NARROW_WIDTH = 100, /* only terminals are that narrow */
    LEAST_NAME = 24,    /* columns for a name, however narrow the table may be */
};

struct table {
    const struct column *columns;
    size_t count;
    size_t *widths; /* 0: not shown */
    size_t gap;
    int left_out;      /* columns that are as spare as this, or more, are not shown */
    size_t name_width; /* of what is left for the name of a row without a shape */
    FILE *out;
};

static bool has_shape(const struct operator_row *op)
{
    return op->of_call && op->work.shape_known;
}

static void widen(size_t *width, const char *text)
{
    size_t wanted = safe_text_width(text);
    if (wanted > *width)
        *width = wanted;
}

static void find_widths(struct table *table, const struct session *session, size_t rows,
                        const struct operator_row *rest)
{
    char cell[COLUMN_CELL_BYTES];
    for (size_t c = 0; c < table->count; c++) {
        const struct column *column = &table->columns[c];
        if (column->several_devices && session->device_count < 2)
            continue;
        widen(&table->widths[c], column->title);
        for (size_t i = 0; i < rows; i++) {
            if (column->shape && !has_shape(&session->operators[i]))
                continue;
            column->print(&session->operators[i], cell);
            widen(&table->widths[c], cell);
        }
        if (rest && !column->shape) {
            column->print(rest, cell);
            widen(&table->widths[c], cell);
        }
    }
}

/* Of all columns, or of those before the shape's, with a gap behind each. */
static size_t width_of(const struct table *table, bool with_shape)
{
    size_t width = 0;
    for (size_t c = 0; c < table->count; c++)
        if (table->widths[c] && (with_shape || !table->columns[c].shape))
            width += table->widths[c] + table->gap;
    return width;
}

static bool too_wide(const struct table *table, size_t width)
{
    return width_of(table, true) - table->gap > width;
}

/* Rates can be worked out from the rest; a row that wraps can't be read. */
static void drop_spare(struct table *table, size_t width)
{
    for (int spare = 1; spare <= SPARE_MOST && too_wide(table, width); spare++)
        for (size_t c = 0; c < table->count; c++)
            if (table->columns[c].spare == spare) {
                table->widths[c] = 0;
                table->left_out = spare;
            }
}

static void fit(struct table *table, size_t width)
{
    table->gap = WIDE_GAP;
    if (too_wide(table, width))
        table->gap = NARROW_GAP;
    if (width < NARROW_WIDTH)
        drop_spare(table, width);
    size_t taken = width_of(table, false);
    table->name_width = width > taken + LEAST_NAME ? width - taken : LEAST_NAME;
}

/* PENDING blanks go before the next text only, so that no line ends in blanks. */
static void put(struct table *table, const char *text, size_t width, bool left, size_t *pending)
{
    size_t taken = safe_text_width(text), blanks = width > taken ? width - taken : 0;
    if (*text) {
        fprintf(table->out, "%*s%s", (int)(*pending + (left ? 0 : blanks)), "", text);
        *pending = left ? blanks : 0;
    } else {
        *pending += width;
    }
    *pending += table->gap;
}

static void print_left_out(const struct table *table)
{
    const char *comma = "(left out for want of room: ";
    for (size_t c = 0; c < table->count; c++)
        if (table->columns[c].spare && table->columns[c].spare <= table->left_out) {
            fprintf(table->out, "%s%s", comma, table->columns[c].title);
            comma = ", ";
        }
    if (table->left_out)
        fputs(")\n", table->out);
}

static void print_titles(struct table *table)
{
    size_t pending = 0;
    for (size_t c = 0; c < table->count; c++)
        if (table->widths[c])
            put(table, table->columns[c].title, table->widths[c], table->columns[c].left, &pending);
    fputc('\n', table->out);
}

/* NAME, where it is given, is written in place of the shape's columns. A row that stands for SEVERAL has no identity. */
static void print_row(struct table *table, const struct operator_row *op, const char *name, bool several)
{
    char cell[COLUMN_CELL_BYTES];
    size_t pending = 0;
    for (size_t c = 0; c < table->count; c++) {
        const struct column *column = &table->columns[c];
        if (!table->widths[c] || (column->shape && name))
            continue;
        if (several && column->identity)
            cell[0] = '\0';
        else
            column->print(op, cell);
        put(table, cell, table->widths[c], column->left, &pending);
    }
    if (name)
        put(table, name, 0, true, &pending);
    fputc('\n', table->out);
}

static void print_operators(struct table *table, const struct session *session, size_t rows)
{
    const char **recorded = allocate(rows + 1, sizeof *recorded);
    size_t count = 0, next = 0;
    for (size_t i = 0; i < rows; i++)
        if (!has_shape(&session->operators[i]))
            recorded[count++] = session->operators[i].name;
    char **names = row_names(recorded, count, table->name_width);
    for (size_t i = 0; i < rows; i++) {
        const struct operator_row *op = &session->operators[i];
        print_row(table, op, has_shape(op) ? NULL : names[next++], false);
    }
    row_names_free(names, count);
    free(recorded);
}

/* Sums what can be summed: of calls that nobody counted there is no sum. */
static struct operator_row rest_of(const struct session *session, size_t from)
{
    struct operator_row rest = {.device = SESSION_DEVICE_UNKNOWN, .calls_known = true, .share = NAN};
    rest.roofline = (struct roofline){
        .intensity = NAN, .ridge = NAN, .flops_per_second = NAN, .bytes_per_second = NAN, .roof_fraction = NAN};
    for (size_t i = from; i < session->operator_count; i++) {
        const struct operator_row *op = &session->operators[i];
        rest.calls_known &= op->calls_known;
        rest.timed |= op->timed;
        rest.calls += op->calls;
        rest.kernels += op->kernels;
        sum_add(&rest.time_ns, op->time_ns);
    }
    if (session->coverage.gpu_time_ns > 0)
        rest.share = (double)rest.time_ns / session->coverage.gpu_time_ns;
    return rest;
}

size_t operator_table_print(const struct session *session, size_t rows, size_t width, FILE *out)
{
    struct table table = {.out = out};
    bool folded = rows + 1 < session->operator_count; /* one row is not worth a fold */
    struct operator_row rest;
    table.columns = columns(&table.count);
    table.widths = allocate(table.count, sizeof *table.widths);
    if (!folded)
        rows = session->operator_count;
    else
        rest = rest_of(session, rows);
    find_widths(&table, session, rows, folded ? &rest : NULL);
    fit(&table, width);
    print_titles(&table);
    print_operators(&table, session, rows);
    if (folded) {
        char name[64], number[FORMAT_BYTES];
        snprintf(name, sizeof name, "(%s more rows: --all)", format_count(number, session->operator_count - rows));
        print_row(&table, &rest, name, true);
    }
    print_left_out(&table);
    free(table.widths);
    return rows;
}
