/* SPDX-License-Identifier: Apache-2.0 */
/* JSON of what the order of calls tells: weights, siblings, phases. New references. */
#ifndef REPORT_WEIGHTS_JSON_H
#define REPORT_WEIGHTS_JSON_H

#include <jansson.h>

#include "classify/session.h"
#include "report/json_cut.h"

json_t *weights_json(struct json_cut *cut, const struct session *session);
json_t *weights_json_siblings(struct json_cut *cut, const struct session *session);
/* Sets the keys `phases` and `step` of ROOT. */
void weights_json_set_phases(json_t *root, const struct session *session);
json_t *weights_json_phase_calls(const struct operator_row *op); /* null where calls are not known */

#endif
