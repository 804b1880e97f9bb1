/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong is told where it happened, too (process, coverage); here is what it does to the figures. */
#include "report/caveats.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "classify/hidden_shapes.h"
#include "report/format.h"
#include "report/text_stream.h"

static bool simulated(const struct session *session, FILE *out)
{
    if (session->simulated)
        fputs("the GPU is simulated: times, shares and savings are the simulator's; shapes, counts and classes are "
              "the program's",
              out);
    return session->simulated;
}

static bool untimed(const struct session *session, FILE *out)
{
    const struct session_coverage *c = &session->coverage;
    if (!c->processes_untimed && !isnan(c->gpu_time_ns))
        return false;
    if (isnan(c->gpu_time_ns))
        fputs("nothing was timed: shares of time and savings are by the roof alone, where they are given at all", out);
    else
        fprintf(out, "%zu %s not timed: its kernels are in no share of time", c->processes_untimed,
                format_plural(c->processes_untimed, "process was", "processes were"));
    return true;
}

static bool sampled(const struct session *session, FILE *out)
{
    const struct session_coverage *c = &session->coverage;
    char text[FORMAT_BYTES], width[FORMAT_BYTES];
    if (!c->evidence.estimated)
        return false;
    fprintf(out, "times are estimates from %s timed executions", format_count(text, c->evidence.executions));
    if (isnan(c->evidence.high_ns))
        fputs("; how far off they may be is not known", out);
    else
        fprintf(out, "; their sum may be off by %s %% (95 %% confidence), single rows by more",
                format_share(width, (c->evidence.high_ns - c->gpu_time_ns) / c->gpu_time_ns));
    return true;
}

static bool graph_times(const struct session *session, FILE *out)
{
    const struct session_coverage *c = &session->coverage;
    char text[FORMAT_BYTES];
    if (!(c->gpu_time_ns > 0) || !(c->graph_shared_ns + c->graph_rest_ns > 0))
        return false;
    fprintf(
        out,
        "%s %% of GPU time was measured of whole graphs only: what of it is whose kernels' is the roof model's word",
        format_share(text, (c->graph_shared_ns + c->graph_rest_ns) / c->gpu_time_ns));
    return true;
}

static bool lost(const struct session *session, FILE *out)
{
    const struct session_coverage *c = &session->coverage;
    bool cut = false;
    for (size_t i = 0; i < session->process_count; i++)
        cut |= session->processes[i].timing_cut;
    cut |= c->records_dropped || c->records_damaged || c->blocks_damaged || c->buffers_lost || c->calls_missing ||
           c->launches_missing || c->kernels_invalid || c->drops_untold;
    if (cut)
        fputs("something of the recording is lost (see process and coverage): counts and times are too low", out);
    return cut;
}

/* An empty profile is no quiet success. */
static bool no_records(const struct session *session, FILE *out)
{
    size_t count = 0;
    uint64_t launches = 0, kernels = 0;
    for (size_t i = 0; i < session->process_count; i++) {
        const struct session_process *process = &session->processes[i];
        for (size_t j = 0; j < process->note_count; j++)
            if (process->notes[j].code == TRACE_NOTE_NO_RECORDS) {
                count++;
                launches += process->calls - process->failed_calls + process->launches;
                kernels += process->kernels;
                break;
            }
    }
    if (count)
        fprintf(out,
                "error: %" PRIu64 " device records although %" PRIu64
                " calls and launches, in %zu %s: CUPTI stopped telling "
                "(another profiler, or its session is dead); times are missing",
                kernels, launches, count, format_plural(count, "process", "processes"));
    return count;
}

/* All that was committed is there. Python's multiprocessing ends its children by _exit(). */
static bool no_end(const struct session *session, FILE *out)
{
    uint64_t traces = session->coverage.traces_cut;
    if (traces)
        fprintf(out, "%" PRIu64 " %s no end (killed, _exit(), or cut off): what the GPU did last may not be timed",
                traces, format_plural(traces, "trace has", "traces have"));
    return traces > 0;
}

static bool running(const struct session *session, FILE *out)
{
    for (size_t i = 0; i < session->process_count; i++)
        if (session->processes[i].running) {
            fputs("the program still runs: the figures are those up to now", out);
            return true;
        }
    return false;
}

