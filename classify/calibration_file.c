/* SPDX-License-Identifier: Apache-2.0 */
/* The calibration's JSON, both ways. The rows of numbers below serve reading and writing, so the two can't disagree. */
#include "classify/calibration.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "classify/allocate.h"
#include "classify/number_type.h"
#include "classify/regular_file.h"

#define KIND "rooftap calibration"
enum { LARGEST_BYTES = 1 << 20 };

enum field_kind { FIELD_REAL, FIELD_INT32, FIELD_INT64, FIELD_UINT32 };

struct number_row {
    const char *key;
    enum field_kind kind;
    size_t offset; /* in struct calibration */
    double least, most;
};

#define OF(field) offsetof(struct calibration, field)
/* clang-format off */
static const struct number_row gpu_numbers[] = {
    {"pci_device_id",    FIELD_UINT32, OF(device.pci_device_id),    0, 0xffff},
    {"pci_domain",       FIELD_UINT32, OF(device.pci_domain),       0, 0xffffffff},
    {"pci_bus",          FIELD_UINT32, OF(device.pci_bus),          0, 0xff},
    {"pci_slot",         FIELD_UINT32, OF(device.pci_slot),         0, 0xff},
    {"sm_count",         FIELD_INT32,  OF(device.sm_count),         1, 1e6},
    {"compute_major",    FIELD_INT32,  OF(device.compute_major),    1, 99},
    {"compute_minor",    FIELD_INT32,  OF(device.compute_minor),    0, 9},
    {"memory_bytes",     FIELD_INT64,  OF(device.memory_bytes),     1, 1e15},
    {"l2_bytes",         FIELD_INT64,  OF(device.l2_bytes),         0, 1e12},
    {"cuda_driver",      FIELD_INT32,  OF(device.driver_version),   1, 1e6},
};
static const struct number_row numbers[] = {
    {"measured_realtime_ns", FIELD_INT64, OF(measured_realtime_ns), 0, 9.2e18},
    {"seconds",              FIELD_REAL,  OF(seconds),              0, 1e6},
};
static const struct number_row clock_numbers[] = {
    {"sm_clock_lowest_hz",  FIELD_REAL, OF(sm_hz_lowest),  1, 1e11},
    {"sm_clock_highest_hz", FIELD_REAL, OF(sm_hz_highest), 1, 1e11},
};
static const struct number_row bandwidth_numbers[] = {
    {"copy_bytes_per_second", FIELD_REAL,  OF(copy_bytes_per_second), 1, 1e18},
    {"read_bytes_per_second", FIELD_REAL,  OF(read_bytes_per_second), 1, 1e18},
    {"working_set_bytes",     FIELD_INT64, OF(working_set_bytes),     1, 1e15},
    {"threads_per_block",     FIELD_INT32, OF(threads_per_block),     1, 1024},
};
static const struct number_row launch_numbers[] = {
    {"empty_kernel_ns", FIELD_REAL, OF(empty_kernel_ns), 1, 1e9},
    {"enqueue_ns",      FIELD_REAL, OF(enqueue_ns),      1, 1e9},
};
/* clang-format on */
#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

/* ---- writing ---- */

static json_t *real_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *number_value(const struct calibration *calibration, const struct number_row *row)
{
    const char *at = (const char *)calibration + row->offset;
    double value;
    switch (row->kind) {
    case FIELD_REAL:
        return real_or_null(*(const double *)(const void *)at);
    case FIELD_INT32:
        value = *(const int32_t *)(const void *)at;
        break;
    case FIELD_INT64: {
        int64_t whole = *(const int64_t *)(const void *)at;
        return whole < (int64_t)row->least ? json_null() : json_integer(whole);
    }
    default:
        value = *(const uint32_t *)(const void *)at;
    }
    return value < row->least ? json_null() : json_integer((json_int_t)value);
}

static void add_numbers(json_t *object, const struct calibration *calibration, const struct number_row *rows,
                        size_t count)
{
    for (size_t i = 0; i < count; i++)
        json_object_set_new(object, rows[i].key, number_value(calibration, &rows[i]));
}

