/* SPDX-License-Identifier: Apache-2.0 */
/* One function for each place of the page. How many rows fit is found by making the page, in memory. */
#include "report/report_html.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classify/advice.h"
#include "classify/no_launch.h"
#include "classify/verdict.h"
#include "report/columns.h"
#include "report/html_text.h"
#include "report/no_launch_text.h"
#include "report/page_data.h"
#include "report/page_tables.h"
#include "report/page_template.h"
#include "report/report_json.h"
#include "report/report_text.h"
#include "report/roofline_svg.h"
#include "report/text_stream.h"
#include "report/verdict_text.h"
#include "report/view.h"

enum { TEXT_BYTES = 96 << 10, TEXT_ROWS = 30 };
/* A page is looked for that is nearly as large as it may be, not long. */
enum { BYTES_AIMED_AT = 970000, BYTES_ENOUGH = 920000, TRIES = 6 };

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
    FILE *out = text_stream_open(&text, &bytes);
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
    FILE *out = text_stream_open(&text, &bytes);
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

static void print_simulated(struct source *source, FILE *out)
{
    if (source->session->simulated)
        html_text_print(out, REPORT_TEXT_SIMULATED);
}

/* Why nothing was recorded, where nothing was. */
static void print_nothing(struct source *source, FILE *out)
{
    char *text = NULL;
    size_t bytes = 0;
    if (no_launch_of(source->session) == NO_LAUNCH_NOT_SO)
        return;
    FILE *reason = text_stream_open(&text, &bytes);
    if (reason) {
        no_launch_text_print(source->session, reason);
        fclose(reason);
    }
    fputs("<p class=\"problem\" id=\"no-launch\">", out);
    html_text_print(out, text);
    fputs(".</p>", out);
    source->failed |= !text;
    free(text);
}

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
    {"<!-- @verdict@ -->", print_verdict}, {"<!-- @picture@ -->", print_picture},
    {"<!-- @tables@ -->", print_tables},   {"<!-- @skinny@ -->", print_skinny},
    {"<!-- @text@ -->", print_text},       {"<!-- @data@ -->", print_data},
    {"<!-- @notices@ -->", print_notices}, {"<!-- @simulated@ -->", print_simulated},
    {"<!-- @nothing@ -->", print_nothing},
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
    FILE *out = text_stream_open(&page->text, &page->bytes);
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

static size_t longest_list(const struct session *session)
{
    return session->operator_count > session->weight_count ? session->operator_count : session->weight_count;
}

/* How large a page was with so many rows. */
struct measure {
    size_t rows, bytes;
};

/* Between the most that FITS and the least that is too LARGE: as if the size grew evenly, but well within, since it does not:
 * longer texts are cut in larger pages. */
static size_t rows_between(struct measure fits, struct measure large)
{
    double span = (double)(large.rows - fits.rows), least = (double)fits.rows + span / 8,
           most = (double)large.rows - span / 8;
    double growth = ((double)large.bytes - (double)fits.bytes) / span;
    double rows = (double)fits.rows + (BYTES_AIMED_AT - (double)fits.bytes) / growth;
    size_t guess = (size_t)(rows < least ? least : rows > most ? most : rows);
    return guess > fits.rows ? guess : fits.rows + 1;
}

static void keep(struct report_page *best, struct report_page *page, const struct source *source)
{
    free(best->text);
    *best = *page;
    best->of = source->session->operator_count;
    best->operators = source->rows < best->of ? source->rows : best->of;
}

/* *BEST is the largest page of those made that fits, or that of one row. False: memory ran out. */
static bool make_fitting(struct source *source, size_t rows, struct report_page *best)
{
    struct measure fits = {0, page_template_bytes + strlen(source->text)}, large = {0};
    struct report_page page;
    size_t longest = longest_list(source->session);
    source->rows = longest <= rows ? SIZE_MAX : rows; /* everything, if that isn't much: then texts are whole, too */
    for (int tries = 0; make(source, &page); tries++) {
        struct measure here = {source->rows, page.bytes};
        const bool good = here.bytes < REPORT_HTML_BYTES;
        if (good || here.rows == 1)
            keep(best, &page, source);
        else
            free(page.text);
        *(good ? &fits : &large) = here;
        if (good && (!large.rows || here.bytes > BYTES_ENOUGH))
            return true;
        if (tries > TRIES && best->text)
            return true;
        if (here.rows == SIZE_MAX) {
            source->rows = longest > 1 ? longest : 1;
            large = (struct measure){0};
        } else if (large.rows - fits.rows > 1) {
            source->rows = rows_between(fits, large);
        } else {
            return true;
        }
    }
    free(best->text);
    *best = (struct report_page){0};
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
