/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of the tables: one row a column, walked to print titles, widths and cells, and to sort. */
#ifndef REPORT_COLUMNS_H
#define REPORT_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "classify/session.h"
#include "report/text_table.h"

enum { COLUMN_CELL_BYTES = TEXT_TABLE_CELL_BYTES, COLUMN_SHAPE_BYTES = 3 * COLUMN_CELL_BYTES + 16 };

/* What cells are made from. */
struct model_books;
struct operator_rows;

struct column_source {
    const struct session *session;
    const struct model_books *model_books; /* a GGUF whose matrices the rows may be; NULL: none */
    double *base_ns; /* by device: the time that it was busy, or would be at the roof; 0: not known */
    bool by_roof;    /* nothing was timed */
    const struct operator_rows *kernels; /* of operator_rows_by_kernel() where they are at hand; else NULL */
};

struct column_source column_source_of(const struct session *session);
void column_source_free(struct column_source *source);

struct column {
    const char *title;
    const char *meaning;  /* in a few words, for a page; NULL only where there is no title */
    const char *key;      /* of `--sort`; NULL: it is not sorted by */
    bool left;            /* aligned to the left */
    bool shape;           /* a row without a shape has its name over these, the last */
    bool loose;           /* before a name it widens no column */
    bool identity;        /* rows that differ in none of these look alike */
    bool several_devices; /* shown only where there are several devices */
    bool of_model;        /* shown only where there is a model whose matrices have names */
    bool coloured;        /* in the colour of the row's class */
    bool ascending;       /* sorted smallest first */
    size_t least;         /* columns that its cells may be cut to there; 0: never */
    int spare;            /* left out where a narrow terminal lacks the room, 1 first; 0: never */
    void (*print)(const struct column_source *source, const void *row, char *cell); /* into COLUMN_CELL_BYTES */
    double (*value)(const struct column_source *source, const void *row); /* to sort by; NAN: last. NULL: by the cell */
};

/* What a row of the operator table is, and so of what type ROW above is. */
enum columns_of {
    COLUMNS_OF_SHAPE,  /* struct operator_row: each different call, kernels by name */
    COLUMNS_OF_WEIGHT, /* struct weight_row */
    COLUMNS_OF_KERNEL, /* struct kernel_row: all shapes of a function or kernel */
    COLUMNS_OF_SKINNY, /* struct weight_row: what holds it back, and what would help */
    COLUMNS_OF_COUNT,
};

const struct column *columns(enum columns_of of, size_t *count);
const struct column *columns_by_key(enum columns_of of, const char *key); /* NULL: there is none */

/* The table has no such column: it is for sorting alone, or about what is not in this session. */
bool columns_hidden(const struct column *column, const struct column_source *source);

struct text_table *columns_table(enum columns_of of, const struct column_source *source);
/* NAMED: the name NAME stands in place of the shape. */
void columns_add(struct text_table *table, enum columns_of of, const struct column_source *source, const void *row,
                 bool named, const char *name, enum colour colour);

/* COUNT pointers to rows, in place; equal ones stay as they were. */
void columns_sort(const struct column *column, const struct column_source *source, const void **rows, size_t count);

/* "M 1  N 4096  K 4096", into COLUMN_SHAPE_BYTES; and what TYPES shows: for texts elsewhere. */
void columns_shape(const struct operator_row *op, char *text);
void columns_types(const struct operator_row *op, char *cell);
void columns_weight_types(const struct session *session, const struct weight_row *weight, char *cell);

/* A share of the device's base_ns; NAN: that isn't known. */
double columns_busy_share(const struct column_source *source, int device, double ns);
/* What %GAIN shows; of a struct kernel_row, too. NAN: not known. */
double columns_gain_share(const struct column_source *source, const struct operator_row *op);

#endif
