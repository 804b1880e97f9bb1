/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a session: reads it by session_files, then draws the conclusions: names, classes, shares, ends. */
#include "classify/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/kernel_families.h"
#include "classify/launch_operators.h"
#include "classify/live_process.h"
#include "classify/roof_time.h"
#include "classify/session_calibration.h"
#include "classify/session_files.h"
#include "classify/session_peaks.h"

const char *operator_kind_name(enum operator_kind kind)
{
    static const char *const names[] = {
        [OPERATOR_GEMM] = "gemm",           [OPERATOR_GEMV] = "gemv",   [OPERATOR_LEVEL3] = "level3",
        [OPERATOR_ATTENTION] = "attention", [OPERATOR_OTHER] = "other",
    };
    return names[kind];
}

const char *provenance_name(enum trace_provenance provenance)
{
    static const char *const names[SESSION_PROVENANCE_COUNT] = {
        [TRACE_EXACT] = "exact",        [TRACE_DESCRIPTOR] = "descriptor", [TRACE_PARAMS] = "params",
        [TRACE_DEVICE_READ] = "device", [TRACE_AT_MOST] = "at_most",       [TRACE_NAME_ONLY] = "name",
        [TRACE_NONE] = "none",
    };
    return (unsigned)provenance < SESSION_PROVENANCE_COUNT ? names[provenance] : NULL;
}

/* clang-format off */
static const struct {
    const char *name;
    bool loss;
} note_codes[] = {
    [TRACE_NOTE_TIMING_ON]  = {"timing_on",  false},
    [TRACE_NOTE_TIMING_OFF] = {"timing_off", false}, /* this and timing_cut are said with the process */
    [TRACE_NOTE_HOOK_LEVEL] = {"hook_level", false},
    [TRACE_NOTE_WRITER]     = {"writer",     true},
    [TRACE_NOTE_DEVICE]     = {"device",     true},
    [TRACE_NOTE_SHAPES_OFF] = {"shapes_off", true},
    [TRACE_NOTE_TIMING_CUT] = {"timing_cut", false},
    [TRACE_NOTE_JOIN]       = {"join",       true},
    [TRACE_NOTE_ESCAPED]    = {"escaped",    true},
    [TRACE_NOTE_GRAPH_NODES] = {"graph_nodes", true},
    [TRACE_NOTE_BLAS]       = {"blas",       false}, /* said with the process where it matters */
    [TRACE_NOTE_RING]       = {"ring",       false},
    [TRACE_NOTE_RANK]       = {"rank",       false}, /* said with the process */
    [TRACE_NOTE_PROFILER]   = {"profiler",   true},
    [TRACE_NOTE_GRAPHS]     = {"graphs",     false},
    [TRACE_NOTE_OVERHEAD]   = {"overhead",   true},
    [TRACE_NOTE_LENGTHS]    = {"lengths",    true},
    [TRACE_NOTE_NO_RECORDS] = {"no_records", true},
    [TRACE_NOTE_MARKS]      = {"marks",      true},
};
/* clang-format on */

const char *note_name(uint32_t code)
{
    return code < sizeof note_codes / sizeof note_codes[0] ? note_codes[code].name : NULL;
}

bool note_tells_of_loss(uint32_t code)
{
    return code < sizeof note_codes / sizeof note_codes[0] && note_codes[code].loss;
}

/* ---- conclusions ---- */

static enum operator_kind kind_of_kernel(const struct operator_row *op)
{
    switch (kernel_family_kind(op->family, op->role)) {
    case KERNEL_GEMM:
        return OPERATOR_GEMM;
    case KERNEL_GEMV:
        return OPERATOR_GEMV;
    case KERNEL_ATTENTION:
        return OPERATOR_ATTENTION;
    default:
        return OPERATOR_OTHER;
    }
}

