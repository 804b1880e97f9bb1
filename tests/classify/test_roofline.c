/* SPDX-License-Identifier: Apache-2.0 */
/* Each rule on both sides of its threshold, on the unit GPU: 100 TFLOP/s, 1 TB/s, ridge 100, 100 SMs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "classify/roofline.h"

static struct roofline classify(struct roofline_input in)
{
    struct device_roofs roofs = device_roofs(gpu_spec_by_key("unit"), 100, false, -1);
    struct roofline r;
    in.path = GPU_PATH_BF16;
    in.sm_count = 100;
    roofline_classify(&in, &roofs, &r);
    return r;
}

/* One kernel of 1 MB, hence 1000 ns at the roof while it is memory-bound. */
static struct roofline_input megabyte(double intensity, double time_ns)
{
    return (struct roofline_input){
        .flops = intensity * 1e6, .bytes = 1e6, .kernels = 1, .time_ns = time_ns, .floor_ns = NAN};
}

static void test_bound(void **state)
{
    (void)state;
    assert_int_equal(classify(megabyte(99.999, 1500)).bound, BOUND_MEMORY);
    assert_int_equal(classify(megabyte(100, 1500)).bound, BOUND_COMPUTE);
    assert_true(classify(megabyte(50, 1500)).t_roof_ns == 1000);
    assert_true(classify(megabyte(200, 4000)).t_roof_ns == 2000);
    assert_true(classify(megabyte(200, 4000)).roof_fraction == 0.5);
    assert_true(classify(megabyte(200, 4000)).flops_per_second == 5e13);
    assert_true(classify(megabyte(200, 4000)).bytes_per_second == 2.5e11);
}

static void test_near_ridge(void **state)
{
    (void)state;
    assert_int_equal(classify(megabyte(89.9, 1500)).flags, 0);
    assert_int_equal(classify(megabyte(90.1, 1500)).flags, ROOFLINE_NEAR_RIDGE);
    assert_int_equal(classify(megabyte(109.9, 1500)).flags, ROOFLINE_NEAR_RIDGE);
    assert_int_equal(classify(megabyte(110.1, 1500)).flags, 0);
}

static void test_starved(void **state)
{
    struct roofline_input in = megabyte(50, 1500); /* compute takes half of memory's time: 40 blocks are the limit */
    (void)state;
    in.blocks = 41;
    assert_int_equal(classify(in).flags, 0);
    in.blocks = 39;
    assert_int_equal(classify(in).flags, ROOFLINE_STARVED);
    in.persistent = true;
    assert_int_equal(classify(in).flags, 0);
    in.persistent = false;
    in.blocks = 0; /* not known */
    assert_int_equal(classify(in).flags, 0);
    in = megabyte(200, 2100);
    in.blocks = 100;
    assert_int_equal(classify(in).flags, 0);
    in.blocks = 81;
    assert_int_equal(classify(in).flags, 0);
    in.blocks = 79;
    assert_int_equal(classify(in).flags, ROOFLINE_STARVED);
}

/* Bytes take 1000 ns, compute 100, on 50 of 100 SMs 200. Where so many blocks were measured to draw 79 % of the bandwidth bytes
 * take 1266: starved; at 81 % 1235. With as many blocks as SMs, or persistent ones, nothing is claimed. */
static void test_starved_of_bandwidth(void **state)
{
    struct roofline_input in = megabyte(10, 1500);
    (void)state;
    in.blocks = 50;
    in.bandwidth_fill = 0.79;
    assert_int_equal(classify(in).flags, ROOFLINE_STARVED);
    in.bandwidth_fill = 0.81;
    assert_int_equal(classify(in).flags, 0);
    in.bandwidth_fill = NAN; /* not measured */
    assert_int_equal(classify(in).flags, 0);
    in.bandwidth_fill = 0.5;
    in.persistent = true;
    assert_int_equal(classify(in).flags, 0);
    in.persistent = false;
    in.blocks = 100;
    assert_int_equal(classify(in).flags, 0);
    in = megabyte(200, 2500); /* compute takes 2000 ns: half the bandwidth doesn't show */
    in.blocks = 99;
    in.bandwidth_fill = 0.5;
    assert_int_equal(classify(in).flags, 0);
}

