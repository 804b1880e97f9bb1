/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing in blocks of 16 lines: the nodes of a graph are numbered one after the other, so they lie side by side. A
 * line is never emptied, which would cut the way to others; it is taken over once its node is gone for good. */
#include "cupti/graph_nodes.h"

#include <stdatomic.h>
#include <stddef.h>

#include "cupti/reserved_memory.h"

enum {
    BLOCK = 16,
    PROBES = 512,
    LOCK_TRIES = 4096,
    EPOCHS_TO_DRAIN = 2,             /* one may have begun before the node was gone */
    WHOLE_GRAPH = (int)0xffffffffu,  /* number of the line about the graph itself */
    NODES_AT_MOST = GRAPH_NODES_MOST /* of one graph */
};

/* Owners beyond enum trace_owner, inside the table only. */
enum { OWNER_UNKNOWN = 0xfd, OWNER_PENDING = 0xfe, OWNER_FAILED = 0xff };

struct node_owner {
    uint64_t call_id, owner_id, name_id;
    uint32_t owner;
};

struct node_entry {
    _Atomic uint64_t node_id;  /* 0: never used */
    _Atomic uint32_t version;  /* odd: being written */
    _Atomic uint32_t previous; /* node of the same call, index + 1; of the whole graph: it holds graphs */
    _Atomic uint64_t call_id, owner_id, name_id;
    _Atomic uint64_t older; /* change by which it came to its owner, 0: none */
    _Atomic uint32_t owner;
    _Atomic uint32_t since;   /* correlation id of that change */
    _Atomic uint32_t retired; /* epoch + 1; 0: lives */
    _Atomic uint32_t written; /* mark of the owner that is in the trace, 0: none */
};
_Static_assert(sizeof(struct node_entry) == 64, "one cache line");

/* What an owner was before it changed. */
struct change {
    _Atomic uint64_t number; /* 0: being written */
    _Atomic uint64_t node_id, call_id, owner_id, name_id, older;
    _Atomic uint32_t owner, since;
};

static struct node_entry *entries;
static struct change *changes;
static _Atomic uint64_t last_change;
static _Atomic uint32_t epoch;
static _Atomic uint64_t refused;
static _Atomic int distrusted, ids_distrusted, records_come;

#define GET(field)        atomic_load_explicit(&(field), memory_order_relaxed)
#define SET(field, value) atomic_store_explicit(&(field), value, memory_order_relaxed)

bool graph_nodes_open(void)
{
    if (!entries)
        entries = reserved_memory_map(GRAPH_NODES_MOST * sizeof *entries);
    if (!changes)
        changes = reserved_memory_map(GRAPH_NODES_CHANGES * sizeof *changes);
    return entries && changes;
}

/* ---- lines ---- */

static struct node_entry *entry_at(uint64_t node_id, unsigned probe)
{
    uint64_t block = (node_id / BLOCK) * 0x9e3779b97f4a7c15ull >> 32;
    return &entries[(block * BLOCK + node_id % BLOCK + probe) & (GRAPH_NODES_MOST - 1)];
}

static struct node_entry *find_entry(uint64_t node_id)
{
    for (unsigned i = 0; i < PROBES; i++) {
        struct node_entry *entry = entry_at(node_id, i);
        uint32_t version = atomic_load_explicit(&entry->version, memory_order_acquire);
        uint64_t id = atomic_load_explicit(&entry->node_id, memory_order_acquire);
        if (id == node_id)
            return entry;
        if (id == 0 && version % 2 == 0) /* one that is just being taken was passed by others already */
            break;
    }
    return NULL;
}

/* Two threads are at one entry only where a line is taken over, or where the program shares a graph between threads, which
 * CUDA forbids; and a signal handler may have interrupted the writer: so it is given up rather than waited for. */
