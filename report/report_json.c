/* SPDX-License-Identifier: Apache-2.0 */
/* What the session is as a whole, and the parts in their order. What costs a pass over all operators is done once, however many
 * sizes a page tries. */
#include "report/report_json.h"

#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "classify/advice.h"
#include "classify/allocate.h"
#include "classify/attention_rows.h"
#include "classify/no_launch.h"
#include "report/advice_json.h"
#include "report/attention_json.h"
#include "report/books_json.h"
#include "report/columns.h"
#include "report/coverage_json.h"
#include "report/demangle.h"
#include "report/device_json.h"
#include "report/json_cut.h"
#include "report/json_value.h"
#include "report/model_books_json.h"
#include "report/operator_rows.h"
#include "report/operators_json.h"
#include "report/process_json.h"
#include "report/rest_json.h"
#include "report/status_name.h"
#include "report/timing_json.h"
#include "report/weights_json.h"

enum { SCHEMA = 1 };

static json_t *in_memory_object(const struct session_in_memory *in_memory)
{
    json_t *object = json_object();
    json_value_set(object, "traces", json_value_count(in_memory->traces));
    json_value_set(object, "bytes", json_value_count(in_memory->bytes));
    json_value_set(object, "collector", json_boolean(in_memory->collector));
    return object;
}

static json_t *session_object(const struct session *session)
{
    const struct session_info *info = &session->info;
    const uint64_t since_ns = session_start_realtime_ns(session);
    json_t *object = json_object();
    json_value_set(object, "path", json_value_text(session->path));
    json_value_set(object, "rooftap_version", json_value_text(info->rooftap_version));
    json_value_set(object, "command", json_value_text(info->command));
    json_value_set(object, "working_directory", json_value_text(info->working_directory));
    json_value_set(object, "host", json_value_text(info->host));
    json_value_set(object, "kernel", json_value_text(info->kernel));
    json_value_set(object, "simulate", json_value_text(info->simulate));
    json_value_set(object, "started_realtime_ns", json_value_size(info->started_realtime_ns));
    json_value_set(object, "ended_realtime_ns", json_value_size(info->ended_realtime_ns));
    json_value_set(object, "since_realtime_ns", since_ns ? json_value_count(since_ns) : json_null());
    json_value_set(object, "ended_at_ns",
                   json_value_at(info->ended_realtime_ns > 0 ? (uint64_t)info->ended_realtime_ns : 0, since_ns));
    json_value_set(object, "clocks_problem", json_value_text(info->clocks_problem));
    json_value_set(object, "no_launch_reason", json_value_text(no_launch_name(no_launch_of(session))));
    json_value_set(object, "in_memory", in_memory_object(&session->in_memory));
    char *end = session_info_end_text(info);
    json_value_set(object, "target_pid", json_value_size(info->target_pid));
    json_value_set(object, "end", json_value_text(end));
    free(end);
    return object;
}

static json_t *failures_array(struct json_cut *cut, const struct session *session)
{
    json_t *failures = json_array();
    const size_t items = json_cut_items(cut, failures, session->failure_count);
    for (size_t i = 0; i < items; i++) {
        json_t *object = json_object();
        json_value_set(object, "name", json_value_text(session->failures[i].name));
        json_value_set(object, "status", json_integer(session->failures[i].status));
        json_value_set(object, "status_name", json_value_text(status_name(session->failures[i].status)));
        json_value_set(object, "calls", json_value_count(session->failures[i].calls));
        operators_json_set_shape(object, &session->failures[i].first);
        json_array_append_new(failures, object);
    }
    return failures;
}

static json_t *problems_array(struct json_cut *cut, const struct session *session)
{
    const char *const own[] = {session->info.problem, session->clocks.problem};
    json_t *problems = json_array();
    const size_t items = json_cut_items(cut, problems, (own[0] != NULL) + (own[1] != NULL) + session->bad_file_count);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (own[i])
            json_array_append_new(problems, json_value_text(own[i]));
    for (size_t i = 0; json_array_size(problems) < items; i++)
        json_array_append_new(problems, json_value_text(session->bad_files[i].text));
    return problems;
}

/* ---- the whole ---- */

struct report_json {
    const struct session *session;
    const struct books *books;
    const struct model_books *model_books;
    struct column_source source;
    struct operator_rows kernels;
    struct attention_rows attention;
    struct advice_list advice;
    struct device_roof_uses *uses;
    struct demangler *demangler;
    struct rest rest_operators, rest_weights, rest_kernels;
    json_t *fixed; /* keys that are the same in every tree before it is cut */
};

