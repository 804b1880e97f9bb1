/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the GPU table. A peak that is a sparse figure, or of another product, would imply a clock that no GPU has. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "classify/gpu_specs.h"
#include "classify/mig_profile.h"

static bool is_arithmetic(const struct gpu_spec *spec)
{
    return !strcmp(spec->key, "unit");
}

static void test_every_row_is_complete(void **state)
{
    size_t count;
    const struct gpu_spec *specs = gpu_specs(&count);
    (void)state;
    assert_true(count > 30);
    for (size_t i = 0; i < count; i++) {
        const struct gpu_spec *s = &specs[i];
        assert_non_null(s->key);
        assert_non_null(s->name);
        assert_true(s->source && *s->source);
        assert_true(s->confidence && *s->confidence);
        assert_true(s->bytes_per_second >= 100e9 && s->bytes_per_second <= 10e12);
        assert_true(s->memory_bytes >= 8e9 && s->memory_bytes <= 400e9);
        assert_true(strspn(s->key, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(s->key));
        int peaks = 0;
        for (int p = 0; p < GPU_PATH_COUNT; p++) {
            assert_true(s->flops_per_second[p] == 0 || (s->flops_per_second[p] >= (p == GPU_PATH_FP64 ? 1e11 : 1e12) &&
                                                        s->flops_per_second[p] <= 2e16));
            peaks += s->flops_per_second[p] > 0;
        }
        assert_true(peaks > 0);
    }
}

static void test_nothing_is_there_twice(void **state)
{
    size_t count;
    const struct gpu_spec *specs = gpu_specs(&count);
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            if (i != j)
                assert_string_not_equal(specs[i].key, specs[j].key);
            for (int a = 0; a < GPU_PCI_IDS; a++)
                for (int b = 0; b < GPU_PCI_IDS; b++)
                    if ((i != j || a != b) && specs[i].pci_ids[a])
                        assert_false(specs[i].pci_vendor == specs[j].pci_vendor &&
                                     specs[i].pci_ids[a] == specs[j].pci_ids[b]);
            for (int a = 0; a < GPU_DRIVER_NAMES; a++)
                for (int b = 0; b < GPU_DRIVER_NAMES; b++)
                    if ((i != j || a != b) && specs[i].driver_names[a] && specs[j].driver_names[b])
                        assert_string_not_equal(specs[i].driver_names[a], specs[j].driver_names[b]);
        }
}

static double sixteen_bit_peak(const struct gpu_spec *s)
{
    return s->flops_per_second[GPU_PATH_BF16] > 0 ? s->flops_per_second[GPU_PATH_BF16]
                                                  : s->flops_per_second[GPU_PATH_FP16];
}

static void test_peaks_follow_from_sms_and_clock(void **state)
{
    size_t count, checked = 0;
    const struct gpu_spec *specs = gpu_specs(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        const struct gpu_spec *s = &specs[i];
        if (s->clock_basis != GPU_CLOCK_PUBLISHED && s->clock_basis != GPU_CLOCK_DEVICE_MAX)
            continue;
        double derived = (double)s->sm_count * s->tensor_flops_per_clock_per_sm * s->clock_hz;
        if (fabs(derived / sixteen_bit_peak(s) - 1) > 0.03)
            fail_msg("%s: %g TFLOP/s in the table, %g from SMs and clock", s->key, sixteen_bit_peak(s) / 1e12,
                     derived / 1e12);
        checked++;
    }
    assert_true(checked > 15);
}

/* Dense 16-bit FLOPs per clock and SM with fp32 accumulate, by architecture: {full, halved as on GeForce}. */
static const struct {
    const char *compute_capability;
    int full, halved;
} rates[] = {
    {"7.0", 1024, 0},  {"7.5", 1024, 0},   {"8.0", 2048, 0},    {"8.6", 1024, 512},
    {"8.7", 2048, 0},  {"8.9", 1024, 512}, {"9.0", 4096, 0},    {"10.0", 8192, 0},
    {"10.3", 8192, 0}, {"11.0", 8192, 0},  {"12.0", 1024, 512}, {"12.1", 1024, 512},
};

