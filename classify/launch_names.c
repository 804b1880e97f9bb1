/* SPDX-License-Identifier: Apache-2.0 */
/* A shape with kernels of one name has launches of that name only, untimed ones too. With kernels of several names, each
 * kernel stands for its own launch; whose the rest are is not known, such as what was captured and never replayed. */
#include "classify/launch_names.h"

#include <stdlib.h>

#include "classify/allocate.h"
#include "classify/operator_join.h"

/* Replays carry the call id of the launch that was captured. */
static bool is_of_new_launch(struct launch_names *names, const struct trace_kernel *kernel, size_t most)
{
    if (!kernel->graph_id)
        return true;
    const uint64_t call_id = trace_call_without_copy(kernel->call_id);
    if (names->captured.count >= most && index_map_find(&names->captured, call_id, 0) == INDEX_MAP_NONE)
        return false;
    uint32_t *seen = index_map_at(&names->captured, call_id, 0);
    bool is_new = *seen == INDEX_MAP_NONE;
    *seen = 0;
    return is_new;
}

static void add(struct launch_names *names, uint64_t shape_id, uint64_t name_id, uint64_t launches, size_t most)
{
    if (names->kernel_count >= most && index_map_find(&names->map, shape_id, name_id) == INDEX_MAP_NONE)
        return;
    uint32_t *index = index_map_at(&names->map, shape_id, name_id);
    if (*index == INDEX_MAP_NONE) {
        *index = (uint32_t)names->kernel_count;
        names->kernels =
            allocate_grow(names->kernels, names->kernel_count, &names->kernel_capacity, sizeof *names->kernels);
        names->kernels[names->kernel_count++] = (struct shape_kernels){shape_id, name_id, 0};
    }
    sum_add(&names->kernels[*index].launches, launches);
}

void launch_names_add(struct launch_names *names, const struct trace_kernel *kernel, size_t most)
{
    if (trace_owner_is_launch(kernel->owner) && kernel->owner_id && kernel->name_id)
        add(names, kernel->owner_id, kernel->name_id, is_of_new_launch(names, kernel, most), most);
}

void launch_names_add_sum(struct launch_names *names, const struct shape_kernels *kernels)
{
    if (kernels->shape_id && kernels->name_id)
        add(names, kernels->shape_id, kernels->name_id, kernels->launches, SIZE_MAX);
}

static void add_share(struct operator_join *join, uint32_t row, uint64_t name_id, uint64_t launches)
{
    if (!launches)
        return;
    join->launch_shares = allocate_grow(join->launch_shares, join->launch_share_count, &join->launch_share_capacity,
                                        sizeof *join->launch_shares);
    join->launch_shares[join->launch_share_count++] = (struct launch_share){row, name_id, launches};
}

/* The row of the launches that have no name and own these kernels. */
static uint32_t nameless_row(const struct operator_join *join, const struct shape_kernels *kernels)
{
    return index_map_find(&join->launch_map, 0, kernels->shape_id);
}

void launch_names_share(struct operator_join *join)
{
    const struct launch_names *names = &join->launch_names;
    uint64_t *left = allocate(join->launch_count, sizeof *left);
    uint32_t *different = allocate(join->launch_count, sizeof *different); /* names of the row's kernels */
    for (size_t i = 0; i < join->launch_count; i++) {
        left[i] = join->launches[i].launches;
        different[i] = 0;
    }
    for (size_t i = 0; i < names->kernel_count; i++) {
        uint32_t row = nameless_row(join, &names->kernels[i]);
        if (row != INDEX_MAP_NONE)
            different[row]++;
    }
    for (size_t i = 0; i < names->kernel_count; i++) {
        uint32_t row = nameless_row(join, &names->kernels[i]);
        if (row == INDEX_MAP_NONE)
            continue;
        uint64_t seen = names->kernels[i].launches;
        uint64_t launches = different[row] == 1 || seen > left[row] ? left[row] : seen;
        add_share(join, row, names->kernels[i].name_id, launches);
        left[row] -= launches;
    }
    for (size_t i = 0; i < join->launch_count; i++)
        add_share(join, (uint32_t)i, join->launches[i].name_id, left[i]);
    free(left);
    free(different);
}

struct graph_use launch_share_use(const struct operator_join *join, const struct launch_share *share)
{
    const struct joined_launches *launches = &join->launches[share->row];
    return launches->name_id && launches->shape_id ? (struct graph_use){USE_SHAPE, launches->shape_id}
                                                   : (struct graph_use){USE_NAME, share->name_id};
}

void launch_names_free(struct launch_names *names)
{
    free(names->kernels);
    index_map_free(&names->map);
    index_map_free(&names->captured);
}
