/* SPDX-License-Identifier: Apache-2.0 */
/* Reads --peak strictly: what is mistyped is refused with its name, never rounded to something likely. */
#include "classify/peak_option.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"

enum { WORD_BYTES = 32, SOURCE_BYTES = 1024, MOST_DIGITS = 32 };

/* What no GPU of the next decades is outside of: a figure in FLOP/s where TFLOP/s was asked is caught. */
static const double least_flops = 1e9, most_flops = 1e18, least_bytes = 1e9, most_bytes = 1e15;

#define EXAMPLE "bf16=165.2,bw=1008"

static bool refuse(char error[PEAK_OPTION_ERROR_BYTES], const char *what, const char *part)
{
    snprintf(error, PEAK_OPTION_ERROR_BYTES, "%s '%.60s'; expected [GPU:]TYPE=TFLOP/s,bw=GB/s, as in " EXAMPLE, what,
             part);
    return false;
}

/* NUMBER[G|T|P] in UNIT where no letter says another. NAN: no such number. */
static double parse_number(const char *text, double unit)
{
    static const struct {
        char letter;
        double unit;
    } units[] = {{'G', 1e9}, {'T', 1e12}, {'P', 1e15}};
    size_t digits = strspn(text, "0123456789."); /* no sign, hexadecimal, exponent, inf or nan */
    char *end;
    if (digits == 0 || digits > MOST_DIGITS)
        return NAN;
    double number = strtod(text, &end);
    if (end != text + digits)
        return NAN;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (*end == units[i].letter && end[1] == '\0')
            return number * units[i].unit;
    return *end == '\0' ? number * unit : NAN;
}

static bool set_bandwidth(struct peak_option *option, const char *number, const char *part, char *error)
{
    double value = parse_number(number, 1e9);
    if (isnan(value))
        return refuse(error, "no number of GB/s in", part);
    if (value < least_bytes || value > most_bytes)
        return refuse(error, "no GPU has the bandwidth of", part);
    if (option->bytes_per_second > 0)
        return refuse(error, "bandwidth given twice:", part);
    option->bytes_per_second = value;
    return true;
}

static bool set_peak(struct peak_option *option, const char *word, const char *number, const char *part, char *error)
{
    double value = parse_number(number, 1e12);
    if (gpu_path_by_word(word) == GPU_PATH_UNKNOWN)
        return refuse(error, "unknown type in", part);
    if (isnan(value))
        return refuse(error, "no number of TFLOP/s in", part);
    if (value < least_flops || value > most_flops)
        return refuse(error, "no GPU has the peak of", part);
    for (int path = 0; path < GPU_PATH_COUNT; path++) {
        if (strcmp(gpu_paths[path].word, word) != 0 && strcmp(gpu_paths[path].group, word) != 0)
            continue;
        if (option->flops_per_second[path] > 0)
            return refuse(error, "peak given twice:", part);
        option->flops_per_second[path] = value;
    }
    return true;
}

static bool parse_part(const char *part, struct peak_option *option, char *error)
{
    char word[WORD_BYTES];
    const char *equals = strchr(part, '=');
    size_t length = equals ? (size_t)(equals - part) : 0;
    if (length == 0 || length >= sizeof word)
        return refuse(error, "no TYPE=NUMBER:", part);
    memcpy(word, part, length);
    word[length] = '\0';
    if (!strcmp(word, "bw"))
        return set_bandwidth(option, equals + 1, part, error);
    return set_peak(option, word, equals + 1, part, error);
}

bool peak_option_parse(const char *text, struct peak_option *option, char error[PEAK_OPTION_ERROR_BYTES])
{
    struct peak_option parsed = {.device = PEAK_OPTION_WITHOUT_ROW};
    const char *parts = text;
    size_t digits = strspn(text, "0123456789");
    if (text[digits] == ':') {
        if (digits == 0 || digits > 6)
            return refuse(error, "no GPU number before ':' in", text);
        parsed.device = atoi(text);
        parts = text + digits + 1;
    }
    char *copy = allocate_text(parts), *rest = copy;
    bool good = true;
    for (char *part; good && (part = strsep(&rest, ","));)
        good = parse_part(part, &parsed, error);
    free(copy);
    if (good)
        *option = parsed;
    return good;
}

/* ---- the row ---- */

struct peak_row {
    struct gpu_spec spec; /* first, so that freeing the row frees all */
    char source[SOURCE_BYTES];
};

static void scale_row(struct gpu_spec *row, const struct device_roofs *roofs)
{
    for (int path = 0; path < GPU_PATH_COUNT; path++) {
        row->flops_per_second[path] *= roofs->compute_scale;
        row->achievable_flops_per_second[path] *= roofs->compute_scale;
    }
    row->bytes_per_second *= roofs->memory_scale;
    row->achievable_bytes_per_second *= roofs->memory_scale;
}

static void append(char source[SOURCE_BYTES], const char *separator, const char *text)
{
    size_t used = strlen(source);
    snprintf(source + used, SOURCE_BYTES - used, "%s%s", separator, text);
}

/* "--peak", or "--peak (bf16, bw); all else: ..." where the table has more. */
static void describe(struct peak_row *row, const struct peak_option *option, const struct gpu_spec *table_row)
{
    const char *separator = " (";
    append(row->source, "", "--peak");
    if (!table_row)
        return;
    for (int path = 0; path < GPU_PATH_COUNT; path++) {
        if (!(option->flops_per_second[path] > 0))
            continue;
        append(row->source, separator, gpu_paths[path].word);
        separator = ", ";
    }
    if (option->bytes_per_second > 0)
        append(row->source, separator, "bw");
    append(row->source, "); all else: ", table_row->source);
}

struct gpu_spec *peak_option_row(const struct peak_option *option, const struct device_roofs *before)
{
    struct peak_row *row = allocate(1, sizeof *row);
    if (before->spec) {
        row->spec = *before->spec;
        scale_row(&row->spec, before);
    } else {
        row->spec.key = "peak";
        row->spec.name = "figures of --peak";
    }
    for (int path = 0; path < GPU_PATH_COUNT; path++)
        if (option->flops_per_second[path] > 0)
            row->spec.flops_per_second[path] = option->flops_per_second[path];
    if (option->bytes_per_second > 0)
        row->spec.bytes_per_second = option->bytes_per_second;
    describe(row, option, before->spec);
    row->spec.source = row->source;
    if (!before->spec)
        row->spec.confidence = "as given by the user";
    row->spec.origin = GPU_ORIGIN_PEAK;
    return &row->spec;
}
