/* SPDX-License-Identifier: Apache-2.0 */
/* Names of launches whose records have none: a launch through the driver gives a handle, and only its kernel's own record
 * says what that is. Which launch a kernel belongs to is known by its shape. */
#ifndef CLASSIFY_LAUNCH_NAMES_H
#define CLASSIFY_LAUNCH_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/graph_replays.h"
#include "classify/index_map.h"

struct operator_join;
struct trace_kernel;

/* Kernels of one name that launches of one shape own. */
struct shape_kernels {
    uint64_t shape_id, name_id;
    uint64_t launches; /* that have such a kernel: one each, but of a graph's replays, which share one launch */
};

struct launch_names {
    struct shape_kernels *kernels;
    size_t kernel_count, kernel_capacity;
    struct index_map map;
    struct index_map captured; /* launches that were captured, by call id */
};

/* So many launches of a row of operator_join.launches are of this name. */
struct launch_share {
    uint32_t row;
    uint64_t name_id; /* 0: not known */
    uint64_t launches;
};

/* With MOST rows no new one is made: its launches stay without a name. */
void launch_names_add(struct launch_names *names, const struct trace_kernel *kernel, size_t most);
/* The same of kernels that somebody else has counted. */
void launch_names_add_sum(struct launch_names *names, const struct shape_kernels *kernels);

/* What these launches are a row of. */
struct graph_use launch_share_use(const struct operator_join *join, const struct launch_share *share);

/* After the last record: fills join->launch_shares, from all rows. */
void launch_names_share(struct operator_join *join);

void launch_names_free(struct launch_names *names);

#endif
