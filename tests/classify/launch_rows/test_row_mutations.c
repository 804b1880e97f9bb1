/* SPDX-License-Identifier: Apache-2.0 */
/* Each row of products and attention, made wrong in one place: two indexes of parameters or template arguments that changed
 * places, or one that is off by one. A wrong row that still reads every launch as expected would mean that the launches do
 * not test it; where the wrong row is refused by the checks of the right one, that is what they are for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "classify/launch_table.h"
#include "tests/classify/launch_rows/synthetic_launch.h"

static struct synthetic_launch *launches;
static size_t launch_count;

/* ---- indexes in a row ---- */

/* What tells which launches a row reads and what it lets through stays as it is. */
static bool is_left_alone(const char *key)
{
    static const char *const kept[] = {"kernel", "types",      "arguments", "where",   "checks", "kind",
                                       "serves", "provenance", "source",    "version", "example"};
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        if (!strcmp(kept[i], key))
            return true;
    return false;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Length of an index at TEXT, "a12", or 0; START: where the whole text begins. */
static size_t index_at(const char *text, const char *start, char letter, int *index)
{
    if (*text != letter || (text > start && (is_word(text[-1]) || text[-1] == '.')) || text[1] < '0' || text[1] > '9')
        return 0;
    char *end;
    *index = (int)strtol(text + 1, &end, 10);
    return is_word(*end) ? 0 : (size_t)(end - text);
}

struct mutation {
    char letter; /* 'a', 't' */
    int from, to;
    bool swaps; /* TO becomes FROM, too */
};

static json_t *mutated_text(const char *text, const struct mutation *mutation, bool *changed)
{
    char out[2048];
    size_t used = 0;
    for (const char *p = text; *p && used < sizeof out - 16;) {
        int index = -1;
        size_t length = index_at(p, text, mutation->letter, &index);
        int other = index == mutation->from                    ? mutation->to
                    : mutation->swaps && index == mutation->to ? mutation->from
                                                               : index;
        if (!length) {
            out[used++] = *p++;
            continue;
        }
        *changed |= other != index;
        used += (size_t)snprintf(out + used, sizeof out - used, "%c%d", mutation->letter, other);
        p += length;
    }
    out[used] = 0;
    return json_string(out);
}

static json_t *mutated_value(json_t *value, const struct mutation *mutation, bool *changed)
{
    if (json_is_string(value))
        return mutated_text(json_string_value(value), mutation, changed);
    if (!json_is_object(value))
        return json_incref(value);
    json_t *copy = json_object();
    const char *key;
    json_t *member;
    json_object_foreach(value, key, member) json_object_set_new(copy, key, mutated_value(member, mutation, changed));
    return copy;
}

/* NULL: the row has no such index. */
static json_t *mutated_row(const struct launch_row *row, const struct mutation *mutation)
{
    bool changed = false;
    json_t *copy = json_object();
    const char *key;
    json_t *member;
    json_object_foreach(row->object, key, member) json_object_set_new(
        copy, key, is_left_alone(key) ? json_incref(member) : mutated_value(member, mutation, &changed));
    if (changed)
        return copy;
    json_decref(copy);
    return NULL;
}

/* Indexes of LETTER that its roles have, as bits. */
static uint64_t indexes_of(json_t *value, char letter)
{
    uint64_t found = 0;
    const char *key;
    json_t *member;
    json_object_foreach(value, key, member)
    {
        if (is_left_alone(key))
            continue;
        if (json_is_object(member))
            found |= indexes_of(member, letter);
        const char *text = json_string_value(member);
        for (const char *p = text; p && *p; p++) {
            int index = -1;
            if (index_at(p, text, letter, &index) && index < 64)
                found |= UINT64_C(1) << index;
        }
    }
    return found;
}

/* ---- whether a launch tells ---- */

struct told {
    const size_t *launch;
    size_t count;
};

static bool is_noticed(json_t *object, const struct told *told)
{
    char error[LAUNCH_TABLE_ERROR_BYTES], text[256], *line = json_dumps(object, JSON_COMPACT);
    struct launch_table_file *file = launch_table_file_parse("mutation", line, strlen(line), true, error);
    bool noticed = !file;
    free(line);
    if (!file)
        return true;
    launch_table_set_user_file(file);
    for (size_t i = 0; i < told->count && !noticed; i++) {
        struct launch_decode decode;
        synthetic_launch_decode(&launches[told->launch[i]], NULL, &decode);
        noticed = synthetic_launch_differs(&launches[told->launch[i]], &decode, text);
    }
    launch_table_set_user_file(NULL);
    launch_table_file_free(file);
    return noticed;
}

static size_t try_mutation(const struct launch_row *row, const struct told *told, const struct mutation *mutation,
                           size_t *tried)
{
    json_t *object = mutated_row(row, mutation);
    if (!object)
        return 0;
    bool noticed = is_noticed(object, told);
    json_decref(object);
    ++*tried;
    if (!noticed)
        print_error("%s %s: %c%d for %c%d%s goes unnoticed\n", row->kernel, row->place, mutation->letter, mutation->to,
                    mutation->letter, mutation->from, mutation->swaps ? " and back" : "");
    return !noticed;
}

static size_t try_row(const struct launch_row *row, const struct told *told, size_t *tried)
{
    size_t unnoticed = 0;
    for (const char *letter = "at"; *letter; letter++) {
        uint64_t indexes = indexes_of(row->object, *letter);
        for (int from = 0; from < 64; from++) {
            if (!(indexes >> from & 1))
                continue;
            for (int to = from - 1; to <= from + 1; to += 2)
                if (to >= 0)
                    unnoticed += try_mutation(row, told, &(struct mutation){*letter, from, to, false}, tried);
            for (int to = from + 1; to < 64; to++)
                if (indexes >> to & 1)
                    unnoticed += try_mutation(row, told, &(struct mutation){*letter, from, to, true}, tried);
        }
    }
    return unnoticed;
}

static void test_wrong_rows_are_noticed(void **state)
{
    size_t count, tried = 0, unnoticed = 0, *read_by = calloc(launch_count, sizeof *read_by), total = 0;
    (void)state;
    assert_null(launch_table_built_in_error());
    launch_table_all(&total);
    for (size_t i = 0; i < total; i++) {
        const struct launch_row *row = launch_table_all(&count)[i];
        struct told told = {.launch = read_by};
        if (row->kind != LAUNCH_MATMUL && row->kind != LAUNCH_ATTENTION)
            continue;
        for (size_t j = 0; j < launch_count; j++) {
            struct launch_decode decode;
            synthetic_launch_decode(&launches[j], NULL, &decode);
            if (decode.row == row)
                read_by[told.count++] = j;
        }
        assert_true(told.count > 0);
        unnoticed += try_row(row, &told, &tried);
    }
    free(read_by);
    print_message("%zu wrong rows\n", tried);
    assert_true(tried > 800);
    assert_int_equal(unnoticed, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_wrong_rows_are_noticed)};
    if (argc != 2) {
        fprintf(stderr, "usage: test_row_mutations LAUNCHES.tsv\n");
        return 2;
    }
    launches = synthetic_launches_read(argv[1], &launch_count);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    synthetic_launches_free(launches, launch_count);
    return failed;
}
