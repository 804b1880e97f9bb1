/* SPDX-License-Identifier: Apache-2.0 */
/* What rows differ by is decided once a process was read whole, since plans and names may come late. */
#include "classify/launch_operators.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/helper_shares.h"
#include "classify/session_merge.h"

/* ---- what a shape means ---- */

static bool is_operator(const struct launch_decode *decode)
{
    return decode && decode->reading == LAUNCH_READ &&
           (decode->kind == LAUNCH_MATMUL || decode->kind == LAUNCH_ATTENTION);
}

static double plain(double number)
{
    return isnan(number) ? -1 : number; /* one NAN as good as another */
}

static uint64_t format_key(const char *format)
{
    return format ? trace_hash(format, (uint32_t)strlen(format)) : 0;
}

/* By what rows differ: template arguments that only say how it is computed make no other row. */
static uint64_t key_of(const struct launch_decode *decode)
{
    struct {
        char kernel[sizeof decode->kernel];
        int64_t kind, provenance, path, weights, experts, keys_at_most;
        int64_t m, n, k, batch, adds, n_q, n_kv, d, d_v, queries, keys, sequences, masked, v_in_k, splits;
        double least, most, activations, bits[7];
        uint64_t formats[7];
    } meaning = {
        .kind = decode->kind,
        .provenance = decode->provenance,
        .path = decode->path,
    };
    strcpy(meaning.kernel, decode->kernel);
    if (decode->kind == LAUNCH_MATMUL) {
        meaning.m = decode->m;
        meaning.n = decode->n;
        meaning.k = decode->k;
        meaning.batch = decode->batch;
        meaning.weights = decode->weights;
        meaning.experts = decode->experts;
        meaning.least = plain(decode->matrices_least);
        meaning.most = plain(decode->matrices_most);
        meaning.bits[0] = plain(decode->a_bits);
        meaning.bits[1] = plain(decode->d_bits);
        meaning.adds = decode->adds;
        meaning.activations = plain(decode->activations);
        meaning.formats[0] = format_key(decode->weight_format ? decode->weight_format->name : NULL);
        meaning.formats[1] = format_key(decode->a_format);
        meaning.formats[2] = format_key(decode->d_format);
    } else {
        meaning.n_q = decode->n_q;
        meaning.n_kv = decode->n_kv;
        meaning.d = decode->d;
        meaning.d_v = decode->d_v;
        meaning.queries = decode->queries;
        meaning.keys = decode->keys;
        meaning.sequences = decode->sequences;
        meaning.keys_at_most = decode->keys_at_most;
        meaning.bits[2] = plain(decode->q_bits);
        meaning.bits[3] = plain(decode->k_bits);
        meaning.bits[4] = plain(decode->v_bits);
        meaning.bits[5] = plain(decode->o_bits);
        meaning.bits[6] = plain(decode->split_row_bits);
        meaning.splits = decode->splits;
        meaning.masked = decode->masked;
        meaning.v_in_k = decode->v_in_k;
        meaning.formats[3] = format_key(decode->q_format);
        meaning.formats[4] = format_key(decode->k_format);
        meaning.formats[5] = format_key(decode->v_format);
        meaning.formats[6] = format_key(decode->o_format);
    }
    return trace_hash(&meaning, (uint32_t)sizeof meaning);
}

/* ---- rows ---- */

/* Of several readings in one row that is told which there is most to do about. */
static int weight_of_reading(enum launch_reading reading)
{
    static const int weights[LAUNCH_READING_COUNT] = {
        [LAUNCH_NOT_IN_TABLE] = 0, [LAUNCH_READ] = 1,    [LAUNCH_OTHER_REVISION] = 2,
        [LAUNCH_NO_VALUES] = 3,    [LAUNCH_REFUSED] = 4,
    };
    return weights[reading];
}

static void note_reading(struct operator_row *op, const struct launch_decode *decode)
{
    if (!decode || decode->reading == LAUNCH_NOT_IN_TABLE)
        return;
    if (!op->launch)
        op->launch = allocate(1, sizeof *op->launch);
    else if (weight_of_reading(decode->reading) <= weight_of_reading(op->launch->reading))
        return;
    *op->launch = *decode;
}

static void attention_of(const struct launch_decode *decode, struct work *work)
{
    struct attention_model model;
    struct attention_work figures;
    launch_decode_attention(decode, &model);
    attention_work(&model, &figures);
    *work = (struct work){
        .m = TRACE_UNKNOWN,
        .n = TRACE_UNKNOWN,
        .k = TRACE_UNKNOWN,
        .batch = TRACE_UNKNOWN,
        .path = decode->path,
        .provenance = decode->provenance,
        .flops = figures.flops,
        .bytes = figures.bytes,
        .intensity = figures.intensity,
        .bytes_per_row = NAN,
        .bytes_fixed = NAN,
        .flops_per_row = NAN,
        .model = {.batch = -1},
    };
}

