/* SPDX-License-Identifier: Apache-2.0 */
/* The table of words has a getter for each {word} of advice.c's templates. */
#include "report/advice_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/launch_groups.h"
#include "report/columns.h"
#include "report/format.h"
#include "report/row_names.h"
#include "report/text_stream.h"

enum { SUBJECTS_SHOWN = 3, NAME_WIDTH = 48 };

/* ---- words ---- */

static void print_size(int64_t size, FILE *out)
{
    char text[FORMAT_BYTES];
    fputs(format_size(text, size), out);
}

static void word_m_p50(const struct session *session, size_t index, FILE *out)
{
    print_size(session->weights[index].m_p50, out);
}

static void word_m_star(const struct session *session, size_t index, FILE *out)
{
    char text[FORMAT_BYTES];
    fputs(format_intensity(text, session->weights[index].rows_at_ridge), out);
}

static void word_blocks(const struct session *session, size_t index, FILE *out)
{
    char text[FORMAT_BYTES];
    uint64_t blocks = session->weights[index].blocks;
    fprintf(out, "%s %s", format_count(text, blocks), format_plural(blocks, "block", "blocks"));
}

static void word_sms(const struct session *session, size_t index, FILE *out)
{
    print_size(session->weights[index].sm_count, out);
}

/* Only where that is what starves it, or might. */
static void word_bandwidth(const struct session *session, size_t index, FILE *out)
{
    char text[FORMAT_BYTES];
    double fill = session->weights[index].bandwidth_fill;
    if (fill < 1)
        fprintf(out, ", which draw %s %% of the bandwidth as calibrated", format_share(text, fill));
}

static void word_format_bits(const struct session *session, size_t index, FILE *out)
{
    const struct weight_format *format = session->weights[index].format;
    if (format)
        fprintf(out, "%g", weight_format_bits(format));
    else
        fputs(FORMAT_UNKNOWN, out);
}

static void word_limited_by(const struct session *session, size_t index, FILE *out)
{
    const char *name = gemm_side_name(session->weights[index].limited_by);
    fputs(name ? name : "its shape", out);
}

static void word_intensity_limit(const struct session *session, size_t index, FILE *out)
{
    char text[FORMAT_BYTES];
    fputs(format_intensity(text, session->weights[index].intensity_limit), out);
}

static void word_group_times(const struct session *session, size_t index, FILE *out)
{
    char text[FORMAT_BYTES];
    fputs(format_count(text, session->sibling_groups[index].times), out);
}

static void word_group_intensity(const struct session *session, size_t index, FILE *out)
{
    char text[FORMAT_BYTES];
    fputs(format_intensity(text, session->sibling_groups[index].intensity), out);
}

static void word_group_fused(const struct session *session, size_t index, FILE *out)
{
    char text[FORMAT_BYTES];
    fputs(format_intensity(text, session->sibling_groups[index].intensity_fused), out);
}

static void word_group_saved(const struct session *session, size_t index, FILE *out)
{
    const struct sibling_group *group = &session->sibling_groups[index];
    char text[FORMAT_BYTES];
    fputs(format_duration(text, group->roof_ns - group->roof_fused_ns), out);
}

static void word_shape(const struct session *session, size_t index, FILE *out)
{
    const struct operator_row *op = &session->operators[index];
    char types[COLUMN_CELL_BYTES], shape[COLUMN_SHAPE_BYTES];
    columns_shape(op, shape);
    columns_types(op, types);
    fprintf(out, "%s  %s", shape, types);
}

static void word_roof(const struct session *session, size_t index, FILE *out)
{
    char text[FORMAT_BYTES];
    fputs(format_share(text, session->operators[index].roofline.roof_fraction), out);
}

/* "66.08 ms in bf16, 65.20 ms in TF32": those that this GPU has. */
static void word_tensor_cores(const struct session *session, size_t index, FILE *out)
{
    static const struct {
        enum gpu_path path;
        const char *name;
    } ways[] = {{GPU_PATH_BF16, "bf16"}, {GPU_PATH_TF32, "TF32"}};
    const char *between = "";
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        double saved = advice_tensor_core_ns(session, &session->operators[index], ways[i].path);
        char text[FORMAT_BYTES];
        if (isnan(saved))
            continue;
        fprintf(out, "%s%s in %s", between, saved > 0 ? format_duration(text, saved) : "nothing", ways[i].name);
        between = ", ";
    }
}

