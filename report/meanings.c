/* SPDX-License-Identifier: Apache-2.0 */
/* Words that no row shows are not explained. */
#include "report/meanings.h"

#include <math.h>

#include "classify/launch_groups.h"

static const struct {
    unsigned flag;
    const char *text;
} flag_meanings[] = {
    {ROOFLINE_NEAR_RIDGE, "near_ridge: within 10 % of the ridge, so memory or compute may be either"},
    {ROOFLINE_STARVED, "starved: fewer thread blocks than SMs, part of the GPU has nothing to do"},
    {ROOFLINE_FAR_FROM_ROOF, "far_from_roof: more than 3 times the roof's time"},
    {ROOFLINE_ABOVE_ROOF, "above_roof: faster than the roof"},
};

/* Each reason once, with what is known of it from the first row that has it. */
static void print_above_roof(const struct session *session, const struct operator_rows *rows, FILE *out)
{
    bool printed[ABOVE_ROOF_COUNT] = {false};
    const char *separator = ": ";
    char text[160];
    for (size_t i = 0; i < rows->shown; i++) {
        const struct operator_row *op = rows->rows[i];
        enum above_roof reason = op->roofline.above_roof;
        if (reason == ABOVE_ROOF_NOT || printed[reason])
            continue;
        printed[reason] = true;
        double l2_bytes = op->device >= 0 ? session_device_l2_bytes(&session->devices[op->device]) : NAN;
        fprintf(out, "%s%s", separator, above_roof_text(&op->roofline, l2_bytes, text, sizeof text));
        separator = "; ";
    }
}

static bool is_replayed(const struct operator_row *op)
{
    return op->calls_known && op->timed && (op->of_call ? op->executions : op->kernels) > op->calls;
}

void meanings_print(const struct session *session, const struct operator_rows *rows, FILE *out)
{
    unsigned flags = 0;
    bool read = false, attention = false;
    bool overhead = false, at_most = false, estimated = false, shared = false, replayed = false;
    for (size_t i = 0; i < rows->shown; i++) {
        const struct operator_row *op = rows->rows[i];
        flags |= op->roofline.flags;
        overhead |= op->roofline.bound == BOUND_OVERHEAD;
        at_most |= op->shape_source == TRACE_AT_MOST;
        estimated |= op->evidence.estimated;
        shared |= op->evidence.shared_ns > 0 && !op->graph;
        replayed |= is_replayed(op);
        read |= launch_of_operator_is_read(op);
        attention |= launch_of_operator_is_read(op) && op->launch->kind == LAUNCH_ATTENTION;
    }
    if (flags || overhead || at_most || estimated || shared || replayed || read)
        fputc('\n', out);
    if (overhead)
        fputs("overhead: the kernel takes about as long as one that does nothing\n", out);
    for (size_t i = 0; i < sizeof flag_meanings / sizeof flag_meanings[0]; i++)
        if (flags & flag_meanings[i].flag) {
            fputs(flag_meanings[i].text, out);
            if (flag_meanings[i].flag == ROOFLINE_ABOVE_ROOF)
                print_above_roof(session, rows, out);
            fputc('\n', out);
        }
    if (replayed)
        fputs("CALLS: as the program made them; TIME: also of what graphs replayed of them (--json: executions)\n",
              out);
    if (estimated)
        fputs("~: of all executions, estimated from those that were timed in windows drawn at random (--json: "
              "interval)\n",
              out);
    if (shared)
        fputs("^: of graphs that were timed as a whole, shared out by the roof model: no measure of single kernels\n",
              out);
    if (read)
        fputs(
            "params, exact: read off a launch's parameters, or its template arguments and grid alone; TYPES: as stored "
            "/ multiplied on\n",
            out);
    if (attention)
        fputs("of an attention M, N, K are queries, keys and head dim; behind its name heads of Q/KV, x sequences; "
              "<=: the cache is padded, so there are no more keys\n",
              out);
    if (at_most)
        fputs("at_most: only a maximum of the bytes is known, so FLOP/B is the least it can be\n", out);
}
