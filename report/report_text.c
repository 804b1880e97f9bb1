/* SPDX-License-Identifier: Apache-2.0 */
/* From what a reader must know first to the details: simulated or not, GPUs and their roofs, processes, coverage, the
 * operator table, and what the most expensive memory-bound GEMMs would need. */
#include "report/report_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "report/format.h"
#include "report/operator_table.h"
#include "report/safe_text.h"

enum { LABEL = 10, ADVICE_ROWS = 5 };

static void print_label(FILE *out, const char *label)
{
    fprintf(out, "%-*s", LABEL, label);
}

/* Prints a stranger's text, of at most WIDTH columns. */
static void print_safe(FILE *out, const char *text, size_t width)
{
    char *safe = safe_text_terminal(text ? text : "(not known)");
    safe_text_cut(safe, width);
    fputs(safe, out);
    free(safe);
}

/* ---- the header ---- */

static void print_session(const struct session *session, FILE *out)
{
    if (session->simulated)
        fputs("SIMULATED GPU: every time below is the simulator's arithmetic, not a measurement.\n", out);
    if (session->info.command) {
        print_label(out, "command");
        print_safe(out, session->info.command, 100);
        fputc('\n', out);
    }
    if (session->info.problem) {
        print_label(out, "note");
        print_safe(out, session->info.problem, 200);
        fputc('\n', out);
    }
    for (size_t i = 0; i < session->bad_file_count; i++) {
        print_label(out, "note");
        print_safe(out, session->bad_files[i].text, 400);
        fputc('\n', out);
    }
}

static bool path_in_use(const struct session *session, int device, enum gpu_path path)
{
    for (size_t i = 0; i < session->operator_count; i++)
        if (session->operators[i].device == device && session->operators[i].of_call &&
            session->operators[i].work.path == path)
            return true;
    return false;
}

static void print_roof(const struct session_device *device, enum gpu_path path, FILE *out)
{
    char peak[FORMAT_BYTES], ridge[FORMAT_BYTES];
    double flops = device_roofs_flops_per_second(&device->roofs, path);
    double bytes = device_roofs_bytes_per_second(&device->roofs);
    print_label(out, "");
    fprintf(out, "roof %s", number_type_name(gpu_paths[path].type));
    if (gpu_paths[path].accumulate != gpu_paths[path].type)
        fprintf(out, " (%s accumulate)", number_type_name(gpu_paths[path].accumulate));
    if (isnan(flops))
        fputs(": no figure for this GPU, so no ridge\n", out);
    else
        fprintf(out, ": %s TFLOP/s, ridge %s FLOP/B\n", format_tera(peak, flops),
                format_intensity(ridge, flops / bytes));
}

static void print_roofs(const struct session *session, int index, FILE *out)
{
    const struct session_device *device = &session->devices[index];
    const struct gpu_spec *spec = device->roofs.spec;
    if (!spec) {
        print_label(out, "");
        fputs("no row in the GPU table for this device: no roof, no ridge, every class unknown (see `rooftap gpus`)\n",
              out);
        return;
    }
    for (int path = 0; path < GPU_PATH_COUNT; path++)
        if (path_in_use(session, index, path))
            print_roof(device, path, out);
    print_label(out, "");
    fprintf(out, "roofs from %s (%s)", spec->source, spec->confidence);
    if (device->roofs.compute_scale < 1)
        fprintf(out, "; peaks scaled to %d of %d SMs", device->facts.sm_count, spec->sm_count);
    if (device->roofs.memory_scale < 1)
        fprintf(out, "; bandwidth scaled to %g of it", device->roofs.memory_scale);
    fputc('\n', out);
}

static void print_busy(const struct session_device *device, FILE *out)
{
    const struct interval_union *busy = &device->busy;
    char covered[FORMAT_BYTES], share[FORMAT_BYTES], idle[FORMAT_BYTES], whole[FORMAT_BYTES], copies[FORMAT_BYTES];
    print_label(out, "");
    if (!busy->known) {
        fputs("busy and idle time not known: nothing was timed\n", out);
        return;
    }
    double span = (double)(busy->last_ns - busy->first_ns);
    fprintf(out, "busy %s (%s %%), idle %s, of %s from first start to last end; copies %s\n",
            format_duration(covered, (double)busy->covered_ns),
            format_share(share, span > 0 ? (double)busy->covered_ns / span : NAN),
            format_duration(idle, span - (double)busy->covered_ns), format_duration(whole, span),
            format_duration(copies, (double)device->copy_ns));
}

