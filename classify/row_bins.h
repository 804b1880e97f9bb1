/* SPDX-License-Identifier: Apache-2.0 */
/* How many rows weights were multiplied with: executions and time by M, in bins of powers of two, 1, 2 to 3, 4 to 7, ...; of one
 * weight, and of all products of one weight by the phase of their step. */
#ifndef CLASSIFY_ROW_BINS_H
#define CLASSIFY_ROW_BINS_H

#include <stdint.h>

#include "classify/phases.h"

struct session;
struct weight_row;

enum { ROW_BINS = 63 }; /* M is positive, of 64 bits */

struct row_bin {
    double
        executions; /* of a phase: as phases_executions() has them, whole numbers where the phases of all are known */
    double time_ns; /* NAN: nothing of it was timed */
};

struct row_bins {
    struct row_bin bin[ROW_BINS];
};

int64_t row_bin_least(int bin);
int64_t row_bin_most(int bin);

void row_bins_of_weight(const struct session *session, const struct weight_row *weight, struct row_bins *bins);
/* Of the operators of all weights; *STEP: of all phases together. */
void row_bins_of_phases(const struct session *session, struct row_bins phases[PHASE_COUNT], struct row_bins *step);

#endif
