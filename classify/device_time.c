/* SPDX-License-Identifier: Apache-2.0 */
/* Unions of nested sets, whose differences are the parts: compute, all kernels, all activity, the span. */
#include "classify/device_time.h"

#include <stddef.h>

enum { STRETCHES_MOST = 4096 };

static struct interval_set *open_set(const struct device_time *time)
{
    return time->bounded ? interval_set_open_bounded(INTERVAL_SET_BUFFER, STRETCHES_MOST)
                         : interval_set_open(INTERVAL_SET_BUFFER);
}

static struct interval_set *set_of(struct device_time *time, enum device_activity activity)
{
    if (!time->sets[activity])
        time->sets[activity] = open_set(time);
    return time->sets[activity];
}

/* From here on kernels are more than compute. */
static struct interval_set *kernels_of(struct device_time *time)
{
    if (!time->sets[DEVICE_KERNELS]) {
        set_of(time, DEVICE_KERNELS);
        if (time->sets[DEVICE_COMPUTE])
            interval_set_include(time->sets[DEVICE_KERNELS], time->sets[DEVICE_COMPUTE]);
    }
    return time->sets[DEVICE_KERNELS];
}

void device_time_open(struct device_time *time, bool bounded)
{
    *time = (struct device_time){.bounded = bounded};
}

void device_time_close(struct device_time *time)
{
    for (int i = 0; i < DEVICE_ACTIVITIES; i++)
        interval_set_close(time->sets[i]);
    interval_set_close(time->timed);
    *time = (struct device_time){0};
}

void device_time_add(struct device_time *time, enum device_activity activity, uint64_t start_ns, uint64_t end_ns)
{
    if (activity == DEVICE_COMMUNICATION || (activity == DEVICE_COMPUTE && time->sets[DEVICE_KERNELS]))
        interval_set_add(kernels_of(time), start_ns, end_ns);
    interval_set_add(set_of(time, activity), start_ns, end_ns);
}

void device_time_add_set(struct device_time *time, enum device_activity activity, struct interval_set *from)
{
    if (activity == DEVICE_COMMUNICATION || (activity == DEVICE_COMPUTE && time->sets[DEVICE_KERNELS]))
        interval_set_include(kernels_of(time), from);
    interval_set_absorb(set_of(time, activity), from);
}

void device_time_add_stretch(struct device_time *time, enum device_activity activity,
                             const struct interval_stretch *stretch)
{
    interval_set_add_stretch(activity == DEVICE_KERNELS ? kernels_of(time) : set_of(time, activity), stretch);
}

void device_time_take(struct device_time *time, enum device_activity activity, uint64_t gap_ns, bool known)
{
    interval_set_take(activity == DEVICE_KERNELS ? kernels_of(time) : set_of(time, activity), gap_ns, known);
}

void device_time_add_window(struct device_time *time, uint64_t open_ns, uint64_t close_ns)
{
    if (!time->timed)
        time->timed = open_set(time);
    interval_set_add(time->timed, open_ns, close_ns);
}

static bool is_unused(const struct device_time *time)
{
    for (int i = 0; i < DEVICE_ACTIVITIES; i++)
        if (time->sets[i])
            return false;
    return !time->timed && !time->split_unknown && !time->span_unknown;
}

void device_time_absorb(struct device_time *time, struct device_time *from)
{
    if (is_unused(time)) {
        *time = *from;
        *from = (struct device_time){0};
        return;
    }
    if (time->sets[DEVICE_KERNELS] || from->sets[DEVICE_KERNELS]) {
        kernels_of(time);
        kernels_of(from);
    }
    for (int i = 0; i < DEVICE_ACTIVITIES; i++)
        if (from->sets[i]) {
            interval_set_absorb(set_of(time, (enum device_activity)i), from->sets[i]);
            from->sets[i] = NULL;
        }
    if (from->timed) {
        if (!time->timed)
            time->timed = open_set(time);
        interval_set_absorb(time->timed, from->timed);
        from->timed = NULL;
    }
    time->split_unknown |= from->split_unknown;
    time->span_unknown |= from->span_unknown;
    device_time_close(from);
}

/* ---- sums ---- */

/* False: the union can't be told. Of no set, or an empty one, it is 0. */
static bool covered(struct interval_set *set, uint64_t *ns)
{
    *ns = 0;
    if (!set || interval_set_is_empty(set))
        return true;
    struct interval_union all = interval_set_union(set);
    *ns = all.covered_ns;
    return all.known;
}

static void find_split(struct device_time *time, struct device_time_sum *sum)
{
    struct interval_set **sets = time->sets;
    uint64_t compute, kernels, communication, copies;
    bool known = covered(sets[DEVICE_COMPUTE], &compute) && covered(sets[DEVICE_KERNELS], &kernels) &&
                 covered(sets[DEVICE_COMMUNICATION], &communication) && covered(sets[DEVICE_COPIES], &copies);
    if (!known || time->split_unknown)
        return;
    if (!sets[DEVICE_KERNELS])
        kernels = compute;
    /* Sums that a stranger wrote need not be those of nested sets. */
    if (compute > kernels || kernels > sum->busy_ns || kernels - compute > communication ||
        sum->busy_ns - kernels > copies)
        return;
    sum->split_known = true;
    sum->compute_ns = compute;
    sum->communication_ns = kernels - compute;
    sum->communication_overlapped_ns = communication - sum->communication_ns;
    sum->copy_ns = sum->busy_ns - kernels;
    sum->copy_overlapped_ns = copies - sum->copy_ns;
}

struct clip {
    struct interval_set *span;
    uint64_t first_ns, last_ns;
};

static void visit_window(void *context, uint64_t open_ns, uint64_t close_ns)
{
    const struct clip *clip = context;
    uint64_t start = open_ns > clip->first_ns ? open_ns : clip->first_ns;
    uint64_t end = close_ns < clip->last_ns ? close_ns : clip->last_ns;
    if (start < end)
        interval_set_add(clip->span, start, end);
}

/* Windows from first start to last end; what ran beyond one's end belongs to the span as well. */
static void find_span_in_windows(struct device_time *time, struct interval_set *busy, const struct interval_union *all,
                                 struct device_time_sum *sum)
{
    struct clip clip = {interval_set_open(INTERVAL_SET_BUFFER), all->first_ns, all->last_ns};
    bool whole = interval_set_visit(time->timed, visit_window, &clip);
    struct interval_union span = interval_set_union(clip.span);
    if (!span.known || span.covered_ns < all->last_ns - all->first_ns) {
        interval_set_include(clip.span, busy);
        span = interval_set_union(clip.span);
    }
    sum->span_known = whole && span.known;
    sum->span_ns = span.covered_ns;
    interval_set_close(clip.span);
}

struct device_time_sum device_time_sum(struct device_time *time, struct interval_set *busy)
{
    struct device_time_sum sum = {0};
    struct interval_union all = interval_set_union(busy);
    if (!all.known)
        return sum;
    sum.busy_known = true;
    sum.busy_ns = all.covered_ns;
    find_split(time, &sum);
    if (time->span_unknown)
        return sum;
    if (time->timed) {
        find_span_in_windows(time, busy, &all, &sum);
    } else {
        sum.span_known = true;
        sum.span_ns = all.last_ns - all.first_ns;
    }
    if (sum.span_known)
        sum.gap_ns = sum.span_ns - sum.busy_ns;
    return sum;
}
