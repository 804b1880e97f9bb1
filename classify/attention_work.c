/* SPDX-License-Identifier: Apache-2.0 */
/* Row i of a sequence sees keys [i + first, i + end) cut to [0, L_k): every mask and window is a pair (first, end), and what
 * is counted follows from sums of cut lines. No loop over rows, no rounding. */
#include "classify/attention_work.h"

#include <math.h>

/* Sums over rows of 64-bit lengths. */
__extension__ typedef __int128 wide;

static wide clamp(wide x, wide low, wide high)
{
    return x < low ? low : x > high ? high : x;
}

/* Sum of clamp(c + i, 0, top) for i = 0 ... rows - 1. */
static wide sum_of_cut_line(wide c, wide rows, wide top)
{
    wide start = clamp(-c, 0, rows);                /* rows before are 0 */
    wide full = clamp(top - c, start, rows);        /* rows from here on are TOP */
    wide from = c + start, to = c + full - 1;       /* what lies between rises by one a row */
    wide rising = (full - start) * (from + to) / 2; /* always even before the division */
    return rising + (rows - full) * top;
}

/* Keys that row i sees are [i + first, i + end). */
struct band {
    wide first, end;
};

static struct band band_of(const struct attention_model *model, struct attention_sequence s)
{
    bool causal = model->mask != ATTENTION_NO_MASK;
    wide diagonal = model->mask == ATTENTION_CAUSAL_TOP_LEFT ? 0 : (wide)s.keys - s.queries;
    wide far = (wide)s.keys + s.queries; /* beyond every key, from every row */
    wide right = model->window_right >= 0 ? model->window_right : far;
    if (causal)
        right = 0;
    wide left = model->window_left >= 0 ? model->window_left : far;
    return (struct band){diagonal - left, diagonal + right + 1};
}

/* What one sequence is counted as, all exact. */
struct count {
    wide pairs, rows, first_key, end_key; /* rows: that see a key; keys that some row sees */
};

static struct count count_of(const struct attention_model *model, struct attention_sequence s)
{
    struct band band = band_of(model, s);
    struct count count = {
        .pairs = sum_of_cut_line(band.end, s.queries, s.keys) - sum_of_cut_line(band.first, s.queries, s.keys),
        /* a row sees something where i + end > 0 and i + first < L_k */
        .rows = clamp(s.keys - band.first, 0, s.queries) - clamp(-band.end + 1, 0, s.queries),
        .first_key = clamp(band.first, 0, s.keys),
        .end_key = clamp(band.end + s.queries - 1, 0, s.keys),
    };
    if (count.pairs == 0)
        return (struct count){0, 0, 0, 0};
    return count;
}

/* ---- bytes ---- */

static double known(double bits)
{
    return bits > 0 ? bits : NAN;
}

static wide blocks_touched(wide first, wide end, int64_t block)
{
    return end > first ? (end - 1) / block - first / block + 1 : 0;
}

/* Scales of one of K and V, whose heads have ELEMENTS elements. */
static double kv_scale_bits(const struct attention_model *model, const struct count *count, int64_t elements)
{
    const struct attention_kv_scales *scales = &model->kv_scales;
    if (scales->bits == 0 || scales->tokens <= 0)
        return 0; /* one for the whole tensor is counted once, by the caller */
    double of_head = scales->elements > 0 ? ceil((double)elements / (double)scales->elements) : 1;
    double groups = (double)blocks_touched(count->first_key, count->end_key, scales->tokens);
    return groups * of_head * (double)model->n_kv * scales->bits;
}

static void add_sequence(const struct attention_model *model, struct attention_sequence s, double times,
                         struct attention_work *work)
{
    struct count count = count_of(model, s);
    double keys = (double)(count.end_key - count.first_key), rows = (double)s.queries * (double)model->n_q;
    double d = (double)model->d, d_v = (double)model->d_v;
    double kv_bits = keys * (double)model->n_kv * d * known(model->k_bits) + kv_scale_bits(model, &count, model->d);
    if (!model->v_in_k)
        kv_bits += keys * (double)model->n_kv * d_v * known(model->v_bits) + kv_scale_bits(model, &count, model->d_v);
    work->pairs += times * (double)count.pairs;
    work->keys += times * keys;
    work->kv_bytes += times * kv_bits / 8;
    work->q_bytes += times * (double)count.rows * (double)model->n_q * d * known(model->q_bits) / 8;
    work->o_bytes += times * rows * d_v * known(model->o_bits) / 8;
    work->lse_bytes += times * rows * model->lse_bits / 8;
    if (model->page_tokens > 0)
        work->page_bytes += times * (double)blocks_touched(count.first_key, count.end_key, model->page_tokens) *
                            known(model->page_entry_bits) / 8;
    if (model->splits > 1) /* each split writes an output and a log-sum-exp for every row; the sum reads them */
        work->partial_bytes += times * 2 * rows * (double)model->splits * (d_v + 1) * known(model->partial_bits) / 8;
}

static bool is_known(const struct attention_model *model)
{
    return model->n_q >= 0 && model->n_kv >= 0 && model->d >= 0 && model->d_v >= 0;
}