static void test_no_peak_is_a_sparse_one(void **state)
{
    size_t count;
    const struct gpu_spec *specs = gpu_specs(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        const struct gpu_spec *s = &specs[i];
        if (s->pci_vendor != 0x10de || !s->tensor_flops_per_clock_per_sm)
            continue;
        bool known = false;
        for (size_t r = 0; r < sizeof rates / sizeof rates[0]; r++)
            known |= !strcmp(rates[r].compute_capability, s->compute_capability) &&
                     (s->tensor_flops_per_clock_per_sm == rates[r].full ||
                      s->tensor_flops_per_clock_per_sm == rates[r].halved);
        if (!known)
            fail_msg("%s: %d FLOP per clock and SM is no rate of %s", s->key, s->tensor_flops_per_clock_per_sm,
                     s->compute_capability);
        double clock = sixteen_bit_peak(s) / s->sm_count / s->tensor_flops_per_clock_per_sm;
        if (clock < 1.0e9 || clock > 2.7e9)
            fail_msg("%s: its peak needs a clock of %g GHz", s->key, clock / 1e9);
        /* Halving the operands doubles the rate at most, against fp16 with fp16 accumulate where that is faster. */
        double base = fmax(sixteen_bit_peak(s), s->flops_per_second[GPU_PATH_FP16_ACC16]);
        if (!strcmp(s->key, "l40") || !strcmp(s->key, "l20") || !strcmp(s->key, "a10g"))
            base *= 2; /* their fp16 accumulate is not in the table */
        assert_true(s->flops_per_second[GPU_PATH_FP8_E4M3] <= 2.05 * base);
        assert_true(s->flops_per_second[GPU_PATH_INT8] <= 2.05 * base);
        assert_true(s->flops_per_second[GPU_PATH_FP4_E2M1] <= 6.05 * base);
        assert_true(s->flops_per_second[GPU_PATH_TF32] <= 1.15 * sixteen_bit_peak(s) / 2 + 1e9 ||
                    s->compute_capability[0] == '8');
    }
}

static void test_look_up(void **state)
{
    (void)state;
    assert_string_equal(gpu_spec_find(0x2684, "NVIDIA GeForce RTX 4090", false)->key, "rtx4090");
    assert_string_equal(gpu_spec_find(0x2684, "", false)->key, "rtx4090");
    assert_string_equal(gpu_spec_find(0, "NVIDIA GeForce RTX 4090", false)->key, "rtx4090");
    assert_string_equal(gpu_spec_find(0x2237, "NVIDIA A10G", false)->key, "a10g");
    assert_string_equal(gpu_spec_find(0, "NVIDIA A10", false)->key, "a10");
    assert_string_equal(gpu_spec_find(0, "NVIDIA H200 NVL", false)->key, "h200-nvl");
    assert_string_equal(gpu_spec_find(0, "Simulated unit", true)->key, "unit");
    assert_string_equal(gpu_spec_find(0x2330, "Simulated rtx4090", true)->key, "rtx4090");
    /* no part of a name, no other case, no prefix of ours on a real GPU */
    assert_string_equal(gpu_spec_find(0, "NVIDIA GeForce RTX 4090 D", false)->key, "rtx4090d");
    assert_null(gpu_spec_find(0, "NVIDIA GeForce RTX 4090 E", false));
    assert_null(gpu_spec_find(0, "NVIDIA H100", false));
    assert_null(gpu_spec_find(0, "nvidia geforce rtx 4090", false));
    assert_null(gpu_spec_find(0, "Simulated rtx4090", false));
    assert_null(gpu_spec_find(0, "rtx4090", false));
    assert_null(gpu_spec_find(0, "", false));
    assert_null(gpu_spec_find(0xffff, "no such GPU", false));
    assert_null(gpu_spec_find(0, "Simulated no-such-key", true));
    /* an AMD id is no CUDA device's */
    assert_null(gpu_spec_find(0x74a1, "", false));
    assert_null(gpu_spec_by_key("RTX4090"));
    assert_null(gpu_spec_by_key(""));
}

/* Rates of the other tensor types, as multiples of the 16-bit rate with fp32 accumulate: halving the operands doubles it, TF32
 * halves it, and parts that halve 16-bit with fp32 accumulate (GeForce) don't halve the rest (NVIDIA Ampere GA102, Ada and RTX
 * Blackwell white papers, tables of tensor rates). L40, L20 and A10G halve int8, too (their data sheets). */
