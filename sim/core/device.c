/* SPDX-License-Identifier: Apache-2.0 */
/* The device: a text file of `key = value` lines named by SIMGPU_DEVICE, or `unit`, whose round figures let a test
 * work out every expected number by hand. */
#include "sim/core/device.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct simgpu_device device = {
    .name = "Simulated unit",
    .pci_device_id = 0xffff,
    .sm_count = 100,
    .compute_major = 9,
    .compute_minor = 0,
    .clock_khz = 1000000,
    .memory_bytes = 64ull << 30,
    .bytes_per_second = 1e12,
    .peak = {{"bf16", 100e12},
             {"fp16", 100e12},
             {"tf32", 100e12},
             {"fp32", 100e12},
             {"fp64", 100e12},
             {"fp8", 100e12},
             {"int8", 100e12},
             {"fp4", 100e12}},
    .gemm_efficiency = 0.80,
    .startup_ns = 2000,
    .other_kernel_ns = 2000,
    .gemm_tile_m = 64,
    .gemm_tile_n = 64,
    .gemm_kernels = 1,
    .gemm_slowdown = 1,
    .graph_iterations = 3,
    .power_mw = -1,
    .memory_bus_bits = 512,
    .l2_bytes = 48 << 20,
    .temperature_c = -1,
    .devices = 1,
};
static int visible[SIMGPU_DEVICES_MOST], visible_count; /* boards by ordinal */
static bool device_broken;
static pthread_once_t loaded = PTHREAD_ONCE_INIT;

/* ---- how each key's value is read; false: not such a value ---- */

static bool read_number(const char *text, double low, double high, double *value)
{
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    return !errno && end != text && !*end && *value >= low && *value <= high;
}

static bool read_name(const char *text)
{
    return *text && snprintf(device.name, sizeof device.name, "Simulated %s", text) < (int)sizeof device.name;
}

static bool read_pci(const char *text)
{
    char *end;
    unsigned long id = strtoul(text, &end, 0);
    device.pci_device_id = (uint32_t)id;
    return end != text && !*end && id <= 0xffff;
}

static bool read_capability(const char *text)
{
    int end = 0;
    return sscanf(text, "%d.%d%n", &device.compute_major, &device.compute_minor, &end) == 2 && !text[end] &&
           device.compute_major > 0 && device.compute_major < 100 && device.compute_minor >= 0 &&
           device.compute_minor < 10;
}

static bool read_tile(const char *text)
{
    int end = 0;
    return sscanf(text, "%ux%u%n", &device.gemm_tile_m, &device.gemm_tile_n, &end) == 2 && !text[end] &&
           device.gemm_tile_m && device.gemm_tile_n;
}

static bool read_whole(const char *text, double high, uint64_t *whole)
{
    double value;
    if (!read_number(text, 0, high, &value) || value != (double)(uint64_t)value)
        return false;
    *whole = (uint64_t)value;
    return true;
}

static bool read_fail_every(const char *text)
{
    return read_whole(text, 1e15, &device.gemm_fail_every);
}

static bool read_throttle_reasons(const char *text)
{
    return read_whole(text, 511, &device.throttle_reasons);
}

/* Each line adds one. */
static bool read_byte_kernel(const char *text)
{
    struct simgpu_byte_kernel kernel;
    size_t count = 0, most = sizeof device.byte_kernels / sizeof *device.byte_kernels;
    int end = 0;
    while (count < most && device.byte_kernels[count].name[0])
        count++;
    if (count == most ||
        sscanf(text, "%63[A-Za-z0-9_]:%u:%lf:%u%n", kernel.name, &kernel.parameter, &kernel.factor, &kernel.blocks,
               &end) != 4 ||
        text[end] || !(kernel.factor > 0) || !(kernel.factor <= 1e6) || !kernel.blocks)
        return false;
    device.byte_kernels[count] = kernel;
    return true;
}

static bool read_index_kernel(const char *text)
{
    struct simgpu_index_kernel kernel;
    size_t count = 0, most = sizeof device.index_kernels / sizeof *device.index_kernels;
    int end = 0;
    while (count < most && device.index_kernels[count].name[0])
        count++;
    if (count == most ||
        sscanf(text, "%63[A-Za-z0-9_]:%u:%u:%u%n", kernel.name, &kernel.pointer, &kernel.rows, &kernel.limit, &end) !=
            4 ||
        text[end] || !kernel.limit || kernel.limit > 65536)
        return false;
    device.index_kernels[count] = kernel;
    return true;
}

