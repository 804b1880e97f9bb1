/* SPDX-License-Identifier: Apache-2.0 */
/* One function for each object. */
#include "report/timing_json.h"

#include <math.h>

#include "report/json_value.h"

static json_t *time_or_null(uint64_t realtime_ns)
{
    return json_value_count_if(realtime_ns, realtime_ns);
}

/* ---- modes and windows ---- */

static json_t *change_object(const struct timing_change *change, uint64_t since_ns)
{
    json_t *object = json_object();
    const bool sampled = change->mode == TRACE_TIMING_SAMPLED;
    json_value_set(object, "realtime_ns", time_or_null(change->realtime_ns));
    json_value_set(object, "at_ns", json_value_at(change->realtime_ns, since_ns));
    json_value_set(object, "asked", json_value_text(timing_mode_name(change->asked)));
    json_value_set(object, "mode", json_value_text(timing_mode_name(change->mode)));
    json_value_set(object, "rule", json_value_text(change->text));
    json_value_set(object, "cupti_version", json_value_count_if(change->cupti_version, change->cupti_version));
    json_value_set(object, "window_ns", json_value_count_if(sampled, change->window_ns));
    json_value_set(object, "period_ns", json_value_count_if(sampled, change->period_ns));
    json_value_set(object, "graph_records_most",
                   json_value_count_if(change->graph_records_most, change->graph_records_most));
    return object;
}

static json_t *reasons_object(const struct trace_sum_windows *sum)
{
    json_t *object = json_object();
    for (uint32_t why = 0; why < TRACE_SUMS_WINDOW_REASONS; why++) {
        const char *name = timing_window_why_name(why);
        if (!sum->windows[why])
            continue;
        json_t *reason = json_object();
        json_value_set(reason, "count", json_value_count(sum->windows[why]));
        json_value_set(reason, "open_ns", json_value_count(sum->open_ns[why]));
        json_value_set(object, name ? name : "unknown", reason);
    }
    return object;
}

static json_t *windows_object(const struct timing_windows *windows, uint64_t since_ns)
{
    json_t *object = json_object();
    json_value_set(object, "count", json_value_count(timing_windows_count(windows)));
    json_value_set(object, "open_ns", json_value_count(timing_windows_open_ns(windows)));
    json_value_set(object, "reasons", reasons_object(&windows->closed));
    json_value_set(object, "first_open_realtime_ns", time_or_null(windows->closed.first_open_ns));
    json_value_set(object, "last_close_realtime_ns", time_or_null(windows->closed.last_close_ns));
    json_value_set(object, "first_open_at_ns", json_value_at(windows->closed.first_open_ns, since_ns));
    json_value_set(object, "last_close_at_ns", json_value_at(windows->closed.last_close_ns, since_ns));
    json_value_set(object, "last_close_reason", json_value_text(timing_window_why_name(windows->closed.last_why)));
    return object;
}

static json_t *marks_array(struct json_cut *cut, const struct timing_windows *windows, uint64_t since_ns)
{
    json_t *marks = json_array();
    const size_t items = json_cut_items(cut, marks, windows->mark_count);
    for (size_t i = 0; i < items; i++) {
        const struct timing_mark *mark = &windows->marks[i];
        json_t *object = json_object();
        json_value_set(object, "name", json_value_text(mark->text));
        json_value_set(object, "realtime_ns", time_or_null(mark->realtime_ns));
        json_value_set(object, "at_ns", json_value_at(mark->realtime_ns, since_ns));
        json_value_set(object, "window", json_value_count_if(mark->window, mark->window));
        json_array_append_new(marks, object);
    }
    return marks;
}

static json_t *modes_object(struct json_cut *cut, const struct timing_windows *windows, uint64_t since_ns)
{
    if (!windows->change_count && !timing_windows_count(windows) && !windows->mark_count)
        return json_null();
    const struct timing_change *last = windows->change_count ? &windows->changes[windows->change_count - 1] : NULL;
    json_t *object = json_object(), *changes = json_array();
    const size_t items = json_cut_items(cut, changes, windows->change_count);
    for (size_t i = 0; i < items; i++)
        json_array_append_new(changes, change_object(&windows->changes[i], since_ns));
    json_value_set(object, "asked", json_value_text(last ? timing_mode_name(last->asked) : NULL));
    json_value_set(object, "mode", json_value_text(last ? timing_mode_name(last->mode) : NULL));
    json_value_set(object, "rule", json_value_text(last ? last->text : NULL));
    json_value_set(object, "changes", changes);
    json_value_set(object, "changes_beyond", json_value_count(windows->closed.changes_beyond));
    json_value_set(object, "windows", windows_object(windows, since_ns));
    json_value_set(object, "marks", marks_array(cut, windows, since_ns));
    json_value_set(object, "marks_beyond", json_value_count(windows->closed.marks_beyond));
    return object;
}