/* Text of strangers (a driver's name for its GPU): what is no UTF-8 has no place in JSON. */
static json_t *text_or_null(const char *text)
{
    json_t *value = *text ? json_string(text) : NULL;
    return value ? value : json_null();
}

static void uuid_text(const uint8_t uuid[16], char text[33])
{
    for (int i = 0; i < 16; i++)
        sprintf(text + 2 * i, "%02x", uuid[i]);
}

static json_t *gpu_object(const struct calibration *calibration)
{
    const struct trace_device *device = &calibration->device;
    char uuid[33];
    uuid_text(device->uuid, uuid);
    json_t *object = json_object();
    json_object_set_new(object, "uuid", json_string(uuid));
    json_object_set_new(object, "name", text_or_null(device->name));
    json_object_set_new(object, "simulated", json_boolean(device->simulated == 1));
    json_object_set_new(object, "mig", device->mig < 0 ? json_null() : json_boolean(device->mig));
    json_object_set_new(object, "driver", text_or_null(calibration->driver_version));
    add_numbers(object, calibration, gpu_numbers, COUNT(gpu_numbers));
    return object;
}

static json_t *gemm_array(const struct calibration *calibration)
{
    json_t *array = json_array();
    for (int path = 0; path < GPU_PATH_COUNT; path++) {
        const struct calibration_gemm *gemm = &calibration->gemm[path];
        const struct gpu_path_info *info = &gpu_paths[path];
        if (isfinite(gemm->flops_per_second))
            json_array_append_new(
                array, json_pack("{s:s, s:s, s:s, s:f, s:o, s:I, s:I, s:I}", "type", number_type_name(info->type),
                                 "accumulate", number_type_name(info->accumulate), "unit", info->unit,
                                 "flops_per_second", gemm->flops_per_second, "median_flops_per_second",
                                 real_or_null(gemm->median_flops_per_second), "m", (json_int_t)gemm->m, "n",
                                 (json_int_t)gemm->n, "k", (json_int_t)gemm->k));
    }
    return array;
}

static json_t *section(const struct calibration *calibration, const struct number_row *rows, size_t count)
{
    json_t *object = json_object();
    add_numbers(object, calibration, rows, count);
    return object;
}

static json_t *document_of(const struct calibration *calibration)
{
    json_t *document = json_pack("{s:s, s:i}", "kind", KIND, "schema", CALIBRATION_SCHEMA);
    json_t *points = json_array();
    json_t *bandwidth = section(calibration, bandwidth_numbers, COUNT(bandwidth_numbers));
    json_t *clocks = section(calibration, clock_numbers, COUNT(clock_numbers));
    for (int i = 0; i < calibration->point_count; i++)
        json_array_append_new(points, json_pack("{s:I, s:f}", "blocks", (json_int_t)calibration->points[i].blocks,
                                                "bytes_per_second", calibration->points[i].bytes_per_second));
    json_object_set_new(bandwidth, "by_blocks", points);
    bool reasons = calibration->throttle_reasons != TRACE_REASONS_UNKNOWN;
    json_object_set_new(clocks, "throttle_reasons",
                        reasons ? json_integer((json_int_t)(calibration->throttle_reasons & INT64_MAX)) : json_null());
    json_object_set_new(document, "rooftap_version", text_or_null(calibration->rooftap_version));
    json_object_set_new(document, "cublas", text_or_null(calibration->cublas));
    json_object_set_new(document, "gpu", gpu_object(calibration));
    json_object_set_new(document, "quick", json_boolean(calibration->quick));
    json_object_set_new(document, "stopped_early", json_boolean(calibration->stopped_early));
    add_numbers(document, calibration, numbers, COUNT(numbers));
    json_object_set_new(document, "clocks", clocks);
    json_object_set_new(document, "gemm", gemm_array(calibration));
    json_object_set_new(document, "bandwidth", bandwidth);
    json_object_set_new(document, "launch", section(calibration, launch_numbers, COUNT(launch_numbers)));
    return document;
}

