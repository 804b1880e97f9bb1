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
    STEP_SPANS_MOST = 1 << 17, /* of all threads together */
    STEP_ORDERS_MOST = 64,
    STEP_ORDER_PRODUCTS_MOST = 1 << 13,
};

/* The products of steps that had the same ones in the same order. */
struct step_order {
    uint32_t *numbers; /* step_call_number() */
    size_t count;
    uint64_t hash, times;
};

/* Steps of one thread that followed one another, alike in phase and rows and equally far apart. Of those that were captured
 * into graphs this tells what a replay is. By ids of calls, which rise along a thread and belong to it alone. */
struct step_span {
    uint64_t first_call; /* of the first product of the first step */
    uint64_t last_call;  /* of the last call or launch of the last step */
    uint64_t stride;     /* from one step's first product to the next one's; 0: there is one step */
    uint64_t steps;
    double rows; /* of each */
    enum phase phase;
};

/* Of all threads of a process. */
struct step_counts {
    uint64_t (*calls)[PHASE_COUNT]; /* by number of the call, then of the launch: see step_call_number() */
    size_t calls_capacity;
    uint64_t steps[PHASE_COUNT];
    double rows[PHASE_COUNT]; /* sum over those steps of step_rows() */
    uint64_t held;            /* calls in steps that are going on or waiting */
    uint64_t dropped;         /* calls of steps beyond the bounds */
    bool replays_counted;     /* replay_phases_apply() has, in CALLS, STEPS and ROWS */
    struct step_span *spans;  /* beyond STEP_SPANS_MOST steps are in none */
    size_t span_count, span_capacity;
    struct step_order *orders; /* the first STEP_ORDERS_MOST different ones */
    size_t order_count, order_capacity;
};

static inline uint32_t step_call_number(uint32_t number, bool launch)
{
    return number << 1 | launch;
}

/* Calls by phase; all zero if it was in no step. */
const uint64_t *step_counts_of(const struct step_counts *counts, uint32_t number, bool launch);
/* Calls whose phases somebody else has counted. */
void step_counts_add(struct step_counts *counts, uint32_t number, bool launch, const uint64_t phases[PHASE_COUNT]);
void step_counts_set(struct step_counts *counts, uint32_t number, bool launch, const uint64_t phases[PHASE_COUNT]);
void step_counts_free(struct step_counts *counts);

/* One product with a weight. */
struct step_product {
    uint64_t weight; /* its address, never 0 */
    int64_t m, n, k;
    bool experts; /* M is of those rows that were routed to one */
};

/* What the parameters of an attention kernel say. Negative: not known. */
struct step_attention {
    int64_t queries, sequences; /* QUERIES of each */
};

struct step_sequence; /* of one thread */

struct step_sequence *step_sequence_open(struct step_counts *counts);
/* ID: of the call, 0: not known. PRODUCT is NULL for every call that is none. */
void step_sequence_add_call(struct step_sequence *steps, uint32_t number, uint64_t id,
                            const struct step_product *product);
/* What a launch says of its step, as far as it was read. */
struct step_launch {
    enum phase named;                       /* by the kernel's name */
    const struct step_product *product;     /* NULL: it is none */
    const struct step_attention *attention; /* NULL: it is none, or nobody knows */
};
void step_sequence_add_launch(struct step_sequence *steps, uint32_t number, uint64_t id,
                              const struct step_launch *launch);
/* What is going on ends, and what comes next is not known to follow it. */
void step_sequence_break(struct step_sequence *steps);
void step_sequence_close(struct step_sequence *steps);

#endif
