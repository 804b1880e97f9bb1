/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that serve another operator: which one, by the order of launches and calls on one thread and stream. What is
 * counted is how often launches of one shape served one operator; their time is shared out by that (README.md has the
 * rule). In a graph the order is that of the capture, and each launch of the graph counts. Bounded: what is beyond stays
 * uncharged. */
#ifndef CLASSIFY_HELPER_CHARGE_H
#define CLASSIFY_HELPER_CHARGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/graph_use.h"
#include "classify/index_map.h"
#include "classify/launch_decode.h"
#include "trace/trace.h"

enum {
    HELPER_PAIRS_MOST = 1 << 16,
    HELPER_STREAMS_MOST = 1 << 14, /* of all threads */
    HELPER_CALLS_MOST = 1 << 17,   /* latest launches of helpers that nodes of graphs may still be made of */
    HELPERS_WAITING = 8,           /* on one stream, for the operator that they serve */
};

/* Launches of one shape that serve one operator. */
struct helper_pair {
    uint64_t shape_id;
    struct graph_use served;
    uint64_t launches, captured; /* that have a record; of them, captured: they executed nothing themselves */
    uint64_t replayed;           /* executions by launches of graphs */
    uint32_t next;               /* pair of the same shape; HELPER_NO_PAIR: the last */
};
#define HELPER_NO_PAIR UINT32_MAX

struct helper_call {
    uint64_t call_id;
    uint32_t pair;
    bool captured; /* counted as such */
};

enum helper_served { HELPER_SERVES_MATMUL, HELPER_SERVES_ATTENTION, HELPER_SERVED_COUNT };

struct helper_stream;

struct helper_charges { /* zeroed: none */
    struct helper_pair *pairs;
    size_t pair_count, pair_capacity;
    struct index_map pair_map;
    struct index_map shape_map; /* the pair of each shape that was made last */
    struct helper_stream *streams;
    size_t stream_count, stream_capacity;
    struct index_map stream_map;
    struct helper_call *calls;
    size_t call_count, call_capacity;
    struct index_map call_map;
};

/* What the program launched or called, in the order of the thread of BLOCK. SERVED: it is what helpers may serve; HELPER: it
 * is one of these, NONE: it is none. */
struct helper_event {
    const struct trace_block_header *block;
    uint64_t stream, call_id;
    bool served[HELPER_SERVED_COUNT];
    bool read;            /* false: what it computes is not known, so nothing is charged to it */
    bool narrow;          /* a matmul whose output has 16 bits a number */
    struct graph_use use; /* of a helper: of its shape */
    enum launch_serves helper;
};
void helper_charges_add(struct helper_charges *charges, const struct helper_event *event);

/* Of a library call: whether its output has 16 bits a number. */
bool helper_charge_is_narrow(const struct trace_signature *call);

/* A node of a graph was made of the launch CALL_ID, which executed nothing itself. */
void helper_charges_capture(struct helper_charges *charges, uint64_t call_id);

/* Adds to a pair what somebody else counted. */
void helper_charges_add_pair(struct helper_charges *charges, const struct helper_pair *pair);

/* One of the pairs of a shape, the others behind it; NULL: there are none. */
const struct helper_pair *helper_charges_of_shape(const struct helper_charges *charges, uint64_t shape_id);
const struct helper_pair *helper_charges_next(const struct helper_charges *charges, const struct helper_pair *pair);
/* Executions of a pair, after the last record. */
uint64_t helper_pair_executions(const struct helper_pair *pair);

void helper_charges_free(struct helper_charges *charges);

#endif
