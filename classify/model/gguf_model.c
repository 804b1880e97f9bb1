/* SPDX-License-Identifier: Apache-2.0 */
/* Names tell what a tensor is for. */
#include "classify/model/gguf_model.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/regular_file.h"

/* Tensors of two and more dimensions that no product reads: those whose operation is GET_ROWS, SSM_CONV, SSM_SCAN, IM2COL, ADD
 * or ROPE. Source: ggml-org/llama.cpp, src/llama-arch.cpp, LLM_TENSOR_INFOS. */
static const char *const not_multiplied[] = {
    "token_embd",      "position_embd",    "token_types",   "per_layer_token_embd", "ssm_conv1d*",    "ssm_a",
    "ssm_d",           "shortconv.conv",   "ple_conv1d",    "time_mix_lerp_*",      "time_mix_decay", "time_mix_first",
    "time_mix_[wav]0", "conv1d*",          "convnext.*.dw", "posnet.*.conv[12]",    "*attn_rel_b",    "rope_f*",
    "*_ape",           "ffn_gate_tid2eid", "d2t",           "exp_probs_b*",         "masked_embd_*",  "nextn.*",
};

/* llama.cpp builds layers in this order; q, k and v, and gate and up, come in orders that differ by version. */
static const struct {
    const char *name;
    enum gguf_place place;
} places[] = {
    {"attn_q", GGUF_PLACE_INPUT},       {"attn_k", GGUF_PLACE_INPUT},        {"attn_v", GGUF_PLACE_INPUT},
    {"attn_qkv", GGUF_PLACE_INPUT},     {"attn_output", GGUF_PLACE_OUTPUT},  {"ffn_gate_inp", GGUF_PLACE_UP},
    {"ffn_gate", GGUF_PLACE_UP},        {"ffn_up", GGUF_PLACE_UP},           {"ffn_gate_exps", GGUF_PLACE_UP},
    {"ffn_up_exps", GGUF_PLACE_UP},     {"ffn_gate_up_exps", GGUF_PLACE_UP}, {"ffn_down", GGUF_PLACE_DOWN},
    {"ffn_down_exps", GGUF_PLACE_DOWN}, {"output", GGUF_PLACE_HEAD},
};

static bool is_multiplied(const char *name)
{
    for (size_t i = 0; i < sizeof not_multiplied / sizeof not_multiplied[0]; i++)
        if (!fnmatch(not_multiplied[i], name, 0))
            return false;
    return true;
}

/* Index in places[]; behind all of them: none. */
static size_t order_of(const char *name)
{
    size_t i = 0;
    while (i < sizeof places / sizeof places[0] && strcmp(places[i].name, name))
        i++;
    return i;
}

static enum gguf_place place_of(const char *name)
{
    const size_t order = order_of(name);
    return order < sizeof places / sizeof places[0] ? places[order].place : GGUF_PLACE_UNKNOWN;
}

/* "blk.7.attn_q.weight" → "attn_q", 7. NULL: it is no weight. */
static char *short_name(const char *full, int64_t *layer)
{
    static const char suffix[] = ".weight";
    const size_t bytes = strlen(full);
    int number, read = 0;
    *layer = GGUF_NO_LAYER;
    if (bytes < sizeof suffix || strcmp(full + bytes - (sizeof suffix - 1), suffix))
        return NULL;
    const char *begin = full;
    if (sscanf(full, "blk.%d.%n", &number, &read) == 1 && read > 0 && number >= 0) {
        *layer = number;
        begin = full + read;
    }
    char *name = allocate_text(begin);
    name[strlen(name) - (sizeof suffix - 1)] = '\0';
    return name;
}

static bool has(const struct checkpoint *checkpoint, const char *name)
{
    for (size_t i = 0; i < checkpoint->count; i++)
        if (!strcmp(checkpoint->tensors[i].name, name))
            return true;
    return false;
}

