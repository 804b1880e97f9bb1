/* SPDX-License-Identifier: Apache-2.0 */
/* Few digits, so that columns stay narrow and no figure claims more than it is good for; values in JSON are not rounded. */
#include "report/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static char *unknown(char *text)
{
    strcpy(text, FORMAT_UNKNOWN);
    return text;
}

char *format_count(char *text, uint64_t count)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count), out = 0;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            text[out++] = ',';
        text[out++] = digits[i];
    }
    text[out] = '\0';
    return text;
}

char *format_size(char *text, int64_t size)
{
    if (size < 0)
        return unknown(text);
    snprintf(text, FORMAT_BYTES, "%" PRId64, size);
    return text;
}

/* Four digits, as far as a value below 10,000 has them. */
static char *four_digits(char *text, double value, const char *unit)
{
    int decimals = value >= 999.95 ? 0 : value >= 99.995 ? 1 : value >= 9.9995 ? 2 : 3;
    snprintf(text, FORMAT_BYTES, "%.*f%s", decimals, value, unit);
    return text;
}

char *format_duration(char *text, double ns)
{
    if (isnan(ns))
        return unknown(text);
    if (ns < 999.5) {
        snprintf(text, FORMAT_BYTES, "%.0f ns", ns);
        return text;
    }
    if (ns < 999.95e3)
        return four_digits(text, ns / 1e3, " us");
    if (ns < 999.95e6)
        return four_digits(text, ns / 1e6, " ms");
    return four_digits(text, ns / 1e9, " s");
}

/* One decimal; what is too large for that to mean anything, in powers. */
static char *one_decimal(char *text, double value)
{
    if (isnan(value))
        return unknown(text);
    if (isinf(value))
        strcpy(text, value > 0 ? "inf" : "-inf");
    else if (fabs(value) < 1e7)
        snprintf(text, FORMAT_BYTES, "%.1f", value);
    else
        snprintf(text, FORMAT_BYTES, "%.3g", value);
    return text;
}

char *format_share(char *text, double share)
{
    return one_decimal(text, 100 * share);
}

char *format_gain(char *text, double share)
{
    double percent = 100 * share;
    if (percent == 0)
        strcpy(text, "0");
    else if (percent > 0 && percent < 0.01)
        strcpy(text, "<0.01");
    else if (percent > 0 && percent < 9.995)
        snprintf(text, FORMAT_BYTES, "%.2f", percent);
    else
        one_decimal(text, percent);
    return text;
}

char *format_intensity(char *text, double flops_per_byte)
{
    return one_decimal(text, flops_per_byte);
}

char *format_tera(char *text, double per_second)
{
    double tera = per_second / 1e12;
    if (tera > 0 && tera < 0.095) {
        snprintf(text, FORMAT_BYTES, "%.3f", tera);
        return text;
    }
    return one_decimal(text, tera);
}

char *format_giga(char *text, double per_second)
{
    double giga = per_second / 1e9;
    if (isnan(giga) || giga >= 1e7 || giga < 9.95)
        return one_decimal(text, giga);
    snprintf(text, FORMAT_BYTES, "%.0f", giga);
    return text;
}

/* Powers of 1000, as bandwidths have them. */
char *format_bytes(char *text, double bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    char number[FORMAT_BYTES];
    size_t unit = 0;
    if (isnan(bytes))
        return unknown(text);
    for (; unit + 1 < sizeof units / sizeof units[0] && bytes >= 999.95; unit++)
        bytes /= 1000;
    if (unit)
        snprintf(text, FORMAT_BYTES, "%.20s %s", one_decimal(number, bytes), units[unit]);
    else
        snprintf(text, FORMAT_BYTES, "%.0f B", bytes);
    return text;
}

/* Powers of 1024, as memory has them. */
char *format_gibibytes(char *text, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    char number[FORMAT_BYTES];
    size_t unit = 0;
    if (isnan(bytes))
        return unknown(text);
    for (; unit + 1 < sizeof units / sizeof units[0] && bytes >= 1023.95; unit++)
        bytes /= 1024;
    if (unit)
        snprintf(text, FORMAT_BYTES, "%.20s %s", one_decimal(number, bytes), units[unit]);
    else
        snprintf(text, FORMAT_BYTES, "%.0f B", bytes);
    return text;
}

const char *format_plural(uint64_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}