static void test_overhead(void **state)
{
    struct roofline_input in = megabyte(50, 3900); /* 1000 ns at the roof */
    (void)state;
    in.floor_ns = 2000;
    assert_int_equal(classify(in).bound, BOUND_OVERHEAD);
    assert_int_equal(classify(in).flags, 0); /* far from the roof, but that is what overhead means */
    in.time_ns = 4001;
    assert_int_equal(classify(in).bound, BOUND_MEMORY);
    assert_int_equal(classify(in).flags, ROOFLINE_FAR_FROM_ROOF);
    in.kernels = 2;
    assert_int_equal(classify(in).bound, BOUND_OVERHEAD);
    in.kernels = 1;
    in.time_ns = 1500;
    in.floor_ns = 1000; /* not below the floor */
    assert_int_equal(classify(in).bound, BOUND_MEMORY);
    in.floor_ns = NAN; /* no floor, no such class */
    assert_int_equal(classify(in).bound, BOUND_MEMORY);
}

static void test_far_and_above(void **state)
{
    (void)state;
    assert_int_equal(classify(megabyte(50, 3000)).flags, 0);
    assert_int_equal(classify(megabyte(50, 3001)).flags, ROOFLINE_FAR_FROM_ROOF);
    assert_int_equal(classify(megabyte(50, 1000)).flags, 0);
    assert_int_equal(classify(megabyte(50, 999)).flags, ROOFLINE_ABOVE_ROOF);
    assert_true(classify(megabyte(50, 500)).roof_fraction == 2); /* never clamped */
}

