/* SPDX-License-Identifier: Apache-2.0 */
/* One function for each place of the page. How many rows fit is found by making the page, in memory. */
#include "report/report_html.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classify/advice.h"
#include "classify/verdict.h"
#include "report/columns.h"
#include "report/html_text.h"
#include "report/page_data.h"
#include "report/page_tables.h"
#include "report/page_template.h"
#include "report/report_json.h"
#include "report/report_text.h"
#include "report/roofline_svg.h"
#include "report/verdict_text.h"
#include "report/view.h"

enum { TEXT_BYTES = 96 << 10, TEXT_ROWS = 30, TRIES = 12 };

struct source {
    const struct session *session;
    const struct books *books;
    const struct model_books *model_books;
    struct column_source columns;
    struct report_json *json;
    char *verdict, *text; /* the same however many rows there are */
    size_t rows;          /* SIZE_MAX: all */
    bool failed;          /* memory ran out */
};

/* ---- what there is as text, too ---- */

static char *verdict_of_session(const struct session *session)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        return NULL;
    struct advice_list advice = advice_find(session);
    struct verdict verdict = verdict_of(session, &advice);
    verdict_text_print(session, &advice, &verdict, out);
    advice_free(&advice);
    fclose(out);
    return text;
}

static size_t lines_of(const char *text)
{
    size_t lines = 0;
    for (; (text = strchr(text, '\n')); text++)
        lines++;
    return lines;
}

/* Whole lines, as many as fit, and one that says how many don't. */
static void cut_text(char *text, size_t bytes)
{
    if (bytes <= TEXT_BYTES)
        return;
    size_t end = TEXT_BYTES - 128;
    while (end && text[end - 1] != '\n')
        end--;
    size_t lines = lines_of(text + end);
    sprintf(text + end, "… %zu more lines: 'rooftap report DIR' prints them all\n", lines);
}

static char *text_of_session(const struct source *source)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    const struct view view = {.rows = TEXT_ROWS,
                              .width = REPORT_TEXT_WIDTH,
                              .by = COLUMNS_OF_SHAPE,
                              .books = source->books,
                              .model_books = source->model_books};
    if (!out)
        return NULL;
    report_text(source->session, &view, out);
    fclose(out);
    if (text)
        cut_text(text, bytes);
    return text;
}

/* ---- places ---- */

static void print_verdict(struct source *source, FILE *out)
{
    html_text_print(out, source->verdict);
}

static void print_picture(struct source *source, FILE *out)
{
    roofline_svg_print(source->session, source->rows, out);
}

static void print_tables(struct source *source, FILE *out)
{
    page_tables_print(&source->columns, source->rows, out);
}

static void print_skinny(struct source *source, FILE *out)
{
    page_skinny_print(&source->columns, source->rows, out);
}

static void print_text(struct source *source, FILE *out)
{
    html_text_print(out, source->text);
}

static void print_notices(struct source *source, FILE *out)
{
    (void)source;
    fputs("<p>Made by rooftap " ROOFTAP_VERSION ".</p>", out);
}

static void print_data(struct source *source, FILE *out)
{
    json_t *root = report_json_tree(source->json, source->rows);
    if (!root || !page_data_print(root, out))
        source->failed = true;
    json_decref(root);
}

static const struct {
    const char *mark;
    void (*print)(struct source *source, FILE *out);
} places[] = {
    {"<!-- @verdict@ -->", print_verdict}, {"<!-- @picture@ -->", print_picture}, {"<!-- @tables@ -->", print_tables},
    {"<!-- @skinny@ -->", print_skinny},   {"<!-- @text@ -->", print_text},       {"<!-- @data@ -->", print_data},
    {"<!-- @notices@ -->", print_notices},
};

/* ---- the whole ---- */

/* Fills the place that AT begins with; returns its length, 0: it is none. */
static size_t fill_place(const char *at, size_t left, struct source *source, FILE *out)
{
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        size_t length = strlen(places[i].mark);
        if (left < length || memcmp(at, places[i].mark, length) != 0)
            continue;
        places[i].print(source, out);
        return length;
    }
    return 0;
}

static void print_page(struct source *source, FILE *out)
{
    static const char begin[] = "<!-- @";
    const char *at = (const char *)page_template, *end = at + page_template_bytes;
    while (at < end) {
        const char *place = memmem(at, (size_t)(end - at), begin, sizeof begin - 1);
        fwrite(at, 1, (size_t)((place ? place : end) - at), out);
        if (!place)
            return;
        size_t length = fill_place(place, (size_t)(end - place), source, out);
        if (!length)
            fwrite(place, 1, length = sizeof begin - 1, out);
        at = place + length;
    }
}

static bool make(struct source *source, struct report_page *page)
{
    *page = (struct report_page){0};
    FILE *out = open_memstream(&page->text, &page->bytes);
    if (!out)
        return false;
    print_page(source, out);
    bool good = !ferror(out);
    good = fclose(out) == 0 && good && !source->failed;
    if (!good) {
        free(page->text);
        *page = (struct report_page){0};
    }
    return good;
}

/* How large a page was with so many rows. */
struct measure {
    size_t rows, bytes;
};

/* A little fewer than would fit if the size grew evenly from OTHER to HERE, which is too large; always fewer, and at least 1. */
static size_t rows_that_fit(struct measure other, struct measure here)
{
    double row_bytes = ((double)here.bytes - (double)other.bytes) / ((double)here.rows - (double)other.rows);
    double rows = (double)here.rows - ((double)here.bytes - 0.98 * REPORT_HTML_BYTES) / row_bytes;
    size_t most = here.rows - here.rows / 16 - 1;
    return !(rows >= 1) ? 1 : rows > (double)most ? (most ? most : 1) : (size_t)rows;
}

/* Everything, if that isn't much: then nothing is cut, texts neither. */
static size_t first_try(const struct session *session, size_t rows)
{
    bool all = session->operator_count <= rows && session->weight_count <= rows;
    return all ? SIZE_MAX : rows;
}

/* False: memory ran out. */
static bool make_fitting(struct source *source, size_t rows, struct report_page *page)
{
    struct measure other = {0, page_template_bytes + strlen(source->text)};
    source->rows = first_try(source->session, rows);
    while (make(source, page)) {
        struct measure here = {source->rows, page->bytes};
        page->of = source->session->operator_count;
        page->operators = here.rows < page->of ? here.rows : page->of;
        if (here.bytes < REPORT_HTML_BYTES || here.rows == 1)
            return true;
        source->rows = here.rows == SIZE_MAX ? rows : rows_that_fit(other, here);
        other = here.rows == SIZE_MAX ? other : here;
        free(page->text);
    }
    return false;
}

bool report_html(const struct session *session, const struct books *books, const struct model_books *model_books,
                 size_t rows, struct report_page *page)
{
    struct source source = {.session = session, .books = books, .model_books = model_books};
    *page = (struct report_page){0};
    source.json = report_json_open(session, books, model_books);
    source.columns = column_source_of(session);
    source.columns.kernels = report_json_kernels(source.json);
    source.columns.model_books = model_books;
    source.verdict = verdict_of_session(session);
    source.text = text_of_session(&source);
    bool good = source.verdict && source.text && make_fitting(&source, rows ? rows : REPORT_HTML_ROWS, page);
    free(source.verdict);
    free(source.text);
    column_source_free(&source.columns);
    report_json_close(source.json);
    return good;
}