double session_device_l2_bytes(const struct session_device *device)
{
    if (device->described && device->facts.l2_bytes > 0)
        return (double)device->facts.l2_bytes;
    bool known = device->roofs.spec && device->roofs.spec->l2_bytes > 0;
    return known ? device->roofs.spec->l2_bytes * device->roofs.memory_scale : NAN;
}

/* The most that is known of: calls that were captured are in none of the others, nor are replays among calls. */
uint64_t operator_row_executions(const struct operator_row *op)
{
    uint64_t most = op->calls > op->executions ? op->calls : op->executions;
    return most > op->evidence.executions_all ? most : op->evidence.executions_all;
}

bool operator_row_has_work(const struct operator_row *op)
{
    return op->of_call || (op->launch && op->launch->reading == LAUNCH_READ &&
                           (op->launch->kind == LAUNCH_MATMUL || op->launch->kind == LAUNCH_ATTENTION));
}

uint64_t operator_row_covered(const struct operator_row *op)
{
    return operator_row_has_work(op) ? op->executions : op->kernels;
}

enum gpu_path operator_row_path(const struct operator_row *op, const struct gpu_spec *spec)
{
    if (!op->of_call)
        return gpu_spec_kernel_path(spec, op->work.path);
    return op->kind == OPERATOR_GEMV ? op->work.path : gpu_spec_product_path(spec, op->work.path);
}

/* The figures of all executions, and in *INPUT of those that the row's time covers. */
static void take_work(struct operator_row *op, const struct session_device *device, struct roofline_input *input)
{
    if (device)
        op->work.path = operator_row_path(op, device->roofs.spec);
    if (op->launch)
        op->launch->path = op->work.path;
    if (op->of_call && op->kernels &&
        !op->executions) /* a record without a call id: take the calls as they were counted */
        op->executions = op->calls;
    const double all = (double)operator_row_executions(op);
    const double covered = op->kernels ? (double)op->executions : all;
    op->flops = op->work.flops * all;
    op->bytes = op->work.bytes * all;
    input->flops = op->work.flops * covered;
    input->bytes = op->work.bytes * covered;
    input->path = op->work.path;
    input->call_bytes = op->work.bytes;
    if (op->launch && op->launch->kind == LAUNCH_MATMUL) {
        const double least = launch_decode_bytes_least(op->launch);
        op->bytes_least = least < op->work.bytes ? least * all : NAN;
    }
    if (op->launch && op->kernels && !op->executions) { /* of its helpers alone: that is no time of its own */
        input->time_ns = NAN;
        input->flops = op->flops;
        input->bytes = op->bytes;
    }
}

static void classify_operator(const struct session *session, struct operator_row *op)
{
    static const struct device_roofs no_roofs = {NULL, 1, 1};
    const struct session_device *device = op->device >= 0 ? &session->devices[op->device] : NULL;
    op->flops = op->bytes = op->t_roof_ns = NAN;
    op->rows_at_ridge = NAN;
    op->bandwidth_fill = device && device->calibration && !op->persistent
                             ? calibration_fill_of_bandwidth(device->calibration, (double)op->blocks)
                             : NAN;
    struct roofline_input input = {
        .flops = NAN,
        .bytes = NAN,
        .path = GPU_PATH_UNKNOWN,
        .kernels = op->kernels,
        .time_ns = op->kernels ? (double)op->time_ns : NAN,
        .floor_ns = device ? device->floor_ns : NAN,
        .blocks = op->blocks,
        .persistent = op->persistent,
        .bandwidth_fill = op->bandwidth_fill,
        .sm_count = device && device->described ? device->facts.sm_count : TRACE_UNKNOWN,
        .call_bytes = NAN,
        .l2_bytes = device ? session_device_l2_bytes(device) : NAN,
    };
    if (operator_row_has_work(op))
        take_work(op, device, &input);
    roofline_classify(&input, device ? &device->roofs : &no_roofs, &op->roofline);
    if (operator_row_has_work(op)) {
        op->roofline.intensity = op->work.intensity; /* holds with no call that succeeded, too */
        op->t_roof_ns = input.bytes > 0 ? op->roofline.t_roof_ns * (op->bytes / input.bytes) : op->roofline.t_roof_ns;
        op->rows_at_ridge = work_rows_at_ridge(&op->work, op->roofline.ridge);
    }
}

