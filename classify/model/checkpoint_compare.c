/* SPDX-License-Identifier: Apache-2.0 */
/* Every tensor of the checkpoint is looked up by its name with numbers taken out; every expected one must come as often as
 * the geometry says. */
#include "classify/model/checkpoint.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classify/model/gguf.h"

enum { EXPECTED_MOST = 3 * MODEL_MATRICES_MOST + MODEL_VECTORS_MOST, PATTERN_BYTES = 256 };

/* A kind of tensor that the geometry implies. */
struct expected {
    char pattern[MODEL_NAME_BYTES + 16];
    int dimensions;
    uint64_t shape[CHECKPOINT_DIMENSIONS];
    size_t count, seen;
    int64_t elements;
    int64_t part_elements; /* of a tensor that GGUF cuts into parts: of all parts seen */
    size_t parts_seen;
    bool optional; /* lm_head of tied embeddings: some checkpoints keep a copy */
};

struct work {
    const struct checkpoint *checkpoint;
    const struct model_geometry *geometry;
    struct checkpoint_comparison *result;
    struct expected expected[EXPECTED_MOST];
    int count;
    size_t packed; /* quantised tensors whose shape tells nothing */
    bool shapes_known;
};

/* ---- what is expected ---- */

static void expect(struct work *work, const char *name, const char *suffix, int64_t count, int dimensions,
                   const int64_t *shape, bool optional)
{
    struct expected *e = &work->expected[work->count++];
    *e = (struct expected){.dimensions = dimensions, .count = (size_t)count, .elements = 1, .optional = optional};
    snprintf(e->pattern, sizeof e->pattern, "%s%s", name, suffix);
    for (int i = 0; i < dimensions; i++) {
        e->shape[i] = (uint64_t)shape[i];
        e->elements *= shape[i];
    }
}

static void expect_matrix(struct work *work, const struct model_matrix *matrix)
{
    int64_t layers = model_geometry_layers(work->geometry, matrix->where);
    bool gguf = work->checkpoint->kind == CHECKPOINT_GGUF;
    if (matrix->stacked) {
        expect(work, matrix->name, "", layers, 3, (int64_t[]){matrix->experts, matrix->in, matrix->out}, false);
        expect(work, matrix->name, "_bias", layers, 2, (int64_t[]){matrix->experts, matrix->out}, false);
        return;
    }
    if (matrix->experts > 1 && gguf)
        expect(work, matrix->name, ".weight", layers, 3, (int64_t[]){matrix->experts, matrix->out, matrix->in}, false);
    else
        expect(work, matrix->name, ".weight", matrix->copies, 2, (int64_t[]){matrix->out, matrix->in}, matrix->tied);
    if (matrix->bias)
        expect(work, matrix->name, ".bias", matrix->copies, 1, (int64_t[]){matrix->out}, false);
}

static void expect_all(struct work *work)
{
    for (int i = 0; i < work->geometry->matrix_count; i++)
        expect_matrix(work, &work->geometry->matrices[i]);
    for (int i = 0; i < work->geometry->vector_count; i++) {
        const struct model_vector *vector = &work->geometry->vectors[i];
        expect(work, vector->name, "", vector->copies, 1, (int64_t[]){vector->elements}, false);
    }
}

/* ---- names ---- */

/* Numbers between dots become `*`; the first one is that of the layer, -1: none. */
static int64_t make_pattern(const char *name, char pattern[PATTERN_BYTES])
{
    int64_t layer = -1;
    size_t used = 0;
    bool start = true;
    while (*name && used < PATTERN_BYTES - 2) {
        size_t digits = start ? strspn(name, "0123456789") : 0;
        if (digits && (name[digits] == '.' || !name[digits])) {
            if (layer < 0)
                layer = digits < 10 ? atoll(name) : INT64_MAX;
            pattern[used++] = '*';
            name += digits;
        } else {
            pattern[used++] = *name++;
        }
        start = pattern[used - 1] == '.';
    }
    pattern[used] = '\0';
    return layer;
}

