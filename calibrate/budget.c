/* SPDX-License-Identifier: Apache-2.0 */
/* The host's clock: on a simulated GPU it runs slower than the device's, and that is what people wait for. */
#include "calibrate/budget.h"

#include <time.h>

double budget_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void budget_begin(struct budget *budget, double seconds)
{
    budget->start_s = budget_now();
    budget->end_s = budget->start_s + seconds;
    budget->exceeded = false;
}

double budget_elapsed(const struct budget *budget)
{
    return budget_now() - budget->start_s;
}

bool budget_allows(struct budget *budget)
{
    if (budget_now() < budget->end_s)
        return true;
    budget->exceeded = true;
    return false;
}

double budget_slice(const struct budget *budget, int parts)
{
    double left = budget->end_s - budget_now();
    return left > 0 && parts > 0 ? left / parts : 0;
}

void budget_tell(const struct budget *budget, const char *what)
{
    double share = budget_elapsed(budget) / (budget->end_s - budget->start_s);
    if (budget->progress)
        budget->progress(budget->context, what, share < 1 ? share : 1);
}
