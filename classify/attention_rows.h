/* SPDX-License-Identifier: Apache-2.0 */
/* Attention as a session ran it: one row for each device and geometry (heads, head dimensions, element sizes), with the lengths
 * it ran at, and the length at which it turns compute-bound. Of launches that were read; where none was on a device, the
 * geometry is that of the model that the user named. Closed forms: classify/attention_work.h. */
#ifndef CLASSIFY_ATTENTION_ROWS_H
#define CLASSIFY_ATTENTION_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/attention_work.h"
#include "classify/gpu_specs.h"
#include "classify/phases.h"
#include "classify/roofline.h"

struct books;
struct model_books;
struct session;

/* Launches of one size in steps of one phase. */
struct attention_length {
    int64_t queries, keys, sequences; /* queries and keys of one sequence; negative: not known */
    bool keys_at_most;                /* KEYS is what the padded cache holds */
    enum phase phase;
    double executions;              /* as phases_executions() has them */
    double time_ns;                 /* NAN: not timed */
    double flops, bytes, kv_bytes;  /* of all of them */
    double intensity, intensity_kv; /* FLOP/byte; NAN: not known */
    enum bound bound;               /* of the operator that took longest */
};

struct attention_row {
    int device;                            /* index, or SESSION_DEVICE_UNKNOWN */
    bool of_model;                         /* no launch was read: neither operators nor lengths are known */
    int64_t n_q, n_kv, d, d_v;             /* negative: not known */
    double q_bits, k_bits, v_bits, o_bits; /* of an element, scales included; NAN: not known */
    bool v_in_k;
    double group; /* g; NAN: not known */
    enum gpu_path path;
    double ridge; /* NAN: not known */
    double ridge_length_kv,
        ridge_length;                   /* L_ridge of causal prefill, by K and V alone and compulsory; NAN: not known */
    double layer_parameters, crossover; /* P_layer and L* of the model; NAN: none named, or another geometry */
    size_t *operators;                  /* indexes in session->operators, longest time first */
    size_t operator_count, operator_capacity;
    uint64_t executions;
    bool timed;
    uint64_t time_ns;
    struct attention_length *lengths; /* longest time first */
    size_t length_count, length_capacity;
};

struct attention_rows {
    struct attention_row *items; /* longest time first; the model's last */
    size_t count, capacity;
};

/* BOOKS, MODEL_BOOKS: the model that was named, by config.json or by a GGUF; both may be NULL. */
struct attention_rows attention_rows_of(const struct session *session, const struct books *books,
                                        const struct model_books *model_books);
void attention_rows_free(struct attention_rows *rows);

#endif
