/* SPDX-License-Identifier: Apache-2.0 */
/* Comes after advice_list.c, whose first item is the lever. Waiting outranks what bounds the kernels, and what has no bound
 * outranks a bound that covers less. */
#include "classify/verdict.h"

#include <math.h>

#include "classify/session.h"

#define MOST 0.5 /* of the span: a GPU that is idle for more than that waits */

/* Of kernels that were timed; where none was, of the calls at their roof. */
static double time_of(const struct operator_row *op, bool by_roof)
{
    if (by_roof)
        return op->t_roof_ns > 0 ? op->t_roof_ns : 0;
    return op->timed && op->kernels ? (double)op->time_ns : 0;
}

static void find_shares(const struct session *session, struct verdict *verdict)
{
    double all = 0, roofless = 0, sum[VERDICT_BOUNDS] = {0};
    for (size_t i = 0; i < session->operator_count; i++) {
        const struct operator_row *op = &session->operators[i];
        double time = time_of(op, verdict->by_roof);
        sum[op->roofline.bound] += time;
        if (op->roofline.bound == BOUND_UNKNOWN && !isnan(op->flops / op->bytes))
            roofless += time;
        all += time;
    }
    const bool timed = !isnan(session->coverage.gpu_time_ns);
    for (int bound = 0; bound < VERDICT_BOUNDS; bound++)
        verdict->time_ns[bound] = !timed ? NAN : verdict->by_roof ? 0 : sum[bound];
    verdict->roofless_share = all > 0 ? roofless / all : NAN;
    for (int bound = 0; bound < VERDICT_BOUNDS; bound++) {
        verdict->share[bound] = all > 0 ? sum[bound] / all : NAN;
        if (bound != BOUND_UNKNOWN && sum[bound] > 0 &&
            (verdict->bound == BOUND_UNKNOWN || sum[bound] > sum[verdict->bound]))
            verdict->bound = (enum bound)bound;
    }
}

static double idle_share(const struct session *session)
{
    double span = 0, busy = 0;
    for (size_t i = 0; i < session->device_count; i++) {
        const struct device_time_sum *time = &session->devices[i].time; /* of windows alone where there were some */
        if (!time->busy_known || !time->span_known)
            continue;
        span += (double)time->span_ns;
        busy += (double)time->busy_ns;
    }
    return span > 0 && !session->simulated ? 1 - busy / span : NAN;
}

static enum verdict_kind kind_of(const struct verdict *verdict)
{
    if (isnan(verdict->share[BOUND_UNKNOWN]))
        return VERDICT_NOTHING;
    if (verdict->idle_share > MOST)
        return VERDICT_WAITS;
    if (verdict->bound == BOUND_UNKNOWN || verdict->share[BOUND_UNKNOWN] > verdict->share[verdict->bound])
        return VERDICT_UNKNOWN;
    return VERDICT_BOUND;
}

struct verdict verdict_of(const struct session *session, const struct advice_list *list)
{
    struct verdict verdict = {
        .bound = BOUND_UNKNOWN,
        .by_roof = !(session->coverage.gpu_time_ns > 0),
        .idle_share = idle_share(session),
    };
    find_shares(session, &verdict);
    verdict.kind = kind_of(&verdict);
    for (size_t i = 0; i < list->count && !verdict.lever; i++)
        if (!list->items[i].row->of_span || verdict.kind == VERDICT_WAITS)
            verdict.lever = &list->items[i];
    return verdict;
}

const char *verdict_kind_name(enum verdict_kind kind)
{
    static const char *const names[] = {
        [VERDICT_NOTHING] = "nothing",
        [VERDICT_UNKNOWN] = "unknown",
        [VERDICT_WAITS] = "waits",
        [VERDICT_BOUND] = "bound",
    };
    return names[kind];
}
