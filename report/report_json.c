/* SPDX-License-Identifier: Apache-2.0 */
/* One function for each object of JSON.md. */
#include "report/report_json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "classify/hidden_shapes.h"
#include "classify/launch_groups.h"
#include "classify/no_launch.h"
#include "report/activity_json.h"
#include "report/advice_json.h"
#include "report/books_json.h"
#include "report/demangle.h"
#include "report/device_json.h"
#include "report/json_value.h"
#include "report/launch_json.h"
#include "report/model_books_json.h"
#include "report/status_name.h"
#include "report/timing_json.h"
#include "report/weights_json.h"

enum { SCHEMA = 1 };

/* ---- devices ---- */

static json_t *roof_of(const struct session_device *device, enum gpu_path path)
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
    device_json_roofs(roof, device, path);
    return roof;
}

static json_t *roofs_of(const struct session_device *device)
{
    json_t *roofs = json_array();
    for (int path = 0; path < GPU_PATH_COUNT; path++)
        if (!isnan(device_roofs_flops_per_second(&device->roofs, path)))
            json_array_append_new(roofs, roof_of(device, path));
    return roofs;
}

static json_t *device_object(const struct session_device *device)
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
    json_value_set(object, "mig", device->described && facts->mig >= 0 ? json_boolean(facts->mig) : json_null());
    json_value_set(object, "simulated", device->described ? json_boolean(facts->simulated == 1) : json_null());
    json_value_set(object, "gpu_busy_ns", json_value_count_if(busy->known, busy->covered_ns));
    json_value_set(object, "span_ns", json_value_count_if(span_known, device->time.span_ns));
    json_value_set(object, "idle_ns", json_value_count_if(span_known, device->time.gap_ns));
    json_value_set(object, "copy_ns", json_value_count_if(busy->known, device->copy_ns));
    json_value_set(object, "kernel_ns", json_value_count_if(busy->known, device->kernel_ns));
    json_value_set(object, "time", activity_json_time(device));
    json_value_set(object, "copies", activity_json_copies(device));
    json_value_set(object, "floor_ns", json_value_real(device->floor_ns));
    json_value_set(object, "roofs", roofs_of(device));
    json_value_set(object, "identity", device_json_identity(device));
    json_value_set(object, "clocks", device_json_clocks(device));
    json_value_set(object, "calibration", device_json_calibration(device));
    return object;
}

/* ---- coverage ---- */

static json_t *provenance_object(const double share[SESSION_PROVENANCE_COUNT])
{
    json_t *object = json_object();
    for (int p = TRACE_EXACT; p < SESSION_PROVENANCE_COUNT; p++)
        json_value_set(object, provenance_name(p), json_value_real(share[p]));
    return object;
}

enum { UNKNOWN_FAMILY_NAMES = 16 };

/* Longest time first. A kernel without a name is null. */
static json_t *unknown_family_names(const struct session *session)
{
    json_t *names = json_array();
    for (size_t i = 0; i < session->operator_count && json_array_size(names) < UNKNOWN_FAMILY_NAMES; i++) {
        const struct operator_row *op = &session->operators[i];
        if (!op->of_call && op->family == KERNEL_FAMILY_UNKNOWN)
            json_array_append_new(names, json_value_text(op->name));
    }
    return names;
}

static json_t *rotated_or_null(const struct joined_rotation *rotated)
{
    if (!rotated->blocks)
        return json_null();
    json_t *object = json_object();
    json_value_set(object, "blocks", json_value_count(rotated->blocks));
    json_value_set(object, "calls", json_value_count(rotated->calls));
    json_value_set(object, "failed_calls", json_value_count(rotated->failed_calls));
    json_value_set(object, "launches", json_value_count(rotated->launches));
    json_value_set(object, "kernels", json_value_count(rotated->kernels));
    json_value_set(object, "copies", json_value_count(rotated->copies));
    json_value_set(object, "first_realtime_ns", json_value_count(rotated->first_realtime_ns));
    json_value_set(object, "last_realtime_ns", json_value_count(rotated->last_realtime_ns));
    return object;
}

