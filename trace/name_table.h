/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernel names this process wrote already: a set of 64-bit ids without locks, in tables of doubling size that the
 * helper thread adds. */
#ifndef TRACE_NAME_TABLE_H
#define TRACE_NAME_TABLE_H

#include <stdbool.h>
#include <stdint.h>

enum { NAME_LEVELS = 16, NAME_FIRST_CAPACITY = 4096 };

struct name_level {
    uint64_t *ids;    /* NULL: not there yet */
    uint32_t *states; /* enum name_state */
    uint64_t capacity;
    uint64_t count;
};

struct name_table {
    struct name_level level[NAME_LEVELS];
};

enum name_state { NAME_NEW = 0, NAME_WRITING = 1, NAME_WRITTEN = 2 };

/* Adds a level if the last one is half full. Slow path, one caller at a time. */
void name_table_tend(struct name_table *table);
void name_table_free(struct name_table *table);
/* Where the state of ID is kept, adding it; NULL: no room until the next name_table_tend(). */
uint32_t *name_table_state(struct name_table *table, uint64_t id);

#endif
