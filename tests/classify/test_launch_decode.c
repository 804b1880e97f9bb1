/* SPDX-License-Identifier: Apache-2.0 */
/* Launches read by rows of this test's own (launch_rows.jsonl), against figures worked out by hand. Lists of types are those
 * of llama.cpp's kernels, under other names, so that no built-in row answers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "classify/launch_decode.h"
#include "classify/launch_table.h"
#include "tests/classify/launch_fixture.h"

#define MMVQ_TAIL "EEvPKvS2_PKi31ggml_cuda_mm_fusion_args_devicePfj5uint3jjjS7_jjjS7_jjjj"
#define MMVQ_Q4_K "_Z13own_mat_vec_qIL9ggml_type12ELi1ELb1ELb0ELb0" MMVQ_TAIL
#define MMVQ_MOE                                                                                                       \
    "_Z17own_mat_vec_q_moeIL9ggml_type12ELi2ELb0EEvPKvS2_PKi31ggml_cuda_mm_fusion_args_devicePfj5uint3jjjjjjjjj"
#define MMQ_Q4_K                                                                                                       \
    "_Z9own_mat_qIL9ggml_type12ELi112ELb0EL9ggml_prec30EEvPKcPKiS5_S5_PfS6_PKf5uint3iiiiiS9_S9_iiiS9_S9_iiiS9_"
#define MMVF_F16                                                                                                       \
    "_Z13own_mat_vec_fI6__halfS0_Li1ELi128ELb0ELb0EEvPKT_PKfPKi31ggml_cuda_mm_fusion_args_devicePfi5uint3iiiSA_iiiSA_" \
    "iiii"
#define FA_VEC                                                                                                         \
    "_Z18owned_attn_ext_vecILi128ELi1EL9ggml_type1ELS0_1ELb0EEvPKcS2_S2_S2_S2_"                                        \
    "PKiPfP6float2ffffjfi5uint3iiiiiiiiiiiliiliiiiil"

static const uint32_t warp[3] = {32, 4, 1};

static struct launch_decode decode_of(const char *name, uint32_t x, uint32_t y, uint32_t z, const uint32_t block[3],
                                      const struct launch_fixture *fixture)
{
    struct launch_decode decode;
    launch_decode(name, (const uint32_t[3]){x, y, z}, block, fixture ? &fixture->parameters : NULL, &decode);
    return decode;
}

static void assert_read(const struct launch_decode *decode)
{
    if (decode->reading != LAUNCH_READ)
        fail_msg("%s: %s", launch_reading_name(decode->reading), decode->problem);
    assert_string_equal(decode->problem, "");
}

static void assert_left(const struct launch_decode *decode, enum launch_reading reading, const char *problem)
{
    if (decode->reading != reading || !strstr(decode->problem, problem))
        fail_msg("%s: '%s'", launch_reading_name(decode->reading), decode->problem);
    assert_int_equal(decode->provenance, TRACE_NONE);
    struct work work;
    launch_decode_work(decode, &work);
    assert_false(work.shape_known);
    assert_true(isnan(work.flops) && isnan(work.bytes) && isnan(launch_decode_bytes_least(decode)));
}

/* ---- MMVQ ---- */

struct mmvq {
    int ids, no_fusion;
    uint64_t bias, gate;
    uint32_t k, channels_y, row_x, stride_dst, ratio, expert_dst;
};

static void mmvq_parameters(struct launch_fixture *f, struct mmvq p)
{
    const uint64_t fusion[6] = {p.bias, p.gate, 0, 0, 0, 0};
    fixture_begin(f);
    fixture_pointer(f, 1);
    fixture_pointer(f, 1);
    fixture_pointer(f, p.ids);
    fixture_bytes(f, fusion, 48, p.no_fusion ? 0 : 48);
    fixture_pointer(f, 1);
    fixture_u32(f, p.k);
    fixture_fastdiv(f, p.channels_y);
    fixture_u32(f, p.row_x);
    fixture_u32(f, 0);
    fixture_u32(f, p.stride_dst);
    fixture_fastdiv(f, p.ratio);
    for (int i = 11; i < 13; i++)
        fixture_u32(f, 0);
    fixture_u32(f, p.expert_dst);
    fixture_fastdiv(f, 1);
    for (int i = 15; i < 19; i++)
        fixture_u32(f, 0);
}

