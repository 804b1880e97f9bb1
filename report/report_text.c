/* SPDX-License-Identifier: Apache-2.0 */
/* From what a reader must know first to the details: simulated or not, the verdict, GPUs and their roofs, processes,
 * coverage, where the time went, the operator table, skinny weights, naive attention, advice, caveats. */
#include "report/report_text.h"

#include <inttypes.h>
#include <stdint.h>

#include "classify/advice.h"
#include "classify/verdict.h"
#include "report/advice_text.h"
#include "report/attention_text.h"
#include "report/books_text.h"
#include "report/caveats.h"
#include "report/columns.h"
#include "report/coverage_text.h"
#include "report/device_text.h"
#include "report/format.h"
#include "report/kept_text.h"
#include "report/label.h"
#include "report/launch_text.h"
#include "report/lookalikes.h"
#include "report/meanings.h"
#include "report/model_books_text.h"
#include "report/operator_table.h"
#include "report/process_text.h"
#include "report/safe_text.h"
#include "report/skinny.h"
#include "report/status_name.h"
#include "report/time_text.h"
#include "report/timing_text.h"
#include "report/verdict_text.h"
#include "report/wrapped_text.h"

enum { FOOTER_INDENT = 4, SKINNY_ROWS = 5, ATTENTION_ROWS = 5 };

/* ---- the header ---- */

/* A collector that is at work needs no word. */
static void print_in_memory(const struct session_in_memory *in_memory, FILE *out)
{
    char bytes[FORMAT_BYTES];
    if (!in_memory->traces || in_memory->collector)
        return;
    label_print(out, "note");
    fprintf(out,
            "%s of %zu %s are still in shared memory, and their collector is gone: 'rooftap collect DIR' moves them\n",
            format_bytes(bytes, (double)in_memory->bytes), in_memory->traces,
            in_memory->traces == 1 ? "process" : "processes");
}

static void print_session(const struct session *session, size_t width, FILE *out)
{
    label_print(out, "session");
    safe_text_print_middle(out, session->path, width - LABEL_WIDTH);
    fputc('\n', out);
    if (session->info.command) {
        label_print(out, "command");
        safe_text_print_middle(out, session->info.command, width - LABEL_WIDTH);
        fputc('\n', out);
    }
    if (session->info.problem) {
        label_print(out, "note");
        safe_text_print(out, session->info.problem, 200);
        fputc('\n', out);
    }
    for (size_t i = 0; i < session->bad_file_count; i++) {
        label_print(out, "note");
        safe_text_print(out, session->bad_files[i].text, 400);
        fputc('\n', out);
    }
    print_in_memory(&session->in_memory, out);
}

static void print_status(int32_t status, FILE *out)
{
    const char *name = status_name(status);
    if (name)
        fprintf(out, ", %s (%" PRId32 ")", name, status);
    else
        fprintf(out, ", status %" PRId32, status);
}

/* A call that failed may have failed for its shape. */
static void print_asked(const struct session_failure *failure, FILE *out)
{
    const struct work *work = &failure->first.work;
    char m[FORMAT_BYTES], n[FORMAT_BYTES], k[FORMAT_BYTES], batch[FORMAT_BYTES], types[COLUMN_CELL_BYTES];
    if (work->m < 0 && work->n < 0 && work->k < 0)
        return;
    columns_types(&failure->first, types);
    fprintf(out, failure->calls == 1 ? ": M %s  N %s  K %s" : ", first M %s  N %s  K %s", format_size(m, work->m),
            format_size(n, work->n), format_size(k, work->k));
    if (work->batch > 1)
        fprintf(out, "  batch %s", format_size(batch, work->batch));
    fprintf(out, "  %s", types);
}

static void print_failures(const struct session *session, FILE *out)
{
    char text[FORMAT_BYTES];
    for (size_t i = 0; i < session->failure_count; i++) {
        const struct session_failure *failure = &session->failures[i];
        label_print(out, i ? "" : "failed");
        fprintf(out, "%s of ", format_count(text, failure->calls));
        safe_text_print(out, failure->name, 60);
        print_status(failure->status, out);
        print_asked(failure, out);
        fputc('\n', out);
    }
}

/* ---- the whole ---- */

