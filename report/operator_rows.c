/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of one name differ in shape: times and counts are added, what a shape decides is left out, and a class that not all
 * share is marked as mixed. */
#include "report/operator_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/index_map.h"

/* Of COUNT rows: all of them, or as many as the view asks for, where that saves more than the line which says so. */
static size_t rows_shown(const struct view *view, size_t count)
{
    size_t least = view->rows_asked_for ? view->rows : view->rows == SIZE_MAX ? SIZE_MAX : view->rows + 1;
    return least < count ? view->rows : count;
}

/* ---- by kernel ---- */

static int compare_names(const struct operator_row *a, const struct operator_row *b)
{
    int order = a->device - b->device;
    return order ? order : strcmp(a->name ? a->name : "", b->name ? b->name : "");
}

/* Of pointers to rows, which are large. */
static int by_time(const void *left, const void *right)
{
    const struct kernel_row *row = *(const struct kernel_row *const *)left;
    const struct kernel_row *other = *(const struct kernel_row *const *)right;
    const struct operator_row *a = &row->op, *b = &other->op;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? 1 : -1;
    if (a->calls != b->calls)
        return a->calls < b->calls ? 1 : -1;
    int order = compare_names(a, b);
    return order ? order : (row > other) - (row < other);
}

/* FROM's part in ROW: what is not known of one is not known of both. */
static void merge(struct kernel_row *row, const struct operator_row *from)
{
    struct operator_row *into = &row->op;
    row->shapes++;
    row->mixed |= into->roofline.bound != from->roofline.bound;
    row->kinds |= into->kind != from->kind;
    into->calls_known &= from->calls_known;
    into->timed |= from->timed;
    sum_add(&into->calls, from->calls);
    sum_add(&into->executions, from->executions);
    sum_add(&into->kernels, from->kernels);
    into->evidence.estimated |= from->evidence.estimated;
    into->evidence.shared_ns += from->evidence.shared_ns;
    if (!from->timed || !from->kernels)
        return;
    double roof_ns = from->roofline.roof_fraction * (double)from->time_ns;
    double before_ns = into->time_ns ? into->roofline.roof_fraction * (double)into->time_ns : 0;
    sum_add(&into->time_ns, from->time_ns);
    into->roofline.roof_fraction = (before_ns + roof_ns) / (double)into->time_ns;
    into->share = isnan(into->share) ? from->share : into->share + from->share;
    into->gain_ns += from->gain_ns;
}

static struct kernel_row kernel_row(const struct operator_row *first)
{
    return (struct kernel_row){.op = {
                                   .kind = first->kind,
                                   .family = first->family,
                                   .role = first->role,
                                   .name = first->name,
                                   .device = first->device,
                                   .graph = first->graph,
                                   .calls_known = true,
                                   .share = NAN,
                                   .rows_at_ridge = NAN,
                                   .flops = NAN,
                                   .bytes = NAN,
                                   .t_roof_ns = NAN,
                                   .roofline = {.intensity = NAN,
                                                .ridge = NAN,
                                                .flops_per_second = NAN,
                                                .bytes_per_second = NAN,
                                                .roof_fraction = NAN,
                                                .bound = first->roofline.bound},
                               }};
}

/* Its place in MERGED; made on first use. Names are told by their hash, and where two have one, by themselves. */
static uint32_t kernel_at(struct operator_rows *rows, struct index_map *map, const struct operator_row *op)
{
    const uint64_t hash = op->name ? trace_hash(op->name, (uint32_t)strlen(op->name)) : 0;
    for (uint64_t salt = 0;; salt++) {
        uint32_t *index = index_map_at(map, hash + salt, (uint64_t)(op->device + 1) << 1 | op->of_call);
        if (*index == INDEX_MAP_NONE) {
            *index = (uint32_t)rows->count;
            rows->merged[rows->count] = kernel_row(op);
            return (uint32_t)rows->count++;
        }
        if (!compare_names(&rows->merged[*index].op, op))
            return *index;
    }
}

