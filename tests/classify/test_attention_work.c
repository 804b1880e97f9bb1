/* SPDX-License-Identifier: Apache-2.0 */
/* Attention against a map of every mask cell and every bit of every operand that a loop over heads, rows and keys touches;
 * random masks, windows, ragged batches and caches, figures equal, not near. Then constants worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "classify/attention_work.h"
#include "tests/classify/brute_force.h"

enum { SEED = 4711, SHAPES = 10000, LONG_SHAPES = 400, SEQUENCES = 4 };

enum { Q, K, V, O, LSE, PAGES, SCALE_OF_K, SCALE_OF_V, PARTIAL_WRITTEN, PARTIAL_READ };

static struct touched touched;
static struct random_numbers random_numbers = {SEED};

static int pick(int low, int high)
{
    return random_in(&random_numbers, low, high);
}

static bool chance(int percent)
{
    return random_chance(&random_numbers, percent);
}

/* ---- the oracle ---- */

/* The definition, cell by cell: FlashAttention's documentation for windows and the bottom-right diagonal, PyTorch's for the
 * top-left one (torch.ones(L, S).tril(0)). */
static bool is_visible(const struct attention_model *a, struct attention_sequence s, int64_t row, int64_t key)
{
    int64_t diagonal = a->mask == ATTENTION_CAUSAL_TOP_LEFT ? row : row + s.keys - s.queries;
    if (a->mask != ATTENTION_NO_MASK && key > diagonal)
        return false;
    if (a->window_left >= 0 && key < diagonal - a->window_left)
        return false;
    return a->window_right < 0 || key <= diagonal + a->window_right;
}

struct counted {
    uint64_t pairs, flops;
    double keys, kv, q, o, lse, pages, partial;
};

static uint64_t scale_address(const struct attention_model *a, uint64_t sequence, uint64_t kv_head, int64_t key,
                              int64_t element)
{
    const struct attention_kv_scales *scales = &a->kv_scales;
    if (scales->tokens == 0)
        return 0;
    int64_t of_head = scales->elements ? element / scales->elements : 0;
    return (sequence << 24) + (uint64_t)(key / scales->tokens) * 4096 + kv_head * 256 + (uint64_t)of_head;
}

/* Touches what head HEAD of a row needs of one key. Sequences and heads lie one after another. */
static void touch_pair(const struct attention_model *a, uint64_t sequence, int64_t head, int64_t key, uint64_t *flops)
{
    uint64_t kv_head = (uint64_t)(head / (a->n_q / a->n_kv));
    uint64_t token = (sequence << 24) + (uint64_t)key * 4096 + kv_head * 256;
    const struct attention_kv_scales *scales = &a->kv_scales;
    for (int64_t e = 0; e < a->d; e++) {
        touch(&touched, K, token + (uint64_t)e, (unsigned)a->k_bits);
        uint64_t at = scale_address(a, sequence, kv_head, key, e);
        if (scales->bits > 0)
            touch(&touched, SCALE_OF_K, at, (unsigned)scales->bits);
        *flops += 2; /* one product of q and k, added to the score */
    }
    for (int64_t e = 0; e < a->d_v; e++) {
        uint64_t at = scale_address(a, sequence, kv_head, key, e);
        touch(&touched, a->v_in_k ? K : V, token + (uint64_t)e, (unsigned)a->v_bits);
        if (scales->bits > 0)
            touch(&touched, a->v_in_k ? SCALE_OF_K : SCALE_OF_V, at, (unsigned)scales->bits);
        *flops += 2; /* one product of a weight and v, added to the output */
    }
}

/* Bytes that F adds to the set. */
#define ADDED(field, ...)                                                                                              \
    do {                                                                                                               \
        uint64_t before = touched.bits;                                                                                \
        __VA_ARGS__;                                                                                                   \
        (field) += (double)(touched.bits - before) / 8;                                                                \
    } while (0)

