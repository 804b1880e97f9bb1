/* SPDX-License-Identifier: Apache-2.0 */
/* Keys as JSON.md lists them. */
#include "report/device_json.h"

#include <math.h>
#include <stdlib.h>

#include "classify/allocate.h"
#include "report/activity_json.h"
#include "report/json_value.h"

/* The busy time of long runs that are kept as sums holds longer gaps. */
static uint64_t load_gap_ns(const struct session_device *device)
{
    uint64_t gap_ns = device->intervals ? interval_set_gap(device->intervals) : 0;
    return gap_ns > HELD_CLOCK_GAP_NS ? gap_ns : HELD_CLOCK_GAP_NS;
}

static json_t *clocks_object(const struct session_device *device)
{
    const struct held_clock *clocks = &device->clocks;
    const struct gpu_spec *spec = device->roofs.spec;
    json_t *object = json_object(), *reasons = json_object();
    for (int bit = 0; held_clock_reason_name(bit); bit++)
        json_value_set(reasons, held_clock_reason_name(bit), json_value_real(clocks->reason_share[bit]));
    json_value_set(object, "readings", json_value_count(clocks->readings));
    json_value_set(object, "readings_under_load", json_value_count(clocks->readings_under_load));
    json_value_set(object, "load_gap_ns", json_value_count(load_gap_ns(device)));
    json_value_set(object, "sm_clock_hz", json_value_real(clocks->sm_hz));
    json_value_set(object, "sm_clock_lowest_hz", json_value_real(clocks->sm_hz_lowest));
    json_value_set(object, "specification_clock_hz",
                   json_value_real(spec && spec->clock_hz > 0 ? spec->clock_hz : NAN));
    json_value_set(object, "compute_scale", json_value_real(spec ? held_clock_scale(clocks, spec->clock_hz) : NAN));
    json_value_set(object, "memory_clock_hz", json_value_real(clocks->memory_hz));
    json_value_set(object, "power_w", json_value_real(clocks->power_w));
    json_value_set(object, "temperature_highest_c", json_value_real(clocks->temperature_c_highest));
    json_value_set(object, "throttle_share", reasons);
    return object;
}

static json_t *points_array(const struct calibration *calibration)
{
    json_t *points = json_array();
    for (int i = 0; i < calibration->point_count; i++) {
        json_t *point = json_object();
        json_value_set(point, "blocks", json_integer(calibration->points[i].blocks));
        json_value_set(point, "bytes_per_second", json_value_real(calibration->points[i].bytes_per_second));
        json_array_append_new(points, point);
    }
    return points;
}

static json_t *gemm_array(const struct calibration *calibration)
{
    json_t *array = json_array();
    for (int path = 0; path < GPU_PATH_COUNT; path++) {
        const struct gpu_path_info *info = &gpu_paths[path];
        json_t *row = json_object();
        json_value_set(row, "type", json_value_text(number_type_name(info->type)));
        json_value_set(row, "accumulate", json_value_text(number_type_name(info->accumulate)));
        json_value_set(row, "unit", json_value_text(info->unit));
        json_value_set(row, "flops_per_second", json_value_real(calibration->gemm[path].flops_per_second));
        if (isfinite(calibration->gemm[path].flops_per_second))
            json_array_append_new(array, row);
        else
            json_decref(row);
    }
    return array;
}

static json_t *text_or_null(const char *text)
{
    return json_value_text(text[0] ? text : NULL);
}

static json_t *calibration_or_null(const struct session_device *device)
{
    const struct calibration *calibration = device->calibration;
    if (!calibration)
        return json_null();
    json_t *object = json_object();
    json_value_set(object, "file", json_value_text(device->calibration_file));
    json_value_set(object, "simulated", json_boolean(calibration->device.simulated == 1));
    json_value_set(object, "measured_realtime_ns", json_value_size(calibration->measured_realtime_ns));
    json_value_set(object, "rooftap_version", text_or_null(calibration->rooftap_version));
    json_value_set(object, "cublas", text_or_null(calibration->cublas));
    json_value_set(object, "driver", text_or_null(calibration->driver_version));
    json_value_set(object, "quick", json_boolean(calibration->quick));
    json_value_set(object, "stopped_early", json_boolean(calibration->stopped_early));
    json_value_set(object, "sm_clock_lowest_hz", json_value_real(calibration->sm_hz_lowest));
    json_value_set(object, "sm_clock_highest_hz", json_value_real(calibration->sm_hz_highest));
    json_value_set(object, "gemm", gemm_array(calibration));
    json_value_set(object, "copy_bytes_per_second", json_value_real(calibration->copy_bytes_per_second));
    json_value_set(object, "read_bytes_per_second", json_value_real(calibration->read_bytes_per_second));
    json_value_set(object, "empty_kernel_ns", json_value_real(calibration->empty_kernel_ns));
    json_value_set(object, "enqueue_ns", json_value_real(calibration->enqueue_ns));
    json_value_set(object, "bandwidth_by_blocks", points_array(calibration));
    return object;
}