static bool read_cupti(const char *text)
{
    static const char *const releases[] = {"11.8", "12.4", "12.8", "12.9", "13.0", "13.2", "13.3", "13.4"};
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++)
        if (!strcmp(text, releases[i])) {
            snprintf(device.cupti, sizeof device.cupti, "%s", text);
            return true;
        }
    return false;
}

static bool read_driver_version(const char *text)
{
    unsigned major, minor;
    int end = 0;
    if (sscanf(text, "%2u.%1u%n", &major, &minor, &end) != 2 || text[end] || major < 11 || major > 13)
        return false;
    device.driver_version = (int)(1000 * major + 10 * minor);
    return true;
}

static bool read_nested(const char *text)
{
    device.gemm_nested = !strcmp(text, "1") || !strcmp(text, "true");
    return device.gemm_nested || !strcmp(text, "0") || !strcmp(text, "false");
}

#define READ_AS(field, type, low, high)                                                                                \
    static bool read_##field(const char *text)                                                                         \
    {                                                                                                                  \
        double value;                                                                                                  \
        if (!read_number(text, low, high, &value))                                                                     \
            return false;                                                                                              \
        device.field = (type)value;                                                                                    \
        return true;                                                                                                   \
    }
READ_AS(sm_count, int, 1, 1e6)
READ_AS(clock_khz, int, 1, 2e9)
READ_AS(memory_bytes, uint64_t, 1 << 20, 1e15)
READ_AS(bytes_per_second, double, 1, 1e18)
READ_AS(gemm_efficiency, double, 1e-6, 1)
READ_AS(startup_ns, uint64_t, 0, 1e15)
READ_AS(other_kernel_ns, uint64_t, 0, 1e15)
READ_AS(programmatic_overlap_ns, uint64_t, 0, 1e15)
READ_AS(gemm_kernels, unsigned, 1, 2)
READ_AS(held_clock_khz, int, 1, 2e9)
READ_AS(memory_bus_bits, int, 1, 1e6)
READ_AS(l2_bytes, int, 0, 2e9)
READ_AS(power_mw, int, 0, 2e9)
READ_AS(temperature_c, int, 0, 200)
READ_AS(gemm_slowdown, double, 1, 1e9)
READ_AS(graph_iterations, unsigned, 0, 1e6)

static bool read_devices(const char *text)
{
    uint64_t count;
    if (!read_whole(text, SIMGPU_DEVICES_MOST, &count) || !count)
        return false;
    device.devices = (int)count;
    return true;
}

/* clang-format off */
static const struct {
    const char *key;
    bool (*read)(const char *text);
    const char *expected;
} keys[] = {
    {"name",               read_name,             "a name of at most 117 characters"},
    {"pci_device_id",      read_pci,              "a PCI device id such as 0x2684"},
    {"sm_count",           read_sm_count,         "a number of multiprocessors"},
    {"compute_capability", read_capability,       "MAJOR.MINOR"},
    {"clock_khz",          read_clock_khz,        "a clock in kHz"},
    {"memory_bytes",       read_memory_bytes,     "at least 1 MiB in bytes"},
    {"bytes_per_second",   read_bytes_per_second, "a positive bandwidth"},
    {"gemm_efficiency",    read_gemm_efficiency,  "a fraction above 0, at most 1"},
    {"startup_ns",         read_startup_ns,       "nanoseconds"},
    {"other_kernel_ns",    read_other_kernel_ns,  "nanoseconds"},
    {"programmatic_overlap_ns", read_programmatic_overlap_ns, "nanoseconds"},
    {"gemm_tile",          read_tile,             "MxN"},
    {"gemm_kernels",       read_gemm_kernels,     "1 or 2"},
    {"gemm_nested",        read_nested,           "0 or 1"},
    {"gemm_slowdown",      read_gemm_slowdown,    "a factor of at least 1, at most 1e9"},
    {"gemm_fail_every",    read_fail_every,       "a whole number, 0 for none"},
    {"byte_kernel",        read_byte_kernel,      "NAME:PARAMETER:FACTOR:BLOCKS, at most 4 times"},
    {"index_kernel",       read_index_kernel,     "NAME:POINTER:ROWS:LIMIT, at most 4 times"},
    {"cupti",              read_cupti,            "11.8, 12.4, 12.8, 12.9, 13.0, 13.2, 13.3 or 13.4"},
    {"driver_version",     read_driver_version,   "the CUDA release of a driver, 11.0 to 13.9"},
    {"graph_iterations",   read_graph_iterations, "a number of iterations, at most 1e6"},
    {"held_clock_khz",     read_held_clock_khz,   "the SM clock that NVML reads, in kHz"},
    {"memory_bus_bits",    read_memory_bus_bits,  "a number of bits"},
    {"l2_bytes",           read_l2_bytes,         "bytes, at most 2e9"},
    {"power_mw",           read_power_mw,         "milliwatts"},
    {"temperature_c",      read_temperature_c,    "degrees Celsius"},
    {"throttle_reasons",   read_throttle_reasons, "a sum of NVML's bits, 0 to 511"},
    {"devices",            read_devices,          "a number of equal devices, 1 to 8"},
};
/* clang-format on */

