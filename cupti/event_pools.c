/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of events: claimed by calls, filled by the timing's thread, emptied when their context has ended. */
#include "cupti/event_pools.h"

#include <stdlib.h>
#include <time.h>

enum {
    SLOT_BITS = 12,
    POOL_BITS = 4,
    GENERATION_BITS = 15, /* and a bit that keeps a ticket from being 0 */
    TAKE_TRIES = 4,
    HOLD_TRIES = 500, /* of 100 us */
    STREAM_NON_BLOCKING = 1,
};
_Static_assert(EVENT_PAIRS_MOST == 1 << SLOT_BITS && EVENT_POOLS == 1 << POOL_BITS, "tickets");

struct event_pool event_pools[EVENT_POOLS];
static _Atomic(struct event_pool *) entered; /* by the thread */
static uint32_t numbered;

static uint32_t state_of(const struct event_pool *pool)
{
    return atomic_load_explicit(&pool->state, memory_order_acquire);
}

static bool change(struct event_pool *pool, uint32_t from, uint32_t to)
{
    return atomic_compare_exchange_strong(&pool->state, &from, to);
}

/* ---- call path ---- */

static void ask_for(void *context)
{
    for (unsigned i = 0; i < EVENT_POOLS; i++)
        if (change(&event_pools[i], EVENT_POOL_NONE, EVENT_POOL_CLAIMED)) {
            atomic_store_explicit(&event_pools[i].context, context, memory_order_relaxed);
            atomic_store_explicit(&event_pools[i].state, EVENT_POOL_ASKED, memory_order_release);
            return;
        }
}

struct event_pool *event_pools_find(void *context)
{
    bool known = false;
    for (unsigned i = 0; i < EVENT_POOLS; i++) {
        struct event_pool *pool = &event_pools[i];
        uint32_t state = state_of(pool);
        if (state < EVENT_POOL_ASKED || state > EVENT_POOL_BROKEN ||
            atomic_load_explicit(&pool->context, memory_order_relaxed) != context)
            continue;
        if (state == EVENT_POOL_READY)
            return pool;
        known = true;
    }
    if (!known)
        ask_for(context);
    return NULL;
}

struct event_pair *event_pools_take(struct event_pool *pool, uint32_t *ticket)
{
    uint32_t made = atomic_load_explicit(&pool->pairs_made, memory_order_acquire);
    uint32_t generation = atomic_load_explicit(&pool->generation, memory_order_relaxed);
    struct event_pair *pairs = atomic_load_explicit(&pool->pairs, memory_order_relaxed);
    for (unsigned i = 0; made && i < TAKE_TRIES; i++) {
        uint32_t slot = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed) % made;
        uint32_t free = EVENT_PAIR_FREE;
        if (!atomic_compare_exchange_strong(&pairs[slot].state, &free, EVENT_PAIR_TAKEN))
            continue;
        uint32_t place = (uint32_t)(pool - event_pools) << SLOT_BITS | slot;
        *ticket = 1u << 31 | (generation & ((1u << GENERATION_BITS) - 1)) << (SLOT_BITS + POOL_BITS) | place;
        return &pairs[slot];
    }
    atomic_fetch_add_explicit(&pool->missed, 1, memory_order_relaxed);
    return NULL;
}

struct event_pair *event_pools_of(uint32_t ticket)
{
    struct event_pool *pool = &event_pools[ticket >> SLOT_BITS & (EVENT_POOLS - 1)];
    uint32_t generation = atomic_load_explicit(&pool->generation, memory_order_acquire);
    bool is_same = ((ticket >> (SLOT_BITS + POOL_BITS) ^ generation) & ((1u << GENERATION_BITS) - 1)) == 0;
    if (!ticket || !is_same || state_of(pool) != EVENT_POOL_READY)
        return NULL;
    return &atomic_load_explicit(&pool->pairs, memory_order_relaxed)[ticket & (EVENT_PAIRS_MOST - 1)];
}

/* ---- who ends a context ---- */

