/* SPDX-License-Identifier: Apache-2.0 */
/* Calls record pairs of events; the timing's thread asks which are through and writes their times. That thread asks in the
 * relaxed capture mode: another thread's capture in the global mode forbids everybody's calls that might wait, and an
 * offence spoils it. None of ours waits, or touches a stream that captures. */
#include "cupti/event_timing.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "cupti/event_pools.h"
#include "trace/clock.h"
#include "trace/trace_writer.h"

enum {
    NOT_READY = 600,
    ANCHOR_POLLS = 50,
    LAST_POLLS = 20,
    BUSY_STREAMS = 16, /* that are remembered in one walk */
    STREAM_NON_BLOCKING = 1,
};
static const uint64_t ms = 1000000; /* in ns */
/* An elapsed time is a float: an anchor must be young, so that it counts in less than an event's own steps. */
static const uint64_t anchor_period_ns = 1000 * 1000000ull;

_Atomic int event_timing_now;
static _Atomic int started;
static _Atomic(const struct cuda_driver *) bound;

static const struct cuda_driver *driver_now(void)
{
    return atomic_load_explicit(&bound, memory_order_acquire);
}

bool event_timing_start(const struct cuda_driver *driver)
{
    const struct cuda_driver *d = driver;
    if (!d->cuStreamIsCapturing || !d->cuThreadExchangeStreamCaptureMode || !d->cuCtxGetCurrent ||
        !d->cuCtxPushCurrent_v2 || !d->cuCtxPopCurrent_v2 || !d->cuCtxGetDevice || !d->cuStreamCreate ||
        !d->cuEventCreate || !d->cuEventRecord || !d->cuEventQuery || !d->cuEventElapsedTime)
        return false;
    atomic_store_explicit(&bound, driver, memory_order_release);
    atomic_store(&started, 1);
    atomic_store_explicit(&event_timing_now, 1, memory_order_release);
    return true;
}

bool event_timing_is_started(void)
{
    return atomic_load(&started) != 0;
}

void event_timing_switch(bool on)
{
    if (event_timing_is_started())
        atomic_store_explicit(&event_timing_now, on, memory_order_release);
}

void event_timing_stop(void)
{
    atomic_store(&started, 0);
    atomic_store(&event_timing_now, 0);
}

/* ---- call path ---- */

static void count_missed(uint64_t calls)
{
    __atomic_fetch_add(&trace_writer_counters()->calls_without_events, calls, __ATOMIC_RELAXED);
}

enum captures { CAPTURES_NO, CAPTURES_YES, CAPTURES_UNKNOWN };

/* Unknown as well of the legacy stream while another one that it would wait for captures. The question spoils nothing. */
static enum captures captures(const struct cuda_driver *driver, void *stream)
{
    int status = 0;
    if (driver->cuStreamIsCapturing(stream, &status) != 0)
        return CAPTURES_UNKNOWN;
    return status ? CAPTURES_YES : CAPTURES_NO;
}

static uint32_t begin(const struct cuda_driver *driver, void *stream)
{
    void *context = NULL;
    uint32_t ticket = 0;
    if (driver->cuCtxGetCurrent(&context) != 0 || !context)
        return 0;
    struct event_pool *pool = event_pools_get(driver, context);
    struct event_pair *pair = pool ? event_pools_take(pool, &ticket) : NULL;
    if (!pair)
        return 0;
    if (driver->cuEventRecord(pair->start, stream) != 0) {
        atomic_store_explicit(&pair->state, EVENT_PAIR_FREE, memory_order_release);
        return 0;
    }
    pair->stream = stream;
    pair->name_id = 0;
    return ticket;
}

uint32_t event_timing_before(void *stream)
{
    int errno_before = errno;
    const struct cuda_driver *driver = driver_now();
    enum captures capturing = stream == EVENT_TIMING_NO_STREAM ? CAPTURES_UNKNOWN : captures(driver, stream);
    uint32_t ticket = capturing == CAPTURES_NO ? begin(driver, stream) : 0;
    if (!ticket && capturing != CAPTURES_YES)
        count_missed(1);
    errno = errno_before;
    return ticket;
}

/* The second event; false: the pair is free again. The stream may have begun to capture meanwhile, by another thread. */
static bool end(struct event_pair *pair, bool succeeded)
{
    const struct cuda_driver *driver = driver_now();
    if (succeeded && captures(driver, pair->stream) == CAPTURES_NO &&
        driver->cuEventRecord(pair->end, pair->stream) == 0)
        return true;
    if (succeeded)
        count_missed(1);
    atomic_store_explicit(&pair->state, EVENT_PAIR_FREE, memory_order_release);
    return false;
}

void event_timing_name(uint32_t ticket, uint64_t name_id)
{
    struct event_pair *pair = event_pools_of(ticket);
    if (pair)
        pair->name_id = name_id;
}

