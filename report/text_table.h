/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of cells in aligned columns that fit a width. A row may have a kernel's name in place of its last cells. */
#ifndef REPORT_TEXT_TABLE_H
#define REPORT_TEXT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/colour.h"

enum { TEXT_TABLE_CELL_BYTES = 96, TEXT_TABLE_COLUMNS_MOST = 24 };

struct text_column {
    const char *title;
    bool hidden;
    bool left;     /* aligned to the left */
    bool named;    /* a row with a name has it over these, the last */
    bool loose;    /* before a name it takes what room it needs, and widens no column */
    bool coloured; /* in the colour of its row */
    int spare;     /* left out where a narrow terminal lacks the room, 1 first; 0: never */
    size_t least;  /* its cells may be cut to so many columns where the spare ones to 3 were not enough; 0: never */
};

struct text_table;

struct text_table *text_table_open(const struct text_column *columns, size_t count); /* copies */

/* CELLS: one text a column. */
void text_table_add(struct text_table *table, const char *const *cells, enum colour colour);

/* The cells before the named ones, and the name of a kernel as it was recorded (NULL: not known). */
void text_table_add_named(struct text_table *table, const char *const *cells, const char *name, enum colour colour);

/* Behind the name of the row that was added last; NULL: nothing. */
void text_table_note(struct text_table *table, const char *note);

/* The same with a text of ours for a name. */
void text_table_add_text(struct text_table *table, const char *const *cells, const char *text);

/* Spare columns may be left out at any width, not at a narrow one alone: on a terminal, where a row that wraps can't be
 * read. */
void text_table_may_drop(struct text_table *table, bool may_drop);

/* Prints, closes, and frees it. */
void text_table_close(struct text_table *table, size_t width, bool colours, FILE *out);

#endif