static bool entry_lock(struct node_entry *entry)
{
    for (unsigned i = 0; i < LOCK_TRIES; i++) {
        uint32_t version = GET(entry->version);
        if (version % 2 == 0 && atomic_compare_exchange_weak_explicit(&entry->version, &version, version + 1,
                                                                      memory_order_acquire, memory_order_relaxed)) {
            atomic_thread_fence(memory_order_release); /* a reader of what follows sees the odd version */
            return true;
        }
    }
    return false;
}

static void entry_unlock(struct node_entry *entry)
{
    atomic_store_explicit(&entry->version, GET(entry->version) + 1, memory_order_release);
}

static bool is_drained(const struct node_entry *entry)
{
    uint32_t retired = GET(entry->retired);
    return retired && GET(epoch) - (retired - 1) >= EPOCHS_TO_DRAIN;
}

static void entry_begin(struct node_entry *entry, uint64_t node_id)
{
    SET(entry->call_id, 0), SET(entry->owner_id, 0), SET(entry->name_id, 0), SET(entry->older, 0);
    SET(entry->owner, OWNER_UNKNOWN), SET(entry->since, 0), SET(entry->retired, 0), SET(entry->previous, 0);
    SET(entry->written, 0);
    atomic_store_explicit(&entry->node_id, node_id, memory_order_release);
}

/* A free line that nobody else is taking at this moment. */
static bool take_line(struct node_entry *entry, uint64_t id)
{
    uint32_t version = GET(entry->version);
    if ((id != 0 && !is_drained(entry)) || version % 2 ||
        !atomic_compare_exchange_strong_explicit(&entry->version, &version, version + 1, memory_order_acquire,
                                                 memory_order_relaxed))
        return false;
    atomic_thread_fence(memory_order_release);
    if (GET(entry->node_id) == id && (id == 0 || is_drained(entry)))
        return true;
    entry_unlock(entry); /* somebody was faster */
    return false;
}

/* The node's own line, or the first that can be taken. Locked; *MADE: it is new. NULL: none to be had. */
static struct node_entry *claim_once(uint64_t node_id, bool *made)
{
    struct node_entry *own = find_entry(node_id);
    *made = false;
    if (own) {
        if (!entry_lock(own))
            return NULL;
        if (GET(own->node_id) != node_id) {
            entry_unlock(own); /* it was drained, and taken over just now */
            return NULL;
        }
        *made = is_drained(own);
        if (*made)
            entry_begin(own, node_id);
        return own;
    }
    for (unsigned i = 0; i < PROBES; i++) {
        struct node_entry *entry = entry_at(node_id, i);
        if (take_line(entry, atomic_load_explicit(&entry->node_id, memory_order_acquire))) {
            entry_begin(entry, node_id);
            *made = true;
            return entry;
        }
    }
    return NULL;
}

static struct node_entry *claim(uint64_t node_id, bool *made)
{
    struct node_entry *entry = NULL;
    for (unsigned i = 0; i < 4 && !entry; i++)
        entry = claim_once(node_id, made);
    if (!entry)
        atomic_fetch_add_explicit(&refused, 1, memory_order_relaxed);
    return entry;
}

static struct node_owner owner_of(const struct node_entry *entry)
{
    return (struct node_owner){GET(entry->call_id), GET(entry->owner_id), GET(entry->name_id), GET(entry->owner)};
}

static void set_owner(struct node_entry *entry, const struct node_owner *owner)
{
    SET(entry->call_id, owner->call_id), SET(entry->owner_id, owner->owner_id);
    SET(entry->name_id, owner->name_id), SET(entry->owner, owner->owner);
}

/* A whole look at an entry that others may be writing. */
struct node_view {
    struct node_owner owner;
    uint64_t older;
    uint32_t since;
};

static bool view(const struct node_entry *entry, uint64_t node_id, struct node_view *v)
{
    for (unsigned i = 0; i < LOCK_TRIES; i++) {
        uint32_t version = atomic_load_explicit(&entry->version, memory_order_acquire);
        if (version % 2)
            continue;
        uint64_t id = GET(entry->node_id);
        *v = (struct node_view){owner_of(entry), GET(entry->older), GET(entry->since)};
        atomic_thread_fence(memory_order_acquire);
        if (GET(entry->version) == version)
            return id == node_id;
    }
    return false;
}