static void print_device(const struct session *session, int index, FILE *out)
{
    const struct session_device *device = &session->devices[index];
    char label[32], bandwidth[FORMAT_BYTES];
    snprintf(label, sizeof label, "GPU %d", index);
    print_label(out, label);
    if (!device->described) {
        fprintf(out, "device %u of its process, which the trace does not describe\n", device->facts.ordinal);
    } else {
        print_safe(out, device->facts.name, 80);
        if (device->facts.sm_count > 0)
            fprintf(out, ", %d SMs", device->facts.sm_count);
        if (device->roofs.spec)
            fprintf(out, ", %s GB/s", format_giga(bandwidth, device_roofs_bytes_per_second(&device->roofs)));
        if (device->facts.pci_device_id)
            fprintf(out, ", PCI id %04x", device->facts.pci_device_id);
        if (device->facts.mig == 1)
            fputs(", MIG instance", out);
        fputc('\n', out);
    }
    print_roofs(session, index, out);
    print_busy(device, out);
}

/* ---- processes ---- */

static bool worth_a_line(const struct session_process *process)
{
    return process->calls || process->failed_calls || process->launches || process->kernels || process->in_flight_count;
}

static void print_in_flight(const struct session_process *process, FILE *out)
{
    for (size_t i = 0; i < process->in_flight_count; i++) {
        const struct session_in_flight *call = &process->in_flight[i];
        print_label(out, "");
        fprintf(out, "in flight in thread %" PRIu32 ": ", call->tid);
        print_safe(out, call->entry, 60);
        fprintf(out, " (m %" PRId64 ", n %" PRId64 ", k %" PRId64 ", batch %" PRId64 ")\n", call->argument[0],
                call->argument[1], call->argument[2], call->argument[3]);
    }
}

static void print_notes(const struct session_process *process, FILE *out)
{
    for (size_t i = 0; i < process->note_count; i++) {
        if (!note_tells_of_loss(process->notes[i].code))
            continue;
        print_label(out, "");
        fputs("INCOMPLETE: ", out);
        print_safe(out, process->notes[i].text, 200);
        fputc('\n', out);
    }
}

static void print_process(const struct session_process *process, FILE *out)
{
    print_label(out, "process");
    if (process->pid >= 0)
        fprintf(out, "%" PRId64 " ", process->pid);
    print_safe(out, process->command, 60);
    fprintf(out, ": %s, ", process->end);
    if (process->timing == SESSION_TIMING_ON)
        fputs("timed", out);
    else if (process->timing == SESSION_TIMING_OFF)
        fputs("NOT TIMED, shapes only", out);
    else
        fputs(process->kernels ? "timed" : "timing not known", out);
    if (process->timing == SESSION_TIMING_OFF && process->timing_text && *process->timing_text) {
        fputs(": ", out);
        print_safe(out, process->timing_text, 80);
    }
    if (process->timing_cut)
        fputs("; CUPTI did not answer at exit: the last kernels may be missing", out);
    if (process->stats.cut_short)
        fputs("; trace cut short: everything committed was read", out);
    fputc('\n', out);
    print_notes(process, out);
    print_in_flight(process, out);
}

static void print_processes(const struct session *session, FILE *out)
{
    size_t quiet = 0;
    for (size_t i = 0; i < session->process_count; i++) {
        if (worth_a_line(&session->processes[i]))
            print_process(&session->processes[i], out);
        else
            quiet++;
    }
    if (quiet) {
        print_label(out, "process");
        fprintf(out, "%zu more without a CUDA launch\n", quiet);
    }
}

/* ---- coverage ---- */

static void print_shares(FILE *out, const char *what, const double share[SESSION_PROVENANCE_COUNT])
{
    char text[FORMAT_BYTES];
    bool first = true;
    fprintf(out, "%s: ", what);
    for (int p = TRACE_EXACT; p < SESSION_PROVENANCE_COUNT; p++) {
        if (!(share[p] > 0))
            continue;
        fprintf(out, "%s%s %% %s", first ? "" : ", ", format_share(text, share[p]), provenance_name(p));
        first = false;
    }
    fputs(first ? "none\n" : "\n", out);
}

struct loss {
    uint64_t count;
    const char *what;
};

static void print_losses(const struct session_coverage *c, FILE *out)
{
    const struct loss losses[] = {
        {c->failed_calls, "calls failed"},
        {c->in_flight, "calls in flight at the end"},
        {c->kernels_untimed, "kernels untimed"},
        {c->kernels_unjoined, "kernels joined to no call"},
        {c->records_dropped, "records dropped"},
        {c->buffers_lost, "activity buffers lost"},
        {c->blocks_damaged, "blocks damaged"},
        {c->records_damaged, "records damaged"},
        {c->records_unknown, "records of unknown type"},
    };
    char text[FORMAT_BYTES];
    bool any = false;
    for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++) {
        if (!losses[i].count)
            continue;
        if (!any)
            print_label(out, "");
        fprintf(out, "%s%s %s", any ? ", " : "", format_count(text, losses[i].count), losses[i].what);
        any = true;
    }
    if (any)
        fputc('\n', out);
}

