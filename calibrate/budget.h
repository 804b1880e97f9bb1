/* SPDX-License-Identifier: Apache-2.0 */
/* How long measuring may go on, and how far it got. */
#ifndef CALIBRATE_BUDGET_H
#define CALIBRATE_BUDGET_H

#include <stdbool.h>

struct budget {
    double start_s, end_s; /* of the monotonic clock */
    bool exceeded;         /* something was left out */
    void (*progress)(void *context, const char *what, double share);
    void *context;
};

void budget_begin(struct budget *budget, double seconds);
double budget_elapsed(const struct budget *budget);
/* False, and noted: no time is left for what is next. */
bool budget_allows(struct budget *budget);
/* Seconds for one of PARTS that are left. */
double budget_slice(const struct budget *budget, int parts);
void budget_tell(const struct budget *budget, const char *what);

double budget_now(void); /* seconds of the monotonic clock */

#endif