static char *graph_name(const struct operator_row *op)
{
    char name[64];
    snprintf(name, sizeof name,
             op->graph == OPERATOR_GRAPH_REST ? "graph %u: not shared out" : "graph %u: shapes unknown",
             (unsigned)op->graph_id);
    return allocate_text(name);
}

static void name_operator(const struct session_merge *merge, size_t index)
{
    struct operator_row *op = &merge->session->operators[index];
    if (op->of_call) {
        op->calls_known = true;
        return;
    }
    if (op->graph) {
        op->name = graph_name(op);
        op->shape_source = TRACE_NONE;
        return;
    }
    op->name = allocate_text(session_merge_name(merge, index));
    const struct kernel_family_row *row = kernel_family_find(op->name);
    if (row) {
        op->family = row->family;
        op->role = row->role;
    }
    op->kind = kind_of_kernel(op);
    if (launch_operators_classify(op))
        op->calls_known = true;
    else
        op->shape_source = op->name ? TRACE_NAME_ONLY : TRACE_NONE;
}

static void operator_free(struct operator_row *op)
{
    for (size_t i = 0; i < op->helper_count; i++)
        free(op->helpers[i].name);
    free(op->helpers);
    free(op->launch);
    free(op->name);
    duration_histogram_free(&op->durations);
}

/* Rows without anything, as of signatures that only a lost call used. */
static void drop_empty_operators(struct session *session)
{
    size_t kept = 0;
    for (size_t i = 0; i < session->operator_count; i++) {
        const struct operator_row *op = &session->operators[i];
        if (op->calls || op->kernels || (op->evidence.executions_all && !op->graph))
            session->operators[kept++] = session->operators[i];
        else
            operator_free(&session->operators[i]);
    }
    session->operator_count = kept;
}

static int compare_numbers(double a, double b)
{
    return (a < b) - (a > b); /* larger first; NAN equals everything, and never meets a number here */
}

static int compare_operators(const void *a, const void *b)
{
    const struct operator_row *x = a, *y = b;
    int order = compare_numbers((double)x->time_ns, (double)y->time_ns);
    if (!order)
        order = compare_numbers(isnan(x->t_roof_ns) ? -1 : x->t_roof_ns, isnan(y->t_roof_ns) ? -1 : y->t_roof_ns);
    if (!order)
        order = compare_numbers(isnan(x->flops) ? -1 : x->flops, isnan(y->flops) ? -1 : y->flops);
    if (!order)
        order = compare_numbers((double)x->calls, (double)y->calls);
    if (!order)
        order = strcmp(x->name ? x->name : "", y->name ? y->name : "");
    if (!order)
        order = x->device - y->device;
    return order ? order : (x->signature.id > y->signature.id) - (x->signature.id < y->signature.id);
}

/* No kernel: the GPU did nothing, or what it did was not timed, or lost. The sum is 0 in the first case only. */
static bool gpu_time_known(const struct session *session)
{
    const struct session_coverage *coverage = &session->coverage;
    if (coverage->kernels || !coverage->kernels_known)
        return coverage->kernels_known;
    bool lost = coverage->kernels_invalid || coverage->processes_untimed || coverage->traces_cut ||
                coverage->records_dropped || coverage->buffers_lost;
    for (size_t i = 0; i < session->process_count; i++)
        lost |= session->processes[i].timing_cut;
    return !lost;
}

static void find_time_coverage(struct session *session)
{
    struct session_coverage *coverage = &session->coverage;
    bool quiet_timed = false;
    for (size_t i = 0; i < session->process_count; i++) {
        const struct session_process *process = &session->processes[i];
        if (!session_process_used_gpu(process))
            quiet_timed |= process->timed;
        else if (process->timed)
            coverage->processes_timed++;
        else
            coverage->processes_untimed++;
    }
    coverage->kernels_known = coverage->processes_timed || (quiet_timed && !coverage->processes_untimed);
    coverage->gpu_time_ns = gpu_time_known(session) ? 0 : NAN;
}

