/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of one thread: from its calls, one after the other, to the phase of each. A step ends where a weight's address
 * comes again that the step has read: calls before the first one of that weight are of no step. Holds the calls of the
 * running step and of the few before it whose phase waits for what follows. */
#ifndef CLASSIFY_STEP_SEQUENCE_H
#define CLASSIFY_STEP_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/phases.h"

enum {
    STEP_CALLS_MOST = 1 << 16,      /* of one step, launches too: a step is dropped that has more */
    STEP_CALLS_HELD_MOST = 1 << 21, /* of all threads together: about 100 MB */
    STEPS_WAITING = 3,
    STEP_SHAPES_MOST = 64,
};

/* Of all threads of a process. */
struct step_counts {
    uint64_t (*calls)[PHASE_COUNT]; /* by number of the call, then of the launch: see step_call_number() */
    size_t calls_capacity;
    uint64_t steps[PHASE_COUNT];
    double rows[PHASE_COUNT]; /* sum over those steps of the mean M before the output projection */
    uint64_t held;            /* calls in steps that are going on or waiting */
    uint64_t dropped;         /* calls of steps beyond the bounds */
};

static inline uint32_t step_call_number(uint32_t number, bool launch)
{
    return number << 1 | launch;
}

/* Calls by phase; all zero if it was in no step. */
const uint64_t *step_counts_of(const struct step_counts *counts, uint32_t number, bool launch);
/* Calls whose phases somebody else has counted. */
void step_counts_add(struct step_counts *counts, uint32_t number, bool launch, const uint64_t phases[PHASE_COUNT]);
void step_counts_free(struct step_counts *counts);

/* One product with a weight. */
struct step_product {
    uint64_t weight; /* its address, never 0 */
    int64_t m, n, k;
};

struct step_sequence; /* of one thread */

struct step_sequence *step_sequence_open(struct step_counts *counts);
/* PRODUCT is NULL for every call that is none. */
void step_sequence_add_call(struct step_sequence *steps, uint32_t number, const struct step_product *product);
/* NAMED: what the kernel's name says of the step's phase. */
void step_sequence_add_launch(struct step_sequence *steps, uint32_t number, enum phase named);
/* What is going on ends, and what comes next is not known to follow it. */
void step_sequence_break(struct step_sequence *steps);
void step_sequence_close(struct step_sequence *steps);

#endif
