/* SPDX-License-Identifier: Apache-2.0 */
/* Ranked by the largest saving of any one change; the figures are shown also where they are too small for advice. */
#include "report/skinny.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "classify/allocate.h"
#include "report/format.h"
#include "report/operator_rows.h"
#include "report/wrapped_text.h"

static bool is_listed(const struct weight_row *weight)
{
    return weight->skinny || weight->starved;
}

bool skinny_any(const struct session *session)
{
    for (size_t i = 0; i < session->weight_count; i++)
        if (is_listed(&session->weights[i]))
            return true;
    return false;
}

static double most_saved(const struct weight_row *weight)
{
    double most = 0;
    for (int change = 0; change < WEIGHT_CHANGE_COUNT; change++)
        if (weight->saved_ns[change] > most)
            most = weight->saved_ns[change];
    return most;
}

static int by_most_saved(const void *left, const void *right)
{
    const struct weight_row *a = *(const void *const *)left, *b = *(const void *const *)right;
    double saved_a = most_saved(a), saved_b = most_saved(b);
    if (saved_a != saved_b)
        return saved_a < saved_b ? 1 : -1;
    return (a > b) - (a < b);
}

const void **skinny_list(const struct session *session, size_t *found)
{
    const void **list = allocate(session->weight_count + 1, sizeof *list);
    size_t count = 0;
    for (size_t i = 0; i < session->weight_count; i++)
        if (is_listed(&session->weights[i]))
            list[count++] = &session->weights[i];
    if (count)
        qsort(list, count, sizeof *list, by_most_saved);
    *found = count;
    return list;
}

/* The option that shows what was left out. */
static const char *more_by(const struct view *view)
{
    return view->skinny ? "--skinny without --top" : "--skinny";
}

static void print_table(const struct column_source *source, const struct view *view, const void **list, size_t shown,
                        FILE *out)
{
    struct text_table *table = columns_table(COLUMNS_OF_SKINNY, source);
    for (size_t i = 0; i < shown; i++)
        columns_add(table, COLUMNS_OF_SKINNY, source, list[i], false, NULL, COLOUR_NONE);
    text_table_may_drop(table, view->fit);
    text_table_close(table, view->width, view->colours, out);
}

static void print_caps(const struct session *session, const void **list, size_t shown, FILE *out)
{
    for (size_t i = 0; i < shown; i++) {
        const struct weight_row *weight = list[i];
        char types[COLUMN_CELL_BYTES], limit[FORMAT_BYTES], ridge[FORMAT_BYTES];
        const char *side = gemm_side_name(weight->limited_by);
        if (!isinf(weight->rows_at_ridge) || !weight->operator_count)
            continue;
        columns_weight_types(session, weight, types);
        fprintf(out, "  N %" PRId64 "  K %" PRId64 "  %s: never, N and K cap it at %s FLOP/B, below the ridge of %s",
                weight->n, weight->k, types, format_intensity(limit, weight->intensity_limit),
                format_intensity(ridge, session->operators[weight->operators[0]].roofline.ridge));
        fprintf(out, side ? "; %s is too small\n" : "\n", side);
    }
}

/* The other half of BLOCKS: how much of the bandwidth so few of them draw. */
static void print_bandwidths(const struct session *session, const void **list, size_t shown, FILE *out)
{
    for (size_t i = 0; i < shown; i++) {
        const struct weight_row *weight = list[i];
        char types[COLUMN_CELL_BYTES], share[FORMAT_BYTES], blocks[FORMAT_BYTES];
        if (!weight->starved || !(weight->bandwidth_fill < 1))
            continue;
        columns_weight_types(session, weight, types);
        fprintf(out, "  N %" PRId64 "  K %" PRId64 "  %s: %s %s draw %s %% of the bandwidth, as calibrated\n",
                weight->n, weight->k, types, format_count(blocks, weight->blocks),
                format_plural(weight->blocks, "block", "blocks"), format_share(share, weight->bandwidth_fill));
    }
}