/* What no pattern knows might be anything, also attention: how much of the time that is belongs to every report. */
static void find_unknown_families(struct session *session)
{
    struct session_coverage *coverage = &session->coverage;
    double time_ns = 0;
    for (size_t i = 0; i < session->operator_count; i++) {
        const struct operator_row *op = &session->operators[i];
        if (operator_row_has_work(op) || op->graph || op->family != KERNEL_FAMILY_UNKNOWN)
            continue;
        time_ns += (double)op->time_ns;
        coverage->unknown_family_kernels += op->kernels;
    }
    coverage->unknown_family_time_ns = isnan(coverage->gpu_time_ns) ? NAN : time_ns;
    coverage->unknown_family_share = coverage->gpu_time_ns > 0 ? time_ns / coverage->gpu_time_ns : NAN;
}

static void find_shares(struct session *session)
{
    struct session_coverage *coverage = &session->coverage;
    double launches = 0, launch_count[SESSION_PROVENANCE_COUNT] = {0}, time[SESSION_PROVENANCE_COUNT] = {0};
    for (size_t i = 0; i < session->operator_count; i++)
        coverage->gpu_time_ns += (double)session->operators[i].time_ns;
    for (size_t i = 0; i < session->operator_count; i++) {
        struct operator_row *op = &session->operators[i];
        op->share = coverage->gpu_time_ns > 0 ? (double)op->time_ns / coverage->gpu_time_ns : NAN;
        time[op->shape_source] += (double)op->time_ns;
        if (op->kind == OPERATOR_OTHER)
            continue;
        uint64_t times = operator_row_covered(op), most = operator_row_executions(op);
        double here = (double)(most > times ? most : times);
        launch_count[op->shape_source] += here;
        launches += here;
    }
    for (int i = 0; i < SESSION_PROVENANCE_COUNT; i++) {
        coverage->launch_share[i] = launches > 0 ? launch_count[i] / launches : NAN;
        coverage->gpu_time_share[i] = coverage->gpu_time_ns > 0 ? time[i] / coverage->gpu_time_ns : NAN;
    }
}

/* What each row's time rests on, and that of all rows together. */
static void find_evidence(struct session *session)
{
    struct session_coverage *coverage = &session->coverage;
    struct time_evidence *all = &coverage->evidence;
    for (size_t i = 0; i < session->operator_count; i++) {
        struct operator_row *op = &session->operators[i];
        struct time_evidence *evidence = &op->evidence;
        evidence->all_unknown |= !op->graph && evidence->executions_all < evidence->executions;
        time_evidence_end(evidence, (double)op->time_ns);
        sum_add(&all->kernels, evidence->kernels);
        sum_add(&all->time_ns, evidence->time_ns);
        if (op->graph) {
            *(op->graph == OPERATOR_GRAPH_REST ? &coverage->graph_rest_ns : &coverage->graph_unknown_ns) +=
                (double)op->time_ns;
            continue;
        }
        coverage->graph_shared_ns += evidence->shared_ns;
        sum_add(&all->executions, evidence->executions);
        sum_add(&all->executions_all, evidence->executions_all);
        all->all_unknown |= evidence->all_unknown;
        uint64_t covered = operator_row_covered(op);
        if (op->timed && evidence->executions_all > covered)
            sum_add(&coverage->executions_without_time, evidence->executions_all - covered);
    }
    time_evidence_end(all, coverage->gpu_time_ns);
    coverage->graph_unknown_ns += (double)coverage->graph_time_unjoined_ns;
}

static bool is_superseded(const struct session *session, const struct session_process *process)
{
    for (size_t i = 0; i < session->process_count; i++)
        if (session->processes[i].pid == process->pid &&
            session->processes[i].start_realtime_ns > process->start_realtime_ns)
            return true;
    return false;
}

