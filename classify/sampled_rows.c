/* SPDX-License-Identifier: Apache-2.0 */
/* All rows are laid on one grid of time, whose parts are about as long as the period in which one window is drawn, so that a
 * part is a cluster. Only what ran while windows were drawn is taken for more than it is. */
#include "classify/sampled_rows.h"

#include <math.h>
#include <stdlib.h>

#include "classify/allocate.h"

enum { PARTS_MOST = TRACE_SLICES_MOST, NOT_SAMPLED = -1, MIXED = -2 };

/* Slices of equal length that all rows are brought to; of those in which windows were drawn at one rate, as many together as
 * make a period are a part. */
struct grid {
    const struct operator_join *join;
    uint32_t shift;
    uint64_t first;
    size_t count;
    int epoch
        [PARTS_MOST]; /* index of the timing's change whose windows are drawn in this slice; MIXED: in some of it */
    size_t part[PARTS_MOST];    /* of slices with an epoch */
    double open_ns[PARTS_MOST]; /* so long windows were open */
    bool window[PARTS_MOST];    /* one opened */
    bool paused[PARTS_MOST]; /* none was drawn: what was launched there is not claimed, what is timed there ran late */
    size_t part_count;
    int part_epoch[PARTS_MOST];
    unsigned char present[PARTS_MOST]; /* by part: a window was open, or something was timed */
    double influence[PARTS_MOST];      /* by part, on the sum of all rows */
};

/* ---- the grid ---- */

struct extent {
    uint32_t shift;
    uint64_t first_ns, last_ns;
    bool any;
};

static void widen(struct extent *extent, const struct time_slices *slices)
{
    if (!slices->count)
        return;
    const uint64_t first_ns = slices->first << slices->shift;
    const uint64_t last_ns = (slices->first + slices->count - 1) << slices->shift;
    extent->shift = slices->shift > extent->shift ? slices->shift : extent->shift;
    extent->first_ns = !extent->any || first_ns < extent->first_ns ? first_ns : extent->first_ns;
    extent->last_ns = !extent->any || last_ns > extent->last_ns ? last_ns : extent->last_ns;
    extent->any = true;
}

static void lay(struct grid *grid, const struct extent *extent)
{
    uint32_t shift = extent->shift;
    while (shift < 63 && (extent->last_ns >> shift) - (extent->first_ns >> shift) >= PARTS_MOST)
        shift++;
    grid->shift = shift;
    grid->first = extent->first_ns >> shift;
    grid->count = (size_t)((extent->last_ns >> shift) - grid->first) + 1;
}

static size_t place_of(const struct grid *grid, const struct time_slices *slices, uint32_t slice)
{
    return (size_t)((((slices->first + slice) << slices->shift) >> grid->shift) - grid->first);
}

/* ---- what is sampled ---- */

static bool is_sampled(const struct timing_windows *timing, int change)
{
    return change >= 0 && timing->changes[change].mode == TRACE_TIMING_SAMPLED;
}

/* The change in force at NS; negative: none yet. */
static int change_at(const struct timing_windows *timing, uint64_t ns)
{
    const struct timing_change *change = timing_windows_at(timing, ns);
    return change ? (int)(change - timing->changes) : NOT_SAMPLED;
}

/* The first of the changes up to this one that draw at the same rate: another rule makes no other sample. */
static int rate_of(const struct timing_windows *timing, int change)
{
    while (change > 0 && is_sampled(timing, change) && is_sampled(timing, change - 1) &&
           timing->changes[change].period_ns == timing->changes[change - 1].period_ns &&
           timing->changes[change].window_ns == timing->changes[change - 1].window_ns)
        change--;
    return change;
}

/* Where only some of a slice is sampled, what is timed of it is most of the rest. Where the rate changes in it, the later one
 * counts. */
static int epoch_of(const struct timing_windows *timing, uint64_t from_ns, uint64_t last_ns)
{
    const int first = change_at(timing, from_ns), last = change_at(timing, last_ns);
    bool all = is_sampled(timing, first), any = all;
    for (int i = first + 1; i <= last; i++) {
        all &= is_sampled(timing, i);
        any |= is_sampled(timing, i);
    }
    return all ? rate_of(timing, last) : any ? MIXED : NOT_SAMPLED;
}

