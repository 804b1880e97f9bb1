/* SPDX-License-Identifier: Apache-2.0 */
/* What is not in config.json is said beside the line that rests on it. */
#include "report/predict_head.h"

#include <inttypes.h>
#include <math.h>

#include "classify/predict_weight.h"
#include "report/format.h"
#include "report/label.h"
#include "report/safe_text.h"

enum { PATH_WIDTH = 100 };

static const char *path_name(enum gpu_path path)
{
    const char *name = (unsigned)path < GPU_PATH_COUNT ? number_type_name(gpu_paths[path].type) : NULL;
    return name ? name : "no path of a GPU";
}

static void print_model(const struct predict_view *view, FILE *out)
{
    const struct model_geometry *g = view->predict->geometry;
    const struct model_config *c = g->config;
    char total[FORMAT_BYTES], bare[FORMAT_BYTES], active[FORMAT_BYTES];
    label_print(out, "model");
    safe_text_print_middle(out, view->config_path, PATH_WIDTH);
    fprintf(out, "\n");
    label_print(out, "");
    fprintf(out, "%s (%s): %" PRId64 " layers, hidden %" PRId64 ", vocabulary %" PRId64 "%s\n", c->family->title,
            c->model_type, c->layers, c->hidden, c->vocab, c->tied ? ", tied embeddings" : "");
    label_print(out, "");
    if (c->kv_rank)
        fprintf(out,
                "MLA: %" PRId64 " heads of %" PRId64 " + %" PRId64 ", values of %" PRId64 ", KV latent %" PRId64
                " + %" PRId64 "\n",
                c->query_heads, c->nope_dim, c->rope_dim, c->value_dim, c->kv_rank, c->rope_dim);
    else
        fprintf(out, "%" PRId64 " query heads, %" PRId64 " KV heads of %" PRId64 "\n", c->query_heads, c->kv_heads,
                c->head_dim);
    if (g->window_layers) {
        label_print(out, "");
        fprintf(out, "%" PRId64 " layers attend to a window of %" PRId64 " keys\n", g->window_layers, c->window);
    }
    if (g->sparse_layers) {
        label_print(out, "");
        fprintf(out, "%" PRId64 " layers with %" PRId64 " experts, %" PRId64 " a token\n", g->sparse_layers, c->experts,
                c->experts_per_token);
    }
    label_print(out, "");
    fprintf(out, "%s parameters (%s without norms), %s active a token\n", format_count(total, (uint64_t)g->total),
            format_count(bare, (uint64_t)(g->total - g->norms)), format_count(active, (uint64_t)g->active));
    if (c->defaulted[0]) {
        label_print(out, "defaulted");
        fprintf(out, "not in the file, as %s documents: %s\n", c->family->config_class, c->defaulted);
    }
    if (c->note[0]) {
        label_print(out, "note");
        fprintf(out, "%s\n", c->note);
    }
}

static void print_roof(const struct predict *predict, enum predict_roof roof, FILE *out)
{
    const enum gpu_path paths[2] = {predict->operands->path, predict->attention_path};
    char text[FORMAT_BYTES];
    double bytes = predict_roof_bytes(predict, roof);
    for (int i = 0; i < (paths[0] == paths[1] ? 1 : 2); i++) {
        double flops = predict_roof_flops(predict, roof, paths[i]);
        if (isnan(flops))
            fprintf(out, "%s not known", path_name(paths[i]));
        else
            fprintf(out, "%s TFLOP/s %s", format_tera(text, flops), path_name(paths[i]));
        if (!isnan(flops / bytes))
            fprintf(out, " (ridge %s FLOP/B)", format_intensity(text, flops / bytes));
        fprintf(out, ", ");
    }
    if (isnan(bytes))
        fprintf(out, "bandwidth not known");
    else
        fprintf(out, "%s GB/s", format_giga(text, bytes));
}