static void add(struct gguf_model *model, const struct checkpoint_tensor *tensor, char *name, int64_t layer)
{
    const int last = tensor->dimensions - 1;
    struct gguf_matrix matrix = {.name = name, .layer = layer, .format = tensor->format, .place = place_of(name)};
    matrix.tied = !strcmp(name, "token_embd");
    if (matrix.tied)
        matrix.place = GGUF_PLACE_HEAD;
    matrix.n = (int64_t)tensor->shape[last - 1];
    matrix.k = (int64_t)tensor->shape[last];
    matrix.matrices = 1;
    for (int i = 0; i < last - 1; i++)
        matrix.matrices *= (int64_t)tensor->shape[i];
    matrix.experts = strstr(name, "_exps") || strstr(name, "_chexps");
    matrix.bytes = tensor->bytes / (double)matrix.matrices;
    model->matrices = allocate_grow(model->matrices, model->count, &model->capacity, sizeof *model->matrices);
    model->matrices[model->count++] = matrix;
}

/* False: ERROR tells. */
static bool take(struct gguf_model *model, const struct checkpoint *checkpoint, const struct checkpoint_tensor *tensor,
                 struct model_error *error)
{
    const struct gguf_facts *facts = &checkpoint->gguf;
    int64_t layer;
    if (tensor->dimensions < 2 || !tensor->elements)
        return true;
    char *name = short_name(tensor->name, &layer);
    if (!name)
        return true;
    const bool table = !strcmp(name, "token_embd");
    const bool tied = table && !has(checkpoint, "output.weight");
    const bool predicts =
        facts->predict_layers > 0 && facts->layers > 0 && layer >= facts->layers - facts->predict_layers;
    if (table || !strcmp(name, "per_layer_token_embd"))
        model->table_bytes += isnan(tensor->bytes) ? 0 : tensor->bytes;
    if (predicts || (!tied && !is_multiplied(name))) {
        free(name);
        return true;
    }
    if (isnan(tensor->bytes)) {
        snprintf(error->text, sizeof error->text,
                 "tensor %.100s has a type that this rooftap does not know the size of; a newer one may", tensor->name);
        free(name);
        return false;
    }
    add(model, tensor, name, layer);
    return true;
}

static int by_layer(const void *left, const void *right)
{
    const struct gguf_matrix *a = left, *b = right;
    const int64_t x = a->layer == GGUF_NO_LAYER ? INT64_MAX : a->layer,
                  y = b->layer == GGUF_NO_LAYER ? INT64_MAX : b->layer;
    if (x != y)
        return x < y ? -1 : 1;
    const size_t first = order_of(a->name), second = order_of(b->name);
    if (first != second)
        return first < second ? -1 : 1;
    return strcmp(a->name, b->name);
}

bool gguf_model_of(const struct checkpoint *checkpoint, struct gguf_model *model, struct model_error *error)
{
    *model = (struct gguf_model){.facts = checkpoint->gguf};
    if (checkpoint->kind != CHECKPOINT_GGUF) {
        snprintf(error->text, sizeof error->text, "is no GGUF file");
        return false;
    }
    for (size_t i = 0; i < checkpoint->count; i++)
        if (!take(model, checkpoint, &checkpoint->tensors[i], error)) {
            gguf_model_free(model);
            return false;
        }
    if (!model->count) {
        snprintf(error->text, sizeof error->text, "has no matrix in it: expected a language model");
        gguf_model_free(model);
        return false;
    }
    qsort(model->matrices, model->count, sizeof *model->matrices, by_layer);
    model->files_missing = checkpoint->files - checkpoint->files_read;
    if (!checkpoint->files && checkpoint->gguf.parts > 1) /* renamed, so that the others can't be found */
        model->files_missing = (size_t)checkpoint->gguf.parts - 1;
    return true;
}

void gguf_model_free(struct gguf_model *model)
{
    for (size_t i = 0; i < model->count; i++)
        free(model->matrices[i].name);
    free(model->matrices);
    *model = (struct gguf_model){0};
}

bool gguf_model_is(const char *path)
{
    char head[4] = {0};
    uint64_t bytes;
    FILE *file = regular_file_open(path, &bytes);
    if (!file)
        return false;
    const bool is = fread(head, 1, sizeof head, file) == sizeof head && !memcmp(head, "GGUF", sizeof head);
    fclose(file);
    return is;
}
