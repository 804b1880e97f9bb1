/* SPDX-License-Identifier: Apache-2.0 */
/* Names, plans and shapes may come in any order: what a kernel is by its name alone is settled when its name has come, and
 * a shape stays a row of its own once it was taken for one, so that all its records go the same way. */
#include "classify/launch_shapes.h"

#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "trace/launch_values.h"

static void *copy_of(const void *record, size_t bytes)
{
    void *copy = allocate(bytes, 1);
    memcpy(copy, record, bytes);
    return copy;
}

/* ---- what one means ---- */

/* The launch's grid is not known here, so a row that was found tells nothing but that there is one; unless it needs none. */
static void forget_sizes(struct launch_decode *decode)
{
    const bool sizeless =
        decode->reading == LAUNCH_READ && (decode->kind == LAUNCH_OTHER || decode->kind == LAUNCH_HELPER);
    if (!decode->row || sizeless)
        return;
    if (decode->reading != LAUNCH_NO_VALUES)
        strcpy(decode->problem, "the launch carries no parameters");
    decode->reading = LAUNCH_NO_VALUES;
}

/* Without its values, or a plan that fits them, the kernel's name is all there is. */
static void decode_shape(struct launch_shape *shape, const char *name, const struct trace_parameter_plan *plan)
{
    static const uint32_t no_grid[3];
    struct launch_parameters parameters;
    const bool whole =
        shape->content && plan && launch_parameters_read(plan, launch_shape_values(shape->content), NULL, &parameters);
    if (!shape->decode)
        shape->decode = allocate(1, sizeof *shape->decode);
    *shape->decode = (struct launch_decode){.reading = LAUNCH_NOT_IN_TABLE};
    if (name)
        launch_decode(name, shape->content ? shape->content->grid : no_grid,
                      shape->content ? shape->content->block : no_grid, whole ? &parameters : NULL, shape->decode);
    if (!shape->content)
        forget_sizes(shape->decode);
    sequence_launch_of_decode(shape->decode, whole ? &parameters : NULL, &shape->sequence);
}

static const char *name_of(const struct launch_shapes *shapes, const struct launch_shape *shape)
{
    return shape->name_id ? name_pool_find(shapes->names, shape->name_id) : NULL;
}

/* ---- plans ---- */

static bool same_plan(const struct trace_parameter_plan *a, const struct trace_parameter_plan *b)
{
    return a->count == b->count && !memcmp(a->parameter, b->parameter, a->count * sizeof a->parameter[0]);
}

/* What was decoded by one of two plans that differ is decoded without. */
static void disbelieve(struct launch_shapes *shapes, struct launch_plan *plan)
{
    free(plan->content);
    plan->content = NULL;
    for (uint32_t i = plan->first_shape; i != INDEX_MAP_NONE; i = shapes->shapes[i].next_of_plan)
        decode_shape(&shapes->shapes[i], name_of(shapes, &shapes->shapes[i]), NULL);
}

void launch_shapes_add_plan(struct launch_shapes *shapes, const struct trace_parameter_plan *plan)
{
    if (shapes->plan_count >= LAUNCH_PLANS_MOST &&
        index_map_find(&shapes->plan_map, plan->name_id, 0) == INDEX_MAP_NONE)
        return;
    uint32_t *index = index_map_at(&shapes->plan_map, plan->name_id, 0);
    if (*index == INDEX_MAP_NONE) {
        *index = (uint32_t)shapes->plan_count;
        shapes->plans = allocate_grow(shapes->plans, shapes->plan_count, &shapes->plan_capacity, sizeof *shapes->plans);
        shapes->plans[shapes->plan_count++] = (struct launch_plan){
            plan->name_id, copy_of(plan, sizeof *plan + plan->count * sizeof plan->parameter[0]), INDEX_MAP_NONE};
        return;
    }
    struct launch_plan *known = &shapes->plans[*index];
    if (known->content && !same_plan(known->content, plan))
        disbelieve(shapes, known);
}

static struct launch_plan *plan_of(const struct launch_shapes *shapes, uint64_t name_id)
{
    const uint32_t index = index_map_find(&shapes->plan_map, name_id, 0);
    return index == INDEX_MAP_NONE ? NULL : &shapes->plans[index];
}

const struct trace_parameter_plan *launch_shapes_plan(const struct launch_shapes *shapes, uint64_t name_id)
{
    const struct launch_plan *plan = plan_of(shapes, name_id);
    return plan ? plan->content : NULL;
}

/* ---- kernels by their names alone ---- */

const struct launch_decode *launch_shapes_decode_name(struct launch_shapes *shapes, uint64_t name_id)
{
    static const uint32_t no_grid[3];
    uint32_t index = index_map_find(&shapes->name_map, name_id, 0);
    if (index != INDEX_MAP_NONE)
        return shapes->by_name[index];
    const char *name = name_id ? name_pool_find(shapes->names, name_id) : NULL;
    if (!name)
        return NULL;
    index = (uint32_t)shapes->name_count;
    shapes->by_name =
        allocate_grow(shapes->by_name, shapes->name_count, &shapes->name_capacity, sizeof *shapes->by_name);
    shapes->by_name[index] = allocate(1, sizeof **shapes->by_name);
    launch_decode(name, no_grid, no_grid, NULL, shapes->by_name[index]);
    forget_sizes(shapes->by_name[index]);
    shapes->name_count++;
    *index_map_at(&shapes->name_map, name_id, 0) = index;
    return shapes->by_name[index];
}