static void word_start_up(const struct session *session, size_t index, FILE *out)
{
    const struct operator_row *op = &session->operators[index];
    double start_up_ns = advice_start_up_ns(session, op);
    bool known = op->device >= 0 && session->devices[op->device].floor_ns <= start_up_ns;
    char text[FORMAT_BYTES];
    format_duration(text, start_up_ns);
    fprintf(out, "%s a kernel left out for start-up%s", text, known ? "" : " (`rooftap calibrate` measures it)");
}

static void word_name(const struct session *session, size_t index, FILE *out)
{
    const char *recorded = session->operators[index].name;
    char **names = row_names(&recorded, 1, NAME_WIDTH);
    fputs(names[0], out);
    row_names_free(names, 1);
}

static void word_kernels(const struct session *session, size_t index, FILE *out)
{
    char text[FORMAT_BYTES];
    uint64_t kernels = session->operators[index].kernels;
    fprintf(out, "%s %s", format_count(text, kernels), format_plural(kernels, "kernel", "kernels"));
}

static void word_keys(const struct session *session, size_t index, FILE *out)
{
    const struct launch_decode *launch = session->operators[index].launch;
    fputs(launch && launch->keys_at_most ? "at most " : "", out);
    print_size(launch ? launch->keys : TRACE_UNKNOWN, out);
}

static void word_mean(const struct session *session, size_t index, FILE *out)
{
    const struct operator_row *op = &session->operators[index];
    char text[FORMAT_BYTES];
    fputs(format_duration(text, (double)op->time_ns / (double)op->kernels), out);
}

static void word_device(const struct session *session, size_t index, FILE *out)
{
    (void)session;
    fprintf(out, "%zu", index);
}

static void word_idle(const struct session *session, size_t index, FILE *out)
{
    const struct device_time_sum *time = &session->devices[index].time;
    char text[FORMAT_BYTES];
    fputs(format_share(text, (double)time->gap_ns / (double)time->span_ns), out);
}

static void print_bytes(double bytes, FILE *out)
{
    char text[FORMAT_BYTES];
    fputs(format_bytes(text, bytes), out);
}

static void word_bytes(const struct session *session, size_t index, FILE *out)
{
    print_bytes(session->naive_attention[index].bytes, out);
}

static void word_bytes_fused(const struct session *session, size_t index, FILE *out)
{
    print_bytes(session->naive_attention[index].bytes_fused, out);
}

static void word_window(const struct session *session, size_t index, FILE *out)
{
    (void)index;
    print_size(session->model.window, out);
}

static void word_prefill_steps(const struct session *session, size_t index, FILE *out)
{
    char text[FORMAT_BYTES];
    (void)index;
    fputs(format_count(text, session->phases[PHASE_PREFILL].steps), out);
}

static void word_decode_steps(const struct session *session, size_t index, FILE *out)
{
    char text[FORMAT_BYTES];
    (void)index;
    fputs(format_count(text, session->phases[PHASE_DECODE].steps), out);
}

struct word {
    const char *word;
    enum advice_kind kind;
    void (*print)(const struct session *session, size_t index, FILE *out);
};