static bool no_roof(const struct session *session, FILE *out)
{
    size_t count = 0;
    for (size_t i = 0; i < session->device_count; i++)
        count += !session->devices[i].roofs.spec;
    if (count)
        fprintf(out, "%zu %s no row in the GPU table: no ridge, no class, no savings", count,
                format_plural(count, "GPU has", "GPUs have"));
    return count;
}

static bool estimated(const struct session *session, FILE *out)
{
    size_t count = 0;
    for (size_t i = 0; i < session->device_count; i++)
        count += session->devices[i].roofs.spec && session->devices[i].facts.simulated != 1 &&
                 device_identity_contradicts(&session->devices[i].identity);
    if (count)
        fprintf(out, "what the driver says of %zu %s contradicts the row of the GPU table: its roofs are estimates",
                count, format_plural(count, "GPU", "GPUs"));
    return count;
}

static bool own_peaks(const struct session *session, FILE *out)
{
    for (size_t i = 0; i < session->device_count; i++)
        if (session->devices[i].peak_row) {
            fputs("roofs are those of --peak, as given", out);
            return true;
        }
    return false;
}

/* Libraries reach some 60 to 90 % of a specification; how much here, nobody has measured. */
static bool not_calibrated(const struct session *session, FILE *out)
{
    for (size_t i = 0; i < session->device_count; i++) {
        const struct session_device *device = &session->devices[i];
        bool simulated_device = session->simulated || device->facts.simulated == 1;
        if (device->roofs.spec && !simulated_device && !device->calibration) {
            fputs("no roof was measured on this GPU: the last part of 100 %ROOF may be out of anybody's reach, and "
                  "%GAIN is "
                  "against the specification (`rooftap calibrate` measures)",
                  out);
            return true;
        }
    }
    return false;
}

static bool held_clock(const struct session *session, FILE *out)
{
    enum { NOTABLE_PERCENT = 95 };
    char text[FORMAT_BYTES];
    for (size_t i = 0; i < session->device_count; i++) {
        const struct session_device *device = &session->devices[i];
        double scale = device->roofs.spec ? held_clock_scale(&device->clocks, device->roofs.spec->clock_hz) : NAN;
        if (!(100 * scale < NOTABLE_PERCENT))
            continue;
        fprintf(out, "GPU %zu held %s %% of the clock that its peaks mean: %%ROOF of compute-bound rows can't be more",
                i, format_share(text, scale));
        return true;
    }
    return false;
}

/* Of one stream, too: a launch may allow its kernel to begin before the one before it ends. */
static bool overlapped(const struct session *session, FILE *out)
{
    enum { NOTABLE_PERCENT = 105 };
    for (size_t i = 0; i < session->device_count; i++) {
        const struct session_device *device = &session->devices[i];
        uint64_t running_ns = device->time.compute_ns + device->time.communication_ns;
        if (!device->time.split_known || device->sampled || !running_ns ||
            100.0 * (double)device->kernel_ns < NOTABLE_PERCENT * (double)running_ns)
            continue;
        fprintf(
            out,
            "kernels ran beside each other on GPU %zu: their times add up to %.3g times the time in which any ran; a "
            "row's rate is what it had beside the others, not alone",
            i, (double)device->kernel_ns / (double)running_ns);
        return true;
    }
    return false;
}

/* Kernels whose work nobody knows are in no class; what is advised leaves them out. */
static bool unclassified(const struct session *session, FILE *out)
{
    double share = 0;
    char text[FORMAT_BYTES];
    for (size_t i = 0; i < session->operator_count; i++)
        if (session->operators[i].kernels && session->operators[i].roofline.bound == BOUND_UNKNOWN &&
            session->operators[i].share > 0)
            share += session->operators[i].share;
    if (!(share > 0))
        return false;
    fprintf(out, "%s %% of GPU time has no class: what bounds it isn't known, and no advice is about its shapes",
            format_share(text, share));
    return true;
}

