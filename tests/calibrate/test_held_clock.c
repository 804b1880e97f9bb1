/* SPDX-License-Identifier: Apache-2.0 */
/* Readings over busy time, with figures worked out by hand; and whose a reading is (NVML's order says nothing). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "classify/held_clock.h"
#include "trace/clocks_file.h"

#define MS    1000000ull
#define START 1700000000000000000ull /* any time */

static const struct trace_device gpu = {.uuid = "the first one..", .pci_bus = 1, .pci_device_id = 0x2330, .mig = 0};

static struct trace_clocks reading(uint64_t at_ms, int32_t mhz, uint64_t reasons)
{
    struct trace_clocks clocks = {.realtime_ns = START + at_ms * MS,
                                  .period_ms = 200,
                                  .pci_bus = 1,
                                  .sm_clock_mhz = mhz,
                                  .memory_clock_mhz = TRACE_UNKNOWN,
                                  .power_mw = TRACE_UNKNOWN,
                                  .temperature_c = TRACE_UNKNOWN,
                                  .throttle_reasons = reasons};
    memcpy(clocks.uuid, gpu.uuid, sizeof clocks.uuid);
    return clocks;
}

static struct interval_set *busy(const uint64_t (*ms)[2], size_t count)
{
    struct interval_set *set = interval_set_open(16);
    for (size_t i = 0; i < count; i++)
        interval_set_add(set, START + ms[i][0] * MS, START + ms[i][1] * MS);
    return set;
}

static struct held_clock held(struct trace_clocks *readings, size_t count, const uint64_t (*ms)[2], size_t intervals)
{
    struct held_clock_readings all = {.readings = readings, .count = count};
    struct interval_set *set = busy(ms, intervals);
    struct held_clock result = held_clock_of(&all, &gpu, set);
    interval_set_close(set);
    return result;
}

/* Busy from 100 to 700 ms; readings at 0, 200, 400, 600 and 800 ms. Under load are 200, 400 and 600: they stand for 100-300,
 * 300-500 and 500-700 ms, 200 ms each. */
static void mean_of_equal_weights(void **state)
{
    struct trace_clocks r[] = {reading(0, 210, 1), reading(200, 1800, 0), reading(400, 1500, 4), reading(600, 1200, 4),
                               reading(800, 210, 1)};
    struct held_clock h = held(r, 5, (const uint64_t[][2]){{100, 700}}, 1);
    (void)state;
    assert_int_equal(h.readings, 5);
    assert_int_equal(h.readings_under_load, 3);
    assert_true(h.sm_hz == 1500e6);
    assert_true(h.sm_hz_lowest == 1200e6);
    assert_true(fabs(h.reason_share[2] - 2.0 / 3) < 1e-12); /* sw_power_cap */
    assert_true(h.reason_share[0] == 0);
    assert_true(isnan(h.memory_hz) && isnan(h.power_w) && isnan(h.temperature_c_highest));
}

/* Busy from 150 to 700 ms: the first stands for 150-300 now. (1800·150 + 1500·200 + 1200·200) / 550 = 810000 / 550. Given
 * out of order, as nothing else sorts them. */
static void weights_are_busy_time(void **state)
{
    struct trace_clocks r[] = {reading(600, 1200, 0), reading(200, 1800, 0), reading(400, 1500, 0)};
    struct held_clock h = held(r, 3, (const uint64_t[][2]){{150, 700}}, 1);
    (void)state;
    assert_true(fabs(h.sm_hz - 810000.0 / 550 * 1e6) < 1);
}

/* A gap of 9 ms is load, one of 11 is none; a reading in a pause tells of the pause. */
static void gaps(void **state)
{
    struct trace_clocks r[] = {reading(200, 1000, 0)};
    struct held_clock h;
    (void)state;
    h = held(r, 1, (const uint64_t[][2]){{100, 195}, {204, 300}}, 2);
    assert_int_equal(h.readings_under_load, 1);
    assert_true(h.sm_hz == 1000e6);
    h = held(r, 1, (const uint64_t[][2]){{100, 195}, {206, 300}}, 2);
    assert_int_equal(h.readings_under_load, 0);
    assert_true(isnan(h.sm_hz) && isnan(h.sm_hz_lowest) && isnan(h.reason_share[2]));
}

/* A recorder that stalled: a reading stands for its period at most, 200 ms to each side. Busy 0-1000, readings at 200 and
 * 900: 0-400 of the first, 700-1000 of the second. (1000·400 + 1700·300) / 700 = 1300. */
static void reach_is_one_period(void **state)
{
    struct trace_clocks r[] = {reading(200, 1000, 0), reading(900, 1700, 0)};
    struct held_clock h = held(r, 2, (const uint64_t[][2]){{0, 1000}}, 1);
    (void)state;
    assert_true(fabs(h.sm_hz - 1300e6) < 1);
}

static void unknown_readings_count_for_nothing(void **state)
{
    struct trace_clocks r[] = {reading(200, TRACE_UNKNOWN, TRACE_REASONS_UNKNOWN), reading(400, 1500, 8)};
    struct held_clock h = held(r, 2, (const uint64_t[][2]){{0, 1000}}, 1);
    (void)state;
    assert_int_equal(h.readings_under_load, 2);
    assert_true(h.sm_hz == 1500e6 && h.sm_hz_lowest == 1500e6 && h.reason_share[3] == 1);
    h = held(r, 2, NULL, 0);
    assert_int_equal(h.readings_under_load, 0);
}