/* clang-format off */
static const struct word words[] = {
    {"m_p50",           ADVICE_WEIGHT,          word_m_p50},
    {"m_star",          ADVICE_WEIGHT,          word_m_star},
    {"blocks",          ADVICE_WEIGHT,          word_blocks},
    {"sms",             ADVICE_WEIGHT,          word_sms},
    {"bandwidth",       ADVICE_WEIGHT,          word_bandwidth},
    {"format_bits",     ADVICE_WEIGHT,          word_format_bits},
    {"limited_by",      ADVICE_WEIGHT,          word_limited_by},
    {"intensity_limit", ADVICE_WEIGHT,          word_intensity_limit},
    {"times",           ADVICE_SIBLINGS,        word_group_times},
    {"intensity",       ADVICE_SIBLINGS,        word_group_intensity},
    {"intensity_fused", ADVICE_SIBLINGS,        word_group_fused},
    {"saved_each",      ADVICE_SIBLINGS,        word_group_saved},
    {"roof",            ADVICE_OPERATOR,        word_roof},
    {"tensor_cores",    ADVICE_OPERATOR,        word_tensor_cores},
    {"start_up",        ADVICE_OPERATOR,        word_start_up},
    {"kernels",         ADVICE_OPERATOR,        word_kernels},
    {"mean",            ADVICE_OPERATOR,        word_mean},
    {"keys",            ADVICE_OPERATOR,        word_keys},
    {"idle",            ADVICE_DEVICE,          word_idle},
    {"bytes",           ADVICE_NAIVE_ATTENTION, word_bytes},
    {"bytes_fused",     ADVICE_NAIVE_ATTENTION, word_bytes_fused},
    {"window",          ADVICE_NAIVE_ATTENTION, word_window},
    {"prefill_steps",   ADVICE_RUN,             word_prefill_steps},
    {"decode_steps",    ADVICE_RUN,             word_decode_steps},
};
/* clang-format on */

static const struct word *find_word(enum advice_kind kind, const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (words[i].kind == kind && strlen(words[i].word) == length && !memcmp(words[i].word, text, length))
            return &words[i];
    return NULL;
}

/* Calls for each word of TEMPLATE; false: one is not known. */
static bool fill_in(const struct session *session, enum advice_kind kind, const char *template, size_t index, FILE *out)
{
    for (const char *open; (open = strchr(template, '{'));) {
        size_t length = strcspn(open + 1, "}");
        const struct word *word = find_word(kind, open + 1, length);
        if (!word)
            return false;
        if (out) {
            fwrite(template, 1, (size_t)(open - template), out);
            word->print(session, index, out);
        }
        template = open + 1 + length + 1;
    }
    if (out)
        fputs(template, out);
    return true;
}

bool advice_text_knows(const struct advice_row *row)
{
    return !row->detail || fill_in(NULL, row->kind, row->detail, 0, NULL);
}

/* ---- subjects ---- */

static void print_weight(const struct session *session, size_t index, FILE *out)
{
    const struct weight_row *weight = &session->weights[index];
    char types[COLUMN_CELL_BYTES];
    columns_weight_types(session, weight, types);
    fprintf(out, "N %" PRId64 "  K %" PRId64 "  %s", weight->n, weight->k, types);
}

/* "M 256  N 512 + 512  K 3584" */
static void print_siblings(const struct session *session, size_t index, FILE *out)
{
    const struct sibling_group *group = &session->sibling_groups[index];
    fprintf(out, "M %" PRId64 "  N ", group->m);
    for (size_t i = 0; i < group->count; i++)
        fprintf(out, "%s%" PRId64, i ? " + " : "", session->operators[group->operators[i]].work.n);
    fprintf(out, "  K %" PRId64, group->k);
}

static void print_operator(const struct session *session, size_t index, FILE *out)
{
    if (operator_has_shape(&session->operators[index]))
        word_shape(session, index, out);
    else
        word_name(session, index, out);
}

static void print_attention(const struct session *session, size_t index, FILE *out)
{
    const struct naive_attention *pair = &session->naive_attention[index];
    char rows[FORMAT_BYTES], keys[FORMAT_BYTES], heads[FORMAT_BYTES], times[FORMAT_BYTES];
    fprintf(out, "%s %s, %s %s, %s %s, %s %s", format_size(rows, pair->l_q),
            format_plural((uint64_t)pair->l_q, "row", "rows"), format_size(keys, pair->l_k),
            format_plural((uint64_t)pair->l_k, "key", "keys"), format_size(heads, pair->batch),
            format_plural((uint64_t)pair->batch, "head", "heads"), format_count(times, pair->times),
            format_plural(pair->times, "time", "times"));
}

