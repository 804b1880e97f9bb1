/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of events: begun by calls, filled up by the timing's thread, emptied when their context has ended. */
#include "cupti/event_pools.h"

#include <sys/mman.h>
#include <time.h>

enum {
    SLOT_BITS = 12,
    POOL_BITS = 4,
    GENERATION_BITS = 15, /* and a bit that keeps a ticket from being 0 */
    TAKE_TRIES = 4,
    HOLD_TRIES = 500,    /* of 100 us */
    COLLECT_TRIES = 200, /* the same */
};
_Static_assert(EVENT_PAIRS_MOST == 1 << SLOT_BITS && EVENT_POOLS == 1 << POOL_BITS, "tickets");

struct event_pool event_pools[EVENT_POOLS];
static _Atomic(struct event_pool *) entered; /* by the thread */
static _Atomic uint32_t numbered;

static uint32_t state_of(const struct event_pool *pool)
{
    return atomic_load_explicit(&pool->state, memory_order_acquire);
}

static bool change(struct event_pool *pool, uint32_t from, uint32_t to)
{
    return atomic_compare_exchange_strong(&pool->state, &from, to);
}

/* ---- pairs ---- */

/* Events up to COUNT pairs, as far as the context gives them. */
static void make_pairs(const struct cuda_driver *driver, struct event_pool *pool, uint32_t count)
{
    struct event_pair *pairs = atomic_load(&pool->pairs);
    uint32_t made = atomic_load(&pool->pairs_made), state = state_of(pool);
    while (made < count && state_of(pool) == state) {
        struct event_pair *pair = &pairs[made];
        if (driver->cuEventCreate(&pair->start, 0) != 0 || driver->cuEventCreate(&pair->end, 0) != 0)
            break;
        atomic_store_explicit(&pool->pairs_made, ++made, memory_order_release);
    }
}