static void print_header(const struct session *session, size_t width, FILE *out)
{
    print_session(session, width, out);
    kept_text_print(session, out);
    for (size_t i = 0; i < session->device_count; i++)
        device_text_print(session, (int)i, out);
    if (!session->device_count) {
        label_print(out, "GPU");
        fputs("none described by the traces: no roof, no ridge, every class unknown\n", out);
    }
    process_text_print(session, width, out);
    coverage_text_print(session, out);
    print_failures(session, out);
    time_text_print(session, out);
}

static void print_verdict(const struct session *session, const struct view *view, const struct advice_list *advice,
                          FILE *out)
{
    struct verdict verdict = verdict_of(session, advice);
    struct wrapped_text wrapped;
    colour_begin(COLOUR_BOLD, view->colours, out);
    FILE *text = wrapped_text_begin(&wrapped, view->width, 0, out);
    verdict_text_print(session, advice, &verdict, text);
    wrapped_text_end(&wrapped);
    colour_end(COLOUR_BOLD, view->colours, out);
}

static void print_table(const struct column_source *source, const struct view *view, FILE *out)
{
    struct operator_rows rows = operator_rows_of(source, view);
    struct wrapped_text wrapped;
    if (rows.count) {
        fputc('\n', out);
        operator_table_print(source, view, &rows, out);
    }
    if (!rows.count && view->by == COLUMNS_OF_WEIGHT)
        fputs("\nno call of this run has an operand that is known to be a weight\n", out);
    if (rows.count && view->by == COLUMNS_OF_SHAPE) {
        FILE *text = wrapped_text_begin(&wrapped, view->width, FOOTER_INDENT, out);
        meanings_print(source->session, &rows, text);
        launch_text_print_rows(view, &rows, text);
        lookalikes_print(source, &rows, text);
        wrapped_text_end(&wrapped);
    }
    operator_rows_free(&rows);
}

static void print_simulated(const struct session *session, const struct view *view, FILE *out)
{
    struct wrapped_text wrapped;
    if (!session->simulated)
        return;
    FILE *text = wrapped_text_begin(&wrapped, view->width, LABEL_WIDTH, out);
    fputs(REPORT_TEXT_SIMULATED "\n", text);
    wrapped_text_end(&wrapped);
}

/* The answer first, then what it rests on. */
static void print_all(const struct column_source *source, const struct view *view, const struct advice_list *advice,
                      FILE *out)
{
    const struct session *session = source->session;
    struct wrapped_text wrapped;
    FILE *text = wrapped_text_begin(&wrapped, view->width, LABEL_WIDTH, out);
    print_header(session, view->width, text);
    wrapped_text_end(&wrapped);
    print_table(source, view, out);
    skinny_print(source, view, view->rows == SIZE_MAX ? SIZE_MAX : SKINNY_ROWS, out);
    attention_text_print(source, view, view->rows == SIZE_MAX ? SIZE_MAX : ATTENTION_ROWS, out);
    text = wrapped_text_begin(&wrapped, view->width, FOOTER_INDENT, out);
    advice_text_print(session, advice, text);
    caveats_print(session, text);
    wrapped_text_end(&wrapped);
}

/* The model's own advice with it: its window is what only the books know. */
static void print_books(const struct session *session, const struct view *view, const struct advice_list *advice,
                        FILE *out)
{
    struct wrapped_text wrapped;
    books_text_print(view->books, session, view, out);
    FILE *text = wrapped_text_begin(&wrapped, view->width, FOOTER_INDENT, out);
    advice_text_print(session, advice, text);
    wrapped_text_end(&wrapped);
}

static void print_skinny(const struct column_source *source, const struct view *view, FILE *out)
{
    if (skinny_any(source->session))
        skinny_print(source, view, view->rows, out);
    else
        fputs("\nno weight of this run is skinny or starved\n", out);
}

bool report_text(const struct session *session, const struct view *view, FILE *out)
{
    struct advice_list advice = advice_find(session);
    struct column_source source = column_source_of(session);
    source.model_books = view->model_books;
    print_simulated(session, view, out);
    print_verdict(session, view, &advice, out);
    timing_text_print_unknown_graphs(session, out);
    if (view->books)
        print_books(session, view, &advice, out);
    else if (view->skinny)
        print_skinny(&source, view, out);
    else
        print_all(&source, view, &advice, out);
    if (view->model_books && !view->skinny)
        model_books_text_print(view->model_books, session, view, out);
    column_source_free(&source);
    advice_free(&advice);
    return !fflush(out) && !ferror(out);
}