/* ---- overhead ---- */

static double mean(uint64_t sum_ns, uint64_t count)
{
    return count ? (double)sum_ns / (double)count : NAN;
}

static json_t *overhead_object(const struct session_process *process)
{
    const struct trace_overhead *o = &process->windows.overhead;
    if (!process->windows.overhead_known)
        return json_null();
    json_t *object = json_object();
    json_value_set(object, "wall_ns", json_value_count(o->wall_ns));
    json_value_set(object, "call_ns", json_value_real(mean(o->calls_ns, o->calls)));
    json_value_set(object, "calls_measured", json_value_count(o->calls));
    json_value_set(object, "calls", json_value_count(o->calls_all));
    json_value_set(object, "callback_ns", json_value_real(mean(o->callbacks_ns, o->callbacks)));
    json_value_set(object, "callbacks_measured", json_value_count(o->callbacks));
    json_value_set(object, "callbacks", json_value_count(o->callbacks_all));
    json_value_set(object, "record_ns", json_value_real(mean(o->records_ns, o->records)));
    json_value_set(object, "records", json_value_count(o->records));
    json_value_set(object, "own_ns", json_value_real(session_overhead_ns(process)));
    json_value_set(object, "wall_share", json_value_real(session_overhead_share(process)));
    json_value_set(object, "helper_cpu_ns", json_value_count_if(o->helper_cpu_ns != UINT64_MAX, o->helper_cpu_ns));
    json_value_set(object, "timing_cpu_ns", json_value_count_if(o->timing_cpu_ns != UINT64_MAX, o->timing_cpu_ns));
    json_value_set(object, "buffers", json_value_count(o->buffers));
    json_value_set(object, "buffer_bytes", json_value_count(o->buffer_bytes));
    json_value_set(object, "buffers_lost", json_value_count(process->counters.buffers_lost));
    json_value_set(object, "records_dropped", json_value_count(process->records_dropped));
    json_value_set(object, "level", json_value_count(o->level));
    return object;
}

/* ---- graphs, lengths ---- */

static json_t *replays_object(const struct session_replays *replays)
{
    if (!replays->graphs)
        return json_null();
    json_t *object = json_object();
    json_value_set(object, "graphs", json_value_count(replays->graphs));
    json_value_set(object, "graphs_unknown", json_value_count(replays->graphs_unknown));
    json_value_set(object, "launches", json_value_count(replays->launches));
    json_value_set(object, "kernels_launched", json_value_count(replays->kernels_launched));
    json_value_set(object, "kernels_timed", json_value_count(replays->kernels_timed));
    json_value_set(object, "runs", json_value_count(replays->runs));
    json_value_set(object, "run_ns", json_value_count(replays->run_ns));
    return object;
}

static json_t *lengths_array(struct json_cut *cut, const struct live_lengths *lengths)
{
    json_t *array = json_array();
    const size_t items = json_cut_items(cut, array, lengths->count);
    for (size_t i = 0; i < items; i++) {
        const struct trace_sum_lengths *row = &lengths->rows[i];
        json_t *object = json_object();
        json_value_set(object, "how", json_value_text(live_lengths_how_name(row->how)));
        json_value_set(object, "call", json_value_count(row->call_id));
        json_value_set(object, "address", json_value_count(row->address));
        json_value_set(object, "graph", json_value_count_if(row->graph_id, row->graph_id));
        json_value_set(object, "count", json_value_count(row->count));
        json_value_set(object, "cumulative", json_boolean(row->cumulative == 1));
        json_value_set(object, "least", json_integer(row->least));
        json_value_set(object, "most", json_integer(row->most));
        json_value_set(object, "mean", json_value_real(live_lengths_mean(row)));
        json_value_set(object, "launches", json_value_count(row->launches));
        json_array_append_new(array, object);
    }
    return array;
}