/* N 1536, K 512, q4_K: 144 bytes for 256 weights, so 442,368. Activations q8_1, 36 bytes for 32: 576. Output 1536 floats: 6,144. */
static void test_mmvq(void **state)
{
    struct launch_fixture f;
    struct work work;
    (void)state;
    mmvq_parameters(&f, (struct mmvq){.k = 512, .row_x = 2, .stride_dst = 1536, .ratio = 1});
    struct launch_decode d = decode_of(MMVQ_Q4_K, 1536, 1, 1, warp, &f);
    assert_read(&d);
    assert_int_equal(d.kind, LAUNCH_MATMUL);
    assert_int_equal(d.provenance, TRACE_PARAMS);
    assert_true(d.m == 1 && d.n == 1536 && d.k == 512 && d.batch == 1 && d.weights == 1);
    assert_string_equal(d.kernel, "own_mat_vec_q");
    assert_string_equal(d.weight_format->name, "q4_K");
    assert_true(d.a_bits == 9 && d.d_bits == 32 && d.weight_parameter == 0);
    assert_int_equal(d.path, GPU_PATH_INT8_DP4A);
    launch_decode_work(&d, &work);
    assert_true(work.flops == 2.0 * 1536 * 512);
    assert_true(work.bytes == 442368 + 576 + 6144);
    assert_true(launch_decode_bytes_least(&d) == work.bytes);
    assert_true(work.intensity == 1572864.0 / 449088);
    assert_true(work.bytes_per_row == 576 + 6144 && work.bytes_fixed == 442368 && work.flops_per_row == 1572864);
    assert_true(work.shape_known && work.m == 1 && work.n == 1536 && work.k == 512 && work.batch == 1);
    assert_int_equal(work.weight, WORK_WEIGHT_A);
    assert_int_equal(work.type_compute, NUMBER_INT8);
    assert_true(work.model.right_is_weight);
}

/* A fused gate: two matrices and twice the FLOPs, one activation, one output. A residual: its N floats are read. */
static void test_mmvq_fused(void **state)
{
    struct launch_fixture f;
    struct work work;
    (void)state;
    mmvq_parameters(&f, (struct mmvq){.gate = 0x7f0000001000, .k = 512, .row_x = 2, .stride_dst = 1536, .ratio = 1});
    struct launch_decode d = decode_of(MMVQ_Q4_K, 1536, 1, 1, warp, &f);
    assert_read(&d);
    assert_true(d.weights == 2 && d.matrices_most == 2 && d.matrices_least == 2 && !d.adds);
    launch_decode_work(&d, &work);
    assert_true(work.flops == 2 * 2.0 * 1536 * 512);
    assert_true(work.bytes == 2 * 442368 + 576 + 6144);
    mmvq_parameters(&f, (struct mmvq){.bias = 0x7f0000001000, .k = 512, .row_x = 2, .stride_dst = 1536, .ratio = 1});
    d = decode_of(MMVQ_Q4_K, 1536, 1, 1, warp, &f);
    assert_read(&d);
    assert_true(d.adds && d.weights == 1);
    launch_decode_work(&d, &work);
    assert_true(work.bytes == 442368 + 576 + 2 * 6144);
}

/* 4 channels of which 2 share a weight: two matrices. */
static void test_mmvq_channels(void **state)
{
    struct launch_fixture f;
    struct work work;
    (void)state;
    mmvq_parameters(&f, (struct mmvq){.k = 512, .row_x = 2, .stride_dst = 1536, .ratio = 2});
    struct launch_decode d = decode_of(MMVQ_Q4_K, 1536, 4, 1, warp, &f);
    assert_read(&d);
    assert_true(d.batch == 4 && d.matrices_most == 2);
    launch_decode_work(&d, &work);
    assert_true(work.flops == 4 * 2.0 * 1536 * 512);
    assert_true(work.bytes == 2 * 442368 + 4 * (576 + 6144));
    mmvq_parameters(&f, (struct mmvq){.k = 512, .row_x = 2, .stride_dst = 1536, .ratio = 3}); /* 4 / 3 is no channel */
    d = decode_of(MMVQ_Q4_K, 1536, 4, 1, warp, &f);
    assert_left(&d, LAUNCH_REFUSED, "matrices_most is out of range");
}

