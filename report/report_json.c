/* SPDX-License-Identifier: Apache-2.0 */
/* One function for each object of JSON.md. What is not known is null, which is what json_real() and json_string() are
 * never asked for: NAN and broken UTF-8 stop in the helpers below. */
#include "report/report_json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "report/demangle.h"
#include "report/safe_text.h"
#include "report/status_name.h"

enum { SCHEMA = 1 };

static json_t *text_or_null(const char *text)
{
    if (!text)
        return json_null();
    char *safe = safe_text_utf8(text);
    json_t *value = json_string(safe);
    free(safe);
    return value;
}

static json_t *real_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *count(uint64_t value)
{
    return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

static json_t *count_or_null(bool known, uint64_t value)
{
    return known ? count(value) : json_null();
}

static json_t *size_or_null(int64_t value)
{
    return value < 0 ? json_null() : json_integer(value);
}

static void set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

/* ---- devices ---- */

static json_t *roof_of(const struct session_device *device, enum gpu_path path)
{
    const struct gpu_path_info *info = &gpu_paths[path];
    double flops = device_roofs_flops_per_second(&device->roofs, path);
    double bytes = device_roofs_bytes_per_second(&device->roofs);
    json_t *roof = json_object();
    set(roof, "type", text_or_null(number_type_name(info->type)));
    set(roof, "accumulate", text_or_null(number_type_name(info->accumulate)));
    set(roof, "unit", text_or_null(info->unit));
    set(roof, "flops_per_second", real_or_null(flops));
    set(roof, "bytes_per_second", real_or_null(bytes));
    set(roof, "ridge", real_or_null(flops / bytes));
    set(roof, "source", text_or_null(device->roofs.spec->source));
    set(roof, "confidence", text_or_null(device->roofs.spec->confidence));
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

static json_t *clocks_object(const struct held_clock *clocks)
{
    json_t *object = json_object(), *reasons = json_object();
    for (int bit = 0; held_clock_reason_name(bit); bit++)
        set(reasons, held_clock_reason_name(bit), real_or_null(clocks->reason_share[bit]));
    set(object, "readings", count(clocks->readings));
    set(object, "readings_under_load", count(clocks->readings_under_load));
    set(object, "sm_clock_hz", real_or_null(clocks->sm_hz));
    set(object, "sm_clock_lowest_hz", real_or_null(clocks->sm_hz_lowest));
    set(object, "memory_clock_hz", real_or_null(clocks->memory_hz));
    set(object, "power_w", real_or_null(clocks->power_w));
    set(object, "temperature_highest_c", real_or_null(clocks->temperature_c_highest));
    set(object, "throttle_share", reasons);
    return object;
}

static json_t *device_object(const struct session_device *device)
{
    const struct trace_device *facts = &device->facts;
    const struct interval_union *busy = &device->busy;
    uint64_t span = busy->last_ns - busy->first_ns;
    const struct gpu_spec *spec = device->roofs.spec;
    json_t *object = json_object();
    set(object, "name", text_or_null(device->described ? facts->name : NULL));
    set(object, "spec", text_or_null(spec ? spec->key : NULL));
    set(object, "ordinal", json_integer(facts->ordinal));
    set(object, "pci_device_id", count_or_null(device->described && facts->pci_device_id, facts->pci_device_id));
    set(object, "sm_count", size_or_null(device->described ? facts->sm_count : TRACE_UNKNOWN));
    set(object, "memory_bytes", size_or_null(device->described ? facts->memory_bytes : TRACE_UNKNOWN));
    set(object, "mig", device->described && facts->mig >= 0 ? json_boolean(facts->mig) : json_null());
    set(object, "simulated", device->described ? json_boolean(facts->simulated == 1) : json_null());
    set(object, "gpu_busy_ns", count_or_null(busy->known, busy->covered_ns));
    set(object, "span_ns", count_or_null(busy->known, span));
    set(object, "idle_ns", count_or_null(busy->known, span - busy->covered_ns));
    set(object, "copy_ns", count_or_null(busy->known, device->copy_ns));
    set(object, "kernel_ns", count_or_null(busy->known, device->kernel_ns));
    set(object, "floor_ns", real_or_null(device->floor_ns));
    set(object, "roofs", roofs_of(device));
    set(object, "clocks", clocks_object(&device->clocks));
    return object;
}

/* ---- coverage ---- */

static json_t *provenance_object(const double share[SESSION_PROVENANCE_COUNT])
{
    json_t *object = json_object();
    for (int p = TRACE_EXACT; p < SESSION_PROVENANCE_COUNT; p++)
        set(object, provenance_name(p), real_or_null(share[p]));
    return object;
}

static json_t *coverage_object(const struct session_coverage *c)
{
    json_t *object = json_object();
    bool known = c->kernels_known, timed = !isnan(c->gpu_time_ns);
    set(object, "processes_timed", count(c->processes_timed));
    set(object, "processes_untimed", count(c->processes_untimed));
    set(object, "calls", count(c->calls));
    set(object, "failed_calls", count(c->failed_calls));
    set(object, "in_flight", count(c->in_flight));
    set(object, "launches", count(c->launches));
    set(object, "failed_launches", count(c->failed_launches));
    set(object, "calls_missing", count(c->calls_missing));
    set(object, "launches_missing", count(c->launches_missing));
    set(object, "kernels", count_or_null(known, c->kernels));
    set(object, "kernels_untimed", count_or_null(known, c->kernels_untimed));
    set(object, "kernels_unjoined", count_or_null(known, c->kernels_unjoined));
    set(object, "graph_kernels_unjoined", count_or_null(known, c->graph_kernels_unjoined));
    set(object, "graph_time_unjoined_ns", count_or_null(timed, c->graph_time_unjoined_ns));
    set(object, "copies", count_or_null(known, c->copies));
    set(object, "records_dropped", count(c->records_dropped));
    set(object, "records_damaged", count(c->records_damaged));
    set(object, "records_unknown", count(c->records_unknown));
    set(object, "blocks_damaged", count(c->blocks_damaged));
    set(object, "buffers_lost", count(c->buffers_lost));
    set(object, "traces_cut", count(c->traces_cut));
    /* A sum of sums may be beyond JSON's integers: then it is no integer. */
    bool is_integer = timed && c->gpu_time_ns < 9e18;
    set(object, "gpu_time_ns", is_integer ? json_integer((json_int_t)c->gpu_time_ns) : real_or_null(c->gpu_time_ns));
    set(object, "launch_share", provenance_object(c->launch_share));
    set(object, "gpu_time_share", provenance_object(c->gpu_time_share));
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
        set(object, "tid", count(call->tid));
        set(object, "name", text_or_null(call->entry));
        set(object, "arguments", arguments);
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
        set(object, "code", text_or_null(note_name(note->code)));
        set(object, "value", json_integer(note->value));
        set(object, "text", text_or_null(note->text));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *process_object(const struct session_process *process)
{
    json_t *object = json_object();
    set(object, "pid", size_or_null(process->pid));
    set(object, "parent", size_or_null(process->parent_pid));
    set(object, "command", text_or_null(process->command));
    set(object, "hook_level", text_or_null(process->hook_level));
    set(object, "timing", text_or_null(timing_name(process->timing)));
    set(object, "timing_detail", text_or_null(process->timing_text));
    set(object, "timing_cut", json_boolean(process->timing_cut));
    set(object, "end", text_or_null(process->end));
    set(object, "trace", text_or_null(process->file));
    set(object, "trace_cut", json_boolean(process->stats.cut_short));
    set(object, "calls", count(process->calls));
    set(object, "failed_calls", count(process->failed_calls));
    set(object, "launches", count(process->launches));
    set(object, "kernels", count_or_null(process->timed, process->kernels));
    set(object, "calls_missing", count(process->calls_missing));
    set(object, "launches_missing", count(process->launches_missing));
    set(object, "records_dropped", count(process->records_dropped));
    set(object, "calls_unseen", json_boolean(session_process_asks_unseen(process)));
    set(object, "in_flight", in_flight_array(process));
    set(object, "notes", notes_array(process));
    return object;
}

/* ---- operators ---- */

static json_t *operation_or_null(uint8_t operation)
{
    static const char *const names[] = {"N", "T", "C"};
    return text_or_null(operation < sizeof names / sizeof names[0] ? names[operation] : NULL);
}

static json_t *cublas_object(const struct operator_row *op)
{
    if (!op->of_call)
        return json_null();
    json_t *object = json_object();
    set(object, "m", size_or_null(op->signature.m));
    set(object, "n", size_or_null(op->signature.n));
    set(object, "k", size_or_null(op->signature.k));
    set(object, "transa", operation_or_null(op->signature.trans_a));
    set(object, "transb", operation_or_null(op->signature.trans_b));
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
    set(object, "m", size_or_null(op->of_call ? op->work.m : TRACE_UNKNOWN));
    set(object, "n", size_or_null(op->of_call ? op->work.n : TRACE_UNKNOWN));
    set(object, "k", size_or_null(op->of_call ? op->work.k : TRACE_UNKNOWN));
    set(object, "batch", size_or_null(op->of_call ? op->work.batch : TRACE_UNKNOWN));
    set(object, "weight", text_or_null(weights[op->work.weight]));
    set(object, "cublas", cublas_object(op));
    for (int i = 0; i < 4; i++)
        set(object, keys[i], text_or_null(op->of_call ? number_format_name(op->work.type[i]) : NULL));
    set(object, "type_compute", text_or_null(op->of_call ? number_type_name(op->work.type_compute) : NULL));
}

static json_t *display_name_or_null(const struct operator_row *op, struct demangler *demangler)
{
    if (!op->name)
        return json_null();
    char *name = demangler_name(demangler, op->name);
    json_t *value = text_or_null(name);
    free(name);
    return value;
}

static json_t *operator_object(const struct operator_row *op, struct demangler *demangler)
{
    const struct roofline *roofline = &op->roofline;
    bool rates = op->of_call && op->work.shape_known;
    json_t *object = json_object();
    set(object, "kind", text_or_null(operator_kind_name(op->kind)));
    set(object, "name", text_or_null(op->name));
    set(object, "display_name", display_name_or_null(op, demangler));
    set(object, "device", size_or_null(op->device));
    set_shape(object, op);
    set(object, "calls", count_or_null(op->calls_known, op->calls));
    set(object, "executions", count_or_null(op->of_call && op->timed, op->executions));
    set(object, "kernels", count_or_null(op->timed, op->kernels));
    set(object, "blocks", count_or_null(op->widest_blocks, op->widest_blocks));
    set(object, "time_ns", count_or_null(op->timed && op->kernels, op->time_ns));
    set(object, "share", op->timed && op->kernels ? real_or_null(op->share) : json_null());
    set(object, "flops", real_or_null(op->flops));
    set(object, "bytes", real_or_null(op->bytes));
    set(object, "intensity", real_or_null(roofline->intensity));
    set(object, "intensity_kv", json_null());
    set(object, "ridge", real_or_null(roofline->ridge));
    set(object, "m_star", real_or_null(op->rows_at_ridge));
    set(object, "t_roof_ns", real_or_null(op->t_roof_ns));
    set(object, "bound", text_or_null(bound_name(roofline->bound)));
    set(object, "bound_kv", json_null());
    set(object, "flags", flags_array(roofline->flags));
    set(object, "flops_per_second", rates ? real_or_null(roofline->flops_per_second) : json_null());
    set(object, "bytes_per_second", rates ? real_or_null(roofline->bytes_per_second) : json_null());
    set(object, "roof_fraction", real_or_null(roofline->roof_fraction));
    set(object, "shape_source", text_or_null(provenance_name(op->shape_source)));
    return object;
}

/* ---- the whole ---- */

static json_t *session_object(const struct session *session)
{
    const struct session_info *info = &session->info;
    json_t *object = json_object();
    set(object, "path", text_or_null(session->path));
    set(object, "rooftap_version", text_or_null(info->rooftap_version));
    set(object, "command", text_or_null(info->command));
    set(object, "working_directory", text_or_null(info->working_directory));
    set(object, "host", text_or_null(info->host));
    set(object, "kernel", text_or_null(info->kernel));
    set(object, "simulate", text_or_null(info->simulate));
    set(object, "started_realtime_ns", size_or_null(info->started_realtime_ns));
    set(object, "ended_realtime_ns", size_or_null(info->ended_realtime_ns));
    return object;
}

static json_t *operators_array(const struct session *session)
{
    struct demangler *demangler = demangler_open(DEMANGLE_LIBRARY);
    json_t *operators = json_array();
    for (size_t i = 0; i < session->operator_count; i++)
        json_array_append_new(operators, operator_object(&session->operators[i], demangler));
    demangler_close(demangler);
    return operators;
}

static json_t *failures_array(const struct session *session)
{
    json_t *failures = json_array();
    for (size_t i = 0; i < session->failure_count; i++) {
        json_t *object = json_object();
        set(object, "name", text_or_null(session->failures[i].name));
        set(object, "status", json_integer(session->failures[i].status));
        set(object, "status_name", text_or_null(status_name(session->failures[i].status)));
        set(object, "calls", count(session->failures[i].calls));
        set_shape(object, &session->failures[i].first);
        json_array_append_new(failures, object);
    }
    return failures;
}

static json_t *problems_array(const struct session *session)
{
    json_t *problems = json_array();
    if (session->info.problem)
        json_array_append_new(problems, text_or_null(session->info.problem));
    for (size_t i = 0; i < session->bad_file_count; i++)
        json_array_append_new(problems, text_or_null(session->bad_files[i].text));
    return problems;
}

bool report_json(const struct session *session, FILE *out)
{
    json_t *root = json_object();
    json_t *devices = json_array(), *processes = json_array();
    for (size_t i = 0; i < session->device_count; i++)
        json_array_append_new(devices, device_object(&session->devices[i]));
    for (size_t i = 0; i < session->process_count; i++)
        json_array_append_new(processes, process_object(&session->processes[i]));
    set(root, "schema", json_integer(SCHEMA));
    set(root, "simulated", json_boolean(session->simulated));
    set(root, "session", session_object(session));
    set(root, "problems", problems_array(session));
    set(root, "devices", devices);
    set(root, "coverage", coverage_object(&session->coverage));
    set(root, "failures", failures_array(session));
    set(root, "processes", processes);
    set(root, "operators", operators_array(session));
    bool written = !json_dumpf(root, out, JSON_INDENT(2)) && fputc('\n', out) != EOF;
    json_decref(root);
    return written && !fflush(out);
}
