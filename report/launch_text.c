/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel whose launches could not be read keeps its time and its name, and is told with what its name alone says. */
#include "report/launch_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "classify/launch_groups.h"
#include "report/columns.h"
#include "report/format.h"
#include "report/label.h"
#include "report/row_names.h"
#include "report/safe_text.h"

enum { ROWS_TOLD = 8, FORMATS_TOLD = 6, PROBLEM_WIDTH = 160, HELPER_WIDTH = 40 };
#define LEAST_HELPER_SHARE 0.001

/* ---- coverage ---- */

static void print_share(const struct session *session, double time_ns, FILE *out)
{
    const double all = session->coverage.gpu_time_ns;
    char share[FORMAT_BYTES];
    if (all > 0)
        fprintf(out, "%s %% of kernel time", format_share(share, time_ns / all));
}

static bool any_matmul_by_name(const struct session *session)
{
    for (size_t i = 0; i < session->operator_count; i++) {
        const struct operator_row *op = &session->operators[i];
        if (!op->of_call && (op->launch || op->kind == OPERATOR_GEMM || op->kind == OPERATOR_GEMV) && op->kernels)
            return true;
    }
    return false;
}

/* Where products run beside the library calls, how much the calls explain is not what one expects. */
static void print_explained(const struct session *session, FILE *out)
{
    struct explained_time explained = explained_time_of(session);
    char share[FORMAT_BYTES];
    if (isnan(explained.calls) || !any_matmul_by_name(session))
        return;
    label_print(out, "");
    fprintf(out, "BLAS calls explain %s %% of kernel time", format_share(share, explained.calls));
    if (explained.launches > 0)
        fprintf(out, ", matmuls and attention read off their launches %s %%", format_share(share, explained.launches));
    fputc('\n', out);
}

/* Of all launches that the table knows by name; the others are kernels that need none. */
static void print_readings(const struct session *session, FILE *out)
{
    static const struct {
        enum launch_reading reading;
        const char *text;
    } parts[] = {{LAUNCH_READ, "read"},
                 {LAUNCH_OTHER_REVISION, "of an unknown revision"},
                 {LAUNCH_NO_VALUES, "without their parameters"},
                 {LAUNCH_REFUSED, "refused by a check"}};
    const struct session_coverage *c = &session->coverage;
    char launches[FORMAT_BYTES], share[FORMAT_BYTES];
    bool any = false;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        enum launch_reading reading = parts[i].reading;
        if (!c->launches_by_reading[reading])
            continue;
        if (!any)
            label_print(out, "");
        fprintf(out, "%s%s %s",
                any ? ", " : "launches of known kernels: ", format_count(launches, c->launches_by_reading[reading]),
                parts[i].text);
        if (c->gpu_time_ns > 0)
            fprintf(out, " (%s %% of kernel time)",
                    format_share(share, c->launch_time_ns_by_reading[reading] / c->gpu_time_ns));
        any = true;
    }
    if (any)
        fputc('\n', out);
}

/* For all of them there is one reason, and their rows say "(no parameters)". */
static bool is_bare(const struct launch_group *group)
{
    return group->reading == LAUNCH_NO_VALUES && group->operators[0]->launch->bare;
}

static void print_bare(FILE *out)
{
    label_print(out, "");
    fputs("of those without, nothing was kept: recorded with --parameters=off, or after a limit of cost gave them up\n",
          out);
}

/* ": q4_K 60.0 %, q6_K 30.0 %": formats of their weights by their names' template arguments. */
static void print_formats(const struct session *session, const struct launch_group *group, FILE *out)
{
    const struct weight_format *formats[FORMATS_TOLD];
    double time_ns[FORMATS_TOLD] = {0};
    size_t count = 0;
    char share[FORMAT_BYTES];
    for (size_t i = 0; i < group->operator_count; i++) {
        const struct operator_row *op = group->operators[i];
        const struct weight_format *format = launch_weight_format(op);
        size_t f = 0;
        while (f < count && formats[f] != format)
            f++;
        if (!format || f == FORMATS_TOLD)
            continue;
        if (f == count)
            formats[count++] = format;
        time_ns[f] += op->timed && op->kernels ? (double)op->time_ns : 0;
    }
    for (size_t f = 0; f < count; f++) {
        fprintf(out, "%s%s", f ? ", " : ": ", formats[f]->name);
        if (session->coverage.gpu_time_ns > 0)
            fprintf(out, " %s %%", format_share(share, time_ns[f] / session->coverage.gpu_time_ns));
    }
}

