/* SPDX-License-Identifier: Apache-2.0 */
/* Keys as JSON.md lists them. */
#include "report/activity_json.h"

#include <math.h>

#include "report/json_value.h"

json_t *activity_json_time(const struct session_device *device)
{
    const struct device_time_sum *time = &device->time;
    const bool span = time->busy_known && time->span_known, split = time->busy_known && time->split_known;
    json_t *object = json_object();
    json_value_set(object, "span_ns", json_value_count_if(span, time->span_ns));
    json_value_set(object, "in_windows", json_boolean(device->time_sets.timed || device->time_sets.span_unknown));
    json_value_set(object, "busy_ns", json_value_count_if(time->busy_known, time->busy_ns));
    json_value_set(object, "compute_ns", json_value_count_if(split, time->compute_ns));
    json_value_set(object, "communication_ns", json_value_count_if(split, time->communication_ns));
    json_value_set(object, "communication_overlapped_ns",
                   json_value_count_if(split, time->communication_overlapped_ns));
    json_value_set(object, "copy_ns", json_value_count_if(split, time->copy_ns));
    json_value_set(object, "copy_overlapped_ns", json_value_count_if(split, time->copy_overlapped_ns));
    json_value_set(object, "gap_ns", json_value_count_if(span, time->gap_ns));
    return object;
}

json_t *activity_json_copies(const struct session_device *device)
{
    const double bandwidth = device_roofs_bytes_per_second(&device->roofs);
    json_t *array = json_array();
    for (size_t i = 0; i < device->copied.count; i++) {
        const struct copy_sum *row = &device->copied.rows[i];
        const int accesses = copy_sum_memory_accesses(row);
        double per_second = row->ns ? (double)row->bytes / (double)row->ns * 1e9 : NAN;
        json_t *object = json_object();
        json_value_set(object, "what", json_value_text(copy_sum_name(row)));
        json_value_set(object, "from_device", json_value_size(row->from));
        json_value_set(object, "to_device", json_value_size(row->to));
        json_value_set(object, "copies", json_value_count(row->copies));
        json_value_set(object, "bytes", json_value_count(row->bytes));
        json_value_set(object, "time_ns", json_value_count(row->ns));
        json_value_set(object, "bytes_per_second", json_value_real(per_second));
        json_value_set(object, "bandwidth_fraction",
                       json_value_real(accesses ? accesses * per_second / bandwidth : NAN));
        json_array_append_new(array, object);
    }
    return array;
}
