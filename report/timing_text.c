/* SPDX-License-Identifier: Apache-2.0 */
/* What is whole is not mentioned, but how it was timed. */
#include "report/timing_text.h"

#include <inttypes.h>
#include <math.h>

#include "report/format.h"
#include "report/label.h"
#include "report/safe_text.h"

enum { MARKS_SHOWN = 6, RULE_WIDTH = 200 };

/* ---- modes and windows ---- */

static const char *mode_text(uint32_t mode)
{
    const char *name = timing_mode_name(mode);
    return name ? name : "of a newer version";
}

/* "sampled" or "node, then sampled": each mode once where it follows itself. */
static void print_modes(const struct timing_windows *windows, FILE *out)
{
    enum { SHOWN = 4 };
    size_t shown = 0;
    for (size_t i = 0; i < windows->change_count; i++) {
        const bool again = i && windows->changes[i].mode == windows->changes[i - 1].mode;
        if (again)
            continue;
        if (shown++ < SHOWN)
            fprintf(out, "%s%s", shown > 1 ? ", then " : "", mode_text(windows->changes[i].mode));
    }
    if (shown > SHOWN)
        fprintf(out, " and %zu changes more", shown - SHOWN);
}

/* Of the time since the process was first seen, in as far as that is known. */
static double wall_ns(const struct session_process *process)
{
    const struct timing_windows *windows = &process->windows;
    if (windows->overhead_known && windows->overhead.wall_ns)
        return (double)windows->overhead.wall_ns;
    if (process->start_realtime_ns && windows->closed.last_close_ns > process->start_realtime_ns)
        return (double)(windows->closed.last_close_ns - process->start_realtime_ns);
    return NAN;
}