char *calibration_text(const struct calibration *calibration)
{
    json_t *document = document_of(calibration);
    char *text = document ? json_dumps(document, JSON_INDENT(2)) : NULL;
    json_decref(document);
    return text;
}

static __attribute__((format(printf, 2, 3))) bool say(struct calibration_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return false;
}

static bool write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wxe");
    if (!file)
        return false;
    bool good = fputs(text, file) >= 0 && fputc('\n', file) != EOF && fflush(file) == 0;
    int why = errno;
    good = fclose(file) == 0 && good;
    errno = good ? 0 : why;
    return good;
}

bool calibration_write(const struct calibration *calibration, const char *path, struct calibration_error *error)
{
    char *text = calibration_text(calibration);
    char *beside = allocate(strlen(path) + 32, 1);
    sprintf(beside, "%s.%ld.part", path, (long)getpid());
    bool good = text && write_text(beside, text) && rename(beside, path) == 0;
    if (!good) {
        say(error, "'%s' can't be written: %s; give another file with -o", path, strerror(text ? errno : ENOMEM));
        unlink(beside);
    }
    free(text);
    free(beside);
    return good;
}

/* ---- reading ---- */

struct reading {
    struct calibration *calibration;
    const char *path;
    struct calibration_error *error;
};

#define AGAIN "measure again with 'rooftap calibrate'"

static bool refuse(const struct reading *reading, const char *where, const char *expected)
{
    return say(reading->error, "%s: %s: expected %s; " AGAIN, reading->path, where, expected);
}

static void where_of(char *where, size_t size, const char *section_name, const char *key)
{
    snprintf(where, size, "%s%s%s", section_name, *section_name ? "." : "", key);
}

/* null and a missing key leave what is there: not known. */
static bool read_number(const struct reading *reading, const json_t *object, const char *section_name,
                        const struct number_row *row)
{
    const json_t *value = json_object_get(object, row->key);
    if (!value || json_is_null(value))
        return true;
    double number = json_number_value(value);
    bool whole = row->kind != FIELD_REAL;
    if (!(whole ? json_is_integer(value) : json_is_number(value)) || !(number >= row->least) || number > row->most) {
        char where[96], expected[96];
        where_of(where, sizeof where, section_name, row->key);
        snprintf(expected, sizeof expected, "%s from %.15g to %.15g", whole ? "a whole number" : "a number", row->least,
                 row->most);
        return refuse(reading, where, expected);
    }
    char *at = (char *)reading->calibration + row->offset;
    switch (row->kind) {
    case FIELD_REAL:
        memcpy(at, &number, sizeof number);
        break;
    case FIELD_INT64:
        memcpy(at, &(int64_t){json_integer_value(value)}, sizeof(int64_t));
        break;
    case FIELD_INT32:
        memcpy(at, &(int32_t){(int32_t)json_integer_value(value)}, sizeof(int32_t));
        break;
    case FIELD_UINT32:
        memcpy(at, &(uint32_t){(uint32_t)json_integer_value(value)}, sizeof(uint32_t));
        break;
    }
    return true;
}

/* The object at KEY; "" is ROOT itself. Missing sections are unknown, others than objects refused. */
static bool read_section(const struct reading *reading, const json_t *root, const char *key,
                         const struct number_row *rows, size_t count)
{
    const json_t *object = *key ? json_object_get(root, key) : root;
    if (object && !json_is_object(object))
        return refuse(reading, key, "an object");
    for (size_t i = 0; object && i < count; i++)
        if (!read_number(reading, object, key, &rows[i]))
            return false;
    return true;
}

static void copy_text(char *out, size_t size, const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    snprintf(out, size, "%s", text ? text : "");
}

