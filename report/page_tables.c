/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the columns as the text report does, so that a column of columns.c is on the page as well. Every text of a stranger
 * goes through html_text. */
#include "report/page_tables.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/launch_groups.h"
#include "report/demangle.h"
#include "report/format.h"
#include "report/html_text.h"
#include "report/meanings.h"
#include "report/operator_rows.h"
#include "report/operator_table.h"
#include "report/report_text.h"
#include "report/row_names.h"
#include "report/skinny.h"
#include "report/text_stream.h"

enum {
    NAME_WIDTH = 72,   /* columns of a name in a cell */
    NAME_BYTES = 1024, /* of the whole name beside it */
    NOTES_MOST = 32,   /* weights and groups below the skinny table */
};

struct page_table {
    enum columns_of of;
    const char *by;      /* data-by, and `--by` */
    const char *caption; /* as it is: ours; without its order */
    const struct column_source *source;
    struct operator_rows *rows;
    struct demangler *demangler;
    FILE *out;
};

/* ---- one row ---- */

static bool is_named(const struct page_table *table, const void *row)
{
    return table->of == COLUMNS_OF_KERNEL || (table->of == COLUMNS_OF_SHAPE && !operator_has_shape(row));
}

static const char *bound_of_weight(const struct session *session, const struct weight_row *weight)
{
    enum bound bound = BOUND_UNKNOWN;
    for (size_t i = 0; i < weight->operator_count; i++) {
        enum bound other = session->operators[weight->operators[i]].roofline.bound;
        if (i && other != bound)
            return "mixed";
        bound = other;
    }
    return bound_name(bound);
}

static const char *bound_of(const struct page_table *table, const void *row)
{
    if (table->of == COLUMNS_OF_WEIGHT || table->of == COLUMNS_OF_SKINNY)
        return bound_of_weight(table->source->session, row);
    if (table->of == COLUMNS_OF_KERNEL && ((const struct kernel_row *)row)->mixed)
        return "mixed";
    return bound_name(((const struct operator_row *)row)->roofline.bound);
}

/* In the JSON's list of the same rows. */
static size_t place_of(const struct page_table *table, const void *row)
{
    const struct session *session = table->source->session;
    if (table->of == COLUMNS_OF_KERNEL)
        return ((const struct kernel_row *)row)->place;
    if (table->of == COLUMNS_OF_SHAPE)
        return (size_t)((const struct operator_row *)row - session->operators);
    return (size_t)((const struct weight_row *)row - session->weights);
}

static void print_cell(const struct page_table *table, const struct column *column, const void *row)
{
    char cell[COLUMN_CELL_BYTES];
    double value = column->value ? column->value(table->source, row) : NAN;
    column->print(table->source, row, cell);
    fprintf(table->out, "<td class=\"%s%s\"", column->left ? "left" : "num", column->coloured ? " bound" : "");
    if (isinf(value))
        fputs(value > 0 ? " data-v=\"Infinity\"" : " data-v=\"-Infinity\"", table->out);
    else if (!isnan(value))
        fprintf(table->out, " data-v=\"%.9g\"", value);
    fputc('>', table->out);
    html_text_print(table->out, cell);
    fputs("</td>", table->out);
}

/* SHOWN: the name as it is shown; the whole of it is for those who point at it. */
static void print_name(const struct page_table *table, const struct operator_row *op, const char *shown, size_t columns)
{
    char *whole = op->name ? demangler_name(table->demangler, op->name) : NULL;
    fprintf(table->out, "<td class=\"left name\" colspan=\"%zu\"", columns);
    if (whole && strcmp(whole, shown)) {
        fputs(" title=\"", table->out);
        html_text_print_cut(table->out, whole, NAME_BYTES);
        fputc('"', table->out);
    }
    fputc('>', table->out);
    html_text_print(table->out, shown);
    html_text_print(table->out, operator_table_note(op));
    fputs("</td>", table->out);
    free(whole);
}

/* Columns that a name stands over, as far as they are shown. */
static size_t named_columns(const struct page_table *table)
{
    size_t count, named = 0;
    const struct column *column = columns(table->of, &count);
    for (size_t c = 0; c < count; c++)
        named += column[c].shape && !columns_hidden(&column[c], table->source);
    return named;
}

/* NAME: NULL: all that the columns tell. */
static void print_row(const struct page_table *table, const void *row, const char *name)
{
    size_t count;
    const struct column *column = columns(table->of, &count);
    fprintf(table->out, "<tr data-index=\"%zu\" data-bound=\"%s\">", place_of(table, row), bound_of(table, row));
    for (size_t c = 0; c < count; c++)
        if (!columns_hidden(&column[c], table->source) && !(name && column[c].shape))
            print_cell(table, &column[c], row);
    if (name)
        print_name(table, row, name, named_columns(table));
    fputs("</tr>\n", table->out);
}