static const char *without_prefix(const char *pattern)
{
    static const char *const prefixes[] = {"language_model.model.", "model.language_model.", "language_model.",
                                           "model."};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (!strncmp(pattern, prefixes[i], strlen(prefixes[i])))
            return pattern + strlen(prefixes[i]);
    return pattern;
}

static struct expected *find(struct work *work, const char *pattern)
{
    for (int i = 0; i < work->count; i++)
        if (!strcmp(work->expected[i].pattern, pattern))
            return &work->expected[i];
    return NULL;
}

/* PARTS: how many tensors of the file one that is expected is cut into. */
static struct expected *find_by_format(struct work *work, const char *pattern, int *parts)
{
    *parts = 1;
    if (work->checkpoint->kind != CHECKPOINT_GGUF)
        return find(work, without_prefix(pattern));
    const struct gguf_name *name;
    for (int i = 0; (name = gguf_tensor_name(pattern, i)); i++) {
        struct expected *found = find(work, name->name);
        *parts = name->parts;
        if (found)
            return found;
    }
    return NULL;
}

/* What quantisation methods put in the place of "x.weight", and beside it. */
static const struct {
    const char *suffix, *replaces; /* NULL: lies beside a weight */
} packed_names[] = {
    {".qweight", ".weight"},
    {".weight_packed", ".weight"},
    {"_blocks", ""},
    {".qzeros", NULL},
    {".scales", NULL},
    {".g_idx", NULL},
    {".weight_scale_inv", NULL},
    {".weight_scale", NULL},
    {".weight_scale_2", NULL},
    {".input_scale", NULL},
    {".weight_zero_point", NULL},
    {".weight_shape", NULL},
    {".weight_global_scale", NULL},
    {"_scales", NULL},
    {".weight.absmax", NULL},
    {".weight.quant_map", NULL},
    {".weight.nested_absmax", NULL},
    {".weight.nested_quant_map", NULL},
    {".weight.quant_state.bitsandbytes__nf4", NULL},
    {".weight.quant_state.bitsandbytes__fp4", NULL},
    {".SCB", NULL},
    {".biases", NULL},
    {".weight_format", NULL},
};

/* True: part of a quantised weight; *EXPECTED is the weight that it stands for, or NULL. */
static bool is_packed(struct work *work, const char *pattern, struct expected **expected)
{
    pattern = without_prefix(pattern);
    size_t length = strlen(pattern);
    for (size_t i = 0; i < sizeof packed_names / sizeof packed_names[0]; i++) {
        size_t suffix = strlen(packed_names[i].suffix);
        if (length <= suffix || strcmp(pattern + length - suffix, packed_names[i].suffix) != 0)
            continue;
        *expected = NULL;
        if (packed_names[i].replaces) {
            char name[PATTERN_BYTES + 16];
            snprintf(name, sizeof name, "%.*s%s", (int)(length - suffix), pattern, packed_names[i].replaces);
            *expected = find(work, name);
        }
        return true;
    }
    return false;
}

/* Buffers and other parts that are no parameters of the language model. */
static bool is_beside(const struct work *work, const char *pattern, int64_t layer)
{
    static const char *const parts[] = {"vision",       "visual",     "audio",      "multi_modal_projector",
                                        "mm_projector", "rotary_emb", "rope_freqs", "rope_factors",
                                        "mtp",          "nextn"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strstr(pattern, parts[i]))
            return true;
    return layer >= work->geometry->config->layers && layer != INT64_MAX; /* multi-token prediction */
}

/* ---- differences ---- */

static void tell(struct work *work, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void tell(struct work *work, const char *format, ...)
{
    struct checkpoint_comparison *result = work->result;
    if (result->difference_count == CHECKPOINT_DIFFERENCES_SHOWN)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(result->differences[result->difference_count++], CHECKPOINT_DIFFERENCE_BYTES, format, arguments);
    va_end(arguments);
}

static void describe_shape(char text[64], int dimensions, const uint64_t *shape)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < dimensions && used < 60; i++)
        used += (size_t)snprintf(text + used, 64 - used, "%s%" PRIu64, i ? " x " : "", shape[i]);
}

