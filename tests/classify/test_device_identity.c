/* SPDX-License-Identifier: Apache-2.0 */
/* Devices as drivers describe them, against the table: parts of a product are scaled, contradictions are kept with both
 * numbers, and attributes only ever check. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "classify/device_identity.h"

/* Nothing known but what the test sets. */
static struct trace_device device(uint32_t pci_id, const char *name)
{
    struct trace_device d = {
        .pci_device_id = pci_id,
        .sm_count = TRACE_UNKNOWN,
        .compute_major = TRACE_UNKNOWN,
        .compute_minor = TRACE_UNKNOWN,
        .memory_bytes = TRACE_UNKNOWN,
        .l2_bytes = TRACE_UNKNOWN,
        .sm_clock_khz = TRACE_UNKNOWN,
        .memory_clock_khz = TRACE_UNKNOWN,
        .memory_bus_bits = TRACE_UNKNOWN,
        .mig = 0,
        .simulated = 0,
    };
    snprintf(d.name, sizeof d.name, "%s", name);
    return d;
}

static const struct identity_check *check_of(const struct device_identity *identity, enum identity_check_kind kind)
{
    for (int i = 0; i < identity->check_count; i++)
        if (identity->checks[i].kind == kind)
            return &identity->checks[i];
    return NULL;
}

static bool close_to(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

/* SMs and slices: NVIDIA MIG User Guide, "Supported MIG Profiles"; memory as drivers report it of such instances. */
static void test_mig_slices_scale_peaks(void **state)
{
    static const struct {
        uint32_t pci_id;
        const char *name, *key;
        int sm_count, slices;
        double memory_bytes, flops_per_second, bytes_per_second; /* bf16, by hand */
    } cases[] = {
        /* 312e12 x 14 / 108, 2039e9 / 8 */
        {0x20b2, "NVIDIA A100-SXM4-80GB MIG 1g.10gb", "a100-sxm-80", 14, 1, 10200547328.0, 312e12 * 14 / 108,
         254.875e9},
        {0x20b2, "NVIDIA A100-SXM4-80GB MIG 3g.40gb", "a100-sxm-80", 42, 4, 42144366592.0, 312e12 * 42 / 108, 1019.5e9},
        {0, "NVIDIA A100-SXM4-80GB MIG 7g.80gb", "a100-sxm-80", 98, 8, 84987740160.0, 312e12 * 98 / 108, 2039e9},
        {0x20b0, "NVIDIA A100-SXM4-40GB MIG 2g.10gb", "a100-sxm-40", 28, 2, 10200547328.0, 312e12 * 28 / 108, 388.75e9},
        {0x2330, "NVIDIA H100 80GB HBM3 MIG 1g.10gb", "h100-sxm", 16, 1, 10468982784.0, 989.5e12 * 16 / 132, 418.75e9},
        {0x2335, "NVIDIA H200 MIG 1g.18gb", "h200-sxm", 16, 1, 17179869184.0, 989.5e12 * 16 / 132, 600e9},
        {0x2335, "NVIDIA H200 MIG 3g.71gb", "h200-sxm", 60, 4, 74500000000.0, 989.5e12 * 60 / 132, 2400e9},
        /* a driver that doesn't name the profile: by its memory */
        {0x20b2, "NVIDIA A100-SXM4-80GB", "a100-sxm-80", 42, 4, 42144366592.0, 312e12 * 42 / 108, 1019.5e9},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct trace_device d = device(cases[i].pci_id, cases[i].name);
        struct device_roofs roofs;
        struct device_identity identity;
        d.mig = 1;
        d.sm_count = cases[i].sm_count;
        d.memory_bytes = (int64_t)cases[i].memory_bytes;
        d.memory_bus_bits = 5120; /* of the whole chip: nothing to compare */
        d.memory_clock_khz = 1;
        device_identify(&d, &roofs, &identity);
        assert_non_null(roofs.spec);
        assert_string_equal(roofs.spec->key, cases[i].key);
        assert_true(close_to(device_roofs_flops_per_second(&roofs, GPU_PATH_BF16), cases[i].flops_per_second));
        assert_true(close_to(device_roofs_bytes_per_second(&roofs), cases[i].bytes_per_second));
        assert_int_equal(identity.memory_slices, cases[i].slices);
        assert_int_equal(identity.check_count, 0);
        assert_true(identity.mig);
        const char *profile = strstr(cases[i].name, " MIG ");
        assert_string_equal(identity.profile.text, profile ? profile + 5 : "");
    }
}

/* Host-wide numbering is of no use: each device is told by its own context's facts. */
static void test_each_device_has_its_own_roof(void **state)
{
    static const struct {
        uint32_t pci_id;
        const char *name;
        double bf16, bytes_per_second;
    } cuda_order[] = {
        {0x27b8, "NVIDIA L4", 121e12, 300e9},
        {0x2321, "NVIDIA H100 NVL", 835.5e12, 3900e9},
        {0x20b2, "NVIDIA A100-SXM4-80GB", 312e12, 2039e9},
    };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct trace_device d = device(cuda_order[i].pci_id, cuda_order[i].name);
        struct device_roofs roofs;
        struct device_identity identity;
        d.ordinal = (uint32_t)i;
        device_identify(&d, &roofs, &identity);
        assert_true(device_roofs_flops_per_second(&roofs, GPU_PATH_BF16) == cuda_order[i].bf16);
        assert_true(device_roofs_bytes_per_second(&roofs) == cuda_order[i].bytes_per_second);
        assert_int_equal(identity.match, GPU_MATCH_PCI_ID);
    }
}

