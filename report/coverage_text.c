/* SPDX-License-Identifier: Apache-2.0 */
/* Each line is about one kind of thing that the figures below it cover or don't; what is complete is not mentioned. */
#include "report/coverage_text.h"

#include <inttypes.h>
#include <math.h>

#include "report/format.h"
#include "report/label.h"
#include "report/launch_text.h"
#include "report/safe_text.h"

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
    const char *one, *many, *what;
};

static bool any_running(const struct session *session)
{
    for (size_t i = 0; i < session->process_count; i++)
        if (session->processes[i].running)
            return true;
    return false;
}

static void print_losses(const struct session *session, FILE *out)
{
    const struct session_coverage *c = &session->coverage;
    const struct loss losses[] = {
        {c->failed_calls, "call", "calls", "failed"},
        {c->failed_launches, "launch", "launches", "failed"},
        {c->in_flight, "call", "calls", any_running(session) ? "in flight" : "in flight at the end"},
        {c->kernels_known ? c->kernels_untimed : 0, "kernel", "kernels", "untimed"},
        {c->copies_invalid, "copy", "copies", "untimed"},
        {c->kernels_unjoined, "kernel", "kernels", "whose launch was not seen"},
        {c->records_dropped, "record", "records", "dropped"},
        {c->buffers_lost, "activity buffer", "activity buffers", "lost"},
        {c->blocks_damaged, "block", "blocks", "damaged"},
        {c->records_damaged, "record", "records", "damaged"},
        {c->records_unknown, "record", "records", "of unknown type"},
        {c->records_foreign, "activity record", "activity records", "of other profilers"},
    };
    char text[FORMAT_BYTES];
    bool any = false;
    for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++) {
        if (!losses[i].count)
            continue;
        if (!any)
            label_print(out, "");
        fprintf(out, "%s%s %s %s", any ? ", " : "", format_count(text, losses[i].count),
                format_plural(losses[i].count, losses[i].one, losses[i].many), losses[i].what);
        any = true;
    }
    if (any)
        fputc('\n', out);
}

/* CUPTI was asked and didn't say: what is shown above, if anything, is the least. */
static void print_untold_drops(const struct session_coverage *c, FILE *out)
{
    if (!c->drops_untold)
        return;
    label_print(out, "");
    fprintf(out, "records dropped by CUPTI: unknown (it did not say); counts and times are lower bounds\n");
}

/* Calls that threads counted as recorded: a trace that was cut lost their blocks. */
static void print_missing(const struct session_coverage *c, FILE *out)
{
    char calls[FORMAT_BYTES], launches[FORMAT_BYTES];
    if (!c->calls_missing && !c->launches_missing)
        return;
    label_print(out, "");
    fprintf(out, "besides, %s %s and %s %s were recorded whose blocks are missing from the trace\n",
            format_count(calls, c->calls_missing), format_plural(c->calls_missing, "call", "calls"),
            format_count(launches, c->launches_missing), format_plural(c->launches_missing, "launch", "launches"));
}

/* Which processes the time does not cover, where it covers others. */
static void print_untimed(const struct session *session, FILE *out)
{
    enum { NAMED = 16 };
    const struct session_coverage *c = &session->coverage;
    size_t named = 0;
    if (!c->processes_timed || !c->processes_untimed)
        return;
    label_print(out, "");
    fprintf(out, "GPU time is that of %zu of %zu processes. Without times:", c->processes_timed,
            c->processes_timed + c->processes_untimed);
    for (size_t i = 0; i < session->process_count && named < NAMED; i++) {
        const struct session_process *process = &session->processes[i];
        if (process->timed || !session_process_used_gpu(process))
            continue;
        fputs(named++ ? ", " : " ", out);
        if (process->pid >= 0)
            fprintf(out, "%" PRId64, process->pid);
        else
            safe_text_print(out, process->file, 60);
    }
    if (named < c->processes_untimed)
        fprintf(out, " and %zu more", c->processes_untimed - named);
    fputs("; each of their calls and launches counts as an untimed kernel\n", out);
}

static void print_graphs(const struct session_coverage *c, FILE *out)
{
    char kernels[FORMAT_BYTES], time[FORMAT_BYTES], share[FORMAT_BYTES];
    if (!c->graph_kernels_unjoined)
        return;
    label_print(out, "");
    fprintf(out, "%s (%s %% of GPU time) in %s %s of graph replays, which no call owns: rows by kernel name\n",
            format_duration(time, (double)c->graph_time_unjoined_ns),
            format_share(share, c->gpu_time_ns > 0 ? (double)c->graph_time_unjoined_ns / c->gpu_time_ns : NAN),
            format_count(kernels, c->graph_kernels_unjoined),
            format_plural(c->graph_kernels_unjoined, "kernel", "kernels"));
}

static void print_counts(const struct session_coverage *c, FILE *out)
{
    char calls[FORMAT_BYTES], launches[FORMAT_BYTES], kernels[FORMAT_BYTES];
    label_print(out, "coverage");
    fprintf(out, "%s library %s, %s kernel %s besides", format_count(calls, c->calls),
            format_plural(c->calls, "call", "calls"), format_count(launches, c->launches),
            format_plural(c->launches, "launch", "launches"));
    if (c->kernels_known)
        fprintf(out, ", %s %s timed", format_count(kernels, c->kernels),
                format_plural(c->kernels, "kernel", "kernels"));
    fputs(!isnan(c->gpu_time_ns) ? "\n"
          : c->kernels_known     ? "; GPU time is not known\n"
                                 : "; GPU time is not known: the traces hold no kernel times\n",
          out);
}

void coverage_text_print(const struct session *session, FILE *out)
{
    const struct session_coverage *c = &session->coverage;
    print_counts(c, out);
    print_missing(c, out);
    print_untimed(session, out);
    label_print(out, "");
    print_shares(out, "shapes of GEMM and attention launches", c->launch_share);
    if (c->gpu_time_ns > 0 && !session->simulated) {
        label_print(out, "");
        print_shares(out, "shapes by GPU time", c->gpu_time_share);
    }
    launch_text_print_coverage(session, out);
    print_graphs(c, out);
    print_losses(session, out);
    print_untold_drops(&session->coverage, out);
}
