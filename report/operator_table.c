/* SPDX-License-Identifier: Apache-2.0 */
/* Two walks over the same cells: one for the widths, one to print. */
#include "report/operator_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "report/columns.h"
#include "report/format.h"
#include "report/safe_text.h"

enum {
    GAP = 2,          /* columns between cells */
    SHAPE_WIDTH = 34, /* that the shape's columns take at least, since names are written over them */
};

struct table {
    const struct column *columns;
    size_t count;
    size_t *widths;     /* 0: not shown */
    size_t shape_width; /* of all shape columns and the gaps between them */
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
    size_t shape_columns = 0, last_shape = 0;
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
        if (column->shape) {
            table->shape_width += table->widths[c] + (shape_columns++ ? GAP : 0);
            last_shape = c;
        }
    }
    if (table->shape_width < SHAPE_WIDTH) {
        table->widths[last_shape] += SHAPE_WIDTH - table->shape_width;
        table->shape_width = SHAPE_WIDTH;
    }
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
    *pending += GAP;
}

static void print_titles(struct table *table)
{
    size_t pending = 0;
    for (size_t c = 0; c < table->count; c++)
        if (table->widths[c])
            put(table, table->columns[c].title, table->widths[c], table->columns[c].left, &pending);
    fputc('\n', table->out);
}

/* NAME is written over the shape's columns where it is given. */
static void print_row(struct table *table, const struct operator_row *op, const char *name)
{
    char cell[COLUMN_CELL_BYTES];
    size_t pending = 0;
    bool name_written = false;
    for (size_t c = 0; c < table->count; c++) {
        const struct column *column = &table->columns[c];
        if (!table->widths[c])
            continue;
        if (column->shape && name) {
            if (!name_written)
                put(table, name, table->shape_width, true, &pending);
            name_written = true;
            continue;
        }
        column->print(op, cell);
        put(table, cell, table->widths[c], column->left, &pending);
    }
    fputc('\n', table->out);
}

static void print_operator(struct table *table, const struct operator_row *op)
{
    if (has_shape(op)) {
        print_row(table, op, NULL);
        return;
    }
    char *name = safe_text_terminal(op->name ? op->name : "(name not known)");
    safe_text_cut(name, table->shape_width);
    print_row(table, op, name);
    free(name);
}

/* Sums what can be summed. Its device is not known, its class neither. */
static struct operator_row rest_of(const struct session *session, size_t from)
{
    struct operator_row rest = {.kind = OPERATOR_OTHER, .device = SESSION_DEVICE_UNKNOWN, .share = NAN};
    rest.roofline = (struct roofline){
        .intensity = NAN, .ridge = NAN, .flops_per_second = NAN, .bytes_per_second = NAN, .roof_fraction = NAN};
    for (size_t i = from; i < session->operator_count; i++) {
        const struct operator_row *op = &session->operators[i];
        rest.calls_known |= op->calls_known;
        rest.timed |= op->timed;
        rest.calls += op->calls;
        rest.kernels += op->kernels;
        rest.time_ns += op->time_ns;
    }
    if (session->coverage.gpu_time_ns > 0)
        rest.share = (double)rest.time_ns / session->coverage.gpu_time_ns;
    return rest;
}

void operator_table_print(const struct session *session, size_t rows, FILE *out)
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
    print_titles(&table);
    for (size_t i = 0; i < rows; i++)
        print_operator(&table, &session->operators[i]);
    if (folded) {
        char name[64], number[FORMAT_BYTES];
        snprintf(name, sizeof name, "(%s more rows: --all)", format_count(number, session->operator_count - rows));
        print_row(&table, &rest, name);
    }
    free(table.widths);
}