/* Slices that a period may be long. */
static size_t slices_of_period(const struct grid *grid, int epoch)
{
    const uint64_t period_ns = epoch >= 0 ? grid->join->timing.changes[epoch].period_ns : 0;
    const uint64_t slices = (period_ns >> grid->shift) + 1;
    return slices < PARTS_MOST ? (size_t)slices : PARTS_MOST;
}

/* Each period has a window, so between two that follow one another lie at most two periods, or some more where the thread that
 * opens them did not get to run. A longer gap is a pause, as before --delay or after `rooftap ctl stop`, of which nothing
 * is claimed. */
enum { PERIODS_BETWEEN = 8, PERIODS_BESIDE = 4 };

static void leave_out_pause(struct grid *grid, size_t from, size_t to, bool from_window, bool to_window)
{
    const size_t period = from < grid->count ? slices_of_period(grid, grid->epoch[from]) : 0;
    const size_t most = (from_window && to_window ? PERIODS_BETWEEN : PERIODS_BESIDE) * period + 1;
    for (size_t i = from; i < to && to - from > most; i++)
        grid->paused[i] = true;
}

/* Behind it nothing was launched any more. */
static size_t slice_of_end(const struct grid *grid)
{
    const uint64_t at = grid->join->end_realtime_ns >> grid->shift;
    return at >= grid->first && at - grid->first < grid->count ? (size_t)(at - grid->first) : grid->count;
}

static void leave_out_pauses(struct grid *grid)
{
    const size_t end = slice_of_end(grid);
    size_t from = 0;
    bool after_window = false;
    for (size_t i = 0; i <= grid->count; i++) {
        const bool ends = i == grid->count || i == end + 1 || grid->epoch[i] < 0;
        const bool window = !ends && grid->window[i];
        if (!ends && !window)
            continue;
        leave_out_pause(grid, from, i, after_window, window);
        from = window || i == grid->count || grid->epoch[i] < 0 ? i + 1 : i;
        after_window = window;
    }
}

static void find_parts(struct grid *grid)
{
    size_t length = 0;
    for (size_t i = 0; i < grid->count; i++) {
        if (grid->epoch[i] < 0) {
            length = 0;
            continue;
        }
        const bool begins =
            !length || grid->epoch[i] != grid->epoch[i - 1] || length >= slices_of_period(grid, grid->epoch[i]);
        grid->part_count += begins;
        length = begins ? 1 : length + 1;
        grid->part[i] = grid->part_count - 1;
        grid->part_epoch[grid->part[i]] = grid->epoch[i];
        grid->present[grid->part[i]] |= grid->window[i];
    }
}

static void find_sampled(struct grid *grid)
{
    const struct timing_windows *timing = &grid->join->timing;
    for (size_t i = 0; i < grid->count; i++) {
        const uint64_t from_ns = (grid->first + i) << grid->shift;
        grid->epoch[i] = epoch_of(timing, from_ns, from_ns + ((1ull << grid->shift) - 1));
    }
    for (uint32_t i = 0; i < timing->sampled.count; i++) {
        const size_t at = place_of(grid, &timing->sampled, i);
        grid->open_ns[at] += (double)timing->sampled.slices[i].time_ns;
        grid->window[at] |= timing->sampled.slices[i].all > 0;
    }
    leave_out_pauses(grid);
    find_parts(grid);
}

/* How long a slice is; the run may end in it. */
static double span_ns(const struct grid *grid, size_t slice)
{
    const uint64_t from_ns = (grid->first + slice) << grid->shift, end_ns = grid->join->end_realtime_ns;
    const double whole = (double)(1ull << grid->shift);
    return end_ns > from_ns ? fmin(whole, (double)(end_ns - from_ns)) : whole;
}

/* ---- rows ---- */

/* Of all rows of one thing on all devices: executions that were timed. */
static uint64_t timed_of_all_devices(const struct operator_join *join, const struct joined_kernels *row)
{
    uint64_t timed = 0;
    for (size_t d = 0; d < join->device_count; d++) {
        const struct joined_kernels *here = operator_join_find_row(join, join->devices[d].ordinal, row->use);
        if (here)
            sum_add(&timed, time_slices_sum(&here->slices).timed);
    }
    return timed;
}

struct row_parts {
    struct sampled_part parts[PARTS_MOST];
    double left_ns, left_timed; /* outside of sampling */
    double all, timed, time_ns; /* inside */
};