/* A mixture, one token: the two experts that it uses, of one row of activations. */
static void test_mmvq_experts(void **state)
{
    struct launch_fixture f;
    struct work work;
    (void)state;
    mmvq_parameters(
        &f, (struct mmvq){.ids = 1, .k = 512, .channels_y = 1, .row_x = 2, .stride_dst = 2 * 1536, .expert_dst = 1536});
    struct launch_decode d = decode_of(MMVQ_Q4_K, 1536, 2, 1, warp, &f);
    assert_read(&d);
    assert_true(d.n == 1536 && d.batch == 2 && d.matrices_least == 2 && d.matrices_most == 2 && d.activations == 1);
    launch_decode_work(&d, &work);
    assert_true(work.bytes == 2 * 442368 + 576 + 2 * 6144);
    assert_true(work.flops == 2 * 2.0 * 1536 * 512);
}

/* Three tokens, two experts each: 2 to 6 different matrices. */
static void test_moe(void **state)
{
    struct launch_fixture f;
    struct work work;
    const uint32_t values[] = {512, 0, 1536, 2, 0, 0, 0, 0, 0, 3, 0};
    (void)state;
    fixture_begin(&f);
    for (int i = 0; i < 3; i++)
        fixture_pointer(&f, 1);
    fixture_bytes(&f, (const uint64_t[6]){0}, 48, 48);
    fixture_pointer(&f, 1);
    fixture_u32(&f, values[0]);
    fixture_fastdiv(&f, 1);
    for (int i = 2; i < 11; i++)
        fixture_u32(&f, values[i]);
    struct launch_decode d = decode_of(MMVQ_MOE, 768, 2, 1, (const uint32_t[3]){32, 3, 1}, &f);
    assert_read(&d);
    assert_true(d.m == 3 && d.batch == 2 && d.experts && d.matrices_least == 2 && d.matrices_most == 6);
    assert_int_equal(d.provenance, TRACE_AT_MOST);
    launch_decode_work(&d, &work);
    assert_int_equal(work.provenance, TRACE_AT_MOST);
    assert_true(work.flops == 2 * 2.0 * 3 * 1536 * 512);
    assert_true(work.bytes == 6 * 442368 + 2 * 3 * (576 + 6144));
    assert_true(launch_decode_bytes_least(&d) == 2 * 442368 + 2 * 3 * (576 + 6144));
    assert_true(isnan(work.bytes_per_row) && isnan(work.flops_per_row));
    d = decode_of(MMVQ_MOE, 768, 2, 1, warp, &f); /* block.y is 4 */
    assert_left(&d, LAUNCH_REFUSED, "check of own_mat_vec_q_moe failed: block.y == m");
}

/* ---- MMQ, MMVF ---- */

static void mmq_parameters(struct launch_fixture *f, uint32_t blocks, uint32_t n, uint32_t m)
{
    fixture_begin(f);
    for (int i = 0; i < 7; i++)
        fixture_pointer(f, i != 2 && i != 3);
    f->parameters.null_pointers |= 1u << 2;
    fixture_fastdiv(f, blocks);
    const uint32_t five[5] = {n, m, 0, 0, 0};
    for (int i = 0; i < 5; i++)
        fixture_u32(f, five[i]);
    for (int group = 0; group < 2; group++) {
        fixture_fastdiv(f, 1);
        fixture_fastdiv(f, 1);
        for (int i = 0; i < 3; i++)
            fixture_u32(f, 0);
    }
    fixture_fastdiv(f, 1);
}

/* 301 tokens, N 1536, K 512 = 2 blocks of 256; a stream-K grid says nothing of the shape. */
static void test_mmq(void **state)
{
    struct launch_fixture f;
    struct work work;
    (void)state;
    mmq_parameters(&f, 2, 1536, 301);
    struct launch_decode d = decode_of(MMQ_Q4_K, 132, 1, 1, warp, &f);
    assert_read(&d);
    assert_true(d.m == 301 && d.n == 1536 && d.k == 512);
    assert_int_equal(d.path, GPU_PATH_INT8);
    launch_decode_work(&d, &work);
    assert_true(work.flops == 2.0 * 301 * 1536 * 512);
    assert_true(work.bytes == 442368 + 301.0 * (576 + 6144));
    mmq_parameters(&f, 2, 1500, 301); /* the template says that N is whole tiles of 128 */
    d = decode_of(MMQ_Q4_K, 132, 1, 1, warp, &f);
    assert_left(&d, LAUNCH_REFUSED, "check of own_mat_q failed: t2 == (n % 128 != 0)");
    mmq_parameters(&f, UINT32_MAX, 1536, 301); /* K of 2^40 */
    d = decode_of(MMQ_Q4_K, 132, 1, 1, warp, &f);
    assert_left(&d, LAUNCH_REFUSED, "k is 1099511627520, not 1 to 2147483647");
    mmq_parameters(&f, 2, 1536, 0x80000000u); /* a negative M */
    d = decode_of(MMQ_Q4_K, 132, 1, 1, warp, &f);
    assert_left(&d, LAUNCH_REFUSED, "m is -2147483648");
}

