/* SPDX-License-Identifier: Apache-2.0 */
/* Keys as JSON.md lists them. */
#include "report/process_json.h"

#include <stdlib.h>
#include <string.h>

#include "classify/hidden_shapes.h"
#include "report/coverage_json.h"
#include "report/json_value.h"
#include "report/timing_json.h"

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

static const char *timing_name(enum session_timing timing)
{
    return timing == SESSION_TIMING_ON ? "on" : timing == SESSION_TIMING_OFF ? "off" : NULL;
}

static json_t *in_flight_array(struct json_cut *cut, const struct session_process *process)
{
    json_t *array = json_array();
    const size_t items = json_cut_items(cut, array, process->in_flight_count);
    for (size_t i = 0; i < items; i++) {
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

static json_t *notes_array(struct json_cut *cut, const struct session_process *process, uint64_t since_ns)
{
    json_t *array = json_array();
    const size_t items = json_cut_items(cut, array, process->note_count);
    for (size_t i = 0; i < items; i++) {
        const struct joined_note *note = &process->notes[i];
        json_t *object = json_object();
        json_value_set(object, "code", json_value_text(note_name(note->code)));
        json_value_set(object, "value", json_integer(note->value));
        json_value_set(object, "text", json_value_text(note->text));
        json_value_set(object, "realtime_ns", note->realtime_ns ? json_value_size(note->realtime_ns) : json_null());
        json_value_set(object, "at_ns", json_value_at(note->realtime_ns, since_ns));
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

static json_t *process_object(struct json_cut *cut, const struct session_process *process, uint64_t since_ns)
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
    json_value_set(object, "started_at_ns", json_value_at(process->start_realtime_ns, since_ns));
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
    json_value_set(object, "rotated", coverage_json_rotated(&process->rotated));
    json_value_set(object, "calls_unseen", json_boolean(session_process_asks_unseen(process)));
    json_value_set(object, "calls_unseen_reason", json_value_text(hidden_reason_name(hidden_shapes_reason(process))));
    json_value_set(object, "blas_files", json_value_size(process->blas_files));
    json_value_set(object, "blas_unreached", unreached_array(process));
    json_value_set(object, "shapeless_gemms", json_value_count_if(process->timed, process->shapeless_gemms));
    json_value_set(object, "shapeless_gemm_time_ns",
                   json_value_count_if(process->timed, process->shapeless_gemm_time_ns));
    timing_json_set_process(object, cut, process, since_ns);
    json_value_set(object, "in_flight", in_flight_array(cut, process));
    json_value_set(object, "notes", notes_array(cut, process, since_ns));
    return object;
}

json_t *process_json(struct json_cut *cut, const struct session *session)
{
    const uint64_t since_ns = session_start_realtime_ns(session);
    json_t *array = json_array();
    const size_t items = json_cut_items(cut, array, session->process_count);
    for (size_t i = 0; i < items; i++)
        json_array_append_new(array, process_object(cut, &session->processes[i], since_ns));
    return array;
}