static struct sampled_part sum_of_part(const struct sampled_part *a, const struct sampled_part *b)
{
    return (struct sampled_part){a->all + b->all, a->timed + b->timed, a->time_ns + b->time_ns};
}

/* Of a slice that is sampled in part, what is not timed goes to the nearest part: its own times are those of the rest. */
static void split_mixed(const struct grid *grid, size_t slice, const struct sampled_part *here, struct row_parts *parts)
{
    const double left = here->all > here->timed ? here->all - here->timed : 0;
    parts->left_ns += here->time_ns;
    parts->left_timed += here->timed;
    for (size_t by = 1; by < grid->count; by++)
        for (int side = 0; side < 2; side++) {
            const size_t at = side ? slice - by : slice + by; /* before the first it wraps, and is none */
            if (at >= grid->count || grid->epoch[at] < 0 || grid->paused[at])
                continue;
            parts->parts[grid->part[at]].all += left;
            parts->all += left;
            return;
        }
}

static void split_row(const struct grid *grid, const struct time_slices *timed, const struct time_slices *executions,
                      double device_share, struct row_parts *parts)
{
    struct sampled_part slices[PARTS_MOST] = {{0}};
    for (uint32_t i = 0; i < timed->count; i++) {
        struct sampled_part *slice = &slices[place_of(grid, timed, i)];
        slice->timed += (double)timed->slices[i].timed;
        slice->time_ns += (double)timed->slices[i].time_ns;
    }
    for (uint32_t i = 0; executions && i < executions->count; i++)
        if (!grid->paused[place_of(grid, executions, i)])
            slices[place_of(grid, executions, i)].all += device_share * (double)executions->slices[i].all;
    *parts = (struct row_parts){0};
    for (size_t i = 0; i < grid->count; i++) {
        if (grid->epoch[i] == MIXED) {
            split_mixed(grid, i, &slices[i], parts);
        } else if (grid->epoch[i] == NOT_SAMPLED) {
            parts->left_ns += slices[i].time_ns;
            parts->left_timed += slices[i].timed;
        } else {
            parts->parts[grid->part[i]] = sum_of_part(&parts->parts[grid->part[i]], &slices[i]);
            parts->all += slices[i].all;
            parts->timed += slices[i].timed;
            parts->time_ns += slices[i].time_ns;
        }
    }
}

/* Of executions that nobody counted, the time of a second is what is known: that of windows stands for all. */
static void use_wall(const struct grid *grid, struct row_parts *parts)
{
    for (size_t i = 0; i < grid->part_count; i++)
        parts->parts[i].all = parts->parts[i].timed = 0;
    for (size_t i = 0; i < grid->count; i++)
        if (grid->epoch[i] >= 0 && !grid->paused[i]) {
            parts->parts[grid->part[i]].all += span_ns(grid, i);
            parts->parts[grid->part[i]].timed += grid->open_ns[i];
        }
}

/* One rate at a time: what is timed at different rates is not of one sample. Returns where it ends. */
static size_t end_of_rate(const struct grid *grid, size_t from)
{
    size_t to = from + 1;
    while (to < grid->part_count && grid->part_epoch[to] == grid->part_epoch[from])
        to++;
    return to;
}

/* Some rate has more timed than launched: kernels run later than by a whole rate, which then tells nothing. */
static bool runs_behind(const struct grid *grid, const struct row_parts *parts)
{
    for (size_t from = 0, to; from < grid->part_count; from = to) {
        double all = 0, timed = 0;
        to = end_of_rate(grid, from);
        for (size_t i = from; i < to; i++) {
            all += parts->parts[i].all;
            timed += parts->parts[i].timed;
        }
        if (all < timed)
            return true;
    }
    return false;
}