/* Matrix multiplies of which the calls were not seen: for each such process the reason stands with it. */
static bool hidden_shapes(const struct session *session, FILE *out)
{
    struct hidden_sum sum = hidden_shapes_sum(session);
    char text[FORMAT_BYTES], kernels[FORMAT_BYTES];
    if (!sum.processes)
        return false;
    fprintf(out, "%zu %s shapes (see process): %s %s of class gemm, shape unknown", sum.processes,
            format_plural(sum.processes, "process hides its", "processes hide their"),
            format_count(kernels, sum.kernels), format_plural(sum.kernels, "kernel", "kernels"));
    if (session->coverage.gpu_time_ns > 0)
        fprintf(out, ", %s %% of GPU time", format_share(text, (double)sum.time_ns / session->coverage.gpu_time_ns));
    return true;
}

/* Names that no pattern knows. */
static bool unknown_family(const struct session *session, FILE *out)
{
    char text[FORMAT_BYTES];
    double share = session->coverage.unknown_family_share;
    if (!(share > 0))
        return false;
    fprintf(out,
            "%s %% of GPU time is in kernels whose names rooftap doesn't know: any may be attention or a GEMM "
            "(`rooftap kernels`)",
            format_share(text, share));
    return true;
}

static bool at_most(const struct session *session, FILE *out)
{
    char text[FORMAT_BYTES];
    double share = session->coverage.launch_share[TRACE_AT_MOST];
    if (!(share > 0))
        return false;
    fprintf(out,
            "of %s %% of GEMM and attention launches only a maximum of the bytes is known: FLOP/B and M* are at "
            "their most doubtful there",
            format_share(text, share));
    return true;
}

static bool above_roof(const struct session *session, FILE *out)
{
    double share = 0;
    char text[FORMAT_BYTES];
    bool any = false;
    for (size_t i = 0; i < session->operator_count; i++)
        if (session->operators[i].roofline.flags & ROOFLINE_ABOVE_ROOF) {
            share += session->operators[i].share;
            any = true;
        }
    if (any)
        fprintf(out,
                "%s %% of GPU time ran faster than the roof: operands stayed in cache, or a peak or a byte count "
                "is wrong",
                format_share(text, share));
    return any;
}

static bool graphs(const struct session *session, FILE *out)
{
    const struct session_coverage *c = &session->coverage;
    char text[FORMAT_BYTES];
    if (!c->graph_kernels_unjoined || !(c->gpu_time_ns > 0))
        return false;
    fprintf(out, "%s %% of GPU time is in graph replays that no call owns: the shapes of those kernels aren't known",
            format_share(text, (double)c->graph_time_unjoined_ns / c->gpu_time_ns));
    return true;
}

static bool own_floor(const struct session *session, FILE *out)
{
    for (size_t i = 0; i < session->operator_count; i++)
        if (session->operators[i].roofline.bound == BOUND_OVERHEAD &&
            !session->devices[session->operators[i].device].calibration) {
            fputs("overhead is judged by the shortest kernel of this run", out);
            return true;
        }
    return false;
}

/* clang-format off */
static const struct caveat rows[] = {
    {"simulated", simulated},
    {"untimed", untimed},
    {"no_records", no_records},
    {"sampled", sampled},
    {"graph_times", graph_times},
    {"lost", lost},
    {"no_end", no_end},
    {"running", running},
    {"no_roof", no_roof},
    {"estimated", estimated},
    {"own_peaks", own_peaks},
    {"not_calibrated", not_calibrated},
    {"held_clock", held_clock},
    {"overlapped", overlapped},
    {"unclassified", unclassified},
    {"hidden_shapes", hidden_shapes},
    {"unknown_family", unknown_family},
    {"at_most", at_most},
    {"above_roof", above_roof},
    {"graphs", graphs},
    {"own_floor", own_floor},
};
/* clang-format on */

const struct caveat *caveats(size_t *count)
{
    *count = sizeof rows / sizeof rows[0];
    return rows;
}

char *caveat_text(const struct caveat *caveat, const struct session *session)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = text_stream_open(&text, &bytes);
    if (!out)
        return NULL;
    bool holds = caveat->print(session, out);
    fclose(out);
    if (holds)
        return text;
    free(text);
    return NULL;
}

void caveats_print(const struct session *session, FILE *out)
{
    size_t count, printed = 0;
    const struct caveat *caveat = caveats(&count);
    for (size_t i = 0; i < count; i++) {
        char *text = caveat_text(&caveat[i], session);
        if (text)
            fprintf(out, "%s  %s\n", printed++ ? "" : "\ncaveats:\n", text);
        free(text);
    }
}