static json_t *beyond_or_null(const struct joined_beyond *beyond)
{
    if (!beyond->calls && !beyond->failed && !beyond->launches && !beyond->kernels && !beyond->names)
        return json_null();
    json_t *object = json_object();
    json_value_set(object, "calls", json_value_count(beyond->calls));
    json_value_set(object, "failed_calls", json_value_count(beyond->failed));
    json_value_set(object, "launches", json_value_count(beyond->launches));
    json_value_set(object, "kernels", json_value_count(beyond->kernels));
    json_value_set(object, "time_ns", json_value_count(beyond->time_ns));
    json_value_set(object, "names", json_value_count(beyond->names));
    return object;
}

static json_t *sums_or_null(const struct joined_sums *sums)
{
    if (!sums->present)
        return json_null();
    json_t *object = json_object();
    json_value_set(object, "final", json_boolean(sums->final));
    json_value_set(object, "written_realtime_ns", json_value_count(sums->written_realtime_ns));
    json_value_set(object, "blocks", json_value_count(sums->blocks));
    json_value_set(object, "records", json_value_count(sums->records));
    json_value_set(object, "samples", json_value_count(sums->samples));
    json_value_set(object, "samples_of", json_value_count(sums->samples_of));
    return object;
}

static json_t *coverage_object(const struct session *session)
{
    const struct session_coverage *c = &session->coverage;
    json_t *object = json_object();
    bool known = c->kernels_known, timed = !isnan(c->gpu_time_ns);
    json_value_set(object, "processes_timed", json_value_count(c->processes_timed));
    json_value_set(object, "processes_untimed", json_value_count(c->processes_untimed));
    json_value_set(object, "calls", json_value_count(c->calls));
    json_value_set(object, "failed_calls", json_value_count(c->failed_calls));
    json_value_set(object, "in_flight", json_value_count(c->in_flight));
    json_value_set(object, "launches", json_value_count(c->launches));
    json_value_set(object, "failed_launches", json_value_count(c->failed_launches));
    json_value_set(object, "calls_missing", json_value_count(c->calls_missing));
    json_value_set(object, "launches_missing", json_value_count(c->launches_missing));
    json_value_set(object, "kernels", json_value_count_if(known, c->kernels));
    json_value_set(object, "kernels_untimed", json_value_count_if(known, c->kernels_untimed));
    json_value_set(object, "kernels_unjoined", json_value_count_if(known, c->kernels_unjoined));
    json_value_set(object, "graph_kernels_unjoined", json_value_count_if(known, c->graph_kernels_unjoined));
    json_value_set(object, "graph_time_unjoined_ns", json_value_count_if(timed, c->graph_time_unjoined_ns));
    json_value_set(object, "copies", json_value_count_if(known, c->copies));
    json_value_set(object, "records_dropped",
                   json_value_count_if(c->records_dropped || !c->drops_untold, c->records_dropped));
    json_value_set(object, "drops_untold", json_value_count(c->drops_untold));
    json_value_set(object, "records_damaged", json_value_count(c->records_damaged));
    json_value_set(object, "records_unknown", json_value_count(c->records_unknown));
    json_value_set(object, "blocks_damaged", json_value_count(c->blocks_damaged));
    json_value_set(object, "buffers_lost", json_value_count(c->buffers_lost));
    json_value_set(object, "copies_untimed", json_value_count(c->copies_invalid));
    json_value_set(object, "records_foreign", json_value_count(c->records_foreign));
    json_value_set(object, "traces_cut", json_value_count(c->traces_cut));
    json_value_set(object, "sequences_dropped", json_value_count(c->sequences_dropped));
    json_value_set(object, "rotated", rotated_or_null(&c->rotated));
    json_value_set(object, "beyond", beyond_or_null(&c->beyond));
    /* A sum of sums may be beyond JSON's integers: then it is no integer. */
    bool is_integer = timed && c->gpu_time_ns < 9e18;
    json_value_set(object, "gpu_time_ns",
                   is_integer ? json_integer((json_int_t)c->gpu_time_ns) : json_value_real(c->gpu_time_ns));
    json_value_set(object, "launch_share", provenance_object(c->launch_share));
    json_value_set(object, "gpu_time_share", provenance_object(c->gpu_time_share));
    json_value_set(object, "unknown_family_kernels", json_value_count_if(known, c->unknown_family_kernels));
    json_value_set(object, "unknown_family_time_ns", json_value_real(c->unknown_family_time_ns));
    json_value_set(object, "unknown_family_share", json_value_real(c->unknown_family_share));
    json_value_set(object, "unknown_family_names", unknown_family_names(session));
    launch_json_set_coverage(object, session);
    timing_json_set_coverage(object, c);
    return object;
}

