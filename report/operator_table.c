/* SPDX-License-Identifier: Apache-2.0 */
/* A row without a shape knows nothing that stands in the columns behind its kind, so its name has all their room. */
#include "report/operator_table.h"

#include <math.h>
#include <string.h>

#include "classify/launch_groups.h"
#include "report/columns.h"
#include "report/format.h"

const char *operator_table_note(const struct operator_row *op)
{
    static const char *const why[LAUNCH_READING_COUNT] = {
        [LAUNCH_OTHER_REVISION] = " (unknown revision)",
        [LAUNCH_NO_VALUES] = " (no parameters)",
        [LAUNCH_REFUSED] = " (refused)",
    };
    return !op->of_call && op->launch && op->launch->reading < LAUNCH_READING_COUNT ? why[op->launch->reading] : NULL;
}

/* Its sums stand under the columns of these keys, the text under the next column that is aligned to the left. */
static void add_rest(struct text_table *table, const struct session *session, const struct view *view,
                     const struct operator_rows *rows)
{
    struct operator_rest rest = operator_rows_rest(view, rows);
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
            text_table_note(table, operator_table_note(op));
    }
    if (rows->shown < rows->count)
        add_rest(table, source->session, view, rows);
    text_table_may_drop(table, view->fit);
    text_table_close(table, view->width, view->colours, out);
}