/* f16, K in pairs; the first parameter's type is the first template argument's. */
static void test_mmvf(void **state)
{
    struct launch_fixture f;
    struct work work;
    (void)state;
    fixture_begin(&f);
    fixture_pointer(&f, 1);
    fixture_pointer(&f, 1);
    fixture_pointer(&f, 0);
    fixture_bytes(&f, (const uint64_t[6]){0}, 48, 48);
    fixture_pointer(&f, 1);
    fixture_u32(&f, 256);
    fixture_fastdiv(&f, 1);
    fixture_u32(&f, 512);
    fixture_u32(&f, 256);
    fixture_u32(&f, 1536);
    fixture_fastdiv(&f, 1);
    for (int i = 0; i < 3; i++)
        fixture_u32(&f, 0);
    fixture_fastdiv(&f, 1);
    for (int i = 0; i < 4; i++)
        fixture_u32(&f, 0);
    struct launch_decode d = decode_of(MMVF_F16, 1536, 1, 1, warp, &f);
    assert_read(&d);
    assert_true(d.m == 1 && d.n == 1536 && d.k == 512);
    launch_decode_work(&d, &work);
    assert_true(work.bytes == 1536.0 * 512 * 2 + 512 * 4 + 1536 * 4);
    assert_int_equal(work.type[0].type, NUMBER_FP16);
    assert_int_equal(work.type[1].type, NUMBER_FP32);
    d = decode_of(MMVF_F16, 1535, 1, 1, warp, &f);
    assert_left(&d, LAUNCH_REFUSED, "a9 == n");
}

/* ---- attention ---- */

static void fa_parameters(struct launch_fixture *f, int mask, uint32_t heads, uint32_t kv_heads, uint32_t keys)
{
    const uint32_t ints[] = {heads, 1, 0, 0, 0, 128, keys, kv_heads, 1, 256, 256};
    fixture_begin(f);
    for (int i = 0; i < 8; i++)
        fixture_pointer(f, i == 3 ? mask : i != 4 && i != 5);
    for (int i = 8; i < 14; i++)
        fixture_u32(f, 0);
    fixture_u32(f, 128);
    fixture_fastdiv(f, 1);
    for (int i = 0; i < 11; i++)
        fixture_u32(f, ints[i]);
    fixture_i64(f, 0);
    fixture_u32(f, 256);
    fixture_u32(f, 256);
    fixture_i64(f, 0);
    for (int i = 0; i < 5; i++)
        fixture_u32(f, 0);
    fixture_i64(f, 0);
}

/* 4 query heads on 2, head dim 128, 512 padded keys in f16, 3 splits. FLOPs 2 * 4 * 256 * 512. K and V: 2 * 512 * 256 * 2 bytes.
 * Q and the output: 4 * 128 floats each. Parts: 3 * 4 rows of 128 floats and two more, written and read. */