static void count_row(const struct attention_model *a, struct attention_sequence s, uint64_t sequence, int64_t row,
                      struct counted *c)
{
    for (int64_t head = 0; head < a->n_q; head++) {
        uint64_t at = (sequence << 24) + (uint64_t)(row * a->n_q + head) * 64;
        bool sees = false;
        for (int64_t key = 0; key < s.keys; key++) {
            if (!is_visible(a, s, row, key))
                continue;
            sees = true;
            c->pairs += head == 0;
            ADDED(c->kv, touch_pair(a, sequence, head, key, &c->flops));
            if (a->page_tokens > 0)
                ADDED(c->pages, touch(&touched, PAGES, (sequence << 24) + (uint64_t)(key / a->page_tokens),
                                      (unsigned)a->page_entry_bits));
        }
        for (int64_t e = 0; e < a->d && sees; e++)
            ADDED(c->q, touch(&touched, Q, at + (uint64_t)e, (unsigned)a->q_bits));
        for (int64_t e = 0; e < a->d_v; e++)
            ADDED(c->o, touch(&touched, O, at + (uint64_t)e, (unsigned)a->o_bits));
        if (a->lse_bits > 0)
            ADDED(c->lse, touch(&touched, LSE, at, (unsigned)a->lse_bits));
        for (int64_t split = 0; split < a->splits && a->splits > 1; split++)
            for (int64_t e = 0; e <= a->d_v; e++) /* an output and, last, its log-sum-exp */
                for (unsigned array = PARTIAL_WRITTEN; array <= PARTIAL_READ; array++)
                    ADDED(c->partial,
                          touch(&touched, array + 16 * (unsigned)split, at + (uint64_t)e, (unsigned)a->partial_bits));
    }
}

static void count_sequence(const struct attention_model *a, struct attention_sequence s, uint64_t sequence,
                           struct counted *c)
{
    for (int64_t row = 0; row < s.queries; row++)
        count_row(a, s, sequence, row, c);
    for (int64_t key = 0; key < s.keys; key++) {
        bool seen = false;
        for (int64_t row = 0; row < s.queries; row++)
            seen |= is_visible(a, s, row, key);
        c->keys += seen;
    }
}

static struct attention_model random_attention(struct attention_sequence *sequences)
{
    static const int sizes[] = {4, 8, 16, 32};
    int group = pick(1, 4), tokens = chance(30) ? 0 : pick(1, 4);
    struct attention_model a = {
        .n_kv = pick(1, 3),
        .d = pick(1, 5),
        .d_v = pick(1, 5),
        .q_bits = sizes[pick(0, 3)],
        .k_bits = sizes[pick(0, 3)],
        .v_bits = sizes[pick(0, 3)],
        .o_bits = sizes[pick(0, 3)],
        .mask = (enum attention_mask)pick(0, 2),
        .window_left = chance(50) ? -1 : pick(0, 6),
        .window_right = chance(60) ? -1 : pick(0, 6),
        .sequences = sequences,
        .sequence_count = (size_t)pick(1, SEQUENCES),
        .lse_bits = chance(50) ? 32 : 0,
        .splits = chance(70) ? 0 : pick(1, 4),
        .partial_bits = 32,
        .page_tokens = chance(60) ? 0 : pick(1, 5),
        .page_entry_bits = 32,
    };
    a.n_q = a.n_kv * group;
    if (chance(30))
        a.kv_scales = (struct attention_kv_scales){8 * pick(1, 4), tokens, tokens && chance(50) ? pick(1, 3) : 0};
    if (chance(15)) { /* absorbed MLA */
        a.v_in_k = true;
        a.d_v = pick(1, (int)a.d);
        a.v_bits = a.k_bits;
    }
    int kind = pick(0, 3);
    for (size_t i = 0; i < a.sequence_count; i++)
        sequences[i] = kind == 0   ? (struct attention_sequence){1, pick(0, 14)}          /* decode */
                       : kind == 1 ? (struct attention_sequence){pick(0, 5), pick(5, 14)} /* chunks */
                                   : (struct attention_sequence){pick(0, 12), pick(0, 12)};
    if (kind == 2) /* prefill */
        for (size_t i = 0; i < a.sequence_count; i++)
            sequences[i].keys = sequences[i].queries;
    if (chance(30)) { /* equal ones, not listed */
        a.each = sequences[0];
        a.sequences = NULL;
    }
    return a;
}

