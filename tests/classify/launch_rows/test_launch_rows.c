/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in rows against launches whose meaning is known from the operator that the engine launched: five generations of
 * llama.cpp's kernels. Values that stand one place off, or two that changed places, are refused, or change nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "classify/kernel_families.h"
#include "classify/launch_table.h"
#include "tests/classify/launch_rows/synthetic_launch.h"

static struct synthetic_launch *launches;
static size_t launch_count;
static const char *names_path;

static void test_launches_are_read(void **state)
{
    size_t wrong = 0;
    (void)state;
    assert_null(launch_table_built_in_error());
    assert_true(launch_count > 800);
    for (size_t i = 0; i < launch_count; i++) {
        struct launch_decode decode;
        char text[256];
        synthetic_launch_decode(&launches[i], NULL, &decode);
        if (synthetic_launch_differs(&launches[i], &decode, text) && ++wrong <= 20)
            print_error("%s: %s\n    %s\n", launches[i].label, text, launches[i].name);
    }
    assert_int_equal(wrong, 0);
}

static bool has_shape(const struct launch_decode *decode)
{
    return decode->kind == LAUNCH_MATMUL || decode->kind == LAUNCH_ATTENTION;
}

/* As if a parameter had come in before FIRST, and the list of types were none the wiser. */
static bool shift(struct synthetic_launch *launch, size_t first)
{
    size_t last = first;
    const struct synthetic_parameter *parameter = launch->parameter;
    while (last + 1 < launch->count && !parameter[last + 1].pointer &&
           parameter[last + 1].bytes == parameter[first].bytes)
        last++;
    if (parameter[first].pointer || last == first)
        return false;
    memmove(&launch->parameter[first + 1], &launch->parameter[first], (last - first) * sizeof *parameter);
    launch->parameter[first].value[0] = 7;
    launch->parameter[first].value[1] = 7;
    return true;
}

static void test_shifted_values_are_refused(void **state)
{
    size_t shifted = 0, read = 0;
    (void)state;
    for (size_t i = 0; i < launch_count; i++) {
        struct launch_decode decode, other;
        synthetic_launch_decode(&launches[i], NULL, &decode);
        if (!has_shape(&decode))
            continue;
        for (size_t first = 0; first < launches[i].count; first++) {
            struct synthetic_launch copy = launches[i];
            if (first && !copy.parameter[first - 1].pointer &&
                copy.parameter[first - 1].bytes == copy.parameter[first].bytes)
                continue; /* within a run of one size */
            if (!shift(&copy, first))
                continue;
            shifted++;
            synthetic_launch_decode(&copy, NULL, &other);
            if (other.reading == LAUNCH_READ && !synthetic_decodes_equal(&decode, &other) && ++read <= 10)
                print_error("%s, from parameter %zu on: read, m %lld n %lld k %lld\n", copy.label, first,
                            (long long)other.m, (long long)other.n, (long long)other.k);
        }
    }
    print_message("%zu lists shifted\n", shifted);
    assert_true(shifted > 700);
    assert_int_equal(read, 0);
}

static void swap(struct synthetic_launch *launch, size_t a, size_t b)
{
    struct synthetic_parameter kept = launch->parameter[a];
    launch->parameter[a] = launch->parameter[b];
    launch->parameter[b] = kept;
}

/* Where no mask says it, too, nothing but its own parameter tells how many keys there are. */
static bool but_for_keys(const struct synthetic_launch *launch, const struct launch_decode *decode,
                         struct launch_decode other)
{
    other.keys = decode->keys;
    return strstr(launch->label, "keys by one parameter alone") && synthetic_decodes_equal(decode, &other);
}

static void test_swapped_values_are_refused_or_mean_the_same(void **state)
{
    size_t swapped = 0, read = 0;
    (void)state;
    for (size_t i = 0; i < launch_count; i++) {
        struct launch_decode decode, other;
        synthetic_launch_decode(&launches[i], NULL, &decode);
        for (size_t a = 0; has_shape(&decode) && a < launches[i].count; a++)
            for (size_t b = a + 1; b < launches[i].count; b++) {
                struct synthetic_launch copy = launches[i];
                if (copy.parameter[a].pointer != copy.parameter[b].pointer ||
                    copy.parameter[a].bytes != copy.parameter[b].bytes ||
                    !memcmp(&copy.parameter[a], &copy.parameter[b], sizeof copy.parameter[a]))
                    continue;
                swap(&copy, a, b);
                swapped++;
                synthetic_launch_decode(&copy, NULL, &other);
                if (other.reading == LAUNCH_READ && !synthetic_decodes_equal(&decode, &other) &&
                    !but_for_keys(&copy, &decode, other) && ++read <= 20)
                    print_error("%s, parameters %zu and %zu: read, m %lld n %lld k %lld batch %lld queries %lld keys "
                                "%lld most %g\n",
                                copy.label, a, b, (long long)other.m, (long long)other.n, (long long)other.k,
                                (long long)other.batch, (long long)other.queries, (long long)other.keys,
                                other.matrices_most);
            }
    }
    print_message("%zu pairs swapped\n", swapped);
    assert_true(swapped > 30000);
    assert_int_equal(read, 0);
}

