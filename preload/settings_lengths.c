/* SPDX-License-Identifier: Apache-2.0 */
/* Reads ROOFTAP_LENGTHS: in the command, which refuses what is no rule, and in the host, which passes it over. */
#include <string.h>

#include "preload/settings.h"

enum { PARAMETERS_MOST = 4096 };

/* Up to the next ':' or the END; *TEXT goes on behind it. */
static size_t take_part(const char **text, const char *end, const char **part)
{
    const char *colon = memchr(*text, ':', (size_t)(end - *text));
    *part = *text;
    size_t length = (size_t)((colon ? colon : end) - *text);
    *text = colon ? colon + 1 : end;
    return length;
}

static bool number_of(const char *text, size_t length, uint32_t most, uint32_t *number)
{
    uint64_t value = 0;
    if (!length || length > 9)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        value = value * 10 + (uint64_t)(text[i] - '0');
    }
    *number = (uint32_t)value;
    return value <= most;
}

static bool parse_kernel(const char *part, size_t length, struct length_rule *rule)
{
    rule->is_prefix = length && part[length - 1] == '*';
    length -= rule->is_prefix;
    if ((!length && !rule->is_prefix) || length >= sizeof rule->kernel)
        return false;
    memcpy(rule->kernel, part, length);
    rule->kernel[length] = '\0';
    return true;
}

static bool parse_count(const char *part, size_t length, struct length_rule *rule)
{
    rule->count_of = LENGTH_COUNT_NUMBER;
    if (length == 2 && part[0] == 'g' && part[1] >= 'x' && part[1] <= 'z') {
        rule->count_of = LENGTH_COUNT_GRID;
        rule->count = (uint32_t)(part[1] - 'x');
        return true;
    }
    if (length && part[0] == 'p') {
        rule->count_of = LENGTH_COUNT_PARAMETER;
        return number_of(part + 1, length - 1, PARAMETERS_MOST, &rule->count);
    }
    return number_of(part, length, INT32_MAX, &rule->count) && rule->count > 0;
}

static bool parse_rule(const char *text, const char *end, struct length_rule *rule)
{
    const char *part;
    *rule = (struct length_rule){.element_bytes = 4};
    /* A mangled name has no colon. */
    size_t length = take_part(&text, end, &part);
    if (!parse_kernel(part, length, rule))
        return false;
    length = take_part(&text, end, &part);
    if (!number_of(part, length, PARAMETERS_MOST, &rule->parameter))
        return false;
    length = take_part(&text, end, &part);
    if (!parse_count(part, length, rule))
        return false;
    while (text < end) {
        length = take_part(&text, end, &part);
        if (length == 5 && !memcmp(part, "int64", 5))
            rule->element_bytes = 8;
        else if (length == 10 && !memcmp(part, "cumulative", 10))
            rule->cumulative = true;
        else
            return false;
    }
    return true;
}

int settings_length_rules(const char *text, struct length_rule rules[LENGTH_RULES_MOST], bool *understood)
{
    int count = 0;
    *understood = true;
    while (text && *text) {
        const char *comma = strchr(text, ','), *end = comma ? comma : text + strlen(text);
        if (count < LENGTH_RULES_MOST && parse_rule(text, end, &rules[count]))
            count++;
        else
            *understood = false;
        text = comma ? comma + 1 : end;
    }
    return count;
}
