/* SPDX-License-Identifier: Apache-2.0 */
/* Judging is arithmetic on looks; the rest gives it figures and does what it says. */
#include "cupti/overhead_budget.h"

#include <math.h>
#include <string.h>

#include "cupti/own_cost.h"
#include "cupti/timing_mode.h"
#include "trace/trace_writer.h"

enum { LOOK_MS = 500, WINDOW_LEAST_MS = 1000 };
static const uint64_t ms = 1000000; /* in ns */

/* clang-format off */
const struct overhead_budget_step overhead_budget_steps[] = {
    {1, "kernels are timed in windows drawn at random from here on"},
    {2, "kernels are not timed from here on"},
    {3, "calls and launches are only counted from here on"},
};
/* clang-format on */
const unsigned overhead_budget_step_count = sizeof overhead_budget_steps / sizeof *overhead_budget_steps;

static struct overhead_budget budget;
static uint64_t due_ns;

bool overhead_budget_judge(struct overhead_budget *b, struct overhead_budget_look look, double *part)
{
    if (!(b->part > 0) || b->level >= overhead_budget_step_count || isnan(look.own_ns))
        return false;
    if (b->count == OVERHEAD_BUDGET_LOOKS) {
        memmove(&b->looks[0], &b->looks[1], (OVERHEAD_BUDGET_LOOKS - 1) * sizeof b->looks[0]);
        b->count--;
    }
    b->looks[b->count++] = look;
    const struct overhead_budget_look *first = &b->looks[0];
    if (look.wall_ns < first->wall_ns + WINDOW_LEAST_MS * ms)
        return false;
    *part = (look.own_ns - first->own_ns) / (double)(look.wall_ns - first->wall_ns);
    if (!(*part > b->part))
        return false;
    b->level++;
    b->looks[0] = look;
    b->count = 1;
    return true;
}

void overhead_budget_configure(uint32_t most_ppm)
{
    budget = (struct overhead_budget){.part = most_ppm / 1e6};
    due_ns = 0;
}

/* Of timing only what there is can be given up. */
static bool helps(unsigned level)
{
    enum trace_timing_mode mode = timing_mode_now();
    return level == 1 ? mode == TRACE_TIMING_NODE || mode == TRACE_TIMING_GRAPH : level > 2 || mode != TRACE_TIMING_OFF;
}

static void take_step(double part)
{
    while (!helps(budget.level))
        budget.level++;
    const struct overhead_budget_step *step = &overhead_budget_steps[budget.level - 1];
    own_cost_set_level(step->level);
    if (step->level <= 2)
        timing_mode_degrade(step->level, "own time is above the user's budget");
    trace_note(trace_thread_get(), TRACE_NOTE_OVERHEAD, (int32_t)step->level,
               "own time was %.4f %% of the process's, the budget is %.4f %%: %s", part * 100, budget.part * 100,
               step->text);
}

void overhead_budget_tend(void)
{
    uint64_t now_ns = clock_monotonic_ns();
    struct trace_overhead sums;
    double part;
    if (!(budget.part > 0) || now_ns < due_ns)
        return;
    due_ns = now_ns + LOOK_MS * ms;
    own_cost_sum(&sums);
    struct overhead_budget_look look = {.own_ns = own_cost_application_ns(&sums), .wall_ns = sums.wall_ns};
    if (overhead_budget_judge(&budget, look, &part))
        take_step(part);
}
