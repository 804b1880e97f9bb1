/* SPDX-License-Identifier: Apache-2.0 */
/* The model's side, every device's match, attention beside its prediction, and another split that would fit better. */
#include "classify/books.h"

#include <glob.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/books_match.h"
#include "classify/books_measure.h"
#include "classify/roof_time.h"
#include "classify/session.h"

const char *books_steps_source_name(enum books_steps_source source)
{
    static const char *const names[] = {
        [BOOKS_STEPS_UNKNOWN] = NULL,
        [BOOKS_STEPS_PHASES] = "phases",
        [BOOKS_STEPS_CALLS] = "calls",
    };
    return names[source];
}

struct predict_range books_narrow(struct predict_range range, double part)
{
    if (range.low != range.high)
        range.high = range.low + part * (range.high - range.low);
    return range;
}

/* ---- the model ---- */

static void sum_model(struct books *books)
{
    for (size_t i = 0; i < books->forms.plain_count; i++) {
        const struct weight_form *form = &books->forms.forms[i];
        struct predict_range bytes = weight_form_bytes(form);
        double parameters = (double)form->n * (double)form->k;
        books->model_bytes.low += bytes.low;
        books->model_bytes.high += bytes.high;
        books->model_parameters.low += form->calls.low * parameters;
        books->model_parameters.high += form->calls.high * parameters;
    }
    books->own_bytes = books->model_bytes;
}

/* A table is read by the row, unless it is lm_head too. */
static bool is_table(const struct books *books, const struct checkpoint *checkpoint, const char *name)
{
    static const char *const tables[] = {"embed_tokens.weight", "token_embd.weight"};
    bool table = false;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        size_t bytes = strlen(tables[i]), all = strlen(name);
        table |= all >= bytes && !strcmp(name + all - bytes, tables[i]);
    }
    if (!table || !books->config.tied)
        return table;
    for (size_t i = 0; i < checkpoint->count; i++) /* some keep a copy */
        if (!strcmp(checkpoint->tensors[i].name, "lm_head.weight") ||
            !strcmp(checkpoint->tensors[i].name, "output.weight"))
            return true;
    return false;
}

/* Vectors are no weights of a product. NAN: some tensor's size is not known. */
static double weight_bytes_of_checkpoint(const struct books *books, const struct checkpoint *checkpoint)
{
    double bytes = 0;
    for (size_t i = 0; i < checkpoint->count; i++) {
        const struct checkpoint_tensor *tensor = &checkpoint->tensors[i];
        if (!tensor->shape_known)
            return NAN;
        if (tensor->dimensions >= 2 && !is_table(books, checkpoint, tensor->name))
            bytes += tensor->bytes;
    }
    return bytes > 0 ? bytes : NAN;
}

static void take_checkpoint(struct books *books, const struct checkpoint *checkpoint)
{
    const struct checkpoint_comparison *c = &books->checkpoint;
    double bytes = weight_bytes_of_checkpoint(books, checkpoint);
    bool whole = c->verdict == CHECKPOINT_EQUAL && c->other_tensors == 0 && !isnan(bytes);
    if (!whole || books->config.experts || books->options.model.tensor_parallel > 1 || books->options.model.weights)
        return;
    books->own_bytes = (struct predict_range){bytes, bytes};
    books->own_of_checkpoint = true;
}

/* The one checkpoint that lies beside config.json, or NULL. */
static char *find_checkpoint(const char *config_path)
{
    static const char *const patterns[] = {"model.safetensors.index.json", "model.safetensors", "*.gguf"};
    const char *slash = strrchr(config_path, '/');
    size_t folder = slash ? (size_t)(slash - config_path) + 1 : 0;
    char pattern[2 * PATH_MAX + 64], *found = NULL;
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0] && !found; i++) {
        size_t used = 0;
        glob_t files;
        for (size_t j = 0; j < folder && used < sizeof pattern - 64; j++) {
            if (strchr("\\*?[", config_path[j]))
                pattern[used++] = '\\';
            pattern[used++] = config_path[j];
        }
        snprintf(pattern + used, sizeof pattern - used, "%s", patterns[i]);
        if (glob(pattern, 0, NULL, &files))
            continue;
        if (files.gl_pathc == 1) /* of several GGUF files none is the one */
            found = allocate_text(files.gl_pathv[0]);
        globfree(&files);
    }
    return found;
}

static bool compare_checkpoint(struct books *books, struct model_error *error)
{
    const char *asked = books->options.checkpoint;
    struct checkpoint checkpoint;
    struct model_error problem;
    books->checkpoint_path = asked ? allocate_text(asked) : find_checkpoint(books->config_path);
    if (!books->checkpoint_path)
        return true;
    if (!checkpoint_read(books->checkpoint_path, &checkpoint, &problem)) {
        books->checkpoint_problem = problem;
        if (!asked) /* a pointer of Git LFS, say: nobody asked for it */
            return true;
        snprintf(error->text, sizeof error->text, "%.200s: %.300s", books->checkpoint_path, problem.text);
        return false;
    }
    checkpoint_compare(&checkpoint, &books->geometry, &books->checkpoint);
    take_checkpoint(books, &checkpoint);
    checkpoint_free(&checkpoint);
    return true;
}

