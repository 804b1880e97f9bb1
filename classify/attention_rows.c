/* SPDX-License-Identifier: Apache-2.0 */
/* Rows are found by a hash of their geometry, lengths by that of their sizes, so that a context which grows by one key a step
 * costs no more than a look-up for each. */
#include "classify/attention_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/books.h"
#include "classify/index_map.h"
#include "classify/launch_groups.h"
#include "classify/model_books.h"
#include "classify/predict_shard.h"
#include "classify/session.h"

/* ---- the model ---- */

/* Heads of the whole model; NAN and negative where not known. */
struct model_attention {
    bool named;
    int64_t n_q, n_kv, d, d_v; /* n_q, n_kv: of one GPU's part */
    int64_t latent, latent_v;  /* d and d_v of absorbed MLA; 0: none */
    int64_t parts;             /* GPUs that share the heads */
    double bits, kv_bits;      /* of Q and the output; of K and V in prefill */
    enum gpu_path path;
    double layer_parameters;
};

static struct model_attention of_config(const struct books *books)
{
    const struct model_config *config = &books->config;
    const struct model_format *kv = books->options.kv ? books->options.kv : config->format;
    struct predict_shard shard;
    struct model_error error;
    if (!predict_shard_of(config, books->options.model.tensor_parallel, &shard, &error))
        return (struct model_attention){.named = false};
    return (struct model_attention){
        .named = true,
        .n_q = shard.query_heads,
        .n_kv = shard.kv_heads,
        .d = config->head_dim,
        .d_v = config->value_dim,
        .latent = config->kv_rank ? config->kv_rank + config->rope_dim : 0,
        .latent_v = config->kv_rank,
        .parts = shard.gpus,
        .bits = config->format->bits,
        .kv_bits = config->kv_rank ? config->format->bits : kv->bits, /* MLA's are unfolded just before */
        .path = config->format->path,
        .layer_parameters = model_geometry_layer_parameters(&books->geometry),
    };
}

/* Mean active parameters of the matrices of a layer; of experts, those that a token is routed to. */
static double parameters_of_layer(const struct gguf_model *model)
{
    const int64_t layers = model->facts.layers - (model->facts.predict_layers > 0 ? model->facts.predict_layers : 0);
    double parameters = 0;
    for (size_t i = 0; i < model->count; i++) {
        const struct gguf_matrix *matrix = &model->matrices[i];
        if (matrix->layer < 0 || matrix->layer >= layers)
            continue;
        const int64_t times = matrix->experts ? model->facts.experts_used : matrix->matrices;
        parameters += times > 0 ? (double)times * (double)matrix->n * (double)matrix->k : NAN;
    }
    return layers > 0 && parameters > 0 && !model->files_missing ? parameters / (double)layers : NAN;
}

/* In which format K and V are cached, and what multiplies them, stands in no GGUF. */
static struct model_attention of_gguf(const struct model_books *model_books)
{
    const struct gguf_facts *facts = &model_books->model.facts;
    return (struct model_attention){
        .named = facts->query_heads > 0 && facts->kv_heads > 0 && facts->key_dim > 0 && facts->value_dim > 0,
        .n_q = facts->query_heads,
        .n_kv = facts->kv_heads,
        .d = facts->key_dim,
        .d_v = facts->value_dim,
        .parts = 1,
        .bits = NAN,
        .kv_bits = NAN,
        .path = GPU_PATH_UNKNOWN,
        .layer_parameters = parameters_of_layer(&model_books->model),
    };
}

static struct model_attention model_attention_of(const struct books *books, const struct model_books *model_books)
{
    return books ? of_config(books) : model_books ? of_gguf(model_books) : (struct model_attention){.named = false};
}

/* ---- one row ---- */

/* The closed forms know one size of K and V, and one of Q and the output: the mean of theirs, by how much of each there is. */
static void find_lengths_at_ridge(struct attention_row *row)
{
    const double d = (double)row->d, d_v = (double)row->d_v;
    const double k_bytes = d * row->k_bits / 8, v_bytes = row->v_in_k ? 0 : d_v * row->v_bits / 8;
    const double kv = (k_bytes + v_bytes) / (d + d_v);
    const double q = (d * row->q_bits + d_v * row->o_bits) / 8 / (d + d_v);
    const bool known = row->n_q > 0 && row->n_kv > 0 && row->d > 0 && row->d_v > 0;
    row->group = row->n_q > 0 && row->n_kv > 0 ? (double)row->n_q / (double)row->n_kv : NAN;
    row->ridge_length_kv = known ? attention_ridge_length_kv(row->group, kv, row->ridge, true) : NAN;
    row->ridge_length = known ? attention_ridge_length(row->group, kv, q, q, row->ridge) : NAN;
}