static void test_every_tensor_peak_follows_from_the_rate(void **state)
{
    static const struct {
        enum gpu_path path;
        double full, halved, halved_too; /* halved_too 0: no other */
    } multiples[] = {
        {GPU_PATH_TF32, 0.5, 0.5, 0},       {GPU_PATH_FP16, 1, 1, 0},     {GPU_PATH_FP16_ACC16, 1, 2, 0},
        {GPU_PATH_FP8_E4M3, 2, 2, 0},       {GPU_PATH_FP8_E5M2, 2, 2, 0}, {GPU_PATH_FP8_E4M3_ACC16, 2, 4, 0},
        {GPU_PATH_FP8_E5M2_ACC16, 2, 4, 0}, {GPU_PATH_INT8, 2, 4, 2},     {GPU_PATH_FP4_E2M1, 4, 8, 0},
    };
    size_t count, checked = 0;
    const struct gpu_spec *specs = gpu_specs(&count);
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (size_t m = 0; m < sizeof multiples / sizeof multiples[0]; m++) {
            const struct gpu_spec *s = &specs[i];
            double peak = s->flops_per_second[multiples[m].path], base = sixteen_bit_peak(s);
            bool halved = s->tensor_flops_per_clock_per_sm == 512;
            /* B300 and GB300 have few int8 units and more fp4 ones; what is in conflict is marked so */
            if (!(peak > 0) || s->pci_vendor != GPU_PCI_VENDOR_NVIDIA || strstr(s->confidence, "conflict"))
                continue;
            double found = peak / base, wanted = halved ? multiples[m].halved : multiples[m].full;
            bool other = halved && multiples[m].halved_too > 0 && fabs(found / multiples[m].halved_too - 1) <= 0.03;
            if (fabs(found / wanted - 1) > 0.03 && !other)
                fail_msg("%s: %s is %.3f times the 16-bit peak, not %g", s->key, gpu_paths[multiples[m].path].word,
                         found, wanted);
            checked++;
        }
    assert_true(checked > 200);
}

/* "Prefill attention" text: causal, K and V alone, in tokens; and with Q and O, b R (g + 1) / g. Worked out by hand from
 * peak and bandwidth. */