/* The table has the kernel with its list of parameter types; so may one whose name has not come. */
static bool name_can_be_read(struct launch_shapes *shapes, uint64_t name_id)
{
    const struct launch_decode *known = launch_shapes_decode_name(shapes, name_id);
    return !known || (known->reading != LAUNCH_NOT_IN_TABLE && known->reading != LAUNCH_OTHER_REVISION);
}

/* ---- shapes ---- */

/* NULL: its kernel can't be read, or there are too many; IS_LAUNCHED: then a launch or kernel is lost to a row by name. */
static struct launch_shape *shape_at(struct launch_shapes *shapes, uint64_t shape_id, uint64_t name_id,
                                     bool is_launched)
{
    uint32_t index = index_map_find(&shapes->map, shape_id, 0);
    if (index == INDEX_MAP_NONE) {
        if (!name_can_be_read(shapes, name_id))
            return NULL;
        if (shapes->count == LAUNCH_SHAPES_MOST) {
            shapes->beyond += is_launched;
            return NULL;
        }
        index = (uint32_t)shapes->count;
        shapes->shapes = allocate_grow(shapes->shapes, shapes->count, &shapes->capacity, sizeof *shapes->shapes);
        shapes->shapes[shapes->count++] = (struct launch_shape){.id = shape_id, .name_id = name_id};
        *index_map_at(&shapes->map, shape_id, 0) = index;
    }
    struct launch_shape *shape = &shapes->shapes[index];
    if (!shape->name_id)
        shape->name_id = name_id;
    return shape;
}

static bool take_content(struct launch_shapes *shapes, const struct trace_launch_shape *content, bool is_launched)
{
    if (!launch_shape_values(content) || !content->name_id)
        return false;
    struct launch_shape *shape = shape_at(shapes, content->id, content->name_id, is_launched);
    if (shape && !shape->content)
        shape->content = copy_of(content, content->record.size);
    return shape;
}

void launch_shapes_add(struct launch_shapes *shapes, const struct trace_launch_shape *content)
{
    take_content(shapes, content, false);
}

bool launch_shapes_take_content(struct launch_shapes *shapes, const struct trace_launch_shape *content)
{
    return take_content(shapes, content, true);
}

bool launch_shapes_take(struct launch_shapes *shapes, uint8_t owner, uint64_t shape_id, uint64_t name_id)
{
    return owner == TRACE_OWNER_LAUNCH_VALUES && shape_id && shape_at(shapes, shape_id, name_id, true);
}

const struct launch_shape *launch_shapes_find(const struct launch_shapes *shapes, uint64_t shape_id)
{
    const uint32_t index = index_map_find(&shapes->map, shape_id, 0);
    return index == INDEX_MAP_NONE ? NULL : &shapes->shapes[index];
}

/* ---- after or while they come ---- */

const struct launch_decode *launch_shapes_decode(struct launch_shapes *shapes, uint64_t shape_id)
{
    const uint32_t index = index_map_find(&shapes->map, shape_id, 0);
    struct launch_shape *shape = index == INDEX_MAP_NONE ? NULL : &shapes->shapes[index];
    if (!shape || shape->decoded_whole)
        return shape ? shape->decode : NULL;
    const char *name = name_of(shapes, shape);
    struct launch_plan *plan = plan_of(shapes, shape->name_id);
    if (!name || !plan || !plan->content || !shape->content)
        return NULL;
    decode_shape(shape, name, plan->content);
    shape->decoded_whole = true;
    shape->next_of_plan = plan->first_shape;
    plan->first_shape = index;
    return shape->decode;
}

const struct sequence_launch *launch_shapes_sequence(struct launch_shapes *shapes, uint64_t shape_id)
{
    return launch_shapes_decode(shapes, shape_id) ? &launch_shapes_find(shapes, shape_id)->sequence : NULL;
}

const struct launch_decode *launch_shapes_decode_last(struct launch_shapes *shapes, uint64_t shape_id)
{
    const uint32_t index = index_map_find(&shapes->map, shape_id, 0);
    if (launch_shapes_decode(shapes, shape_id) || index == INDEX_MAP_NONE)
        return index == INDEX_MAP_NONE ? NULL : shapes->shapes[index].decode;
    struct launch_shape *shape = &shapes->shapes[index];
    if (!shape->decode)
        decode_shape(shape, name_of(shapes, shape), launch_shapes_plan(shapes, shape->name_id));
    return shape->decode;
}

void launch_shapes_free(struct launch_shapes *shapes)
{
    for (size_t i = 0; i < shapes->count; i++) {
        free(shapes->shapes[i].content);
        free(shapes->shapes[i].decode);
    }
    for (size_t i = 0; i < shapes->plan_count; i++)
        free(shapes->plans[i].content);
    for (size_t i = 0; i < shapes->name_count; i++)
        free(shapes->by_name[i]);
    free(shapes->shapes);
    free(shapes->plans);
    free(shapes->by_name);
    index_map_free(&shapes->map);
    index_map_free(&shapes->plan_map);
    index_map_free(&shapes->name_map);
    *shapes = (struct launch_shapes){0};
}
