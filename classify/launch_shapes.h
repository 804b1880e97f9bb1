/* SPDX-License-Identifier: Apache-2.0 */
/* Launches that carry their kernels' parameters: each distinct shape of one process with its values, and what it means.
 * Kernels that the table of launches does not have, or not with their list of parameter types, stay rows by name, and
 * nothing is kept of their values: programs that pass addresses inside of structs make a new shape with each launch. */
#ifndef CLASSIFY_LAUNCH_SHAPES_H
#define CLASSIFY_LAUNCH_SHAPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/call_sequence.h"
#include "classify/index_map.h"
#include "classify/launch_decode.h"
#include "classify/name_pool.h"
#include "trace/trace.h"

enum { LAUNCH_SHAPES_MOST = 1 << 16, LAUNCH_PLANS_MOST = 1 << 16 };

struct launch_shape {
    uint64_t id, name_id;               /* of the name: 0 until a record told it */
    struct trace_launch_shape *content; /* with its values; NULL: no record gave it so far */
    struct launch_decode *decode;       /* NULL: not decoded so far */
    struct sequence_launch sequence;    /* what that is to a sequence */
    bool decoded_whole;                 /* by all that there can be to know; else it is done again when more has come */
    uint32_t next_of_plan;              /* shape that was decoded whole by the same plan; INDEX_MAP_NONE: none */
};

struct launch_plan {
    uint64_t name_id;
    struct trace_parameter_plan *content; /* NULL: two that differ, so none is believed */
    uint32_t first_shape;                 /* that was decoded whole by it; INDEX_MAP_NONE: none */
};

struct launch_shapes {             /* zeroed: none */
    const struct name_pool *names; /* borrowed */
    struct launch_shape *shapes;
    size_t count, capacity;
    struct index_map map;
    struct launch_plan *plans;
    size_t plan_count, plan_capacity;
    struct index_map plan_map;
    struct launch_decode **by_name; /* what is known of a kernel without any launch's values */
    size_t name_count, name_capacity;
    struct index_map name_map;
    uint64_t beyond; /* launches and kernels whose shape there was no room for: they are rows by name */
};

void launch_shapes_add_plan(struct launch_shapes *shapes, const struct trace_parameter_plan *plan);
/* A LAUNCH_SHAPE record; one without values is let be. */
void launch_shapes_add(struct launch_shapes *shapes, const struct trace_launch_shape *content);

/* The same of a launch. True: it is a row by its shape. */
bool launch_shapes_take_content(struct launch_shapes *shapes, const struct trace_launch_shape *content);
/* True: kernels and nodes of this OWNER, SHAPE_ID and NAME_ID are a row by that shape, which has a place from now on. */
bool launch_shapes_take(struct launch_shapes *shapes, uint8_t owner, uint64_t shape_id, uint64_t name_id);
const struct launch_shape *launch_shapes_find(const struct launch_shapes *shapes, uint64_t shape_id); /* or NULL */
const struct trace_parameter_plan *launch_shapes_plan(const struct launch_shapes *shapes,
                                                      uint64_t name_id); /* or NULL */

/* What the launches of a shape mean, as far as its name, its values and its kernel's plan have come; NULL: not yet. Each shape
 * is decoded once. Pointers are no part of a shape: weight_parameter says which of a launch's to ask
 * launch_parameter_pointer() for. */
const struct launch_decode *launch_shapes_decode(struct launch_shapes *shapes, uint64_t shape_id);
/* Of the same; NULL: not yet known. */
const struct sequence_launch *launch_shapes_sequence(struct launch_shapes *shapes, uint64_t shape_id);
/* The same after the last record: by what has come. Never NULL for a shape that has a place. */
const struct launch_decode *launch_shapes_decode_last(struct launch_shapes *shapes, uint64_t shape_id);
/* What the table knows of a kernel whose launches carry no values, or of which none are kept; NULL: its name is not known. */
const struct launch_decode *launch_shapes_decode_name(struct launch_shapes *shapes, uint64_t name_id);

void launch_shapes_free(struct launch_shapes *shapes);

#endif
