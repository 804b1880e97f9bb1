/* SPDX-License-Identifier: Apache-2.0 */
/* What launches of a kernel mean, as the table of launches reads them, in JSON. */
#ifndef REPORT_LAUNCH_JSON_H
#define REPORT_LAUNCH_JSON_H

#include <jansson.h>

#include "classify/session.h"

/* One launch; FORMAT is its weights', NULL: not known. */
json_t *launch_json_object(const struct launch_decode *launch, const struct weight_format *format);
/* launch, helpers[], bytes_least; intensity_kv, bound_kv. */
void launch_json_set_operator(json_t *object, const struct operator_row *op);
/* launches_by_reading, helpers_uncharged, and what of the time is explained by what. */
void launch_json_set_coverage(json_t *object, const struct session *session);

#endif
