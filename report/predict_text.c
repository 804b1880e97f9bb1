/* SPDX-License-Identifier: Apache-2.0 */
/* Top to bottom: the verdict, what it rests on (predict_head.c), the two steps with their tables, attention, memory,
 * checkpoint, what is left out. A row whose figures depend on routing has a second line with the other bound. */
#include "report/predict_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "classify/predict_weight.h"
#include "report/format.h"
#include "report/label.h"
#include "report/predict_head.h"
#include "report/safe_text.h"
#include "report/wrapped_text.h"

/* LEFT_WIDTH: all columns before the bytes. */
enum { NAME_WIDTH = 30, LEFT_WIDTH = NAME_WIDTH + 6 + 22 + 11, PATH_WIDTH = 100, TEXT_WIDTH = 120 };

/* ---- one step ---- */

static const char *short_name(const struct predict_operator *row)
{
    static const char prefix[] = "layers.*.";
    return strncmp(row->name, prefix, sizeof prefix - 1) ? row->name : row->name + sizeof prefix - 1;
}

static void print_table_head(FILE *out)
{
    fprintf(out, "%-*s%6s%8s%7s%7s%11s%11s%8s%6s  %-7s%10s%7s\n", NAME_WIDTH, "operator", "calls", "M", "N", "K",
            "GFLOP", "MB", "FLOP/B", "ridge", "class", "time", "share");
}

static const char *class_name(enum bound bound)
{
    return bound == BOUND_UNKNOWN ? FORMAT_UNKNOWN : bound_name(bound);
}

/* The figures that may be two: bytes, intensity, class, time. */
static void print_figures(const struct predict_operator *row, double bytes, double intensity, double time, FILE *out)
{
    char mb[FORMAT_BYTES], flops_per_byte[FORMAT_BYTES], ridge[FORMAT_BYTES], duration[FORMAT_BYTES],
        share[FORMAT_BYTES];
    enum bound bound = isnan(row->ridge) ? BOUND_UNKNOWN : intensity >= row->ridge ? BOUND_COMPUTE : BOUND_MEMORY;
    snprintf(mb, sizeof mb, "%.*f", bytes < 1e8 ? 3 : 1, bytes / 1e6);
    bool last = time == row->seconds[PREDICT_SPECIFICATION].high || isnan(time);
    fprintf(out, "%11s%8s%6s  %-7s%10s%7s\n", mb, format_intensity(flops_per_byte, intensity),
            format_intensity(ridge, row->ridge), class_name(bound), format_duration(duration, time * 1e9),
            last ? strcat(format_share(share, row->share), " %") : "");
}

static void print_gemm_shape(const struct predict_operator *row, FILE *out)
{
    fprintf(out, "%8" PRId64 "%7" PRId64 "%7" PRId64, row->m, row->n, row->k);
}

static void print_attention_note(const struct predict_operator *row, FILE *out)
{
    char kv[FORMAT_BYTES], all[FORMAT_BYTES];
    fprintf(out, "  each: %" PRId64 " x %" PRId64 " queries on %s%" PRId64 " keys", row->sequences, row->queries,
            row->queries < row->keys && row->queries > 1 ? "up to " : "", row->keys);
    fprintf(out, ", %" PRId64 " heads on %" PRId64 " of %" PRId64, row->query_heads, row->kv_heads, row->head_dim);
    if (row->value_dim != row->head_dim)
        fprintf(out, " (values %" PRId64 "%s)", row->value_dim, row->value_in_key ? " of it" : "");
    if (row->window)
        fprintf(out, ", window %" PRId64, row->window);
    fprintf(out, "\n  intensity: KV-only %s (%s), compulsory %s (%s)\n", format_intensity(kv, row->intensity_kv),
            class_name(row->bound_kv), format_intensity(all, row->intensity.low), class_name(row->bound));
}

static void print_row(const struct predict_operator *row, FILE *out)
{
    char name[NAME_WIDTH * 4];
    snprintf(name, sizeof name, "%s", short_name(row));
    safe_text_cut_middle(name, NAME_WIDTH);
    bool two = row->bytes.low != row->bytes.high;
    char line[LEFT_WIDTH + 1];
    snprintf(line, sizeof line, "  at most %.0f experts, above at least %.0f", row->experts.high, row->experts.low);
    fprintf(out, "%-*s%6" PRId64, NAME_WIDTH, name, row->calls);
    if (row->kind == PREDICT_ATTENTION)
        fprintf(out, "%22s", "");
    else
        print_gemm_shape(row, out);
    fprintf(out, "%11.*f", row->flops < 1e11 ? 3 : 1, row->flops / 1e9);
    print_figures(row, row->bytes.low, row->intensity.high, row->seconds[PREDICT_SPECIFICATION].low, out);
    if (two) {
        fprintf(out, "%-*s", LEFT_WIDTH, line);
        print_figures(row, row->bytes.high, row->intensity.low, row->seconds[PREDICT_SPECIFICATION].high, out);
    }
    if (row->kind == PREDICT_ATTENTION)
        print_attention_note(row, out);
    if (row->batch > 1)
        fprintf(out, "  %" PRId64 " products in each call, one a head\n", row->batch);
}

