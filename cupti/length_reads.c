/* SPDX-License-Identifier: Apache-2.0 */
/* One read at a time, in one context. Its state goes round: made by the reader of the log, asked for by a launch, settled by
 * the next change or by the reader of the log, who hands it over. */
#include "cupti/length_reads.h"

#include <errno.h>
#include <time.h>

#include "cupti/cuda_driver.h"
#include "cupti/graph_capture.h"
#include "cupti/length_runs.h"
#include "trace/clock.h"

enum { PLANS = 64, READS_AT_ONCE = 8, STREAM_NON_BLOCKING = 1, NOT_READY = 600, HOLD_TRIES = 500 };
static const uint64_t period_ns = 100 * 1000000ull;

enum read_state {
    READ_NONE = 0, /* nothing is made */
    READ_ASKED,    /* in `context` */
    READ_MAKING,
    READ_IDLE,
    READ_ASKING,  /* by a call */
    READ_ONGOING, /* copies are under way */
    READ_SETTLING,
    READ_DONE,    /* what was read holds */
    READ_REFUSED, /* the context refuses: never again there */
    READ_HELD,
};

/* A graph and a buffer that it reads. */
struct plan {
    _Atomic uint32_t graph_id; /* 0: none, stored last */
    _Atomic int wanted;
    uint32_t buffer, bytes;
    uint64_t address;
};

static struct plan plans[PLANS];
static _Atomic int state;
static void *context, *own_stream, *launched, *copied; /* CUcontext, CUstream, CUevents */
static unsigned char *pinned;                          /* READS_AT_ONCE times LENGTH_BUFFER_BYTES */
static uint32_t read_graph, read_count, read_plans[READS_AT_ONCE];
static _Atomic uint64_t due_ns;
static _Atomic int spoiled; /* something changed while it was being settled */

_Atomic int length_reads_wanted, length_reads_ongoing;

static bool change(int from, int to)
{
    return atomic_compare_exchange_strong(&state, &from, to);
}

static const struct cuda_driver *driver_for_reads(void)
{
    const struct cuda_driver *d = cuda_driver_bound();
    return d && d->cuCtxGetCurrent && d->cuCtxPushCurrent_v2 && d->cuCtxPopCurrent_v2 && d->cuStreamCreate &&
                   d->cuEventCreate && d->cuEventRecord && d->cuEventQuery && d->cuStreamWaitEvent &&
                   d->cuMemcpyDtoHAsync_v2 && d->cuMemAllocHost_v2 && d->cuThreadExchangeStreamCaptureMode
               ? d
               : NULL;
}

static bool something_captures(void)
{
    return atomic_load(&graph_capture_ongoing) > 0;
}

/* ---- call path ---- */

/* False: something was refused; what was put on our own stream before does no harm. */
static bool ask(const struct cuda_driver *driver, uint32_t graph_id, void *stream)
{
    read_count = 0;
    read_graph = graph_id;
    if (driver->cuEventRecord(launched, stream) != 0 || driver->cuStreamWaitEvent(own_stream, launched, 0) != 0)
        return false;
    for (unsigned i = 0; i < PLANS && read_count < READS_AT_ONCE; i++) {
        if (atomic_load_explicit(&plans[i].graph_id, memory_order_acquire) != graph_id ||
            !atomic_load(&plans[i].wanted))
            continue;
        void *to = pinned + (size_t)read_count * LENGTH_BUFFER_BYTES;
        if (driver->cuMemcpyDtoHAsync_v2(to, plans[i].address, plans[i].bytes, own_stream) != 0)
            return false;
        read_plans[read_count++] = i;
    }
    return read_count && driver->cuEventRecord(copied, own_stream) == 0;
}

static bool is_planned(uint32_t graph_id)
{
    for (unsigned i = 0; graph_id && i < PLANS; i++)
        if (atomic_load_explicit(&plans[i].graph_id, memory_order_acquire) == graph_id && atomic_load(&plans[i].wanted))
            return true;
    return false;
}

static void launch(const struct cuda_driver *driver, uint32_t graph_id, void *stream)
{
    void *current = NULL;
    if (driver->cuCtxGetCurrent(&current) != 0 || !current)
        return;
    if (change(READ_NONE, READ_MAKING)) {
        context = current;
        atomic_store(&state, READ_ASKED);
        return;
    }
    if (clock_monotonic_ns() < atomic_load(&due_ns) || !change(READ_IDLE, READ_ASKING))
        return;
    bool asked = current == context && ask(driver, graph_id, stream);
    atomic_store(&due_ns, clock_monotonic_ns() + period_ns);
    if (asked)
        atomic_store(&length_reads_ongoing, 1);
    atomic_store_explicit(&state, asked ? READ_ONGOING : READ_IDLE, memory_order_release);
}