/* The target was there before the launcher noted it, every other process before its trace. */
static bool is_running(const struct session *session, const struct session_process *process)
{
    const struct session_info *info = &session->info;
    bool target = process->pid == info->target_pid;
    if (process->stats.ended || (target && info->end != SESSION_END_UNKNOWN) || is_superseded(session, process))
        return false;
    return live_process(info->host, process->pid,
                        target ? info->started_realtime_ns : (int64_t)process->start_realtime_ns);
}

/* What a process that still runs has not written yet is not lost. */
static void find_running(struct session *session)
{
    for (size_t i = 0; i < session->process_count; i++) {
        struct session_process *process = &session->processes[i];
        process->running = is_running(session, process);
        if (!process->running || !process->stats.cut_short)
            continue;
        process->stats.cut_short = false;
        session->coverage.traces_cut--;
    }
}

/* Only the launcher knows how its target ended. An exec keeps the pid: the end is that of the last trace with it. */
static void find_ends(struct session *session)
{
    const struct session_info *info = &session->info;
    struct session_process *target = NULL;
    for (size_t i = 0; i < session->process_count; i++) {
        struct session_process *process = &session->processes[i];
        if (info->end != SESSION_END_UNKNOWN && process->pid >= 0 && process->pid == info->target_pid &&
            (!target || process->start_realtime_ns > target->start_realtime_ns))
            target = process;
        process->end = allocate_text(process->stats.ended ? "orderly" : process->running ? "running" : "unknown");
    }
    if (!target)
        return;
    free(target->end);
    target->end = session_info_end_text(info);
}

/* Amdahl: what is left of an operator's time at the roof of the executions that it covers, and no more. */
static void find_gain(const struct session *session, struct operator_row *op)
{
    bool known = op->of_call ? op->kernels : operator_row_has_work(op) && op->kernels && op->executions;
    op->gain_ns = known ? roof_saved_ns(session, op->device, (double)op->time_ns - op->roofline.t_roof_ns) : NAN;
}

static void conclude(struct session_merge *merge)
{
    struct session *session = merge->session;
    session->simulated |= session->info.simulate != NULL;
    for (size_t i = 0; i < session->device_count; i++) {
        session->devices[i].busy = interval_set_union(session->devices[i].intervals);
        session->devices[i].time = device_time_sum(&session->devices[i].time_sets, session->devices[i].intervals);
        copy_sums_sort(&session->devices[i].copied);
        session->devices[i].clocks =
            held_clock_of(&session->clocks, &session->devices[i].facts, session->devices[i].intervals);
        session->coverage.copies += session->devices[i].copies;
    }
    session_merge_find_grids(merge);
    graph_shares_apply(&merge->shares, session);
    for (size_t i = 0; i < session->operator_count; i++) {
        name_operator(merge, i);
        classify_operator(session, &session->operators[i]);
    }
    drop_empty_operators(session);
    find_time_coverage(session);
    find_shares(session);
    find_evidence(session);
    find_unknown_families(session);
    find_running(session);
    find_ends(session);
    if (session->operator_count)
        qsort(session->operators, session->operator_count, sizeof *session->operators, compare_operators);
    sequence_merge_finish(&merge->sequences, session);
    for (size_t i = 0; i < session->operator_count; i++)
        find_gain(session, &session->operators[i]);
    sibling_groups_find(session);
    naive_attention_find(session);
    weights_find(session);
    phases_find(session);
}

struct session *session_open_with(const char *path, const struct session_options *options, struct session_error *error)
{
    struct session *session = allocate(1, sizeof *session);
    struct session_merge merge = {.session = session};
    session->path = allocate_text(path);
    if (options)
        session->model = options->model;
    session->info.target_pid = session->info.started_realtime_ns = session->info.ended_realtime_ns = -1;
    bool readable = session_files_read(&merge, path, error) &&
                    session_peaks_apply(session, options ? options->peaks : NULL, error) &&
                    session_calibrations_apply(session, options ? options->calibration_file : NULL, error);
    if (readable)
        conclude(&merge);
    session_merge_free(&merge);
    if (readable)
        return session;
    session_close(session);
    return NULL;
}