/* A matrix of one row may be stored as a vector. */
static bool has_shape(const struct checkpoint_tensor *tensor, const struct expected *e)
{
    int skip = e->dimensions > 1 && e->shape[0] == 1 && tensor->dimensions == e->dimensions - 1;
    if (tensor->dimensions != e->dimensions - skip)
        return false;
    for (int i = 0; i < tensor->dimensions; i++)
        if (tensor->shape[i] != e->shape[i + skip])
            return false;
    return true;
}

/* gpt-oss keeps K x N in safetensors; GGUF has every matrix as N x K. */
static bool has_turned_shape(const struct work *work, const struct checkpoint_tensor *tensor, const struct expected *e)
{
    return work->checkpoint->kind == CHECKPOINT_GGUF && e->dimensions == 3 && tensor->dimensions == 3 &&
           tensor->shape[0] == e->shape[0] && tensor->shape[1] == e->shape[2] && tensor->shape[2] == e->shape[1];
}

/* What no weight is kept in but packed ones. */
static bool is_packing_type(const struct model_format *format)
{
    return format &&
           (!strcmp(format->name, "uint8") || !strcmp(format->name, "uint32") || !strcmp(format->name, "int32"));
}

/* Parts are compared by their elements: all of them together are the whole. */
static void take_part(struct work *work, const struct checkpoint_tensor *tensor, struct expected *e, int parts)
{
    work->result->parameters += (int64_t)tensor->elements;
    e->part_elements += (int64_t)tensor->elements;
    e->parts_seen++;
    e->seen = e->parts_seen / (size_t)parts;
}

static void compare_tensor(struct work *work, const struct checkpoint_tensor *tensor, struct expected *e)
{
    struct checkpoint_comparison *result = work->result;
    bool stored_packed = is_packing_type(tensor->format) && !has_shape(tensor, e);
    e->seen++;
    if (stored_packed) {
        work->packed++;
        result->parameters += e->elements;
        return;
    }
    result->parameters += tensor->shape_known ? (int64_t)tensor->elements : e->elements;
    if (!tensor->shape_known || has_shape(tensor, e) || has_turned_shape(work, tensor, e))
        return;
    char found[64], wanted[64];
    describe_shape(found, tensor->dimensions, tensor->shape);
    describe_shape(wanted, e->dimensions, e->shape);
    result->wrong_shape++;
    tell(work, "%.80s is %s, expected %s", tensor->name, found, wanted);
}

static void take_tensor(struct work *work, const struct checkpoint_tensor *tensor)
{
    struct checkpoint_comparison *result = work->result;
    char pattern[PATTERN_BYTES];
    int64_t layer = make_pattern(tensor->name, pattern);
    int parts;
    struct expected *e = find_by_format(work, pattern, &parts);
    result->bytes += tensor->bytes;
    work->shapes_known &= tensor->shape_known;
    bool inside = layer < 0 || layer < work->geometry->config->layers;
    if (e && inside && parts > 1) {
        take_part(work, tensor, e, parts);
    } else if (e && inside && !e->optional) {
        compare_tensor(work, tensor, e);
    } else if (e && inside) {
        result->other_tensors++; /* a copy of the embedding */
    } else if (inside && is_packed(work, pattern, &e)) {
        work->packed++;
        if (e) {
            e->seen++;
            result->parameters += e->elements;
        }
    } else if (is_beside(work, pattern, layer)) {
        result->other_tensors++;
        result->other_parameters += (int64_t)tensor->elements;
    } else {
        result->unknown++;
        result->parameters += (int64_t)tensor->elements;
        tell(work, "%.100s is not expected", tensor->name);
    }
}

/* Parts that are not there hold what is missing. */
static bool is_incomplete(const struct checkpoint *checkpoint)
{
    return checkpoint->kind != CHECKPOINT_SAFETENSORS_INDEX && checkpoint->files_read < checkpoint->files;
}