static void test_crossing_lengths(void **state)
{
    static const struct {
        const char *gpu;
        enum gpu_path path;
        double kv_bytes, qo_bytes, group, kv_only, all; /* all 0: not asked */
    } cases[] = {
        {"h100-sxm", GPU_PATH_BF16, 2, 2, 1, 590.746, 1181.493},
        {"h100-sxm", GPU_PATH_BF16, 2, 2, 4, 147.687, 0},
        {"h100-sxm", GPU_PATH_BF16, 2, 2, 8, 73.843, 664.590},
        {"h100-sxm", GPU_PATH_FP8_E4M3, 2, 1, 1, 1181.493, 1772.239},
        {"h100-sxm", GPU_PATH_FP8_E4M3, 1, 1, 1, 590.746, 0},
        {"rtx4090", GPU_PATH_BF16, 2, 2, 1, 327.778, 0},
        {"tpu-v5e", GPU_PATH_BF16, 2, 2, 1, 481.074, 0},
        {"l4", GPU_PATH_BF16, 2, 2, 1, 806.667, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct gpu_spec *s = gpu_spec_by_key(cases[i].gpu);
        double kv = gpu_spec_crossing_kv(s, cases[i].path, cases[i].kv_bytes, cases[i].group);
        double all = gpu_spec_crossing(s, cases[i].path, cases[i].kv_bytes, cases[i].qo_bytes, cases[i].group);
        assert_true(fabs(kv - cases[i].kv_only) <= 0.01);
        assert_true(cases[i].all == 0 || fabs(all - cases[i].all) <= 0.01);
    }
    const struct gpu_spec *h100 = gpu_spec_by_key("h100-sxm");
    assert_true(isnan(gpu_spec_crossing_kv(h100, GPU_PATH_BF16, 2, 0)));
    assert_true(isnan(gpu_spec_crossing_kv(h100, GPU_PATH_FP4_E2M1, 2, 1)));
    assert_true(isnan(gpu_spec_crossing(h100, GPU_PATH_BF16, NAN, 2, 1)));
    assert_true(isnan(gpu_spec_crossing(NULL, GPU_PATH_BF16, 2, 2, 1)));
}

static void test_no_dense_peak_is_the_sparse_headline(void **state)
{
    size_t count, checked = 0;
    const struct gpu_spec *specs = gpu_specs(&count);
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (int p = 0; p < GPU_PATH_COUNT; p++) {
            double dense = specs[i].flops_per_second[p], sparse = specs[i].sparse_flops_per_second[p];
            if (sparse == 0)
                continue;
            if (fabs(sparse / dense - 2) > 0.03)
                fail_msg("%s, %s: %g dense, %g sparse, which is no factor of 2", specs[i].key, gpu_paths[p].word,
                         dense / 1e12, sparse / 1e12);
            checked++;
        }
    assert_true(checked > 90);
}

/* FMA peaks: fp32 lanes of an SM by architecture (CUDA C++ Programming Guide, native arithmetic throughput), 2 FLOP each.
 * Where the vendor means another clock by the fp32 figure than by the tensor ones, the highest clock is the right one. */
static void test_fp32_follows_from_lanes_and_clock(void **state)
{
    static const struct {
        const char *compute_capability;
        int lanes;
    } lanes[] = {{"7.0", 64}, {"7.5", 64}, {"8.0", 64}, {"8.6", 128}, {"8.9", 128}, {"9.0", 128}, {"12.0", 128}};
    size_t count, checked = 0;
    const struct gpu_spec *specs = gpu_specs(&count);
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (size_t r = 0; r < sizeof lanes / sizeof lanes[0]; r++) {
            const struct gpu_spec *s = &specs[i];
            bool own_clock = s->clock_basis == GPU_CLOCK_PUBLISHED || s->max_clock_hz > 0;
            if (s->pci_vendor != GPU_PCI_VENDOR_NVIDIA || !own_clock ||
                strcmp(s->compute_capability, lanes[r].compute_capability) != 0)
                continue;
            double clock = s->max_clock_hz > 0 ? s->max_clock_hz : s->clock_hz;
            double derived = s->sm_count * lanes[r].lanes * 2.0 * clock;
            if (fabs(derived / s->flops_per_second[GPU_PATH_FP32] - 1) > 0.03)
                fail_msg("%s: fp32 %g in the table, %g from lanes and clock", s->key,
                         s->flops_per_second[GPU_PATH_FP32] / 1e12, derived / 1e12);
            checked++;
        }
    assert_true(checked > 30);
}

static void test_published_measurements_are_below_the_specification(void **state)
{
    size_t count, checked = 0;
    const struct gpu_spec *specs = gpu_specs(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        const struct gpu_spec *s = &specs[i];
        bool any = s->achievable_bytes_per_second > 0;
        for (int p = 0; p < GPU_PATH_COUNT; p++) {
            any |= s->achievable_flops_per_second[p] > 0;
            assert_true(s->achievable_flops_per_second[p] <= s->flops_per_second[p]);
        }
        assert_true(s->achievable_bytes_per_second < s->bytes_per_second);
        assert_true(any == (s->achievable_source != NULL));
        checked += any;
    }
    assert_true(checked >= 10);
}

/* Figures that other tools carry and that are wrong, beside the right ones (TFLOP/s): sparse taken for dense, fp16
 * accumulate for fp32, another product's, or a clock that the specification does not mean. */
static void test_known_errors_of_other_tables(void **state)
{
    static const struct {
        const char *key;
        enum gpu_path path;
        double wrong, right;
    } errors[] = {
        {"h100-sxm", GPU_PATH_BF16, 1979, 989.5}, {"h100-sxm", GPU_PATH_BF16, 1071, 989.5},
        {"h100-sxm", GPU_PATH_TF32, 156, 494.7},  {"h100-pcie", GPU_PATH_BF16, 989.5, 756.5},
        {"l4", GPU_PATH_BF16, 242, 121},          {"rtx5090", GPU_PATH_BF16, 838, 209.5},
        {"rtxa6000", GPU_PATH_BF16, 310, 154.8},  {"rtx3090", GPU_PATH_BF16, 142, 71.2},
        {"a10g", GPU_PATH_BF16, 125, 70},         {"rtx4080", GPU_PATH_BF16, 204, 97.5},
        {"rtx4090", GPU_PATH_BF16, 330, 165.2},   {"l40", GPU_PATH_BF16, 362, 181},
        {"v100-sxm2-16", GPU_PATH_INT8, 62, 0},   {"b300", GPU_PATH_INT8, 4500, 188},
    };
    (void)state;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        double peak = gpu_spec_by_key(errors[i].key)->flops_per_second[errors[i].path] / 1e12;
        assert_true(fabs(peak - errors[i].wrong) > 0.02 * errors[i].wrong);
        assert_true(fabs(peak - errors[i].right) <= 1e-9 * errors[i].right);
    }
    assert_true(gpu_spec_by_key("l4")->bytes_per_second == 300e9);         /* not 3350 */
    assert_true(gpu_spec_by_key("h100-sxm")->bytes_per_second == 3350e9);  /* not 3072 */
    assert_true(gpu_spec_by_key("h100-pcie")->bytes_per_second == 2000e9); /* not the SXM part's */
}

