/* SPDX-License-Identifier: Apache-2.0 */
/* The table of ROOFTAP_* variables and its reading. In a host a value that can't be understood means the default: a
 * stranger's process is no place to complain. The command checks values before it starts one. */
#include "preload/settings.h"

#include <string.h>
#include <unistd.h>

/* clang-format off */
static const struct setting settings_rows[] = {
    {SETTING_CUPTI_API,    SETTING_CHOICE, "auto", 0, 0,      "v1: CUPTI alone, until another profiler comes; v2: beside profilers that use it too; auto takes v1 unless such a one is there", "auto|v1|v2"},
    {SETTING_DELAY_MS,     SETTING_NUMBER, "0",    0, SETTING_DELAY_NEVER_MS, "how long after the start nothing is timed; 315360000000: until rooftap ctl start", NULL},
    {SETTING_DIR,          SETTING_PATH,   "",     0, 0,      "folder of the session, absolute; without it that of the nearest parent process that has one, or nothing is recorded", NULL},
    {SETTING_DISABLE,      SETTING_SWITCH, "off",  0, 0,      "pass every call through and record nothing", NULL},
    {SETTING_DURATION_MS,  SETTING_NUMBER, "0",    0, SETTING_DELAY_NEVER_MS, "how long kernels are timed once that began; 0: to the end", NULL},
    {SETTING_EXIT_WAIT_MS, SETTING_NUMBER, "500",  0, 600000, "how long an exiting process may wait for its last kernel times", NULL},
    {SETTING_GRAPHS,       SETTING_CHOICE, "auto", 0, 0,      "how nodes of CUDA graphs find their calls; auto asks as streams capture where CUPTI does not tell", "auto|callbacks|capture|off"},
    {SETTING_GRAPH_MOST,   SETTING_NUMBER, "0",    0, INT64_C(1000000000000), "kernels of graphs whose times CUPTI can take; 0: as is known of its version", NULL},
    {SETTING_JOIN,         SETTING_CHOICE, "auto", 0, 0,      "how CUPTI's kernels find their calls; auto takes external where correlation ids don't match", "auto|correlation|external"},
    {SETTING_KV_LENGTHS,   SETTING_CHOICE, "watch", 0, 0,     "sequence lengths that attention kernels read on the device; watch takes them from the copies that fill their buffers, read also asks the device at some replays of graphs", "off|watch|read"},
    {SETTING_LENGTHS,      SETTING_TEXT,   "",     0, 0,      "buffers of lengths named by hand: KERNEL:PARAMETER:COUNT[:int64][:cumulative], with commas between", NULL},
    {SETTING_LOOKUP,       SETTING_SWITCH, "on",   0, 0,      "take the functions that a program looks up by name, too; off takes only those it is linked to", NULL},
    {SETTING_MAX_OVERHEAD, SETTING_NUMBER, "0",    0, 1000000, "most that rooftap may take of the time, in millionths: then timing, then shapes are given up; 0: no bound", NULL},
    {SETTING_PARAMETERS,   SETTING_SWITCH, "on",   0, 0,      "keep the values of kernels' parameters, from which shapes are read where no library call tells them", NULL},
    {SETTING_REDACT_ARGS,  SETTING_SWITCH, "off",  0, 0,      "keep the arguments of processes out of their traces", NULL},
    {SETTING_RING,         SETTING_PATH,   "",     0, 0,      "folder of rings in shared memory that a collector empties, as record sets it; without it traces are files", NULL},
    {SETTING_SAMPLE_BUDGET, SETTING_NUMBER, "5000", 1, 1000000, "sampled timing: millionths of the time in which kernels are timed", NULL},
    {SETTING_SAMPLE_SEED,  SETTING_NUMBER, "0",    0, INT64_MAX / 100, "sampled timing: where the windows lie; 0: drawn", NULL},
    {SETTING_SAMPLE_WINDOW, SETTING_NUMBER, "1000", 100, 10000000, "sampled timing: length of a window in microseconds", NULL},
    {SETTING_TIMING,       SETTING_CHOICE, "auto", 0, 0,      "how kernels are timed, as record's --timing; on is auto", "auto|node|graph|sampled|events|off|on"},
};
/* clang-format on */

const struct setting *settings_table(size_t *count)
{
    *count = sizeof settings_rows / sizeof settings_rows[0];
    return settings_rows;
}

const struct setting *settings_find(const char *variable)
{
    const size_t rows = sizeof settings_rows / sizeof settings_rows[0];
    for (size_t i = 0; i < rows; i++) /* the constructor asks with the table's own text, as the linker merges it */
        if (settings_rows[i].variable == variable)
            return &settings_rows[i];
    for (size_t i = 0; i < rows; i++)
        if (!strcmp(settings_rows[i].variable, variable))
            return &settings_rows[i];
    return NULL;
}

static int switch_value(const char *text) /* -1: not understood */
{
    static const char *const on[] = {"on", "1", "yes", "true"}, *const off[] = {"off", "0", "no", "false"};
    for (size_t i = 0; i < sizeof on / sizeof on[0]; i++) {
        if (!strcmp(text, on[i]))
            return 1;
        if (!strcmp(text, off[i]))
            return 0;
    }
    return -1;
}

bool settings_switch(const struct setting *row, const char *text, bool *understood)
{
    int value = text && *text ? switch_value(text) : switch_value(row->default_text);
    if (understood)
        *understood = value >= 0;
    return value >= 0 ? value : switch_value(row->default_text) == 1;
}

