/* SPDX-License-Identifier: Apache-2.0 */
/* Is everything that EXPECTED says true of ACTUAL? Objects may hold more keys than expected; arrays must be as long;
 * numbers may differ by one part in a million. Also refuses what JSON does not have: NaN, infinities, broken UTF-8.
 *
 *   json_contains EXPECTED ACTUAL */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int differences;

static void differ(const char *path, const json_t *expected, const json_t *actual)
{
    char *e = json_dumps(expected, JSON_ENCODE_ANY | JSON_COMPACT),
         *a = actual ? json_dumps(actual, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    fprintf(stderr, "%s: expected %s, got %s\n", *path ? path : "(root)", e, a ? a : "nothing");
    differences++;
}

static void compare(const char *path, const json_t *expected, const json_t *actual)
{
    char inner[1024];
    if (json_is_number(expected) && json_is_number(actual)) {
        double e = json_number_value(expected), a = json_number_value(actual);
        if (fabs(e - a) > 1e-6 * fabs(e))
            differ(path, expected, actual);
    } else if (json_is_object(expected) && json_is_object(actual)) {
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)expected, key, value)
        {
            snprintf(inner, sizeof inner, "%s.%s", path, key);
            const json_t *other = json_object_get(actual, key);
            if (other)
                compare(inner, value, other);
            else
                differ(inner, value, NULL);
        }
    } else if (json_is_array(expected) && json_is_array(actual) &&
               json_array_size(expected) == json_array_size(actual)) {
        for (size_t i = 0; i < json_array_size(expected); i++) {
            snprintf(inner, sizeof inner, "%s[%zu]", path, i);
            compare(inner, json_array_get(expected, i), json_array_get(actual, i));
        }
    } else if (!json_equal(expected, actual)) {
        differ(path, expected, actual);
    }
}

static json_t *load(const char *path)
{
    json_error_t error;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        fprintf(stderr, "%s:%d: %s\n", path, error.line, error.text);
    return root;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: json_contains EXPECTED ACTUAL\n");
        return 2;
    }
    json_t *expected = load(argv[1]), *actual = load(argv[2]);
    if (!expected || !actual)
        return 2;
    compare("", expected, actual);
    json_decref(expected);
    json_decref(actual);
    return differences ? 1 : 0;
}
