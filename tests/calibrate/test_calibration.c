/* SPDX-License-Identifier: Apache-2.0 */
/* The calibration's file: what is written is read again, what can't be is refused with one line; whose it is; and the fill
 * of the bandwidth by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "classify/calibration.h"

static char file[64];
static struct calibration calibration;
static struct calibration_error error;

static void make_sample(void)
{
    calibration_init(&calibration);
    memcpy(calibration.device.uuid, "0123456789abcdef", 16);
    strcpy(calibration.device.name, "NVIDIA H100 80GB HBM3");
    strcpy(calibration.driver_version, "570.86.15");
    strcpy(calibration.cublas, "12.8.3");
    calibration.device.simulated = 0;
    calibration.device.mig = 0;
    calibration.device.pci_device_id = 0x2330;
    calibration.device.sm_count = 132;
    calibration.device.memory_bytes = 85899345920;
    calibration.measured_realtime_ns = 1700000000123456789;
    calibration.copy_bytes_per_second = 2.9e12;
    calibration.read_bytes_per_second = 3.1e12;
    calibration.empty_kernel_ns = 1200;
    calibration.throttle_reasons = 5;
    calibration.gemm[GPU_PATH_BF16] = (struct calibration_gemm){7.5e14, 7.1e14, 8192, 4096, 6144};
    calibration.points[0] = (struct calibration_point){1, 1e11};
    calibration.points[1] = (struct calibration_point){4, 4e11};
    calibration.points[2] = (struct calibration_point){132, 2e12};
    calibration.point_count = 3;
    calibration.threads_per_block = 256;
}

static int begin(void **state)
{
    (void)state;
    snprintf(file, sizeof file, "/tmp/rooftap-calibration-%ld.json", (long)getpid());
    make_sample();
    return calibration_write(&calibration, file, &error) ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    return remove(file);
}

static void round_trip(void **state)
{
    struct calibration written = calibration;
    (void)state;
    memset(&calibration, 0xff, sizeof calibration);
    assert_true(calibration_read(&calibration, file, &error));
    assert_memory_equal(calibration.device.uuid, written.device.uuid, 16);
    assert_string_equal(calibration.device.name, written.device.name);
    assert_string_equal(calibration.driver_version, "570.86.15");
    assert_string_equal(calibration.cublas, "12.8.3");
    assert_int_equal(calibration.device.pci_device_id, 0x2330);
    assert_int_equal(calibration.device.sm_count, 132);
    assert_int_equal(calibration.device.compute_major, TRACE_UNKNOWN);
    assert_int_equal(calibration.device.memory_bytes, 85899345920);
    assert_int_equal(calibration.device.l2_bytes, TRACE_UNKNOWN);
    assert_int_equal(calibration.measured_realtime_ns, 1700000000123456789);
    assert_int_equal(calibration.throttle_reasons, 5);
    assert_true(calibration.copy_bytes_per_second == 2.9e12 && calibration.empty_kernel_ns == 1200);
    assert_true(isnan(calibration.enqueue_ns) && isnan(calibration.sm_hz_lowest));
    assert_true(calibration_flops_per_second(&calibration, GPU_PATH_BF16) == 7.5e14);
    assert_int_equal(calibration.gemm[GPU_PATH_BF16].m, 8192);
    assert_int_equal(calibration.gemm[GPU_PATH_BF16].k, 6144);
    assert_true(isnan(calibration_flops_per_second(&calibration, GPU_PATH_FP32)));
    assert_true(isnan(calibration_flops_per_second(&calibration, GPU_PATH_UNKNOWN)));
    assert_true(calibration_bytes_per_second(&calibration) == 3.1e12);
    assert_int_equal(calibration.point_count, 3);
    assert_int_equal(calibration.points[2].blocks, 132);
}

/* ---- hostile ---- */

/* The sample with VALUE (JSON) at PATH ("gpu.uuid", "gemm.0.m"); VALUE NULL: without it. */
static void change(const char *path, const char *value)
{
    json_t *root = json_load_file(file, 0, NULL), *at = root;
    char copy[64], *part = copy;
    assert_non_null(root);
    snprintf(copy, sizeof copy, "%s", path);
    for (char *dot; (dot = strchr(part, '.')); part = dot + 1) {
        *dot = '\0';
        at = json_is_array(at) ? json_array_get(at, strtoul(part, NULL, 10)) : json_object_get(at, part);
        assert_non_null(at);
    }
    json_t *new = value ? json_loads(value, JSON_DECODE_ANY, NULL) : NULL;
    assert_true(!value || new);
    if (!value)
        json_object_del(at, part);
    else if (json_is_array(at))
        json_array_set_new(at, strtoul(part, NULL, 10), new);
    else
        json_object_set_new(at, part, new);
    assert_int_equal(json_dump_file(root, file, 0), 0);
    json_decref(root);
}