/* ---- processes ---- */

static const char *timing_name(enum session_timing timing)
{
    return timing == SESSION_TIMING_ON ? "on" : timing == SESSION_TIMING_OFF ? "off" : NULL;
}

static json_t *in_flight_array(const struct session_process *process)
{
    json_t *array = json_array();
    for (size_t i = 0; i < process->in_flight_count; i++) {
        const struct session_in_flight *call = &process->in_flight[i];
        json_t *object = json_object(), *arguments = json_array();
        for (size_t j = 0; j < sizeof call->argument / sizeof call->argument[0]; j++)
            json_array_append_new(arguments, json_integer(call->argument[j]));
        json_value_set(object, "tid", json_value_count(call->tid));
        json_value_set(object, "name", json_value_text(call->entry));
        json_value_set(object, "arguments", arguments);
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *notes_array(const struct session_process *process)
{
    json_t *array = json_array();
    for (size_t i = 0; i < process->note_count; i++) {
        const struct joined_note *note = &process->notes[i];
        json_t *object = json_object();
        json_value_set(object, "code", json_value_text(note_name(note->code)));
        json_value_set(object, "value", json_integer(note->value));
        json_value_set(object, "text", json_value_text(note->text));
        json_value_set(object, "realtime_ns", note->realtime_ns ? json_value_size(note->realtime_ns) : json_null());
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *unreached_array(const struct session_process *process)
{
    const char *path = process->blas_unreached;
    json_t *array = path ? json_array() : json_null();
    for (size_t length; path && *path; path += length + (path[length] == '\n')) {
        length = strcspn(path, "\n");
        char *one = strndup(path, length);
        json_array_append_new(array, json_value_text(one));
        free(one);
    }
    return array;
}

static json_t *clocks_or_null(const struct clock_relation *clock)
{
    if (!clock->anchors)
        return json_null();
    json_t *object = json_object();
    json_value_set(object, "anchors", json_value_count(clock->anchors));
    json_value_set(object, "max_skew_ns", json_value_count(clock->max_skew_ns));
    json_value_set(object, "drift_ppm", json_value_real(clock_relation_drift_ppm(clock)));
    return object;
}

static json_t *process_object(const struct session_process *process)
{
    json_t *object = json_object();
    json_value_set(object, "pid", json_value_size(process->pid));
    json_value_set(object, "parent", json_value_size(process->parent_pid));
    json_value_set(object, "command", json_value_text(process->command));
    json_value_set(object, "rank", json_value_text(process->rank));
    json_value_set(object, "hook_level", json_value_text(process->hook_level));
    json_value_set(object, "timing", json_value_text(timing_name(process->timing)));
    json_value_set(object, "timing_detail", json_value_text(process->timing_text));
    json_value_set(object, "timing_cut", json_boolean(process->timing_cut));
    json_value_set(object, "clocks", clocks_or_null(&process->clock));
    json_value_set(object, "end", json_value_text(process->end));
    json_value_set(object, "trace", json_value_text(process->file));
    json_value_set(object, "trace_cut", json_boolean(process->stats.cut_short));
    json_value_set(object, "calls", json_value_count(process->calls));
    json_value_set(object, "failed_calls", json_value_count(process->failed_calls));
    json_value_set(object, "launches", json_value_count(process->launches));
    json_value_set(object, "kernels", json_value_count_if(process->timed, process->kernels));
    json_value_set(object, "calls_missing", json_value_count(process->calls_missing));
    json_value_set(object, "launches_missing", json_value_count(process->launches_missing));
    json_value_set(object, "records_dropped",
                   json_value_count_if(process->records_dropped || !process->drops_untold, process->records_dropped));
    json_value_set(object, "drops_untold", json_value_count(process->drops_untold));
    json_value_set(object, "sums", sums_or_null(&process->sums));
    json_value_set(object, "rotated", rotated_or_null(&process->rotated));
    json_value_set(object, "calls_unseen", json_boolean(session_process_asks_unseen(process)));
    json_value_set(object, "calls_unseen_reason", json_value_text(hidden_reason_name(hidden_shapes_reason(process))));
    json_value_set(object, "blas_files", json_value_size(process->blas_files));
    json_value_set(object, "blas_unreached", unreached_array(process));
    json_value_set(object, "shapeless_gemms", json_value_count_if(process->timed, process->shapeless_gemms));
    json_value_set(object, "shapeless_gemm_time_ns",
                   json_value_count_if(process->timed, process->shapeless_gemm_time_ns));
    timing_json_set_process(object, process);
    json_value_set(object, "in_flight", in_flight_array(process));
    json_value_set(object, "notes", notes_array(process));
    return object;
}

/* ---- operators ---- */

static json_t *operation_or_null(uint8_t operation)
{
    static const char *const names[] = {"N", "T", "C"};
    return json_value_text(operation < sizeof names / sizeof names[0] ? names[operation] : NULL);
}

static json_t *cublas_object(const struct operator_row *op)
{
    if (!op->of_call)
        return json_null();
    json_t *object = json_object();
    json_value_set(object, "m", json_value_size(op->signature.m));
    json_value_set(object, "n", json_value_size(op->signature.n));
    json_value_set(object, "k", json_value_size(op->signature.k));
    json_value_set(object, "transa", operation_or_null(op->signature.trans_a));
    json_value_set(object, "transb", operation_or_null(op->signature.trans_b));
    return object;
}

static json_t *flags_array(unsigned flags)
{
    json_t *array = json_array();
    for (int i = 0; i < ROOFLINE_FLAG_COUNT; i++)
        if (flags & 1u << i)
            json_array_append_new(array, json_string(roofline_flag_name(1u << i)));
    return array;
}

static void set_shape(json_t *object, const struct operator_row *op)
{
    static const char *const keys[] = {"type_a", "type_b", "type_c", "type_d"};
    static const char *const weights[] = {[WORK_WEIGHT_A] = "a", [WORK_WEIGHT_B] = "b"};
    const bool sizes = op->of_call || (launch_of_operator_is_read(op) && op->launch->kind == LAUNCH_MATMUL);
    json_value_set(object, "m", json_value_size(sizes ? op->work.m : TRACE_UNKNOWN));
    json_value_set(object, "n", json_value_size(sizes ? op->work.n : TRACE_UNKNOWN));
    json_value_set(object, "k", json_value_size(sizes ? op->work.k : TRACE_UNKNOWN));
    json_value_set(object, "batch", json_value_size(sizes ? op->work.batch : TRACE_UNKNOWN));
    json_value_set(object, "weight", json_value_text(weights[op->work.weight]));
    json_value_set(object, "cublas", cublas_object(op));
    for (int i = 0; i < 4; i++)
        json_value_set(object, keys[i], json_value_text(sizes ? number_format_name(op->work.type[i]) : NULL));
    const bool computes = op->of_call || launch_of_operator_is_read(op);
    json_value_set(object, "type_compute", json_value_text(computes ? number_type_name(op->work.type_compute) : NULL));
}

static json_t *display_name_or_null(const struct operator_row *op, struct demangler *demangler)
{
    if (!op->name)
        return json_null();
    char *name = demangler_name(demangler, op->name);
    json_t *value = json_value_text(name);
    free(name);
    return value;
}

static json_t *family_or_null(const struct operator_row *op)
{
    bool known = !op->of_call && op->family != KERNEL_FAMILY_UNKNOWN;
    return json_value_text(known ? kernel_family_name(op->family) : NULL);
}

static json_t *operator_object(const struct operator_row *op, struct demangler *demangler)
{
    const struct roofline *roofline = &op->roofline;
    const bool rates = operator_has_shape(op), counted = op->of_call || launch_of_operator_is_read(op);
    json_t *object = json_object();
    json_value_set(object, "kind", json_value_text(operator_kind_name(op->kind)));
    json_value_set(object, "family", family_or_null(op));
    json_value_set(object, "role", json_value_text(op->of_call ? NULL : kernel_role_name(op->role)));
    json_value_set(object, "name", json_value_text(op->name));
    json_value_set(object, "display_name", display_name_or_null(op, demangler));
    json_value_set(object, "device", json_value_size(op->device));
    set_shape(object, op);
    json_value_set(object, "calls", json_value_count_if(op->calls_known, op->calls));
    json_value_set(object, "executions", json_value_count_if(counted && op->timed, op->executions));
    json_value_set(object, "kernels", json_value_count_if(op->timed, op->kernels));
    json_value_set(object, "blocks", json_value_count_if(op->blocks, op->blocks));
    json_value_set(object, "bandwidth_fill", json_value_real(op->bandwidth_fill));
    json_value_set(object, "time_ns", json_value_count_if(op->timed && op->kernels, op->time_ns));
    json_value_set(object, "time_p50_ns", json_value_real(duration_histogram_at(&op->durations, 0.5)));
    json_value_set(object, "time_p99_ns", json_value_real(duration_histogram_at(&op->durations, 0.99)));
    json_value_set(object, "time_percentile_error", json_value_real(op->durations.total ? DURATION_ERROR : NAN));
    json_value_set(object, "share", op->timed && op->kernels ? json_value_real(op->share) : json_null());
    json_value_set(object, "flops", json_value_real(op->flops));
    json_value_set(object, "bytes", json_value_real(op->bytes));
    json_value_set(object, "intensity", json_value_real(roofline->intensity));
    json_value_set(object, "ridge", json_value_real(roofline->ridge));
    json_value_set(object, "m_star", json_value_real(op->rows_at_ridge));
    json_value_set(object, "t_roof_ns", json_value_real(op->t_roof_ns));
    json_value_set(object, "bound", json_value_text(bound_name(roofline->bound)));
    json_value_set(object, "flags", flags_array(roofline->flags));
    json_value_set(object, "above_roof_reason", json_value_text(above_roof_name(roofline->above_roof)));
    json_value_set(object, "flops_per_second", rates ? json_value_real(roofline->flops_per_second) : json_null());
    json_value_set(object, "bytes_per_second", rates ? json_value_real(roofline->bytes_per_second) : json_null());
    json_value_set(object, "roof_fraction", json_value_real(roofline->roof_fraction));
    json_value_set(object, "shape_source", json_value_text(provenance_name(op->shape_source)));
    json_value_set(object, "phase_calls", weights_json_phase_calls(op));
    json_value_set(object, "gain_ns", json_value_real(op->gain_ns));
    launch_json_set_operator(object, op);
    timing_json_set_operator(object, op);
    return object;
}

/* ---- the whole ---- */

static json_t *in_memory_object(const struct session_in_memory *in_memory)
{
    json_t *object = json_object();
    json_value_set(object, "traces", json_value_count(in_memory->traces));
    json_value_set(object, "bytes", json_value_count(in_memory->bytes));
    json_value_set(object, "collector", json_boolean(in_memory->collector));
    return object;
}

static json_t *session_object(const struct session *session)
{
    const struct session_info *info = &session->info;
    json_t *object = json_object();
    json_value_set(object, "path", json_value_text(session->path));
    json_value_set(object, "rooftap_version", json_value_text(info->rooftap_version));
    json_value_set(object, "command", json_value_text(info->command));
    json_value_set(object, "working_directory", json_value_text(info->working_directory));
    json_value_set(object, "host", json_value_text(info->host));
    json_value_set(object, "kernel", json_value_text(info->kernel));
    json_value_set(object, "simulate", json_value_text(info->simulate));
    json_value_set(object, "started_realtime_ns", json_value_size(info->started_realtime_ns));
    json_value_set(object, "ended_realtime_ns", json_value_size(info->ended_realtime_ns));
    json_value_set(object, "clocks_problem", json_value_text(info->clocks_problem));
    json_value_set(object, "no_launch_reason", json_value_text(no_launch_name(no_launch_of(session))));
    json_value_set(object, "in_memory", in_memory_object(&session->in_memory));
    char *end = session_info_end_text(info);
    json_value_set(object, "target_pid", json_value_size(info->target_pid));
    json_value_set(object, "end", json_value_text(end));
    free(end);
    return object;
}

static json_t *operators_array(const struct session *session, const struct model_books *model_books, size_t rows)
{
    const size_t count = rows < session->operator_count ? rows : session->operator_count;
    struct demangler *demangler = demangler_open(DEMANGLE_LIBRARY);
    json_t *operators = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(operators, operator_object(&session->operators[i], demangler));
    for (size_t i = 0; model_books && i < count; i++)
        json_value_set(json_array_get(operators, i), "model_weights", model_books_json_names(model_books, i));
    demangler_close(demangler);
    return operators;
}

static json_t *failures_array(const struct session *session)
{
    json_t *failures = json_array();
    for (size_t i = 0; i < session->failure_count; i++) {
        json_t *object = json_object();
        json_value_set(object, "name", json_value_text(session->failures[i].name));
        json_value_set(object, "status", json_integer(session->failures[i].status));
        json_value_set(object, "status_name", json_value_text(status_name(session->failures[i].status)));
        json_value_set(object, "calls", json_value_count(session->failures[i].calls));
        set_shape(object, &session->failures[i].first);
        json_array_append_new(failures, object);
    }
    return failures;
}

static json_t *problems_array(const struct session *session)
{
    json_t *problems = json_array();
    if (session->info.problem)
        json_array_append_new(problems, json_value_text(session->info.problem));
    if (session->clocks.problem)
        json_array_append_new(problems, json_value_text(session->clocks.problem));
    for (size_t i = 0; i < session->bad_file_count; i++)
        json_array_append_new(problems, json_value_text(session->bad_files[i].text));
    return problems;
}

json_t *report_json_root(const struct session *session, const struct books *books,
                         const struct model_books *model_books, size_t rows)
{
    json_t *root = json_object();
    json_t *devices = json_array(), *processes = json_array();
    for (size_t i = 0; i < session->device_count; i++)
        json_array_append_new(devices, device_object(&session->devices[i]));
    for (size_t i = 0; i < session->process_count; i++)
        json_array_append_new(processes, process_object(&session->processes[i]));
    json_value_set(root, "schema", json_integer(SCHEMA));
    json_value_set(root, "simulated", json_boolean(session->simulated));
    json_value_set(root, "session", session_object(session));
    json_value_set(root, "problems", problems_array(session));
    json_value_set(root, "devices", devices);
    json_value_set(root, "coverage", coverage_object(session));
    json_value_set(root, "timing", timing_json(session));
    json_value_set(root, "failures", failures_array(session));
    json_value_set(root, "processes", processes);
    json_value_set(root, "operators", operators_array(session, model_books, rows));
    json_value_set(root, "weights", weights_json(session, rows));
    json_value_set(root, "sibling_groups", weights_json_siblings(session));
    json_value_set(root, "naive_attention", weights_json_attention(session));
    json_value_set(root, "phases", weights_json_phases(session));
    json_value_set(root, "step", weights_json_step(session));
    advice_json_set(root, session);
    if (books)
        json_value_set(root, "books", books_json(books));
    if (model_books)
        json_value_set(root, "model_books", model_books_json(model_books));
    return root;
}

bool report_json_write(const json_t *root, FILE *out)
{
    return !json_dumpf(root, out, JSON_INDENT(2)) && fputc('\n', out) != EOF && !fflush(out);
}

bool report_json(const struct session *session, const struct books *books, const struct model_books *model_books,
                 FILE *out)
{
    json_t *root = report_json_root(session, books, model_books, SIZE_MAX);
    bool written = report_json_write(root, out);
    json_decref(root);
    return written;
}