static void print_groups(const struct session *session, FILE *out)
{
    struct launch_groups groups = launch_groups_of(session);
    char launches[FORMAT_BYTES];
    size_t told = 0;
    for (size_t i = 0; i < groups.count; i++) {
        const struct launch_group *group = &groups.items[i];
        if (is_bare(group))
            continue;
        told++;
        label_print(out, "");
        safe_text_print(out, group->problem, PROBLEM_WIDTH);
        if (group->launches_known)
            fprintf(out, ", %s %s", format_count(launches, group->launches),
                    format_plural(group->launches, "launch", "launches"));
        if (group->time_ns) {
            fputs(", ", out);
            print_share(session, (double)group->time_ns, out);
        }
        print_formats(session, group, out);
        fputc('\n', out);
    }
    if (told < groups.count)
        print_bare(out);
    if (told) {
        label_print(out, "");
        fputs("(`rooftap kernels explain NAME` with the name of --json tells why; a table of your own adds a revision, "
              "classify/LAUNCHES.md)\n",
              out);
    }
    launch_groups_free(&groups);
}

static void print_uncharged(const struct session_coverage *c, FILE *out)
{
    char text[FORMAT_BYTES];
    if (!c->helpers_uncharged)
        return;
    label_print(out, "");
    fprintf(out, "%s %s of helpers (quantising, fix-ups) belong to no operator that was seen: rows of their own\n",
            format_count(text, c->helpers_uncharged), format_plural(c->helpers_uncharged, "launch", "launches"));
}

void launch_text_print_coverage(const struct session *session, FILE *out)
{
    print_explained(session, out);
    print_readings(session, out);
    print_groups(session, out);
    print_uncharged(&session->coverage, out);
}

/* ---- below the table ---- */

static bool helper_is_told(const struct operator_row *op, const struct operator_helper *helper)
{
    return op->time_ns && (double)helper->time_ns >= LEAST_HELPER_SHARE * (double)op->time_ns;
}

static bool is_told(const struct operator_row *op)
{
    if (!launch_of_operator_is_read(op))
        return false;
    for (size_t i = 0; i < op->helper_count; i++)
        if (helper_is_told(op, &op->helpers[i]))
            return true;
    return op->launch->weights > 1 || op->launch->experts || op->launch->adds;
}

static void print_matrices(const struct launch_decode *launch, FILE *out)
{
    if (launch->weights > 1)
        fprintf(out, "; a gate is fused: %d weights in one launch", launch->weights);
    if (launch->adds)
        fputs("; a residual or bias is added", out);
    if (!launch->experts)
        return;
    if (isnan(launch->matrices_least) || isnan(launch->matrices_most))
        fputs("; of experts: how many matrices are read is not known", out);
    else if (launch->matrices_least == launch->matrices_most)
        fprintf(out, "; reads %.0f %s of experts", launch->matrices_most,
                launch->matrices_most == 1 ? "matrix" : "matrices");
    else
        fprintf(out, "; reads %.0f to %.0f matrices of experts (bytes: the most)", launch->matrices_least,
                launch->matrices_most);
}

static void print_helpers(const struct operator_row *op, FILE *out)
{
    const char *before = "; incl. ";
    for (size_t i = 0; i < op->helper_count; i++) {
        char share[FORMAT_BYTES];
        if (!helper_is_told(op, &op->helpers[i]))
            continue;
        char **names = row_names((const char *const *)&op->helpers[i].name, 1, HELPER_WIDTH);
        fprintf(out, "%s%s %s %%", before, names[0],
                format_share(share, (double)op->helpers[i].time_ns / (double)op->time_ns));
        row_names_free(names, 1);
        before = ", ";
    }
}

static void print_row(const struct operator_row *op, FILE *out)
{
    char shape[COLUMN_SHAPE_BYTES], types[COLUMN_CELL_BYTES];
    columns_shape(op, shape);
    columns_types(op, types);
    fputs("  ", out);
    safe_text_print(out, op->launch->kernel, sizeof op->launch->kernel);
    fprintf(out, "  %s  %s", shape, types);
    print_matrices(op->launch, out);
    print_helpers(op, out);
    fputc('\n', out);
}

void launch_text_print_rows(const struct view *view, const struct operator_rows *rows, FILE *out)
{
    size_t told = 0, left = 0, most = view->rows == SIZE_MAX ? SIZE_MAX : ROWS_TOLD;
    for (size_t i = 0; i < rows->shown; i++) {
        const struct operator_row *op = rows->rows[i];
        if (!is_told(op))
            continue;
        if (told == most) {
            left++;
            continue;
        }
        if (!told++)
            fputs("\nin one row with what serves it:\n", out);
        print_row(op, out);
    }
    if (left)
        fprintf(out, "  (%zu more: --all)\n", left);
}