/* Never up: an H100 SXM reports 1980 MHz while its specification means 1830. */
static void scale(void **state)
{
    (void)state;
    assert_true(held_clock_scale(&(struct held_clock){.sm_hz = 1980e6}, 1830e6) == 1);
    assert_true(held_clock_scale(&(struct held_clock){.sm_hz = 1410e6}, 1830e6) == 1410.0 / 1830.0);
    assert_true(isnan(held_clock_scale(&(struct held_clock){.sm_hz = NAN}, 1830e6)));
    assert_true(isnan(held_clock_scale(&(struct held_clock){.sm_hz = 1410e6}, 0)));
}

static size_t readings_of(const struct trace_device *device, const struct trace_clocks *clocks)
{
    struct held_clock_readings all = {.readings = (struct trace_clocks *)(uintptr_t)clocks, .count = 1};
    return held_clock_of(&all, device, NULL).readings;
}

static void whose(void **state)
{
    struct trace_clocks r = reading(0, 1000, 0), elsewhere = r, nameless = r;
    struct trace_device other = gpu, instance = gpu, unnamed = gpu, nowhere = gpu;
    (void)state;
    elsewhere.pci_bus = 2;
    memset(nameless.uuid, 0, sizeof nameless.uuid);
    other.uuid[0]++;
    instance = other; /* a MIG instance: an own UUID, its GPU's address */
    instance.mig = 1;
    memset(unnamed.uuid, 0, sizeof unnamed.uuid);
    nowhere = unnamed;
    nowhere.pci_bus = nowhere.pci_device_id = 0;
    assert_int_equal(readings_of(&gpu, &r), 1);
    assert_int_equal(readings_of(&gpu, &elsewhere), 1); /* the UUID decides: a container may renumber buses */
    assert_int_equal(readings_of(&other, &r), 0);       /* same address on another machine */
    assert_int_equal(readings_of(&instance, &r), 1);
    assert_int_equal(readings_of(&instance, &elsewhere), 0);
    assert_int_equal(readings_of(&unnamed, &r), 1);
    assert_int_equal(readings_of(&gpu, &nameless), 1);
    assert_int_equal(readings_of(&nowhere, &r), 0);
}

static void names(void **state)
{
    (void)state;
    /* nvml.h: nvmlClocksThrottleReasonSwPowerCap 0x4, ...HwThermalSlowdown 0x40, ...DisplayClockSetting 0x100 */
    assert_string_equal(held_clock_reason_name(2), "sw_power_cap");
    assert_string_equal(held_clock_reason_name(6), "hw_thermal_slowdown");
    assert_string_equal(held_clock_reason_name(8), "display_clock_setting");
    assert_null(held_clock_reason_name(9));
    assert_null(held_clock_reason_name(-1));
}

/* ---- the file ---- */

static char folder[] = "/tmp/rooftap-clocks-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char path[64];
    (void)state;
    snprintf(path, sizeof path, "%s/" TRACE_CLOCKS_FILE, folder);
    remove(path);
    return rmdir(folder);
}

/* Over more than one block: 908 records of 72 bytes fit behind a block's header. */
static void round_trip(void **state)
{
    enum { COUNT = 2000 };
    static struct clocks_file file;
    (void)state;
    assert_true(clocks_file_open(&file, folder));
    for (int i = 0; i < COUNT; i++) {
        struct trace_clocks r = reading((uint64_t)i * 200, 1000 + i, 0);
        assert_true(clocks_file_add(&file, &r));
    }
    struct held_clock_readings open = held_clock_read(folder); /* as after a kill: all of it is there, and no end */
    assert_int_equal(open.count, COUNT);
    assert_true(open.cut_short);
    held_clock_free(&open);
    clocks_file_close(&file);
    struct held_clock_readings all = held_clock_read(folder);
    assert_null(all.problem);
    assert_int_equal(all.count, COUNT);
    assert_true(all.file_there && !all.cut_short);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(all.readings[i].sm_clock_mhz, 1000 + i);
    held_clock_free(&all);
    assert_false(clocks_file_open(&file, folder)); /* never over an old one */
}

static void other_files(void **state)
{
    char path[64];
    (void)state;
    struct held_clock_readings none = held_clock_read(folder);
    assert_true(!none.file_there && !none.problem && !none.count);
    snprintf(path, sizeof path, "%s/" TRACE_CLOCKS_FILE, folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    struct held_clock_readings pipe = held_clock_read(folder);
    assert_non_null(pipe.problem);
    assert_int_equal(pipe.count, 0);
    held_clock_free(&pipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mean_of_equal_weights),
        cmocka_unit_test(weights_are_busy_time),
        cmocka_unit_test(gaps),
        cmocka_unit_test(reach_is_one_period),
        cmocka_unit_test(unknown_readings_count_for_nothing),
        cmocka_unit_test(scale),
        cmocka_unit_test(whose),
        cmocka_unit_test(names),
        cmocka_unit_test_setup_teardown(round_trip, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(other_files, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