static void test_contradictions_make_estimates(void **state)
{
    struct trace_device d = device(0x2684, "NVIDIA GeForce RTX 4090");
    struct device_roofs roofs;
    struct device_identity identity;
    char text[256];
    (void)state;
    d.sm_count = 144; /* more than the product has */
    d.memory_bytes = 51522830336;
    d.memory_bus_bits = 512;
    d.compute_major = 12;
    d.compute_minor = 0;
    device_identify(&d, &roofs, &identity);
    assert_true(device_identity_contradicts(&identity));
    assert_int_equal(identity.check_count, 4);
    const struct identity_check *check = check_of(&identity, IDENTITY_SM_COUNT);
    assert_true(check->of_device == 144 && check->of_row == 128);
    assert_string_equal(identity_check_text(check, roofs.spec, text, sizeof text),
                        "peak estimated: the device has 144 SMs, GeForce RTX 4090 has 128");
    assert_string_equal(identity_check_text(check_of(&identity, IDENTITY_MEMORY), roofs.spec, text, sizeof text),
                        "peak estimated: the device has 51.5 GB of memory, GeForce RTX 4090 has 24.0");
    assert_string_equal(identity_check_text(check_of(&identity, IDENTITY_BUS), roofs.spec, text, sizeof text),
                        "peak estimated: the device's memory bus has 512 bits, that of GeForce RTX 4090 384");
    assert_string_equal(identity_check_text(check_of(&identity, IDENTITY_CAPABILITY), roofs.spec, text, sizeof text),
                        "peak estimated: the device has compute capability 12.0, GeForce RTX 4090 has 8.9");
    assert_true(device_roofs_flops_per_second(&roofs, GPU_PATH_BF16) == 165.2e12); /* never up */

    d = device(0x2684, "NVIDIA L40S");
    device_identify(&d, &roofs, &identity);
    assert_true(device_identity_contradicts(&identity));
    assert_string_equal(roofs.spec->key, "rtx4090");
    assert_string_equal(identity_check_text(&identity.checks[0], roofs.spec, text, sizeof text),
                        "peak estimated: the PCI id is that of GeForce RTX 4090, the device's name that of L40S");
}

