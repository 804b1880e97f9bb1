/* SPDX-License-Identifier: Apache-2.0 */
/* All cells are kept until the last row is known: widths first, then names, which have what is left of the width. */
#include "report/text_table.h"

#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "report/row_names.h"
#include "report/safe_text.h"

enum {
    WIDE_GAP = 2,   /* columns between cells */
    NARROW_GAP = 1, /* where the table would be too wide otherwise */
    SPARE_MOST = 9,
    SPARE_BEFORE_CUT = 3,
    NARROW_WIDTH = 100, /* only terminals are that narrow */
    LEAST_NAME = 24,    /* columns for a name, however narrow the table may be */
};

enum row_kind { ROW_CELLS, ROW_NAMED, ROW_TEXT };

struct row {
    enum row_kind kind;
    enum colour colour;
    char *cells[TEXT_TABLE_COLUMNS_MOST];
    char *name; /* recorded, or our text */
    char *note; /* behind it; NULL: none */
};

struct text_table {
    struct text_column columns[TEXT_TABLE_COLUMNS_MOST];
    size_t count;
    size_t widths[TEXT_TABLE_COLUMNS_MOST]; /* 0: not shown */
    size_t gap;
    int left_out;      /* columns at least as spare as this are not shown */
    size_t least_name; /* what names take, shortened to LEAST_NAME; 0: there is none */
    size_t note_width; /* of the longest note behind one */
    size_t name_width; /* of what is left for a name */
    struct row *rows;
    size_t row_count, row_capacity;
    bool may_drop, colours;
    FILE *out;
};

struct text_table *text_table_open(const struct text_column *columns, size_t count)
{
    struct text_table *table = allocate(1, sizeof *table);
    if (count > TEXT_TABLE_COLUMNS_MOST)
        abort();
    memcpy(table->columns, columns, count * sizeof *columns);
    table->count = count;
    return table;
}

void text_table_may_drop(struct text_table *table, bool may_drop)
{
    table->may_drop = may_drop;
}

static struct row *add(struct text_table *table, const char *const *cells, enum row_kind kind, enum colour colour)
{
    table->rows = allocate_grow(table->rows, table->row_count, &table->row_capacity, sizeof *table->rows);
    struct row *row = &table->rows[table->row_count++];
    *row = (struct row){.kind = kind, .colour = colour};
    for (size_t c = 0; c < table->count; c++)
        if (!table->columns[c].hidden && (kind == ROW_CELLS || !table->columns[c].named))
            row->cells[c] = allocate_text(cells[c]);
    return row;
}

void text_table_add(struct text_table *table, const char *const *cells, enum colour colour)
{
    add(table, cells, ROW_CELLS, colour);
}

void text_table_add_named(struct text_table *table, const char *const *cells, const char *name, enum colour colour)
{
    add(table, cells, ROW_NAMED, colour)->name = allocate_text(name);
}

void text_table_note(struct text_table *table, const char *note)
{
    table->rows[table->row_count - 1].note = allocate_text(note);
}

void text_table_add_text(struct text_table *table, const char *const *cells, const char *text)
{
    add(table, cells, ROW_TEXT, COLOUR_NONE)->name = allocate_text(text);
}

static void widen(size_t *width, const char *text)
{
    size_t wanted = safe_text_width(text);
    if (wanted > *width)
        *width = wanted;
}

static void find_widths(struct text_table *table)
{
    for (size_t c = 0; c < table->count; c++) {
        if (table->columns[c].hidden)
            continue;
        widen(&table->widths[c], table->columns[c].title);
        for (size_t i = 0; i < table->row_count; i++)
            if (table->rows[i].cells[c] && !(table->columns[c].loose && table->rows[i].kind == ROW_NAMED))
                widen(&table->widths[c], table->rows[i].cells[c]);
    }
}

/* Of all columns, or of those that no name takes, with a gap behind each. */
static size_t width_of(const struct text_table *table, bool with_named)
{
    size_t width = 0;
    for (size_t c = 0; c < table->count; c++)
        if (table->widths[c] && (with_named || !table->columns[c].named))
            width += table->widths[c] + table->gap;
    return width;
}

/* Names as they are shown in WIDTH columns, row by row; the count goes to *COUNT. */
static char **shown_names(const struct text_table *table, size_t width, size_t *count)
{
    const char **recorded = allocate(table->row_count + 1, sizeof *recorded);
    *count = 0;
    for (size_t i = 0; i < table->row_count; i++)
        if (table->rows[i].kind == ROW_NAMED)
            recorded[(*count)++] = table->rows[i].name;
    char **names = row_names(recorded, *count, width);
    free(recorded);
    return names;
}

static void find_least_name(struct text_table *table)
{
    size_t count;
    char **names = shown_names(table, LEAST_NAME, &count);
    for (size_t i = 0; i < count; i++)
        widen(&table->least_name, names[i]);
    row_names_free(names, count);
    for (size_t i = 0; i < table->row_count; i++)
        if (table->rows[i].note)
            widen(&table->note_width, table->rows[i].note);
}