static void print_coverage(const struct session *session, FILE *out)
{
    const struct session_coverage *c = &session->coverage;
    char calls[FORMAT_BYTES], launches[FORMAT_BYTES], kernels[FORMAT_BYTES], time[FORMAT_BYTES];
    print_label(out, "coverage");
    fprintf(out, "%s library calls, %s launches, %s kernels timed, %s of GPU time\n", format_count(calls, c->calls),
            format_count(launches, c->launches), format_count(kernels, c->kernels),
            format_duration(time, c->gpu_time_ns));
    print_label(out, "");
    print_shares(out, "shapes of GEMM and attention launches", c->launch_share);
    if (c->gpu_time_ns > 0 && !session->simulated) {
        print_label(out, "");
        print_shares(out, "shapes by GPU time", c->gpu_time_share);
    }
    print_losses(c, out);
}

static void print_failures(const struct session *session, FILE *out)
{
    char text[FORMAT_BYTES];
    for (size_t i = 0; i < session->failure_count; i++) {
        const struct session_failure *failure = &session->failures[i];
        print_label(out, i ? "" : "failed");
        fprintf(out, "%s of ", format_count(text, failure->calls));
        print_safe(out, failure->name, 60);
        fprintf(out, ", status %" PRId32 "\n", failure->status);
    }
}

/* ---- advice ---- */

static void print_shape(const struct operator_row *op, FILE *out)
{
    fprintf(out, "  M %" PRId64 "  N %" PRId64 "  K %" PRId64 ": ", op->work.m, op->work.n, op->work.k);
}

/* The dimension whose term of 1/M + 1/N + 1/K is largest. */
static char short_side(const struct work *work)
{
    if (work->m <= work->n && work->m <= work->k)
        return 'M';
    return work->n <= work->k ? 'N' : 'K';
}

static void print_advice_of(const struct session *session, const struct operator_row *op, FILE *out)
{
    char rows[FORMAT_BYTES], more[FORMAT_BYTES];
    print_shape(op, out);
    if (isinf(op->rows_at_ridge))
        fprintf(out, "no M makes it compute-bound, %c is too small for that", op->work.n <= op->work.k ? 'N' : 'K');
    else
        fprintf(out, "%c is the short side; compute-bound from M = %s on, %s more rows", short_side(&op->work),
                format_rows(rows, op->rows_at_ridge), format_rows(more, ceil(op->rows_at_ridge) - (double)op->work.m));
    if (op->roofline.flags & ROOFLINE_STARVED)
        fprintf(out, "; starved: %" PRIu64 " blocks on %d SMs", op->widest_blocks,
                session->devices[op->device].facts.sm_count);
    fputc('\n', out);
}

static bool has_advice(const struct operator_row *op)
{
    return op->kind == OPERATOR_GEMM && op->of_call && op->work.weight != WORK_WEIGHT_NONE &&
           op->roofline.bound == BOUND_MEMORY && !isnan(op->rows_at_ridge);
}

static void print_advice(const struct session *session, FILE *out)
{
    size_t printed = 0, left = 0;
    for (size_t i = 0; i < session->operator_count; i++) {
        const struct operator_row *op = &session->operators[i];
        if (!has_advice(op))
            continue;
        if (printed == ADVICE_ROWS) {
            left++;
            continue;
        }
        if (!printed++)
            fputs("\nmemory-bound GEMMs, by time:\n", out);
        print_advice_of(session, op, out);
    }
    if (left)
        fprintf(out, "  (%zu more; `--json` has m_star for each)\n", left);
}

bool report_text(const struct session *session, size_t rows, FILE *out)
{
    print_session(session, out);
    for (size_t i = 0; i < session->device_count; i++)
        print_device(session, (int)i, out);
    if (!session->device_count) {
        print_label(out, "GPU");
        fputs("none described by the traces: no roof, no ridge, every class unknown\n", out);
    }
    print_processes(session, out);
    print_coverage(session, out);
    print_failures(session, out);
    if (session->operator_count) {
        fputc('\n', out);
        operator_table_print(session, rows, out);
    }
    print_advice(session, out);
    return !fflush(out) && !ferror(out);
}
