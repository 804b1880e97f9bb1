/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of phases.h, and the sums over a session's operators. */
#include "classify/phases.h"

#include <math.h>
#include <stddef.h>

#include "classify/session.h"

enum {
    STEP_PRODUCTS_LEAST = 4, /* a layer with everything fused: qkv, o, gate and up, down */
    DECODE_ROWS_MOST = 1024, /* the largest default of vLLM's max_num_seqs (vllm/engine/arg_utils.py) */
};

const char *phase_name(enum phase phase)
{
    static const char *const names[] = {
        [PHASE_UNKNOWN] = "unknown",
        [PHASE_PREFILL] = "prefill",
        [PHASE_DECODE] = "decode",
    };
    return names[phase];
}

/* ---- one step ---- */

static bool repeats(const struct step_facts *a, const struct step_facts *b)
{
    return a && b && a->first_weight == b->first_weight && a->last_weight == b->last_weight;
}

static bool equal_rows(const struct step_facts *step)
{
    return step->rows == step->last_rows;
}

static bool repeats_rows(const struct step_facts *a, const struct step_facts *b)
{
    return repeats(a, b) && equal_rows(b) && a->rows == b->rows;
}

/* One long step, then short ones of a divisor of its rows: a prompt whose logits were all computed, and what it generates. */
static bool is_followed_by_generation(const struct step_facts *step, const struct step_facts *before,
                                      const struct step_facts *next, const struct step_facts *after_next)
{
    return repeats(step, next) && repeats_rows(next, after_next) && equal_rows(next) && step->rows > next->rows &&
           step->rows % next->rows == 0 && (!before || before->rows == next->rows);
}

double step_rows(const struct step_facts *step)
{
    return step->query_rows ? (double)step->query_rows : step->mean_rows;
}

/* Attention whose queries are known tells a model's pass from other programs that multiply. UNKNOWN: it tells no more. */
static enum phase phase_by_attention(const struct step_facts *step)
{
    if (!step->query_rows)
        return PHASE_UNKNOWN;
    if (step->rows > step->last_rows)
        return PHASE_PREFILL;
    if (step->queries == 1)
        return step->query_rows == step->rows && equal_rows(step) ? PHASE_DECODE : PHASE_UNKNOWN;
    return step->products < step->most_products ? PHASE_PREFILL : PHASE_UNKNOWN;
}

enum phase phase_of_step(const struct step_facts *step, const struct step_facts *before, const struct step_facts *next,
                         const struct step_facts *after_next)
{
    bool layered = step->shapes && step->products >= 2 * step->shapes;
    bool repeated = repeats(step, before) || repeats(step, next);
    if (step->products < STEP_PRODUCTS_LEAST || step->rows < 1 || step->last_rows < 1)
        return PHASE_UNKNOWN;
    if (step->rows == 1 && step->last_rows == 1)
        return repeated || layered ? PHASE_DECODE : PHASE_UNKNOWN;
    const enum phase told = repeated || layered ? phase_by_attention(step) : PHASE_UNKNOWN;
    if (told != PHASE_UNKNOWN)
        return told;
    if ((repeated || layered) && step->named[PHASE_DECODE] && !step->named[PHASE_PREFILL])
        return step->projected && step->rows > step->last_rows ? PHASE_UNKNOWN : PHASE_DECODE;
    if (!layered || !step->projected || !repeated || step->rows < step->last_rows)
        return PHASE_UNKNOWN;
    if (step->rows > step->last_rows)
        return PHASE_PREFILL;
    if (repeats_rows(step, before) || repeats_rows(step, next))
        return step->rows <= DECODE_ROWS_MOST ? PHASE_DECODE : PHASE_UNKNOWN;
    return is_followed_by_generation(step, before, next, after_next) ? PHASE_PREFILL : PHASE_UNKNOWN;
}

/* ---- the session ---- */