/* 64 MB in 50 MB of L2 or in 129, at 120 % and 160 % of the bandwidth; a GEMM at 108 % and 300 % of the peak. */
static void test_above_roof_is_explained_never_clamped(void **state)
{
    static const struct {
        double bytes, l2_mib, intensity, fraction;
        enum above_roof reason;
        const char *text;
    } cases[] = {
        {64e6, 129, 50, 1.2, ABOVE_ROOF_FITS_IN_L2, "fits in L2 (129 MB)"},
        {64e6, 50, 50, 1.2, ABOVE_ROOF_UNEXPLAINED, "above nominal bandwidth"},
        {64e6, 0, 50, 1.2, ABOVE_ROOF_UNEXPLAINED, "above nominal bandwidth"},
        {64e6, 129, 50, 1.6, ABOVE_ROOF_INCONSISTENT, "inconsistent model, or all of it fits in L2 (129 MB)"},
        {64e6, 50, 50, 1.6, ABOVE_ROOF_INCONSISTENT, "inconsistent model"},
        {64e6, 129, 400, 1.08, ABOVE_ROOF_NOMINAL_CLOCK, "above nominal clock"},
        {64e6, 129, 400, 1.2499, ABOVE_ROOF_NOMINAL_CLOCK, "above nominal clock"},
        {64e6, 129, 400, 1.2501, ABOVE_ROOF_INCONSISTENT, "inconsistent model"},
        {64e6, 129, 400, 3, ABOVE_ROOF_INCONSISTENT, "inconsistent model"},
        {64e6, 129, 400, 0.9, ABOVE_ROOF_NOT, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[128];
        double roof_ns = fmax(cases[i].bytes / 1e12, cases[i].bytes * cases[i].intensity / 100e12) * 1e9;
        struct roofline r = classify((struct roofline_input){
            .flops = cases[i].bytes * cases[i].intensity,
            .bytes = cases[i].bytes,
            .kernels = 1,
            .time_ns = roof_ns / cases[i].fraction,
            .floor_ns = NAN,
            .call_bytes = cases[i].bytes,
            .l2_bytes = cases[i].l2_mib * 1048576,
        });
        assert_int_equal(r.above_roof, cases[i].reason);
        assert_int_equal((r.flags & ROOFLINE_ABOVE_ROOF) != 0, cases[i].fraction > 1);
        assert_true(fabs(r.roof_fraction - cases[i].fraction) < 1e-9);
        assert_string_equal(above_roof_text(&r, cases[i].l2_mib * 1048576, text, sizeof text), cases[i].text);
    }
    for (int reason = ABOVE_ROOF_NOT + 1; reason < ABOVE_ROOF_COUNT; reason++)
        assert_non_null(above_roof_name((enum above_roof)reason));
    assert_null(above_roof_name(ABOVE_ROOF_NOT));
}

/* H100 SXM: 989.5 TFLOP/s at 1830 MHz and 132 SMs, 3350 GB/s; published 794.5 and 2958. */
static void test_three_roofs(void **state)
{
    static const struct measured_roofs measured = {
        .flops_per_second = {[GPU_PATH_BF16] = 700e12}, .bytes_per_second = 3000e9, .source = "measured here"};
    struct device_roofs whole = device_roofs(gpu_spec_by_key("h100-sxm"), 132, false, -1);
    struct device_roofs half = device_roofs(gpu_spec_by_key("h100-sxm"), 66, false, -1);
    struct device_roofs none = device_roofs(NULL, 132, false, -1);
    (void)state;
    struct roof r = device_roof_specification(&whole, GPU_PATH_BF16);
    assert_true(r.flops_per_second == 989.5e12 && r.bytes_per_second == 3350e9);
    assert_int_equal(r.compute_origin, ROOF_ORIGIN_TABLE);
    assert_non_null(r.compute_source);
    assert_true(device_roof_specification(&half, GPU_PATH_BF16).flops_per_second == 494.75e12);

    r = device_roof_achievable(&whole, NULL, GPU_PATH_BF16);
    assert_true(r.flops_per_second == 794.5e12 && r.bytes_per_second == 2958e9);
    assert_int_equal(r.compute_origin, ROOF_ORIGIN_PUBLISHED);
    assert_int_equal(r.memory_origin, ROOF_ORIGIN_PUBLISHED);
    r = device_roof_achievable(&whole, &measured, GPU_PATH_BF16);
    assert_true(r.flops_per_second == 700e12 && r.bytes_per_second == 3000e9);
    assert_int_equal(r.compute_origin, ROOF_ORIGIN_MEASURED);
    assert_string_equal(r.memory_source, "measured here");
    r = device_roof_achievable(&whole, &measured, GPU_PATH_FP8_E4M3); /* not measured: the published one */
    assert_true(r.flops_per_second == 1402.6e12 && r.bytes_per_second == 3000e9);
    assert_int_equal(r.compute_origin, ROOF_ORIGIN_PUBLISHED);
    r = device_roof_achievable(&whole, NULL, GPU_PATH_FP32);
    assert_true(isnan(r.flops_per_second) && r.compute_origin == ROOF_ORIGIN_NONE && !r.compute_source);
    r = device_roof_achievable(&none, &measured, GPU_PATH_BF16); /* needs no row */
    assert_true(r.flops_per_second == 700e12);

    r = device_roof_held(&whole, 915e6, GPU_PATH_BF16);
    assert_true(r.flops_per_second == 494.75e12 && r.bytes_per_second == 3350e9);
    assert_true(device_roof_held(&whole, 1980e6, GPU_PATH_BF16).flops_per_second == 989.5e12); /* never up */
    assert_true(device_roof_held(&half, 915e6, GPU_PATH_BF16).flops_per_second == 247.375e12);
    assert_true(isnan(device_roof_held(&whole, NAN, GPU_PATH_BF16).flops_per_second));
    assert_true(isnan(device_roof_held(&none, 915e6, GPU_PATH_BF16).flops_per_second));
    whole.spec = gpu_spec_by_key("unit"); /* no clock of its own */
    assert_true(isnan(device_roof_held(&whole, 915e6, GPU_PATH_BF16).flops_per_second));
    for (int kind = 0; kind < ROOF_KIND_COUNT; kind++)
        assert_non_null(roof_kind_name((enum roof_kind)kind));
}

static void test_unknown(void **state)
{
    struct device_roofs none = device_roofs(NULL, 128, false, -1);
    struct roofline_input in = megabyte(50, 1500);
    struct roofline r;
    (void)state;
    in.path = GPU_PATH_BF16;
    roofline_classify(&in, &none, &r);
    assert_int_equal(r.bound, BOUND_UNKNOWN);
    assert_int_equal(r.flags, 0);
    assert_true(r.intensity == 50 && isnan(r.ridge) && isnan(r.t_roof_ns) && isnan(r.roof_fraction));
    in = megabyte(50, NAN);
    in.kernels = 0;
    in.floor_ns = 1e9;
    r = classify(in);
    assert_int_equal(r.bound, BOUND_MEMORY);
    assert_true(isnan(r.roof_fraction) && isnan(r.flops_per_second));
    in.flops = in.bytes = NAN;
    assert_int_equal(classify(in).bound, BOUND_UNKNOWN);
    in.flops = in.bytes = 0;
    assert_int_equal(classify(in).bound, BOUND_UNKNOWN);
}

static void test_parts_of_a_product(void **state)
{
    const struct gpu_spec *unit = gpu_spec_by_key("unit");
    struct device_roofs r = device_roofs(unit, 25, false, -1);
    (void)state;
    assert_true(device_roofs_flops_per_second(&r, GPU_PATH_BF16) == 25e12);
    assert_true(device_roofs_bytes_per_second(&r) == 1e12);
    r = device_roofs(unit, 200, false, -1); /* never up */
    assert_true(device_roofs_flops_per_second(&r, GPU_PATH_BF16) == 100e12);
    r = device_roofs(unit, 25, true, 7900000000); /* just below one slice of eight of 64 GB */
    assert_true(device_roofs_bytes_per_second(&r) == 0.125e12);
    r = device_roofs(unit, -1, false, 1000); /* not MIG: memory says nothing about bandwidth */
    assert_true(device_roofs_bytes_per_second(&r) == 1e12);
}

/* dp4a of a GPU with 10 TFLOP/s of fp32 and no figure for dp4a: at least that, so what takes longer to read than 10 TFLOP/s
 * take is bound by memory, and of the rest nothing is known; with a figure everything is. */
static void test_least_of_a_peak(void **state)
{
    struct gpu_spec spec = {.bytes_per_second = 1e12, .flops_per_second = {[GPU_PATH_FP32] = 10e12}};
    struct device_roofs roofs = {&spec, 1, 1};
    struct roofline_input in = megabyte(9.9, 1500);
    struct roofline r;
    (void)state;
    in.path = GPU_PATH_INT8_DP4A;
    roofline_classify(&in, &roofs, &r);
    assert_int_equal(r.bound, BOUND_MEMORY);
    assert_true(r.t_roof_ns == 1000 && isnan(r.ridge));
    assert_int_equal(r.flags, 0);
    in.flops = 10.1e6;
    roofline_classify(&in, &roofs, &r);
    assert_int_equal(r.bound, BOUND_UNKNOWN);
    assert_true(isnan(r.t_roof_ns) && isnan(r.roof_fraction));
    in.path = GPU_PATH_INT8; /* no least is known of other paths */
    in.flops = 1e6;
    roofline_classify(&in, &roofs, &r);
    assert_int_equal(r.bound, BOUND_UNKNOWN);
    in.path = GPU_PATH_INT8_DP4A;
    in.flops = 30e6;
    spec.flops_per_second[GPU_PATH_INT8_DP4A] = 20e12;
    roofline_classify(&in, &roofs, &r);
    assert_int_equal(r.bound, BOUND_COMPUTE);
    assert_true(r.t_roof_ns == 1500 && r.ridge == 20);
    spec.flops_per_second[GPU_PATH_INT8_DP4A] = 5e12; /* --peak: what is given holds, be it less */
    assert_true(device_roofs_least_flops_per_second(&roofs, GPU_PATH_INT8_DP4A) == 5e12);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(bound_name(BOUND_MEMORY), "memory");
    for (int i = 0; i < ROOFLINE_FLAG_COUNT; i++)
        assert_non_null(roofline_flag_name(1 << i));
    assert_null(roofline_flag_name(1 << ROOFLINE_FLAG_COUNT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_near_ridge),
        cmocka_unit_test(test_starved),
        cmocka_unit_test(test_starved_of_bandwidth),
        cmocka_unit_test(test_overhead),
        cmocka_unit_test(test_far_and_above),
        cmocka_unit_test(test_above_roof_is_explained_never_clamped),
        cmocka_unit_test(test_three_roofs),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_parts_of_a_product),
        cmocka_unit_test(test_least_of_a_peak),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