/* Decimal digits only; strtoll would touch errno and take blanks and signs. -1: not understood or too large. */
static int64_t decimal(const char *text)
{
    int64_t value = 0;
    if (!*text)
        return -1;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || value > INT64_MAX / 10 - 10)
            return -1;
        value = value * 10 + (*text - '0');
    }
    return value;
}

int64_t settings_number(const struct setting *row, const char *text, bool *understood)
{
    int64_t value = text && *text ? decimal(text) : decimal(row->default_text);
    bool good = value >= row->minimum && value <= row->maximum;
    if (understood)
        *understood = good;
    return good ? value : decimal(row->default_text);
}

static int choice_place(const char *choices, const char *text) /* -1: it is none of them */
{
    size_t length = strlen(text);
    int place = 0;
    for (const char *choice = choices; choice; place++) {
        const char *bar = strchr(choice, '|');
        if (length == (bar ? (size_t)(bar - choice) : strlen(choice)) && !strncmp(choice, text, length))
            return place;
        choice = bar ? bar + 1 : NULL;
    }
    return -1;
}

int settings_choice(const struct setting *row, const char *text, bool *understood)
{
    const char *given = text && *text ? text : row->default_text;
    int place = choice_place(row->choices, given);
    if (place < 0 && switch_value(given) >= 0) /* a choice of on and off takes what a switch does */
        place = choice_place(row->choices, switch_value(given) ? "on" : "off");
    if (understood)
        *understood = place >= 0;
    return place >= 0 ? place : choice_place(row->choices, row->default_text);
}

static int64_t number_of(const char *variable, const char *(*value_of)(const char *name, const void *context),
                         const void *context)
{
    return settings_number(settings_find(variable), value_of(variable, context), NULL);
}

void settings_read_from(struct settings *settings, const char *(*value_of)(const char *name, const void *context),
                        const void *context)
{
    const char *dir = value_of(SETTING_DIR, context), *ring = value_of(SETTING_RING, context);
    const struct setting *disable = settings_find(SETTING_DISABLE), *exit_wait = settings_find(SETTING_EXIT_WAIT_MS),
                         *join = settings_find(SETTING_JOIN);
    settings->dir = dir && *dir == '/' ? dir : NULL;
    settings->ring = ring && *ring == '/' ? ring : NULL;
    settings->disable = settings_switch(disable, value_of(SETTING_DISABLE, context), NULL);
    settings->redact_args =
        settings_switch(settings_find(SETTING_REDACT_ARGS), value_of(SETTING_REDACT_ARGS, context), NULL);
    settings->timing =
        (enum setting_timing)settings_choice(settings_find(SETTING_TIMING), value_of(SETTING_TIMING, context), NULL);
    settings->delay_ms = number_of(SETTING_DELAY_MS, value_of, context);
    settings->duration_ms = number_of(SETTING_DURATION_MS, value_of, context);
    settings->graph_kernels_most = number_of(SETTING_GRAPH_MOST, value_of, context);
    settings->max_overhead_ppm = (uint32_t)number_of(SETTING_MAX_OVERHEAD, value_of, context);
    settings->sample_budget_ppm = (uint32_t)number_of(SETTING_SAMPLE_BUDGET, value_of, context);
    settings->sample_window_us = (uint32_t)number_of(SETTING_SAMPLE_WINDOW, value_of, context);
    settings->sample_seed = number_of(SETTING_SAMPLE_SEED, value_of, context);
    settings->lookup = settings_switch(settings_find(SETTING_LOOKUP), value_of(SETTING_LOOKUP, context), NULL);
    settings->parameters =
        settings_switch(settings_find(SETTING_PARAMETERS), value_of(SETTING_PARAMETERS, context), NULL);
    settings->exit_wait_ms = (uint32_t)settings_number(exit_wait, value_of(SETTING_EXIT_WAIT_MS, context), NULL);
    settings->cupti_api = (enum setting_cupti_api)settings_choice(settings_find(SETTING_CUPTI_API),
                                                                  value_of(SETTING_CUPTI_API, context), NULL);
    settings->graphs =
        (enum setting_graphs)settings_choice(settings_find(SETTING_GRAPHS), value_of(SETTING_GRAPHS, context), NULL);
    const char *lengths = value_of(SETTING_LENGTHS, context);
    settings->lengths = lengths && *lengths ? lengths : NULL;
    settings->kv_lengths = (enum setting_kv_lengths)settings_choice(settings_find(SETTING_KV_LENGTHS),
                                                                    value_of(SETTING_KV_LENGTHS, context), NULL);
    settings->join = (enum setting_join)settings_choice(join, value_of(SETTING_JOIN, context), NULL);
}

enum { ROWS = sizeof settings_rows / sizeof settings_rows[0] };

/* One walk for all, since every process that inherited the preload does it; of two entries the first counts, as for
 * getenv(). */
static void find_own_values(const char *values[ROWS])
{
    for (char **entry = environ; entry && *entry; entry++) {
        if (**entry != 'R' ||
            strncmp(*entry, "ROOFTAP_", sizeof "ROOFTAP_" - 1) != 0) /* nearly always told by a letter */
            continue;
        const char *equals = strchr(*entry, '=');
        for (size_t i = 0; equals && i < ROWS; i++) {
            size_t length = (size_t)(equals - *entry);
            if (!values[i] && !strncmp(settings_rows[i].variable, *entry, length) && !settings_rows[i].variable[length])
                values[i] = equals + 1;
        }
    }
}

static const char *own_value(const char *name, const void *values)
{
    return ((const char *const *)values)[settings_find(name) - settings_rows];
}

void settings_read(struct settings *settings)
{
    const char *values[ROWS] = {NULL};
    find_own_values(values);
    settings_read_from(settings, own_value, values);
}