/* ---- graphs ---- */

static uint64_t node_id_of(uint32_t graph_id, uint32_t number)
{
    return (uint64_t)graph_id << 32 | number;
}

/* The line about the graph knows its highest number. */
static void note_number(uint64_t node_id)
{
    bool made;
    uint64_t whole = node_id_of((uint32_t)(node_id >> 32), (uint32_t)WHOLE_GRAPH);
    struct node_entry *known = find_entry(whole);
    if (known && GET(known->owner_id) > (uint32_t)node_id && !GET(known->retired))
        return;
    struct node_entry *entry = claim(whole, &made);
    if (!entry)
        return;
    SET(entry->retired, 0);
    if (made || GET(entry->owner_id) <= (uint32_t)node_id)
        SET(entry->owner_id, (uint64_t)(uint32_t)node_id + 1);
    entry_unlock(entry);
}

/* 0: no such graph is known. */
static uint32_t numbers_of(uint32_t graph_id)
{
    const struct node_entry *entry = find_entry(node_id_of(graph_id, (uint32_t)WHOLE_GRAPH));
    uint64_t numbers = entry ? GET(entry->owner_id) : 0;
    return numbers < NODES_AT_MOST ? (uint32_t)numbers : NODES_AT_MOST;
}

void graph_nodes_set_nested(uint32_t graph_id)
{
    bool made;
    struct node_entry *entry = claim(node_id_of(graph_id, (uint32_t)WHOLE_GRAPH), &made);
    if (!entry)
        return;
    SET(entry->previous, 1);
    entry_unlock(entry);
}

static bool is_nested(uint32_t graph_id)
{
    const struct node_entry *entry = find_entry(node_id_of(graph_id, (uint32_t)WHOLE_GRAPH));
    return entry && GET(entry->previous) != 0;
}

/* ---- owners ---- */

