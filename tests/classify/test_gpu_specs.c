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
            assert_true(s->flops_per_second[p] == 0 ||
                        (s->flops_per_second[p] >= 1e12 && s->flops_per_second[p] <= 2e16));
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
    assert_null(gpu_spec_find(0, "NVIDIA GeForce RTX 4090 D", false));
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
        cmocka_unit_test(test_look_up),
        cmocka_unit_test(test_unit_is_round),
        cmocka_unit_test(test_ridge_is_unknown_without_a_peak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
