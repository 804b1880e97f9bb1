/* SPDX-License-Identifier: Apache-2.0 */
/* What is cut of a tree, what is said of it, and that whatever lies in a tree it ends small. Trees are made as a report makes
 * them: long lists short at once, the rest by the walk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "report/json_cut.h"
#include "report/json_value.h"

enum { SMALL = 200000 };

static json_t *numbers(size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_integer((json_int_t)i));
    return list;
}

static json_t *texts(size_t count, const char *text)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_string(text));
    return list;
}

static char *repeated(const char *text, size_t times)
{
    char *all = malloc(strlen(text) * times + 1);
    all[0] = '\0';
    for (size_t i = 0; i < times; i++)
        strcpy(all + i * strlen(text), text);
    return all;
}

/* Cuts ROOT to ROWS; the key `cut`, all rows being there. */
static json_t *cut_to(json_t *root, size_t rows)
{
    struct json_cut *cut = json_cut_open(rows);
    json_cut_apply(cut, root);
    json_t *object = json_cut_object(cut, json_null(), json_null(), json_null());
    json_cut_free(cut);
    return object;
}

static void require_list(const json_t *cut, const char *path, json_int_t shown, json_int_t of)
{
    const json_t *note = json_object_get(json_object_get(cut, "lists"), path);
    if (!note)
        fail_msg("nothing is said of %s", path);
    assert_int_equal(json_integer_value(json_object_get(note, "shown")), shown);
    assert_int_equal(json_integer_value(json_object_get(note, "of")), of);
}

static json_int_t number(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static void test_lists(void **state)
{
    (void)state;
    json_t *root = json_pack("{s:o, s:o, s:o, s:[{s:o}, {s:o}, {s:o}], s:o}", "long", numbers(100), "fits", numbers(32),
                             "few", numbers(8), "processes", "notes", numbers(40), "notes", numbers(50), "notes",
                             numbers(3), "operators", numbers(70));
    json_t *cut = cut_to(root, 5);
    assert_int_equal(json_array_size(json_object_get(root, "long")), 32);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(root, "long"), 31)), 31);
    require_list(cut, "long", 32, 100);
    require_list(cut, "processes[].notes", 64, 90);
    assert_int_equal(json_object_size(json_object_get(cut, "lists")), 2);
    assert_int_equal(json_array_size(json_object_get(root, "operators")), 70); /* rows are the report's own matter */
    assert_int_equal(number(cut, "rows"), 5);
    assert_int_equal(number(cut, "texts"), 0);
    assert_true(json_is_null(json_object_get(cut, "operators")));
    json_decref(cut);
    json_decref(root);

    root = json_pack("{s:o}", "long", numbers(100));
    cut = cut_to(root, 99);
    require_list(cut, "long", 99, 100);
    json_decref(cut);
    json_decref(root);
}

static void test_nothing_to_cut(void **state)
{
    (void)state;
    char *long_text = repeated("x", 5000);
    json_t *root = json_pack("{s:o, s:s}", "list", numbers(32), "text", "short");
    assert_true(json_is_null(cut_to(root, 1)));
    json_decref(root);
    root = json_pack("{s:o, s:s}", "list", numbers(5000), "text", long_text);
    json_t *before = json_deep_copy(root);
    assert_true(json_is_null(cut_to(root, SIZE_MAX)));
    assert_true(json_equal(root, before));
    json_decref(before);
    json_decref(root);
    free(long_text);
}

/* A list that was made short knows how long it would be, and so it stays when it is cut again. */
static void test_made_short(void **state)
{
    (void)state;
    char *text = repeated("long ", 200);
    for (int large = 0; large < 2; large++) {
        struct json_cut *cut = json_cut_open(1);
        json_t *root = json_object(), *list = json_array();
        const size_t items = json_cut_items(cut, list, 123456);
        assert_int_equal(items, 32);
        for (size_t i = 0; i < items; i++)
            json_array_append_new(list, json_string("item"));
        json_value_set(root, "list", list);
        if (large) /* 32 lists of 32 texts of 1000 bytes: too much, so all lists become shorter */
            for (int i = 0; i < 32; i++) {
                char key[32];
                snprintf(key, sizeof key, "other %d", i);
                json_value_set(root, key, texts(32, text));
            }
        json_cut_apply(cut, root);
        json_t *object = json_cut_object(cut, json_null(), json_null(), json_null());
        require_list(object, "list", large ? 16 : 32, 123456);
        json_decref(object);
        json_decref(root);
        json_cut_free(cut);
    }
    free(text);
}