static void test_attention(void **state)
{
    struct launch_fixture f;
    struct attention_model model;
    struct attention_work work;
    (void)state;
    fa_parameters(&f, 1, 4, 2, 512);
    struct launch_decode d = decode_of(FA_VEC, 1, 3, 4, warp, &f);
    assert_read(&d);
    assert_int_equal(d.kind, LAUNCH_ATTENTION);
    assert_int_equal(d.provenance, TRACE_AT_MOST);
    assert_true(d.n_q == 4 && d.n_kv == 2 && d.d == 128 && d.d_v == 128 && d.queries == 1 && d.keys == 512);
    assert_true(d.sequences == 1 && d.keys_at_most && d.masked && d.k_bits == 16 && d.splits == 3);
    launch_decode_attention(&d, &model);
    attention_work(&model, &work);
    assert_true(work.flops == 1048576);
    assert_true(work.kv_bytes == 524288 && work.q_bytes == 2048 && work.o_bytes == 2048);
    assert_true(work.partial_bytes == 2 * 3 * 4 * 130 * 4);
    fa_parameters(&f, 1, 5, 2, 512);
    d = decode_of(FA_VEC, 1, 3, 4, warp, &f);
    assert_left(&d, LAUNCH_REFUSED, "check of owned_attn_ext_vec failed: n_q % n_kv == 0");
    fa_parameters(&f, 1, 4, 0, 512);
    d = decode_of(FA_VEC, 1, 3, 4, warp, &f);
    assert_left(&d, LAUNCH_REFUSED, "n_kv is 0");
}

/* ---- what is not read ---- */

static void test_not_read(void **state)
{
    struct launch_fixture f;
    (void)state;
    struct launch_decode d =
        decode_of("_Z13own_mat_vec_qIL9ggml_type12ELi1ELb1ELb0ELb0EEvPKvS2_PKi31ggml_cuda_mm_fusion_"
                  "args_devicePfjj5uint3jjjS7_jjjS7_jjjj",
                  1536, 1, 1, warp, NULL);
    assert_left(&d, LAUNCH_OTHER_REVISION, "unknown revision of own_mat_vec_q"); /* shifted: one more number */
    d = decode_of("_Z13own_mat_vec_qIL9ggml_type12ELi1ELb1ELb0" MMVQ_TAIL, 1536, 1, 1, warp, NULL);
    assert_left(&d, LAUNCH_OTHER_REVISION, "unknown revision"); /* one template argument less */
    d = decode_of("_Z5otheri", 1, 1, 1, warp, NULL);
    assert_left(&d, LAUNCH_NOT_IN_TABLE, "no row");
    assert_string_equal(d.kernel, "other");
    d = decode_of("own_mat_vec_q", 1, 1, 1, warp, NULL);
    assert_left(&d, LAUNCH_NOT_IN_TABLE, "taken apart");
    d = decode_of(MMVQ_Q4_K, 1536, 1, 1, warp, NULL);
    assert_left(&d, LAUNCH_NO_VALUES, "carries no parameters");
    /* The fused gate is not known, so neither is anything. */
    mmvq_parameters(&f, (struct mmvq){.no_fusion = 1, .k = 512, .row_x = 2, .stride_dst = 1536, .ratio = 1});
    d = decode_of(MMVQ_Q4_K, 1536, 1, 1, warp, &f);
    assert_left(&d, LAUNCH_NO_VALUES, "own_mat_vec_q: weights is not known, as its parameters were not kept");
    mmvq_parameters(&f, (struct mmvq){.k = 512, .row_x = 2, .stride_dst = 1536, .ratio = 1});
    f.plan.parameter[5].bytes = 8; /* no unsigned int */
    d = decode_of(MMVQ_Q4_K, 1536, 1, 1, warp, &f);
    assert_left(&d, LAUNCH_NO_VALUES, "not those of its list");
    mmvq_parameters(&f, (struct mmvq){.k = 512, .row_x = 2, .stride_dst = 1536, .ratio = 1});
    f.plan.count--;
    d = decode_of(MMVQ_Q4_K, 1536, 1, 1, warp, &f);
    assert_left(&d, LAUNCH_NO_VALUES, "not those of its list");
    mmvq_parameters(&f, (struct mmvq){.ids = 1, .k = 512, .row_x = 2, .stride_dst = 1536, .ratio = 1});
    d = decode_of("_Z13own_mat_vec_qIL9ggml_type12ELi2ELb1ELb0ELb0" MMVQ_TAIL, 768, 1, 1, warp, &f);
    assert_left(&d, LAUNCH_REFUSED, "no row of own_mat_vec_q has this use of it");
    mmvq_parameters(&f, (struct mmvq){.k = 500, .row_x = 2, .stride_dst = 1536, .ratio = 1});
    d = decode_of(MMVQ_Q4_K, 1536, 1, 1, warp, &f);
    assert_left(&d, LAUNCH_REFUSED, "k % block_of(weight_format) == 0");
}