uint32_t event_pools_hold(void *context)
{
    uint32_t held = 0;
    for (unsigned i = 0; i < EVENT_POOLS; i++) {
        struct event_pool *pool = &event_pools[i];
        bool meant = !context || atomic_load_explicit(&pool->context, memory_order_relaxed) == context;
        if (meant && change(pool, EVENT_POOL_READY, EVENT_POOL_HELD))
            held |= 1u << i;
        else if (meant && (change(pool, EVENT_POOL_ASKED, EVENT_POOL_ENDED) ||
                           change(pool, EVENT_POOL_BROKEN, EVENT_POOL_ENDED)))
            continue; /* asked for anew by the next call, if the context is still there */
    }
    /* None of its calls waits for the GPU. */
    for (unsigned i = 0; i < HOLD_TRIES && atomic_load(&entered); i++) {
        struct event_pool *where = atomic_load(&entered);
        if (!where || (context && atomic_load_explicit(&where->context, memory_order_relaxed) != context))
            break;
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    return held;
}

void event_pools_release(uint32_t held, bool ended)
{
    for (unsigned i = 0; i < EVENT_POOLS; i++)
        if (held >> i & 1)
            change(&event_pools[i], EVENT_POOL_HELD, ended ? EVENT_POOL_ENDED : EVENT_POOL_READY);
}

/* ---- the thread ---- */

bool event_pools_enter(const struct cuda_driver *driver, struct event_pool *pool)
{
    atomic_store(&entered, pool); /* before the state is looked at: who holds it looks the other way round */
    uint32_t state = atomic_load(&pool->state);
    if ((state == EVENT_POOL_READY || state == EVENT_POOL_ASKED) &&
        driver->cuCtxPushCurrent_v2(atomic_load(&pool->context)) == 0)
        return true;
    atomic_store(&entered, NULL);
    return false;
}

void event_pools_leave(const struct cuda_driver *driver)
{
    void *popped;
    driver->cuCtxPopCurrent_v2(&popped);
    atomic_store(&entered, NULL);
}

/* Events up to COUNT pairs, as far as the context gives them. */
static void make_pairs(const struct cuda_driver *driver, struct event_pool *pool, uint32_t count)
{
    struct event_pair *pairs = atomic_load(&pool->pairs);
    uint32_t made = atomic_load(&pool->pairs_made);
    uint32_t state = atomic_load(&pool->state);
    while (made < count && atomic_load(&pool->state) == state) {
        struct event_pair *pair = &pairs[made];
        if (driver->cuEventCreate(&pair->start, 0) != 0 || driver->cuEventCreate(&pair->end, 0) != 0)
            break;
        atomic_store_explicit(&pool->pairs_made, ++made, memory_order_release);
    }
}

static bool make(const struct cuda_driver *driver, struct event_pool *pool)
{
    int device = 0;
    if (!atomic_load(&pool->pairs))
        atomic_store(&pool->pairs, calloc(EVENT_PAIRS_MOST, sizeof(struct event_pair)));
    if (!atomic_load(&pool->pairs) || driver->cuCtxGetDevice(&device) != 0 ||
        driver->cuStreamCreate(&pool->stream, STREAM_NON_BLOCKING) != 0 ||
        driver->cuEventCreate(&pool->anchors[0], 0) != 0 || driver->cuEventCreate(&pool->anchors[1], 0) != 0)
        return false;
    pool->device = (uint32_t)device;
    pool->number = ++numbered;
    pool->is_anchored = pool->anchor_pending = false;
    pool->anchor_due_ns = 0;
    make_pairs(driver, pool, EVENT_PAIRS_FIRST);
    return atomic_load(&pool->pairs_made) != 0;
}

/* A call that raced with another asked twice. */
static bool is_repeated(const struct event_pool *pool)
{
    for (const struct event_pool *other = event_pools; other < pool; other++) {
        uint32_t state = state_of(other);
        if (state >= EVENT_POOL_ASKED && state <= EVENT_POOL_BROKEN &&
            atomic_load(&other->context) == atomic_load(&pool->context))
            return true;
    }
    return false;
}

static void fill(const struct cuda_driver *driver, struct event_pool *pool)
{
    if (is_repeated(pool)) {
        change(pool, EVENT_POOL_ASKED, EVENT_POOL_NONE);
        return;
    }
    if (!event_pools_enter(driver, pool)) {
        change(pool, EVENT_POOL_ASKED, EVENT_POOL_BROKEN);
        return;
    }
    bool made = make(driver, pool);
    event_pools_leave(driver);
    change(pool, EVENT_POOL_ASKED, made ? EVENT_POOL_READY : EVENT_POOL_BROKEN);
}

void event_pools_make_now(const struct cuda_driver *driver)
{
    void *context = NULL;
    if (driver->cuCtxGetCurrent(&context) != 0 || !context || event_pools_find(context))
        return;
    for (unsigned i = 0; i < EVENT_POOLS; i++)
        if (state_of(&event_pools[i]) == EVENT_POOL_ASKED)
            fill(driver, &event_pools[i]);
}

static void empty(struct event_pool *pool)
{
    struct event_pair *pairs = atomic_load(&pool->pairs);
    uint32_t made = atomic_exchange(&pool->pairs_made, 0);
    for (uint32_t i = 0; i < made; i++)
        atomic_store(&pairs[i].state, EVENT_PAIR_FREE);
    atomic_fetch_add(&pool->generation, 1); /* tickets of before lead nowhere */
    atomic_store(&pool->context, NULL);
    atomic_store(&pool->missed, 0);
    atomic_store_explicit(&pool->state, EVENT_POOL_NONE, memory_order_release);
}

static void grow(const struct cuda_driver *driver, struct event_pool *pool)
{
    uint32_t made = atomic_load(&pool->pairs_made);
    if (!atomic_exchange(&pool->missed, 0) || made >= EVENT_PAIRS_MOST || !event_pools_enter(driver, pool))
        return;
    make_pairs(driver, pool, made * 2 < EVENT_PAIRS_MOST ? made * 2 : EVENT_PAIRS_MOST);
    event_pools_leave(driver);
}

void event_pools_tend(const struct cuda_driver *driver)
{
    for (unsigned i = 0; i < EVENT_POOLS; i++) {
        struct event_pool *pool = &event_pools[i];
        switch (state_of(pool)) {
        case EVENT_POOL_ASKED:
            fill(driver, pool);
            break;
        case EVENT_POOL_READY:
            grow(driver, pool);
            break;
        case EVENT_POOL_ENDED:
            empty(pool);
            break;
        default:
            break;
        }
    }
}
