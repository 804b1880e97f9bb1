/* SPDX-License-Identifier: Apache-2.0 */
/* A list of values becomes what a trace would have kept of that launch, so both are read by the same code. */
#include "cli/launch_params.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEM_BYTES = 1024 };

/* What the user gave of one parameter. */
struct item {
    bool given, is_null;
    unsigned bytes;
    unsigned char value[TRACE_VALUE_BYTES_MOST];
};

struct reader {
    const struct kernel_signature *signature;
    struct item items[TRACE_PARAMETERS_MOST];
    char *error;
};

static bool complain(const struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool complain(const struct reader *r, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->error, LAUNCH_PARAMS_ERROR_BYTES, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- one value ---- */

static bool read_pointer(const struct reader *r, unsigned index, const char *text, struct item *item)
{
    char *end;
    bool is_address = !strncmp(text, "0x", 2) && strtoull(text, &end, 16) && !*end;
    item->is_null = !strcmp(text, "null");
    return item->is_null || is_address || !strcmp(text, "ptr") ||
           complain(r, "parameter %u is a pointer: 'ptr', 'null' or 0x..., not '%.40s'", index, text);
}

static bool read_float(const char *text, unsigned bytes, struct item *item)
{
    char *end;
    double value = strtod(text, &end);
    float narrow = (float)value;
    memcpy(item->value, bytes == 4 ? (const void *)&narrow : (const void *)&value, bytes);
    item->bytes = bytes;
    return end != text && !*end;
}

/* A whole number in BYTES, signed or not; decimal or 0x. */
static bool read_whole(const char *text, unsigned bytes, unsigned char *value)
{
    char *end;
    errno = 0;
    bool negative = *text == '-';
    uint64_t number = strtoull(text + negative, &end, 0);
    unsigned bits = 8 * bytes;
    uint64_t most = negative ? UINT64_C(1) << (bits - 1) : bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    if (errno || *end || !isdigit((unsigned char)text[negative]) || number > most)
        return false;
    number = negative ? -number : number;
    memcpy(value, &number, bytes);
    return true;
}

/* "0:0:16": 32-bit words, lowest first. */
static bool read_words(char *text, struct item *item)
{
    char *rest;
    for (char *word = strtok_r(text, ":", &rest); word; word = strtok_r(NULL, ":", &rest)) {
        if (item->bytes + 4 > sizeof item->value || !read_whole(word, 4, item->value + item->bytes))
            return false;
        item->bytes += 4;
    }
    return item->bytes > 0;
}

static bool read_value(const struct reader *r, unsigned index, char *text, struct item *item)
{
    const char *type = r->signature->parameter[index];
    unsigned bytes = r->signature->parameter_bytes[index];
    char shown[48];
    snprintf(shown, sizeof shown, "%.40s", text);
    item->given = true;
    if (r->signature->parameter_is_pointer[index])
        return read_pointer(r, index, text, item);
    if (!strcmp(type, "float") || !strcmp(type, "double"))
        return read_float(text, bytes, item) || complain(r, "parameter %u is a %s, not '%s'", index, type, shown);
    if (strchr(text, ':') || !bytes || bytes > 8) {
        bool good = read_words(text, item) && (!bytes || item->bytes == bytes);
        return good ||
               complain(r, "parameter %u of type %.40s takes words such as 0:0:16, not '%s'", index, type, shown);
    }
    item->bytes = bytes;
    return read_whole(text, bytes, item->value) ||
           complain(r, "parameter %u of type %.40s takes a number, not '%s'", index, type, shown);
}

/* ---- the list ---- */

/* "5=512" or "512": the parameter behind the last one. */
static bool read_item(struct reader *r, char *text, unsigned *index)
{
    char *equals = strchr(text, '='), *end;
    if (equals) {
        unsigned long named = strtoul(text, &end, 10);
        if (end != equals || !isdigit((unsigned char)*text) || named >= r->signature->parameter_count)
            return complain(r, "'%.40s' names no parameter: there are %u, from 0", text, r->signature->parameter_count);
        *index = (unsigned)named;
    } else if (*index >= r->signature->parameter_count)
        return complain(r, "'%.40s' is one too many: there are %u parameters", text, r->signature->parameter_count);
    char *value = equals ? equals + 1 : text;
    struct item *item = &r->items[*index];
    if (item->given)
        return complain(r, "parameter %u is given twice", *index);
    return !strcmp(value, "-") || read_value(r, (*index), value, item);
}

/* What the items are to a trace: pointers, and values of which as much is kept as was given. */
static bool pack(const struct reader *r, struct launch_params *params)
{
    unsigned pointers = 0;
    memset(params, 0, sizeof *params);
    params->parameters.plan = &params->plan;
    params->plan.count = r->signature->parameter_count;
    for (unsigned i = 0; i < params->plan.count; i++) {
        const struct item *item = &r->items[i];
        struct trace_parameter *p = &params->plan.parameter[i];
        p->bytes = r->signature->parameter_bytes[i];
        p->kind = TRACE_PARAMETER_VALUE;
        if (r->signature->parameter_is_pointer[i] && item->given && pointers < TRACE_POINTERS_MOST) {
            p->kind = TRACE_PARAMETER_POINTER;
            params->parameters.null_pointers |= (uint32_t)item->is_null << pointers++;
            continue;
        }
        unsigned rounded = (item->bytes + 3) & ~3u;
        if (params->parameters.value_bytes + rounded > TRACE_VALUE_BYTES_MOST)
            return complain(r, "the values are longer than the %d bytes that a trace keeps", TRACE_VALUE_BYTES_MOST);
        p->kept = (uint16_t)item->bytes;
        memcpy(params->parameters.values + params->parameters.value_bytes, item->value, item->bytes);
        params->parameters.value_bytes += rounded;
    }
    return true;
}

bool launch_params_read(const char *list, const struct kernel_signature *signature, struct launch_params *params,
                        char error[LAUNCH_PARAMS_ERROR_BYTES])
{
    struct reader reader = {.signature = signature, .error = error};
    unsigned index = 0;
    for (const char *at = list; *at; index++) {
        char text[ITEM_BYTES];
        size_t length = strcspn(at, ",");
        if (length >= sizeof text)
            return complain(&reader, "'%.40s...' is too long", at);
        memcpy(text, at, length);
        text[length] = '\0';
        if (!read_item(&reader, text, &index))
            return false;
        at += length + (at[length] == ',');
    }
    return pack(&reader, params);
}

bool launch_params_read_extent(const char *text, uint32_t extent[3])
{
    extent[0] = extent[1] = extent[2] = 1;
    for (int axis = 0; axis < 3; axis++) {
        char *end;
        errno = 0;
        unsigned long value = strtoul(text, &end, 10);
        if (errno || !isdigit((unsigned char)*text) || !value || value > UINT32_MAX)
            return false;
        extent[axis] = (uint32_t)value;
        if (!*end)
            return true;
        if (*end != ',')
            return false;
        text = end + 1;
    }
    return false;
}