static void print_range(FILE *out, struct predict_range range, double scale, int decimals, const char *unit)
{
    if (isnan(range.low) || isnan(range.high))
        fprintf(out, "not known");
    else if (range.low == range.high)
        fprintf(out, "%.*f %s", decimals, range.low * scale, unit);
    else
        fprintf(out, "at least %.*f, at most %.*f %s", decimals, range.low * scale, decimals, range.high * scale, unit);
}

static void print_times(const struct predict_step *step, enum predict_roof roof, const char *label, FILE *out)
{
    char low[FORMAT_BYTES], high[FORMAT_BYTES];
    struct predict_range time = step->seconds[roof];
    fprintf(out, "%s roof: ", label);
    if (isnan(time.high)) {
        fprintf(out, "not known\n");
        return;
    }
    fprintf(out, "%s", format_duration(low, time.low * 1e9));
    if (time.low != time.high)
        fprintf(out, " to %s", format_duration(high, time.high * 1e9));
    fprintf(out, ", ");
    print_range(out, step->tokens_per_second[roof], 1, 0, "tokens/s");
    fprintf(out, "\n");
}

/* "480.2 ms at the roof, 136478 tokens/s, 100.0 % compute-bound": the larger of the two classes. What depends on the routing
 * has neither. */
static void print_verdict_of(const struct predict_step *step, FILE *out)
{
    char low[FORMAT_BYTES], high[FORMAT_BYTES];
    struct predict_range time = step->seconds[PREDICT_SPECIFICATION];
    struct predict_range tokens = step->tokens_per_second[PREDICT_SPECIFICATION];
    bool compute = step->compute_share > step->memory_share;
    if (isnan(time.high)) {
        fputs("not known, since a roof is not", out);
        return;
    }
    format_duration(low, time.low * 1e9);
    format_duration(high, time.high * 1e9);
    fprintf(out, strcmp(low, high) ? "%s to %s" : "%s", low, high);
    fprintf(out, "%s at the roof, ", step->phase == PREDICT_DECODE ? " a step" : "");
    fprintf(out, round(tokens.low) == round(tokens.high) ? "%.0f tokens/s" : "%.0f to %.0f tokens/s", tokens.low,
            tokens.high);
    if (!isnan(step->memory_share))
        fprintf(out, ", %s %% %s-bound", format_share(low, compute ? step->compute_share : step->memory_share),
                bound_name(compute ? BOUND_COMPUTE : BOUND_MEMORY));
    if (step->memory_share + step->compute_share < 0.9995)
        fprintf(out, ", %s %% either, by the routing", format_share(low, 1 - step->memory_share - step->compute_share));
}

static const char *fit_text(const struct predict *predict)
{
    double both = predict->resident_weight_bytes + predict->kv_bytes;
    return both <= predict->memory_bytes ? "fits" : both <= predict->memory_bytes_most ? "MAY FIT" : "DOES NOT FIT";
}

/* The answer in three lines; all else is what it rests on. */
static void print_verdict(const struct predict *predict, FILE *out)
{
    label_print(out, "prefill");
    print_verdict_of(&predict->steps[PREDICT_PREFILL], out);
    fputc('\n', out);
    label_print(out, "decode");
    print_verdict_of(&predict->steps[PREDICT_DECODE], out);
    fputc('\n', out);
    label_print(out, "memory");
    fprintf(out, "weights and KV cache take %.1f GB", (predict->resident_weight_bytes + predict->kv_bytes) / 1e9);
    if (isnan(predict->memory_bytes))
        fputs("; the GPU's memory is not known\n", out);
    else
        fprintf(out, " of %.1f GB: %s\n", predict->memory_bytes / 1e9, fit_text(predict));
}

