/* SPDX-License-Identifier: Apache-2.0 */
/* In proportion to how often a helper's launches served each operator, replays of graphs counted, on each device among those
 * that ran there; what served nothing that is known stays with it. Parts are differences of rounded running sums, so they
 * add up to the whole. */
#include "classify/helper_shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/launch_operators.h"
#include "classify/session_merge.h"

/* What it serves is an operator still, now that all is known. */
static bool is_served(struct operator_join *join, const struct helper_pair *pair)
{
    if (pair->served.of == USE_CALL)
        return index_map_find(&join->signature_map, pair->served.id, 0) != INDEX_MAP_NONE;
    return pair->served.of == USE_SHAPE && launch_operators_is_operator(join, pair->served);
}

static uint64_t less(uint64_t all, uint64_t part)
{
    return part < all ? all - part : 0;
}

/* What of a helper is charged to operators, all of its pairs together. */
static struct helper_pair charged_of(struct operator_join *join, struct graph_use use)
{
    const struct helper_charges *charges = &join->replays.helpers;
    struct helper_pair sum = {.shape_id = use.id};
    for (const struct helper_pair *pair = helper_charges_of_shape(charges, use.id); pair;
         pair = helper_charges_next(charges, pair)) {
        if (!is_served(join, pair))
            continue;
        sum_add(&sum.launches, pair->launches);
        sum_add(&sum.captured, pair->captured);
        sum_add(&sum.replayed, pair->replayed);
    }
    return sum;
}

uint64_t helper_shares_uncharged_launches(struct operator_join *join, struct graph_use use, uint64_t launches)
{
    return launch_operators_is_helper(join, use) ? less(launches, charged_of(join, use).launches) : launches;
}

static uint64_t launches_of(const struct operator_join *join, struct graph_use use)
{
    const struct launch_shape *shape = launch_shapes_find(&join->launch_shapes, use.id);
    const uint32_t index = index_map_find(&join->launch_map, shape ? shape->name_id : 0, use.id);
    return index == INDEX_MAP_NONE ? 0 : join->launches[index].launches;
}

/* Each kind on its own, so that what one has too many does not make up for another. */
uint64_t helper_shares_uncharged(struct operator_join *join, struct graph_use use, uint64_t executions)
{
    if (!launch_operators_is_helper(join, use))
        return executions;
    const struct helper_pair charged = charged_of(join, use);
    const struct replay_count *count = graph_replays_find(&join->replays, use);
    const struct trace_slice replays = count ? time_slices_sum(&count->slices) : (struct trace_slice){0, 0, 0};
    const uint64_t launches = launches_of(join, use);
    if (!launches && !replays.all)
        return less(executions, helper_pair_executions(&charged));
    uint64_t left = less(less(launches, charged.launches), less(replays.timed, charged.captured));
    sum_add(&left, less(replays.all, charged.replayed));
    return left < executions ? left : executions;
}

/* Executions of USE that were timed on a device, or on all of them. */
static uint64_t timed_on(const struct operator_join *join, struct graph_use use, uint32_t ordinal)
{
    const struct joined_kernels *row = operator_join_find_row(join, ordinal, use);
    return row ? row->executions : 0;
}

static uint64_t timed_of(const struct operator_join *join, struct graph_use use)
{
    uint64_t timed = 0;
    for (size_t d = 0; d < join->device_count; d++)
        sum_add(&timed, timed_on(join, use, join->devices[d].ordinal));
    return timed;
}

/* What of a helper's row goes where: SHARES[0] stays with it, the others are its pairs'. */
struct helper_split {
    double *shares;
    size_t count;
    double sum;
};

static double share_of_pair(struct operator_join *join, const struct helper_pair *pair, uint32_t ordinal, bool here)
{
    const uint64_t all = timed_of(join, pair->served);
    double share = (double)helper_pair_executions(pair);
    if (!is_served(join, pair))
        return 0;
    if (here && all)
        share *= (double)timed_on(join, pair->served, ordinal) / (double)all;
    return share;
}

