/* SPDX-License-Identifier: Apache-2.0 */
/* JSON of the devices of a session: what they are, how busy they were, roofs, clocks, calibration. New references. */
#ifndef REPORT_DEVICE_JSON_H
#define REPORT_DEVICE_JSON_H

#include <jansson.h>

#include "classify/session.h"
#include "report/columns.h"
#include "report/json_cut.h"

/* Of each roof, how many operators it judges, and their time: a pass over all of them. */
struct device_roof_uses;
struct device_roof_uses *device_json_roof_uses(const struct session *session);
void device_json_roof_uses_free(struct device_roof_uses *uses);

json_t *device_json(struct json_cut *cut, const struct column_source *source, const struct device_roof_uses *uses);

/* Its place in `roofs` of the device; negative: there is none. Of an operator: of the roof that judges it. */
int64_t device_json_roof(const struct session *session, int device, enum gpu_path path);
int64_t device_json_roof_of(const struct session *session, const struct operator_row *op);

#endif
