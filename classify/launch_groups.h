/* SPDX-License-Identifier: Apache-2.0 */
/* What became of the launches that no library call owns: how much of the time those explain whose meaning was read, and the
 * rest by kernel and by why it was not. */
#ifndef CLASSIFY_LAUNCH_GROUPS_H
#define CLASSIFY_LAUNCH_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/session.h"

/* OP's launches were read, and are a matmul or an attention: it has a shape and work as a library call has. */
bool launch_of_operator_is_read(const struct operator_row *op);
/* It has a shape from whatever source. */
bool operator_has_shape(const struct operator_row *op);

/* Of the weights that it reads, by its launches, or by an argument of its template that is a ggml_type; NULL: not known. */
const struct weight_format *launch_weight_format(const struct operator_row *op);

/* As parts of the time in kernels; NAN: nothing was timed. */
struct explained_time {
    double calls;    /* of library calls */
    double launches; /* of matmuls and attention that were read off their launches, helpers included */
};
struct explained_time explained_time_of(const struct session *session);

/* Operators of one kernel whose launches the table knows by name, and that could not be read, for one reason. */
struct launch_group {
    const struct operator_row **operators; /* longest time first */
    size_t operator_count, operator_capacity;
    enum launch_reading reading;
    const char *kernel, *problem; /* texts of the first operator's */
    bool launches_known;
    uint64_t launches, time_ns;
    double share; /* of the kernel time of all devices; NAN: nothing was timed */
};

struct launch_groups {
    struct launch_group *items; /* longest time first */
    size_t count;
};
struct launch_groups launch_groups_of(const struct session *session);
void launch_groups_free(struct launch_groups *groups);

#endif