/* By whose wish: the run's own start needs no word. */
static void print_reasons(const struct trace_sum_windows *sum, FILE *out)
{
    static const struct {
        uint32_t why;
        const char *text;
    } reasons[] = {
        {TRACE_WINDOW_OPTION, "by --delay or --duration"},
        {TRACE_WINDOW_CONTROL, "by rooftap ctl"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (sum->windows[reasons[i].why])
            fprintf(out, ", %s", reasons[i].text);
}

static void print_windows(const struct session_process *process, FILE *out)
{
    const struct timing_windows *windows = &process->windows;
    const uint64_t count = timing_windows_count(windows), open_ns = timing_windows_open_ns(windows);
    const double share = (double)open_ns / wall_ns(process);
    char text[FORMAT_BYTES], time[FORMAT_BYTES];
    if (!count)
        return;
    if (share > 0 && share <= 1 && (count > 1 || share < 0.9))
        fprintf(out, ", %s %% of wall time", format_share(text, share));
    fprintf(out, ", %s %s", format_count(text, count), format_plural(count, "window", "windows"));
    if (open_ns)
        fprintf(out, " of %s", format_duration(time, (double)open_ns));
    if (count > 1 && open_ns)
        fputs(" together", out);
    print_reasons(&windows->closed, out);
}

/* A window that closed before the end, and not for a budget of windows, has a reason that a reader should know. */
static void print_rule(const struct timing_windows *windows, FILE *out)
{
    const char *rule = windows->change_count ? windows->changes[windows->change_count - 1].text : NULL;
    if (!rule || !*rule)
        return;
    fputs(" (", out);
    safe_text_print(out, rule, RULE_WIDTH);
    fputc(')', out);
}

static void print_timing(const struct session_process *process, FILE *out)
{
    const struct timing_windows *windows = &process->windows;
    if (!windows->change_count && !timing_windows_count(windows))
        return;
    label_print(out, "");
    fputs("timing: ", out);
    if (windows->change_count)
        print_modes(windows, out);
    else
        fputs("mode not known", out);
    print_windows(process, out);
    print_rule(windows, out);
    fputc('\n', out);
}

static void print_marks(const struct session_process *process, FILE *out)
{
    const struct timing_windows *windows = &process->windows;
    char time[FORMAT_BYTES];
    if (!windows->mark_count)
        return;
    label_print(out, "");
    fputs("marks:", out);
    for (size_t i = 0; i < windows->mark_count && i < MARKS_SHOWN; i++) {
        const struct timing_mark *mark = &windows->marks[i];
        fputs(i ? ", " : " ", out);
        safe_text_print(out, mark->text, 40);
        if (process->start_realtime_ns && mark->realtime_ns >= process->start_realtime_ns)
            fprintf(out, " at %s", format_duration(time, (double)(mark->realtime_ns - process->start_realtime_ns)));
    }
    const uint64_t more =
        windows->closed.marks_beyond + (windows->mark_count > MARKS_SHOWN ? windows->mark_count - MARKS_SHOWN : 0);
    if (more)
        fprintf(out, " and %" PRIu64 " more (--json)", more);
    fputc('\n', out);
}

/* ---- graphs, lengths ---- */

/* All that was launched should be timed, unless only windows of the run were. */
static bool is_whole(const struct timing_windows *windows)
{
    for (size_t i = 0; i < windows->change_count; i++)
        if (windows->changes[i].mode != TRACE_TIMING_NODE)
            return false;
    return windows->change_count && timing_windows_count(windows) <= 1 &&
           !windows->closed.windows[TRACE_WINDOW_OPTION] && !windows->closed.windows[TRACE_WINDOW_CONTROL];
}

/* By which means their nodes are known: the last word holds. */
static void print_means(const struct session_process *process, FILE *out)
{
    const char *text = NULL;
    for (size_t i = 0; i < process->note_count; i++)
        if (process->notes[i].code == TRACE_NOTE_GRAPHS)
            text = process->notes[i].text;
    if (!text || !*text)
        return;
    fputs("; ", out);
    safe_text_print(out, text, RULE_WIDTH);
}

/* More than were launched: of nodes that nothing told of. */
static void print_kernels_timed(const struct session_replays *replays, FILE *out)
{
    char timed[FORMAT_BYTES], kernels[FORMAT_BYTES], more[FORMAT_BYTES];
    const bool beyond = replays->kernels_timed > replays->kernels_launched;
    format_count(timed, replays->kernels_timed);
    if (beyond)
        fprintf(out, "; %s of their kernels timed one by one, %s of them of nodes not known when they were made", timed,
                format_count(more, replays->kernels_timed - replays->kernels_launched));
    else
        fprintf(out, "; %s of their %s kernels timed one by one", timed,
                format_count(kernels, replays->kernels_launched));
}

static void print_graphs(const struct session_process *process, FILE *out)
{
    const struct session_replays *replays = &process->replays;
    char launches[FORMAT_BYTES], timed[FORMAT_BYTES];
    if (!replays->graphs || (!replays->launches && !replays->runs))
        return;
    label_print(out, "");
    fprintf(out, "graphs: %" PRIu64 ", launched %s times", replays->graphs, format_count(launches, replays->launches));
    if (replays->graphs_unknown)
        fprintf(out, "; nodes of %" PRIu64 " not known", replays->graphs_unknown);
    if (replays->runs)
        fprintf(out, "; %s launches timed as a whole", format_count(timed, replays->runs));
    if (replays->kernels_launched && (replays->kernels_timed || !replays->runs))
        print_kernels_timed(replays, out);
    if (is_whole(&process->windows) && replays->kernels_timed < replays->kernels_launched)
        fputs(process->rotated.blocks ? ": the others' times were rotated out" : ": NOT ALL, though each should be",
              out);
    print_means(process, out);
    fputc('\n', out);
}

static void print_lengths(const struct session_process *process, FILE *out)
{
    const struct live_lengths *lengths = &process->lengths;
    double total = 0, all = 0;
    int64_t least = INT64_MAX, most = INT64_MIN;
    char text[FORMAT_BYTES], low[FORMAT_BYTES], high[FORMAT_BYTES];
    if (!lengths->count)
        return;
    for (size_t i = 0; i < lengths->count; i++) {
        const struct trace_sum_lengths *row = &lengths->rows[i];
        least = row->least < least ? row->least : least;
        most = row->most > most ? row->most : most;
        total += row->total;
        all += (double)row->launches * row->count;
    }
    label_print(out, "");
    fprintf(out, "lengths on the device: %s to %s, mean %.1f, in %s %s\n", format_size(low, least),
            format_size(high, most), all > 0 ? total / all : NAN, format_count(text, lengths->count),
            format_plural(lengths->count, "buffer", "buffers"));
}

/* ---- overhead ---- */

static void print_each(const char *what, uint64_t sum_ns, uint64_t count, FILE *out)
{
    char time[FORMAT_BYTES];
    if (count)
        fprintf(out, "%s a %s, ", format_duration(time, (double)sum_ns / (double)count), what);
}

static void print_level(uint64_t level, FILE *out)
{
    static const char *const texts[] = {
        NULL,
        "timing was sampled to stay within the budget",
        "timing was ended to stay within the budget",
        "timing and parameters were ended to stay within the budget",
    };
    if (level)
        fprintf(out, "; %s", level < sizeof texts / sizeof texts[0] ? texts[level] : "something was given up for it");
}

static const char *dropped_text(const struct session_process *process)
{
    if (process->records_dropped || process->counters.buffers_lost)
        return "some records dropped";
    return process->drops_untold ? "not known whether records were dropped" : "no records dropped";
}

static void print_overhead(const struct session_process *process, FILE *out)
{
    const struct timing_windows *windows = &process->windows;
    const struct trace_overhead *o = &windows->overhead;
    char text[FORMAT_BYTES], bytes[FORMAT_BYTES];
    if (!windows->overhead_known && !windows->change_count)
        return; /* of a version that could not measure it */
    label_print(out, "");
    if (!windows->overhead_known) {
        fputs("overhead: not measured\n", out);
        return;
    }
    fputs("overhead: ", out);
    print_each("call or launch", o->calls_ns, o->calls, out);
    print_each("callback", o->callbacks_ns, o->callbacks, out);
    const double share = session_overhead_share(process);
    if (isnan(share))
        fputs("share of wall time not known", out);
    else
        fprintf(out, "%s %% of wall time", format_gain(text, share));
    fprintf(out, "; %s %s (%s), %s", format_count(text, o->buffers), format_plural(o->buffers, "buffer", "buffers"),
            format_bytes(bytes, (double)o->buffer_bytes), dropped_text(process));
    print_level(o->level, out);
    fputc('\n', out);
}

void timing_text_print_process(const struct session_process *process, FILE *out)
{
    print_timing(process, out);
    print_marks(process, out);
    print_graphs(process, out);
    print_lengths(process, out);
    print_overhead(process, out);
}

/* ---- of all together ---- */

void timing_text_print_unknown_graphs(const struct session *session, FILE *out)
{
    const struct session_coverage *c = &session->coverage;
    char share[FORMAT_BYTES];
    if (c->gpu_time_ns > 0 && c->graph_unknown_ns > 0)
        fprintf(out, "graph replay: %s %% of time, shapes unknown\n",
                format_share(share, c->graph_unknown_ns / c->gpu_time_ns));
}

static bool any_sampled(const struct session *session)
{
    for (size_t i = 0; i < session->process_count; i++)
        if (timing_windows_any_sampled(&session->processes[i].windows))
            return true;
    return false;
}

/* Some were timed in a window that is not the whole run, without being a sample of it, or by events, which leave out graphs and
 * what they are too few for. */
static bool any_part(const struct session *session)
{
    for (size_t i = 0; i < session->process_count; i++) {
        const struct trace_sum_windows *sum = &session->processes[i].windows.closed;
        const uint32_t why = session->processes[i].windows.closed.last_why;
        const struct timing_windows *windows = &session->processes[i].windows;
        for (size_t j = 0; j < windows->change_count; j++)
            if (windows->changes[j].mode == TRACE_TIMING_EVENTS)
                return true;
        if (sum->windows[TRACE_WINDOW_OPTION] || sum->windows[TRACE_WINDOW_CONTROL] || why == TRACE_WINDOW_OPTION ||
            why == TRACE_WINDOW_CONTROL || why == TRACE_WINDOW_BOUND || why == TRACE_WINDOW_OVERHEAD ||
            why == TRACE_WINDOW_PROFILER)
            return true;
    }
    return false;
}

static void print_sampled(const struct session_coverage *c, FILE *out)
{
    const struct time_evidence *all = &c->evidence;
    char timed[FORMAT_BYTES], of[FORMAT_BYTES], low[FORMAT_BYTES], high[FORMAT_BYTES];
    label_print(out, "sampled");
    fprintf(out, "an estimate from %s timed executions", format_count(timed, all->executions));
    if (!all->all_unknown)
        fprintf(out, " of %s", format_count(of, all->executions_all));
    if (isnan(all->low_ns))
        fputs("; how far off is not known, with fewer than two windows", out);
    else
        fprintf(out, "; %s to %s with 95 %% confidence", format_duration(low, all->low_ns),
                format_duration(high, all->high_ns));
    if (c->executions_without_time)
        fprintf(out, "; %s %s no time in it", format_count(of, c->executions_without_time),
                format_plural(c->executions_without_time, "execution has", "executions have"));
    fputc('\n', out);
}

static void print_timed(const struct session_coverage *c, FILE *out)
{
    const struct time_evidence *all = &c->evidence;
    char timed[FORMAT_BYTES], of[FORMAT_BYTES];
    label_print(out, "timed");
    fprintf(out, "%s of %s executions: times are of those alone, and are not taken for more\n",
            format_count(timed, all->executions),
            all->all_unknown ? "an unknown number of" : format_count(of, all->executions_all));
}

static void print_shared(const struct session_coverage *c, FILE *out)
{
    char shared[FORMAT_BYTES], rest[FORMAT_BYTES];
    if (!(c->graph_shared_ns > 0) && !(c->graph_rest_ns > 0))
        return;
    label_print(out, "graphs");
    fprintf(out, "whole-graph time, shared out by the roof model: %s; %s is not shared out\n",
            format_duration(shared, c->graph_shared_ns), format_duration(rest, c->graph_rest_ns));
}

void timing_text_print_evidence(const struct session *session, FILE *out)
{
    const struct session_coverage *c = &session->coverage;
    if (isnan(c->gpu_time_ns))
        return;
    if (c->evidence.estimated || any_sampled(session))
        print_sampled(c, out);
    else if (any_part(session) && (c->executions_without_time || c->evidence.all_unknown))
        print_timed(c, out);
    print_shared(c, out);
}

const char *timing_text_mark(const struct operator_row *op)
{
    if (op->evidence.shared_ns > 0 && !op->graph)
        return op->evidence.estimated ? "~^" : "^";
    return op->evidence.estimated ? "~" : "";
}
