/* SPDX-License-Identifier: Apache-2.0 */
/* A row without a shape knows nothing that stands in the columns behind its kind, so its name has all their room. */
#include "report/operator_table.h"

#include <math.h>
#include <string.h>

#include "classify/launch_groups.h"
#include "report/columns.h"
#include "report/format.h"

/* Why a kernel has no shape whose name the table of launches knows; NULL: nothing to say. */
static const char *why_no_shape(const struct operator_row *op)
{
    static const char *const why[LAUNCH_READING_COUNT] = {
        [LAUNCH_OTHER_REVISION] = " (unknown revision)",
        [LAUNCH_NO_VALUES] = " (no parameters)",
        [LAUNCH_REFUSED] = " (refused)",
    };
    return !op->of_call && op->launch && op->launch->reading < LAUNCH_READING_COUNT ? why[op->launch->reading] : NULL;
}

/* What can be summed of the rows that are not shown: of calls that nobody counted there is no sum. */
struct rest {
    bool calls_known, timed;
    uint64_t calls, time_ns;
};

static void add_operator(struct rest *rest, const struct operator_row *op)
{
    rest->calls_known &= op->calls_known;
    rest->timed |= op->timed && op->kernels;
    sum_add(&rest->calls, op->calls);
    sum_add(&rest->time_ns, op->time_ns);
}

static void add_weight(struct rest *rest, const struct weight_row *weight)
{
    rest->timed |= weight->timed;
    sum_add(&rest->calls, weight->executions);
    sum_add(&rest->time_ns, weight->time_ns);
}

static struct rest rest_of(const struct view *view, const struct operator_rows *rows)
{
    struct rest rest = {.calls_known = true};
    for (size_t i = rows->shown; i < rows->count; i++) {
        if (view->by == COLUMNS_OF_WEIGHT)
            add_weight(&rest, rows->rows[i]);
        else
            add_operator(&rest, rows->rows[i]);
    }
    return rest;
}

/* Its sums stand under the columns of these keys, the text under the next column that is aligned to the left. */
static void add_rest(struct text_table *table, const struct session *session, const struct view *view,
                     const struct operator_rows *rows)
{
    struct rest rest = rest_of(view, rows);
    char text[64], number[FORMAT_BYTES], time[FORMAT_BYTES], share[FORMAT_BYTES], calls[FORMAT_BYTES];
    const char *cells[TEXT_TABLE_COLUMNS_MOST];
    size_t count;
    const struct column *column = columns(view->by, &count);
    double all = session->coverage.gpu_time_ns;
    format_duration(time, rest.timed ? (double)rest.time_ns : NAN);
    format_share(share, rest.timed && all > 0 ? (double)rest.time_ns / all : NAN);
    if (rest.calls_known)
        format_count(calls, rest.calls);
    else
        strcpy(calls, FORMAT_UNKNOWN);
    for (size_t c = 0; c < count; c++) {
        const char *key = column[c].key ? column[c].key : "";
        cells[c] = !strcmp(key, "time") ? time : !strcmp(key, "share") ? share : !strcmp(key, "calls") ? calls : "";
    }
    snprintf(text, sizeof text, "(%s more rows: --all)", format_count(number, rows->count - rows->shown));
    text_table_add_text(table, cells, text);
}

void operator_table_print(const struct column_source *source, const struct view *view, const struct operator_rows *rows,
                          FILE *out)
{
    struct text_table *table = columns_table(view->by, source);
    for (size_t i = 0; i < rows->shown; i++) {
        if (view->by == COLUMNS_OF_WEIGHT) {
            columns_add(table, view->by, source, rows->rows[i], false, NULL, COLOUR_NONE);
            continue;
        }
        const struct operator_row *op = rows->rows[i];
        bool named = view->by == COLUMNS_OF_KERNEL || !operator_has_shape(op);
        bool mixed = view->by == COLUMNS_OF_KERNEL && ((const struct kernel_row *)rows->rows[i])->mixed;
        columns_add(table, view->by, source, op, named, op->name,
                    mixed ? COLOUR_NONE : colour_of_bound(op->roofline.bound));
        if (named)
            text_table_note(table, why_no_shape(op));
    }
    if (rows->shown < rows->count)
        add_rest(table, source->session, view, rows);
    text_table_may_drop(table, view->fit);
    text_table_close(table, view->width, view->colours, out);
}