static struct event_pair *pairs_memory(void)
{
    const size_t bytes = EVENT_PAIRS_MOST * sizeof(struct event_pair);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static bool make(const struct cuda_driver *driver, struct event_pool *pool)
{
    int device = 0;
    if (!atomic_load(&pool->pairs))
        atomic_store(&pool->pairs, pairs_memory());
    if (!atomic_load(&pool->pairs) || driver->cuCtxGetDevice(&device) != 0 ||
        driver->cuEventCreate(&pool->anchors[0], 0) != 0 || driver->cuEventCreate(&pool->anchors[1], 0) != 0)
        return false;
    pool->device = (uint32_t)device;
    pool->number = atomic_fetch_add(&numbered, 1) + 1;
    pool->stream = NULL;
    pool->is_anchored = pool->anchor_pending = false;
    pool->anchor_due_ns = 0;
    atomic_store(&pool->wanted, 1);
    make_pairs(driver, pool, EVENT_PAIRS_FIRST);
    return atomic_load(&pool->pairs_made) != 0;
}

/* ---- call path ---- */

static struct event_pool *claim(void *context)
{
    for (unsigned i = 0; i < EVENT_POOLS; i++)
        if (change(&event_pools[i], EVENT_POOL_NONE, EVENT_POOL_CLAIMED)) {
            atomic_store(&event_pools[i].context, context);
            return &event_pools[i];
        }
    return NULL;
}

/* In whatever state; of another one than EXCEPT. */
static struct event_pool *pool_of(const void *context, const struct event_pool *except)
{
    for (unsigned i = 0; i < EVENT_POOLS; i++) {
        struct event_pool *pool = &event_pools[i];
        uint32_t state = state_of(pool);
        if (pool != except && state >= EVENT_POOL_CLAIMED && state <= EVENT_POOL_BROKEN &&
            atomic_load_explicit(&pool->context, memory_order_relaxed) == context)
            return pool;
    }
    return NULL;
}

static struct event_pool *make_first(const struct cuda_driver *driver, void *context)
{
    struct event_pool *pool = claim(context);
    if (!pool)
        return NULL;
    if (pool_of(context, pool)) { /* two threads began it at once: one of them, or both, try again at a later call */
        atomic_store_explicit(&pool->context, NULL, memory_order_relaxed);
        change(pool, EVENT_POOL_CLAIMED, EVENT_POOL_NONE);
        return NULL;
    }
    int mode = CUDA_CAPTURE_RELAXED;
    bool exchanged = driver->cuThreadExchangeStreamCaptureMode(&mode) == 0;
    bool made = exchanged && make(driver, pool);
    if (exchanged)
        driver->cuThreadExchangeStreamCaptureMode(&mode);
    change(pool, EVENT_POOL_CLAIMED, made ? EVENT_POOL_READY : EVENT_POOL_BROKEN);
    return made ? pool : NULL;
}

struct event_pool *event_pools_get(const struct cuda_driver *driver, void *context)
{
    struct event_pool *pool = pool_of(context, NULL);
    if (!pool)
        return make_first(driver, context);
    return state_of(pool) == EVENT_POOL_READY ? pool : NULL;
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
    atomic_store_explicit(&pool->wanted, 1, memory_order_relaxed);
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

static bool is_meant(const struct event_pool *pool, const void *context, int device)
{
    return (!context || atomic_load_explicit(&pool->context, memory_order_relaxed) == context) &&
           (device < 0 || pool->device == (uint32_t)device);
}

static bool has_ended_pairs(const struct event_pool *pool)
{
    const struct event_pair *pairs = atomic_load(&pool->pairs);
    uint32_t made = atomic_load(&pool->pairs_made);
    for (uint32_t i = 0; i < made; i++)
        if (atomic_load_explicit(&pairs[i].state, memory_order_relaxed) == EVENT_PAIR_ENDED)
            return true;
    return false;
}

static bool waits_for_thread(const void *context, int device)
{
    for (unsigned i = 0; i < EVENT_POOLS; i++)
        if (state_of(&event_pools[i]) == EVENT_POOL_READY && is_meant(&event_pools[i], context, device) &&
            has_ended_pairs(&event_pools[i]))
            return true;
    return false;
}

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

uint32_t event_pools_hold(void *context, int device)
{
    /* Programs wait for their work before they end a context: the thread's next look finds all of it through. */
    for (unsigned i = 0; i < COLLECT_TRIES && waits_for_thread(context, device); i++)
        nap();
    uint32_t held = 0;
    for (unsigned i = 0; i < EVENT_POOLS; i++) {
        struct event_pool *pool = &event_pools[i];
        bool meant = is_meant(pool, context, device);
        if (meant && change(pool, EVENT_POOL_READY, EVENT_POOL_HELD))
            held |= 1u << i;
        else if (meant)
            change(pool, EVENT_POOL_BROKEN, EVENT_POOL_ENDED); /* tried anew by the next call, if it is still there */
    }
    /* None of its calls waits for the GPU. */
    for (unsigned i = 0; i < HOLD_TRIES && atomic_load(&entered); i++) {
        struct event_pool *where = atomic_load(&entered);
        if (!where || !is_meant(where, context, device))
            break;
        nap();
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
    if (atomic_load(&pool->state) == EVENT_POOL_READY && driver->cuCtxPushCurrent_v2(atomic_load(&pool->context)) == 0)
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

static uint32_t empty(struct event_pool *pool)
{
    struct event_pair *pairs = atomic_load(&pool->pairs);
    uint32_t made = atomic_exchange(&pool->pairs_made, 0);
    uint32_t lost = 0;
    for (uint32_t i = 0; i < made; i++)
        lost += atomic_exchange(&pairs[i].state, EVENT_PAIR_FREE) == EVENT_PAIR_ENDED;
    atomic_fetch_add(&pool->generation, 1); /* tickets of before lead nowhere */
    atomic_store(&pool->context, NULL);
    atomic_store(&pool->wanted, 0);
    atomic_store_explicit(&pool->state, EVENT_POOL_NONE, memory_order_release);
    return lost;
}

static void grow(const struct cuda_driver *driver, struct event_pool *pool)
{
    uint32_t made = atomic_load(&pool->pairs_made);
    uint32_t count = made < EVENT_PAIRS_USUAL ? EVENT_PAIRS_USUAL : made * 2;
    if (!atomic_exchange(&pool->wanted, 0) || made >= EVENT_PAIRS_MOST || !event_pools_enter(driver, pool))
        return;
    make_pairs(driver, pool, count < EVENT_PAIRS_MOST ? count : EVENT_PAIRS_MOST);
    event_pools_leave(driver);
}

uint32_t event_pools_tend(const struct cuda_driver *driver)
{
    uint32_t lost = 0;
    for (unsigned i = 0; i < EVENT_POOLS; i++) {
        uint32_t state = state_of(&event_pools[i]);
        if (state == EVENT_POOL_READY)
            grow(driver, &event_pools[i]);
        else if (state == EVENT_POOL_ENDED)
            lost += empty(&event_pools[i]);
    }
    return lost;
}