/* A type number that ggml does not have: the shape stands, bytes do not. */
static void test_unknown_format(void **state)
{
    struct launch_fixture f;
    (void)state;
    mmq_parameters(&f, 2, 1536, 301);
    struct launch_decode d =
        decode_of("_Z9own_mat_qIL9ggml_type99ELi112ELb0EL9ggml_prec30EEvPKcPKiS5_S5_PfS6_PKf5uint3iiiiiS9_"
                  "S9_iiiS9_S9_iiiS9_",
                  132, 1, 1, warp, &f);
    assert_left(&d, LAUNCH_REFUSED, "k is out of range"); /* K is in blocks, and of what size nobody knows */
    d = decode_of(FA_VEC, 1, 3, 4, warp, NULL);
    assert_left(&d, LAUNCH_NO_VALUES, "owned_attn_ext_vec: n_q is not known");
    fa_parameters(&f, 0, 4, 2, 512);
    d = decode_of("_Z18owned_attn_ext_vecILi128ELi1EL9ggml_type99ELS0_1ELb0EEvPKcS2_S2_S2_S2_"
                  "PKiPfP6float2ffffjfi5uint3iiiiiiiiiiiliiliiiiil",
                  1, 1, 4, warp, &f);
    assert_read(&d);
    assert_true(isnan(d.k_bits) && d.v_bits == 16 && !d.masked);
    struct attention_model model;
    struct attention_work attention;
    launch_decode_attention(&d, &model);
    attention_work(&model, &attention);
    assert_true(isnan(attention.bytes) && attention.flops == 1048576);
}

static void test_helpers(void **state)
{
    (void)state;
    struct launch_decode d = decode_of("_Z13ownedize_q8_1PKfPvlllllj5uint3", 2, 1, 1, warp, NULL);
    assert_read(&d); /* it needs no values */
    assert_int_equal(d.kind, LAUNCH_HELPER);
    assert_int_equal(d.serves, LAUNCH_SERVES_NEXT_MATMUL);
    assert_int_equal(d.provenance, TRACE_NONE);
    struct work work;
    launch_decode_work(&d, &work);
    assert_false(work.shape_known);
}

/* Template arguments and the grid alone tell it; any number of pointers. */
static void test_by_grid(void **state)
{
    (void)state;
    static const char *const names[] = {"_Z7by_gridI6__halfLi4EEvPT_", "_Z7by_gridI6__halfLi4EEvPT_S2_S2_"};
    for (int i = 0; i < 2; i++) {
        struct launch_decode d = decode_of(names[i], 64, 1, 1, warp, NULL);
        assert_read(&d);
        assert_true(d.m == 4 && d.n == 64 && d.k == 32);
        assert_int_equal(d.provenance, TRACE_EXACT);
        assert_int_equal(d.weight_parameter, -1);
    }
    /* Another type, one as long, one more star. */
    static const char *const others[] = {"_Z7by_gridI6__halfLi4EEvPT_Pf", "_Z7by_gridI6__halfLi4EEvPd",
                                         "_Z7by_gridI6__halfLi4EEvPPT_"};
    for (int i = 0; i < 3; i++) {
        struct launch_decode d = decode_of(others[i], 64, 1, 1, warp, NULL);
        assert_left(&d, LAUNCH_OTHER_REVISION, "unknown revision of by_grid");
    }
    struct launch_decode d = decode_of("_Z4widellll", 1, 1, 1, warp, NULL); /* one more */
    assert_left(&d, LAUNCH_OTHER_REVISION, "unknown revision of wide");
    d = decode_of("_Z4widexll", 1, 1, 1, warp, NULL); /* long long */
    assert_left(&d, LAUNCH_OTHER_REVISION, "unknown revision of wide");
}