/* One more parameter in the name: a list that no row has. */
static void test_unknown_lists_are_left_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < launch_count; i++) {
        struct launch_decode decode;
        char name[1024];
        snprintf(name, sizeof name, "%sPvS_", launches[i].name);
        synthetic_launch_decode(&launches[i], name, &decode);
        if (decode.reading != LAUNCH_OTHER_REVISION || decode.row || !strstr(decode.problem, decode.kernel) ||
            !strstr(decode.problem, "revision"))
            fail_msg("%s: %s, '%s'", name, launch_reading_name(decode.reading), decode.problem);
        assert_true(decode.provenance == TRACE_NONE && decode.kernel[0]);
    }
}

static void test_launches_without_parameters(void **state)
{
    (void)state;
    for (size_t i = 0; i < launch_count; i++) {
        struct launch_decode with, decode;
        synthetic_launch_decode(&launches[i], NULL, &with);
        launch_decode(launches[i].name, launches[i].grid, launches[i].block, NULL, &decode);
        if (has_shape(&with) && decode.reading != LAUNCH_NO_VALUES)
            fail_msg("%s: %s", launches[i].label, launch_reading_name(decode.reading));
    }
}

/* Every row of products and attention is asked by some launch. */
static void test_every_row_reads_a_launch(void **state)
{
    size_t count, unread = 0;
    const struct launch_row *const *rows = launch_table_all(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        bool read = rows[i]->kind != LAUNCH_MATMUL && rows[i]->kind != LAUNCH_ATTENTION;
        for (size_t j = 0; j < launch_count && !read; j++) {
            struct launch_decode decode;
            synthetic_launch_decode(&launches[j], NULL, &decode);
            read = decode.row == rows[i];
        }
        if (!read && ++unread)
            print_error("no launch is read by %s (%s)\n", launch_row_place(rows[i]), rows[i]->kernel);
    }
    assert_int_equal(unread, 0);
}

/* Of a release's kernels each is named, and of those that the table knows it knows the list. */
static void test_names_of_a_release(void **state)
{
    FILE *file = fopen(names_path, "r");
    char *line = NULL;
    size_t room = 0, listed = 0, unknown = 0;
    (void)state;
    assert_non_null(file);
    while (getline(&line, &room, file) > 0) {
        struct launch_decode decode;
        line[strcspn(line, "\n")] = 0;
        if (*line == '#')
            continue;
        launch_decode(line, (const uint32_t[3]){1, 1, 1}, (const uint32_t[3]){32, 1, 1}, NULL, &decode);
        listed += decode.reading != LAUNCH_NOT_IN_TABLE;
        const bool nameless =
            !kernel_family_find(line) && strcmp(decode.kernel, "EmptyKernel"); /* which computes nothing */
        if ((nameless || decode.reading == LAUNCH_OTHER_REVISION) && ++unknown <= 10)
            print_error("%s: %s\n", nameless ? "no family" : decode.problem, line);
    }
    free(line);
    fclose(file);
    assert_true(listed > 200);
    assert_int_equal(unknown, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_launches_are_read),
        cmocka_unit_test(test_shifted_values_are_refused),
        cmocka_unit_test(test_swapped_values_are_refused_or_mean_the_same),
        cmocka_unit_test(test_unknown_lists_are_left_alone),
        cmocka_unit_test(test_launches_without_parameters),
        cmocka_unit_test(test_every_row_reads_a_launch),
        cmocka_unit_test(test_names_of_a_release),
    };
    if (argc != 3) {
        fprintf(stderr, "usage: test_launch_rows LAUNCHES.tsv KERNEL_NAMES.txt\n");
        return 2;
    }
    launches = synthetic_launches_read(argv[1], &launch_count);
    names_path = argv[2];
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    synthetic_launches_free(launches, launch_count);
    return failed;
}