void length_reads_launched(uint32_t graph_id, void *stream)
{
    int errno_before = errno;
    const struct cuda_driver *driver = driver_for_reads();
    if (driver && !something_captures() && is_planned(graph_id))
        launch(driver, graph_id, stream);
    errno = errno_before;
}

void length_reads_settle(void)
{
    int errno_before = errno;
    const struct cuda_driver *driver = driver_for_reads();
    if (change(READ_ONGOING, READ_SETTLING)) {
        atomic_store(&length_reads_ongoing, 0);
        bool through = driver && !something_captures() && driver->cuEventQuery(copied) == 0;
        atomic_store_explicit(&state, through ? READ_DONE : READ_IDLE, memory_order_release);
    } else {
        atomic_store(&spoiled, 1);
    }
    errno = errno_before;
}

/* ---- who ends a context ---- */

bool length_reads_hold(const void *ending)
{
    if (atomic_load(&state) == READ_NONE || (ending && ending != context))
        return false;
    for (unsigned i = 0; i < HOLD_TRIES; i++) {
        if (change(READ_IDLE, READ_HELD) || change(READ_ONGOING, READ_HELD) || change(READ_DONE, READ_HELD)) {
            atomic_store(&length_reads_ongoing, 0);
            return true;
        }
        int now = atomic_load(&state);
        if (now != READ_MAKING && now != READ_ASKING && now != READ_SETTLING)
            return change(READ_ASKED, READ_NONE) && false;
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    return false;
}

/* All that was made is the context's and goes with it. */
void length_reads_release(bool ended)
{
    change(READ_HELD, ended ? READ_NONE : READ_IDLE);
}

/* ---- whoever reads the log ---- */

void length_reads_plan(uint32_t graph_id, unsigned buffer, uint64_t address, uint32_t bytes, bool wanted)
{
    for (unsigned i = 0; i < PLANS; i++) {
        uint32_t seen = atomic_load(&plans[i].graph_id);
        bool is_same = seen == graph_id && plans[i].buffer == buffer && plans[i].bytes == bytes;
        if (is_same)
            atomic_store(&plans[i].wanted, wanted);
        if (is_same || (!seen && !wanted))
            return;
        if (seen)
            continue;
        plans[i].buffer = buffer;
        plans[i].bytes = bytes;
        plans[i].address = address;
        atomic_store(&plans[i].wanted, 1);
        atomic_store_explicit(&plans[i].graph_id, graph_id, memory_order_release);
        return;
    }
}

static bool make(const struct cuda_driver *driver)
{
    void *memory = NULL, *popped;
    if (driver->cuCtxPushCurrent_v2(context) != 0)
        return false;
    bool made = driver->cuStreamCreate(&own_stream, STREAM_NON_BLOCKING) == 0 &&
                driver->cuEventCreate(&launched, 0) == 0 && driver->cuEventCreate(&copied, 0) == 0 &&
                driver->cuMemAllocHost_v2(&memory, (size_t)READS_AT_ONCE * LENGTH_BUFFER_BYTES) == 0;
    driver->cuCtxPopCurrent_v2(&popped);
    pinned = memory;
    return made;
}

static void make_if_asked(const struct cuda_driver *driver)
{
    int mode = CUDA_CAPTURE_RELAXED;
    if (something_captures() || !change(READ_ASKED, READ_MAKING))
        return;
    bool exchanged = driver->cuThreadExchangeStreamCaptureMode(&mode) == 0, made = exchanged && make(driver);
    if (exchanged)
        driver->cuThreadExchangeStreamCaptureMode(&mode);
    atomic_store_explicit(&state, made ? READ_IDLE : READ_REFUSED, memory_order_release);
}

void length_reads_tend(void)
{
    const struct cuda_driver *driver = driver_for_reads();
    if (!driver)
        return;
    make_if_asked(driver);
    int mode = CUDA_CAPTURE_RELAXED;
    if (atomic_load(&state) == READ_ONGOING && !something_captures() &&
        driver->cuThreadExchangeStreamCaptureMode(&mode) == 0) {
        atomic_store(&spoiled, 0);
        if (change(READ_ONGOING, READ_SETTLING)) { /* nothing has changed since: it holds if it is through */
            bool through = driver->cuEventQuery(copied) == 0, kept = !atomic_load(&spoiled);
            atomic_store(&length_reads_ongoing, !through && kept);
            atomic_store_explicit(&state, !kept ? READ_IDLE : through ? READ_DONE : READ_ONGOING, memory_order_release);
        }
        driver->cuThreadExchangeStreamCaptureMode(&mode);
    }
    if (!change(READ_DONE, READ_SETTLING))
        return;
    for (unsigned i = 0; i < read_count; i++) {
        const struct plan *plan = &plans[read_plans[i]];
        length_runs_read(read_graph, plan->buffer, pinned + (size_t)i * LENGTH_BUFFER_BYTES, plan->bytes);
    }
    atomic_store_explicit(&state, READ_IDLE, memory_order_release);
}
