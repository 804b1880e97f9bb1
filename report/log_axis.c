/* SPDX-License-Identifier: Apache-2.0 */
/* Ends are chosen from 1, 2 and 5 in each decade; a little slack keeps a value that is such a number, but for its last bit. */
#include "report/log_axis.h"

#include <math.h>

static const double slack = 1e-9;

static double end_below(double value)
{
    double decade = pow(10, floor(log10(value) + slack)), part = value / decade * (1 + slack);
    return decade * (part >= 5 ? 5 : part >= 2 ? 2 : 1);
}

static double end_above(double value)
{
    double decade = pow(10, floor(log10(value) + slack)), part = value / decade * (1 - slack);
    return decade * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

struct log_axis log_axis_of(double least, double most, double begin, double end)
{
    if (most / least < 100) {
        double middle = sqrt(least * most);
        least = middle / 10;
        most = middle * 10;
    }
    return (struct log_axis){.least = end_below(least), .most = end_above(most), .begin = begin, .end = end};
}

double log_axis_at(const struct log_axis *axis, double value)
{
    return axis->begin + (axis->end - axis->begin) * log(value / axis->least) / log(axis->most / axis->least);
}

int log_axis_decades(const struct log_axis *axis, int *first)
{
    *first = (int)ceil(log10(axis->least) - slack);
    return (int)floor(log10(axis->most) + slack) - *first + 1;
}
