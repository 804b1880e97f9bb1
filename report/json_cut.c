/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the tree until it is small enough, each time with smaller limits. How long a list was is kept beside it, by its
 * address: it may have been made short already. */
#include "report/json_cut.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/index_map.h"
#include "report/json_value.h"

/* Bytes of the whole, as printed, and with what a page must escape: of one row, and what each further row adds. */
enum { BYTES_MOST = 180000, BYTES_OF_ROW = 4000 };

enum { LIST_LEAST = 32, PATH_BYTES = 256 };

/* Texts give way before lists: the second half of a long name tells less than a further device. Each is shorter than the one
 * before, so that what was cut is cut, and counted, again. */
static const struct limits {
    size_t items, text_bytes;
} limits[] = {{SIZE_MAX, 1024}, {16, 512}, {16, 256}, {8, 192}, {8, 128}, {4, 96}, {4, 64}, {2, 48}, {1, 32}};

/* Ranges, arguments of a call, …: their places have meanings. */
enum { NUMBERS_MOST = 8 };

struct json_cut {
    size_t rows, texts;
    struct limits now;
    struct index_map by_list;
    size_t *lengths; /* of lists before they were cut */
    size_t count, capacity;
    json_t *lists;
};

struct json_cut *json_cut_open(size_t rows)
{
    struct json_cut *cut = allocate(1, sizeof *cut);
    cut->rows = rows;
    cut->now = (struct limits){rows > LIST_LEAST ? rows : LIST_LEAST, limits[0].text_bytes};
    cut->lists = json_object();
    return cut;
}

void json_cut_free(struct json_cut *cut)
{
    json_decref(cut->lists);
    index_map_free(&cut->by_list);
    free(cut->lengths);
    free(cut);
}

size_t json_cut_rows(const struct json_cut *cut)
{
    return cut->rows;
}

/* ---- lists ---- */

static void keep_length(struct json_cut *cut, const json_t *list, size_t length)
{
    uint32_t *index = index_map_at(&cut->by_list, (uint64_t)(uintptr_t)list, 0);
    if (*index != INDEX_MAP_NONE)
        return;
    *index = (uint32_t)cut->count;
    cut->lengths = allocate_grow(cut->lengths, cut->count, &cut->capacity, sizeof *cut->lengths);
    cut->lengths[cut->count++] = length;
}

static size_t length_of(const struct json_cut *cut, const json_t *list)
{
    const uint32_t index = index_map_find(&cut->by_list, (uint64_t)(uintptr_t)list, 0);
    return index == INDEX_MAP_NONE ? json_array_size(list) : cut->lengths[index];
}

size_t json_cut_items(struct json_cut *cut, const json_t *list, size_t count)
{
    if (cut->rows == SIZE_MAX || count <= cut->now.items)
        return count;
    keep_length(cut, list, count);
    return cut->now.items;
}

json_t *json_cut_indexes(struct json_cut *cut, const size_t *index, size_t count)
{
    json_t *list = json_array();
    const size_t items = json_cut_items(cut, list, count);
    for (size_t i = 0; i < items; i++)
        json_array_append_new(list, json_value_count(index[i]));
    return list;
}

/* Those that have as many rows as were asked for, and one that is never longer than the table of paths. */
static bool is_whole(const char *path)
{
    static const char *const whole[] = {"operators", "weights", "kernels", "devices[].roofs"};
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        if (!strcmp(path, whole[i]))
            return true;
    return false;
}

static bool is_of_few_numbers(const json_t *list)
{
    const size_t count = json_array_size(list);
    for (size_t i = 0; i < count && i <= NUMBERS_MOST; i++)
        if (!json_is_number(json_array_get(list, i)) && !json_is_null(json_array_get(list, i)))
            return false;
    return count <= NUMBERS_MOST;
}

static void add_to(json_t *object, const char *key, size_t more)
{
    const json_int_t before = json_integer_value(json_object_get(object, key));
    json_value_set(object, key, json_integer(before + (json_int_t)more));
}

