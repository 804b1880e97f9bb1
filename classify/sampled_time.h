/* SPDX-License-Identifier: Apache-2.0 */
/* What a whole took, from the part of it that was timed in windows drawn at random: the ratio estimator, in strata of time,
 * with the windows as clusters (Cochran, Sampling Techniques, 3rd ed., 6.10 separate ratio estimate, 9A.2 clusters). Pure
 * arithmetic. */
#ifndef CLASSIFY_SAMPLED_TIME_H
#define CLASSIFY_SAMPLED_TIME_H

#include <stddef.h>

/* One slice of the run's time, about as long as the period in which one window is drawn, or longer. */
struct sampled_part {
    double all;     /* how many there were: executions, or ns of the run where nobody counted those */
    double timed;   /* of them, in windows */
    double time_ns; /* that those took */
};

struct sampled_time {
    double time_ns;  /* of all that COVERED counts; NAN: none of it was timed */
    double covered;  /* executions that the time stands for; 0: none was timed */
    double variance; /* of time_ns; NAN: fewer than two parts have a timed one */
    double freedom;  /* degrees of freedom of that variance */
};

enum {
    SAMPLED_CLUSTERS_A_STRATUM = 3, /* fewer leave too little to tell a stratum's own variance by */
    SAMPLED_STRATA_MOST = 64,
};

/* PARTS in the order of time. Unless NULL, INFLUENCE[i] grows by what part i moved the estimate from its expectation: the
 * sum over several rows is how much that part moved the sum of all rows. */
struct sampled_time sampled_time_of(const struct sampled_part *parts, size_t count, double *influence);

/* Variance of a sum of rows, of the influences of the parts on all of them; PRESENT[i]: a window was open in part i. */
struct sampled_time sampled_time_of_influence(const double *influence, const unsigned char *present, size_t count);

/* Half the width of the 95 % confidence interval; NAN: not known. */
double sampled_time_margin(double variance, double freedom);

/* 0.975 quantile of Student's t, FREEDOM of at least 1, not necessarily whole. */
double sampled_time_student(double freedom);

#endif