static bool is_of_model(const struct attention_row *row, const struct model_attention *model)
{
    const bool plain = row->d == model->d && row->d_v == model->d_v;
    const bool absorbed = row->v_in_k && row->d == model->latent && row->d_v == model->latent_v;
    return model->named && row->n_q == model->n_q && (plain || absorbed);
}

/* Of the prefill, whose heads are unfolded. */
static void find_crossover(struct attention_row *row, const struct model_attention *model)
{
    row->layer_parameters = is_of_model(row, model) ? model->layer_parameters : NAN;
    row->crossover = attention_crossover_length(row->layer_parameters, (double)model->n_q * (double)model->parts,
                                                (double)model->d, (double)model->d_v);
}

static struct attention_row row_of_launch(const struct operator_row *op)
{
    const struct launch_decode *launch = op->launch;
    return (struct attention_row){
        .device = op->device,
        .n_q = launch->n_q,
        .n_kv = launch->n_kv,
        .d = launch->d,
        .d_v = launch->d_v,
        .q_bits = launch->q_bits,
        .k_bits = launch->k_bits,
        .v_bits = launch->v_bits,
        .o_bits = launch->o_bits,
        .v_in_k = launch->v_in_k,
        .path = op->work.path,
        .ridge = op->roofline.ridge,
    };
}

/* ---- rows of launches ---- */

struct finder {
    struct attention_rows rows;
    struct index_map by_geometry, by_size;
};

static struct attention_row *row_at(struct finder *finder, const struct operator_row *op)
{
    const struct launch_decode *launch = op->launch;
    const double bits[] = {launch->q_bits, launch->k_bits, launch->v_bits, launch->o_bits};
    int64_t key[11] = {op->device, launch->n_q, launch->n_kv, launch->d, launch->d_v, launch->v_in_k, op->work.path};
    for (int i = 0; i < 4; i++)
        key[7 + i] = bits[i] < 0x1p31 ? (int64_t)(bits[i] * 0x1p20) : -1; /* also NAN */
    uint32_t *index = index_map_at(&finder->by_geometry, trace_hash(key, (uint32_t)sizeof key), (uint64_t)launch->n_q);
    struct attention_rows *rows = &finder->rows;
    if (*index == INDEX_MAP_NONE) {
        *index = (uint32_t)rows->count;
        rows->items = allocate_grow(rows->items, rows->count, &rows->capacity, sizeof *rows->items);
        rows->items[rows->count++] = row_of_launch(op);
    }
    return &rows->items[*index];
}

static struct attention_length *length_at(struct finder *finder, struct attention_row *row,
                                          const struct operator_row *op, enum phase phase)
{
    const struct launch_decode *launch = op->launch;
    const int64_t key[] = {row - finder->rows.items, launch->queries,      launch->keys,
                           launch->sequences,        launch->keys_at_most, phase};
    uint32_t *index = index_map_at(&finder->by_size, trace_hash(key, (uint32_t)sizeof key), (uint64_t)launch->keys);
    if (*index == INDEX_MAP_NONE) {
        *index = (uint32_t)row->length_count;
        row->lengths = allocate_grow(row->lengths, row->length_count, &row->length_capacity, sizeof *row->lengths);
        row->lengths[row->length_count++] = (struct attention_length){
            .queries = launch->queries,
            .keys = launch->keys,
            .sequences = launch->sequences,
            .keys_at_most = launch->keys_at_most,
            .phase = phase,
            .time_ns = NAN,
            .bound = op->roofline.bound,
        };
    }
    return &row->lengths[*index];
}

static void add_length(struct attention_length *length, const struct operator_row *op,
                       const struct attention_work *work, enum phase phase)
{
    const double executions = phases_executions(op, phase), times = executions > 0 ? executions : 1;
    length->executions += executions;
    length->flops += times * work->flops;
    length->bytes += times * work->bytes;
    length->kv_bytes += times * work->kv_bytes;
    if (op->timed && op->kernels)
        length->time_ns = (isnan(length->time_ns) ? 0 : length->time_ns) + phases_part(op, phase) * (double)op->time_ns;
}

