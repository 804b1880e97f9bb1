/* SPDX-License-Identifier: Apache-2.0 */
/* What a session multiplied beside what a model is made of: measured weights matched with the model's by shape (N, K, products
 * of a call), whatever their M, device by device; and the books closed: weight bytes of a step as measured against the
 * model's own. Needs no ledger and no roof.
 *
 * Calls of a step: where steps were told apart (classify/phases.h), calls in them by their number. Else, where the
 * weights' calls agree on one number of passes over the model, by that; the agreement is then no evidence. Else unknown.
 * Bytes are what the products read: a weight that is unpacked before its product is read in the types of that product.
 * Shares are never clamped. Units: elements, bytes, ns; of one step of one device where nothing else is said. */
#ifndef CLASSIFY_BOOKS_H
#define CLASSIFY_BOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/model/checkpoint.h"
#include "classify/weight_forms.h"

struct session;

enum books_steps_source {
    BOOKS_STEPS_UNKNOWN,
    BOOKS_STEPS_PHASES, /* prefill and decode steps of the processes that used the device */
    BOOKS_STEPS_CALLS,  /* passes that more than half of the matched bytes agree on */
};

/* All of the model's weights of one shape that can't be told apart. */
struct books_row {
    char *names;                                   /* "self_attn.k_proj, self_attn.v_proj" */
    int64_t n, k, batch;                           /* batch: products of one call; experts: 1 */
    bool experts;                                  /* counted by matrix, not by call */
    enum weight_form_kind kind;                    /* PLAIN where there is one among them */
    uint32_t parts;                                /* bits of weight_forms.forms[] that it has in it */
    struct predict_range calls, bytes, parameters; /* of the model, a step */
    double bits;                                   /* as stored; mean over them */
    /* Measured; nothing is where weight_count is 0. */
    size_t *weights; /* indexes in session->weights */
    size_t weight_count;
    uint64_t executions;                        /* of the whole run, in steps or not */
    uint64_t counted;                           /* those that measured_calls is made of */
    double measured_calls;                      /* NAN: steps are not known; 0: not seen */
    double measured_bits;                       /* as read; mean over executions; NAN: not seen, not known */
    double measured_bytes, measured_parameters; /* NAN as measured_calls */
    int64_t m_p50;                              /* of executions, nearest rank; negative: not seen */
    double time_ns, roof_ns;                    /* a step; NAN: not known */
    double times_roof;                          /* time by time at the roof for the same M; NAN */
};

/* What of the model has no shape: kernels of these families, by name. */
struct books_named {
    uint64_t kernels;
    double time_ns; /* of the whole run; NAN: nothing was timed */
};

struct books_device {
    int device; /* index, or SESSION_DEVICE_UNKNOWN */
    enum books_steps_source steps_source;
    double steps;           /* NAN: not known */
    double passes;          /* what most of the matched bytes' calls come to, whole run; NAN: they don't agree */
    double passes_share;    /* of the matched bytes that agree on it */
    struct books_row *rows; /* seen ones first, then the rest; each by bytes */
    size_t row_count, seen_count;
    size_t *extras; /* indexes in session->weights that the model has no shape for, longest time first */
    size_t extra_count;
    double extra_bytes;       /* weight bytes a step of those; NAN */
    double bytes, parameters; /* measured, matched, a step; NAN: steps are not known */
    double share[2];          /* of the model's bytes at most and at least: [0] <= [1] where experts make a range */
    double parameter_share[2];
    double shape_share;                  /* of the model's bytes (at most) whose shape was seen at all */
    bool bits_differ;                    /* some row was read in other bits than it is stored in */
    struct books_named attention, gemms; /* kernels whose names say so, that no call with a shape owns */
    double attention_decode_steps;       /* decode steps that ran on it; 0: none were told */
    double attention_decode_ns; /* of one such step, all layers, at the roof, as predicted; NAN: no context, no roof */
    int64_t attention_batch;    /* sequences that it was predicted for: as asked, else rows of a decode step */
};

struct books_options {
    struct weight_forms_options model;
    int64_t context, batch;        /* keys and sequences of a decode step, for attention; 0: not known */
    const struct model_format *kv; /* NULL: as the activations */
    const char *checkpoint;        /* file to compare with; NULL: one beside config.json, if any */
};

struct books {
    char *config_path;
    struct model_config config;
    struct model_geometry geometry;
    struct books_options options;
    struct weight_forms forms;
    struct predict_range model_bytes, model_parameters; /* multiplied in a step, one GPU's part */
    char *checkpoint_path;                              /* NULL: none */
    struct checkpoint_comparison checkpoint;
    struct books_device *devices;
    size_t device_count;
    int64_t fits_better; /* another number of GPUs whose parts' shapes were seen far more of; 0: none */
};

/* PATH: config.json, or the folder that has it. NULL: can't be read or used; ERROR tells what, with the file's name. */
struct books *books_open(const char *path, const struct books_options *options, struct model_error *error);
/* SESSION must be classified. Once. */
void books_close_with(struct books *books, const struct session *session);
void books_free(struct books *books);

const char *books_steps_source_name(enum books_steps_source source); /* "phases", "calls"; NULL: not known */

#endif