static void print_device(const struct session *session, size_t index, FILE *out)
{
    fputs("GPU ", out);
    word_device(session, index, out);
}

static void print_run(const struct session *session, size_t index, FILE *out)
{
    (void)session;
    (void)index;
    fputs("this run", out);
}

/* Where there are several. */
static void print_gpu(const struct session *session, enum advice_kind kind, size_t index, FILE *out)
{
    int device = kind == ADVICE_WEIGHT            ? session->weights[index].device
                 : kind == ADVICE_SIBLINGS        ? session->sibling_groups[index].device
                 : kind == ADVICE_OPERATOR        ? session->operators[index].device
                 : kind == ADVICE_NAIVE_ATTENTION ? session->naive_attention[index].device
                                                  : SESSION_DEVICE_UNKNOWN;
    if (session->device_count > 1 && device >= 0)
        fprintf(out, "GPU %d  ", device);
}

char *advice_text_subject(const struct session *session, const struct advice_row *row, size_t index)
{
    static void (*const print[ADVICE_KIND_COUNT])(const struct session *session, size_t index, FILE *out) = {
        [ADVICE_WEIGHT] = print_weight,     [ADVICE_SIBLINGS] = print_siblings,
        [ADVICE_OPERATOR] = print_operator, [ADVICE_NAIVE_ATTENTION] = print_attention,
        [ADVICE_DEVICE] = print_device,     [ADVICE_RUN] = print_run,
    };
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = text_stream_open(&text, &bytes);
    if (!out)
        return allocate_text("");
    print_gpu(session, row->kind, index, out);
    print[row->kind](session, index, out);
    if (row->detail) {
        fputs(": ", out);
        fill_in(session, row->kind, row->detail, index, out);
    }
    fclose(out);
    return text;
}

/* ---- all ---- */

const char *advice_text_base(const struct session *session, const struct advice_list *list,
                             const struct advice_row *row)
{
    if (row->of_span)
        return "the time from first start to last end";
    if (list->by_roof)
        return "the time at the roof";
    return session->simulated ? "simulated busy time" : "busy time";
}

/* What is too small for advice of its own isn't named. */
static size_t subjects_to_name(const struct advice *advice, double base_ns)
{
    size_t count = 0;
    while (count < advice->subject_count && count < SUBJECTS_SHOWN &&
           advice->subjects[count].saved_ns >= ADVICE_LEAST_SHARE * base_ns)
        count++;
    return count;
}

static void print_one(const struct session *session, const struct advice_list *list, const struct advice *advice,
                      FILE *out)
{
    char saved[FORMAT_BYTES], share[FORMAT_BYTES];
    double base_ns = advice->row->of_span ? list->span_ns : list->base_ns;
    size_t named = subjects_to_name(advice, base_ns);
    fprintf(out, "  %s %% (%s) %s: %s\n", format_gain(share, advice->saved_share),
            format_duration(saved, advice->saved_ns), advice->row->id, advice->row->text);
    for (size_t i = 0; i < named; i++) {
        char *subject = advice_text_subject(session, advice->row, advice->subjects[i].index);
        fprintf(out, "      %s %%  %s\n", format_gain(share, advice->subjects[i].saved_ns / base_ns), subject);
        free(subject);
    }
    if (advice->subject_count > named)
        fprintf(out, "      %s%zu%s\n", named ? "and " : "", advice->subject_count - named,
                named ? " more" : ", none of which alone saves that much");
}

void advice_text_print(const struct session *session, const struct advice_list *list, FILE *out)
{
    bool span = false;
    if (!list->count)
        return;
    fprintf(out, "\nadvice, by what it saves at most, at the roof, of %s%s; savings overlap:\n",
            list->by_roof        ? "the time at the roof"
            : session->simulated ? "simulated busy time"
                                 : "busy time",
            session->simulated && list->by_roof ? " (a simulated GPU)" : "");
    for (size_t i = 0; i < list->count; i++) {
        print_one(session, list, &list->items[i], out);
        span |= list->items[i].row->of_span;
    }
    if (span)
        fputs("  (idle_gaps: of the time from first start to last end)\n", out);
}