static void add_operator(struct finder *finder, const struct session *session, size_t i)
{
    const struct operator_row *op = &session->operators[i];
    struct attention_row *row = row_at(finder, op);
    struct attention_model model;
    struct attention_work work;
    launch_decode_attention(op->launch, &model);
    attention_work(&model, &work);
    row->operators =
        allocate_grow(row->operators, row->operator_count, &row->operator_capacity, sizeof *row->operators);
    row->operators[row->operator_count++] = i;
    sum_add(&row->executions, operator_row_executions(op));
    if (op->timed && op->kernels) {
        row->timed = true;
        sum_add(&row->time_ns, op->time_ns);
    }
    for (int p = 0; p < PHASE_COUNT; p++)
        if (phases_part(op, p) > PHASES_LEAST_PART)
            add_length(length_at(finder, row, op, p), op, &work, p);
}

/* ---- the whole ---- */

static int by_time(const void *left, const void *right)
{
    const struct attention_row *a = left, *b = right;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? 1 : -1;
    return (a->operators[0] > b->operators[0]) - (a->operators[0] < b->operators[0]);
}

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int lengths_by_time(const void *left, const void *right)
{
    const struct attention_length *a = left, *b = right;
    const double time_a = isnan(a->time_ns) ? -1 : a->time_ns, time_b = isnan(b->time_ns) ? -1 : b->time_ns;
    if (time_a != time_b)
        return time_a < time_b ? 1 : -1;
    if (a->executions != b->executions)
        return a->executions < b->executions ? 1 : -1;
    int order = compare(a->keys, b->keys);
    order = order ? order : compare(a->queries, b->queries);
    order = order ? order : compare(a->sequences, b->sequences);
    order = order ? order : compare(a->keys_at_most, b->keys_at_most);
    return order ? order : compare(a->phase, b->phase);
}

static void finish(struct attention_row *row, const struct model_attention *model)
{
    find_lengths_at_ridge(row);
    find_crossover(row, model);
    for (size_t i = 0; i < row->length_count; i++) {
        struct attention_length *length = &row->lengths[i];
        length->intensity = length->bytes > 0 ? length->flops / length->bytes : NAN;
        length->intensity_kv = length->kv_bytes > 0 ? length->flops / length->kv_bytes : NAN;
    }
    if (row->length_count)
        qsort(row->lengths, row->length_count, sizeof *row->lengths, lengths_by_time);
}

static bool has_row(const struct attention_rows *rows, int device)
{
    for (size_t i = 0; i < rows->count; i++)
        if (rows->items[i].device == device)
            return true;
    return false;
}

static void add_model(struct attention_rows *rows, const struct session *session, int device,
                      const struct model_attention *model)
{
    const struct device_roofs *roofs = &session->devices[device].roofs;
    rows->items = allocate_grow(rows->items, rows->count, &rows->capacity, sizeof *rows->items);
    rows->items[rows->count++] = (struct attention_row){
        .device = device,
        .of_model = true,
        .n_q = model->n_q,
        .n_kv = model->n_kv,
        .d = model->d,
        .d_v = model->d_v,
        .q_bits = model->bits,
        .k_bits = model->kv_bits,
        .v_bits = model->kv_bits,
        .o_bits = model->bits,
        .path = model->path,
        .ridge = device_roofs_flops_per_second(roofs, model->path) / device_roofs_bytes_per_second(roofs),
    };
}

/* On devices where something ran. */
static void add_models(struct attention_rows *rows, const struct session *session, const struct model_attention *model)
{
    bool *ran = allocate(session->device_count + 1, sizeof *ran);
    for (size_t i = 0; i < session->operator_count; i++)
        if (session->operators[i].device >= 0)
            ran[session->operators[i].device] = true;
    for (size_t i = 0; i < session->device_count; i++)
        if (ran[i] && !has_row(rows, (int)i))
            add_model(rows, session, (int)i, model);
    free(ran);
}

struct attention_rows attention_rows_of(const struct session *session, const struct books *books,
                                        const struct model_books *model_books)
{
    struct finder finder = {0};
    const struct model_attention model = model_attention_of(books, model_books);
    for (size_t i = 0; i < session->operator_count; i++) {
        const struct operator_row *op = &session->operators[i];
        if (launch_of_operator_is_read(op) && op->launch->kind == LAUNCH_ATTENTION)
            add_operator(&finder, session, i);
    }
    struct attention_rows rows = finder.rows;
    if (rows.count)
        qsort(rows.items, rows.count, sizeof *rows.items, by_time);
    if (model.named)
        add_models(&rows, session, &model);
    for (size_t i = 0; i < rows.count; i++)
        finish(&rows.items[i], &model);
    index_map_free(&finder.by_geometry);
    index_map_free(&finder.by_size);
    return rows;
}

void attention_rows_free(struct attention_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        free(rows->items[i].operators);
        free(rows->items[i].lengths);
    }
    free(rows->items);
    *rows = (struct attention_rows){0};
}