static void print_step(const struct predict *predict, const struct predict_step *step, FILE *out)
{
    char tokens[FORMAT_BYTES];
    bool prefill = step->phase == PREDICT_PREFILL;
    fprintf(out, "\n%s: %s tokens in %" PRId64 " %s over the weights\n", prefill ? "PREFILL" : "DECODE STEP",
            format_count(tokens, (uint64_t)step->tokens), step->passes,
            format_plural((uint64_t)step->passes, "pass", "passes"));
    print_table_head(out);
    for (size_t i = 0; i < step->count; i++)
        print_row(&step->operators[i], out);
    fprintf(out, "sum: %.1f GFLOP, ", step->flops / 1e9);
    print_range(out, step->bytes, 1e-6, 1, "MB");
    fprintf(out, ", ");
    print_range(out, step->intensity, 1, 1, "FLOP/B");
    if (!isnan(step->memory_share))
        fprintf(out, "\nby time %.1f %% memory-bound, %.1f %% compute-bound", 100 * step->memory_share,
                100 * step->compute_share);
    fprintf(out, "\nof the bytes, weights ");
    print_range(out, step->weight_bytes, 1e-6, 1, "MB");
    fprintf(out, ", KV read %.1f MB\n", step->kv_bytes / 1e6);
    print_times(step, PREDICT_SPECIFICATION, "specification", out);
    if (predict->options.gpu->achievable_source)
        print_times(step, PREDICT_ACHIEVABLE, "achievable (published)", out);
    if (step->all_reduces > 0)
        fprintf(out, "not in these times: %.0f all-reduces, %.1f MB of messages in all\n", step->all_reduces,
                step->all_reduce_bytes / 1e6);
}

/* ---- the whole ---- */

static void print_rows_at_ridge(const struct predict *predict, FILE *out)
{
    const struct predict_step *step = &predict->steps[PREDICT_PREFILL];
    char limit[FORMAT_BYTES];
    fprintf(out,
            "\nTOKENS IN A PASS at which GEMMs turn compute-bound (chunk of a prefill, sequences of a decode step)\n");
    struct predict_range layer = predict->layer_rows_at_ridge;
    fprintf(out, "%-*s  ", NAME_WIDTH, "all layers together");
    if (isinf(layer.high))
        fprintf(out, "%snever\n", isinf(layer.low) ? "" : "it depends on the routing, and perhaps ");
    else
        print_range(out, layer, 1, 1, "tokens\n");
    if (isnan(layer.high))
        fprintf(out, "\n");
    const char *previous = "";
    for (size_t i = 0; i < step->count; i++) {
        const struct predict_operator *row = &step->operators[i];
        if (row->kind == PREDICT_ATTENTION || !strcmp(previous, row->name))
            continue;
        previous = row->name;
        fprintf(out, "%-*s  ", NAME_WIDTH, short_name(row));
        if (isinf(row->at_ridge.rows))
            fprintf(out, "never: %s caps it at %s FLOP/B\n", gemm_dimension_name(row->at_ridge.caps_at),
                    format_intensity(limit, row->at_ridge.cap));
        else if (isnan(row->at_ridge.rows))
            fprintf(out, "not known\n");
        else
            fprintf(out, "%.1f %s\n", row->at_ridge.rows,
                    row->kind == PREDICT_EXPERTS ? "rows of one expert" : "tokens");
    }
}

static void print_tokens(FILE *out, double tokens)
{
    if (isnan(tokens))
        fprintf(out, "not known");
    else if (isinf(tokens))
        fprintf(out, "never");
    else
        fprintf(out, "%.1f tokens", tokens);
}

static void print_attention(const struct predict *predict, FILE *out)
{
    fprintf(out, "\nATTENTION in causal prefill, g = %.6g\n", predict->group);
    fprintf(out, "L_ridge, compute-bound from: KV-only ");
    print_tokens(out, predict->ridge_length_kv);
    fprintf(out, ", compulsory ");
    print_tokens(out, predict->ridge_length);
    fprintf(out, "\nL*, where it has as many FLOPs as the GEMMs: ");
    print_tokens(out, predict->crossover);
    fprintf(out, " (P_layer, active parameters of a layer: %.10g", predict->layer_parameters);
    if (predict->geometry->window_layers) {
        fprintf(out, "; with its windows ");
        print_tokens(out, predict->crossover_windowed);
    }
    fprintf(out, ")\nprompt, tokens  ");
    for (int i = 0; i < PREDICT_LENGTHS; i++)
        fprintf(out, "%8" PRId64, predict->shares[i].length);
    fprintf(out, "\nshare of FLOPs, %%");
    for (int i = 0; i < PREDICT_LENGTHS; i++)
        fprintf(out, "%8.1f", 100 * predict->shares[i].share);
    fprintf(out, "\n");
}