static void print_group(const struct column_source *source, const struct sibling_group *group, FILE *out)
{
    const struct session *session = source->session;
    char before[FORMAT_BYTES], after[FORMAT_BYTES], each[FORMAT_BYTES], all[FORMAT_BYTES], share[FORMAT_BYTES];
    char times[FORMAT_BYTES], bytes[FORMAT_BYTES];
    fputs("  ", out);
    if (session->device_count > 1)
        fprintf(out, "GPU %d  ", group->device);
    fprintf(out, "M %" PRId64 "  K %" PRId64 "  N ", group->m, group->k);
    for (size_t i = 0; i < group->count; i++)
        fprintf(out, "%s%" PRId64, i ? " + " : "", session->operators[group->operators[i]].work.n);
    fprintf(out, " = %" PRId64 ", %s %s: %s -> %s FLOP/B, %s and %s less each time, %s in all", group->n_fused,
            format_count(times, group->times), format_plural(group->times, "time", "times"),
            format_intensity(before, group->intensity), format_intensity(after, group->intensity_fused),
            format_bytes(bytes, group->bytes_saved), format_duration(each, group->roof_ns - group->roof_fused_ns),
            format_duration(all, group->saved_ns));
    double busy = columns_busy_share(source, group->device, group->saved_ns);
    if (!isnan(busy))
        fprintf(out, " (%s %%)", format_gain(share, busy));
    if (!isnan(group->fill) && !isnan(group->fill_fused) && group->fill < 1)
        fprintf(out, "; fill %s -> %s %%", format_share(before, group->fill), format_share(after, group->fill_fused));
    fputc('\n', out);
}

static bool group_is_listed(const struct session *session, const struct sibling_group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        const struct operator_row *op = &session->operators[group->operators[i]];
        if (op->roofline.bound == BOUND_MEMORY || op->roofline.flags & ROOFLINE_STARVED)
            return true;
    }
    return group->saved_ns > 0;
}

static void print_groups(const struct column_source *source, const struct view *view, size_t at_most, FILE *out)
{
    const struct session *session = source->session;
    size_t printed = 0, left = 0;
    for (size_t i = 0; i < session->sibling_group_count; i++) {
        if (!group_is_listed(session, &session->sibling_groups[i]))
            continue;
        if (printed == at_most) {
            left++;
            continue;
        }
        if (!printed++)
            fputs("  read the same activation, so could be one GEMM:\n", out);
        print_group(source, &session->sibling_groups[i], out);
    }
    if (left)
        fprintf(out, "  (%zu more: %s)\n", left, more_by(view));
}

const char skinny_legend[] = "M*: compute-bound from there; %<M*: time below it; SHORT: what holds it back; BLOCKS: of "
                             "its longest shape, and SMs";

void skinny_print_title(const struct column_source *source, FILE *out)
{
    fprintf(out, "skinny or starved weights (N x K); from BATCH on, what that would save at the roof, %% of %s",
            source->by_roof ? "the time at the roof" : "busy time");
}

void skinny_print_notes(const struct column_source *source, const struct view *view, const void **list, size_t shown,
                        size_t groups, FILE *out)
{
    print_caps(source->session, list, shown, out);
    print_bandwidths(source->session, list, shown, out);
    print_groups(source, view, groups, out);
}

void skinny_print(const struct column_source *source, const struct view *view, size_t at_most, FILE *out)
{
    enum { INDENT = 4 };
    size_t count;
    const void **list = skinny_list(source->session, &count);
    const size_t shown = count > at_most ? at_most : count;
    struct wrapped_text wrapped;
    if (view->skinny && view->sort)
        columns_sort(view->sort, source, list, count);
    if (count) {
        FILE *text = wrapped_text_begin(&wrapped, view->width, 0, out);
        fputc('\n', text);
        skinny_print_title(source, text);
        fputs(":\n", text);
        wrapped_text_end(&wrapped);
        print_table(source, view, list, shown, out);
    }
    FILE *text = wrapped_text_begin(&wrapped, view->width, INDENT, out);
    if (count)
        fprintf(text, "  %s\n", skinny_legend);
    if (shown < count)
        fprintf(text, "  (%zu more: %s)\n", count - shown, more_by(view));
    skinny_print_notes(source, view, list, shown, at_most, text);
    wrapped_text_end(&wrapped);
    free(list);
}