void event_timing_after(uint32_t ticket, uint64_t call_id, enum trace_owner owner, uint64_t owner_id)
{
    int errno_before = errno;
    struct event_pair *pair = event_pools_of(ticket);
    if (pair && end(pair, owner != TRACE_OWNER_NONE)) {
        pair->call_id = call_id;
        pair->owner_id = owner_id;
        pair->owner = (uint8_t)owner;
        pair->is_graph = 0;
        atomic_store_explicit(&pair->state, EVENT_PAIR_ENDED, memory_order_release);
    }
    errno = errno_before;
}

void event_timing_after_graph(uint32_t ticket, uint32_t graph_id, bool succeeded)
{
    int errno_before = errno;
    struct event_pair *pair = event_pools_of(ticket);
    if (pair && end(pair, succeeded)) {
        pair->graph_id = graph_id;
        pair->is_graph = 1;
        atomic_store_explicit(&pair->state, EVENT_PAIR_ENDED, memory_order_release);
    }
    errno = errno_before;
}

/* ---- the thread: when it was ---- */

static uint64_t add_signed(uint64_t base_ns, float milliseconds)
{
    double ns = (double)milliseconds * 1e6;
    return base_ns + (uint64_t)(int64_t)(ns < 0 ? ns - 0.5 : ns + 0.5);
}

/* Where the younger anchor lies by the GPU's own count, unless that left what the host saw: clocks drift and are set. */
static uint64_t place_anchor(const struct cuda_driver *driver, const struct event_pool *pool, unsigned anchor,
                             uint64_t seen_ns)
{
    float between = 0;
    uint64_t middle_ns = pool->anchor_asked_ns + (seen_ns - pool->anchor_asked_ns) / 2;
    if (!pool->is_anchored ||
        driver->cuEventElapsedTime(&between, pool->anchors[pool->anchor], pool->anchors[anchor]) != 0)
        return middle_ns;
    uint64_t counted_ns = add_signed(pool->anchor_ns, between);
    return counted_ns >= pool->anchor_asked_ns && counted_ns <= seen_ns ? counted_ns : middle_ns;
}

/* An event on a stream on which nothing else ever is: it is through at once, unless the GPU is not let in. */
static void anchor(const struct cuda_driver *driver, struct event_pool *pool)
{
    if (!pool->stream && driver->cuStreamCreate(&pool->stream, STREAM_NON_BLOCKING) != 0) {
        pool->stream = NULL;
        return;
    }
    unsigned next = pool->is_anchored ? 1 - pool->anchor : 0;
    uint64_t now_ns = clock_monotonic_ns();
    if (!pool->anchor_pending) {
        if (now_ns < pool->anchor_due_ns)
            return;
        pool->anchor_asked_ns = clock_realtime_ns();
        if (driver->cuEventRecord(pool->anchors[next], pool->stream) != 0)
            return;
        pool->anchor_pending = true;
    }
    for (unsigned i = 0; i < ANCHOR_POLLS; i++) {
        if (driver->cuEventQuery(pool->anchors[next]) != 0)
            continue;
        pool->anchor_ns = place_anchor(driver, pool, next, clock_realtime_ns());
        pool->anchor = next;
        pool->is_anchored = true;
        pool->anchor_pending = false;
        pool->anchor_due_ns = now_ns + anchor_period_ns;
        return;
    }
}

/* ---- the thread: what it was ---- */

struct span {
    uint64_t start_ns, end_ns;
};

static bool write_graph_run(struct trace_thread *thread, const struct event_pool *pool, const struct event_pair *pair,
                            struct span span)
{
    struct trace_graph_run *run = trace_reserve(thread, TRACE_RECORD_GRAPH_RUN, sizeof *run);
    if (!run)
        return false;
    run->start_ns = span.start_ns;
    run->end_ns = span.end_ns;
    run->correlation_id = 0;
    run->graph_id = pair->graph_id;
    run->device = pool->device;
    run->context = pool->number;
    run->stream = (uint32_t)(uintptr_t)pair->stream;
    run->reserved = 0;
    trace_commit(thread, run);
    return true;
}

static bool write_call(struct trace_thread *thread, const struct event_pool *pool, const struct event_pair *pair,
                       struct span span)
{
    struct trace_kernel *kernel = trace_reserve(thread, TRACE_RECORD_KERNEL, sizeof *kernel);
    if (!kernel)
        return false;
    const struct trace_kernel content = {.name_id = pair->name_id,
                                         .start_ns = span.start_ns,
                                         .end_ns = span.end_ns,
                                         .call_id = pair->call_id,
                                         .owner_id = pair->owner_id,
                                         .owner = pair->owner,
                                         .join = TRACE_JOIN_EVENTS,
                                         .device = pool->device,
                                         .context = pool->number,
                                         .stream = (uint32_t)(uintptr_t)pair->stream};
    memcpy((char *)kernel + sizeof kernel->record, (const char *)&content + sizeof content.record,
           sizeof content - sizeof content.record);
    trace_commit(thread, kernel);
    return true;
}

