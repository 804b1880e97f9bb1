/* SPDX-License-Identifier: Apache-2.0 */
/* What JSON.md has of a device beside the specification: identity, clocks held, calibration, and the two other roofs. */
#ifndef REPORT_DEVICE_JSON_H
#define REPORT_DEVICE_JSON_H

#include <jansson.h>

#include "classify/session.h"

json_t *device_json_clocks(const struct session_device *device);
json_t *device_json_calibration(const struct session_device *device); /* null: none */
/* Which row the device is, and what contradicts it. */
json_t *device_json_identity(const struct session_device *device);
/* Into an object of roofs[]. */
void device_json_roofs(json_t *roof, const struct session_device *device, enum gpu_path path);

#endif