static json_t *checks_array(const struct session_device *device)
{
    json_t *array = json_array();
    for (int i = 0; device->roofs.spec && i < device->identity.check_count; i++) {
        const struct identity_check *check = &device->identity.checks[i];
        char text[256];
        json_t *object = json_object();
        json_value_set(object, "what", json_value_text(identity_check_name(check->kind)));
        json_value_set(object, "contradiction", json_boolean(identity_check_is_contradiction(check->kind)));
        json_value_set(object, "text",
                       json_value_text(identity_check_text(check, device->roofs.spec, text, sizeof text)));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *identity_object(const struct session_device *device)
{
    static const char *const matches[] = {
        [GPU_MATCH_NONE] = NULL, [GPU_MATCH_PCI_ID] = "pci_id", [GPU_MATCH_NAME] = "name", [GPU_MATCH_KEY] = "key"};
    const struct device_identity *identity = &device->identity;
    json_t *object = json_object();
    json_value_set(object, "match", json_value_text(matches[identity->match]));
    json_value_set(object, "estimated",
                   identity->match ? json_boolean(device_identity_contradicts(identity)) : json_null());
    json_value_set(object, "checks", checks_array(device));
    json_value_set(object, "mig_profile", text_or_null(identity->profile.text));
    json_value_set(object, "memory_slices", json_value_size(identity->memory_slices ? identity->memory_slices : -1));
    json_value_set(object, "compute_scale", json_value_real(device->roofs.spec ? device->roofs.compute_scale : NAN));
    json_value_set(object, "memory_scale", json_value_real(device->roofs.spec ? device->roofs.memory_scale : NAN));
    json_value_set(object, "l2_bytes", json_value_real(session_device_l2_bytes(device)));
    return object;
}

static void set_other_roofs(json_t *roof, const struct session_device *device, enum gpu_path path)
{
    struct roof achievable = device_roof_achievable(&device->roofs, &device->measured, path);
    struct roof held = device_roof_held(&device->roofs, device->clocks.sm_hz, path);
    json_value_set(roof, "achievable_flops_per_second", json_value_real(achievable.flops_per_second));
    json_value_set(roof, "achievable_flops_origin", json_value_text(roof_origin_name(achievable.compute_origin)));
    json_value_set(roof, "achievable_flops_source", json_value_text(achievable.compute_source));
    json_value_set(roof, "achievable_bytes_per_second", json_value_real(achievable.bytes_per_second));
    json_value_set(roof, "achievable_bytes_origin", json_value_text(roof_origin_name(achievable.memory_origin)));
    json_value_set(roof, "achievable_bytes_source", json_value_text(achievable.memory_source));
    json_value_set(roof, "held_clock_flops_per_second", json_value_real(held.flops_per_second));
}

/* Operators that have a roof, and their time. */
struct device_roof_uses {
    uint64_t operators, time_ns;
    bool timed;
};

static json_t *roof_of(const struct session_device *device, enum gpu_path path, const struct device_roof_uses *use)
{
    const struct gpu_path_info *info = &gpu_paths[path];
    double flops = device_roofs_flops_per_second(&device->roofs, path);
    double bytes = device_roofs_bytes_per_second(&device->roofs);
    json_t *roof = json_object();
    json_value_set(roof, "type", json_value_text(number_type_name(info->type)));
    json_value_set(roof, "accumulate", json_value_text(number_type_name(info->accumulate)));
    json_value_set(roof, "unit", json_value_text(info->unit));
    json_value_set(roof, "flops_per_second", json_value_real(flops));
    json_value_set(roof, "bytes_per_second", json_value_real(bytes));
    json_value_set(roof, "ridge", json_value_real(flops / bytes));
    json_value_set(roof, "source", json_value_text(device->roofs.spec->source));
    json_value_set(roof, "confidence", json_value_text(device->roofs.spec->confidence));
    set_other_roofs(roof, device, path);
    json_value_set(roof, "operators", json_value_count(use->operators));
    json_value_set(roof, "time_ns", json_value_count_if(use->timed, use->time_ns));
    return roof;
}

static bool has_roof(const struct session_device *device, enum gpu_path path)
{
    return !isnan(device_roofs_flops_per_second(&device->roofs, path));
}

static json_t *roofs_of(const struct session_device *device, const struct device_roof_uses use[GPU_PATH_COUNT])
{
    json_t *roofs = json_array();
    for (int path = 0; path < GPU_PATH_COUNT; path++)
        if (has_roof(device, path))
            json_array_append_new(roofs, roof_of(device, path, &use[path]));
    return roofs;
}

int64_t device_json_roof(const struct session *session, int device, enum gpu_path path)
{
    int64_t place = 0;
    if (device < 0 || path >= GPU_PATH_COUNT || !has_roof(&session->devices[device], path))
        return -1;
    for (int before = 0; before < (int)path; before++)
        place += has_roof(&session->devices[device], before);
    return place;
}

int64_t device_json_roof_of(const struct session *session, const struct operator_row *op)
{
    return operator_row_has_work(op) ? device_json_roof(session, op->device, op->work.path) : -1;
}

static json_t *device_object(const struct session_device *device, const struct device_roof_uses use[GPU_PATH_COUNT],
                             double base_ns)
{
    const struct trace_device *facts = &device->facts;
    const struct interval_union *busy = &device->busy;
    const bool span_known = busy->known && device->time.span_known;
    const struct gpu_spec *spec = device->roofs.spec;
    json_t *object = json_object();
    json_value_set(object, "name", json_value_text(device->described ? facts->name : NULL));
    json_value_set(object, "spec", json_value_text(spec ? spec->key : NULL));
    json_value_set(object, "ordinal", json_integer(facts->ordinal));
    json_value_set(object, "pci_device_id",
                   json_value_count_if(device->described && facts->pci_device_id, facts->pci_device_id));
    json_value_set(object, "sm_count", json_value_size(device->described ? facts->sm_count : TRACE_UNKNOWN));
    json_value_set(object, "memory_bytes", json_value_size(device->described ? facts->memory_bytes : TRACE_UNKNOWN));
    json_value_set(object, "driver_version",
                   json_value_size(device->described ? facts->driver_version : TRACE_UNKNOWN));
    json_value_set(object, "mig", device->described && facts->mig >= 0 ? json_boolean(facts->mig) : json_null());
    json_value_set(object, "simulated", device->described ? json_boolean(facts->simulated == 1) : json_null());
    json_value_set(object, "gpu_busy_ns", json_value_count_if(busy->known, busy->covered_ns));
    json_value_set(object, "span_ns", json_value_count_if(span_known, device->time.span_ns));
    json_value_set(object, "idle_ns", json_value_count_if(span_known, device->time.gap_ns));
    json_value_set(object, "share_base_ns", json_value_number(base_ns > 0 ? base_ns : NAN));
    json_value_set(object, "copy_ns", json_value_count_if(busy->known, device->copy_ns));
    json_value_set(object, "kernel_ns", json_value_count_if(busy->known, device->kernel_ns));
    json_value_set(object, "time", activity_json_time(device));
    json_value_set(object, "copies", activity_json_copies(device));
    json_value_set(object, "floor_ns", json_value_real(device->floor_ns));
    json_value_set(object, "roofs", roofs_of(device, use));
    json_value_set(object, "identity", identity_object(device));
    json_value_set(object, "clocks", clocks_object(device));
    json_value_set(object, "calibration", calibration_or_null(device));
    return object;
}

/* By device, then path. */
struct device_roof_uses *device_json_roof_uses(const struct session *session)
{
    struct device_roof_uses *uses = allocate((session->device_count + 1) * GPU_PATH_COUNT, sizeof *uses);
    for (size_t i = 0; i < session->device_count * GPU_PATH_COUNT; i++)
        uses[i].timed = !isnan(session->coverage.gpu_time_ns);
    for (size_t i = 0; i < session->operator_count; i++) {
        const struct operator_row *op = &session->operators[i];
        if (op->device < 0 || !operator_row_has_work(op) || op->work.path >= GPU_PATH_COUNT)
            continue;
        struct device_roof_uses *use = &uses[(size_t)op->device * GPU_PATH_COUNT + op->work.path];
        use->operators++;
        if (op->timed && op->kernels)
            sum_add(&use->time_ns, op->time_ns);
    }
    return uses;
}

void device_json_roof_uses_free(struct device_roof_uses *uses)
{
    free(uses);
}

json_t *device_json(struct json_cut *cut, const struct column_source *source, const struct device_roof_uses *uses)
{
    const struct session *session = source->session;
    json_t *array = json_array();
    const size_t items = json_cut_items(cut, array, session->device_count);
    for (size_t i = 0; i < items; i++)
        json_array_append_new(array,
                              device_object(&session->devices[i], &uses[i * GPU_PATH_COUNT], source->base_ns[i]));
    return array;
}