static void test_what_fits_is_no_contradiction(void **state)
{
    struct trace_device d = device(0x2684, "NVIDIA GeForce RTX 4090");
    struct device_roofs roofs;
    struct device_identity identity;
    (void)state;
    d.sm_count = 128;
    d.memory_bytes = 25393692672; /* as the driver says: GiB, less what it keeps */
    d.memory_bus_bits = 384;
    d.memory_clock_khz = 10501000;
    d.sm_clock_khz = 3105000; /* above the nominal boost clock */
    d.compute_major = 8;
    d.compute_minor = 9;
    device_identify(&d, &roofs, &identity);
    assert_int_equal(identity.check_count, 0);
    assert_false(device_identity_contradicts(&identity));

    d.sm_count = 120; /* fewer: scaled, and that is no contradiction */
    device_identify(&d, &roofs, &identity);
    assert_int_equal(identity.check_count, 0);
    assert_true(close_to(device_roofs_flops_per_second(&roofs, GPU_PATH_BF16), 165.2e12 * 120 / 128));

    d = device(0x2330, "NVIDIA H100 80GB HBM3");
    d.memory_bytes = 85045870592;
    device_identify(&d, &roofs, &identity);
    assert_int_equal(identity.check_count, 0);
    d = device(0x249c, "NVIDIA GeForce RTX 3080 Laptop GPU"); /* sold with 8 and with 16 GB */
    d.memory_bytes = 17179869184;
    device_identify(&d, &roofs, &identity);
    assert_int_equal(identity.check_count, 0);
}

/* memory clock x bus x 2 / 8: an H100 gives 2619 MHz and 5120 bits, an RTX 4090 10501 MHz and 384. */
static void test_bandwidth_of_attributes_only_checks(void **state)
{
    static const struct {
        uint32_t pci_id;
        int clock_khz, bus_bits;
        bool warned;
        double of_device; /* GB/s, by hand */
    } cases[] = {
        {0x2330, 2619000, 5120, false, 3352.32},
        {0x2684, 10501000, 384, false, 1008.096},
        {0x2684, 9000000, 384, true, 864},
        {0x2684, 0, 384, false, 0},
        {0x2684, 10501000, 0, false, 0},
        {0x2684, TRACE_UNKNOWN, TRACE_UNKNOWN, false, 0},
        {0x2e12, 0, 0, false, 0}, /* a GB10 gives neither */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct trace_device d = device(cases[i].pci_id, "");
        struct device_roofs roofs, plain;
        struct device_identity identity;
        device_identify(&d, &plain, &identity);
        d.memory_clock_khz = cases[i].clock_khz;
        d.memory_bus_bits = cases[i].bus_bits;
        device_identify(&d, &roofs, &identity);
        const struct identity_check *check = check_of(&identity, IDENTITY_BANDWIDTH);
        assert_int_equal(check != NULL, cases[i].warned);
        if (check) {
            char text[256];
            assert_true(close_to(check->of_device, cases[i].of_device * 1e9));
            assert_true(check->of_row == 1008e9);
            assert_string_equal(identity_check_text(check, roofs.spec, text, sizeof text),
                                "by its memory clock and bus the device has 864 GB/s, GeForce RTX 4090 has 1008, "
                                "which is used");
        }
        assert_false(device_identity_contradicts(&identity)); /* a warning */
        assert_true(device_roofs_bytes_per_second(&roofs) == device_roofs_bytes_per_second(&plain));
    }
}

static void test_unknown_device_has_no_roof(void **state)
{
    struct trace_device d = device(0x1234, "NVIDIA ZZZ9000");
    struct device_roofs roofs;
    struct device_identity identity;
    (void)state;
    d.memory_clock_khz = 10501000;
    d.memory_bus_bits = 384;
    d.sm_count = 128;
    device_identify(&d, &roofs, &identity);
    assert_null(roofs.spec);
    assert_true(isnan(device_roofs_bytes_per_second(&roofs)));
    for (int p = 0; p < GPU_PATH_COUNT; p++)
        assert_true(isnan(device_roofs_flops_per_second(&roofs, (enum gpu_path)p)));
    assert_int_equal(identity.match, GPU_MATCH_NONE);
    assert_int_equal(identity.check_count, 0);
}

static void test_checks_have_names(void **state)
{
    (void)state;
    for (int kind = 0; kind < IDENTITY_CHECK_COUNT; kind++)
        assert_non_null(identity_check_name((enum identity_check_kind)kind));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mig_slices_scale_peaks),
        cmocka_unit_test(test_each_device_has_its_own_roof),
        cmocka_unit_test(test_contradictions_make_estimates),
        cmocka_unit_test(test_what_fits_is_no_contradiction),
        cmocka_unit_test(test_bandwidth_of_attributes_only_checks),
        cmocka_unit_test(test_unknown_device_has_no_roof),
        cmocka_unit_test(test_checks_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
