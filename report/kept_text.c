/* SPDX-License-Identifier: Apache-2.0 */
/* A line for what rotation wrote over, one for sums in place of records, and one for what these could not tell apart. */
#include "report/kept_text.h"

#include <inttypes.h>
#include <math.h>

#include "report/format.h"
#include "report/label.h"

static double span_ns(uint64_t from, uint64_t to)
{
    return to > from ? (double)(to - from) : NAN;
}

static void print_rotated(const struct session *session, FILE *out)
{
    const struct joined_rotation *rotated = &session->coverage.rotated;
    const uint64_t newest = session->coverage.newest_realtime_ns;
    char kept[FORMAT_BYTES], all[FORMAT_BYTES], calls[FORMAT_BYTES], launches[FORMAT_BYTES], kernels[FORMAT_BYTES];
    if (!rotated->blocks)
        return;
    label_print(out, "kept");
    fprintf(out, "about the last %s of %s are kept; %s %s, %s %s and %s %s before that were rotated out (--max-size)\n",
            format_duration(kept, span_ns(rotated->last_realtime_ns, newest)),
            format_duration(all, span_ns(rotated->first_realtime_ns, newest)), format_count(calls, rotated->calls),
            format_plural(rotated->calls, "call", "calls"), format_count(launches, rotated->launches),
            format_plural(rotated->launches, "launch", "launches"), format_count(kernels, rotated->kernels),
            format_plural(rotated->kernels, "kernel", "kernels"));
}

/* A collector that was killed has written its sums up to some seconds before. */
static void print_unfinished(const struct session *session, FILE *out)
{
    size_t unfinished = 0;
    for (size_t i = 0; i < session->process_count; i++) {
        const struct session_process *process = &session->processes[i];
        unfinished += process->sums.present && !process->sums.final && !process->running;
    }
    if (!unfinished)
        return;
    label_print(out, "");
    fprintf(out, "the sums of %zu %s end before %s: nobody was left to bring them up to date\n", unfinished,
            unfinished == 1 ? "process" : "processes", unfinished == 1 ? "it does" : "they do");
}

static void print_sums(const struct session *session, FILE *out)
{
    size_t processes = 0;
    uint64_t samples = 0, of = 0;
    char kept[FORMAT_BYTES], all[FORMAT_BYTES];
    for (size_t i = 0; i < session->process_count; i++) {
        const struct joined_sums *sums = &session->processes[i].sums;
        processes += sums->present;
        sum_add(&samples, sums->samples);
        sum_add(&of, sums->samples_of);
    }
    if (!processes)
        return;
    label_print(out, "kept");
    fprintf(out, "sums of the whole run (--aggregate) and %s of %s raw records\n", format_count(kept, samples),
            format_count(all, of));
    print_unfinished(session, out);
}

static void print_beyond(const struct session *session, FILE *out)
{
    const struct joined_beyond *beyond = &session->coverage.beyond;
    char calls[FORMAT_BYTES], kernels[FORMAT_BYTES], time[FORMAT_BYTES];
    uint64_t all_calls = beyond->calls + beyond->failed;
    if (!all_calls && !beyond->kernels && !beyond->launches)
        return;
    label_print(out, "");
    fprintf(
        out,
        "more different calls and kernels than are told apart: %s %s in no row, %s %s (%s) in the row without a name\n",
        format_count(calls, all_calls), format_plural(all_calls, "call is", "calls are"),
        format_count(kernels, beyond->kernels), format_plural(beyond->kernels, "kernel", "kernels"),
        format_duration(time, (double)beyond->time_ns));
}

void kept_text_print(const struct session *session, FILE *out)
{
    print_rotated(session, out);
    print_sums(session, out);
    print_beyond(session, out);
}