struct books *books_open(const char *path, const struct books_options *options, struct model_error *error)
{
    struct books *books = allocate(1, sizeof *books);
    struct model_error problem;
    char used[PATH_MAX + 16];
    books->options = *options;
    if (!model_config_read(path, &books->config, used, sizeof used, &problem)) {
        snprintf(error->text, sizeof error->text, "%.200s: %.300s", used, problem.text);
        free(books);
        return NULL;
    }
    books->config_path = allocate_text(used);
    bool good = model_geometry_build(&books->config, &books->geometry, &problem) &&
                weight_forms_of(&books->geometry, &options->model, &books->forms, &problem);
    if (!good)
        snprintf(error->text, sizeof error->text, "%.200s: %.300s", used, problem.text);
    sum_model(books);
    if (!good || !compare_checkpoint(books, error)) {
        books_free(books);
        return NULL;
    }
    return books;
}

/* ---- attention ---- */

/* At the session's roof, for the sequences that a decode step had. */
static void predict_attention(const struct books *books, const struct session *session, struct books_device *device)
{
    static const struct gpu_spec no_gpu; /* the session's device has the roof */
    double rows = session->phases[PHASE_DECODE].rows_per_step;
    int64_t batch = books->options.batch;
    struct predict_options how = {.gpu = &no_gpu,
                                  .prompt = 1,
                                  .context = books->options.context,
                                  .tensor_parallel = books->options.model.tensor_parallel,
                                  .weights = books->options.model.weights,
                                  .kv = books->options.kv};
    struct predict predict;
    struct model_error error;
    if (!batch && rows >= 1 && rows == floor(rows))
        batch = (int64_t)rows;
    how.batch = device->attention.batch = batch;
    if (!how.context || !batch || !predict_model(&books->geometry, &how, &predict, &error))
        return;
    const struct predict_step *step = &predict.steps[PREDICT_DECODE];
    device->attention.roof_ns = 0;
    for (size_t i = 0; i < step->count; i++) {
        const struct predict_operator *row = &step->operators[i];
        if (row->kind == PREDICT_ATTENTION)
            device->attention.roof_ns += roof_time_ns(session, device->device, row->path, row->flops, row->bytes.high);
    }
    predict_free(&predict);
}

/* ---- another split ---- */

static double shapes_seen(const struct books *books, const struct weight_forms *forms, const struct session *session)
{
    double most = 0;
    for (size_t i = 0; i < books->device_count; i++)
        most = fmax(most, books_shape_share(forms, session, books->devices[i].device));
    return most;
}

/* The least number of GPUs whose parts were seen, where what was asked for was not. */
static void find_better_split(struct books *books, const struct session *session)
{
    enum { GPUS_MOST = 64 };
    double now = shapes_seen(books, &books->forms, session);
    for (int64_t gpus = 1; gpus <= GPUS_MOST && now < 0.5; gpus *= 2) {
        struct weight_forms_options how = books->options.model;
        struct weight_forms *forms = allocate(1, sizeof *forms);
        struct model_error error;
        how.tensor_parallel = gpus;
        if (weight_forms_of(&books->geometry, &how, forms, &error)) {
            double seen = shapes_seen(books, forms, session);
            if (seen > now && seen >= 0.9) {
                now = seen;
                books->fits_better = gpus;
            }
        }
        free(forms);
    }
}

/* ---- the session ---- */

static bool has_work(const struct session *session, int device)
{
    for (size_t i = 0; i < session->operator_count; i++)
        if (session->operators[i].device == device)
            return true;
    return false;
}

/* Of a model that is split by layers each has a part. */
static double share_of_all(const struct books *books)
{
    double bytes = 0;
    for (size_t i = 0; i < books->device_count; i++)
        bytes += books->devices[i].bytes;
    return books->device_count > 1 && books->options.model.tensor_parallel == 1 ? bytes / books->own_bytes.high : NAN;
}

void books_close_with(struct books *books, const struct session *session)
{
    size_t capacity = 0;
    for (int d = SESSION_DEVICE_UNKNOWN; d < (int)session->device_count; d++) {
        if (!has_work(session, d))
            continue;
        books->devices = allocate_grow(books->devices, books->device_count, &capacity, sizeof *books->devices);
        struct books_device *device = &books->devices[books->device_count++];
        books_match(books, session, d, device);
        books_measure(books, session, device);
        predict_attention(books, session, device);
    }
    books->all_share = share_of_all(books);
    find_better_split(books, session);
}

void books_free(struct books *books)
{
    if (!books)
        return;
    for (size_t i = 0; i < books->device_count; i++)
        books_match_free(&books->devices[i]);
    free(books->devices);
    free(books->checkpoint_path);
    free(books->config_path);
    model_config_free(&books->config);
    free(books);
}
