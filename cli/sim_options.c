/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of the device file as sim/core/device.c reads them. tests/cli/sim_options.py holds the two tables together:
 * each says its keys in its own message, and both take and refuse the same values. */
#include "cli/sim_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"

#define PEAK_PREFIX "flops_per_second."
enum { LONGEST_OPTION = 400 }; /* the simulator reads lines of 511 bytes */

struct sim_key {
    const char *key;
    bool (*takes)(const struct sim_key *row, const char *text);
    double least, most;
    const char *expected;
};

/* ---- what a value may look like ---- */

static bool takes_number(const struct sim_key *row, const char *text)
{
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    return !errno && end != text && !*end && value >= row->least && value <= row->most;
}

static bool takes_whole(const struct sim_key *row, const char *text)
{
    return takes_number(row, text) && strtod(text, NULL) == (double)(long long)strtod(text, NULL);
}

static bool takes_name(const struct sim_key *row, const char *text)
{
    size_t blanks = strspn(text, " \t"), length = strlen(text + blanks);
    return (double)length >= row->least && (double)length <= row->most;
}

static bool takes_pci_id(const struct sim_key *row, const char *text)
{
    char *end;
    unsigned long id = strtoul(text, &end, 0);
    return end != text && !*end && (double)id <= row->most;
}

static bool takes_capability(const struct sim_key *row, const char *text)
{
    int major, minor, end = 0;
    return sscanf(text, "%d.%d%n", &major, &minor, &end) == 2 && !text[end] && major >= row->least &&
           major <= row->most && minor >= 0 && minor < 10;
}

static bool takes_tile(const struct sim_key *row, const char *text)
{
    unsigned rows, columns;
    int end = 0;
    return sscanf(text, "%ux%u%n", &rows, &columns, &end) == 2 && !text[end] && rows >= row->least &&
           columns >= row->least;
}

static bool takes_byte_kernel(const struct sim_key *row, const char *text)
{
    char name[64];
    unsigned parameter, blocks;
    double factor;
    int end = 0;
    return sscanf(text, "%63[A-Za-z0-9_]:%u:%lf:%u%n", name, &parameter, &factor, &blocks, &end) == 4 && !text[end] &&
           factor > row->least && factor <= row->most && blocks;
}

static bool takes_index_kernel(const struct sim_key *row, const char *text)
{
    char name[64];
    unsigned pointer, rows, limit;
    int end = 0;
    return sscanf(text, "%63[A-Za-z0-9_]:%u:%u:%u%n", name, &pointer, &rows, &limit, &end) == 4 && !text[end] &&
           limit > row->least && limit <= row->most;
}

static bool takes_switch(const struct sim_key *row, const char *text)
{
    (void)row;
    return !strcmp(text, "0") || !strcmp(text, "1") || !strcmp(text, "false") || !strcmp(text, "true");
}

static bool takes_release(const struct sim_key *row, const char *text)
{
    static const char *const releases[] = {"11.8", "12.4", "12.8", "12.9", "13.0", "13.2", "13.3", "13.4"};
    (void)row;
    for (size_t i = 0; i < sizeof releases / sizeof releases[0]; i++)
        if (!strcmp(text, releases[i]))
            return true;
    return false;
}

static bool takes_driver(const struct sim_key *row, const char *text)
{
    unsigned major, minor;
    int end = 0;
    return sscanf(text, "%2u.%1u%n", &major, &minor, &end) == 2 && !text[end] && major >= row->least &&
           major <= row->most;
}