static void find_missing(struct work *work)
{
    for (int i = 0; i < work->count; i++) {
        struct expected *e = &work->expected[i];
        if (e->optional || e->seen == e->count)
            continue;
        if (e->seen < e->count) {
            work->result->missing += e->count - e->seen;
            if (is_incomplete(work->checkpoint))
                continue;
            tell(work, "%zu of %zu %s missing", e->count - e->seen, e->count, e->pattern);
        } else {
            work->result->unknown += e->seen - e->count;
            tell(work, "%zu %s, expected %zu", e->seen, e->pattern, e->count);
        }
    }
    for (int i = 0; i < work->count; i++) {
        const struct expected *e = &work->expected[i];
        int64_t wanted = e->elements * (int64_t)e->count;
        if (e->parts_seen && e->seen == e->count && e->part_elements != wanted) {
            work->result->wrong_shape++;
            tell(work, "%s: its parts have %" PRId64 " elements, expected %" PRId64, e->pattern, e->part_elements,
                 wanted);
        }
    }
}

/* An index without its files: names, and perhaps a size. */
static void compare_size(struct work *work)
{
    const struct checkpoint *checkpoint = work->checkpoint;
    struct checkpoint_comparison *result = work->result;
    double bits = work->geometry->config->format->bits;
    result->parameters = -1;
    result->bytes = checkpoint->total_bytes ? (double)checkpoint->total_bytes : NAN;
    if (result->other_tensors || work->packed || work->geometry->config->quantised ||
        (!checkpoint->total_parameters && !checkpoint->total_bytes)) {
        snprintf(
            result->note, sizeof result->note,
            "Names only were compared: %zu of %zu files that the index names are there, and its size is no count of "
            "the model's parameters.",
            checkpoint->files_read, checkpoint->files);
        return;
    }
    if (checkpoint->total_parameters) {
        result->parameters = (int64_t)checkpoint->total_parameters;
    } else {
        result->parameters = (int64_t)((double)checkpoint->total_bytes * 8 / bits);
        static const double others[] = {32, 16};
        for (int i = 0; i < 2 && result->parameters != result->expected; i++)
            if ((double)checkpoint->total_bytes * 8 / others[i] == (double)result->expected) {
                result->parameters = result->expected;
                snprintf(result->note, sizeof result->note,
                         "The checkpoint is stored in %.0f bits, torch_dtype has %.0f.", others[i], bits);
            }
    }
    if (result->parameters != result->expected)
        tell(work, "the index tells of %" PRId64 " parameters, expected %" PRId64, result->parameters,
             result->expected);
}

static enum checkpoint_verdict judge(const struct work *work)
{
    const struct checkpoint_comparison *result = work->result;
    bool counted = result->parameters >= 0;
    if (is_incomplete(work->checkpoint))
        return result->difference_count ? CHECKPOINT_DIFFERENT : CHECKPOINT_NOT_COMPARABLE;
    if (result->difference_count || (counted && result->parameters != result->expected))
        return CHECKPOINT_DIFFERENT;
    return counted && !work->packed ? CHECKPOINT_EQUAL : CHECKPOINT_NOT_COMPARABLE;
}

void checkpoint_compare(const struct checkpoint *checkpoint, const struct model_geometry *geometry,
                        struct checkpoint_comparison *comparison)
{
    *comparison = (struct checkpoint_comparison){
        .kind = checkpoint->kind, .tensors = checkpoint->count, .expected = geometry->total};
    struct work work = {.checkpoint = checkpoint, .geometry = geometry, .result = comparison, .shapes_known = true};
    expect_all(&work);
    for (size_t i = 0; i < checkpoint->count; i++)
        take_tensor(&work, &checkpoint->tensors[i]);
    find_missing(&work);
    if (!work.shapes_known || !checkpoint->count)
        compare_size(&work);
    else if (is_incomplete(checkpoint)) {
        comparison->parameters = -1;
        snprintf(comparison->note, sizeof comparison->note,
                 "Only %zu of %zu files are there: their tensors were compared.", checkpoint->files_read,
                 checkpoint->files);
    } else if (work.packed)
        snprintf(comparison->note, sizeof comparison->note,
                 "%zu tensors are packed by quantisation: they are there, their shapes were not compared.",
                 work.packed);
    comparison->verdict = judge(&work);
}