/* False: the trace has no room at the moment, which is no loss yet: the pair waits. */
static bool write_span(const struct event_pool *pool, const struct event_pair *pair, struct span span)
{
    struct trace_thread *thread = trace_thread_get();
    if (!thread)
        return false;
    bool written = pair->is_graph ? write_graph_run(thread, pool, pair, span) : write_call(thread, pool, pair, span);
    if (!written)
        __atomic_fetch_sub(&trace_thread_slot(thread)->records_dropped, 1, __ATOMIC_RELAXED);
    return written;
}

/* Streams whose next event is not through: neither are those after it. */
struct busy_streams {
    void *stream[BUSY_STREAMS];
    unsigned count;
};

static bool is_busy(const struct busy_streams *busy, const void *stream)
{
    for (unsigned i = 0; i < busy->count; i++)
        if (busy->stream[i] == stream)
            return true;
    return false;
}

/* False: the context refuses. */
static bool settle(const struct cuda_driver *driver, struct event_pool *pool, struct event_pair *pair,
                   struct busy_streams *busy, bool *waits)
{
    float after_anchor = 0, took = 0;
    if (is_busy(busy, pair->stream)) {
        *waits = true;
        return true;
    }
    int result = driver->cuEventQuery(pair->end);
    if (result == NOT_READY) {
        *waits = true;
        if (busy->count < BUSY_STREAMS)
            busy->stream[busy->count++] = pair->stream;
        return true;
    }
    if (result != 0)
        return false;
    bool timed = driver->cuEventElapsedTime(&took, pair->start, pair->end) == 0 &&
                 driver->cuEventElapsedTime(&after_anchor, pool->anchors[pool->anchor], pair->start) == 0 && took >= 0;
    struct span span = {.start_ns = add_signed(pool->anchor_ns, after_anchor)};
    span.end_ns = add_signed(span.start_ns, took);
    if (!timed)
        count_missed(1);
    else if (!write_span(pool, pair, span)) {
        *waits = true;
        return true;
    }
    atomic_store_explicit(&pair->state, EVENT_PAIR_FREE, memory_order_release);
    return true;
}

/* Oldest first, as far as pairs were taken in turn. */
static bool settle_all(const struct cuda_driver *driver, struct event_pool *pool)
{
    struct busy_streams busy = {.count = 0};
    bool waits = false;
    uint32_t used = 0;
    struct event_pair *pairs = atomic_load(&pool->pairs);
    uint32_t made = atomic_load(&pool->pairs_made), first = atomic_load(&pool->next);
    for (uint32_t i = 0; i < made && atomic_load(&pool->state) == EVENT_POOL_READY; i++) {
        struct event_pair *pair = &pairs[(first + i) % made];
        uint32_t state = atomic_load_explicit(&pair->state, memory_order_acquire);
        used += state != EVENT_PAIR_FREE;
        if (state != EVENT_PAIR_ENDED)
            continue;
        if (!settle(driver, pool, pair, &busy, &waits)) {
            uint32_t ready = EVENT_POOL_READY;
            atomic_compare_exchange_strong(&pool->state, &ready, EVENT_POOL_BROKEN);
            break;
        }
    }
    if (used > made / 2)
        atomic_store(&pool->wanted, 1); /* before there are too few */
    return waits;
}

static bool tend_pool(const struct cuda_driver *driver, struct event_pool *pool)
{
    if (atomic_load(&pool->state) != EVENT_POOL_READY || !event_pools_enter(driver, pool))
        return false;
    bool waits = false;
    anchor(driver, pool);
    if (pool->is_anchored)
        waits = settle_all(driver, pool);
    event_pools_leave(driver);
    return waits || !pool->is_anchored;
}

bool event_timing_tend(void)
{
    const struct cuda_driver *driver = driver_now();
    int mode = CUDA_CAPTURE_RELAXED;
    if (!event_timing_is_started() || driver->cuThreadExchangeStreamCaptureMode(&mode) != 0)
        return false;
    bool waits = false;
    count_missed(event_pools_tend(driver));
    for (unsigned i = 0; i < EVENT_POOLS; i++)
        waits |= tend_pool(driver, &event_pools[i]);
    driver->cuThreadExchangeStreamCaptureMode(&mode);
    return waits;
}

static uint64_t count_ended(void)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < EVENT_POOLS; i++) {
        const struct event_pair *pairs = atomic_load(&event_pools[i].pairs);
        uint32_t made = atomic_load(&event_pools[i].pairs_made);
        for (uint32_t j = 0; j < made; j++)
            count += atomic_load(&pairs[j].state) == EVENT_PAIR_ENDED;
    }
    return count;
}

void event_timing_last_tend(void)
{
    if (!event_timing_is_started())
        return;
    for (unsigned i = 0; event_timing_tend() && i < LAST_POLLS; i++)
        nanosleep(&(struct timespec){.tv_nsec = (long)ms}, NULL);
    event_timing_stop();
    count_missed(count_ended());
}
