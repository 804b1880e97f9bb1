/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded queue of many writers and one reader: each place has a turn, which says whose it is (D. Vyukov's scheme). */
#include "cupti/length_log.h"

#include <stdatomic.h>
#include <sys/mman.h>

/* Most buffers are small: a length for each of a few hundred sequences. */
enum { SMALL_BYTES = 1024, SMALL = 1024, LARGE = 64, SNAPSHOTS = SMALL + LARGE };

struct place {
    _Atomic uint64_t turn; /* position + 1 once written; position + LENGTH_LOG_ITEMS once taken */
    struct length_log_item item;
};

static struct place *_Atomic places;
static unsigned char *snapshots;
static _Atomic uint64_t tail;
static _Atomic uint64_t taken_snapshots[SNAPSHOTS / 64]; /* a bit each, small ones first */
static uint64_t head;
static _Atomic int is_losing;

bool length_log_open(void)
{
    if (atomic_load(&places))
        return true;
    const size_t log_bytes = LENGTH_LOG_ITEMS * sizeof(struct place);
    const size_t bytes = log_bytes + (size_t)SMALL * SMALL_BYTES + (size_t)LARGE * LENGTH_BUFFER_BYTES;
    struct place *made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *none = NULL;
    if (made == MAP_FAILED)
        return false;
    for (uint64_t i = 0; i < LENGTH_LOG_ITEMS; i++)
        atomic_store_explicit(&made[i].turn, i, memory_order_relaxed);
    static _Atomic int taken;
    if (atomic_exchange(&taken, 1)) {
        munmap(made, bytes);
        return atomic_load(&places) != NULL;
    }
    snapshots = (unsigned char *)made + log_bytes;
    return atomic_compare_exchange_strong(&places, &none, made);
}

static bool put(const struct length_log_item *item)
{
    struct place *log = atomic_load_explicit(&places, memory_order_acquire);
    uint64_t at = atomic_load_explicit(&tail, memory_order_relaxed);
    while (log && !atomic_load_explicit(&is_losing, memory_order_acquire)) {
        struct place *place = &log[at % LENGTH_LOG_ITEMS];
        uint64_t turn = atomic_load_explicit(&place->turn, memory_order_acquire);
        if (turn < at)
            return false;
        if (turn > at) {
            at = atomic_load_explicit(&tail, memory_order_relaxed);
            continue;
        }
        if (!atomic_compare_exchange_weak(&tail, &at, at + 1))
            continue;
        place->item = *item;
        atomic_store_explicit(&place->turn, at + 1, memory_order_release);
        return true;
    }
    return false;
}

bool length_log_put(const struct length_log_item *item)
{
    if (put(item))
        return true;
    atomic_store_explicit(&is_losing, 1, memory_order_release);
    length_log_free(item->snapshot);
    return false;
}

unsigned length_log_snapshot(size_t bytes)
{
    unsigned first = bytes <= SMALL_BYTES ? 0 : SMALL / 64, end = bytes <= SMALL_BYTES ? SMALL / 64 : SNAPSHOTS / 64;
    if (!atomic_load_explicit(&places, memory_order_acquire))
        return 0;
    for (unsigned i = first; i < end; i++) {
        uint64_t taken = atomic_load_explicit(&taken_snapshots[i], memory_order_acquire);
        while (~taken) {
            unsigned bit = (unsigned)__builtin_ctzll(~taken);
            if (atomic_compare_exchange_weak(&taken_snapshots[i], &taken, taken | 1ull << bit))
                return i * 64 + bit + 1;
        }
    }
    return 0;
}

void *length_log_bytes(unsigned snapshot)
{
    size_t number = snapshot - 1;
    return snapshots + (number < SMALL ? number * SMALL_BYTES
                                       : (size_t)SMALL * SMALL_BYTES + (number - SMALL) * LENGTH_BUFFER_BYTES);
}

void length_log_free(unsigned snapshot)
{
    if (snapshot)
        atomic_fetch_and_explicit(&taken_snapshots[(snapshot - 1) / 64], ~(1ull << ((snapshot - 1) % 64)),
                                  memory_order_release);
}

bool length_log_begin(void)
{
    return atomic_load_explicit(&is_losing, memory_order_acquire) != 0;
}

bool length_log_take(struct length_log_item *item)
{
    struct place *log = atomic_load_explicit(&places, memory_order_acquire);
    struct place *place = log ? &log[head % LENGTH_LOG_ITEMS] : NULL;
    if (!place || atomic_load_explicit(&place->turn, memory_order_acquire) != head + 1)
        return false;
    *item = place->item;
    atomic_store_explicit(&place->turn, head + LENGTH_LOG_ITEMS, memory_order_release);
    head++;
    return true;
}

void length_log_end(bool lost)
{
    if (lost)
        atomic_store_explicit(&is_losing, 0, memory_order_release);
}