/* clang-format off */
static const struct sim_key keys[] = {
    {"name",               takes_name,       1,       117,  "a name of at most 117 characters"},
    {"pci_device_id",      takes_pci_id,     0,       65535, "a PCI device id such as 0x2684"},
    {"sm_count",           takes_number,     1,       1e6,  "a number of multiprocessors"},
    {"compute_capability", takes_capability, 1,       99,   "MAJOR.MINOR"},
    {"clock_khz",          takes_number,     1,       2e9,  "a clock in kHz"},
    {"memory_bytes",       takes_number,     1048576, 1e15, "at least 1 MiB in bytes"},
    {"bytes_per_second",   takes_number,     1,       1e18, "a positive bandwidth"},
    {"gemm_efficiency",    takes_number,     1e-6,    1,    "a fraction above 0, at most 1"},
    {"startup_ns",         takes_number,     0,       1e15, "nanoseconds"},
    {"other_kernel_ns",    takes_number,     0,       1e15, "nanoseconds"},
    {"programmatic_overlap_ns", takes_number, 0,      1e15, "nanoseconds"},
    {"gemm_tile",          takes_tile,       1,       0,    "MxN, such as 64x64"},
    {"gemm_kernels",       takes_number,     1,       2,    "1 or 2"},
    {"gemm_nested",        takes_switch,     0,       0,    "0 or 1"},
    {"gemm_slowdown",      takes_number,     1,       1e9,  "a factor of at least 1, at most 1e9"},
    {"gemm_fail_every",    takes_whole,      0,       1e15, "a whole number, 0 for none"},
    {"byte_kernel",        takes_byte_kernel, 0,      1e6,  "NAME:PARAMETER:FACTOR:BLOCKS, at most 4 times"},
    {"index_kernel",       takes_index_kernel, 0,   65536, "NAME:POINTER:ROWS:LIMIT, at most 4 times"},
    {"cupti",              takes_release,    0,       0,    "11.8, 12.4, 12.8, 12.9, 13.0, 13.2, 13.3 or 13.4"},
    {"driver_version",     takes_driver,     11,      13,   "the CUDA release of a driver, 11.0 to 13.9"},
    {"graph_iterations",   takes_number,     0,       1e6,  "a number of iterations, at most 1e6"},
    {"held_clock_khz",     takes_number,     1,       2e9,  "the SM clock that NVML reads, in kHz"},
    {"memory_bus_bits",    takes_number,     1,       1e6,  "a number of bits"},
    {"l2_bytes",           takes_number,     0,       2e9,  "bytes, at most 2e9"},
    {"power_mw",           takes_number,     0,       2e9,  "milliwatts"},
    {"temperature_c",      takes_number,     0,       200,  "degrees Celsius"},
    {"throttle_reasons",   takes_whole,      0,       511,  "a sum of NVML's bits, 0 to 511"},
    {"devices",            takes_whole,      1,       8,    "a number of equal devices, 1 to 8"},
};
static const char *const paths[] = {"bf16", "fp16", "tf32", "fp32", "fp64", "fp8", "int8", "fp4"};
static const struct sim_key peak = {PEAK_PREFIX "PATH", takes_number, 1, 1e21, "a positive number of FLOP/s"};
/* clang-format on */

static const struct sim_key *find_key(const char *key)
{
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(keys[i].key, key) == 0)
            return &keys[i];
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (strncmp(key, PEAK_PREFIX, strlen(PEAK_PREFIX)) == 0 && strcmp(key + strlen(PEAK_PREFIX), paths[i]) == 0)
            return &peak;
    return NULL;
}

static void append(char *list, size_t room, const char *word)
{
    size_t used = strlen(list);
    snprintf(list + used, room - used, "%s%s", used ? " " : "", word);
}

static void list_paths(char *list, size_t room)
{
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        append(list, room, paths[i]);
}

const char *sim_options_help(void)
{
    static char text[2048];
    char known_paths[128] = "";
    size_t used = (size_t)snprintf(text, sizeof text, "Keys of --sim-option:\n");
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "  %-22s %s\n", keys[i].key, keys[i].expected);
    list_paths(known_paths, sizeof known_paths);
    snprintf(text + used, sizeof text - used, "  %-22s %s; PATH: %s", peak.key, peak.expected, known_paths);
    return text;
}

static void refuse_key(const char *key, const char *command)
{
    char known[768] = "", known_paths[128] = "";
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        append(known, sizeof known, keys[i].key);
    append(known, sizeof known, peak.key);
    list_paths(known_paths, sizeof known_paths);
    message_error(command, "--sim-option: the simulated GPU has no '%s'; expected one of the keys %s (PATH: %s)", key,
                  known, known_paths);
}

static bool check(const char *text, const char *command)
{
    char key[LONGEST_OPTION + 1];
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1] || strpbrk(text, "\n#") || strlen(text) > LONGEST_OPTION) {
        message_error(command, "--sim-option takes KEY=VALUE, such as gemm_kernels=2, not '%s'", text);
        return false;
    }
    snprintf(key, sizeof key, "%.*s", (int)(equals - text), text);
    const struct sim_key *row = find_key(key);
    if (!row) {
        refuse_key(key, command);
        return false;
    }
    if (row->takes(row, equals + 1))
        return true;
    message_error(command, "--sim-option %s: '%s' is not %s", key, equals + 1, row->expected);
    return false;
}

bool sim_options_check(const struct option_list *options, const char *command)
{
    for (int i = 0; i < options->count; i++)
        if (!check(options->values[i], command))
            return false;
    return true;
}
