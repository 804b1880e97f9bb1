/* SPDX-License-Identifier: Apache-2.0 */
/* Decimal arithmetic throughout: 0.1 s is 100 ms. */
#include "cli/time_span.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#define LONGEST_MS INT64_C(315360000000)

/* NUMBER * SCALE of a decimal number at *TEXT, which is moved behind it. False: it is none, or the product is not whole or
 * above MOST. */
static bool read_scaled(const char **text, int64_t scale, int64_t most, int64_t *value)
{
    const char *at = *text;
    int64_t whole = 0, part = 0, tenths = 1;
    bool any = false;
    for (; *at >= '0' && *at <= '9'; at++, any = true)
        if ((whole = whole * 10 + (*at - '0')) > most)
            return false;
    if (*at == '.')
        for (at++; *at >= '0' && *at <= '9'; at++, any = true) {
            if (tenths > INT64_C(1000000000))
                return false;
            part = part * 10 + (*at - '0');
            tenths *= 10;
        }
    if (!any || whole > most / scale || part * scale % tenths != 0)
        return false;
    *value = whole * scale + part * scale / tenths;
    *text = at;
    return *value <= most;
}

static const struct {
    const char *name;
    int64_t milliseconds;
} units[] = {{"", 1000}, {"ms", 1}, {"s", 1000}, {"min", 60000}, {"h", 3600000}};

bool time_span_parse(const char *text, int64_t *milliseconds)
{
    const char *unit = text + strspn(text, "0123456789.");
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcasecmp(unit, units[i].name) == 0)
            return read_scaled(&text, units[i].milliseconds, LONGEST_MS, milliseconds) && text == unit;
    return false;
}

bool percent_parse(const char *text, int64_t *millionths)
{
    return read_scaled(&text, 10000, 1000000, millionths) && (!*text || !strcmp(text, "%"));
}