static void print_memory(const struct predict *predict, FILE *out)
{
    double both = predict->resident_weight_bytes + predict->kv_bytes;
    fprintf(out, "\nMEMORY of one GPU\n");
    fprintf(out, "weights %.3f GB; KV %.0f B a token, %.3f GB a sequence, %.3f GB for %" PRId64 "; both %.3f GB",
            predict->resident_weight_bytes / 1e9, predict->kv_bytes_per_token, predict->kv_bytes_per_sequence / 1e9,
            predict->kv_bytes / 1e9, predict->options.batch, both / 1e9);
    if (isnan(predict->memory_bytes)) {
        fprintf(out, "; memory not known\n");
        return;
    }
    fprintf(out, " of %.1f GB: %s\n", predict->memory_bytes / 1e9, fit_text(predict));
    if (predict->sequences_that_fit_most < 0)
        fprintf(out, "The weights alone do not fit.\n");
    else
        fprintf(
            out,
            "Beside the weights fit %.0f such sequences, %.0f if a GB of the data sheet is 2^30 bytes; activations are "
            "not counted.\n",
            fmax(0, predict->sequences_that_fit), predict->sequences_that_fit_most);
}

static void print_checkpoint(const struct predict_view *view, FILE *out)
{
    const struct predict *predict = view->predict;
    const struct checkpoint_comparison *c = view->checkpoint;
    static const char *const verdicts[] = {"equal", "MISMATCH", "not comparable"};
    char found[FORMAT_BYTES], expected[FORMAT_BYTES];
    fprintf(out, "\nCHECKPOINT (%s, %zu tensors): %s\n", checkpoint_kind_name(c->kind), c->tensors,
            verdicts[c->verdict]);
    safe_text_print_middle(out, view->checkpoint_path, PATH_WIDTH);
    fprintf(out, "\n");
    if (c->parameters >= 0) {
        fprintf(out, "%s parameters, config.json implies %s", format_count(found, (uint64_t)c->parameters),
                format_count(expected, (uint64_t)c->expected));
        if (c->parameters != c->expected)
            fprintf(out, ": %" PRId64 " %s",
                    c->parameters > c->expected ? c->parameters - c->expected : c->expected - c->parameters,
                    c->parameters > c->expected ? "more" : "fewer");
        fprintf(out, "\n");
    }
    if (c->wrong_shape || c->missing || c->unknown)
        fprintf(out, "%zu of another shape, %zu missing, %zu not expected\n", c->wrong_shape, c->missing, c->unknown);
    for (int i = 0; i < c->difference_count; i++) {
        fprintf(out, "  ");
        safe_text_print(out, c->differences[i], PATH_WIDTH);
        fprintf(out, "\n");
    }
    if (c->other_tensors)
        fprintf(out, "%zu tensors beside the language model, %s parameters, are not counted\n", c->other_tensors,
                format_count(found, (uint64_t)c->other_parameters));
    if (!isnan(c->bytes) && predict->options.tensor_parallel == 1)
        fprintf(out, "Its tensors take %.6f GB, the weights as predicted %.6f GB.\n", c->bytes / 1e9,
                predict->resident_weight_bytes / 1e9);
    if (c->note[0])
        fprintf(out, "%s\n", c->note);
}

static void print_all(const struct predict_view *view, FILE *out)
{
    const struct predict *predict = view->predict;
    print_verdict(predict, out);
    predict_head_print(view, out);
    for (int phase = 0; phase < PREDICT_PHASES; phase++)
        print_step(predict, &predict->steps[phase], out);
    print_rows_at_ridge(predict, out);
    print_attention(predict, out);
    print_memory(predict, out);
    if (view->checkpoint)
        print_checkpoint(view, out);
    fprintf(out,
            "\nNot counted: norms, rope, activation functions, softmax, sampling, embedding rows, KV writes beyond the "
            "GEMMs' outputs, launches, communication.\n");
    if (predict->geometry->sparse_layers)
        fprintf(out, "Bounds of experts: at least top_k of them are read, at most min(experts, tokens x top_k).\n");
}

bool predict_text(const struct predict_view *view, FILE *out)
{
    struct wrapped_text wrapped;
    print_all(view, wrapped_text_begin(&wrapped, TEXT_WIDTH, LABEL_WIDTH, out));
    wrapped_text_end(&wrapped);
    return !ferror(out);
}