static json_t *cut_text(const char *text, json_t **cut)
{
    json_t *root = json_pack("{s:s}", "text", text);
    *cut = cut_to(root, 1);
    json_t *value = json_incref(json_object_get(root, "text"));
    json_decref(root);
    return value;
}

/* Every place at which a character of 1 to 4 bytes may lie across the end: whole characters, at most 1024 bytes, then "…". */
static void test_texts(void **state)
{
    static const char *const characters[] = {"x", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9d\x84\x9e"};
    (void)state;
    for (size_t c = 0; c < sizeof characters / sizeof characters[0]; c++)
        for (size_t before = 0; before < 4; before++) {
            const size_t bytes = strlen(characters[c]), fit = (1024 - before) / bytes;
            char *run = repeated(characters[c], 600), *text = malloc(strlen(run) + 8);
            json_t *cut;
            sprintf(text, "%.*s%s", (int)before, "aaa", run);
            json_t *value = cut_text(text, &cut);
            if (strlen(text) > 1024) {
                assert_int_equal(json_string_length(value), before + fit * bytes + 3);
                assert_memory_equal(json_string_value(value), text, before + fit * bytes);
                assert_string_equal(json_string_value(value) + before + fit * bytes, "\xe2\x80\xa6");
                assert_int_equal(number(cut, "texts"), 1);
                assert_int_equal(number(cut, "text_bytes"), 1024);
                json_decref(cut);
            } else {
                assert_string_equal(json_string_value(value), text);
                assert_true(json_is_null(cut));
            }
            json_decref(value);
            free(text);
            free(run);
        }
}

/* Lists in lists of texts, as deep as reports go, each as long as may be, of what takes most room when it is escaped. */
static json_t *tree_of(int depth, const char *text)
{
    json_t *object = json_pack("{s:s, s:s, s:i}", "name", text, "command", text, "count", 7);
    if (!depth)
        return object;
    json_t *list = json_array(), *other = json_array();
    for (int i = 0; i < (depth == 1 ? 40 : 33); i++) {
        json_array_append_new(list, tree_of(depth - 1, text));
        json_array_append_new(other, json_string(text));
    }
    json_value_set(object, "children", list);
    json_value_set(object, "others", other);
    return object;
}

static size_t printed(const json_t *root)
{
    char *text = json_dumps(root, JSON_INDENT(2));
    size_t bytes = strlen(text);
    for (const char *c = text; *c; c++)
        bytes += strchr("<>&", *c) ? 5 : 0; /* in a page */
    free(text);
    return bytes;
}

static json_int_t shortened_in(const json_t *value)
{
    const char *key;
    json_t *item;
    size_t i, length = json_is_string(value) ? json_string_length(value) : 0;
    json_int_t sum = length >= 3 && !strcmp(json_string_value(value) + length - 3, "\xe2\x80\xa6");
    json_object_foreach((json_t *)value, key, item) sum += shortened_in(item);
    json_array_foreach(value, i, item) sum += shortened_in(item);
    return sum;
}

static void test_always_small(void **state)
{
    static const char *const kinds[] = {"<", "x", "\x01", "\xf0\x9d\x84\x9e", "\xe2\x80\xa8"};
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        for (int depth = 1; depth < 4; depth++) {
            char *text = repeated(kinds[k], depth < 3 ? 700 : 40);
            json_t *root = json_object();
            json_value_set(root, "processes", json_pack("[o]", tree_of(depth, text)));
            json_t *cut = cut_to(root, 1);
            if (printed(root) > SMALL)
                fail_msg("%zu bytes are left of depth %d", printed(root), depth);
            assert_int_equal(number(cut, "texts"), shortened_in(root));
            json_decref(cut);
            json_decref(root);
            free(text);
        }
}

/* No more than needed: what fits is as it was. */
static void test_more_rows_more_room(void **state)
{
    (void)state;
    char *text = repeated("x", 900);
    json_t *root = json_pack("{s:[o]}", "processes", tree_of(2, text)); /* about 33 * 40 * 2 * 900 bytes */
    json_t *cut = cut_to(root, 2000);
    assert_true(json_is_null(cut));
    json_decref(root);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists), cmocka_unit_test(test_nothing_to_cut), cmocka_unit_test(test_made_short),
        cmocka_unit_test(test_texts), cmocka_unit_test(test_always_small),   cmocka_unit_test(test_more_rows_more_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
