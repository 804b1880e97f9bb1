/* SPDX-License-Identifier: Apache-2.0 */
/* Prefill and decode told apart, and whole steps. A step is one pass over the weights: a thread's calls up to the one that
 * reads the first weight (by address) again. The last GEMM of a step is the output projection; it has one row for each
 * sequence. A step whose other GEMMs have as many rows decodes; one that has more computes prompts (or both at once);
 * where that can't be told, the phase is unknown.
 *
 * The rules, first that holds. M is that of GEMMs and GEMVs with one weight; K = 1 (rotary angles) and batched ones
 * (attention) don't count. "Layered": each shape (N, K) of a weight comes twice on average, as layers do, so a single layer
 * isn't taken for a model; "projected": the last GEMM's shape comes once. "Repeated": the step before or after begins and
 * ends with the same weights.
 *   fewer than 4 GEMMs                                   unknown
 *   M = 1 throughout, repeated or layered                decode
 *   repeated or layered, and attention's parameters were read:
 *     M of the last < M of the others                    prefill: logits of fewer rows than were computed
 *     one query of each sequence, more than one of them  decode: a batch
 *     several queries, and other steps that begin alike go on further
 *                                                        prefill: a part of a prompt of which no logits were asked for
 *   repeated or layered, and an attention kernel was launched whose name says decode, and none that says prefill
 *                                                        decode; unknown where it is projected and M of the others is
 *                                                        larger than M of the last: the two contradict each other
 *   not layered, not projected, or not repeated          unknown: a forward pass without logits, another kind of program
 *   M of the others at most (experts get fewer rows) > M of the last     prefill, whole, chunked, or mixed with decode
 *   M of the others < M of the last                      unknown
 *   equal, and the step before or after has the same M   decode: a batch, or a few draft tokens of each sequence; unknown
 *                                                        beyond 1024 rows, which no engine batches by default
 *   equal, then two steps or more of M' each, M a multiple of M', and no step of another M' before
 *                                                        prefill: the logits of all positions were computed
 *   equal                                                unknown
 * Known to mislead: a run that computes the logits of all positions again and again with one small M (perplexity) looks
 * like a batch that decodes, and so does a model of another kind that is built of layers and ends in a projection. A kernel named prefill is no evidence: FlashInfer decodes with it where query heads share a KV head.
 * Calls under graph capture are seen when captured only; what a replay is, is what was captured (replay_phases.h). */
#ifndef CLASSIFY_PHASES_H
#define CLASSIFY_PHASES_H

#include <stdbool.h>
#include <stdint.h>

enum phase { PHASE_UNKNOWN, PHASE_PREFILL, PHASE_DECODE, PHASE_COUNT };

/* What all operators of one phase come to. NAN: not known. */
struct phase_sum {
    uint64_t steps;
    double rows_per_step;          /* tokens: step_rows(), mean over the steps */
    double time_ns, share;         /* of operators with known work; share of the kernel time of all devices */
    double gpu_time_ns, gpu_share; /* the same of all operators, those without a work model too */
    double flops, bytes;
    double intensity; /* FLOPs by bytes: the byte-weighted mean of the operators' */
};

/* What the rules look at. */
struct step_facts {
    uint64_t first_weight, last_weight; /* addresses */
    uint64_t products;
    uint64_t shapes; /* different (N, K) among them; 0: too many to count */
    bool projected;  /* no other product has the last one's (N, K) */
    int64_t rows;    /* largest M before the last product */
    int64_t last_rows;
    double mean_rows;        /* of the products before the last */
    bool named[PHASE_COUNT]; /* an attention kernel was launched whose name says so; UNKNOWN: means nothing */
    /* As attention's parameters say; largest of the step. 0: none was read. */
    int64_t queries;        /* of one sequence */
    int64_t query_rows;     /* of all sequences: tokens */
    uint64_t most_products; /* of the steps of this thread that begin with the same weight, before and a few behind */
};

/* Tokens of a step: attention's rows where they are known, else the mean M before the output projection. */
double step_rows(const struct step_facts *step);

enum phase phase_of_step(const struct step_facts *step, const struct step_facts *before, const struct step_facts *next,
                         const struct step_facts *after_next); /* NULL: there is none */

struct operator_row;
/* How much of an operator's sums is of PHASE, from 0 to 1, and how many of its executions: no whole number where the phases of
 * replays are not known and those of calls stand for them. UNKNOWN: what the others leave. */
double phases_part(const struct operator_row *op, enum phase phase);
double phases_executions(const struct operator_row *op, enum phase phase);

#define PHASES_LEAST_PART 1e-12 /* what is left of 1 by rounding, and no part */

struct session;
void phases_find(struct session *session); /* session->phases and step; phases' steps and sum of rows are there */

const char *phase_name(enum phase phase); /* "unknown", "prefill", "decode" */

#endif