static bool read_uuid(const char *text, uint8_t uuid[16])
{
    if (!text || strlen(text) != 32 || strspn(text, "0123456789abcdef") != 32)
        return false;
    for (int i = 0; i < 16; i++) {
        unsigned byte;
        if (sscanf(text + 2 * i, "%2x", &byte) != 1)
            return false;
        uuid[i] = (uint8_t)byte;
    }
    return true;
}

static bool read_gpu(const struct reading *reading, const json_t *root)
{
    const json_t *gpu = json_object_get(root, "gpu"), *simulated = json_object_get(gpu, "simulated");
    const char *name = json_string_value(json_object_get(gpu, "name"));
    struct trace_device *device = &reading->calibration->device;
    if (!json_is_object(gpu))
        return refuse(reading, "gpu", "an object");
    if (!read_uuid(json_string_value(json_object_get(gpu, "uuid")), device->uuid))
        return refuse(reading, "gpu.uuid", "32 hexadecimal digits");
    if (!json_is_boolean(simulated))
        return refuse(reading, "gpu.simulated", "true or false");
    if (!name || strlen(name) >= sizeof device->name)
        return refuse(reading, "gpu.name", "a text of at most 255 bytes");
    snprintf(device->name, sizeof device->name, "%s", name);
    device->simulated = json_is_true(simulated);
    if (json_is_boolean(json_object_get(gpu, "mig")))
        device->mig = json_is_true(json_object_get(gpu, "mig"));
    copy_text(reading->calibration->driver_version, CALIBRATION_TEXT, gpu, "driver");
    return read_section(reading, root, "gpu", gpu_numbers, COUNT(gpu_numbers));
}

static enum gpu_path path_of(const json_t *row)
{
    const char *type = json_string_value(json_object_get(row, "type"));
    const char *accumulate = json_string_value(json_object_get(row, "accumulate"));
    const char *unit = json_string_value(json_object_get(row, "unit"));
    for (int path = 0; type && accumulate && unit && path < GPU_PATH_COUNT; path++)
        if (!strcmp(type, number_type_name(gpu_paths[path].type)) &&
            !strcmp(accumulate, number_type_name(gpu_paths[path].accumulate)) && !strcmp(unit, gpu_paths[path].unit))
            return (enum gpu_path)path;
    return GPU_PATH_UNKNOWN;
}

/* A number of a row of an array, which has no default. */
static bool row_number(const struct reading *reading, const json_t *row, const char *array, size_t index,
                       const char *key, double least, double most, double *number)
{
    const json_t *value = json_object_get(row, key);
    char where[96], expected[96];
    *number = json_number_value(value);
    if (json_is_number(value) && *number >= least && *number <= most)
        return true;
    snprintf(where, sizeof where, "%s[%zu].%s", array, index, key);
    snprintf(expected, sizeof expected, "a number from %.15g to %.15g", least, most);
    return refuse(reading, where, expected);
}

static bool read_gemm(const struct reading *reading, const json_t *root)
{
    const json_t *array = json_object_get(root, "gemm"), *row;
    size_t i;
    if (array && !json_is_array(array))
        return refuse(reading, "gemm", "an array");
    json_array_foreach((json_t *)array, i, row)
    {
        double flops, shape[3], median = json_number_value(json_object_get(row, "median_flops_per_second"));
        static const char *const sides[] = {"m", "n", "k"};
        if (!row_number(reading, row, "gemm", i, "flops_per_second", 1, 1e21, &flops))
            return false;
        for (int side = 0; side < 3; side++)
            if (!row_number(reading, row, "gemm", i, sides[side], 1, 1e9, &shape[side]))
                return false;
        enum gpu_path path = path_of(row);
        if (path != GPU_PATH_UNKNOWN) /* else one of a newer rooftap */
            reading->calibration->gemm[path] = (struct calibration_gemm){
                flops, median > 0 ? median : NAN, (int64_t)shape[0], (int64_t)shape[1], (int64_t)shape[2]};
    }
    return true;
}