static void describe(const struct attention_model *a, struct attention_sequence s)
{
    print_error(
        "seed %d: n_q %d n_kv %d d %d %d, mask %d, window %d %d, first L_q %d L_k %d of %zu, splits %d, page %d, "
        "scales %g %d %d, aliased %d\n",
        SEED, (int)a->n_q, (int)a->n_kv, (int)a->d, (int)a->d_v, a->mask, (int)a->window_left, (int)a->window_right,
        (int)s.queries, (int)s.keys, a->sequence_count, (int)a->splits, (int)a->page_tokens, a->kv_scales.bits,
        (int)a->kv_scales.tokens, (int)a->kv_scales.elements, a->v_in_k);
}

static void test_every_cell(void **state)
{
    uint64_t pairs = 0;
    int empty = 0;
    (void)state;
    for (int shape = 0; shape < SHAPES; shape++) {
        struct attention_sequence sequences[SEQUENCES];
        struct attention_model a = random_attention(sequences);
        struct counted c = {0};
        struct attention_work w;
        touched_clear(&touched);
        for (size_t i = 0; i < a.sequence_count; i++)
            count_sequence(&a, a.sequences ? sequences[i] : a.each, i, &c);
        attention_work(&a, &w);
        bool equal = w.pairs == (double)c.pairs && w.keys == c.keys && w.flops == (double)c.flops &&
                     w.kv_bytes == c.kv && w.q_bytes == c.q && w.o_bytes == c.o && w.lse_bytes == c.lse &&
                     w.page_bytes == c.pages && w.partial_bytes == c.partial && w.bytes == touched_bytes(&touched);
        if (!equal) {
            describe(&a, a.sequences ? sequences[0] : a.each);
            fail_msg("pairs %g, counted %llu; keys %g, %g; FLOPs %g, %llu; kv %g, %g; q %g, %g; bytes %g, %g", w.pairs,
                     (unsigned long long)c.pairs, w.keys, c.keys, w.flops, (unsigned long long)c.flops, w.kv_bytes,
                     c.kv, w.q_bytes, c.q, w.bytes, touched_bytes(&touched));
        }
        pairs += c.pairs;
        empty += c.pairs == 0;
    }
    print_message("%d masks, seed %d: %llu visible cells, %d masks without any\n", SHAPES, SEED,
                  (unsigned long long)pairs, empty);
    assert_true(pairs > 100000 && empty > 100 && empty < SHAPES / 4);
}

/* Lengths at which closed forms that are only nearly right show it. */
static void test_long_sequences(void **state)
{
    (void)state;
    for (int shape = 0; shape < LONG_SHAPES; shape++) {
        struct attention_model a = attention_plain(1, 1, 1, pick(0, 500), pick(0, 500), 16);
        struct attention_work w;
        uint64_t pairs = 0;
        a.mask = (enum attention_mask)pick(0, 2);
        a.window_left = chance(40) ? -1 : pick(0, 600);
        a.window_right = chance(60) ? -1 : pick(0, 600);
        for (int64_t row = 0; row < a.each.queries; row++)
            for (int64_t key = 0; key < a.each.keys; key++)
                pairs += is_visible(&a, a.each, row, key);
        attention_work(&a, &w);
        if (w.pairs != (double)pairs) {
            describe(&a, a.each);
            fail_msg("pairs %g, counted %llu", w.pairs, (unsigned long long)pairs);
        }
    }
}

/* ---- by hand ---- */

static struct attention_work work_of(const struct attention_model *a)
{
    struct attention_work w;
    attention_work(a, &w);
    return w;
}

/* Query heads give FLOPs, KV heads bytes: 4 * 32 heads * 1024 * 1024 * 128 = 17179869184, and as many with 32 KV heads;
 * K and V are 2 * 8 * 1024 * 128 * 2 bytes. */
static void test_grouped_queries(void **state)
{
    struct attention_model a = attention_plain(32, 8, 128, 1024, 1024, 16);
    (void)state;
    assert_true(work_of(&a).flops == 17179869184.0);
    assert_true(work_of(&a).kv_bytes == 4194304.0);
    assert_true(work_of(&a).bytes == 4194304.0 + 2 * 32 * 1024 * 128 * 2);
    a.n_kv = 32;
    assert_true(work_of(&a).flops == 17179869184.0);
    assert_true(work_of(&a).kv_bytes == 4 * 4194304.0);
}

