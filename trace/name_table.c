/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing; an id is never taken out, so a reader of the table needs no lock and no second look. */
#include "trace/name_table.h"

#include <stddef.h>
#include <sys/mman.h>

static void *map_zeros(uint64_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static bool add_level(struct name_level *level, uint64_t capacity)
{
    uint32_t *states = map_zeros(capacity * sizeof *states);
    uint64_t *ids = states ? map_zeros(capacity * sizeof *ids) : NULL;
    if (!ids) {
        if (states)
            munmap(states, capacity * sizeof *states);
        return false;
    }
    level->capacity = capacity;
    level->states = states;
    __atomic_store_n(&level->ids, ids, __ATOMIC_RELEASE);
    return true;
}

void name_table_tend(struct name_table *table)
{
    for (int i = 0; i < NAME_LEVELS; i++) {
        struct name_level *level = &table->level[i];
        if (!level->ids) {
            if (i == 0 || __atomic_load_n(&level[-1].count, __ATOMIC_RELAXED) * 2 > level[-1].capacity)
                add_level(level, (uint64_t)NAME_FIRST_CAPACITY << i);
            return;
        }
    }
}

void name_table_free(struct name_table *table)
{
    for (int i = 0; i < NAME_LEVELS && table->level[i].ids; i++) {
        munmap(table->level[i].ids, table->level[i].capacity * sizeof *table->level[i].ids);
        munmap(table->level[i].states, table->level[i].capacity * sizeof *table->level[i].states);
        table->level[i].ids = NULL;
    }
}

/* ID's place, or the free one where it would stand; NULL: neither. */
static uint64_t *find_place(struct name_level *level, uint64_t id)
{
    uint64_t mask = level->capacity - 1;
    for (uint64_t i = 0; i <= mask; i++) {
        uint64_t *place = &level->ids[(id + i) & mask];
        uint64_t there = __atomic_load_n(place, __ATOMIC_ACQUIRE);
        if (there == id || there == 0)
            return place;
    }
    return NULL;
}

static uint32_t *insert(struct name_level *level, uint64_t id)
{
    for (;;) {
        uint64_t free = 0, *place = find_place(level, id);
        if (!place)
            return NULL;
        uint32_t *state = &level->states[place - level->ids];
        if (__atomic_load_n(place, __ATOMIC_ACQUIRE) == id)
            return state;
        if (__atomic_load_n(&level->count, __ATOMIC_RELAXED) * 4 >= level->capacity * 3)
            return NULL;
        if (__atomic_compare_exchange_n(place, &free, id, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            __atomic_fetch_add(&level->count, 1, __ATOMIC_RELAXED);
            return state;
        }
    }
}

uint32_t *name_table_state(struct name_table *table, uint64_t id)
{
    for (int i = 0; i < NAME_LEVELS; i++) {
        struct name_level *level = &table->level[i];
        if (!__atomic_load_n(&level->ids, __ATOMIC_ACQUIRE))
            return NULL;
        uint64_t *place = find_place(level, id);
        if (place && __atomic_load_n(place, __ATOMIC_ACQUIRE) == id)
            return &level->states[place - level->ids];
        uint32_t *state = insert(level, id);
        if (state)
            return state;
    }
    return NULL;
}