static struct sampled_time estimate_parts(const struct grid *grid, const struct row_parts *parts, double *influence)
{
    struct sampled_time sum = {0, 0, 0, 0};
    double squares = 0, freedom = 0;
    const bool at_once = runs_behind(grid, parts);
    bool any = false;
    for (size_t from = 0, to; from < grid->part_count; from = to) {
        to = at_once ? grid->part_count : end_of_rate(grid, from);
        const struct sampled_time one = sampled_time_of(parts->parts + from, to - from, influence + from);
        if (isnan(one.time_ns))
            continue;
        any = true;
        sum.time_ns += one.time_ns;
        sum.covered += one.covered;
        sum.variance += one.variance;
        squares += one.variance > 0 ? one.variance * one.variance / one.freedom : 0;
        freedom += one.freedom;
    }
    sum.freedom = squares > 0 && sum.variance > 0 ? fmax(1, sum.variance * sum.variance / squares) : freedom;
    sum.time_ns = any ? sum.time_ns : NAN;
    return sum;
}

/* EXECUTIONS, NULL where not known, of which SHARE is this row's. TIME_NS: all that was timed of it. */
static void estimate(struct grid *grid, const struct time_slices *timed, const struct time_slices *executions,
                     double share, struct sampled_row *result)
{
    struct row_parts parts;
    double influence[PARTS_MOST] = {0};
    split_row(grid, timed, executions, share, &parts);
    if (!(parts.timed > 0))
        return;
    result->by_wall = parts.all < parts.timed;
    if (result->by_wall)
        use_wall(grid, &parts);
    struct sampled_time time = estimate_parts(grid, &parts, influence);
    if (isnan(time.time_ns))
        return; /* no window's length is known */
    if (result->by_wall)
        time.covered = parts.time_ns > 0 ? parts.timed * (time.time_ns / parts.time_ns) : parts.timed;
    for (size_t i = 0; i < grid->part_count; i++) {
        const bool here = parts.parts[i].time_ns > 0;
        const bool alone = here && isnan(time.variance); /* the sum of all rows takes it for wholly uncertain */
        grid->influence[i] += alone ? time.time_ns : influence[i];
        grid->present[i] |= here;
    }
    time.time_ns += parts.left_ns;
    time.covered += parts.left_timed;
    result->estimated = true;
    result->time = time;
}

static void estimate_row(struct grid *grid, const struct execution_book *book, const struct joined_kernels *row,
                         struct sampled_row *result)
{
    const struct execution_count *executions = execution_book_find(book, row->use);
    const uint64_t timed = timed_of_all_devices(grid->join, row);
    const double share = timed ? (double)time_slices_sum(&row->slices).timed / (double)timed : 1;
    estimate(grid, &row->slices, executions ? &executions->slices : NULL, share, result);
}

static struct extent extent_of(const struct operator_join *join, const struct execution_book *book)
{
    struct extent extent = {0};
    for (size_t i = 0; i < join->row_count; i++)
        widen(&extent, &join->rows[i].slices);
    for (size_t i = 0; i < book->count; i++)
        widen(&extent, &book->counts[i].slices);
    for (size_t i = 0; i < join->replays.graph_count; i++)
        widen(&extent, &join->replays.graphs[i].slices);
    widen(&extent, &join->timing.sampled);
    return extent;
}

struct sampled_rows sampled_rows_of(const struct operator_join *join, const struct execution_book *book)
{
    struct sampled_rows result = {0};
    if (!timing_windows_any_sampled(&join->timing))
        return result;
    const struct extent extent = extent_of(join, book);
    if (!extent.any)
        return result;
    struct grid *grid = allocate(1, sizeof *grid);
    grid->join = join;
    lay(grid, &extent);
    find_sampled(grid);
    result.rows = allocate(join->row_count + 1, sizeof *result.rows);
    result.graphs = allocate(join->replays.graph_count + 1, sizeof *result.graphs);
    for (size_t i = 0; i < join->row_count; i++)
        estimate_row(grid, book, &join->rows[i], &result.rows[i]);
    for (size_t i = 0; i < join->replays.graph_count; i++) {
        const struct graph_replay *graph = &join->replays.graphs[i];
        estimate(grid, &graph->slices, &graph->slices, 1, &result.graphs[i]);
    }
    for (size_t i = 0; i < join->row_count; i++)
        result.any |= result.rows[i].estimated;
    for (size_t i = 0; i < join->replays.graph_count; i++)
        result.any |= result.graphs[i].estimated;
    result.sum = sampled_time_of_influence(grid->influence, grid->present, grid->part_count);
    free(grid);
    return result;
}

void sampled_rows_free(struct sampled_rows *rows)
{
    free(rows->rows);
    free(rows->graphs);
    *rows = (struct sampled_rows){0};
}