static const struct {
    const char *path, *value, *said;
} refused[] = {
    {"kind", "\"something else\"", "kind: expected \"rooftap calibration\""},
    {"kind", NULL, "kind: expected"},
    {"schema", "2", "schema 2 is of a newer rooftap"},
    {"schema", "0", "schema: expected 1"},
    {"schema", "\"1\"", "schema: expected 1"},
    {"gpu", "[]", "gpu: expected an object"},
    {"gpu", NULL, "gpu: expected an object"},
    {"gpu.uuid", NULL, "gpu.uuid: expected 32 hexadecimal digits"},
    {"gpu.uuid", "\"30313233\"", "gpu.uuid: expected 32"},
    {"gpu.uuid", "\"zz313233343536373839616263646566\"", "gpu.uuid: expected 32"},
    {"gpu.name", "7", "gpu.name: expected a text"},
    {"gpu.simulated", "1", "gpu.simulated: expected true or false"},
    {"gpu.sm_count", "-1", "gpu.sm_count: expected a whole number from 1 to 1000000"},
    {"gpu.sm_count", "1.5", "gpu.sm_count: expected a whole number"},
    {"gpu.pci_device_id", "65536", "gpu.pci_device_id: expected a whole number from 0 to 65535"},
    {"measured_realtime_ns", "-5", "measured_realtime_ns: expected"},
    {"bandwidth", "3", "bandwidth: expected an object"},
    {"bandwidth.copy_bytes_per_second", "0", "bandwidth.copy_bytes_per_second: expected a number from 1 to 1e+18"},
    {"bandwidth.copy_bytes_per_second", "1e300", "bandwidth.copy_bytes_per_second: expected"},
    {"bandwidth.copy_bytes_per_second", "\"fast\"", "bandwidth.copy_bytes_per_second: expected"},
    {"bandwidth.by_blocks", "{}", "bandwidth.by_blocks: expected an array"},
    {"bandwidth.by_blocks.0", "7", "bandwidth.by_blocks[0].blocks: expected"},
    {"bandwidth.by_blocks.0.blocks", "5", "bandwidth.by_blocks: expected whole numbers of blocks in ascending order"},
    {"bandwidth.by_blocks.0.blocks", "0", "bandwidth.by_blocks[0].blocks: expected"},
    {"bandwidth.by_blocks.1.blocks", "1.5", "ascending order"},
    {"bandwidth.by_blocks.1.bytes_per_second", "null", "bandwidth.by_blocks[1].bytes_per_second: expected"},
    {"gemm", "\"none\"", "gemm: expected an array"},
    {"gemm.0", "null", "gemm[0].flops_per_second: expected"},
    {"gemm.0.flops_per_second", "-1", "gemm[0].flops_per_second: expected a number from 1 to 1e+21"},
    {"gemm.0.n", "0", "gemm[0].n: expected"},
    {"launch.empty_kernel_ns", "1e12", "launch.empty_kernel_ns: expected"},
};

static void one_line(const char *expected)
{
    assert_false(calibration_read(&calibration, file, &error));
    if (!strstr(error.text, expected))
        fail_msg("expected '%s' in: %s", expected, error.text);
    assert_null(strchr(error.text, '\n'));
    assert_non_null(strstr(error.text, file));
}

static void refuses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        make_sample();
        assert_true(calibration_write(&calibration, file, &error));
        change(refused[i].path, refused[i].value);
        one_line(refused[i].said);
    }
}

static void write_raw(const char *text, size_t bytes)
{
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(text, 1, bytes, out), bytes);
    fclose(out);
}

static void refuses_other_files(void **state)
{
    static char deep[1 << 20];
    (void)state;
    write_raw("", 0);
    one_line("is no JSON");
    write_raw("[1]", 3);
    one_line("the file: expected an object");
    write_raw("{\"kind\"", 7);
    one_line("is no JSON");
    write_raw("\0\1\2\377", 4);
    one_line("is no JSON");
    memset(deep, '[', sizeof deep);
    write_raw(deep, sizeof deep);
    one_line("is no JSON");
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    assert_int_equal(ftruncate(fileno(out), (1 << 20) + 1), 0);
    fclose(out);
    one_line("larger than a calibration can be");
    char path[64];
    snprintf(path, sizeof path, "%s", file);
    snprintf(file, sizeof file, "/dev/zero");
    one_line("not a regular file");
    snprintf(file, sizeof file, "/no/such/file");
    one_line("No such file");
    snprintf(file, sizeof file, "%s", path);
}

/* Every cut of the file is refused or read, and never more. */
static void survives_cuts(void **state)
{
    char *text = calibration_text(&calibration);
    size_t length = strlen(text);
    (void)state;
    for (size_t cut = 0; cut < length; cut += 3) {
        write_raw(text, cut);
        assert_false(calibration_read(&calibration, file, &error));
    }
    free(text);
}