/* Sizes of 64 bits: overflow and a division by 0 are refused. */
static void test_overflow(void **state)
{
    static const struct {
        int64_t m, n, k;
        const char *problem; /* NULL: read */
    } cases[] = {
        {4, 5, 6, NULL},
        {4, INT64_MAX, 6, "n is out of range"},
        {4, INT64_MIN, 6, "n is out of range"},
        {4, 65536, 6, "n is 4294967296, not"},
        {-1, 5, 6, "m is -1"},
        {0, 5, 6, "m is 0"},
        {4, 5, INT64_MIN, "k is -9223372036854775808"},
        {4, 4, 6, "failed: m < 1000 / (n - 16)"}, /* by 0 */
        {400, 5, 6, "failed: m < 1000 / (n - 16)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct launch_fixture f;
        fixture_begin(&f);
        fixture_i64(&f, cases[i].m);
        fixture_i64(&f, cases[i].n);
        fixture_i64(&f, cases[i].k);
        struct launch_decode d = decode_of("_Z4widelll", 1, 1, 1, warp, &f);
        if (cases[i].problem)
            assert_left(&d, LAUNCH_REFUSED, cases[i].problem);
        else
            assert_read(&d);
    }
}

static struct launch_decode decode_of_longs(const char *name, const int64_t *values, int count)
{
    struct launch_fixture f;
    fixture_begin(&f);
    for (int i = 0; i < count; i++)
        fixture_i64(&f, values[i]);
    return decode_of(name, 1, 1, 1, warp, &f);
}

/* What holds for all rows, whatever they check themselves. */
static void test_bounds(void **state)
{
    static const struct {
        int64_t values[5]; /* m, batch, activations, matrices_least, matrices_most */
        const char *problem;
    } cases[] = {
        {{3, 2, 1, 2, 6}, NULL},
        {{3, 2, 2, 6, 6}, NULL},
        {{3, 2, 1, 2, 7}, "matrices_most <= m * batch * weights"},
        {{3, 2, 1, 5, 4}, "matrices_least <= matrices_most"},
        {{3, 2, 3, 2, 6}, "activations <= batch"},
        {{3, 2, 0, 2, 6}, "activations is 0"},
        {{3, 2, 1, 0, 6}, "matrices_least is 0"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct launch_decode d = decode_of_longs("_Z6boundslllll", cases[i].values, 5);
        if (cases[i].problem)
            assert_left(&d, LAUNCH_REFUSED, cases[i].problem);
        else {
            assert_read(&d);
            assert_int_equal(d.provenance, TRACE_AT_MOST); /* the row says so */
        }
    }
}

/* Absorbed MLA: 100 keys of 576, of which V is 512; K is read alone. 128 heads, 2 * (576 + 512) FLOPs a pair. */
static void test_latent(void **state)
{
    struct attention_model model;
    struct attention_work work;
    (void)state;
    struct launch_decode d = decode_of_longs("_Z6latentll", (const int64_t[]){576, 512}, 2);
    assert_read(&d);
    assert_int_equal(d.provenance, TRACE_PARAMS);
    launch_decode_attention(&d, &model);
    attention_work(&model, &work);
    assert_true(work.kv_bytes == 100 * 576 * 2 && work.flops == 128.0 * 2 * (576 + 512) * 100);
    assert_true(work.partial_bytes == 0);
    d = decode_of_longs("_Z6latentll", (const int64_t[]){512, 576}, 2);
    assert_left(&d, LAUNCH_REFUSED, "d_v <= d");
    d = decode_of_longs("_Z6latentll", (const int64_t[]){1025, 512}, 2);
    assert_left(&d, LAUNCH_REFUSED, "d is 1025, not 1 to 1024");
}

static struct launch_table_file *file;

static int read_rows(void **state)
{
    char error[LAUNCH_TABLE_ERROR_BYTES];
    (void)state;
    file = launch_table_file_read("launch_rows.jsonl", error);
    if (!file)
        fprintf(stderr, "%s\n", error);
    launch_table_set_user_file(file);
    return file ? 0 : -1;
}

static int free_rows(void **state)
{
    (void)state;
    launch_table_set_user_file(NULL);
    launch_table_file_free(file);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mmvq),           cmocka_unit_test(test_mmvq_fused), cmocka_unit_test(test_mmvq_channels),
        cmocka_unit_test(test_mmvq_experts),   cmocka_unit_test(test_moe),        cmocka_unit_test(test_mmq),
        cmocka_unit_test(test_mmvf),           cmocka_unit_test(test_attention),  cmocka_unit_test(test_not_read),
        cmocka_unit_test(test_unknown_format), cmocka_unit_test(test_helpers),    cmocka_unit_test(test_by_grid),
        cmocka_unit_test(test_overflow),       cmocka_unit_test(test_bounds),     cmocka_unit_test(test_latent),
    };
    return cmocka_run_group_tests(tests, read_rows, free_rows);
}