static void test_more_keys_than_queries(void **state)
{
    struct attention_model a = attention_plain(1, 1, 8, 4, 10, 16);
    (void)state;
    /* rows see 7, 8, 9, 10 keys: 34 pairs, 2 * (8 + 16) FLOPs each. Taking the lost corner for N^2/2 gives 32 and 1536. */
    a.d_v = 16;
    a.mask = ATTENTION_CAUSAL_BOTTOM_RIGHT;
    assert_true(work_of(&a).pairs == 34);
    assert_true(work_of(&a).flops == 1632);
    a.mask = ATTENTION_CAUSAL_TOP_LEFT; /* 1 + 2 + 3 + 4, of the first four keys only */
    assert_true(work_of(&a).pairs == 10);
    assert_true(work_of(&a).keys == 4);
    a.mask = ATTENTION_CAUSAL_BOTTOM_RIGHT;
    a.window_left = 2; /* three keys a row; the first is key 4 */
    assert_true(work_of(&a).pairs == 12);
    assert_true(work_of(&a).keys == 6);
    a.window_left = ATTENTION_NO_WINDOW;
    a.each = (struct attention_sequence){10, 4}; /* six rows see nothing, the others 1, 2, 3, 4 */
    struct attention_work w = work_of(&a);
    assert_true(w.pairs == 10);
    assert_true(w.q_bytes == 4 * 8 * 2);
    assert_true(w.o_bytes == 10 * 16 * 2);
    a.mask = ATTENTION_CAUSAL_TOP_LEFT; /* 1 + 2 + 3 + 7 * 4 */
    assert_true(work_of(&a).pairs == 34);
}

static void test_decode(void **state)
{
    struct attention_model a = attention_plain(28, 4, 128, 1, 4096, 16);
    (void)state;
    /* the whole row, whatever the mask: 4 * 28 * 128 * 4096 FLOPs, 2 * 4 * 4096 * 128 * 2 bytes, I = 7 */
    assert_true(work_of(&a).flops == 58720256.0);
    a.mask = ATTENTION_CAUSAL_BOTTOM_RIGHT;
    assert_true(work_of(&a).pairs == 4096);
    assert_true(work_of(&a).intensity_kv == 7);
    a.kv_scales = (struct attention_kv_scales){32, 0, 0}; /* fp8: half the bytes and two floats */
    a.k_bits = a.v_bits = 8;
    assert_true(work_of(&a).kv_bytes == 4194304.0 + 8);
    a.kv_scales = (struct attention_kv_scales){32, 1, 0}; /* a float for each token and head, of K and of V */
    assert_true(work_of(&a).kv_bytes == 4194304.0 + 2 * 4 * 4096 * 4);
    /* 8 splits: an output of 128 floats and a log-sum-exp a head, written and read: 2 * 8 * 28 * 129 * 4 */
    a.kv_scales.bits = 0;
    a.splits = 8;
    a.partial_bits = 32;
    assert_true(work_of(&a).partial_bytes == 231168.0);
    a.page_tokens = 16; /* 256 blocks, an int32 each */
    a.page_entry_bits = 32;
    assert_true(work_of(&a).page_bytes == 1024);
    assert_true(work_of(&a).bytes == 4194304.0 + 231168 + 1024 + 2 * 28 * 128 * 2);
}

/* DeepSeek-V2/V3: 128 heads, 512 + 64 latent. Plain: 192 for Q and K, 128 for V: 2 * 128 * 320 FLOPs a pair. */
static void test_latent_attention(void **state)
{
    struct attention_model plain = attention_plain(128, 128, 192, 1, 100, 16);
    (void)state;
    plain.d_v = 128;
    assert_true(work_of(&plain).flops == 2.0 * 128 * 320 * 100);
    assert_true(work_of(&plain).kv_bytes == 100.0 * 128 * 320 * 2);
    struct attention_model absorbed = attention_plain(128, 1, 576, 1, 100, 16);
    absorbed.d_v = 512;
    absorbed.v_in_k = true; /* 2 * 128 * 1088 FLOPs and 1152 bytes a key: 241.777... */
    struct attention_work w = work_of(&absorbed);
    assert_true(w.kv_bytes == 115200.0);
    assert_true(fabs(w.intensity_kv - 241.7777777777778) < 1e-10);
    absorbed.v_in_k = false; /* read twice it would be 128 */
    assert_true(work_of(&absorbed).intensity_kv == 128);
}

