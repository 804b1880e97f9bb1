/* SPDX-License-Identifier: Apache-2.0 */
/* Shares are of the time in kernels, largest first; what is 0 isn't said. */
#include "report/time_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "report/format.h"
#include "report/label.h"
#include "report/operator_rows.h"
#include "report/row_names.h"
#include "report/timing_text.h"

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

/* How far from the roof all that has one ran: the least time by the time taken, as %ROOF of a row. */
static void print_roof_fraction(const struct session *session, FILE *out)
{
    double roof_ns = 0, time_ns = 0;
    char share[FORMAT_BYTES];
    for (size_t i = 0; i < session->operator_count; i++) {
        const struct operator_row *op = &session->operators[i];
        if (!op->timed || !op->kernels || !op->time_ns || isnan(op->roofline.roof_fraction))
            continue;
        roof_ns += op->roofline.roof_fraction * (double)op->time_ns;
        time_ns += (double)op->time_ns;
    }
    if (!(time_ns > 0))
        return;
    format_share(share, roof_ns / time_ns);
    if (time_ns > 0.9995 * session->coverage.gpu_time_ns)
        fprintf(out, "; at %s %% of the roof", share);
    else
        fprintf(out, "; what has a roof, at %s %% of it", share);
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
    print_roof_fraction(session, out);
    fputc('\n', out);
}

/* ---- phases ---- */

static void print_phase(enum phase phase, const struct phase_sum *sum, FILE *out)
{
    char steps[FORMAT_BYTES], rows[FORMAT_BYTES], intensity[FORMAT_BYTES], share[FORMAT_BYTES];
    fprintf(out, "%s: %s %s", phase_name(phase), format_count(steps, sum->steps),
            format_plural(sum->steps, "step", "steps"));
    if (sum->rows_per_step > 0 && sum->rows_per_step == floor(sum->rows_per_step))
        fprintf(out, " of %s %s", format_size(rows, (int64_t)sum->rows_per_step),
                sum->rows_per_step == 1 ? "row" : "rows");
    else if (sum->rows_per_step > 0)
        fprintf(out, " of %s rows", format_intensity(rows, sum->rows_per_step));
    fprintf(out, ", %s FLOP/B", format_intensity(intensity, sum->intensity));
    if (sum->gpu_share > 0)
        fprintf(out, ", %s %% of GPU time", format_share(share, sum->gpu_share));
}

/* Of which step they were is not known: the trace holds sums, or nothing of what was captured. */
static bool any_replays_apart(const struct session *session)
{
    for (size_t i = 0; i < session->operator_count; i++)
        if (session->operators[i].replays_phased)
            return false;
    for (size_t i = 0; i < session->process_count; i++)
        if (session->processes[i].replays.launches || session->processes[i].replays.runs)
            return true;
    return false;
}

/* Whole steps: all FLOPs by all bytes, of operators with known work. */
static void print_phases(const struct session *session, FILE *out)
{
    char intensity[FORMAT_BYTES];
    uint64_t steps = 0;
    if (isnan(session->step.intensity))
        return;
    label_print(out, "steps");
    fprintf(out, "all known work together: %s FLOP/B", format_intensity(intensity, session->step.intensity));
    for (int phase = PHASE_COUNT - 1; phase >= 0; phase--) {
        const struct phase_sum *sum = &session->phases[phase];
        if (phase == PHASE_UNKNOWN || !sum->steps)
            continue;
        fputs("; ", out);
        print_phase((enum phase)phase, sum, out);
        steps += sum->steps;
    }
    if (steps && any_replays_apart(session))
        fputs("; steps as called, without their replays by graphs", out);
    fputc('\n', out);
}

/* ---- kernels without a class ---- */

enum { UNCLASSIFIED_NAMES = 3, UNCLASSIFIED_WIDTH = 40 };

static bool is_unclassified(const struct operator_row *op)
{
    return op->timed && op->kernels && op->share > 0 && op->roofline.bound == BOUND_UNKNOWN;
}

static const struct operator_row *unclassified_at(const struct operator_rows *rows, size_t i)
{
    return &((const struct kernel_row *)rows->rows[i])->op;
}

/* By function or kernel, all shapes of it together. */
static void print_unclassified(const struct session *session, FILE *out)
{
    struct operator_rows rows = operator_rows_by_kernel(session, is_unclassified);
    const char *names[UNCLASSIFIED_NAMES];
    double all = 0;
    char share[FORMAT_BYTES];
    size_t shown = rows.count < UNCLASSIFIED_NAMES ? rows.count : UNCLASSIFIED_NAMES;
    for (size_t i = 0; i < rows.count; i++)
        all += unclassified_at(&rows, i)->share;
    if (rows.count) {
        for (size_t i = 0; i < shown; i++)
            names[i] = unclassified_at(&rows, i)->name;
        char **texts = row_names(names, shown, UNCLASSIFIED_WIDTH);
        label_print(out, "no class");
        fprintf(out, "%s %%:", format_share(share, all));
        for (size_t i = 0; i < shown; i++)
            fprintf(out, "%s %s %s %%", i ? "," : "", texts[i], format_share(share, unclassified_at(&rows, i)->share));
        if (rows.count > shown)
            fprintf(out, ", and %zu more", rows.count - shown);
        fputc('\n', out);
        row_names_free(texts, shown);
    }
    operator_rows_free(&rows);
}

void time_text_print(const struct session *session, FILE *out)
{
    print_classes(session, out);
    timing_text_print_evidence(session, out);
    print_unclassified(session, out);
    print_phases(session, out);
}
