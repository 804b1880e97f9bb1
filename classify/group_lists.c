/* SPDX-License-Identifier: Apache-2.0 */
/* An array of lists and a map from ids to it. */
#include "classify/group_lists.h"

#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"

struct group_list {
    struct trace_group *groups;
    size_t count;
};

void group_lists_add(struct group_lists *lists, const struct trace_groups *record)
{
    uint32_t *index = index_map_at(&lists->map, record->id, 0);
    if (*index != INDEX_MAP_NONE)
        return;
    *index = (uint32_t)lists->count;
    lists->lists = allocate_grow(lists->lists, lists->count, &lists->capacity, sizeof *lists->lists);
    struct group_list *list = &lists->lists[lists->count++];
    list->count = record->count;
    list->groups = allocate(list->count, sizeof *list->groups);
    memcpy(list->groups, record->group, list->count * sizeof *list->groups);
}

const struct trace_group *group_lists_find(const struct group_lists *lists, uint64_t id, size_t *count)
{
    uint32_t index = id ? index_map_find(&lists->map, id, 0) : INDEX_MAP_NONE;
    *count = index == INDEX_MAP_NONE ? 0 : lists->lists[index].count;
    return *count ? lists->lists[index].groups : NULL;
}

void group_lists_free(struct group_lists *lists)
{
    for (size_t i = 0; i < lists->count; i++)
        free(lists->lists[i].groups);
    free(lists->lists);
    index_map_free(&lists->map);
}