/* Any bytes changed: read or refused with one line, and what was read is in its bounds. */
static void survives_changes(void **state)
{
    char *text = calibration_text(&calibration);
    size_t length = strlen(text);
    uint64_t random = 88172645463325252u; /* xorshift64 */
    (void)state;
    for (int round = 0; round < 3000; round++) {
        char *changed = strdup(text);
        for (int i = 0; i <= round % 4; i++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            changed[random % length] = "0123456789-.eE\"[]{},:nul\\\377 "[(random >> 32) % 28];
        }
        write_raw(changed, length);
        free(changed);
        if (!calibration_read(&calibration, file, &error)) {
            assert_null(strchr(error.text, '\n'));
            continue;
        }
        assert_in_range(calibration.point_count, 0, CALIBRATION_POINTS);
        double fill = calibration_fill_of_bandwidth(&calibration, 100);
        assert_true(isnan(fill) || (fill > 0 && fill <= 1));
    }
    free(text);
}

/* What a newer rooftap of the same schema may write. */
static void takes_what_it_does_not_know(void **state)
{
    (void)state;
    change("new_key", "{\"a\": [1]}");
    change("gemm.0.type", "\"fp2\"");
    change("launch.enqueue_ns", "null");
    assert_true(calibration_read(&calibration, file, &error));
    assert_true(isnan(calibration_flops_per_second(&calibration, GPU_PATH_BF16)));
    assert_true(calibration.empty_kernel_ns == 1200);
}

/* ---- whose ---- */

static void whose(void **state)
{
    struct trace_device device = calibration.device;
    (void)state;
    assert_true(calibration_is_of(&calibration, &device));
    device.uuid[15]++;
    assert_false(calibration_is_of(&calibration, &device));
    device = calibration.device;
    device.simulated = 1;
    assert_false(calibration_is_of(&calibration, &device));
    device = calibration.device;
    device.pci_device_id = 0x2331;
    assert_false(calibration_is_of(&calibration, &device));
    device.pci_device_id = 0; /* not known */
    assert_true(calibration_is_of(&calibration, &device));
    device.sm_count = 16; /* a MIG instance of another size */
    assert_false(calibration_is_of(&calibration, &device));
    device = calibration.device;
    strcpy(device.name, "NVIDIA H100"); /* drivers rename; the UUID is what counts */
    assert_true(calibration_is_of(&calibration, &device));
    calibration.device.simulated = device.simulated = 1;
    assert_false(calibration_is_of(&calibration, &device)); /* simulated GPUs share one UUID */
    calibration.device.simulated = 0;
    memset(calibration.device.uuid, 0, 16);
    device = calibration.device;
    assert_false(calibration_is_of(&calibration, &device)); /* nobody's */
}

static void where(void **state)
{
    char *path;
    (void)state;
    setenv("HOME", "/people/me", 1);
    unsetenv("XDG_DATA_HOME");
    path = calibration_path(&calibration.device);
    assert_string_equal(path, "/people/me/.local/share/rooftap/calibration/30313233-3435-3637-3839-616263646566.json");
    free(path);
    setenv("XDG_DATA_HOME", "/data", 1);
    calibration.device.simulated = 1;
    strcpy(calibration.device.name, "Simulated ../H100 x");
    path = calibration_path(&calibration.device);
    assert_string_equal(path, "/data/rooftap/calibration/simulated----h100-x.json");
    free(path);
    setenv("XDG_DATA_HOME", "relative", 1); /* to be ignored, by the XDG base directory specification */
    path = calibration_path(&calibration.device);
    assert_string_equal(path, "/people/me/.local/share/rooftap/calibration/simulated----h100-x.json");
    free(path);
    memset(calibration.device.uuid, 0, 16);
    assert_null(calibration_path(&calibration.device));
}

/* Points 1: 0.1, 4: 0.4, 132: 2.0 TB/s. Between: 2.5 blocks are 0.25 TB/s, 68 blocks are 0.4 + 1.6·64/128 = 1.2. */
static void fill(void **state)
{
    const struct {
        double blocks, share;
    } rows[] = {{0.5, 0.025}, {1, 0.05}, {2.5, 0.125}, {4, 0.2}, {68, 0.6}, {132, 1}, {1e9, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_true(fabs(calibration_fill_of_bandwidth(&calibration, rows[i].blocks) - rows[i].share) < 1e-12);
    assert_true(isnan(calibration_fill_of_bandwidth(&calibration, 0)));
    calibration.points[2].bytes_per_second = 3e11; /* a dip is noise: no more than before */
    assert_true(calibration_fill_of_bandwidth(&calibration, 132) == 1);
    calibration.point_count = 0;
    assert_true(isnan(calibration_fill_of_bandwidth(&calibration, 8)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(round_trip, begin, end),
        cmocka_unit_test_setup_teardown(refuses, begin, end),
        cmocka_unit_test_setup_teardown(refuses_other_files, begin, end),
        cmocka_unit_test_setup_teardown(survives_cuts, begin, end),
        cmocka_unit_test_setup_teardown(survives_changes, begin, end),
        cmocka_unit_test_setup_teardown(takes_what_it_does_not_know, begin, end),
        cmocka_unit_test_setup_teardown(whose, begin, end),
        cmocka_unit_test_setup_teardown(where, begin, end),
        cmocka_unit_test_setup_teardown(fill, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