static void add_operator(struct phase_sum *sum, const struct operator_row *op, double part)
{
    if (!(part > 0))
        return;
    if (op->kernels)
        sum->gpu_time_ns += part * (double)op->time_ns;
    if (isnan(op->flops) || isnan(op->bytes))
        return;
    sum->flops += part * op->flops;
    sum->bytes += part * op->bytes;
    if (op->kernels)
        sum->time_ns += part * (double)op->time_ns;
}

static void finish(struct phase_sum *sum, double gpu_time_ns, double rows)
{
    sum->rows_per_step = sum->steps ? rows / (double)sum->steps : NAN;
    sum->share = gpu_time_ns > 0 ? sum->time_ns / gpu_time_ns : NAN;
    sum->gpu_share = gpu_time_ns > 0 ? sum->gpu_time_ns / gpu_time_ns : NAN;
    sum->intensity = sum->bytes > 0 ? sum->flops / sum->bytes : NAN;
    if (isnan(gpu_time_ns))
        sum->time_ns = sum->gpu_time_ns = NAN;
}

static uint64_t in_phases(const struct operator_row *op)
{
    return op->phase_calls[PHASE_UNKNOWN] + op->phase_calls[PHASE_PREFILL] + op->phase_calls[PHASE_DECODE];
}

/* Parts of a whole. */
struct part {
    double of, all; /* all 0: none */
};

/* Where the phases of replays are not known, they go where the captured calls went: which of the calls were captured is not
 * known then, so where these are of several phases, neither is how its time is split. */
static struct part part_of(const struct operator_row *op, enum phase phase)
{
    const uint64_t executions = operator_row_executions(op), phases = in_phases(op);
    const uint64_t all = executions > phases ? executions : phases;
    const bool replayed = (op->of_call ? op->executions : op->kernels) > op->calls;
    if (op->replays_phased || phases > op->calls)
        return (struct part){(double)op->phase_calls[phase], (double)all};
    if (!op->calls || (replayed && op->phase_calls[PHASE_PREFILL] && op->phase_calls[PHASE_DECODE]))
        return (struct part){0, 0};
    return (struct part){(double)op->phase_calls[phase], (double)op->calls};
}

double phases_part(const struct operator_row *op, enum phase phase)
{
    double left = 1;
    if (phase != PHASE_UNKNOWN) {
        const struct part part = part_of(op, phase);
        return part.all > 0 ? part.of / part.all : 0;
    }
    for (int p = PHASE_UNKNOWN + 1; p < PHASE_COUNT; p++)
        left -= phases_part(op, p);
    return left > 0 ? left : 0;
}

/* Multiplied first: a whole number of whole ones. */
double phases_executions(const struct operator_row *op, enum phase phase)
{
    const double executions = (double)operator_row_executions(op);
    double left = executions;
    if (phase != PHASE_UNKNOWN) {
        const struct part part = part_of(op, phase);
        return part.all > 0 ? executions * part.of / part.all : 0;
    }
    for (int p = PHASE_UNKNOWN + 1; p < PHASE_COUNT; p++)
        left -= phases_executions(op, p);
    return left > 0 ? left : 0;
}

void phases_find(struct session *session)
{
    double rows[PHASE_COUNT], all_rows = 0;
    for (int p = 0; p < PHASE_COUNT; p++) {
        rows[p] = session->phases[p].rows_per_step;
        all_rows += rows[p];
        session->step.steps += session->phases[p].steps;
    }
    for (size_t i = 0; i < session->operator_count; i++) {
        const struct operator_row *op = &session->operators[i];
        for (int p = 0; p < PHASE_COUNT; p++)
            add_operator(&session->phases[p], op, phases_part(op, p));
        add_operator(&session->step, op, 1);
    }
    for (int p = 0; p < PHASE_COUNT; p++)
        finish(&session->phases[p], session->coverage.gpu_time_ns, rows[p]);
    finish(&session->step, session->coverage.gpu_time_ns, all_rows);
}
