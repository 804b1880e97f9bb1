/* SPDX-License-Identifier: Apache-2.0 */
/* JSON of what a report makes of a session: verdict, advice, caveats. */
#ifndef REPORT_ADVICE_JSON_H
#define REPORT_ADVICE_JSON_H

#include <jansson.h>

#include "classify/advice.h"
#include "classify/session.h"
#include "report/json_cut.h"

json_t *advice_json(struct json_cut *cut, const struct session *session, const struct advice_list *list);
/* Sets the keys `verdict`, `caveats` and `time_by_bound` of OBJECT. */
void advice_json_set_verdict(json_t *object, const struct session *session, const struct advice_list *list);

#endif
