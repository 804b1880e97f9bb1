/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of CUDA events, a pool for each context. The first call in a context makes a few, the timing's thread all others;
 * calls take what is there: no lock, no allocation. Events die with their context, so whoever ends one says so first
 * (event_pools_hold). */
#ifndef CUPTI_EVENT_POOLS_H
#define CUPTI_EVENT_POOLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cupti/cuda_driver.h"

enum {
    EVENT_POOLS = 16, /* contexts that are timed at one time */
    EVENT_PAIRS_FIRST = 128,
    EVENT_PAIRS_USUAL = 512,
    EVENT_PAIRS_MOST = 4096, /* of a context */
};

enum event_pair_state {
    EVENT_PAIR_FREE = 0,
    EVENT_PAIR_TAKEN = 1, /* of a call in flight */
    EVENT_PAIR_ENDED = 2, /* both events are recorded, what else stands in the pair holds */
};

struct event_pair {
    _Atomic uint32_t state;
    uint32_t graph_id; /* of a graph's launch */
    void *start, *end; /* CUevent */
    void *stream;
    uint64_t call_id, owner_id, name_id;
    uint8_t owner, is_graph;
};

enum event_pool_state {
    EVENT_POOL_NONE = 0,
    EVENT_POOL_CLAIMED, /* a call is making it */
    EVENT_POOL_READY,
    EVENT_POOL_HELD,   /* its context may be about to end */
    EVENT_POOL_BROKEN, /* the context refuses what it did before: left alone until it ends */
    EVENT_POOL_ENDED,  /* to be emptied by the thread */
};

struct event_pool {
    _Atomic uint32_t state; /* enum event_pool_state */
    _Atomic uint32_t generation;
    _Atomic(void *) context;
    _Atomic uint32_t pairs_made, next;
    _Atomic uint32_t wanted;            /* there should be more */
    _Atomic(struct event_pair *) pairs; /* EVENT_PAIRS_MOST; stays when the pool is used again */
    /* Of the thread: */
    void *stream;     /* our own, for the anchors; NULL: to be made */
    void *anchors[2]; /* events; `anchor` is the one that holds */
    unsigned anchor;
    bool is_anchored, anchor_pending;
    uint64_t anchor_ns, anchor_asked_ns, anchor_due_ns; /* CLOCK_REALTIME; asked; CLOCK_MONOTONIC */
    uint32_t device, number;                            /* CUDA's of the device; counted */
};

extern struct event_pool event_pools[EVENT_POOLS] __attribute__((visibility("hidden")));

/* ---- call path ---- */

/* The pool of CONTEXT, which is the current one; NULL: none, or not now. The first call makes it, once for a context, in the
 * relaxed capture mode: some 250 events. */
struct event_pool *event_pools_get(const struct cuda_driver *driver, void *context);

/* A free pair of POOL and its ticket, not 0; NULL: none. */
struct event_pair *event_pools_take(struct event_pool *pool, uint32_t *ticket);

/* The pair of a ticket; NULL: its context has ended. */
struct event_pair *event_pools_of(uint32_t ticket);

/* ---- who ends a context; any thread, before and after the real call ---- */

/* CONTEXT NULL: whichever; DEVICE -1: on whichever. The pools that are out of use from here on, a bit each; the thread has
 * had 20 ms to collect what is through, and is outside of the driver or did not leave it in 50 ms. */
uint32_t event_pools_hold(void *context, int device);
void event_pools_release(uint32_t held, bool ended);

/* ---- the thread ---- */

/* Makes more pairs where they are wanted, empties what ended. How many ended calls went with their context. */
uint32_t event_pools_tend(const struct cuda_driver *driver);

/* Whether POOL may be used now: then its context is current until event_pools_leave(). */
bool event_pools_enter(const struct cuda_driver *driver, struct event_pool *pool);
void event_pools_leave(const struct cuda_driver *driver);

#endif
