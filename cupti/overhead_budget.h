/* SPDX-License-Identifier: Apache-2.0 */
/* The user's bound on what rooftap may cost (ROOFTAP_MAX_OVERHEAD): when our own time on the application's threads, callbacks
 * included, is a larger part of the process's time, something is given up, one step at a time (overhead_budget_steps):
 * the timing of each kernel, all timing, then what calls and launches ask for.
 *
 * The rule. Looked at every half second, over the last four seconds or what there is of them, one second at least. A step is
 * taken when the part of that window is above the budget; then the window begins anew, so that the next step is taken only
 * after a whole second under this one. Windows that each keep the budget keep it over the run; what was above it before a step
 * is made up for by the rest, or the next step follows. A step that gives up what isn't there (timing that is off, or drawn
 * already) is passed over. Nothing is taken up again: what costs too much once does so again. */
#ifndef CUPTI_OVERHEAD_BUDGET_H
#define CUPTI_OVERHEAD_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct overhead_budget_step {
    unsigned level;   /* struct trace_overhead.level */
    const char *text; /* of the note: what is given up */
};
extern const struct overhead_budget_step overhead_budget_steps[];
extern const unsigned overhead_budget_step_count;

/* One look: own time and time of the process since it was opened. */
struct overhead_budget_look {
    double own_ns;
    uint64_t wall_ns;
};

enum { OVERHEAD_BUDGET_LOOKS = 9 }; /* four seconds of them, and the one before */

struct overhead_budget {
    double part; /* of the process's time; 0: no bound */
    unsigned level;
    struct overhead_budget_look looks[OVERHEAD_BUDGET_LOOKS];
    unsigned count; /* of those in this window */
};

/* Adds a look. True: BUDGET->level has gone up by one, and *PART is what was above the budget. */
bool overhead_budget_judge(struct overhead_budget *budget, struct overhead_budget_look look, double *part);

/* Before the start, in parts of a million of the process's time; 0: no bound. */
void overhead_budget_configure(uint32_t most_ppm);
/* Helper thread: looks if it is time to, and takes the step. */
void overhead_budget_tend(void);

#endif
