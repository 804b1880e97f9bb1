/* SPDX-License-Identifier: Apache-2.0 */
/* Below the table: its words explained as far as they occur, and M* for the most expensive memory-bound GEMMs. */
#include "report/advice.h"

#include <inttypes.h>
#include <math.h>

#include "report/columns.h"
#include "report/format.h"

enum { ADVICE_ROWS = 5 };

/* ---- what the words in the table mean ---- */

static const struct {
    unsigned flag;
    const char *text;
} flag_meanings[] = {
    {ROOFLINE_NEAR_RIDGE, "near_ridge: within 10 % of the ridge, so memory or compute may be either"},
    {ROOFLINE_STARVED, "starved: fewer thread blocks than SMs, part of the GPU has nothing to do"},
    {ROOFLINE_FAR_FROM_ROOF, "far_from_roof: more than 3 times the roof's time"},
    {ROOFLINE_ABOVE_ROOF, "above_roof: faster than the roof, so operands in cache, or a wrong peak or shape"},
};

void advice_print_meanings(const struct session *session, size_t rows, FILE *out)
{
    unsigned flags = 0;
    bool overhead = false;
    for (size_t i = 0; i < session->operator_count && i < rows; i++) {
        flags |= session->operators[i].roofline.flags;
        overhead |= session->operators[i].roofline.bound == BOUND_OVERHEAD;
    }
    if (flags || overhead)
        fputc('\n', out);
    if (overhead)
        fputs("overhead: the kernel takes about as long as one that does nothing\n", out);
    for (size_t i = 0; i < sizeof flag_meanings / sizeof flag_meanings[0]; i++)
        if (flags & flag_meanings[i].flag)
            fprintf(out, "%s\n", flag_meanings[i].text);
}

/* ---- advice ---- */

static void print_shape(const struct operator_row *op, FILE *out)
{
    char types[COLUMN_CELL_BYTES];
    columns_types(op, types);
    fprintf(out, "  M %" PRId64 "  N %" PRId64 "  K %" PRId64 "  %s: ", op->work.m, op->work.n, op->work.k, types);
}

/* The dimension whose term of 1/M + 1/N + 1/K is largest. */
static char short_side(const struct work *work)
{
    if (work->m <= work->n && work->m <= work->k)
        return 'M';
    return work->n <= work->k ? 'N' : 'K';
}

static void print_advice_of(const struct session *session, const struct operator_row *op, FILE *out)
{
    char rows[FORMAT_BYTES], more[FORMAT_BYTES];
    double missing = ceil(op->rows_at_ridge) - (double)op->work.m;
    print_shape(op, out);
    if (isinf(op->rows_at_ridge))
        fprintf(out, "no M makes it compute-bound, %c is too small for that", op->work.n <= op->work.k ? 'N' : 'K');
    else
        fprintf(out, "%c is the short side; compute-bound from M = %s on, %s more %s", short_side(&op->work),
                format_rows(rows, op->rows_at_ridge), format_rows(more, missing), missing == 1 ? "row" : "rows");
    if (op->roofline.flags & ROOFLINE_STARVED)
        fprintf(out, "; starved: %" PRIu64 " %s on %d SMs", op->widest_blocks,
                format_plural(op->widest_blocks, "block", "blocks"), session->devices[op->device].facts.sm_count);
    fputc('\n', out);
}

static bool has_advice(const struct operator_row *op)
{
    return op->kind == OPERATOR_GEMM && op->of_call && op->work.weight != WORK_WEIGHT_NONE &&
           op->roofline.bound == BOUND_MEMORY && !isnan(op->rows_at_ridge);
}

void advice_print(const struct session *session, FILE *out)
{
    size_t printed = 0, left = 0;
    for (size_t i = 0; i < session->operator_count; i++) {
        const struct operator_row *op = &session->operators[i];
        if (!has_advice(op))
            continue;
        if (printed == ADVICE_ROWS) {
            left++;
            continue;
        }
        if (!printed++)
            fputs("\nmemory-bound GEMMs, by time:\n", out);
        print_advice_of(session, op, out);
    }
    if (left)
        fprintf(out, "  (%zu more; `--json` has m_star for each)\n", left);
}