void timing_json_set_process(json_t *object, struct json_cut *cut, const struct session_process *process,
                             uint64_t since_ns)
{
    json_value_set(object, "timing_modes", modes_object(cut, &process->windows, since_ns));
    json_value_set(object, "overhead", overhead_object(process));
    json_value_set(object, "graph_replays", replays_object(&process->replays));
    json_value_set(object, "lengths", lengths_array(cut, &process->lengths));
}

/* ---- what times rest on ---- */

static const char *source_of(const struct operator_row *op)
{
    if (!op->timed || !op->kernels)
        return NULL;
    const bool shared = op->evidence.shared_ns > 0 && !op->graph, timed = op->evidence.kernels > 0;
    if (shared)
        return timed ? "mixed" : "graph_shared";
    return op->graph ? "graph" : op->evidence.estimated ? "sampled" : "timed";
}

void timing_json_set_operator(json_t *object, const struct operator_row *op)
{
    const struct time_evidence *evidence = &op->evidence;
    const bool estimated = evidence->estimated;
    json_value_set(object, "executions_all", json_value_count_if(!evidence->all_unknown, evidence->executions_all));
    json_value_set(object, "time_source", json_value_text(source_of(op)));
    json_value_set(object, "time_estimated", json_boolean(estimated));
    json_value_set(object, "samples", json_value_count_if(op->timed, evidence->executions));
    json_value_set(object, "kernels_timed", json_value_count_if(op->timed, evidence->kernels));
    json_value_set(object, "time_timed_ns", json_value_count_if(op->timed && evidence->kernels, evidence->time_ns));
    json_value_set(object, "time_ns_low", json_value_real(estimated ? evidence->low_ns : NAN));
    json_value_set(object, "time_ns_high", json_value_real(estimated ? evidence->high_ns : NAN));
    json_value_set(object, "time_shared_ns", json_value_real(evidence->shared_ns > 0 ? evidence->shared_ns : NAN));
}

void timing_json_set_coverage(json_t *object, const struct session_coverage *coverage)
{
    const struct time_evidence *all = &coverage->evidence;
    const bool timed = !isnan(coverage->gpu_time_ns);
    json_value_set(object, "executions_all", json_value_count_if(!all->all_unknown, all->executions_all));
    json_value_set(object, "executions_timed", json_value_count_if(coverage->kernels_known, all->executions));
    json_value_set(object, "executions_without_time",
                   json_value_count_if(coverage->kernels_known, coverage->executions_without_time));
    json_value_set(object, "time_estimated", json_boolean(all->estimated));
    json_value_set(object, "gpu_time_ns_low", json_value_real(all->estimated ? all->low_ns : NAN));
    json_value_set(object, "gpu_time_ns_high", json_value_real(all->estimated ? all->high_ns : NAN));
    json_value_set(object, "graph_shared_time_ns", json_value_real(timed ? coverage->graph_shared_ns : NAN));
    json_value_set(object, "graph_rest_time_ns", json_value_real(timed ? coverage->graph_rest_ns : NAN));
    json_value_set(object, "graph_unknown_time_ns", json_value_real(timed ? coverage->graph_unknown_ns : NAN));
}

/* ---- of all processes ---- */

json_t *timing_json(const struct session *session)
{
    uint64_t processes[TRACE_TIMING_EVENTS + 1] = {0}, windows = 0, open_ns = 0, marks = 0;
    json_t *object = json_object(), *modes = json_object();
    for (size_t i = 0; i < session->process_count; i++) {
        const struct timing_windows *of = &session->processes[i].windows;
        const uint32_t mode = of->change_count ? of->changes[of->change_count - 1].mode : UINT32_MAX;
        if (mode <= TRACE_TIMING_EVENTS)
            processes[mode]++;
        sum_add(&windows, timing_windows_count(of));
        sum_add(&open_ns, timing_windows_open_ns(of));
        sum_add(&marks, of->mark_count);
    }
    for (uint32_t mode = 0; mode <= TRACE_TIMING_EVENTS; mode++)
        if (processes[mode])
            json_value_set(modes, timing_mode_name(mode), json_value_count(processes[mode]));
    json_value_set(object, "modes", modes);
    json_value_set(object, "windows", json_value_count(windows));
    json_value_set(object, "open_ns", json_value_count(open_ns));
    json_value_set(object, "marks", json_value_count(marks));
    return object;
}