static void cut_list(struct json_cut *cut, json_t *list, const char *path)
{
    const size_t length = length_of(cut, list);
    if (json_array_size(list) > cut->now.items && !is_of_few_numbers(list)) {
        keep_length(cut, list, length);
        while (json_array_size(list) > cut->now.items)
            json_array_remove(list, json_array_size(list) - 1);
    }
    if (json_array_size(list) == length)
        return;
    if (!json_object_get(cut->lists, path))
        json_value_set(cut->lists, path, json_object());
    json_t *note = json_object_get(cut->lists, path);
    add_to(note, "shown", json_array_size(list));
    add_to(note, "of", length);
}

/* ---- texts ---- */

static void cut_text(struct json_cut *cut, json_t *text)
{
    static const char end[] = "\xe2\x80\xa6"; /* … */
    const char *bytes = json_string_value(text);
    size_t length = cut->now.text_bytes;
    if (json_string_length(text) <= length)
        return;
    while (((unsigned char)bytes[length] & 0xc0) == 0x80) /* not within a character */
        length--;
    char *shorter = allocate(length + sizeof end, 1);
    memcpy(shorter, bytes, length);
    memcpy(shorter + length, end, sizeof end);
    json_string_set(text, shorter);
    free(shorter);
    cut->texts++;
}

/* ---- the tree ---- */

static void walk(struct json_cut *cut, json_t *value, const char *path)
{
    char below[PATH_BYTES];
    const char *key;
    json_t *item;
    size_t i;
    if (json_is_string(value)) {
        cut_text(cut, value);
    } else if (json_is_object(value)) {
        json_object_foreach(value, key, item)
        {
            snprintf(below, sizeof below, "%s%s%s", path, *path ? "." : "", key);
            walk(cut, item, below);
        }
    } else if (json_is_array(value)) {
        if (!is_whole(path))
            cut_list(cut, value, path);
        snprintf(below, sizeof below, "%s[]", path);
        json_array_foreach(value, i, item) walk(cut, item, below);
    }
}

/* As a page has it: <, > and & are six bytes there, and so are U+2028 and U+2029. */
static int count_bytes(const char *text, size_t bytes, void *sum)
{
    size_t *all = sum;
    *all += bytes;
    for (size_t i = 0; i < bytes; i++)
        *all += text[i] == '<' || text[i] == '>' || text[i] == '&' ? 5 : (unsigned char)text[i] == 0xe2 ? 3 : 0;
    return 0;
}

static bool is_small_enough(const struct json_cut *cut, const json_t *root)
{
    size_t bytes = 0;
    const size_t most =
        cut->rows > (SIZE_MAX - BYTES_MOST) / BYTES_OF_ROW ? SIZE_MAX : BYTES_MOST + cut->rows * BYTES_OF_ROW;
    json_dump_callback(root, count_bytes, &bytes, JSON_INDENT(2));
    return bytes <= most;
}

void json_cut_apply(struct json_cut *cut, json_t *root)
{
    if (cut->rows == SIZE_MAX)
        return;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        if (limits[i].items < cut->now.items)
            cut->now.items = limits[i].items;
        cut->now.text_bytes = limits[i].text_bytes;
        cut->texts = 0;
        json_object_clear(cut->lists);
        walk(cut, root, "");
        if (is_small_enough(cut, root))
            return;
    }
}

json_t *json_cut_object(const struct json_cut *cut, json_t *operators, json_t *weights, json_t *kernels)
{
    const bool all = json_is_null(operators) && json_is_null(weights) && json_is_null(kernels);
    if (all && !cut->texts && !json_object_size(cut->lists))
        return json_null();
    json_t *object = json_object();
    json_value_set(object, "rows", json_value_count(cut->rows));
    json_value_set(object, "text_bytes", json_value_count(cut->now.text_bytes));
    json_value_set(object, "texts", json_value_count(cut->texts));
    json_value_set(object, "lists", json_incref(cut->lists));
    json_value_set(object, "operators", operators);
    json_value_set(object, "weights", weights);
    json_value_set(object, "kernels", kernels);
    return object;
}
