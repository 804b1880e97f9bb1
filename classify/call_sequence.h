/* SPDX-License-Identifier: Apache-2.0 */
/* What the order of a process's calls tells: GEMMs that read one activation, batched GEMMs around a softmax, and the steps
 * of each thread. Takes records as the reader hands them out: a thread's blocks in the order in which it used them, blocks
 * of several threads in any order. Keeps one row for each different list, and of each thread and stream only what is
 * going on, so memory does not grow with the trace; what is beyond its bounds is counted as dropped. */
#ifndef CLASSIFY_CALL_SEQUENCE_H
#define CLASSIFY_CALL_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/index_map.h"
#include "classify/launch_decode.h"
#include "classify/phases.h"
#include "classify/step_sequence.h"
#include "classify/weights.h"
#include "trace/trace.h"

/* What a kind of call is to a sequence. */
struct sequence_call {
    bool product;           /* one matrix times a weight */
    bool batched;           /* several matrices, none of them a weight */
    bool strided;           /* batched, and the operands' addresses are those of matrices */
    uint8_t left, right;    /* operand of the activation rows, and of what they are multiplied with: 0 or 1 */
    int32_t type_left;      /* cudaDataType */
    int64_t m, n, k, batch; /* as a user sees them */
};

void sequence_call_of_signature(const struct trace_signature *signature, struct sequence_call *call);

/* What a kind of launch is to a sequence. Zeroed: nothing is known of it. Slots are places in a trace_launch_pointers plus
 * one; 0: none. */
struct sequence_launch {
    bool product; /* rows times a weight; of experts, times some of them */
    bool attention;
    bool serves; /* it is part of a product's account: no kernel between two of them */
    bool experts;
    uint8_t weight, left; /* of a product: slot of the weight, and of the activation */
    uint8_t source;       /* it unpacks, converts or quantises what stands there for the next product */
    int64_t m, n, k;
    int64_t queries, sequences; /* of attention; negative: not known */
};

/* PARAMETERS are those of DECODE's shape: their addresses are not looked at. NULL: the launch carries none. */
void sequence_launch_of_decode(const struct launch_decode *decode, const struct launch_parameters *parameters,
                               struct sequence_launch *launch);

enum {
    SEQUENCE_THREADS_MOST = 1 << 10,
    SEQUENCE_STREAMS_MOST = 1 << 14, /* of all threads */
    SEQUENCE_ROWS_MOST = 1 << 16,    /* of each kind */
    SEQUENCE_GAP_LAUNCHES = 2,       /* kernels between two siblings: an activation function, a copy */
    SEQUENCE_SOFTMAX_LAUNCHES = 8,   /* kernels between two GEMMs of an attention: scale, mask, cast, softmax, ... */
};

#define SEQUENCE_NAMELESS UINT64_MAX /* in place of a trace_name.id: a kernel was launched, its name is not known */

/* The numbers of calls are those that the caller gives. */
struct sequence_siblings {
    uint32_t count;
    uint32_t calls[SIBLINGS_MOST];
    uint64_t launched[SIBLINGS_MOST][SEQUENCE_GAP_LAUNCHES]; /* before each: trace_name.id; 0: none */
    uint64_t times;
};

struct sequence_attention {
    uint32_t scores, output;
    bool scores_read; /* the second reads what the first wrote, by address */
    uint64_t launched[SEQUENCE_SOFTMAX_LAUNCHES];
    uint64_t times;
};

struct sequence_stream;
struct sequence_thread;

struct call_sequence {
    struct sequence_thread *threads;
    size_t thread_count, thread_capacity;
    struct index_map thread_map;
    struct sequence_stream *streams;
    size_t stream_count, stream_capacity;
    struct index_map stream_map;
    struct sequence_siblings *siblings;
    size_t sibling_count, sibling_capacity;
    struct index_map sibling_map;
    struct sequence_attention *attention;
    size_t attention_count, attention_capacity;
    struct index_map attention_map;
    struct step_counts steps;
    uint64_t dropped;                  /* calls and launches whose thread, stream or list was beyond the bounds */
    uint32_t last_thread, last_stream; /* where the record before this one went */
    uint64_t last_tid, last_handle;
};

void call_sequence_open(struct call_sequence *sequence);

/* NUMBER tells calls apart, 0 up to 2^31; CALL is what sequence_call_of_signature() said of it. */
void call_sequence_call(struct call_sequence *sequence, const struct trace_block_header *block,
                        const struct trace_call *record, uint32_t number, const struct sequence_call *call);
/* Of the outermost launches only. NUMBER tells kernels apart, apart from the numbers of calls; NAMED is what the kernel's
 * name, if it is known by now, says of the phase. LAUNCH may be NULL. */
void call_sequence_launch(struct call_sequence *sequence, const struct trace_block_header *block,
                          const struct trace_launch *record, uint32_t number, uint64_t name_id, enum phase named,
                          const struct sequence_launch *launch);
/* Lists that somebody else found, with their times. */
void call_sequence_add_siblings(struct call_sequence *sequence, const struct sequence_siblings *siblings);
void call_sequence_add_attention(struct call_sequence *sequence, const struct sequence_attention *attention);
void call_sequence_end(struct call_sequence *sequence); /* after the last record: what is going on ends */

void call_sequence_close(struct call_sequence *sequence);

#endif
