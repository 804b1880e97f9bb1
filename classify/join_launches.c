/* SPDX-License-Identifier: Apache-2.0 */
/* A launch by shape has a row of that; else its name has one, or, where the record has no name, its shape again, until
 * launch_names tells. */
#include "classify/join_launches.h"

#include "classify/allocate.h"
#include "classify/kernel_families.h"

/* A name may come in a later block: until then nothing is known. */
static void find_phase(const struct operator_join *join, struct joined_launches *launches)
{
    const char *name = name_pool_find(join->names, launches->name_id);
    const struct kernel_family_row *row = kernel_family_find(name);
    launches->phase_known = name != NULL;
    launches->named = kernel_kind_of_name(name);
    if (!row || row->family != KERNEL_FAMILY_ATTENTION)
        return;
    if (row->role == KERNEL_ROLE_PREFILL)
        launches->phase = PHASE_PREFILL;
    else if (row->role == KERNEL_ROLE_DECODE)
        launches->phase = PHASE_DECODE;
}

size_t operator_join_launches(struct operator_join *join, uint64_t name_id, uint64_t shape_id)
{
    const bool is_full = join->rows_most && join->launch_count >= join->rows_most;
    if (is_full && (name_id || shape_id) && index_map_find(&join->launch_map, name_id, shape_id) == INDEX_MAP_NONE)
        return SIZE_MAX;
    uint32_t *index = index_map_at(&join->launch_map, name_id, shape_id);
    if (*index == INDEX_MAP_NONE) {
        *index = (uint32_t)join->launch_count;
        join->launches =
            allocate_grow(join->launches, join->launch_count, &join->launch_capacity, sizeof *join->launches);
        join->launches[join->launch_count++] = (struct joined_launches){.name_id = name_id, .shape_id = shape_id};
    }
    return *index;
}

size_t join_launches_row_of_sum(struct operator_join *join, uint64_t name_id, uint64_t shape_id)
{
    const bool by_shape =
        name_id && launch_shapes_take(&join->launch_shapes, TRACE_OWNER_LAUNCH_VALUES, shape_id, name_id);
    return operator_join_launches(join, name_id, by_shape || !name_id ? shape_id : 0);
}

/* By shape, or else by name, or else with all that are not told apart. */
static size_t row_of_launch(struct operator_join *join, const struct trace_launch_shape *shape, bool by_shape)
{
    size_t index = operator_join_launches(join, shape->name_id, by_shape || !shape->name_id ? shape->id : 0);
    if (index == SIZE_MAX && by_shape) {
        join->launch_shapes.beyond++;
        index = operator_join_launches(join, shape->name_id, 0);
    }
    if (index == SIZE_MAX) {
        join->beyond.launches++;
        index = operator_join_launches(join, 0, 0);
    }
    return index;
}

/* What is named like a product or attention and could not be read may be what helpers beside it serve. */
static void charge_launch(struct operator_join *join, const struct trace_item *item,
                          const struct joined_launches *launches, bool by_shape)
{
    const struct trace_launch *launch = (const struct trace_launch *)item->record;
    const struct launch_decode *decode = by_shape ? launch_shapes_decode(&join->launch_shapes, item->shape->id) : NULL;
    const bool read = decode && decode->reading == LAUNCH_READ;
    const bool product = launches->named == KERNEL_GEMM || launches->named == KERNEL_GEMV;
    helper_charges_add(&join->replays.helpers,
                       &(struct helper_event){
                           .block = item->block,
                           .stream = launch->stream,
                           .call_id = launch->call_id,
                           .served = {read ? decode->kind == LAUNCH_MATMUL : product,
                                      read ? decode->kind == LAUNCH_ATTENTION : launches->named == KERNEL_ATTENTION},
                           .read = read,
                           .use = {USE_SHAPE, item->shape->id},
                           .helper = read && decode->kind == LAUNCH_HELPER ? decode->serves : LAUNCH_SERVES_NONE,
                       });
}

void join_launches_note_call(struct operator_join *join, const struct trace_item *item)
{
    const struct trace_call *call = (const struct trace_call *)item->record;
    const uint8_t kind = item->signature->kind;
    helper_charges_add(&join->replays.helpers, &(struct helper_event){
                                                   .block = item->block,
                                                   .stream = call->stream,
                                                   .call_id = call->call_id,
                                                   .served = {kind == TRACE_CALL_GEMM || kind == TRACE_CALL_GEMV},
                                                   .read = true,
                                                   .narrow = helper_charge_is_narrow(item->signature),
                                                   .use = {USE_CALL, item->signature->id},
                                               });
}

void join_launches_add(struct operator_join *join, const struct trace_item *item)
{
    join->launches_recorded++;
    if (((const struct trace_launch *)item->record)->parent_call_id)
        return; /* the library call that made it is the operator */
    const struct trace_launch_shape *shape = item->shape;
    const bool by_shape = launch_shapes_take_content(&join->launch_shapes, shape);
    const size_t index = row_of_launch(join, shape, by_shape);
    struct joined_launches *launches = &join->launches[index];
    launches->launches++;
    time_slices_add(&launches->slices,
                    operator_join_realtime(item->block, ((const struct trace_launch *)item->record)->start_ticks),
                    (struct trace_slice){.all = 1});
    if (!launches->phase_known)
        find_phase(join, launches);
    call_sequence_launch(&join->sequence, item->block, (const struct trace_launch *)item->record, (uint32_t)index,
                         launches->name_id, launches->phase,
                         by_shape ? launch_shapes_sequence(&join->launch_shapes, shape->id) : NULL);
    charge_launch(join, item, launches, by_shape);
}