/* Sources that disagree are named in the row, not settled silently. */
static void test_open_conflicts_are_marked(void **state)
{
    static const char *const keys[] = {"b300", "gb300", "gb10", "rtxpro6000-srv", "thor-t5000", "h20"};
    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        assert_non_null(strstr(gpu_spec_by_key(keys[i])->confidence, "conflict"));
}

/* Marketing name, PCI id and SMs of parts that are easily taken for one another. */
static void test_pci_id_tells_lookalikes_apart(void **state)
{
    static const struct {
        uint32_t pci_id;
        const char *driver_name, *key; /* driver_name NULL: of no use alone */
        int sm_count;
    } parts[] = {
        {0x2330, "NVIDIA H100 80GB HBM3", "h100-sxm", 132},
        {0x2331, "NVIDIA H100 PCIe", "h100-pcie", 114},
        {0x2321, "NVIDIA H100 NVL", "h100-nvl", 132},
        {0x2338, NULL, "h100-sxm-96", 132},
        {0x2342, "NVIDIA GH200 480GB", "gh200-96", 132},
        {0x2342, "NVIDIA GH200 120GB", "gh200-96", 132},
        {0x2324, "NVIDIA H800", "h800-sxm", 132},
        {0x2322, "NVIDIA H800 PCIe", "h800-pcie", 114},
        {0x2329, "NVIDIA H20", "h20", 78},
        {0x20f3, "NVIDIA A800-SXM4-80GB", "a800-sxm-80", 108},
        {0x20bd, "NVIDIA A800-SXM4-40GB", "a800-sxm-40", 108},
        {0x20f5, "NVIDIA A800 80GB PCIe", "a800-pcie-80", 108},
        {0x26ba, "NVIDIA L20", "l20", 92},
        {0x27b8, "NVIDIA L4", "l4", 58},
        {0x26b5, "NVIDIA L40", "l40", 142},
        {0x26b9, "NVIDIA L40S", "l40s", 142},
        {0x2684, "NVIDIA GeForce RTX 4090", "rtx4090", 128},
        {0x2685, "NVIDIA GeForce RTX 4090 D", "rtx4090d", 114},
        {0x2717, "NVIDIA GeForce RTX 4090 Laptop GPU", "rtx4090-laptop", 76},
        {0x2206, NULL, "rtx3080", 68},
        {0x220a, NULL, "rtx3080-12gb", 70},
        {0x3182, "NVIDIA B300 SXM6 AC", "b300", 148},
        {0x233b, "NVIDIA H200 NVL", "h200-nvl", 132},
    };
    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        enum gpu_match match;
        const struct gpu_spec *s = gpu_spec_match(parts[i].pci_id, "some other name", false, &match);
        assert_non_null(s);
        assert_string_equal(s->key, parts[i].key);
        assert_int_equal(s->sm_count, parts[i].sm_count);
        assert_int_equal(match, GPU_MATCH_PCI_ID);
        if (!parts[i].driver_name)
            continue;
        s = gpu_spec_match(0, parts[i].driver_name, false, &match);
        assert_string_equal(s->key, parts[i].key);
        assert_int_equal(match, GPU_MATCH_NAME);
    }
    /* two products under one name: the name alone tells nothing */
    assert_null(gpu_spec_find(0, "NVIDIA GeForce RTX 3080", false));
    assert_null(gpu_spec_find(0, "NVIDIA GeForce RTX 3060", false));
}

