/* SPDX-License-Identifier: Apache-2.0 */
/* The values of a kernel's parameters as a launch shape carries them: packed by the writer, read by the plan. Most words of
 * a parameter list are small or zero, so each takes 0, 1, 2 or 4 bytes: 2 bits a word first, four words a byte from the low
 * bits on, then the words' own low bytes, little-endian. */
#ifndef TRACE_LAUNCH_VALUES_H
#define TRACE_LAUNCH_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/trace.h"

enum {
    LAUNCH_VALUES_PACKED_MOST = TRACE_VALUE_BYTES_MOST + TRACE_VALUE_BYTES_MOST / 16,
    LAUNCH_SHAPE_BYTES_MOST = (int)(sizeof(struct trace_launch_shape) + sizeof(struct trace_launch_values)) +
                              (LAUNCH_VALUES_PACKED_MOST + 7) / 8 * 8,
};

/* BYTES of VALUES, a multiple of 4 up to TRACE_VALUE_BYTES_MOST, into PACKED; returns how many bytes they take there. */
unsigned launch_values_pack(const void *values, unsigned bytes, unsigned char packed[LAUNCH_VALUES_PACKED_MOST]);

/* What KEPT bytes of a parameter take among the values. */
static inline unsigned launch_value_room(unsigned kept)
{
    return (kept + 3) & ~3u;
}

/* What the reader asks of a record: ROOM bytes lie behind VALUES. */
bool launch_values_hold(const struct trace_launch_values *values, size_t room);
bool launch_plan_holds(const struct trace_parameter_plan *plan);

/* NULL: the launch shape has no values, the launch no pointers. */
const struct trace_launch_values *launch_shape_values(const struct trace_launch_shape *shape);
const struct trace_launch_pointers *launch_pointers(const struct trace_launch *launch);

/* One launch's parameters, as far as they were kept. */
struct launch_parameters {
    const struct trace_parameter_plan *plan; /* borrowed */
    uint32_t null_pointers;
    uint32_t value_bytes;
    uint64_t pointer[TRACE_LAUNCH_POINTERS]; /* zeros where only the shape is known */
    unsigned char values[TRACE_VALUE_BYTES_MOST];
};

/* False: what the shape holds is not what PLAN keeps. POINTERS may be NULL. */
bool launch_parameters_read(const struct trace_parameter_plan *plan, const struct trace_launch_values *values,
                            const struct trace_launch_pointers *pointers, struct launch_parameters *parameters);

/* The kept bytes of parameter INDEX, *KEPT of them; NULL: a pointer, none, or no such parameter. */
const void *launch_parameter_value(const struct launch_parameters *parameters, unsigned index, unsigned *kept);

enum launch_pointer_state { LAUNCH_POINTER_UNKNOWN, LAUNCH_POINTER_NULL, LAUNCH_POINTER_SET };
/* Of parameter INDEX; *ADDRESS, if wanted: 0 where it is not known. UNKNOWN: it is no pointer. */
enum launch_pointer_state launch_parameter_pointer(const struct launch_parameters *parameters, unsigned index,
                                                   uint64_t *address);

#endif