/* A window of 4096 keys in 16384: 4096 * 4097 / 2 while it fills, then 12288 rows of 4096: 58722304 pairs; unmasked
 * it would be 268435456, causal 134225920. */
static void test_window(void **state)
{
    struct attention_model a = attention_plain(32, 8, 128, 16384, 16384, 16);
    (void)state;
    a.mask = ATTENTION_CAUSAL_BOTTOM_RIGHT;
    assert_true(work_of(&a).pairs == 134225920.0);
    a.window_left = 4095;
    assert_true(work_of(&a).pairs == 58722304.0);
    assert_true(work_of(&a).keys == 16384);
    a.each = (struct attention_sequence){1, 16384}; /* decode reads the window */
    assert_true(work_of(&a).keys == 4096);
    a.each = (struct attention_sequence){512, 16384}; /* a chunk: 4096 + 511 keys */
    assert_true(work_of(&a).keys == 4607);
    a.mask = ATTENTION_NO_MASK; /* window_right open: row i sees all but the first i + 11777 keys */
    assert_true(work_of(&a).keys == 4607);
}

/* 3, 5 and 1 tokens: 6 + 15 + 1 pairs, where one padded to 5 would have 45. */
static void test_ragged(void **state)
{
    static const struct attention_sequence sequences[] = {{3, 3}, {5, 5}, {0, 7}, {1, 1}};
    struct attention_model a = attention_plain(2, 1, 4, 0, 0, 16);
    (void)state;
    a.mask = ATTENTION_CAUSAL_BOTTOM_RIGHT;
    a.sequences = sequences;
    a.sequence_count = 4;
    assert_true(work_of(&a).pairs == 22);
    assert_true(work_of(&a).keys == 9);
    assert_true(work_of(&a).flops == 2.0 * 2 * 8 * 22);
}

static void test_unknown_stays_unknown(void **state)
{
    struct attention_model a = attention_plain(2, 1, 4, 3, -1, 16);
    (void)state;
    assert_true(isnan(work_of(&a).flops) && isnan(work_of(&a).bytes) && isnan(work_of(&a).intensity));
    a = attention_plain(2, 1, 4, 3, 3, NAN); /* FLOPs are known without the size of an element */
    assert_true(work_of(&a).flops == 2.0 * 2 * 8 * 9);
    assert_true(isnan(work_of(&a).bytes) && isnan(work_of(&a).intensity_kv));
    a = attention_plain(2, 1, 4, 3, 3, 0);
    assert_true(isnan(work_of(&a).bytes));
    a = attention_plain(2, 1, 4, 0, 0, 16); /* nothing to do is known to be nothing */
    assert_true(work_of(&a).flops == 0 && work_of(&a).bytes == 0 && isnan(work_of(&a).intensity));
    a = attention_plain(2, 1, 4, INT64_C(1) << 40, INT64_C(1) << 40, 16); /* 2^80 pairs */
    assert_true(work_of(&a).pairs == 0x1p80);
    a = attention_plain(INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, 16); /* nothing overflows */
    a.window_left = a.window_right = a.page_tokens = INT64_MAX;
    assert_true(work_of(&a).pairs == 0x1p126);
    a.mask = ATTENTION_CAUSAL_BOTTOM_RIGHT;
    assert_true(work_of(&a).pairs == 0x1p125);
}