/* Keeps what the locked entry says for records of launches before CORRELATION_ID; 0: there is no telling those apart. */
static bool remember(struct node_entry *entry, uint32_t correlation_id)
{
    if (!GET(records_come))
        return true;
    if (!correlation_id)
        return false;
    uint64_t number = atomic_fetch_add_explicit(&last_change, 1, memory_order_relaxed) + 1;
    struct change *change = &changes[number % GRAPH_NODES_CHANGES];
    atomic_store_explicit(&change->number, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    struct node_owner owner = owner_of(entry);
    SET(change->node_id, GET(entry->node_id)), SET(change->call_id, owner.call_id);
    SET(change->owner_id, owner.owner_id), SET(change->name_id, owner.name_id), SET(change->owner, owner.owner);
    SET(change->older, GET(entry->older)), SET(change->since, GET(entry->since));
    atomic_store_explicit(&change->number, number, memory_order_release);
    SET(entry->older, number), SET(entry->since, correlation_id);
    return true;
}

static bool owners_differ(const struct node_owner *a, const struct node_owner *b)
{
    return a->owner != b->owner || a->owner_id != b->owner_id || a->name_id != b->name_id ||
           (a->owner != TRACE_OWNER_CALL && !trace_owner_is_launch(a->owner) && a->call_id != b->call_id);
}

/* A locked entry that was there already: a node whose id came back, or that is told of twice. */
static void change_owner(struct node_entry *entry, const struct node_owner *owner, uint32_t correlation_id)
{
    static const struct node_owner unknown = {.owner = OWNER_UNKNOWN};
    struct node_owner before = owner_of(entry);
    SET(entry->retired, 0);
    if (!owners_differ(&before, owner))
        return;
    bool certain = remember(entry, correlation_id);
    set_owner(entry, certain ? owner : &unknown);
}

static bool is_built(const struct node_owner *owner)
{
    return owner->owner == TRACE_OWNER_NONE && owner->call_id == 0;
}

/* Its owner comes with the end of the call, if it has one. */
static struct node_owner owner_to_come(const struct graph_node_maker *maker)
{
    return (struct node_owner){.call_id = maker->call_id,
                               .name_id = maker->call_id ? maker->name_id : 0,
                               .owner = maker->call_id ? OWNER_PENDING : TRACE_OWNER_NONE};
}

static void write_node(uint64_t node_id, const struct node_owner *owner, const struct graph_node_maker *maker)
{
    bool made;
    struct node_entry *entry = claim(node_id, &made);
    if (!entry)
        return;
    struct node_owner before = owner_of(entry);
    bool lives = !made && !GET(entry->retired);
    if (made || (lives && is_built(&before)))
        set_owner(entry, owner); /* the latter: instantiating tells of each node as made, and as a copy */
    else if (!lives || !is_built(owner))
        change_owner(entry, owner, maker->correlation_id);
    if (owner->owner == OWNER_PENDING && GET(entry->owner) == OWNER_PENDING) {
        SET(entry->previous, *maker->chain);
        *maker->chain = (uint32_t)(entry - entries) + 1;
    }
    entry_unlock(entry);
    note_number(node_id);
}

void graph_nodes_note(uint64_t node_id, const struct graph_node_maker *maker)
{
    struct node_owner owner = owner_to_come(maker);
    write_node(node_id, &owner, maker);
}

static struct node_owner owner_now(uint64_t node_id)
{
    const struct node_entry *entry = find_entry(node_id);
    struct node_view v;
    return entry && view(entry, node_id, &v) ? v.owner : (struct node_owner){.owner = OWNER_UNKNOWN};
}

void graph_nodes_copy(uint64_t node_id, uint64_t copy_id, enum graph_nodes_copy_of in,
                      const struct graph_node_maker *maker)
{
    struct node_owner owner = owner_now(node_id);
    if (in == GRAPH_NODES_IN_GRAPH && (owner.owner == TRACE_OWNER_CALL || trace_owner_is_launch(owner.owner)))
        owner.call_id = trace_call_in_copy(owner.call_id, (uint32_t)(copy_id >> 32));
    if (owner.owner == OWNER_UNKNOWN && maker->call_id)
        owner = owner_to_come(maker);
    if (owner.owner == OWNER_PENDING && owner.call_id != maker->call_id)
        owner = (struct node_owner){.owner = OWNER_UNKNOWN}; /* of a call that another thread makes, or left */
    write_node(copy_id, &owner, maker);
    if (is_nested((uint32_t)(node_id >> 32)))
        graph_nodes_set_nested((uint32_t)(copy_id >> 32));
}

void graph_nodes_update(uint64_t node_id, uint64_t updated_id, uint32_t correlation_id)
{
    struct node_owner owner = owner_now(node_id);
    struct node_entry *entry = find_entry(updated_id);
    if (!entry)
        return; /* it stays unknown */
    if (!entry_lock(entry)) {
        graph_nodes_distrust();
        return;
    }
    if (GET(entry->node_id) == updated_id)
        change_owner(entry, &owner, correlation_id);
    entry_unlock(entry);
}

void graph_nodes_copy_all(uint32_t graph_id, uint32_t copy_id, enum graph_nodes_copy_of in)
{
    uint32_t numbers = numbers_of(graph_id), no_chain = 0;
    struct graph_node_maker nobody = {.chain = &no_chain};
    for (uint32_t i = 0; i < numbers; i++)
        if (find_entry(node_id_of(graph_id, i)))
            graph_nodes_copy(node_id_of(graph_id, i), node_id_of(copy_id, i), in, &nobody);
    if (numbers)
        note_number(node_id_of(copy_id, numbers - 1));
    if (is_nested(graph_id))
        graph_nodes_set_nested(copy_id);
}

void graph_nodes_give(uint64_t node_id, const struct launch_owner *owner, uint64_t name_id, bool runs,
                      uint32_t correlation_id)
{
    bool made;
    struct node_entry *entry = claim(node_id, &made);
    struct node_owner given = {owner->call_id, owner->owner_id, name_id, owner->owner};
    if (!entry)
        return;
    SET(entry->retired, 0);
    if (made || !runs)
        set_owner(entry, &given);
    else
        change_owner(entry, &given, correlation_id);
    entry_unlock(entry);
    note_number(node_id);
}

void graph_nodes_number(uint64_t node_id)
{
    note_number(node_id);
}

uint32_t graph_nodes_numbers(uint32_t graph_id)
{
    return entries ? numbers_of(graph_id) : 0;
}

void graph_nodes_records_come(bool come)
{
    SET(records_come, come);
}

bool graph_nodes_update_all(uint32_t graph_id, uint32_t executable_id, uint32_t correlation_id)
{
    uint32_t numbers = numbers_of(executable_id);
    if (is_nested(executable_id) || is_nested(graph_id))
        return false;
    for (uint32_t i = 0; i < numbers; i++)
        graph_nodes_update(node_id_of(graph_id, i), node_id_of(executable_id, i), correlation_id);
    return true;
}

void graph_nodes_retire(uint64_t node_id)
{
    struct node_entry *entry = find_entry(node_id);
    if (!entry || !entry_lock(entry))
        return;
    if (GET(entry->node_id) == node_id && !GET(entry->retired))
        SET(entry->retired, GET(epoch) + 1);
    entry_unlock(entry);
}

void graph_nodes_retire_all(uint32_t graph_id)
{
    uint32_t numbers = numbers_of(graph_id);
    for (uint32_t i = 0; i < numbers; i++)
        graph_nodes_retire(node_id_of(graph_id, i));
    graph_nodes_retire(node_id_of(graph_id, (uint32_t)WHOLE_GRAPH));
}

void graph_nodes_distrust(void)
{
    atomic_store(&distrusted, 1);
}

bool graph_nodes_distrusted(void)
{
    return atomic_load(&distrusted) != 0;
}

void graph_nodes_distrust_ids(void)
{
    atomic_store(&ids_distrusted, 1);
}

void graph_nodes_publish(uint32_t chain, uint64_t call_id, enum trace_owner owner, uint64_t owner_id, uint64_t name_id)
{
    uint32_t stored = owner == TRACE_OWNER_NONE ? OWNER_FAILED : (uint32_t)owner;
    while (chain) {
        struct node_entry *entry = &entries[chain - 1];
        if (!entry_lock(entry))
            return;
        bool ours = GET(entry->owner) == OWNER_PENDING && GET(entry->call_id) == call_id;
        chain = ours ? GET(entry->previous) : 0;
        if (ours)
            SET(entry->owner, stored), SET(entry->owner_id, owner_id);
        if (ours && name_id && !GET(entry->name_id))
            SET(entry->name_id, name_id);
        entry_unlock(entry);
    }
}

/* ---- who writes records ---- */

static uint32_t mark_of(const struct node_owner *owner)
{
    uint64_t mixed = trace_hash(owner, offsetof(struct node_owner, owner)) + owner->owner;
    uint32_t mark = (uint32_t)(mixed ^ mixed >> 32);
    return mark ? mark : 1;
}

enum newness { NOT_NEW, IS_NEW, NOT_YET };

/* One that nobody knows, or whose call failed, has nothing to be told but that it is no longer what it was: that it was
 * seen is noted. */
static enum newness look_at(uint64_t node_id, struct node_entry **entry, struct node_owner *owner)
{
    struct node_view v;
    *entry = find_entry(node_id);
    if (!*entry)
        return NOT_NEW;
    if (!view(*entry, node_id, &v) || v.owner.owner == OWNER_PENDING)
        return NOT_YET;
    *owner = v.owner;
    bool unknown = owner->owner == OWNER_UNKNOWN || owner->owner == OWNER_FAILED;
    if (unknown)
        *owner = (struct node_owner){.owner = TRACE_OWNER_NONE};
    uint32_t written = GET((*entry)->written), mark = mark_of(owner);
    if (unknown && !written)
        SET((*entry)->written, mark);
    return written == mark || (unknown && !written) ? NOT_NEW : IS_NEW;
}

bool graph_nodes_each_new(uint32_t graph_id, bool (*write)(const struct graph_node_content *node, void *context),
                          void *context)
{
    bool whole = true;
    uint32_t numbers = graph_nodes_numbers(graph_id);
    for (uint32_t i = 0; i < numbers; i++) {
        struct node_entry *entry;
        struct node_owner owner;
        enum newness newness = look_at(node_id_of(graph_id, i), &entry, &owner);
        whole &= newness != NOT_YET;
        if (newness != IS_NEW)
            continue;
        struct graph_node_content content = {
            node_id_of(graph_id, i),       owner.call_id,           owner.owner_id, owner.name_id,
            (enum trace_owner)owner.owner, GET(entry->written) != 0};
        if (!write(&content, context))
            return false;
        SET(entry->written, mark_of(&owner));
    }
    return whole;
}

bool graph_nodes_any_new(uint32_t graph_id)
{
    uint32_t numbers = graph_id ? graph_nodes_numbers(graph_id) : 0;
    for (uint32_t i = 0; i < numbers; i++) {
        struct node_entry *entry;
        struct node_owner owner;
        if (look_at(node_id_of(graph_id, i), &entry, &owner) == IS_NEW)
            return true;
    }
    return false;
}

/* ---- the taker ---- */

/* The owner at the time of CORRELATION_ID. Ids wrap: those of the last 2^31 calls lie before. */
static bool step_back(uint64_t node_id, uint32_t correlation_id, struct node_view *v)
{
    if (v->older && GET(ids_distrusted))
        return false;
    while (v->older && (int32_t)(correlation_id - v->since) < 0) {
        const struct change *change = &changes[v->older % GRAPH_NODES_CHANGES];
        uint64_t number = v->older;
        if (atomic_load_explicit(&change->number, memory_order_acquire) != number)
            return false; /* too long ago */
        uint64_t id = GET(change->node_id);
        v->owner =
            (struct node_owner){GET(change->call_id), GET(change->owner_id), GET(change->name_id), GET(change->owner)};
        v->older = GET(change->older), v->since = GET(change->since);
        atomic_thread_fence(memory_order_acquire);
        if (GET(change->number) != number || id != node_id)
            return false;
    }
    return true;
}

static enum launch_join_result result_of(const struct node_owner *owner, uint64_t name_id, struct launch_owner *found)
{
    if (owner->owner == OWNER_UNKNOWN || (owner->name_id && name_id && owner->name_id != name_id))
        return LAUNCH_JOIN_UNSEEN;
    *found = (struct launch_owner){.call_id = owner->call_id, .owner = TRACE_OWNER_NONE};
    if (owner->owner == OWNER_PENDING)
        return LAUNCH_JOIN_PENDING;
    if (owner->owner != TRACE_OWNER_CALL && !trace_owner_is_launch(owner->owner))
        return LAUNCH_JOIN_NONE;
    found->owner_id = owner->owner_id;
    found->owner = (enum trace_owner)owner->owner;
    return LAUNCH_JOIN_FOUND;
}

enum launch_join_result graph_nodes_find(uint64_t node_id, uint32_t correlation_id, uint64_t name_id,
                                         struct launch_owner *found)
{
    struct node_view v;
    *found = (struct launch_owner){.owner = TRACE_OWNER_NONE};
    const struct node_entry *entry = entries && !graph_nodes_distrusted() ? find_entry(node_id) : NULL;
    if (entry && !view(entry, node_id, &v))
        return LAUNCH_JOIN_PENDING; /* being written: the next look tells */
    if (!entry || !step_back(node_id, correlation_id, &v))
        return LAUNCH_JOIN_UNSEEN;
    return result_of(&v.owner, name_id, found);
}

void graph_nodes_drained(void)
{
    atomic_fetch_add_explicit(&epoch, 1, memory_order_relaxed);
}

uint64_t graph_nodes_refused(void)
{
    return atomic_load_explicit(&refused, memory_order_relaxed);
}
