/* SPDX-License-Identifier: Apache-2.0 */
/* What a session multiplied beside the matrices of a GGUF, and the books closed to the byte: the weight bytes of one step as
 * measured against the model's own. Measured matrices are told by N, K and format, all GPUs together, so a model that is split
 * over GPUs by layers is whole here; a part of a matrix that was cut along N or K counts as that part.
 * Matrices of one shape and format can't be told apart and are one class. Bytes are what the products read: a matrix that was
 * unpacked before its product is read in the types of that product. Ranges are at least and at most: of experts a step touches
 * no fewer than each token uses, and no more than rows x used. */
#ifndef CLASSIFY_MODEL_BOOKS_H
#define CLASSIFY_MODEL_BOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/model/gguf_model.h"
#include "classify/phases.h"
#include "classify/predict.h"

struct session;

/* Of all steps of one phase. UNKNOWN: of the whole run, in steps or not. */
struct model_books_measured {
    struct predict_range matrices, bytes;
    int64_t m_p50;           /* nearest rank over executions; negative: none */
    double time_ns, roof_ns; /* NAN: not timed, not known */
};

struct model_books_name {
    const char *name;
    int64_t tensors; /* of that name in the class */
};

struct model_books_class {
    struct model_books_name *names; /* in the order of a layer */
    size_t name_count;
    int64_t n, k;
    const struct model_format *format;
    double matrix_bytes;
    int64_t fixed;           /* matrices that every step reads */
    int64_t routed, experts; /* tensors of experts, and matrices of each; 0: none */
    bool heads;              /* some of FIXED are multiplied several in a launch, one for each head */
    size_t *operators;       /* indexes in session->operators, longest time first */
    size_t operator_count;
    bool cut;                              /* some of them multiplied a part */
    bool other_format;                     /* some of them read it in another format than it is stored in */
    struct predict_range own[PHASE_COUNT]; /* matrices a step; UNKNOWN: of one token */
    struct model_books_measured measured[PHASE_COUNT];
};

enum model_books_verdict {
    MODEL_BOOKS_UNKNOWN, /* no step of the phase was told apart, or parts of steps are gone */
    MODEL_BOOKS_EQUAL,   /* to the byte */
    MODEL_BOOKS_WITHIN,  /* between the bounds, where experts are routed to */
    MODEL_BOOKS_LESS,
    MODEL_BOOKS_MORE,
};

struct model_books_phase {
    double steps, rows;         /* of the phase; rows of a step, NAN: not known */
    int64_t rows_most;          /* of a product that is no expert's */
    struct predict_range own;   /* bytes of a step */
    struct predict_range bytes; /* measured, of all steps together */
    enum model_books_verdict verdict;
};

struct model_books_device {
    int device; /* index, or SESSION_DEVICE_UNKNOWN */
    struct predict_range bytes[PHASE_COUNT];
};

struct model_books {
    char *path;
    struct gguf_model model;
    struct model_books_class *classes; /* most bytes first */
    size_t class_count, class_capacity;
    struct model_books_phase phases[PHASE_COUNT];
    struct model_books_device *devices;
    size_t device_count, device_capacity;
    size_t *class_of; /* by operator: index of its class plus one; 0: none */
    uint64_t *
        names_of; /* by operator: bits of its class's names that it may be, as the order of a step's products tells; 0: any */
    size_t operator_count;
    size_t *extra; /* operators that multiplied a matrix of no shape that the model has, longest time first */
    size_t extra_count;
    bool rotated;        /* records were: what is left are parts of steps, which are no steps here */
    int64_t layers_seen; /* of the model's, by the matrices that a step was short of; negative: not told */
};

/* NULL: can't be read; ERROR tells what, with the file's name. */
struct model_books *model_books_open(const char *path, struct model_error *error);
/* SESSION must be classified. Once. */
void model_books_close_with(struct model_books *books, const struct session *session);
void model_books_free(struct model_books *books);

/* NULL: the operator multiplied nothing of the model's. */
const struct model_books_class *model_books_class_of(const struct model_books *books, size_t op);
/* Which of its class's names OP may be: that many of NAMES, of MODEL_BOOKS_NAMES_MOST; 0: it multiplied nothing of the model's. */
enum { MODEL_BOOKS_NAMES_MOST = 64 };
size_t model_books_names(const struct model_books *books, size_t op, const char *names[MODEL_BOOKS_NAMES_MOST]);
const char *model_books_verdict_name(enum model_books_verdict verdict); /* "equal", ...; NULL for UNKNOWN */

#endif
