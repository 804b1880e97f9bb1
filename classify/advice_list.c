/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the table of advice.c over the subjects of a session, and keeps what holds and is worth saying. Comparisons with NAN
 * are false here, too. */
#include "classify/advice.h"

#include <math.h>
#include <stdlib.h>

#include "classify/allocate.h"
#include "classify/roof_time.h"
#include "classify/session.h"

size_t advice_subject_count(const struct session *session, enum advice_kind kind)
{
    switch (kind) {
    case ADVICE_WEIGHT:
        return session->weight_count;
    case ADVICE_SIBLINGS:
        return session->sibling_group_count;
    case ADVICE_OPERATOR:
        return session->operator_count;
    case ADVICE_NAIVE_ATTENTION:
        return session->naive_attention_count;
    case ADVICE_DEVICE:
        return session->device_count;
    default:
        return 1;
    }
}

static void find_base(const struct session *session, struct advice_list *list)
{
    double busy = 0, span = 0, roof = 0;
    for (size_t i = 0; i < session->device_count; i++) {
        const struct device_time_sum *time = &session->devices[i].time;
        busy += roof_base_ns(session, (int)i);
        span += time->busy_known && time->span_known ? (double)time->span_ns : 0;
    }
    for (size_t i = 0; i < session->operator_count; i++)
        if (session->operators[i].t_roof_ns > 0)
            roof += session->operators[i].t_roof_ns;
    list->by_roof = !(busy > 0);
    list->base_ns = busy > 0 ? busy : roof > 0 ? roof : NAN;
    list->span_ns = span > 0 ? span : NAN;
}

static int by_saved_subject(const void *left, const void *right)
{
    const struct advice_subject *a = left, *b = right;
    if (a->saved_ns != b->saved_ns)
        return a->saved_ns < b->saved_ns ? 1 : -1;
    return (a->index > b->index) - (a->index < b->index);
}

static int by_saved(const void *left, const void *right)
{
    const struct advice *a = left, *b = right;
    if (a->saved_ns != b->saved_ns)
        return a->saved_ns < b->saved_ns ? 1 : -1;
    return (a->row > b->row) - (a->row < b->row);
}

/* False: it does not hold, or is not worth saying. */
static bool find_one(const struct session *session, const struct advice_list *list, const struct advice_row *row,
                     struct advice *advice)
{
    size_t count = advice_subject_count(session, row->kind);
    double base = row->of_span ? list->span_ns : list->base_ns;
    *advice = (struct advice){.row = row, .subjects = allocate(count + 1, sizeof *advice->subjects)};
    for (size_t i = 0; i < count; i++) {
        double saved = row->saved_ns(session, i);
        if (!(saved > 0))
            continue;
        saved = fmin(saved, base);
        advice->subjects[advice->subject_count++] = (struct advice_subject){i, saved};
        advice->saved_ns += saved;
    }
    qsort(advice->subjects, advice->subject_count, sizeof *advice->subjects, by_saved_subject);
    advice->saved_ns = fmin(advice->saved_ns, base);
    advice->saved_share = advice->saved_ns / base;
    if (advice->saved_share >= ADVICE_LEAST_SHARE)
        return true;
    free(advice->subjects);
    return false;
}

struct advice_list advice_find(const struct session *session)
{
    size_t count;
    const struct advice_row *rows = advice_rows(&count);
    struct advice_list list = {.items = allocate(count, sizeof *list.items)};
    find_base(session, &list);
    for (size_t i = 0; i < count; i++)
        list.count += find_one(session, &list, &rows[i], &list.items[list.count]);
    qsort(list.items, list.count, sizeof *list.items, by_saved);
    return list;
}

void advice_free(struct advice_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].subjects);
    free(list->items);
    *list = (struct advice_list){0};
}