/* HERE: by what ran on this device; else, where that is none of it, by what ran anywhere. */
static void weigh(struct helper_split *split, struct operator_join *join, const struct joined_kernels *row, bool here)
{
    const struct helper_charges *charges = &join->replays.helpers;
    size_t i = 1;
    split->sum = split->shares[0];
    for (const struct helper_pair *pair = helper_charges_of_shape(charges, row->use.id); pair;
         pair = helper_charges_next(charges, pair))
        split->sum += split->shares[i++] = share_of_pair(join, pair, row->ordinal, here);
}

static struct helper_split split_of(struct operator_join *join, const struct joined_kernels *row, uint64_t executions)
{
    const struct helper_charges *charges = &join->replays.helpers;
    struct helper_split split = {.count = 1};
    for (const struct helper_pair *pair = helper_charges_of_shape(charges, row->use.id); pair;
         pair = helper_charges_next(charges, pair))
        split.count++;
    split.shares = allocate(split.count, sizeof *split.shares);
    const uint64_t timed = timed_of(join, row->use);
    const double part = timed ? (double)row->executions / (double)timed : 1;
    split.shares[0] = part * (double)helper_shares_uncharged(join, row->use, executions);
    weigh(&split, join, row, true);
    if (!(split.sum > 0))
        weigh(&split, join, row, false);
    if (!(split.sum > 0))
        split.sum = split.shares[0] = 1;
    return split;
}

/* Of WHOLE, what lies between two running sums of the shares. */
static uint64_t part_of(uint64_t whole, double before, double after, double sum)
{
    const double from = before >= sum ? (double)whole : floor((double)whole * (before / sum));
    const double to = after >= sum ? (double)whole : floor((double)whole * (after / sum));
    const uint64_t first = from < (double)whole ? (uint64_t)from : whole,
                   last = to < (double)whole ? (uint64_t)to : whole;
    return last > first ? last - first : 0;
}

struct helper_part {
    uint64_t time_ns, kernels;        /* as reported */
    uint64_t timed_ns, timed_kernels; /* of them, timed one by one */
    struct sampled_time estimate;     /* COVERED 0: nothing is estimated */
};

static void add_estimate(struct operator_row *op, const struct helper_part *part)
{
    op->timed = true;
    sum_add(&op->time_ns, part->time_ns);
    sum_add(&op->kernels, part->kernels);
    sum_add(&op->evidence.time_ns, part->timed_ns);
    sum_add(&op->evidence.kernels, part->timed_kernels);
    if (part->estimate.covered > 0)
        time_evidence_add(&op->evidence, &part->estimate);
}

static struct operator_helper *helper_of(struct operator_row *op, const char *name)
{
    for (size_t i = 0; i < op->helper_count; i++)
        if (name && op->helpers[i].name ? !strcmp(name, op->helpers[i].name) : name == op->helpers[i].name)
            return &op->helpers[i];
    size_t capacity = op->helper_count; /* a handful */
    op->helpers = allocate_grow(op->helpers, op->helper_count, &capacity, sizeof *op->helpers);
    op->helpers[op->helper_count] = (struct operator_helper){.name = allocate_text(name)};
    return &op->helpers[op->helper_count++];
}

static void charge(struct operator_row *op, const char *name, const struct helper_part *part)
{
    struct operator_helper *helper = helper_of(op, name);
    sum_add(&helper->kernels, part->kernels);
    sum_add(&helper->time_ns, part->time_ns);
    add_estimate(op, part);
}

static uint64_t whole(double number)
{
    return number > 0 ? number < 9e18 ? (uint64_t)(number + 0.5) : INT64_MAX : 0;
}

static struct helper_part whole_of(const struct joined_kernels *row, const struct sampled_row *sampled)
{
    struct helper_part all = {row->time_ns, row->kernels, row->time_ns, row->kernels, {0, 0, 0, 0}};
    if (sampled && sampled->estimated) {
        const double times = row->kernels ? sampled->time.covered / (double)row->kernels : 1;
        all.time_ns = whole(sampled->time.time_ns);
        all.kernels = whole(times * (double)row->kernels);
        all.estimate = sampled->time;
    }
    return all;
}