static void test_unknown_names_match_nothing(void **state)
{
    static const char *const names[] = {"NVIDIA ZZZ9000", "", "NVIDIA H200 NVL2", "H200", "NVIDIA A100",
                                        "NVIDIA B300 SXM"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        enum gpu_match match = GPU_MATCH_KEY;
        assert_null(gpu_spec_match(0x1234, names[i], false, &match));
        assert_int_equal(match, GPU_MATCH_NONE);
    }
}

static void test_mig_profile_is_taken_off_the_name(void **state)
{
    static const struct {
        const char *name, *product, *text; /* product NULL: no profile */
        int compute, gpu, memory_gb;
    } cases[] = {
        {"NVIDIA A100-SXM4-80GB MIG 1g.10gb", "NVIDIA A100-SXM4-80GB", "1g.10gb", 1, 1, 10},
        {"NVIDIA H100 80GB HBM3 MIG 1c.3g.40gb", "NVIDIA H100 80GB HBM3", "1c.3g.40gb", 1, 3, 40},
        {"NVIDIA A100-SXM4-40GB MIG 1g.5gb+me", "NVIDIA A100-SXM4-40GB", "1g.5gb+me", 1, 1, 5},
        {"NVIDIA A100-SXM4-40GB", NULL, NULL, 0, 0, 0},
        {"NVIDIA A100-SXM4-40GB MIG", NULL, NULL, 0, 0, 0},
        {"NVIDIA A100-SXM4-40GB MIG 1g.5gbx", NULL, NULL, 0, 0, 0},
        {"NVIDIA A100-SXM4-40GB MIG 0g.5gb", NULL, NULL, 0, 0, 0},
        {"NVIDIA A100-SXM4-40GB MIG 1g5gb", NULL, NULL, 0, 0, 0},
        {"NVIDIA A100-SXM4-40GB MIG 99999999999g.5gb", NULL, NULL, 0, 0, 0},
        {" MIG 1g.5gb", NULL, NULL, 0, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char product[MIG_PROFILE_NAME_BYTES];
        struct mig_profile profile;
        bool split = mig_profile_split(cases[i].name, product, &profile);
        assert_int_equal(split, cases[i].product != NULL);
        if (!split)
            continue;
        assert_string_equal(product, cases[i].product);
        assert_string_equal(profile.text, cases[i].text);
        assert_int_equal(profile.compute_slices, cases[i].compute);
        assert_int_equal(profile.gpu_slices, cases[i].gpu);
        assert_int_equal(profile.memory_gb, cases[i].memory_gb);
    }
    assert_string_equal(gpu_spec_find(0, "NVIDIA A100-SXM4-80GB MIG 1g.10gb", false)->key, "a100-sxm-80");
    assert_null(gpu_spec_find(0, "NVIDIA A100-SXM4-80GB MIG", false));
}

static void test_words_name_one_path_each(void **state)
{
    (void)state;
    for (int p = 0; p < GPU_PATH_COUNT; p++) {
        assert_int_equal(gpu_path_by_word(gpu_paths[p].word), p);
        assert_non_null(number_type_name(gpu_paths[p].type));
        assert_non_null(number_type_name(gpu_paths[p].accumulate));
    }
    assert_int_equal(gpu_path_by_word("fp8"), GPU_PATH_FP8_E4M3);
    assert_int_equal(gpu_path_by_word("fp"), GPU_PATH_UNKNOWN);
    assert_int_equal(gpu_path_by_word(""), GPU_PATH_UNKNOWN);
}

static void test_accumulate_type_chooses_the_peak(void **state)
{
    const struct gpu_spec *s = gpu_spec_by_key("rtx4090"); /* NVIDIA Ada white paper, appendix A */
    (void)state;
    assert_true(s->flops_per_second[GPU_PATH_FP16] == 165.2e12);
    assert_true(s->flops_per_second[GPU_PATH_FP16_ACC16] == 330.3e12);
    assert_true(s->flops_per_second[GPU_PATH_FP8_E4M3] == 330.3e12);
    assert_true(s->flops_per_second[GPU_PATH_FP8_E4M3_ACC16] == 660.6e12);
    s = gpu_spec_by_key("a100-sxm-80"); /* NVIDIA A100 data sheet, and table 3 of Hopper In-Depth */
    assert_true(s->flops_per_second[GPU_PATH_FP64] == 9.75e12);
    assert_true(s->flops_per_second[GPU_PATH_FP64_TENSOR] == 19.5e12);
    assert_true(s->flops_per_second[GPU_PATH_FP16_FMA] == 78e12);
    assert_true(s->flops_per_second[GPU_PATH_BF16_FMA] == 39e12);
    s = gpu_spec_by_key("radeon-pro-vii");
    assert_true(s->flops_per_second[GPU_PATH_INT8_DP4A] == 52.2e12);
    assert_true(isnan(gpu_spec_ridge(s, GPU_PATH_BF16)));
}

static void test_user_rows_come_first(void **state)
{
    static const struct gpu_spec mine[] = {
        {.key = "mine", .driver_names = {"NVIDIA GeForce RTX 4090"}, .bytes_per_second = 1},
        {.key = "rtx5090", .bytes_per_second = 2},
    };
    (void)state;
    gpu_specs_set_user_rows(mine, 2);
    assert_ptr_equal(gpu_spec_find(0, "NVIDIA GeForce RTX 4090", false), &mine[0]);
    assert_ptr_equal(gpu_spec_by_key("rtx5090"), &mine[1]);
    assert_string_equal(gpu_spec_find(0x2684, "", false)->key, "rtx4090");
    gpu_specs_set_user_rows(NULL, 0);
    assert_string_equal(gpu_spec_find(0, "NVIDIA GeForce RTX 4090", false)->key, "rtx4090");
}

static void test_unit_is_round(void **state)
{
    const struct gpu_spec *unit = gpu_spec_by_key("unit");
    (void)state;
    assert_non_null(unit);
    assert_true(is_arithmetic(unit));
    for (int p = 0; p < GPU_PATH_COUNT; p++)
        assert_true(unit->flops_per_second[p] == 100e12);
    assert_true(unit->bytes_per_second == 1e12);
    assert_int_equal(unit->sm_count, 100);
    assert_int_equal(unit->pci_ids[0], 0);
}

static void test_ridge_is_unknown_without_a_peak(void **state)
{
    (void)state;
    assert_true(isnan(gpu_spec_ridge(NULL, GPU_PATH_BF16)));
    assert_true(isnan(gpu_spec_ridge(gpu_spec_by_key("t4"), GPU_PATH_BF16))); /* Turing has no bf16 */
    assert_true(isnan(gpu_spec_ridge(gpu_spec_by_key("t4"), GPU_PATH_UNKNOWN)));
    assert_true(gpu_spec_ridge(gpu_spec_by_key("unit"), GPU_PATH_FP32) == 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row_is_complete),
        cmocka_unit_test(test_nothing_is_there_twice),
        cmocka_unit_test(test_peaks_follow_from_sms_and_clock),
        cmocka_unit_test(test_no_peak_is_a_sparse_one),
        cmocka_unit_test(test_every_tensor_peak_follows_from_the_rate),
        cmocka_unit_test(test_crossing_lengths),
        cmocka_unit_test(test_no_dense_peak_is_the_sparse_headline),
        cmocka_unit_test(test_fp32_follows_from_lanes_and_clock),
        cmocka_unit_test(test_published_measurements_are_below_the_specification),
        cmocka_unit_test(test_known_errors_of_other_tables),
        cmocka_unit_test(test_open_conflicts_are_marked),
        cmocka_unit_test(test_pci_id_tells_lookalikes_apart),
        cmocka_unit_test(test_unknown_names_match_nothing),
        cmocka_unit_test(test_mig_profile_is_taken_off_the_name),
        cmocka_unit_test(test_words_name_one_path_each),
        cmocka_unit_test(test_accumulate_type_chooses_the_peak),
        cmocka_unit_test(test_user_rows_come_first),
        cmocka_unit_test(test_look_up),
        cmocka_unit_test(test_unit_is_round),
        cmocka_unit_test(test_ridge_is_unknown_without_a_peak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