/* ---- the table around them ---- */

static void print_titles(const struct page_table *table)
{
    size_t count;
    const struct column *column = columns(table->of, &count);
    fputs("<thead><tr>", table->out);
    for (size_t c = 0; c < count; c++) {
        if (columns_hidden(&column[c], table->source))
            continue;
        fprintf(table->out, "<th scope=\"col\" class=\"%s\"", column[c].left ? "left" : "num");
        if (column[c].key)
            fprintf(table->out, " data-key=\"%s\"%s", column[c].key, column[c].ascending ? " data-ascending" : "");
        fputs(" title=\"", table->out);
        html_text_print(table->out, column[c].meaning);
        fputs("\">", table->out);
        html_text_print(table->out, column[c].title);
        fputs("</th>", table->out);
    }
    fputs("</tr></thead>\n", table->out);
}

static void print_rows(const struct page_table *table)
{
    size_t named = 0, next = 0;
    const struct operator_rows *rows = table->rows;
    const char **recorded = allocate(rows->shown + 1, sizeof *recorded);
    for (size_t i = 0; i < rows->shown; i++)
        if (is_named(table, rows->rows[i]))
            recorded[named++] = ((const struct operator_row *)rows->rows[i])->name;
    char **names = row_names(recorded, named, NAME_WIDTH);
    fputs("<tbody>\n", table->out);
    for (size_t i = 0; i < rows->shown; i++)
        print_row(table, rows->rows[i], is_named(table, rows->rows[i]) ? names[next++] : NULL);
    fputs("</tbody>\n", table->out);
    row_names_free(names, named);
    free(recorded);
}

/* The sum that stands under a column of KEY; NULL: there is none. */
static const char *sum_of(const struct session *session, const struct operator_rest *rest, const char *key, char *text)
{
    const double all = session->coverage.gpu_time_ns, time_ns = rest->timed ? (double)rest->time_ns : NAN;
    if (key && !strcmp(key, "time"))
        return format_duration(text, time_ns);
    if (key && !strcmp(key, "share"))
        return format_share(text, all > 0 ? time_ns / all : NAN);
    if (key && !strcmp(key, "calls"))
        return rest->calls_known ? format_count(text, rest->calls) : FORMAT_UNKNOWN;
    return NULL;
}

/* Sums in their columns, and behind the last of them how many rows that is. */
static void print_rest(const struct page_table *table)
{
    const struct view view = {.by = table->of == COLUMNS_OF_SKINNY ? COLUMNS_OF_WEIGHT : table->of};
    const struct operator_rest rest = operator_rows_rest(&view, table->rows);
    const struct session *session = table->source->session;
    size_t count, last = 0, left = 0;
    const struct column *column = columns(table->of, &count);
    char text[FORMAT_BYTES];
    for (size_t c = 0; c < count; c++)
        if (!columns_hidden(&column[c], table->source) && sum_of(session, &rest, column[c].key, text))
            last = c;
    fputs("<tfoot><tr>", table->out);
    for (size_t c = 0; c < count; c++) {
        if (columns_hidden(&column[c], table->source))
            continue;
        const char *sum = c <= last ? sum_of(session, &rest, column[c].key, text) : NULL;
        if (c <= last)
            fprintf(table->out, "<td class=\"num\">%s</td>", sum ? sum : "");
        left += c > last;
    }
    fprintf(table->out, "<td class=\"left\" colspan=\"%zu\">(%s more rows: rooftap report %s%s)</td></tr></tfoot>\n",
            left, format_count(text, table->rows->count - table->rows->shown),
            table->of == COLUMNS_OF_SKINNY ? "--skinny" : "--all --by ",
            table->of == COLUMNS_OF_SKINNY ? "" : table->by);
}

/* LINE, whose arrows stay whole: one would be broken after its "-". */
static void print_item(char *line, FILE *out)
{
    for (char *arrow; (arrow = strstr(line, "->")); line = arrow + 2) {
        *arrow = '\0';
        html_text_print(out, line);
        fputs("<span class=\"whole\">-&gt;</span>", out);
    }
    html_text_print(out, line);
}

/* LINES of a text for people as items; blank ones and blanks before them are left out. */
static void print_items(char *lines, FILE *out)
{
    bool any = false;
    for (char *rest = lines, *line; (line = strtok_r(rest, "\n", &rest));) {
        line += strspn(line, " ");
        if (!*line)
            continue;
        fputs(any ? "<li>" : "<ul class=\"notes\">\n<li>", out);
        print_item(line, out);
        fputs("</li>\n", out);
        any = true;
    }
    if (any)
        fputs("</ul>\n", out);
}

