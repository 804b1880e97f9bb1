/* SPDX-License-Identifier: Apache-2.0 */
/* A logarithmic axis of a picture: where a value lies on it, and where its ticks are. */
#ifndef REPORT_LOG_AXIS_H
#define REPORT_LOG_AXIS_H

struct log_axis {
    double least, most; /* values at its ends, each 1, 2 or 5 times a power of ten */
    double begin, end;  /* where these are drawn */
};

/* The shortest axis that holds LEAST to MOST, which are positive, finite and in order; at least two decades long. */
struct log_axis log_axis_of(double least, double most, double begin, double end);

double log_axis_at(const struct log_axis *axis, double value); /* beyond the ends for values beyond them */

/* Powers of ten on the axis: the first is 10 to the power of *FIRST, and there are as many as is returned. */
int log_axis_decades(const struct log_axis *axis, int *first);

#endif
