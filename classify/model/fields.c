/* SPDX-License-Identifier: Apache-2.0 */
/* The text model's own object comes before the one around it (multimodal configs nest it). Of several faults the first is
 * the cause, so it alone is kept. */
#include "classify/model/fields.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void model_fields_fail(struct model_fields *fields, const char *format, ...)
{
    if (fields->failed)
        return;
    fields->failed = true;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fields->error->text, sizeof fields->error->text, format, arguments);
    va_end(arguments);
}

static const json_t *find_any(const struct model_fields *fields, const char *name)
{
    const json_t *value = json_object_get(fields->object, name);
    return value || !fields->outer ? value : json_object_get(fields->outer, name);
}

const json_t *model_fields_find(const struct model_fields *fields, const char *name)
{
    const json_t *value = find_any(fields, name);
    return json_is_null(value) ? NULL : value;
}

bool model_fields_is_null(const struct model_fields *fields, const char *name)
{
    return json_is_null(find_any(fields, name));
}

static void note_default(struct model_fields *fields, const char *name, const char *value)
{
    size_t used = strlen(fields->defaulted);
    snprintf(fields->defaulted + used, MODEL_DEFAULTED_BYTES - used, "%s%s = %s", used ? ", " : "", name, value);
}

static const char *kind_of(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_REAL:
        return "a number with a fraction";
    case JSON_TRUE:
    case JSON_FALSE:
        return "a truth value";
    case JSON_INTEGER:
        return "a whole number";
    default:
        return "null";
    }
}

static int64_t checked(struct model_fields *fields, const char *name, const json_t *value, int64_t minimum,
                       int64_t most)
{
    if (!json_is_integer(value)) {
        model_fields_fail(fields, "field '%s' is %s; expected a whole number from %" PRId64 " to %" PRId64, name,
                          kind_of(value), minimum, most);
        return minimum;
    }
    int64_t size = json_integer_value(value);
    if (size < minimum || size > most) {
        model_fields_fail(fields, "field '%s' is %" PRId64 "; expected a whole number from %" PRId64 " to %" PRId64,
                          name, size, minimum, most);
        return minimum;
    }
    return size;
}

static int64_t default_value(struct model_fields *fields, const struct family_default *row, int64_t heads,
                             int64_t hidden)
{
    if (row->value == FAMILY_DEFAULT_QUERY_HEADS)
        return heads;
    if (row->value != FAMILY_DEFAULT_HIDDEN_BY_HEADS)
        return row->value;
    if (heads <= 0 || hidden % heads) {
        model_fields_fail(
            fields, "field '%s' is missing, and hidden_size %" PRId64 " is no multiple of num_attention_heads %" PRId64,
            row->field, hidden, heads);
        return 1;
    }
    return hidden / heads;
}

int64_t model_fields_size(struct model_fields *fields, const char *name, int64_t minimum, int64_t most, int64_t heads,
                          int64_t hidden)
{
    const json_t *value = model_fields_find(fields, name);
    if (value)
        return checked(fields, name, value, minimum, most);
    const struct family_default *row = model_family_default(fields->family, name);
    if (!row) {
        model_fields_fail(fields, "field '%s' is missing; a %s model needs it", name, fields->family->model_type);
        return minimum;
    }
    int64_t size = default_value(fields, row, heads, hidden);
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, size);
    note_default(fields, name, text);
    if (!fields->failed && (size < minimum || size > most))
        model_fields_fail(fields,
                          "field '%s' is missing, and would be %" PRId64 "; expected a whole number from %" PRId64
                          " to %" PRId64,
                          name, size, minimum, most);
    return size;
}

int64_t model_fields_size_or(struct model_fields *fields, const char *name, int64_t minimum, int64_t most,
                             int64_t absent)
{
    const json_t *value = model_fields_find(fields, name);
    return value ? checked(fields, name, value, minimum, most) : absent;
}

bool model_fields_bool(struct model_fields *fields, const char *name, bool absent)
{
    const json_t *value = model_fields_find(fields, name);
    if (!value) {
        note_default(fields, name, absent ? "true" : "false");
        return absent;
    }
    if (!json_is_boolean(value)) {
        model_fields_fail(fields, "field '%s' is %s; expected true or false", name, kind_of(value));
        return absent;
    }
    return json_is_true(value);
}
