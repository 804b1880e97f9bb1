/* SPDX-License-Identifier: Apache-2.0 */
/* The groups of grouped calls, by the id that signatures carry: kept as they were recorded, once each. */
#ifndef CLASSIFY_GROUP_LISTS_H
#define CLASSIFY_GROUP_LISTS_H

#include <stddef.h>
#include <stdint.h>

#include "classify/index_map.h"
#include "trace/trace.h"

struct group_list;

struct group_lists { /* zeroed: empty */
    struct group_list *lists;
    size_t count, capacity;
    struct index_map map;
};

/* RECORD as the reader gave it: its count fits. */
void group_lists_add(struct group_lists *lists, const struct trace_groups *record);

/* NULL, and *count 0, if no record gave ID; 0 is none. Valid until the next is added. */
const struct trace_group *group_lists_find(const struct group_lists *lists, uint64_t id, size_t *count);

void group_lists_free(struct group_lists *lists);

#endif
