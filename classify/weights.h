/* SPDX-License-Identifier: Apache-2.0 */
/* One weight as production sees it: the same matrix (N, K, types) is multiplied with many different M. Built from the
 * operators of a session once they are classified, library calls and launches that were read; a weight is told by its shape, not by its address, so layers add up.
 * Savings are differences of times at the specification's roof, over this run; they ignore everything but the roof. */
#ifndef CLASSIFY_WEIGHTS_H
#define CLASSIFY_WEIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/gpu_specs.h"
#include "classify/number_type.h"
#include "classify/weight_format.h"

struct session;

enum gemm_side { GEMM_SIDE_NONE, GEMM_SIDE_M, GEMM_SIDE_N, GEMM_SIDE_K };

/* What could be changed about a weight. */
enum weight_change {
    WEIGHT_BATCH, /* the rows of all its calls below M*, in calls of M* rows, or in one: the weight is read less often */
    WEIGHT_FUSE,  /* with its siblings: the activation is read once. Each group's saving, evenly over its calls */
    WEIGHT_SPLIT_K, /* at most as many blocks as SMs where now there are fewer; partial sums go through memory in fp32 */
    WEIGHT_8_BIT,   /* the weight in 8 bits, everything else as it is */
    WEIGHT_4_BIT,   /* in 4 bits with a 16-bit scale for each 128 */
    WEIGHT_CHANGE_COUNT,
};

enum { WEIGHT_NO_GROUP = -1 };

struct weight_row {
    int device; /* index, or SESSION_DEVICE_UNKNOWN */
    int64_t n, k, batch;
    struct number_format type[4];       /* A, B, C, D as the library names them */
    const struct weight_format *format; /* of one that is read off launches; NULL: of library calls, or not known */
    enum gpu_path path;
    size_t *operators; /* indexes in session->operators, longest time first */
    size_t operator_count;

    uint64_t executions;
    bool timed;
    uint64_t time_ns;
    double share;                       /* of the kernel time of all devices; NAN without any */
    int64_t m_min, m_p50, m_p90, m_max; /* over executions, nearest rank */
    double rows_at_ridge;               /* M*, a real number; INFINITY: never; NAN: not known */
    double intensity_limit;             /* FLOP/byte as M grows without end: what N and K cap it at */
    enum gemm_side limited_by;          /* which of N and K caps it where no M will do, else NONE */
    double executions_below;            /* share of executions with M < M*; NAN: M* not known */
    double time_below;                  /* share of its time spent there; NAN: no time, or M* not known */
    enum gemm_side short_side;          /* whose term of the bytes dominates at m_p50 */
    bool skinny;                        /* some execution was memory-bound by its shape */

    uint64_t blocks;       /* of the kernel that took most of its time; 0: not known */
    int32_t sm_count;      /* negative: not known */
    double fill;           /* of the compute peak, at most 1; NAN: no claim (persistent kernels, no grid, no SMs) */
    double bandwidth_fill; /* of the bandwidth, as calibrated against blocks; NAN: not measured, or no claim */
    bool starved;          /* one of its operators is */

    int sibling_group; /* index in session->sibling_groups of the one that saves most with it, or WEIGHT_NO_GROUP */
    double saved_ns[WEIGHT_CHANGE_COUNT]; /* in this run, at the roof; 0: nothing to gain; NAN: not known */
};

/* GEMMs that followed one another on a stream and read the same activation (address, M, K, type), as separate q, k and v
 * do. One row for each different list of operators. */
enum { SIBLINGS_MOST = 8 };

struct sibling_group {
    int device;
    int64_t m, k, n_fused;
    size_t operators[SIBLINGS_MOST]; /* indexes in session->operators, in the order of the calls */
    size_t count;
    uint64_t times; /* how often they came like this */
    double intensity, intensity_fused;
    double bytes_saved;            /* each time */
    double roof_ns, roof_fused_ns; /* each time: sum of the single ones, and of one fused call */
    double saved_ns;               /* in this run, at the roof */
    double fill, fill_fused; /* of the compute peak; fused by the tiles that the single ones used; NAN: no claim */
};

/* Two batched GEMMs around a softmax: attention whose scores go through memory. One row for each different pair. */
struct naive_attention {
    int device;
    size_t scores, output; /* indexes in session->operators: Q·K^T and P·V */
    uint64_t times;
    int64_t batch, l_q, l_k, d, d_v;
    bool softmax_seen; /* a softmax kernel was launched between the two */
    double replays;    /* executions of each of the times, where graphs replayed it; at least 1 */
    double flops;      /* each time, of all scores: NAN where the two products don't fit each other; so the rest */
    double bytes, bytes_fused; /* each time: as it is, with the softmax's traffic, and what a fused kernel would move */
    double kv_bytes;           /* of those K and V */
    double intensity_limit;    /* d / b */
    /* Of a fused kernel, FLOP/B: by K's and V's bytes alone, and by all that it must move. */
    double intensity_kv, intensity_fused;
    double saved_ns; /* in this run, at the roof */
};

/* The products of a step, one after another, of so many steps that had these in this order; of processes on one device. */
struct product_order {
    size_t *operators; /* indexes in session->operators */
    size_t count;
    uint64_t times;
};

/* In this order, on sorted and classified operators. The first two fill in what sequence_merge_finish() left. */
void sibling_groups_find(struct session *session);
void naive_attention_find(struct session *session);
void weights_find(struct session *session);
void weights_free(struct session *session);

/* A process was timed, and some kernel of the weight was seen. */
bool weight_has_time(const struct weight_row *weight);

const char *gemm_side_name(enum gemm_side side);           /* "M"; NULL for NONE */
const char *weight_change_name(enum weight_change change); /* "batch", "fuse", "split_k", "8_bit", "4_bit" */

#endif
