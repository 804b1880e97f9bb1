/* SPDX-License-Identifier: Apache-2.0 */
/* What could be changed, and what that would save in this run: a const table walked over a session. A piece of advice is
 * given only where its precondition is a fact of the session and where it saves enough to matter; savings are at the
 * specification's roof, at most, overlap with each other, and never exceed the time that the GPU was busy. What no trace
 * tells, such as an attention's window, comes from a model that the user names (`report --predict`), or there is no advice. */
#ifndef CLASSIFY_ADVICE_H
#define CLASSIFY_ADVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "classify/gpu_specs.h"

struct operator_row;
struct session;

/* Less than this share is shown in lists, and isn't advice. */
#define ADVICE_LEAST_SHARE 0.001

/* What a piece of advice is about: SUBJECT.index is an index of the session's list of that kind. */
enum advice_kind {
    ADVICE_WEIGHT,          /* session->weights */
    ADVICE_SIBLINGS,        /* session->sibling_groups */
    ADVICE_OPERATOR,        /* session->operators */
    ADVICE_NAIVE_ATTENTION, /* session->naive_attention */
    ADVICE_DEVICE,          /* session->devices */
    ADVICE_RUN,             /* the whole of it; index 0 */
    ADVICE_KIND_COUNT,
};

struct advice_row {
    const char *id;    /* for machines; never changes */
    const char *lever; /* in a few words, for the verdict */
    enum advice_kind kind;
    bool of_span; /* saves time in which the GPU waits, so it is a share of the span, not of busy time */
    /* What changing this subject would save in this run. Not above 0 or NAN: the precondition doesn't hold. */
    double (*saved_ns)(const struct session *session, size_t index);
    const char *text;   /* what to do, and what that costs */
    const char *detail; /* about one subject: {words} stand for its figures, report/advice_text.c has them; or NULL */
    const char *source;
};

const struct advice_row *advice_rows(size_t *count);
const char *advice_kind_name(enum advice_kind kind); /* "weight", "siblings", … */
size_t advice_subject_count(const struct session *session, enum advice_kind kind);

/* What one of its kernels may spend on starting up, of which no advice claims a part: the device's floor; where that is not
 * known, or too long to be one, the most that any kernel's start-up takes. */
double advice_start_up_ns(const struct session *session, const struct operator_row *op);
/* What an fp32 GEMM on FMA units would save on tensor cores, in TF32 (GPU_PATH_TF32) or with 16-bit operands and results
 * (GPU_PATH_BF16). NAN: no such path. */
double advice_tensor_core_ns(const struct session *session, const struct operator_row *op, enum gpu_path path);

struct advice_subject {
    size_t index;
    double saved_ns;
};

struct advice {
    const struct advice_row *row;
    struct advice_subject *subjects; /* most saved first */
    size_t subject_count;
    double saved_ns,
        saved_share; /* of all subjects; share of the list's base_ns, or of span_ns where the row says so */
};

struct advice_list {
    struct advice *items; /* most saved first */
    size_t count;
    bool by_roof;   /* nothing was timed: base_ns is the time that all calls would take at the roof */
    double base_ns; /* the time that the devices were busy; NAN: not known */
    double span_ns; /* from first start to last end, summed over devices; NAN */
};

struct advice_list advice_find(const struct session *session);
void advice_free(struct advice_list *list);

#endif
