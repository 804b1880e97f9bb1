/* SPDX-License-Identifier: Apache-2.0 */
/* From what a reader must know first to the details: simulated or not, GPUs and their roofs, processes, coverage, where the
 * time went, the operator table, and what to make of it. */
#include "report/report_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "report/advice.h"
#include "report/columns.h"
#include "report/coverage_text.h"
#include "report/format.h"
#include "report/label.h"
#include "report/lookalikes.h"
#include "report/operator_table.h"
#include "report/safe_text.h"
#include "report/status_name.h"
#include "report/wrapped_text.h"

/* A command's end tells as much as its beginning; so does a path's. */
static void print_command(FILE *out, const char *command, size_t width)
{
    char *safe = safe_text_terminal(command);
    safe_text_cut_middle(safe, width);
    fputs(safe, out);
    free(safe);
}

/* ---- the header ---- */

static void print_session(const struct session *session, size_t width, FILE *out)
{
    if (session->simulated)
        fputs("SIMULATED GPU: kernel times are the simulator's arithmetic, idle time is this host's; no GPU was "
              "measured.\n",
              out);
    label_print(out, "session");
    print_command(out, session->path, width - LABEL_WIDTH);
    fputc('\n', out);
    if (session->info.command) {
        label_print(out, "command");
        print_command(out, session->info.command, width - LABEL_WIDTH);
        fputc('\n', out);
    }
    if (session->info.problem) {
        label_print(out, "note");
        safe_text_print(out, session->info.problem, 200);
        fputc('\n', out);
    }
    for (size_t i = 0; i < session->bad_file_count; i++) {
        label_print(out, "note");
        safe_text_print(out, session->bad_files[i].text, 400);
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
    label_print(out, "");
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
        label_print(out, "");
        fputs("no row in the GPU table for this device: no roof, no ridge, every class unknown (see `rooftap gpus`)\n",
              out);
        return;
    }
    for (int path = 0; path < GPU_PATH_COUNT; path++)
        if (path_in_use(session, index, path))
            print_roof(device, path, out);
    label_print(out, "");
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
    label_print(out, "");
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
    label_print(out, label);
    if (!device->described) {
        fprintf(out, "device %u of its process, which the trace does not describe\n", device->facts.ordinal);
    } else {
        safe_text_print(out, device->facts.name, 80);
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

static void print_in_flight(const struct session_process *process, FILE *out)
{
    for (size_t i = 0; i < process->in_flight_count; i++) {
        const struct session_in_flight *call = &process->in_flight[i];
        label_print(out, "");
        fprintf(out, "in flight in thread %" PRIu32 ": ", call->tid);
        safe_text_print(out, call->entry, 60);
        fprintf(out, " (m %" PRId64 ", n %" PRId64 ", k %" PRId64 ", batch %" PRId64 ")\n", call->argument[0],
                call->argument[1], call->argument[2], call->argument[3]);
    }
}

static void print_notes(const struct session_process *process, FILE *out)
{
    for (size_t i = 0; i < process->note_count; i++) {
        if (!note_tells_of_loss(process->notes[i].code))
            continue;
        label_print(out, "");
        fputs("INCOMPLETE: ", out);
        safe_text_print(out, process->notes[i].text, 200);
        fputc('\n', out);
    }
}

/* Kernels that only a library has, and no call of it. */
static void print_unseen(const struct session_process *process, FILE *out)
{
    char count[FORMAT_BYTES];
    if (!session_process_asks_unseen(process))
        return;
    label_print(out, "");
    fprintf(out,
            "cuBLAS calls were not seen, so there are no shapes, though %s %s named like a GEMM or attention ran: the "
            "program looks cuBLAS up by dlsym or has it built in (README, Limits), or brings kernels of its own\n",
            format_count(count, process->named_kernels), format_plural(process->named_kernels, "kernel", "kernels"));
}

static void print_timing(const struct session_process *process, FILE *out)
{
    if (process->timing == SESSION_TIMING_ON)
        fputs("timed", out);
    else if (process->timing == SESSION_TIMING_OFF)
        fputs("NOT TIMED, shapes only", out);
    else
        fputs(process->kernels ? "timed" : "timing not known", out);
    if (process->timing == SESSION_TIMING_OFF && process->timing_text && *process->timing_text) {
        fputs(": ", out);
        safe_text_print(out, process->timing_text, 80);
    }
    if (process->timing_cut)
        fputs("; CUPTI did not answer at exit: the last kernels may be missing", out);
    if (process->stats.cut_short)
        fputs("; trace cut short: everything committed was read", out);
    if (process->running)
        fputs("; the figures are those up to now", out);
}

static const char *end_text(const struct session_process *process)
{
    if (!strcmp(process->end, "orderly"))
        return "ended orderly";
    if (process->running)
        return "still running";
    return strcmp(process->end, "unknown") ? process->end : "end not known";
}

/* "exit 0, timed": the caller frees. */
static char *process_facts(const struct session_process *process)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *facts = open_memstream(&text, &bytes);
    if (!facts)
        return allocate_text(end_text(process));
    fprintf(facts, "%s, ", end_text(process));
    print_timing(process, facts);
    fclose(facts);
    return text;
}

/* Its command on the same line if half of it has room there, and only if that isn't the one above. */
static void print_process(const struct session *session, const struct session_process *process, size_t width, FILE *out)
{
    const char *command = process->command ? process->command : "(command not known)";
    bool known = session->info.command && !strcmp(command, session->info.command);
    char *facts = process_facts(process), pid[32] = "";
    if (process->pid >= 0)
        snprintf(pid, sizeof pid, "%" PRId64, process->pid);
    size_t taken = LABEL_WIDTH + strlen(pid) + strlen(" : ") + safe_text_width(facts);
    size_t room = width > taken ? width - taken : 0;
    bool same_line = !known && room >= strlen(command) / 2 && room > 20;
    label_print(out, "process");
    fputs(pid, out);
    if (same_line) {
        fputc(' ', out);
        print_command(out, command, room);
    }
    fprintf(out, ": %s\n", facts);
    if (!known && !same_line) {
        label_print(out, "");
        print_command(out, command, width - LABEL_WIDTH);
        fputc('\n', out);
    }
    free(facts);
    print_notes(process, out);
    print_unseen(process, out);
    print_in_flight(process, out);
}

static void print_processes(const struct session *session, size_t width, FILE *out)
{
    size_t quiet = 0;
    for (size_t i = 0; i < session->process_count; i++) {
        if (session_process_used_gpu(&session->processes[i]))
            print_process(session, &session->processes[i], width, out);
        else
            quiet++;
    }
    if (quiet) {
        label_print(out, "process");
        fprintf(out, "%zu more without a CUDA launch\n", quiet);
    }
}

/* ---- the time, by class ---- */

struct part {
    const char *text;
    double share;
};

/* Prints those that are not 0, largest first. */
static void print_parts(FILE *out, struct part *parts, size_t count)
{
    char text[FORMAT_BYTES];
    const char *comma = "";
    for (size_t printed = 0; printed < count; printed++) {
        size_t largest = 0;
        for (size_t i = 1; i < count; i++)
            if (parts[i].share > parts[largest].share)
                largest = i;
        if (!(parts[largest].share > 0))
            break;
        fprintf(out, "%s%s %% %s", comma, format_share(text, parts[largest].share), parts[largest].text);
        parts[largest].share = 0;
        comma = ", ";
    }
}

static void add_share(struct part *unknown, struct part *known, const struct operator_row *op)
{
    if (!op->timed || !op->kernels || isnan(op->share))
        return;
    if (op->roofline.bound == BOUND_UNKNOWN)
        unknown[op->kind].share += op->share;
    else
        known[op->roofline.bound].share += op->share;
}

/* Where the time went, on one line. A kernel without a shape has no class, and that share is said too. */
static void print_classes(const struct session *session, FILE *out)
{
    struct part known[] = {[BOUND_MEMORY] = {"memory-bound", 0},
                           [BOUND_COMPUTE] = {"compute-bound", 0},
                           [BOUND_OVERHEAD] = {"overhead", 0},
                           [BOUND_UNKNOWN] = {"", 0}};
    struct part unknown[] = {[OPERATOR_GEMM] = {"GEMM of unknown class", 0},
                             [OPERATOR_GEMV] = {"GEMV of unknown class", 0},
                             [OPERATOR_LEVEL3] = {"level 3 of unknown class", 0},
                             [OPERATOR_ATTENTION] = {"attention of unknown shape", 0},
                             [OPERATOR_OTHER] = {"other kernels (no work model)", 0}};
    struct part all[sizeof known / sizeof known[0] + sizeof unknown / sizeof unknown[0]];
    char time[FORMAT_BYTES];
    if (!(session->coverage.gpu_time_ns > 0))
        return;
    for (size_t i = 0; i < session->operator_count; i++)
        add_share(unknown, known, &session->operators[i]);
    memcpy(all, known, sizeof known);
    memcpy(all + sizeof known / sizeof known[0], unknown, sizeof unknown);
    label_print(out, "GPU time");
    fprintf(out, "%s in kernels: ", format_duration(time, session->coverage.gpu_time_ns));
    print_parts(out, all, sizeof all / sizeof all[0]);
    fputc('\n', out);
}

static void print_status(int32_t status, FILE *out)
{
    const char *name = status_name(status);
    if (name)
        fprintf(out, ", %s (%" PRId32 ")", name, status);
    else
        fprintf(out, ", status %" PRId32, status);
}

/* A call that failed may have failed for its shape. */
static void print_asked(const struct session_failure *failure, FILE *out)
{
    const struct work *work = &failure->first.work;
    char m[FORMAT_BYTES], n[FORMAT_BYTES], k[FORMAT_BYTES], batch[FORMAT_BYTES], types[COLUMN_CELL_BYTES];
    if (work->m < 0 && work->n < 0 && work->k < 0)
        return;
    columns_types(&failure->first, types);
    fprintf(out, failure->calls == 1 ? ": M %s  N %s  K %s" : ", first M %s  N %s  K %s", format_size(m, work->m),
            format_size(n, work->n), format_size(k, work->k));
    if (work->batch > 1)
        fprintf(out, "  batch %s", format_size(batch, work->batch));
    fprintf(out, "  %s", types);
}

static void print_failures(const struct session *session, FILE *out)
{
    char text[FORMAT_BYTES];
    for (size_t i = 0; i < session->failure_count; i++) {
        const struct session_failure *failure = &session->failures[i];
        label_print(out, i ? "" : "failed");
        fprintf(out, "%s of ", format_count(text, failure->calls));
        safe_text_print(out, failure->name, 60);
        print_status(failure->status, out);
        print_asked(failure, out);
        fputc('\n', out);
    }
}

/* ---- the whole ---- */

static void print_header(const struct session *session, size_t width, FILE *out)
{
    print_session(session, width, out);
    for (size_t i = 0; i < session->device_count; i++)
        print_device(session, (int)i, out);
    if (!session->device_count) {
        label_print(out, "GPU");
        fputs("none described by the traces: no roof, no ridge, every class unknown\n", out);
    }
    print_processes(session, width, out);
    coverage_text_print(session, out);
    print_failures(session, out);
    print_classes(session, out);
}

static void print_footer(const struct session *session, size_t rows, FILE *out)
{
    if (session->operator_count) {
        advice_print_meanings(session, rows, out);
        lookalikes_print(session, rows, out);
    }
    advice_print(session, out);
}

/* What PRINT prints, in lines of at most WIDTH columns. */
static bool print_wrapped(const struct session *session, size_t argument, size_t width, size_t indent, FILE *out,
                          void (*print)(const struct session *session, size_t argument, FILE *out))
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *unwrapped = open_memstream(&text, &bytes);
    if (!unwrapped)
        return false;
    print(session, argument, unwrapped);
    bool printed = !fclose(unwrapped);
    if (printed)
        wrapped_text_print(text, width, indent, out);
    free(text);
    return printed;
}

bool report_text(const struct session *session, size_t rows, size_t width, FILE *out)
{
    enum { FOOTER_INDENT = 4 };
    bool printed = print_wrapped(session, width, width, LABEL_WIDTH, out, print_header);
    if (session->operator_count) {
        fputc('\n', out);
        rows = operator_table_print(session, rows, width, out);
    }
    printed &= print_wrapped(session, rows, width, FOOTER_INDENT, out, print_footer);
    return !fflush(out) && !ferror(out) && printed;
}