static void fill(struct operator_row *op, const struct launch_decode *decode)
{
    op->launch = allocate(1, sizeof *op->launch);
    *op->launch = *decode;
    op->shape_source = decode->provenance;
    if (decode->kind == LAUNCH_ATTENTION)
        attention_of(decode, &op->work);
    else
        launch_decode_work(decode, &op->work);
}

/* Which of the kernels that compute it the row is named after must not depend on the order of records. */
static void take_name(struct session_merge *merge, size_t index, uint64_t name_id)
{
    const char *known = session_merge_name(merge, index), *name = name_pool_find(&merge->names, name_id);
    if (!merge->operator_name_ids[index] || !known || (name && strcmp(name, known) < 0))
        merge->operator_name_ids[index] = name_id;
}

size_t launch_operators_at(struct session_merge *merge, struct operator_join *join, struct graph_use use,
                           uint64_t name_id, int device)
{
    struct launch_shapes *shapes = &join->launch_shapes;
    const struct launch_shape *shape = use.of == USE_SHAPE ? launch_shapes_find(shapes, use.id) : NULL;
    const struct launch_decode *decode = shape ? launch_shapes_decode_last(shapes, use.id) : NULL;
    if (shape && shape->name_id)
        name_id = shape->name_id;
    if (is_operator(decode)) {
        const size_t index = session_merge_operator_of_meaning(merge, key_of(decode), device);
        if (!merge->session->operators[index].launch)
            fill(&merge->session->operators[index], decode);
        take_name(merge, index, name_id);
        return index;
    }
    const size_t index = session_merge_operator_of_name(merge, name_id, device);
    note_reading(&merge->session->operators[index], decode ? decode : launch_shapes_decode_name(shapes, name_id));
    return index;
}

bool launch_operators_classify(struct operator_row *row)
{
    const struct launch_decode *launch = row->launch;
    if (!launch || launch->reading != LAUNCH_READ)
        return false;
    if (launch->kind == LAUNCH_ATTENTION)
        row->kind = OPERATOR_ATTENTION;
    else if (launch->kind == LAUNCH_MATMUL)
        row->kind = row->kind == OPERATOR_GEMV ? OPERATOR_GEMV : OPERATOR_GEMM;
    else
        row->kind = OPERATOR_OTHER;
    return is_operator(launch);
}

bool launch_operators_is_operator(struct operator_join *join, struct graph_use use)
{
    return use.of == USE_SHAPE && is_operator(launch_shapes_decode_last(&join->launch_shapes, use.id));
}

bool launch_operators_is_helper(struct operator_join *join, struct graph_use use)
{
    const struct launch_decode *decode =
        use.of == USE_SHAPE ? launch_shapes_decode_last(&join->launch_shapes, use.id) : NULL;
    return decode && decode->reading == LAUNCH_READ && decode->kind == LAUNCH_HELPER;
}

/* ---- how far launches were read ---- */

static enum launch_reading reading_of(struct operator_join *join, struct graph_use use)
{
    const struct launch_decode *decode = use.of == USE_SHAPE ? launch_shapes_decode_last(&join->launch_shapes, use.id)
                                                             : launch_shapes_decode_name(&join->launch_shapes, use.id);
    return decode ? decode->reading : LAUNCH_NOT_IN_TABLE;
}

static uint64_t kernels_of(const struct operator_join *join, struct graph_use use)
{
    uint64_t kernels = 0;
    for (size_t d = 0; d < join->device_count; d++) {
        const struct joined_kernels *row = operator_join_find_row(join, join->devices[d].ordinal, use);
        sum_add(&kernels, row ? row->kernels : 0);
    }
    return kernels;
}

static void cover(struct session *session, struct operator_join *join, struct graph_use use, uint64_t executions)
{
    sum_add(&session->coverage.launches_by_reading[reading_of(join, use)], executions);
    if (launch_operators_is_helper(join, use))
        sum_add(&session->coverage.helpers_uncharged, helper_shares_uncharged(join, use, executions));
}

void launch_operators_cover(struct session *session, struct operator_join *join, const struct execution_book *book,
                            const struct sampled_rows *sampled)
{
    struct index_map seen = {0};
    for (size_t i = 0; i < book->count; i++) {
        const struct execution_count *count = &book->counts[i];
        const uint64_t timed = kernels_of(join, count->use);
        if (count->use.of == USE_CALL)
            continue;
        *index_map_at(&seen, count->use.id, count->use.of) = 0;
        cover(session, join, count->use, count->executions > timed ? count->executions : timed);
    }
    for (size_t i = 0; i < join->row_count; i++) {
        const struct joined_kernels *row = &join->rows[i];
        const struct sampled_row *estimate = sampled->rows ? &sampled->rows[i] : NULL;
        if (row->use.of == USE_CALL)
            continue;
        session->coverage.launch_time_ns_by_reading[reading_of(join, row->use)] +=
            estimate && estimate->estimated ? estimate->time.time_ns : (double)row->time_ns;
        uint32_t *known = index_map_at(&seen, row->use.id, row->use.of);
        if (*known == INDEX_MAP_NONE)
            cover(session, join, row->use, kernels_of(join, row->use));
        *known = 0;
    }
    index_map_free(&seen);
}
