/* SPDX-License-Identifier: Apache-2.0 */
/* How processes were timed, what times rest on, and what rooftap itself cost, in JSON. */
#ifndef REPORT_TIMING_JSON_H
#define REPORT_TIMING_JSON_H

#include <jansson.h>

#include "classify/session.h"
#include "report/json_cut.h"

/* SINCE_NS: session_start_realtime_ns(). */
void timing_json_set_process(json_t *object, struct json_cut *cut, const struct session_process *process,
                             uint64_t since_ns);
void timing_json_set_operator(json_t *object, const struct operator_row *op);
void timing_json_set_coverage(json_t *object, const struct session_coverage *coverage);
json_t *timing_json(const struct session *session); /* of all processes together */

#endif
