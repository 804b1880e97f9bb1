/* SPDX-License-Identifier: Apache-2.0 */
#include "report/meanings.h"

static const struct {
    unsigned flag;
    const char *text;
} flag_meanings[] = {
    {ROOFLINE_NEAR_RIDGE, "near_ridge: within 10 % of the ridge, so memory or compute may be either"},
    {ROOFLINE_STARVED, "starved: fewer thread blocks than SMs, part of the GPU has nothing to do"},
    {ROOFLINE_FAR_FROM_ROOF, "far_from_roof: more than 3 times the roof's time"},
    {ROOFLINE_ABOVE_ROOF, "above_roof: faster than the roof, so operands in cache, or a wrong peak or shape"},
};

void meanings_print(const struct operator_rows *rows, FILE *out)
{
    unsigned flags = 0;
    bool overhead = false, at_most = false;
    for (size_t i = 0; i < rows->shown; i++) {
        const struct operator_row *op = rows->rows[i];
        flags |= op->roofline.flags;
        overhead |= op->roofline.bound == BOUND_OVERHEAD;
        at_most |= op->shape_source == TRACE_AT_MOST;
    }
    if (flags || overhead || at_most)
        fputc('\n', out);
    if (overhead)
        fputs("overhead: the kernel takes about as long as one that does nothing\n", out);
    for (size_t i = 0; i < sizeof flag_meanings / sizeof flag_meanings[0]; i++)
        if (flags & flag_meanings[i].flag)
            fprintf(out, "%s\n", flag_meanings[i].text);
    if (at_most)
        fputs("at_most: only a maximum of the bytes is known, so FLOP/B is the least it can be\n", out);
}