/* What says how rows are sorted; that of skinny weights is by what they would save. */
static const char *order_words(const struct page_table *table)
{
    if (table->of == COLUMNS_OF_SKINNY)
        return "";
    return table->source->by_roof ? "; nothing was timed" : ", longest time first";
}

static void print_table(const struct page_table *table)
{
    const struct column_source *source = table->source;
    fprintf(table->out, "<table class=\"rows\" data-by=\"%s\"><caption>%s%s%s</caption>\n", table->by, table->caption,
            order_words(table),
            !source->session->simulated ? ""
            : source->by_roof           ? " (a simulated GPU)"
                                        : " (simulated times)");
    print_titles(table);
    print_rows(table);
    if (table->rows->shown < table->rows->count)
        print_rest(table);
    fputs("</table>\n", table->out);
}

/* ---- which tables ---- */

static void print_meanings(const struct page_table *table)
{
    char *lines = NULL;
    size_t bytes = 0;
    FILE *text = text_stream_open(&lines, &bytes);
    if (!text)
        return;
    meanings_print(table->source->session, table->rows, text);
    if (!fclose(text))
        print_items(lines, table->out);
    free(lines);
}

static void print_by(struct page_table table, size_t most, const char *none)
{
    const struct view view = {.rows = most, .rows_asked_for = true, .by = table.of};
    struct operator_rows rows = operator_rows_of(table.source, &view);
    table.rows = &rows;
    fprintf(table.out, "<div class=\"by\" data-by=\"%s\"%s>\n", table.by,
            table.of == COLUMNS_OF_SHAPE ? "" : " hidden");
    if (rows.count)
        print_table(&table);
    else
        fprintf(table.out, "<p class=\"note\">%s</p>\n", none);
    if (table.of == COLUMNS_OF_SHAPE)
        print_meanings(&table);
    fputs("</div>\n", table.out);
    operator_rows_free(&rows);
}

void page_tables_print(const struct column_source *source, size_t rows, FILE *out)
{
    /* clang-format off */
    static const struct { enum columns_of of; const char *by, *caption, *none; } tables[] = {
        {COLUMNS_OF_SHAPE, "shape", "Each different call, and kernels that no call owns",
         "no call and no kernel of this run is known"},
        {COLUMNS_OF_WEIGHT, "weight", "Each different weight, whatever it is multiplied with",
         "no call of this run has an operand that is known to be a weight"},
        {COLUMNS_OF_KERNEL, "kernel", "Each library function and kernel with all of its shapes",
         "no call and no kernel of this run is known"},
    };
    /* clang-format on */
    struct demangler *demangler = demangler_open(DEMANGLE_LIBRARY);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        print_by((struct page_table){.of = tables[i].of,
                                     .by = tables[i].by,
                                     .caption = tables[i].caption,
                                     .source = source,
                                     .demangler = demangler,
                                     .out = out},
                 rows, tables[i].none);
    demangler_close(demangler);
}

static char *skinny_caption(const struct column_source *source)
{
    char *caption = NULL;
    size_t bytes = 0;
    FILE *text = text_stream_open(&caption, &bytes);
    if (!text)
        return NULL;
    skinny_print_title(source, text);
    fclose(text);
    return caption;
}

/* Weights that nothing lets become compute-bound, so few blocks that bandwidth is lost, and products of one activation. */
static void print_skinny_notes(const struct page_table *table)
{
    const struct view view = {.by = COLUMNS_OF_SKINNY};
    char *lines = NULL, number[FORMAT_BYTES];
    size_t bytes = 0, told = table->rows->shown < NOTES_MOST ? table->rows->shown : NOTES_MOST;
    FILE *text = text_stream_open(&lines, &bytes);
    if (!text)
        return;
    fprintf(text, "%s\n", skinny_legend);
    if (told < table->rows->shown)
        fprintf(text, "below, of the first %s weights and groups:\n", format_count(number, told));
    skinny_print_notes(table->source, &view, table->rows->rows, told, NOTES_MOST, text);
    if (!fclose(text))
        print_items(lines, table->out);
    free(lines);
}

void page_skinny_print(const struct column_source *source, size_t rows, FILE *out)
{
    struct operator_rows list = {0};
    list.rows = skinny_list(source->session, &list.count);
    list.shown = list.count < rows ? list.count : rows;
    char *caption = skinny_caption(source);
    const struct page_table table = {
        .of = COLUMNS_OF_SKINNY, .by = "skinny", .caption = caption, .source = source, .rows = &list, .out = out};
    if (list.count && caption) {
        print_table(&table);
        print_skinny_notes(&table);
    } else {
        fputs("<p class=\"note\">no weight of this run is skinny or starved</p>\n", out);
    }
    free(caption);
    operator_rows_free(&list);
}