/* What to pass where the table has no peak. */
static void print_missing_peak(const struct predict *predict, FILE *out)
{
    const enum gpu_path paths[2] = {predict->operands->path, predict->attention_path};
    for (int i = 0; i < (paths[0] == paths[1] ? 1 : 2); i++) {
        if (!isnan(predict_roof_flops(predict, PREDICT_SPECIFICATION, paths[i])))
            continue;
        label_print(out, "");
        fprintf(
            out,
            "no peak of %s is known of this GPU, so no ridge, class or time: pass another --dtype, or --gpu-table\n",
            path_name(paths[i]));
    }
}

/* Figures of a length that the model was not made for are still those of that length. */
static void print_positions(const struct predict *predict, FILE *out)
{
    const struct predict_options *o = &predict->options;
    int64_t longest = o->prompt > o->context ? o->prompt : o->context;
    int64_t positions = predict->geometry->config->positions;
    if (!positions || longest <= positions)
        return;
    label_print(out, "");
    fprintf(out,
            "that is longer than config.json's max_position_embeddings, %" PRId64
            ": the model needs rope_scaling for it\n",
            positions);
}

static void print_gpu(const struct predict *predict, FILE *out)
{
    const struct predict_options *o = &predict->options;
    label_print(out, "GPU");
    fprintf(out, "%" PRId64 " x %s (%s)\n", o->tensor_parallel, o->gpu->name, o->gpu->key);
    label_print(out, "");
    fprintf(out, "specification: ");
    print_roof(predict, PREDICT_SPECIFICATION, out);
    fprintf(out, "\n");
    print_missing_peak(predict, out);
    if (o->gpu->achievable_source) {
        label_print(out, "");
        fprintf(out, "achievable (published): ");
        print_roof(predict, PREDICT_ACHIEVABLE, out);
        fprintf(out, "\n");
    }
}

static void print_formats(const struct predict *predict, FILE *out)
{
    label_print(out, "formats");
    fprintf(out, "weights %s; GEMMs of them in %s", predict->storage.name, predict->operands->name);
    if (predict->operand_scales.bits > 0)
        fprintf(out, " (a %.0f-bit scale for each %" PRId64 " of a row)", predict->operand_scales.bits,
                predict->operand_scales.inner);
    fprintf(out, "; activations %s; KV cache %s\n", predict->format->name, predict->kv->name);
    if (predict->options.weights) {
        label_print(out, "");
        fprintf(out, "--weights is about linear layers but lm_head and routers, which stay %s, as does the embedding\n",
                predict->format->name);
    }
    if (predict->geometry->config->kv_rank && predict->storage.bits != predict->format->bits) {
        label_print(out, "");
        fprintf(out, "kv_b_proj of decode, by heads, from copies in %s, as engines make them\n", predict->format->name);
    }
    if (predict->storage_note[0]) {
        label_print(out, "");
        fprintf(out, "%s\n", predict->storage_note);
    }
    if (predict->format == predict->geometry->config->format && predict->geometry->config->format_assumed) {
        label_print(out, "");
        fprintf(out, "the file has no torch_dtype: bfloat16 is assumed, --dtype says otherwise\n");
    }
}

static void print_load(const struct predict *predict, FILE *out)
{
    const struct predict_options *o = &predict->options;
    label_print(out, "load");
    fprintf(out, "batch %" PRId64 ", prompts of %" PRId64 " tokens, context of %" PRId64 " tokens", o->batch, o->prompt,
            o->context);
    if (o->chunk)
        fprintf(out, ", prefill in chunks of %" PRId64, o->chunk);
    fputc('\n', out);
    print_positions(predict, out);
    fprintf(out,
            "\nA bound at the roof, not a forecast: GEMMs and attention only, each distinct byte moved once, nothing "
            "else takes time.\n");
    if (o->tensor_parallel > 1)
        fprintf(out, "All figures are of one of the %" PRId64 " GPUs, except tokens/s.\n", o->tensor_parallel);
}

void predict_head_print(const struct predict_view *view, FILE *out)
{
    print_model(view, out);
    print_gpu(view->predict, out);
    print_formats(view->predict, out);
    print_load(view->predict, out);
}