static struct helper_part cut(const struct helper_part *all, double before, double after, double sum)
{
    const double share = (after - before) / sum;
    struct helper_part part = {
        .time_ns = part_of(all->time_ns, before, after, sum),
        .kernels = part_of(all->kernels, before, after, sum),
        .timed_ns = part_of(all->timed_ns, before, after, sum),
        .timed_kernels = part_of(all->timed_kernels, before, after, sum),
        .estimate = all->estimate,
    };
    part.estimate.variance *= share * share;
    return part;
}

/* The helper's own row: of a kernel by name, as if it were none. */
static void keep_rest(struct session_merge *merge, struct operator_join *join, const struct joined_kernels *row,
                      int device, const struct helper_part *part)
{
    if (!part->kernels && !part->time_ns)
        return;
    struct operator_row *op = session_merge_operator_of_use(merge, join, row->use, row->name_id, device);
    add_estimate(op, part);
    sum_add(&op->evidence.executions, part->timed_kernels);
    duration_histogram_add_all(&op->durations, &row->durations);
    if (row->widest_blocks > op->blocks)
        op->blocks = row->widest_blocks;
}

static void share_row(struct session_merge *merge, struct operator_join *join, const struct joined_kernels *row,
                      int device, uint64_t executions, const struct sampled_row *sampled)
{
    const struct helper_charges *charges = &join->replays.helpers;
    const char *name = name_pool_find(&merge->names, row->name_id);
    const struct helper_part all = whole_of(row, sampled);
    struct helper_split split = split_of(join, row, executions);
    double before = split.shares[0];
    size_t i = 1;
    struct helper_part part = cut(&all, 0, before, split.sum);
    keep_rest(merge, join, row, device, &part);
    for (const struct helper_pair *pair = helper_charges_of_shape(charges, row->use.id); pair;
         pair = helper_charges_next(charges, pair)) {
        const double after = i + 1 == split.count ? split.sum : before + split.shares[i];
        part = cut(&all, before, after, split.sum);
        if (split.shares[i] > 0 && (part.time_ns || part.kernels))
            charge(session_merge_operator_of_use(merge, join, pair->served, 0, device), name, &part);
        before = after;
        i++;
    }
    free(split.shares);
}

/* Where nothing was timed, names are what is known of helpers. */
static void name_untimed(struct session_merge *merge, struct operator_join *join, const int *device_of)
{
    const struct helper_charges *charges = &join->replays.helpers;
    const int only = session_merge_only_device(join, device_of);
    for (size_t i = 0; i < charges->pair_count && only != SESSION_DEVICE_UNKNOWN; i++) {
        const struct helper_pair *pair = &charges->pairs[i];
        const struct graph_use use = {USE_SHAPE, pair->shape_id};
        if (timed_of(join, use) || !launch_operators_is_helper(join, use) || !is_served(join, pair) ||
            !helper_pair_executions(pair))
            continue;
        const struct launch_shape *shape = launch_shapes_find(&join->launch_shapes, pair->shape_id);
        helper_of(session_merge_operator_of_use(merge, join, pair->served, 0, only),
                  name_pool_find(&merge->names, shape->name_id));
    }
}

static uint64_t executions_of(const struct operator_join *join, const struct execution_book *book, struct graph_use use)
{
    const struct execution_count *count = execution_book_find(book, use);
    const uint64_t timed = timed_of(join, use);
    return count && count->executions > timed ? count->executions : timed;
}

void helper_shares_add(struct session_merge *merge, struct operator_join *join, const int *device_of,
                       const struct execution_book *book, const struct sampled_rows *sampled)
{
    for (size_t i = 0; i < join->row_count; i++) {
        const struct joined_kernels *row = &join->rows[i];
        int device = SESSION_DEVICE_UNKNOWN;
        if (!launch_operators_is_helper(join, row->use))
            continue;
        for (size_t d = 0; d < join->device_count; d++)
            device = join->devices[d].ordinal == row->ordinal ? device_of[d] : device;
        share_row(merge, join, row, device, executions_of(join, book, row->use),
                  sampled->rows ? &sampled->rows[i] : NULL);
    }
    name_untimed(merge, join, device_of);
}