static bool read_points(const struct reading *reading, const json_t *root)
{
    const json_t *array = json_object_get(json_object_get(root, "bandwidth"), "by_blocks"), *row;
    struct calibration *calibration = reading->calibration;
    size_t i;
    if (array && !json_is_array(array))
        return refuse(reading, "bandwidth.by_blocks", "an array");
    if (json_array_size(array) > CALIBRATION_POINTS)
        return refuse(reading, "bandwidth.by_blocks", "at most 64 points");
    double before = 0;
    json_array_foreach((json_t *)array, i, row)
    {
        double blocks, rate;
        if (!row_number(reading, row, "bandwidth.by_blocks", i, "blocks", 1, 1e9, &blocks) ||
            !row_number(reading, row, "bandwidth.by_blocks", i, "bytes_per_second", 1, 1e18, &rate))
            return false;
        if (blocks <= before || blocks != (double)(int64_t)blocks)
            return refuse(reading, "bandwidth.by_blocks", "whole numbers of blocks in ascending order");
        before = blocks;
        calibration->points[calibration->point_count++] = (struct calibration_point){(int64_t)blocks, rate};
    }
    return true;
}

static bool read_document(const struct reading *reading, const json_t *root)
{
    struct calibration *calibration = reading->calibration;
    const char *kind = json_string_value(json_object_get(root, "kind"));
    const json_t *schema = json_object_get(root, "schema");
    const json_t *reasons = json_object_get(json_object_get(root, "clocks"), "throttle_reasons");
    if (!kind || strcmp(kind, KIND) != 0)
        return refuse(reading, "kind", "\"" KIND "\"");
    if (json_is_integer(schema) && json_integer_value(schema) > CALIBRATION_SCHEMA)
        return say(reading->error, "%s: schema %lld is of a newer rooftap, this one reads %d; " AGAIN, reading->path,
                   (long long)json_integer_value(schema), CALIBRATION_SCHEMA);
    if (!json_is_integer(schema) || json_integer_value(schema) != CALIBRATION_SCHEMA)
        return refuse(reading, "schema", "1");
    copy_text(calibration->rooftap_version, CALIBRATION_TEXT, root, "rooftap_version");
    copy_text(calibration->cublas, CALIBRATION_TEXT, root, "cublas");
    calibration->quick = json_is_true(json_object_get(root, "quick"));
    calibration->stopped_early = json_is_true(json_object_get(root, "stopped_early"));
    if (json_is_integer(reasons) && json_integer_value(reasons) >= 0)
        calibration->throttle_reasons = (uint64_t)json_integer_value(reasons);
    return read_gpu(reading, root) && read_section(reading, root, "", numbers, COUNT(numbers)) &&
           read_section(reading, root, "clocks", clock_numbers, COUNT(clock_numbers)) &&
           read_section(reading, root, "bandwidth", bandwidth_numbers, COUNT(bandwidth_numbers)) &&
           read_section(reading, root, "launch", launch_numbers, COUNT(launch_numbers)) && read_gemm(reading, root) &&
           read_points(reading, root);
}

bool calibration_read(struct calibration *calibration, const char *path, struct calibration_error *error)
{
    const struct reading reading = {calibration, path, error};
    json_error_t json_error;
    uint64_t bytes;
    calibration_init(calibration);
    FILE *file = regular_file_open(path, &bytes);
    if (!file)
        return say(error, "%s can't be read: %s; expected a file that 'rooftap calibrate' wrote", path,
                   errno ? strerror(errno) : "not a regular file");
    json_t *root = bytes > LARGEST_BYTES ? NULL : json_loadf(file, 0, &json_error);
    fclose(file);
    if (bytes > LARGEST_BYTES)
        return say(error, "%s is larger than a calibration can be (1 MiB); " AGAIN, path);
    if (!root)
        return say(error, "%s is no JSON (line %d: %s); " AGAIN, path, json_error.line, json_error.text);
    bool good = json_is_object(root) ? read_document(&reading, root) : refuse(&reading, "the file", "an object");
    json_decref(root);
    return good;
}