struct session *session_open(const char *path, struct session_error *error)
{
    return session_open_with(path, NULL, error);
}

uint64_t session_start_realtime_ns(const struct session *session)
{
    uint64_t first = 0;
    if (session->info.started_realtime_ns > 0)
        return (uint64_t)session->info.started_realtime_ns;
    for (size_t i = 0; i < session->process_count; i++) {
        const uint64_t start = session->processes[i].start_realtime_ns;
        if (start && (!first || start < first))
            first = start;
    }
    return first;
}

bool session_is_empty(const struct session *session)
{
    for (size_t i = 0; i < session->process_count; i++)
        if (session_process_used_gpu(&session->processes[i]))
            return false;
    return true;
}

bool session_process_used_gpu(const struct session_process *process)
{
    return process->calls || process->failed_calls || process->launches || process->kernels ||
           process->in_flight_count || process->calls_begun || process->launches_begun || process->calls_missing ||
           process->launches_missing || process->records_dropped;
}

double session_overhead_ns(const struct session_process *process)
{
    const struct trace_overhead *o = &process->windows.overhead;
    if (!process->windows.overhead_known || (!o->calls && o->calls_all) || (!o->callbacks && o->callbacks_all))
        return NAN;
    const double calls = o->calls ? (double)o->calls_ns / (double)o->calls * (double)o->calls_all : 0;
    const double callbacks =
        o->callbacks ? (double)o->callbacks_ns / (double)o->callbacks * (double)o->callbacks_all : 0;
    return calls + callbacks;
}

double session_overhead_share(const struct session_process *process)
{
    const uint64_t wall_ns = process->windows.overhead.wall_ns;
    return wall_ns ? session_overhead_ns(process) / (double)wall_ns : NAN;
}

bool session_process_asks_unseen(const struct session_process *process)
{
    return process->named_kernels && !process->calls && !process->failed_calls && !process->in_flight_count &&
           !process->calls_begun && !process->calls_missing && !process->counters.calls_without_slot;
}

static void process_free(struct session_process *process)
{
    free(process->file);
    free(process->command);
    free(process->hook_level);
    free(process->rank);
    free(process->version);
    free(process->timing_text);
    free(process->blas_unreached);
    timing_windows_free(&process->windows);
    live_lengths_free(&process->lengths);
    free(process->end);
    for (size_t i = 0; i < process->in_flight_count; i++)
        free(process->in_flight[i].entry);
    free(process->in_flight);
    for (size_t i = 0; i < process->note_count; i++)
        free(process->notes[i].text);
    free(process->notes);
}

static void device_close(struct session_device *device)
{
    interval_set_close(device->intervals);
    device_time_close(&device->time_sets);
    copy_sums_free(&device->copied);
}

void session_close(struct session *session)
{
    if (!session)
        return;
    free(session->path);
    session_info_free(&session->info);
    session_peaks_free(session);
    held_clock_free(&session->clocks);
    for (size_t i = 0; i < session->device_count; i++)
        device_close(&session->devices[i]);
    for (size_t i = 0; i < session->device_count; i++)
        session_calibration_free(&session->devices[i]);
    for (size_t i = 0; i < session->process_count; i++)
        process_free(&session->processes[i]);
    for (size_t i = 0; i < session->operator_count; i++)
        operator_free(&session->operators[i]);
    for (size_t i = 0; i < session->bad_file_count; i++)
        free(session->bad_files[i].text);
    for (size_t i = 0; i < session->failure_count; i++)
        free(session->failures[i].name);
    weights_free(session);
    free(session->failures);
    free(session->devices);
    free(session->processes);
    free(session->operators);
    free(session->bad_files);
    free(session);
}
