/* SPDX-License-Identifier: Apache-2.0 */
/* JSON of what a report makes of a session: verdict, advice, caveats. */
#ifndef REPORT_ADVICE_JSON_H
#define REPORT_ADVICE_JSON_H

#include <jansson.h>

#include "classify/session.h"
#include "report/json_cut.h"

/* Sets the keys `verdict`, `advice`, `caveats` and `time_by_bound` of ROOT. */
void advice_json_set(json_t *root, struct json_cut *cut, const struct session *session);

#endif