static const char *const paths[] = {"bf16", "fp16", "tf32", "fp32", "fp64", "fp8", "int8", "fp4"};

static const char *read_peak(const char *path, const char *text)
{
    double value;
    bool known = false;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        known |= !strcmp(paths[i], path);
    if (!known)
        return "one of the paths bf16 fp16 tf32 fp32 fp64 fp8 int8 fp4";
    if (!read_number(text, 1, 1e21, &value))
        return "a positive number of FLOP/s";
    for (size_t i = 0; i < sizeof device.peak / sizeof *device.peak; i++)
        if (!*device.peak[i].path || !strcmp(device.peak[i].path, path)) {
            snprintf(device.peak[i].path, sizeof device.peak[i].path, "%s", path);
            device.peak[i].flops_per_second = value;
            break;
        }
    return NULL;
}

static const char *expected_key(void)
{
    static char text[768]; /* written by the one thread that loads the device */
    int length = snprintf(text, sizeof text, "one of the keys");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, " %s", keys[i].key);
    snprintf(text + length, sizeof text - (size_t)length, " flops_per_second.PATH");
    return text;
}

/* What was expected instead, or NULL if the line is fine. */
static const char *read_key(const char *key, const char *value)
{
    static const char prefix[] = "flops_per_second.";
    if (!strncmp(key, prefix, sizeof prefix - 1))
        return read_peak(key + sizeof prefix - 1, value);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!strcmp(keys[i].key, key))
            return keys[i].read(value) ? NULL : keys[i].expected;
    return expected_key();
}

static char *trimmed(char *text)
{
    while (*text == ' ' || *text == '\t')
        text++;
    size_t length = strlen(text);
    while (length && strchr(" \t\r\n", text[length - 1]))
        text[--length] = 0;
    return text;
}

static void complain(const char *path, unsigned line, const char *text, const char *expected)
{
    fprintf(stderr, "simgpu: %s:%u: \"%s\": expected %s\n", path, line, text, expected);
    device_broken = true;
}

static void read_line(const char *path, unsigned number, char *text)
{
    char *line = trimmed(text), *comment = strchr(line, '#');
    if (comment) {
        *comment = 0;
        line = trimmed(line);
    }
    if (!*line)
        return;
    char *equals = strchr(line, '=');
    if (!equals) {
        complain(path, number, line, "key = value");
        return;
    }
    *equals = 0;
    char *key = trimmed(line);
    const char *expected = read_key(key, trimmed(equals + 1));
    if (expected)
        complain(path, number, key, expected);
}

static void load_file(const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file) {
        fprintf(stderr, "simgpu: SIMGPU_DEVICE: cannot read %s: %s\n", path, strerror(errno));
        device_broken = true;
        return;
    }
    /* A described device has the paths its file names, and no others. */
    memset(device.peak, 0, sizeof device.peak);
    char text[512];
    for (unsigned number = 1; fgets(text, sizeof text, file); number++)
        read_line(path, number, text);
    fclose(file);
    if (!device.peak[0].path[0])
        complain(path, 1, "flops_per_second", "at least one flops_per_second.PATH");
}

/* ---- how many, and which of them a process sees ---- */

static void load_count(void)
{
    const char *text = getenv("SIMGPU_DEVICE_COUNT");
    if (text && *text && !read_devices(text)) {
        fprintf(stderr, "simgpu: SIMGPU_DEVICE_COUNT: \"%s\": expected a number of equal devices, 1 to 8\n", text);
        device_broken = true;
    }
}

