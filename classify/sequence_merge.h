/* SPDX-License-Identifier: Apache-2.0 */
/* From the sequences of many processes to those of a session: rows of signatures become rows of operators, on the device
 * where these ran, and what kernels' names forbid is taken out. */
#ifndef CLASSIFY_SEQUENCE_MERGE_H
#define CLASSIFY_SEQUENCE_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/index_map.h"
#include "classify/weights.h"

struct operator_join;
struct session;
struct session_merge;

struct merged_siblings {
    int device;
    size_t count, operators[SIBLINGS_MOST]; /* by operator_row.merged_at */
    uint64_t times;
};

struct merged_attention {
    int device;
    size_t scores, output; /* by operator_row.merged_at */
    bool softmax_seen;     /* at least once */
    uint64_t times;
};

struct merged_order {
    size_t *operators; /* by operator_row.merged_at */
    size_t count;
    uint64_t times;
};

struct sequence_merge {
    struct merged_order *orders;
    size_t order_count, order_capacity;
    struct merged_siblings *siblings;
    size_t sibling_count, sibling_capacity;
    struct index_map sibling_map;
    struct merged_attention *attention;
    size_t attention_count, attention_capacity;
    struct index_map attention_map;
};

/* ONLY_DEVICE: index of the one device that the process used, or SESSION_DEVICE_UNKNOWN; DEVICE_OF: of each of JOIN's. */
void sequence_merge_add(struct session_merge *merge, struct operator_join *join, int only_device, const int *device_of);

/* Into session->sibling_groups, naive_attention and product_orders, once the operators are where they stay: only their operators, device
 * and counts. */
void sequence_merge_finish(struct sequence_merge *merge, struct session *session);

void sequence_merge_free(struct sequence_merge *merge);

#endif
