/* SPDX-License-Identifier: Apache-2.0 */
/* Processes draw their windows apart from one another, so variances add. */
#include "classify/time_evidence.h"

#include <math.h>

void time_evidence_add(struct time_evidence *evidence, const struct sampled_time *estimate)
{
    evidence->estimated = true;
    if (isnan(estimate->variance) || !(estimate->freedom >= 1)) {
        evidence->spread_unknown = true;
        return;
    }
    evidence->variance += estimate->variance;
    evidence->squares += estimate->variance * estimate->variance / estimate->freedom;
}

/* Without any spread whatever freedom there is makes no difference. */
void time_evidence_end(struct time_evidence *evidence, double time_ns)
{
    evidence->low_ns = evidence->high_ns = NAN;
    if (!evidence->estimated || evidence->spread_unknown)
        return;
    const double freedom =
        evidence->squares > 0 ? fmax(1, evidence->variance * evidence->variance / evidence->squares) : 1;
    const double margin = evidence->variance > 0 ? sampled_time_margin(evidence->variance, freedom) : 0;
    evidence->low_ns = fmax((double)evidence->time_ns, time_ns - margin);
    evidence->high_ns = time_ns + margin;
}
