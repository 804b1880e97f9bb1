/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever makes a process's figures less than whole has a line of its own here. */
#include "report/process_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "classify/allocate.h"
#include "classify/hidden_shapes.h"
#include "report/format.h"
#include "report/label.h"
#include "report/safe_text.h"
#include "report/text_stream.h"
#include "report/timing_text.h"

enum { TIMING_TEXT_WIDTH = 200 }; /* the reason comes last in it */

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

static void print_since(uint64_t realtime_ns, FILE *out)
{
    char when[40];
    struct tm utc;
    time_t seconds = (time_t)(realtime_ns / 1000000000);
    if (realtime_ns && gmtime_r(&seconds, &utc) && strftime(when, sizeof when, " since %FT%TZ", &utc))
        fputs(when, out);
}

static void print_notes(const struct session_process *process, FILE *out)
{
    for (size_t i = 0; i < process->note_count; i++) {
        if (!note_tells_of_loss(process->notes[i].code))
            continue;
        label_print(out, "");
        fputs("INCOMPLETE", out);
        print_since(process->notes[i].realtime_ns, out);
        fputs(": ", out);
        safe_text_print(out, process->notes[i].text, 200);
        fputc('\n', out);
    }
}

/* "6 kernels named like a GEMM or attention ran, 98.1 % of its kernel time" */
static void print_named(const struct session_process *process, FILE *out)
{
    char count[FORMAT_BYTES], share[FORMAT_BYTES];
    bool asks = session_process_asks_unseen(process);
    uint64_t kernels = asks ? process->named_kernels : process->shapeless_gemms;
    fprintf(out, "%s %s named like a GEMM%s ran", format_count(count, kernels),
            format_plural(kernels, "kernel", "kernels"), asks ? " or attention" : "");
    if (process->kernel_time_ns > 0)
        fprintf(out, ", GEMMs of unknown shape %s %% of its kernel time",
                format_share(share, (double)process->shapeless_gemm_time_ns / process->kernel_time_ns));
}

static void print_unreached(const struct session_process *process, FILE *out)
{
    const char *path = process->blas_unreached;
    fputs("calls past rooftap: none was seen of ", out);
    for (size_t length; *path; path += length + (path[length] == '\n')) {
        char one[512];
        length = strcspn(path, "\n");
        snprintf(one, sizeof one, "%.*s", (int)length, path);
        fputs(path == process->blas_unreached ? "" : ", ", out);
        safe_text_print(out, one, sizeof one);
    }
}

/* Kernels that only a library has, and no call of it. */
static void print_unseen(const struct session_process *process, FILE *out)
{
    enum hidden_reason reason = hidden_shapes_reason(process);
    if (reason == HIDDEN_NONE)
        return;
    label_print(out, "");
    switch (reason) {
    case HIDDEN_BUILT_IN:
        fputs("BLAS looks static: no library call was seen and no cuBLAS is loaded, though ", out);
        print_named(process, out);
        fputs(" (README, Limits; or the program brings kernels of its own)\n", out);
        break;
    case HIDDEN_BOUND_PAST:
        print_unreached(process, out);
        fputs(", though ", out);
        print_named(process, out);
        if (process->hook_level && strstr(process->hook_level, "audit"))
            fputs(": it is called by addresses that were stored before, or from another namespace (dlmopen)\n", out);
        else
            fputs(": it was opened RTLD_DEEPBIND or asked for by name unseen (`rooftap record --audit` takes both)\n",
                  out);
        break;
    default:
        fputs("cuBLAS calls were not seen, so there are no shapes, though ", out);
        print_named(process, out);
        fputs(
            ": the program gets at cuBLAS past rooftap (`rooftap record --audit` takes more), has it built in (README, "
            "Limits), or brings kernels of its own\n",
            out);
    }
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
        safe_text_print(out, process->timing_text, TIMING_TEXT_WIDTH);
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
    FILE *facts = text_stream_open(&text, &bytes);
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
        safe_text_print_middle(out, command, room);
    }
    fprintf(out, ": %s\n", facts);
    if (!known && !same_line) {
        label_print(out, "");
        safe_text_print_middle(out, command, width - LABEL_WIDTH);
        fputc('\n', out);
    }
    free(facts);
    if (process->rank) {
        label_print(out, "");
        safe_text_print(out, process->rank, width - LABEL_WIDTH);
        fputc('\n', out);
    }
    timing_text_print_process(process, out);
    print_notes(process, out);
    print_unseen(process, out);
    print_in_flight(process, out);
}

/* A server keeps the GPU in processes below the command, which then has no trace: how it ended is known all the same. */
static void print_command_without_trace(const struct session *session, FILE *out)
{
    const struct session_info *info = &session->info;
    bool used = false;
    for (size_t i = 0; i < session->process_count; i++) {
        used |= session_process_used_gpu(&session->processes[i]);
        if (session->processes[i].pid == info->target_pid)
            return;
    }
    if (!used || info->target_pid < 0)
        return;
    char *end = session_info_end_text(info);
    label_print(out, "process");
    fprintf(out, "%" PRId64 ", the command: %s, no CUDA launch\n", info->target_pid, end ? end : "end not known");
    free(end);
}

void process_text_print(const struct session *session, size_t width, FILE *out)
{
    size_t quiet = 0;
    print_command_without_trace(session, out);
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