struct report_json *report_json_open(const struct session *session, const struct books *books,
                                     const struct model_books *model_books)
{
    struct report_json *report = allocate(1, sizeof *report);
    *report = (struct report_json){
        .session = session,
        .books = books,
        .model_books = model_books,
        .source = column_source_of(session),
        .kernels = operator_rows_by_kernel(session, NULL),
        .attention = attention_rows_of(session, books, model_books),
        .advice = advice_find(session),
        .uses = device_json_roof_uses(session),
        .demangler = demangler_open(DEMANGLE_LIBRARY),
        .rest_operators = rest_of_none(session->operator_count),
        .rest_weights = rest_of_none(session->weight_count),
        .fixed = json_object(),
    };
    report->source.model_books = model_books;
    report->rest_kernels = rest_of_none(report->kernels.count);
    json_value_set(report->fixed, "coverage", coverage_json(session));
    weights_json_set_phases(report->fixed, session);
    advice_json_set_verdict(report->fixed, session, &report->advice);
    return report;
}

void report_json_close(struct report_json *report)
{
    column_source_free(&report->source);
    operator_rows_free(&report->kernels);
    attention_rows_free(&report->attention);
    advice_free(&report->advice);
    device_json_roof_uses_free(report->uses);
    demangler_close(report->demangler);
    json_decref(report->fixed);
    free(report);
}

const struct operator_rows *report_json_kernels(const struct report_json *report)
{
    return &report->kernels;
}

static void set_fixed(json_t *root, const struct report_json *report, const char *key)
{
    json_value_set(root, key, json_deep_copy(json_object_get(report->fixed, key)));
}

static json_t *cut_or_null(struct report_json *report, const struct json_cut *cut)
{
    const size_t rows = json_cut_rows(cut);
    return json_cut_object(cut, rest_json_operators(&report->rest_operators, report->session, rows),
                           rest_json_weights(&report->rest_weights, report->session, rows),
                           rest_json_kernels(&report->rest_kernels, report->session, &report->kernels, rows));
}

/* What was recorded. */
static void set_session(json_t *root, struct json_cut *cut, const struct report_json *report)
{
    const struct session *session = report->session;
    json_value_set(root, "schema", json_integer(SCHEMA));
    json_value_set(root, "simulated", json_boolean(session->simulated));
    json_value_set(root, "session", session_object(session));
    json_value_set(root, "problems", problems_array(cut, session));
    json_value_set(root, "devices", device_json(cut, &report->source, report->uses));
    set_fixed(root, report, "coverage");
    json_value_set(root, "timing", timing_json(session));
    json_value_set(root, "failures", failures_array(cut, session));
    json_value_set(root, "processes", process_json(cut, session));
}

/* What it came to. */
static void set_rows(json_t *root, struct json_cut *cut, const struct report_json *report)
{
    const struct session *session = report->session;
    json_value_set(root, "operators", operators_json(cut, &report->source, report->demangler));
    json_value_set(root, "weights", weights_json(cut, session));
    json_value_set(root, "kernels", operators_json_kernels(cut, &report->source, &report->kernels, report->demangler));
    json_value_set(root, "sibling_groups", weights_json_siblings(cut, session));
    json_value_set(root, "naive_attention", attention_json_naive(cut, session));
    json_value_set(root, "attention", attention_json(cut, session, &report->attention));
    set_fixed(root, report, "phases");
    set_fixed(root, report, "step");
    set_fixed(root, report, "verdict");
    json_value_set(root, "advice", advice_json(cut, session, &report->advice));
    set_fixed(root, report, "caveats");
    set_fixed(root, report, "time_by_bound");
    if (report->books)
        json_value_set(root, "books", books_json(cut, report->books));
    if (report->model_books)
        json_value_set(root, "model_books", model_books_json(cut, report->model_books));
}

json_t *report_json_tree(struct report_json *report, size_t rows)
{
    struct json_cut *cut = json_cut_open(rows);
    json_t *root = json_object();
    set_session(root, cut, report);
    set_rows(root, cut, report);
    json_cut_apply(cut, root);
    json_value_set(root, "cut", cut_or_null(report, cut));
    json_cut_free(cut);
    return root;
}

json_t *report_json_root(const struct session *session, const struct books *books,
                         const struct model_books *model_books, size_t rows)
{
    struct report_json *report = report_json_open(session, books, model_books);
    json_t *root = report_json_tree(report, rows);
    report_json_close(report);
    return root;
}

bool report_json_write(const json_t *root, FILE *out)
{
    return !json_dumpf(root, out, JSON_INDENT(2)) && fputc('\n', out) != EOF && !fflush(out);
}

bool report_json(const struct session *session, const struct books *books, const struct model_books *model_books,
                 FILE *out)
{
    json_t *root = report_json_root(session, books, model_books, SIZE_MAX);
    bool written = report_json_write(root, out);
    json_decref(root);
    return written;
}