/* Scores of 32 heads, 1024 x 1024 in bf16: written, read, written, read: 4 * 32 * 2^20 * 2 bytes beside Q, K, V, O. */
static void test_naive(void **state)
{
    struct attention_model a = attention_plain(32, 8, 128, 1024, 1024, 16);
    struct attention_naive naive;
    (void)state;
    a.mask = ATTENTION_CAUSAL_BOTTOM_RIGHT;
    attention_naive(&a, 16, 16, &naive);
    assert_true(naive.flops == 17179869184.0); /* the mask saves nothing */
    assert_true(naive.score_bytes == 268435456.0);
    assert_true(naive.bytes == 268435456.0 + 4194304 + 16777216);
    assert_true(naive.cap == 64);
    assert_true(naive.intensity < naive.cap);
    assert_true(naive.fused.flops == 4.0 * 32 * 128 * 524800); /* 1024 * 1025 / 2 pairs */
    assert_true(naive.fused.bytes == 4194304.0 + 16777216);
    attention_naive(&a, 32, 16, &naive); /* fp32 scores */
    assert_true(naive.score_bytes == 1.5 * 268435456);
    assert_true(fabs(naive.cap - 128 / 3.0) < 1e-12);
}

static void test_of_gemms(void **state)
{
    struct gemm_model scores = gemm_plain(100, 200, 64, 16), values = gemm_plain(100, 96, 200, 16);
    struct attention_model a;
    (void)state;
    scores.batch = values.batch = 12;
    for (int i = 0; i < GEMM_OPERANDS; i++)
        scores.operand[i].matrices = values.operand[i].matrices = 12;
    scores.operand[GEMM_RIGHT].matrices = values.operand[GEMM_RIGHT].matrices = 3;
    assert_true(attention_of_gemms(&scores, &values, &a));
    assert_int_equal(a.n_q, 12);
    assert_int_equal(a.n_kv, 3);
    assert_true(work_of(&a).flops == 2.0 * 12 * 100 * 200 * (64 + 96));
    assert_true(work_of(&a).kv_bytes == 3.0 * 200 * (64 + 96) * 2);
    values.k = 201;
    assert_false(attention_of_gemms(&scores, &values, &a));
    values.k = 200;
    values.batch = 13;
    assert_false(attention_of_gemms(&scores, &values, &a));
}

/* Closed forms are what the exact model tends to at a million tokens; decode is exact at any. */
static void test_closed_forms(void **state)
{
    struct attention_model a = attention_plain(32, 8, 128, 1 << 20, 1 << 20, 16);
    (void)state;
    a.mask = ATTENTION_CAUSAL_BOTTOM_RIGHT;
    struct attention_work w = work_of(&a);
    assert_true(fabs(attention_ridge_length_kv(4, 2, w.intensity_kv, true) / (1 << 20) - 1) < 1e-6);
    assert_true(fabs(attention_ridge_length(4, 2, 2, 2, w.intensity) / (1 << 20) - 1) < 1e-6);
    a.mask = ATTENTION_NO_MASK;
    assert_true(attention_ridge_length_kv(4, 2, work_of(&a).intensity_kv, false) == 1 << 20);
    a.each = (struct attention_sequence){1, 777}; /* (2/b) g by KV, (2/b) g S / (S + g) by all */
    assert_true(work_of(&a).intensity_kv == 4);
    assert_true(fabs(work_of(&a).intensity - 4 * 777.0 / 781) < 1e-12);
    /* fp8 K and V, 16-bit Q and O, 8 heads each: 2 + 8 * 4 bytes for 16 FLOPs times the length, and 1/8 R by KV */
    assert_true(fabs(attention_ridge_length(8, 1, 2, 2, 300) - 300 * 34 / 16.0) < 1e-9);
    assert_true(attention_ridge_length_kv(8, 1, 300, true) == 37.5);
    assert_true(attention_ridge_length_kv(8, 1, 300, false) == 18.75);
    assert_true(attention_share(100, 300) == 0.25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_cell),
        cmocka_unit_test(test_long_sequences),
        cmocka_unit_test(test_grouped_queries),
        cmocka_unit_test(test_more_keys_than_queries),
        cmocka_unit_test(test_decode),
        cmocka_unit_test(test_latent_attention),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_ragged),
        cmocka_unit_test(test_unknown_stays_unknown),
        cmocka_unit_test(test_naive),
        cmocka_unit_test(test_of_gemms),
        cmocka_unit_test(test_closed_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
