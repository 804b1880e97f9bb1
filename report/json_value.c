/* SPDX-License-Identifier: Apache-2.0 */
/* json_real() and json_string() are never asked for what they can't hold: NAN and broken UTF-8 stop here. */
#include "report/json_value.h"

#include <math.h>
#include <stdlib.h>

#include "report/safe_text.h"

json_t *json_value_text(const char *text)
{
    if (!text)
        return json_null();
    char *safe = safe_text_utf8(text);
    json_t *value = json_string(safe);
    free(safe);
    return value;
}

json_t *json_value_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_value_number(double value)
{
    const bool whole = value > -0x1p62 && value < 0x1p62 && value == floor(value);
    return whole ? json_integer((json_int_t)value) : json_value_real(value);
}

json_t *json_value_count(uint64_t value)
{
    return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

json_t *json_value_count_if(bool known, uint64_t value)
{
    return known ? json_value_count(value) : json_null();
}

json_t *json_value_size(int64_t value)
{
    return value < 0 ? json_null() : json_integer(value);
}

json_t *json_value_at(uint64_t realtime_ns, uint64_t since_ns)
{
    if (!realtime_ns || !since_ns)
        return json_null();
    const bool before = realtime_ns < since_ns;
    json_t *value = json_value_count(before ? since_ns - realtime_ns : realtime_ns - since_ns);
    if (before)
        json_integer_set(value, -json_integer_value(value));
    return value;
}

void json_value_set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}