/* A board by its number or by the beginning of its UUID, as CUDA_VISIBLE_DEVICES names it; negative: none such. */
static int board_named(const char *name, size_t length)
{
    char text[SIMGPU_UUID_TEXT_BYTES], *end;
    if (!length)
        return -1;
    if (isdigit((unsigned char)*name)) {
        unsigned long number = strtoul(name, &end, 10);
        return end == name + length && number < (unsigned long)device.devices ? (int)number : -1;
    }
    int found = -1;
    for (int board = 0; length > 4 && board < device.devices; board++) {
        simgpu_device_uuid_text(board, text);
        if (length < sizeof text && !strncmp(text, name, length)) {
            if (found >= 0)
                return -1; /* the beginning of more than one */
            found = board;
        }
    }
    return found;
}

static bool is_visible(int board)
{
    for (int i = 0; i < visible_count; i++)
        if (visible[i] == board)
            return true;
    return false;
}

/* CUDA programming guide, "CUDA Environment Variables": in the given order, up to the first that isn't there. */
static void load_visible(void)
{
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    if (!list) {
        for (int board = 0; board < device.devices; board++)
            visible[visible_count++] = board;
        return;
    }
    for (;;) {
        size_t length = strcspn(list, ",");
        const char *name = list;
        size_t name_length = length;
        while (name_length && isspace((unsigned char)*name))
            name++, name_length--;
        while (name_length && isspace((unsigned char)name[name_length - 1]))
            name_length--;
        int board = board_named(name, name_length);
        if (board < 0 || is_visible(board))
            return;
        visible[visible_count++] = board;
        if (!list[length])
            return;
        list += length + 1;
    }
}

/* The program may have taken its user's locale, in which 0.8 is written otherwise. */
static void load(void)
{
    const char *path = getenv("SIMGPU_DEVICE");
    const locale_t plain = newlocale(LC_ALL_MASK, "C", NULL);
    const locale_t before = plain ? uselocale(plain) : NULL;
    if (path && *path)
        load_file(path);
    load_count();
    load_visible();
    if (!plain)
        return;
    uselocale(before);
    freelocale(plain);
}

int simgpu_device_count(void)
{
    simgpu_device();
    return visible_count;
}

int simgpu_device_board(int ordinal)
{
    simgpu_device();
    return ordinal >= 0 && ordinal < visible_count ? visible[ordinal] : -1;
}

int simgpu_board_ordinal(int board)
{
    simgpu_device();
    for (int i = 0; i < visible_count; i++)
        if (visible[i] == board)
            return i;
    return -1;
}

void simgpu_device_uuid(int board, unsigned char uuid[16])
{
    memcpy(uuid, "simulated gpu 00", 16);
    uuid[15] = (unsigned char)('0' + board);
}

void simgpu_device_uuid_text(int board, char text[SIMGPU_UUID_TEXT_BYTES])
{
    unsigned char u[16];
    simgpu_device_uuid(board, u);
    int used = snprintf(text, SIMGPU_UUID_TEXT_BYTES, "GPU-");
    for (int i = 0; i < 16; i++)
        used += snprintf(text + used, (size_t)(SIMGPU_UUID_TEXT_BYTES - used),
                         i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", u[i]);
}

const struct simgpu_device *simgpu_device(void)
{
    pthread_once(&loaded, load);
    return &device;
}

bool simgpu_device_broken(void)
{
    simgpu_device();
    return device_broken;
}

double simgpu_peak_flops(const char *path)
{
    const struct simgpu_device *d = simgpu_device();
    for (size_t i = 0; i < sizeof d->peak / sizeof *d->peak; i++)
        if (!strcmp(d->peak[i].path, path))
            return d->peak[i].flops_per_second;
    return 0;
}

uint64_t simgpu_work_ns(double flops, double bytes, const char *path)
{
    const struct simgpu_device *d = simgpu_device();
    double peak = simgpu_peak_flops(path);
    double compute = peak > 0 ? flops / peak : 0, transfer = bytes / d->bytes_per_second;
    double seconds = (compute > transfer ? compute : transfer) / d->gemm_efficiency;
    return d->startup_ns + (uint64_t)(seconds * 1e9 + 0.5);
}
