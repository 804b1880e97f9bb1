/* SPDX-License-Identifier: Apache-2.0 */
/* What goes wrong with CUPTI, by name: SIMGPU_CUPTI_FAULT=NAME[:N],... The names are the rows of faults.c. */
#ifndef SIM_CUPTI_FAULTS_H
#define SIM_CUPTI_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

enum cupti_fault {
    FAULT_PERMISSION,
    FAULT_BUSY,
    FAULT_SUBSCRIBED,
    FAULT_SUBSCRIBED_OLD,
    FAULT_STUB,
    FAULT_NEWER,
    FAULT_NO_STRINGS,
    FAULT_LEAK,
    FAULT_ZERO,
    FAULT_INVERTED,
    FAULT_FOREIGN,
    FAULT_DROPPED_UNKNOWN,
    FAULT_FIRST_PERIOD,
    FAULT_SECOND_SUBSCRIBE,
    FAULT_LATE_WRITE,
    FAULT_POISONED,
    FAULT_NO_NODES,
    FAULT_NO_UPDATES,
    FAULT_SKEW,
    FAULT_DRIFT,
    FAULT_EARLY,
    FAULT_FIRST_ITERATION,
    FAULT_COUNT
};

bool fault_on(enum cupti_fault fault);
int64_t fault_value(enum cupti_fault fault); /* its N, or its row's default; 0 where it isn't on */
bool fault_hits(enum cupti_fault fault);     /* counts: true for each Nth time that it is asked of this fault */

#endif