/* What loose cells take of the room for names, at most. */
static size_t loose_width(const struct text_table *table)
{
    size_t most = 0;
    for (size_t i = 0; i < table->row_count; i++) {
        size_t more = 0;
        for (size_t c = 0; c < table->count; c++) {
            if (!table->columns[c].loose || !table->rows[i].cells[c] || table->rows[i].kind != ROW_NAMED)
                continue;
            size_t taken = safe_text_width(table->rows[i].cells[c]);
            more += taken > table->widths[c] ? taken - table->widths[c] : 0;
        }
        most = more > most ? more : most;
    }
    return most;
}

/* Rows of cells and rows with a name, whichever need more. */
static bool too_wide(const struct text_table *table, size_t width)
{
    size_t named =
        table->least_name ? width_of(table, false) + loose_width(table) + table->least_name + table->note_width : 0;
    return width_of(table, true) - table->gap > width || named > width;
}

static void cut_cells(struct text_table *table, size_t width)
{
    for (size_t c = 0; c < table->count; c++)
        while (table->columns[c].least && table->widths[c] > table->columns[c].least && too_wide(table, width))
            table->widths[c]--;
}

/* What can be worked out from the rest goes first; a row that wraps can't be read. */
static void drop_spare(struct text_table *table, size_t width)
{
    for (int spare = 1; spare <= SPARE_MOST && too_wide(table, width); spare++) {
        for (size_t c = 0; c < table->count; c++)
            if (table->columns[c].spare == spare && table->widths[c]) {
                table->widths[c] = 0;
                table->left_out = spare;
            }
        if (spare == SPARE_BEFORE_CUT)
            cut_cells(table, width);
    }
}

static void fit(struct text_table *table, size_t width)
{
    table->gap = WIDE_GAP;
    if (too_wide(table, width))
        table->gap = NARROW_GAP;
    if (table->may_drop || width < NARROW_WIDTH)
        drop_spare(table, width);
    size_t taken = width_of(table, false) + loose_width(table) + table->note_width;
    table->name_width = width > taken + LEAST_NAME ? width - taken : LEAST_NAME;
}

/* PENDING blanks go before the next text only, so that no line ends in blanks. */
static void put(struct text_table *table, const char *text, size_t width, bool left, enum colour colour,
                size_t *pending)
{
    size_t taken = safe_text_width(text), blanks = width > taken ? width - taken : 0;
    if (*text) {
        fprintf(table->out, "%*s", (int)(*pending + (left ? 0 : blanks)), "");
        colour_begin(colour, table->colours, table->out);
        fputs(text, table->out);
        colour_end(colour, table->colours, table->out);
        *pending = left ? blanks : 0;
    } else {
        *pending += width;
    }
    *pending += table->gap;
}

static void print_titles(struct text_table *table)
{
    size_t pending = 0;
    for (size_t c = 0; c < table->count; c++)
        if (table->widths[c])
            put(table, table->columns[c].title, table->widths[c], table->columns[c].left, COLOUR_NONE, &pending);
    fputc('\n', table->out);
}

/* NAME, where it is given, is written in place of the named columns. */
static void print_row(struct text_table *table, const struct row *row, const char *name)
{
    size_t pending = 0;
    for (size_t c = 0; c < table->count; c++)
        if (table->columns[c].least && row->kind == ROW_CELLS && row->cells[c])
            safe_text_cut_middle(row->cells[c], table->widths[c]);
    for (size_t c = 0; c < table->count; c++)
        if (table->widths[c] && row->cells[c])
            put(table, row->cells[c], table->widths[c], table->columns[c].left,
                table->columns[c].coloured ? row->colour : COLOUR_NONE, &pending);
    if (name)
        put(table, name, 0, true, COLOUR_NONE, &pending);
    if (row->note)
        fputs(row->note, table->out);
    fputc('\n', table->out);
}

static void print_rows(struct text_table *table)
{
    size_t count, next = 0;
    char **names = shown_names(table, table->name_width, &count);
    for (size_t i = 0; i < table->row_count; i++) {
        const struct row *row = &table->rows[i];
        print_row(table, row, row->kind == ROW_NAMED ? names[next++] : row->name);
    }
    row_names_free(names, count);
}

static void print_left_out(const struct text_table *table)
{
    const char *comma = "(left out for want of room: ";
    for (size_t c = 0; c < table->count; c++)
        if (!table->columns[c].hidden && table->columns[c].spare && table->columns[c].spare <= table->left_out) {
            fprintf(table->out, "%s%s", comma, table->columns[c].title);
            comma = ", ";
        }
    if (table->left_out)
        fputs(")\n", table->out);
}

void text_table_close(struct text_table *table, size_t width, bool colours, FILE *out)
{
    table->out = out;
    table->colours = colours;
    find_widths(table);
    find_least_name(table);
    fit(table, width);
    print_titles(table);
    print_rows(table);
    print_left_out(table);
    for (size_t i = 0; i < table->row_count; i++) {
        for (size_t c = 0; c < table->count; c++)
            free(table->rows[i].cells[c]);
        free(table->rows[i].name);
        free(table->rows[i].note);
    }
    free(table->rows);
    free(table);
}
