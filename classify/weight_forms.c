/* SPDX-License-Identifier: Apache-2.0 */
/* Out of two predictions, one with siblings joined and one without; any GPU will do for shapes, so none is named. */
#include "classify/weight_forms.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *without_layer(const char *name)
{
    static const char prefix[] = "layers.*.";
    return strncmp(name, prefix, sizeof prefix - 1) ? name : name + sizeof prefix - 1;
}

struct predict_range weight_form_bytes(const struct weight_form *form)
{
    double each = (double)form->n * (double)form->k * (double)form->batch * form->bits / 8;
    return (struct predict_range){form->calls.low * each, form->calls.high * each};
}

static bool is_weight(const struct predict_operator *row)
{
    return row->kind == PREDICT_GEMM || row->kind == PREDICT_EXPERTS;
}

static struct weight_form *append(struct weight_forms *forms, const char *name, enum weight_form_kind kind,
                                  uint32_t parts)
{
    if (forms->count == WEIGHT_FORMS_MOST)
        return NULL;
    struct weight_form *form = &forms->forms[forms->count++];
    *form = (struct weight_form){.kind = kind, .batch = 1, .parts = parts};
    snprintf(form->name, sizeof form->name, "%s", name);
    return form;
}

/* ---- as the checkpoint has them ---- */

static void add_plain(struct weight_forms *forms, const struct model_config *config, const struct predict_step *step)
{
    for (size_t i = 0; i < step->count; i++) {
        const struct predict_operator *row = &step->operators[i];
        if (!is_weight(row))
            continue;
        struct weight_form *form =
            append(forms, without_layer(row->name), WEIGHT_FORM_PLAIN, UINT32_C(1) << forms->count);
        double layers = (double)row->calls;
        form->n = row->n;
        form->k = row->k;
        form->bits = row->weight_bits;
        form->experts = row->kind == PREDICT_EXPERTS;
        form->calls = (struct predict_range){layers, layers};
        if (form->experts)
            form->calls =
                (struct predict_range){layers * (double)config->experts_per_token, layers * (double)config->experts};
    }
    forms->plain_count = forms->count;
}

/* ---- joined ---- */

static const char *last_part(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

/* Plain forms FIRST to LAST as one. */
static void add_joined(struct weight_forms *forms, size_t first, size_t last)
{
    const struct weight_form *one = &forms->forms[first];
    struct weight_form *form = append(forms, one->name, WEIGHT_FORM_FUSED, 0);
    double bits = 0;
    if (!form)
        return;
    form->k = one->k;
    form->calls = one->calls;
    form->experts = one->experts;
    for (size_t i = first; i <= last; i++) {
        const struct weight_form *part = &forms->forms[i];
        size_t used = strlen(form->name);
        form->parts |= part->parts;
        form->n += part->n;
        bits += part->bits * (double)part->n;
        if (i > first)
            snprintf(form->name + used, sizeof form->name - used, "+%s", last_part(part->name));
    }
    form->bits = bits / (double)form->n;
}

/* A row of the joined prediction stands for the plain forms, one after the other, that come to its N. The first may stay
 * apart: k and v as one beside q. */
static void add_fused(struct weight_forms *forms, const struct predict_step *fused)
{
    size_t next = 0;
    for (size_t i = 0; i < fused->count; i++) {
        int64_t n = 0;
        size_t first = next;
        if (!is_weight(&fused->operators[i]))
            continue;
        while (next < forms->plain_count && n < fused->operators[i].n)
            n += forms->forms[next++].n;
        for (size_t from = first; from + 1 < next; from++)
            add_joined(forms, from, next - 1);
    }
}

/* ---- by heads, padded ---- */

static const struct weight_form *part_named(const struct weight_forms *forms, const char *name)
{
    for (size_t i = 0; i < forms->plain_count; i++) {
        size_t bytes = strlen(forms->forms[i].name);
        if (!strncmp(forms->forms[i].name, name, bytes) && name[bytes] == ' ')
            return &forms->forms[i];
    }
    return NULL;
}

/* Bits are the plain one's: the row's may be of a copy that an engine makes. */
static void add_heads(struct weight_forms *forms, const struct predict_step *decode)
{
    for (size_t i = 0; i < decode->count; i++) {
        const struct predict_operator *row = &decode->operators[i];
        const char *name = without_layer(row->name);
        const struct weight_form *part = row->kind == PREDICT_BATCHED_GEMM ? part_named(forms, name) : NULL;
        struct weight_form *form = part ? append(forms, name, WEIGHT_FORM_HEADS, part->parts) : NULL;
        if (!form)
            continue;
        form->n = row->n;
        form->k = row->k;
        form->batch = row->batch;
        form->bits = part->bits;
        form->calls = (struct predict_range){(double)row->calls, (double)row->calls};
    }
}

/* vLLM pads the vocabulary up to a multiple of 64 before it is divided among GPUs (vllm/model_executor/layers/
 * vocab_parallel_embedding.py, DEFAULT_VOCAB_PADDING_SIZE). */
static void add_padded_head(struct weight_forms *forms, const struct model_config *config, int64_t gpus)
{
    const struct weight_form *head = &forms->forms[forms->plain_count - 1];
    int64_t pad = WEIGHT_FORMS_VOCABULARY_PAD, padded = (config->vocab + pad - 1) / pad * pad;
    int64_t n = (padded + gpus - 1) / gpus;
    if (!forms->plain_count || strcmp(head->name, "lm_head") || n == head->n)
        return;
    struct weight_form *form = append(forms, "lm_head (padded)", WEIGHT_FORM_PADDED, head->parts);
    if (!form)
        return;
    form->n = n;
    form->k = head->k;
    form->bits = head->bits;
    form->calls = head->calls;
}

/* ---- the whole ---- */

bool weight_forms_of(const struct model_geometry *geometry, const struct weight_forms_options *options,
                     struct weight_forms *forms, struct model_error *error)
{
    static const struct gpu_spec no_gpu; /* no figure of it is known, and none is asked for */
    struct predict_options how = {.gpu = &no_gpu,
                                  .batch = 1,
                                  .prompt = 1,
                                  .context = 1,
                                  .tensor_parallel = options->tensor_parallel,
                                  .weights = options->weights};
    struct predict plain, fused;
    *forms = (struct weight_forms){0};
    if (!predict_model(geometry, &how, &plain, error))
        return false;
    how.fused = true;
    if (!predict_model(geometry, &how, &fused, error)) {
        predict_free(&plain);
        return false;
    }
    add_plain(forms, geometry->config, &plain.steps[PREDICT_PREFILL]);
    add_fused(forms, &fused.steps[PREDICT_PREFILL]);
    add_heads(forms, &plain.steps[PREDICT_DECODE]);
    if (forms->plain_count)
        add_padded_head(forms, geometry->config, options->tensor_parallel);
    predict_free(&plain);
    predict_free(&fused);
    return true;
}
