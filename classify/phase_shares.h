/* SPDX-License-Identifier: Apache-2.0 */
/* Phases of calls and launches, by what they execute; handed out in whole numbers to the devices on which they ran. */
#ifndef CLASSIFY_PHASE_SHARES_H
#define CLASSIFY_PHASE_SHARES_H

#include <stdint.h>

#include "classify/execution_book.h"
#include "classify/phases.h"

struct phase_share {
    uint64_t phases[PHASE_COUNT]; /* left */
    uint64_t executions;          /* left */
};

/* One for each of BOOK's counts; freed with free(). After replay_phases_apply(). */
struct phase_share *phase_shares_of(const struct operator_join *join, const struct execution_book *book);

/* Takes out what belongs to so many EXECUTIONS, in proportion to what is left, and adds it to PHASES. */
void phase_share_take(struct phase_share *share, uint64_t executions, uint64_t phases[PHASE_COUNT]);

#endif