void attention_work(const struct attention_model *model, struct attention_work *work)
{
    static const struct attention_work unknown = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    *work = (struct attention_work){.intensity_kv = NAN, .intensity = NAN};
    size_t listed = model->sequences ? model->sequence_count : model->sequence_count > 0;
    double times = model->sequences ? 1 : (double)model->sequence_count;
    for (size_t i = 0; i < listed; i++) {
        struct attention_sequence s = model->sequences ? model->sequences[i] : model->each;
        if (!is_known(model) || s.queries < 0 || s.keys < 0) {
            *work = unknown;
            return;
        }
        add_sequence(model, s, times, work);
    }
    if (model->kv_scales.bits > 0 && model->kv_scales.tokens <= 0 && work->keys > 0)
        work->kv_bytes += (model->v_in_k ? 1 : 2) * model->kv_scales.bits / 8;
    work->flops = 2 * (double)model->n_q * ((double)model->d + (double)model->d_v) * work->pairs;
    work->bytes =
        work->kv_bytes + work->q_bytes + work->o_bytes + work->lse_bytes + work->page_bytes + work->partial_bytes;
    if (work->kv_bytes > 0)
        work->intensity_kv = work->flops / work->kv_bytes;
    if (work->bytes > 0)
        work->intensity = work->flops / work->bytes;
}

struct attention_model attention_plain(int64_t n_q, int64_t n_kv, int64_t d, int64_t queries, int64_t keys, double bits)
{
    return (struct attention_model){
        .n_q = n_q,
        .n_kv = n_kv,
        .d = d,
        .d_v = d,
        .q_bits = bits,
        .k_bits = bits,
        .v_bits = bits,
        .o_bits = bits,
        .window_left = ATTENTION_NO_WINDOW,
        .window_right = ATTENTION_NO_WINDOW,
        .each = {queries, keys},
        .sequence_count = 1,
    };
}

/* ---- naive attention ---- */

/* Everything is computed and moved, masked or not; nothing of a fused kernel's extras is there. */
static struct attention_model without_mask(const struct attention_model *model)
{
    struct attention_model plain = *model;
    plain.mask = ATTENTION_NO_MASK;
    plain.window_left = plain.window_right = ATTENTION_NO_WINDOW;
    plain.lse_bits = 0;
    plain.splits = 0;
    return plain;
}

void attention_naive(const struct attention_model *model, double score_bits, double probability_bits,
                     struct attention_naive *naive)
{
    struct attention_model plain = without_mask(model);
    struct attention_work whole;
    attention_work(&plain, &whole);
    attention_work(model, &naive->fused);
    naive->score_bytes = 2 * (double)model->n_q * whole.pairs * (score_bits + probability_bits) / 8;
    naive->flops = whole.flops;
    naive->bytes = whole.bytes + naive->score_bytes;
    naive->intensity = naive->bytes > 0 ? naive->flops / naive->bytes : NAN;
    naive->cap = attention_naive_cap((double)model->d, (double)model->d_v, score_bits / 8, probability_bits / 8);
}

bool attention_of_gemms(const struct gemm_model *scores, const struct gemm_model *values, struct attention_model *model)
{
    const struct gemm_operand *q = &scores->operand[GEMM_LEFT], *k = &scores->operand[GEMM_RIGHT];
    const struct gemm_operand *v = &values->operand[GEMM_RIGHT], *o = &values->operand[GEMM_D];
    bool fits = scores->m >= 0 && scores->n >= 0 && scores->k >= 0 && values->n >= 0 && scores->batch > 0 &&
                scores->m == values->m && scores->n == values->k && scores->batch == values->batch &&
                q->matrices == (double)scores->batch && o->matrices == (double)scores->batch &&
                k->matrices == v->matrices && k->matrices >= 1 && k->matrices <= (double)scores->batch &&
                k->matrices < 0x1p63;
    if (!fits)
        return false;
    *model = attention_plain(scores->batch, (int64_t)k->matrices, scores->k, scores->m, scores->n, q->bits);
    model->d_v = values->n;
    model->k_bits = k->bits;
    model->v_bits = v->bits;
    model->o_bits = o->bits;
    return true;
}

/* ---- closed forms ---- */

double attention_ridge_length_kv(double g, double kv_bytes, double ridge, bool causal)
{
    return kv_bytes * ridge / (g * (causal ? 1 : 2));
}

double attention_ridge_length(double g, double kv_bytes, double q_bytes, double o_bytes, double ridge)
{
    return ridge * (2 * kv_bytes + g * (q_bytes + o_bytes)) / (2 * g);
}

double attention_naive_cap(double d, double d_v, double score_bytes, double probability_bytes)
{
    return (d + d_v) / (score_bytes + probability_bytes);
}

double attention_crossover_length(double layer_parameters, double n_q, double d, double d_v)
{
    return 2 * layer_parameters / (n_q * (d + d_v));
}

double attention_share(double length, double crossover_length)
{
    return length / (length + crossover_length);
}