struct operator_rows operator_rows_by_kernel(const struct session *session, bool (*keep)(const struct operator_row *op))
{
    struct operator_rows rows = {0};
    struct index_map map = {0};
    rows.merged = allocate(session->operator_count + 1, sizeof *rows.merged);
    rows.kernel_of = allocate(session->operator_count + 1, sizeof *rows.kernel_of);
    for (size_t i = 0; i < session->operator_count; i++) {
        const struct operator_row *op = &session->operators[i];
        rows.kernel_of[i] = !keep || keep(op) ? kernel_at(&rows, &map, op) : OPERATOR_ROWS_NONE;
        if (rows.kernel_of[i] != OPERATOR_ROWS_NONE)
            merge(&rows.merged[rows.kernel_of[i]], op);
    }
    index_map_free(&map);
    rows.rows = allocate(rows.count + 1, sizeof *rows.rows);
    for (size_t i = 0; i < rows.count; i++)
        rows.rows[i] = &rows.merged[i];
    if (rows.count)
        qsort(rows.rows, rows.count, sizeof *rows.rows, by_time);
    for (size_t i = 0; i < rows.count; i++)
        rows.merged[(const struct kernel_row *)rows.rows[i] - rows.merged].place = i;
    rows.shown = rows.count;
    return rows;
}

/* ---- all ---- */

static struct operator_rows rows_as_they_are(const struct session *session, const struct view *view)
{
    bool weights = view->by == COLUMNS_OF_WEIGHT;
    struct operator_rows rows = {.count = weights ? session->weight_count : session->operator_count};
    rows.rows = allocate(rows.count + 1, sizeof *rows.rows);
    for (size_t i = 0; i < rows.count; i++)
        rows.rows[i] = weights ? (const void *)&session->weights[i] : (const void *)&session->operators[i];
    return rows;
}

/* The list may be sorted anew, the rows are those of SOURCE still. */
static struct operator_rows kernels_at_hand(const struct column_source *source)
{
    const struct operator_rows *all = source->kernels;
    if (!all)
        return operator_rows_by_kernel(source->session, NULL);
    struct operator_rows rows = {.count = all->count};
    rows.rows = allocate(rows.count + 1, sizeof *rows.rows);
    memcpy(rows.rows, all->rows, rows.count * sizeof *rows.rows);
    return rows;
}

struct operator_rows operator_rows_of(const struct column_source *source, const struct view *view)
{
    struct operator_rows rows =
        view->by == COLUMNS_OF_KERNEL ? kernels_at_hand(source) : rows_as_they_are(source->session, view);
    if (view->sort)
        columns_sort(view->sort, source, rows.rows, rows.count);
    rows.shown = rows_shown(view, rows.count);
    return rows;
}

/* ---- those that are not shown ---- */

static void add_operator(struct operator_rest *rest, const struct operator_row *op)
{
    rest->calls_known &= op->calls_known;
    rest->timed |= op->timed && op->kernels;
    sum_add(&rest->calls, op->calls);
    sum_add(&rest->time_ns, op->time_ns);
}

static void add_weight(struct operator_rest *rest, const struct weight_row *weight)
{
    rest->timed |= weight->timed;
    sum_add(&rest->calls, weight->executions);
    sum_add(&rest->time_ns, weight->time_ns);
}

struct operator_rest operator_rows_rest(const struct view *view, const struct operator_rows *rows)
{
    struct operator_rest rest = {.calls_known = true};
    for (size_t i = rows->shown; i < rows->count; i++) {
        if (view->by == COLUMNS_OF_WEIGHT)
            add_weight(&rest, rows->rows[i]);
        else
            add_operator(&rest, rows->rows[i]);
    }
    return rest;
}

void operator_rows_free(struct operator_rows *rows)
{
    free(rows->rows);
    free(rows->merged);
    free(rows->kernel_of);
    *rows = (struct operator_rows){0};
}
