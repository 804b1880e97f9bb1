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
#include "classify/phases.h"
#include "classify/weight_forms.h"

struct session;

enum books_steps_source {
    BOOKS_STEPS_UNKNOWN,
    BOOKS_STEPS_PHASES, /* prefill and decode steps of the processes that used the device */
    BOOKS_STEPS_CALLS,  /* passes that more than half of the matched bytes agree on */
};

struct books_list {
    size_t *indexes;
    size_t count, capacity;
};

/* Of one step. NAN: steps are not known, or nothing was seen. */
struct books_measured {
    double counted; /* calls that the others are made of */
    double calls;   /* 0 where nothing was seen */
    double bytes, parameters;
    double bits;             /* as read; mean */
    int64_t m_p50;           /* nearest rank; negative: not seen */
    double time_ns, roof_ns; /* roof_ns for the same M */
    double times_roof;       /* the one by the other */
};

/* All of the model's weights of one shape: they can't be told apart. */
struct books_row {
    char *names;                                   /* "self_attn.k_proj, self_attn.v_proj" */
    int64_t n, k, batch;                           /* batch: products of one call; experts: 1 */
    bool experts;                                  /* some are: then calls are counted by matrix */
    enum weight_form_kind kind;                    /* PLAIN where there is one among them */
    uint32_t parts;                                /* bits of weight_forms.forms[] that it has in it */
    struct predict_range calls, bytes, parameters; /* of the model, a step */
    double bits;                                   /* as stored; mean over them */
    /* Measured; nothing is where there are no operators. */
    struct books_list operators;           /* indexes in session->operators */
    struct books_list weights;             /* in session->weights; grouped calls are in none */
    double executions;                     /* calls of the whole run, in steps or not; NAN: not known */
    struct books_measured measured;        /* mean over all steps; m_p50 of all executions */
    struct books_measured of[PHASE_COUNT]; /* of prefill and decode steps; counted 0 where none were told apart */
};

/* Kernels of some families: of these there is a name and no shape. */
struct books_named {
    uint64_t kernels;
    double time_ns;   /* of the whole run; NAN: nothing was timed */
    double decode_ns; /* of one decode step; NAN: none was told, not timed, or launched by what nobody saw */
};

struct books_attention {
    struct books_named named;
    struct books_named read; /* with shapes, read off their launches: none of NAMED */
    double decode_steps;     /* that ran on the device; 0: none were told */
    uint64_t
        naive_times; /* products of scores and values as two batched GEMMs: these have shapes, in naive_attention */
    double naive_ns; /* of both, in the whole run; NAN: not timed */
    int64_t batch;   /* sequences of such a step: as asked, else its rows; 0: not known */
    double roof_ns;  /* of one, all layers, as predicted; NAN: no context, no batch, no roof */
};

struct books_device {
    int device; /* index, or SESSION_DEVICE_UNKNOWN */
    enum books_steps_source steps_source;
    double steps;           /* NAN: not known */
    double passes;          /* what most of the matched bytes' calls come to, whole run; NAN: they don't agree */
    double passes_share;    /* of the matched bytes that agree on it */
    struct books_row *rows; /* seen ones first, then the rest; each by bytes */
    size_t row_count, seen_count;
    struct books_list extra_weights; /* in session->weights: of no shape that the model has; longest time first */
    struct books_list extra_grouped; /* the same of grouped calls, in session->operators */
    double extra_bytes;              /* weight bytes a step of both; NAN */
    /* Of all that the routing leaves open between at least and at most, the part that the rows of a step leave: no more
     * experts are touched than rows x top_k. By phase; UNKNOWN: mean over the steps. 1 without experts. */
    double routed[PHASE_COUNT];
    struct predict_range own_bytes, own_parameters; /* of the model by that, what shares are of */
    double bytes, parameters;                       /* measured, matched, a step; NAN: steps are not known */
    double share[2]; /* of the model's bytes at most and at least: a range where there are experts */
    double parameter_share[2];
    double steps_of[PHASE_COUNT];    /* prefill and decode; 0: none */
    double share_of[PHASE_COUNT][2]; /* the same share, of these steps alone; NAN */
    double shape_share;              /* of the model's bytes (at most): those whose shape was seen at all */
    bool bits_differ;                /* some row was read in other bits than it is stored in */
    struct books_attention attention;
    struct books_named gemms; /* that no call with a shape owns */
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
    struct model_error checkpoint_problem; /* why the one beside config.json can't be read; empty: it can */
    /* What shares are of: model_bytes, or what the checkpoint's own tensors take where all of them are known, are those of
     * config.json, and every one is multiplied in each step of the one GPU. */
    struct predict_range own_bytes;
    bool own_of_checkpoint;
    struct books_device *devices;
    size_t device_count;
    double all_share;    /* of own_bytes at most: all devices together; NAN: one device, a split, or steps not known */
    int64_t fits_better; /* another number of GPUs whose parts' shapes were seen far more of; 0: none */
};

/* PATH: config.json, or the folder that has it. NULL: can't be read or used; ERROR tells what, with the file's name. */
struct books *books_open(const char *path, const struct books_options *options, struct model_error *error);
/* SESSION must be classified. Once. */
void books_close_with(struct books *books, const struct session *session);
void books_free(struct books *books);

/* RANGE with only PART of what lies between its ends. */
struct predict_range books_narrow(struct predict_range range, double part);

const char *books_steps_source_name(enum books_steps_source source); /* "phases", "calls"; NULL: not known */

#endif
