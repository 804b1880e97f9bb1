/* SPDX-License-Identifier: Apache-2.0 */
/* Direct-mapped tables of self-checking entries: launches by correlation id; for external correlation calls by call id, and
 * launches once more, since there the ids of callbacks may be those of other launches. */
#include "cupti/launch_join.h"

#include <stdatomic.h>
#include <stddef.h>

#include "cupti/reserved_memory.h"

/* Owners beyond enum trace_owner, inside the table only. */
enum { OWNER_PENDING = 0xfe, OWNER_FAILED = 0xff };

struct launch_entry {
    _Atomic uint64_t key; /* correlation id | previous entry of the call + 1, 24 bits << 32 | owner << 56 */
    _Atomic uint64_t call_id;
    _Atomic uint64_t owner_id;
    _Atomic uint64_t check; /* over the three; 0, as in an untouched entry, fits nothing of zeros */
};
_Static_assert(sizeof(struct launch_entry) == 32, "two entries a cache line");
_Static_assert(LAUNCH_JOIN_ENTRIES < 1 << 24, "previous entry fits its bits");

struct entry_content {
    uint64_t key, call_id, owner_id;
};

static struct launch_entry *launches;
static struct launch_entry *external_launches;
static struct launch_entry *calls; /* key: owner << 56 */

/* Each product is a bijection of its word, so one word of another entry is always seen, and several are but for one case in
 * 2^64; never 0 for an untouched entry. Cheap, since it is made twice and tested once for each launch. */
static inline uint64_t check_of(uint64_t key, uint64_t call_id, uint64_t owner_id)
{
    return 0x9e3779b97f4a7c15ull ^ key * 0xff51afd7ed558ccdull ^ call_id * 0xc4ceb9fe1a85ec53ull ^
           owner_id * 0x9fb21c651e98df25ull;
}

static inline void entry_write(struct launch_entry *entry, uint64_t key, uint64_t call_id, uint64_t owner_id)
{
    atomic_store_explicit(&entry->key, key, memory_order_relaxed);
    atomic_store_explicit(&entry->call_id, call_id, memory_order_relaxed);
    atomic_store_explicit(&entry->owner_id, owner_id, memory_order_relaxed);
    atomic_store_explicit(&entry->check, check_of(key, call_id, owner_id), memory_order_relaxed);
}

static inline bool entry_read(struct launch_entry *entry, struct entry_content *c)
{
    c->key = atomic_load_explicit(&entry->key, memory_order_relaxed);
    c->call_id = atomic_load_explicit(&entry->call_id, memory_order_relaxed);
    c->owner_id = atomic_load_explicit(&entry->owner_id, memory_order_relaxed);
    return atomic_load_explicit(&entry->check, memory_order_relaxed) == check_of(c->key, c->call_id, c->owner_id);
}

static inline uint64_t key_of(uint32_t correlation_id, uint32_t previous, unsigned owner)
{
    return correlation_id | (uint64_t)previous << 32 | (uint64_t)owner << 56;
}

static void *map_table(size_t entries)
{
    return reserved_memory_map(entries * sizeof(struct launch_entry));
}

bool launch_join_open(bool external)
{
    if (!launches)
        launches = map_table(LAUNCH_JOIN_ENTRIES);
    if (external && !calls)
        calls = map_table(LAUNCH_JOIN_CALLS);
    if (external && !external_launches)
        external_launches = map_table(LAUNCH_JOIN_ENTRIES);
    return launches && (!external || (calls && external_launches));
}

static inline void note(struct launch_entry *table, uint32_t correlation_id, uint64_t call_id, uint32_t *chain)
{
    uint32_t index = correlation_id & (LAUNCH_JOIN_ENTRIES - 1);
    /* Launches under no call are written too: what an older launch of the same id, 2^32 ago, left must not answer. */
    unsigned owner = call_id ? OWNER_PENDING : TRACE_OWNER_NONE;
    entry_write(&table[index], key_of(correlation_id, *chain, owner), call_id, 0);
    *chain = index + 1;
}

void launch_join_note(uint32_t correlation_id, uint64_t call_id, uint32_t *chain)
{
    note(launches, correlation_id, call_id, chain);
}

uint32_t launch_join_publish(uint32_t chain, uint32_t count, uint64_t call_id, enum trace_owner owner,
                             uint64_t owner_id)
{
    unsigned stored = owner == TRACE_OWNER_NONE ? OWNER_FAILED : owner;
    for (; chain && count; count--) {
        struct launch_entry *entry = &launches[chain - 1];
        struct entry_content c;
        if (!entry_read(entry, &c) || c.call_id != call_id)
            break; /* overwritten, and with it the way to those before it */
        chain = (uint32_t)(c.key >> 32) & 0xffffff;
        entry_write(entry, (c.key & 0x00ffffffffffffffull) | (uint64_t)stored << 56, call_id, owner_id);
    }
    return count;
}

static enum launch_join_result result_of(struct entry_content c, struct launch_owner *found)
{
    unsigned owner = (unsigned)(c.key >> 56);
    *found = (struct launch_owner){.call_id = c.call_id, .owner = TRACE_OWNER_NONE};
    if (owner == OWNER_PENDING)
        return LAUNCH_JOIN_PENDING;
    if (owner != TRACE_OWNER_CALL && !trace_owner_is_launch(owner))
        return LAUNCH_JOIN_NONE;
    found->owner_id = c.owner_id;
    found->owner = (enum trace_owner)owner;
    return LAUNCH_JOIN_FOUND;
}

static enum launch_join_result find(struct launch_entry *table, uint32_t correlation_id, struct launch_owner *found)
{
    struct entry_content c;
    *found = (struct launch_owner){.owner = TRACE_OWNER_NONE};
    bool whole = entry_read(&table[correlation_id & (LAUNCH_JOIN_ENTRIES - 1)], &c);
    if ((uint32_t)c.key != correlation_id || (!whole && c.key == 0))
        return LAUNCH_JOIN_UNSEEN;
    /* Half written: its call is just ending, or another launch is taking its place. */
    return whole ? result_of(c, found) : LAUNCH_JOIN_PENDING;
}

enum launch_join_result launch_join_find(uint32_t correlation_id, struct launch_owner *found)
{
    return find(launches, correlation_id, found);
}

static struct launch_entry *call_entry(uint64_t call_id)
{
    /* Call ids of different threads share their low bits: mix before cutting. */
    return &calls[call_id * 0x9e3779b97f4a7c15ull >> 48 & (LAUNCH_JOIN_CALLS - 1)];
}

void launch_join_external_publish(uint64_t call_id, enum trace_owner owner, uint64_t owner_id)
{
    unsigned stored = owner == TRACE_OWNER_NONE ? OWNER_FAILED : owner;
    entry_write(call_entry(call_id), key_of(0, 0, stored), call_id, owner_id);
}

void launch_join_external_note(uint32_t correlation_id, uint64_t call_id)
{
    uint32_t chain = 0;
    note(external_launches, correlation_id, call_id, &chain);
}

enum launch_join_result launch_join_external_find(uint32_t correlation_id, struct launch_owner *found)
{
    enum launch_join_result result = find(external_launches, correlation_id, found);
    if (result != LAUNCH_JOIN_PENDING)
        return result;
    struct entry_content c;
    if (!entry_read(call_entry(found->call_id), &c) || c.call_id != found->call_id)
        return LAUNCH_JOIN_PENDING;
    return result_of(c, found);
}
