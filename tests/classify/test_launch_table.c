/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in rows, each of them; and what a table file of a user's is refused for, with its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "classify/launch_table.h"

/* ---- the built-in table ---- */

static void test_built_in(void **state)
{
    size_t count, found;
    (void)state;
    if (launch_table_built_in_error())
        fail_msg("%s", launch_table_built_in_error());
    const struct launch_row *const *rows = launch_table_all(&count);
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        const struct launch_row *row = rows[i];
        assert_true(row->source && row->version && !row->users);
        assert_true(i == 0 || strcmp(rows[i - 1]->kernel, row->kernel) <= 0);
        const struct launch_row *const *same = launch_table_rows(row->kernel, &found);
        size_t at = 0;
        while (at < found && same[at] != row)
            at++;
        assert_true(at < found);
        if (strncmp(row->place, "launch_rows/", 12) || !strchr(row->place, ':'))
            fail_msg("place %s", row->place);
    }
    assert_null(launch_table_rows("mul_mat_vec_", &found));
    assert_null(launch_table_rows("", &found));
}

static bool same_list(const struct launch_row *a, const struct launch_row *b)
{
    if (strcmp(a->kernel, b->kernel) || a->type_count != b->type_count || a->has_tail != b->has_tail ||
        a->arguments != b->arguments)
        return false;
    for (size_t i = 0; i < a->type_count + a->has_tail; i++)
        if (strcmp(a->types[i], b->types[i]))
            return false;
    return true;
}

/* A row behind one of the same list without a condition would never be asked. */
static void test_built_in_reached(void **state)
{
    size_t count;
    (void)state;
    const struct launch_row *const *rows = launch_table_all(&count);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (same_list(rows[i], rows[j]) && !rows[j]->where)
                fail_msg("%s is never asked, since %s comes first", rows[i]->place, rows[j]->place);
}

/* ---- table files ---- */

#define ROW(more)  "{\"kernel\": \"k\", \"types\": [\"int\", \"float*\"], \"kind\": \"other\"" more "}"
#define GEMM(more) "{\"kernel\": \"k\", \"types\": [\"int\", \"float*\"], \"kind\": \"matmul\"" more "}"
#define SIZES      ", \"m\": 1, \"n\": \"grid.x\", \"k\": \"a0\""

static struct launch_table_file *parse(const char *text, char error[LAUNCH_TABLE_ERROR_BYTES])
{
    return launch_table_file_parse("rows.jsonl", text, strlen(text), true, error);
}

static void test_user_rows(void **state)
{
    static const char *const texts[] = {
        "",
        "\n\n# nothing\n",
        ROW(""),
        ROW(", \"checks\": [\"a0 > 0\", \"!null(a1)\"], \"where\": \"t0 == 1\"") "\n" ROW("") "\r\n",
        GEMM(SIZES),
        GEMM(SIZES
             ", \"let\": {\"two\": 2, \"four\": \"two * two\"}, \"batch\": \"four\", \"checks\": [\"batch == m * 4\"]"),
        GEMM(SIZES ", \"weight\": 1, \"weight_format\": \"q4_K\", \"path\": \"is(t0, 'float') ? 'fp32' : 'int8'\""),
        GEMM(SIZES ", \"experts\": true, \"matrices_least\": 1, \"matrices_most\": 2, \"provenance\": \"at_most\""),
        "{\"kernel\": \"k\", \"types\": [], \"kind\": \"helper\", \"serves\": \"next\"}",
        "{\"kernel\": \"k\", \"types\": [\"float*...\"], \"arguments\": 0, \"kind\": \"other\", \"example\": "
        "\"_Z1kPfPf\"}",
        "{\"kernel\": \"k\", \"types\": [\"unsigned long long\", \"half_t\"], \"kind\": \"other\", \"example\": "
        "\"_Z1ky6half_t\"}",
        "{\"kernel\": \"k\", \"types\": [\"{t0}*\"], \"kind\": \"other\", \"example\": \"_Z1kIfEvPT_\"}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char error[LAUNCH_TABLE_ERROR_BYTES] = "";
        struct launch_table_file *file = parse(texts[i], error);
        if (!file)
            fail_msg("%s: %s", texts[i], error);
        launch_table_file_free(file);
    }
}

static void test_user_errors(void **state)
{
    static const struct {
        const char *text;
        int line;
        const char *error;
    } cases[] = {
        {"{", 1, ""},
        {"\n[]", 2, "a row must be an object"},
        {"# all well\n\n" ROW("") "\n12", 4, "expected near '12'"},
        {ROW("") " " ROW(""), 1, "end of file expected"},
        {ROW(", \"kernel\": \"twice\""), 1, "duplicate"},
        {ROW(", \"sources\": \"x\""), 1, "\"sources\" is no member"},
        {"{}", 1, "needs \"kernel\""},
        {"{\"kernel\": 5}", 1, "\"kernel\" must be a text"},
        {"{\"kernel\": \"k\"}", 1, "\"types\" must be a list"},
        {"{\"kernel\": \"k\", \"types\": [5]}", 1, "\"types\" 0 must be a type"},
        {"{\"kernel\": \"k\", \"types\": [\"int\", \"?\"]}", 1, "\"types\" 1 must be a type"},
        {"{\"kernel\": \"k\", \"types\": [\"int...\", \"int\"]}", 1, "only the last"},
        {"{\"kernel\": \"k\", \"types\": [\"const void*\"]}", 1, "const stands behind"},
        {"{\"kernel\": \"k\", \"types\": [\"void const *\"]}", 1, "no space stands there"},
        {"{\"kernel\": \"k\", \"types\": [\"int \"]}", 1, "no space stands there"},
        {"{\"kernel\": \"k\", \"types\": [\"size_t\"]}", 1, "names have unsigned long for size_t"},
        {"{\"kernel\": \"k\", \"types\": [\"half const*\"]}", 1, "names have __half for half"},
        {"{\"kernel\": \"k\", \"types\": [\"uint32_t const*\"]}", 1, "names have unsigned int for uint32_t"},
        {"{\"kernel\": \"k\", \"types\": [\"unsigned\"]}", 1, "names have unsigned int for unsigned"},
        {"{\"kernel\": \"k\", \"types\": []}", 1, "\"kind\" must be"},
        {"{\"kernel\": \"k\", \"types\": [], \"kind\": \"gemm\"}", 1, "\"kind\" must be"},
        {"{\"kernel\": \"k\", \"types\": [], \"kind\": \"helper\"}", 1, "a helper needs \"serves\""},
        {"{\"kernel\": \"k\", \"types\": [], \"kind\": \"helper\", \"serves\": \"none\"}", 1, "\"serves\" must be"},
        {ROW(", \"serves\": \"next\""), 1, "\"serves\" is for helpers"},
        {ROW(", \"arguments\": -1"), 1, "\"arguments\" must be"},
        {ROW(", \"provenance\": \"exact\""), 1, "\"provenance\" must be"},
        {ROW(", \"m\": 1"), 1, "\"m\" is no role of a row of kind other"},
        {ROW(", \"weight\": 1"), 1, "\"weight\" is no role"},
        {ROW(", \"where\": 1"), 1, "\"where\" must be a condition"},
        {ROW(", \"where\": \"a1\""), 1, "a1 is a pointer"},
        {ROW(", \"checks\": \"a0 > 1\""), 1, "\"checks\" must be a list"},
        {ROW(", \"checks\": [\"a0 > 1\", \"a2 > 1\"]"), 1, "there is no parameter 2"},
        {ROW(", \"checks\": [\"m > 1\"]"), 1, "m is not known here"},
        {ROW(", \"arguments\": 1, \"where\": \"t1 == 1\""), 1, "there is no template argument 1"},
        {ROW(", \"let\": {\"b\": \"c\", \"c\": 1}"), 1, "c is not known here"},
        {ROW(", \"let\": {\"a1\": 1}"), 1, "can't be a name"},
        {ROW(", \"let\": {\"grid\": 1}"), 1, "can't be a name"},
        {ROW(", \"let\": {\"m\": 1}"), 1, "can't be a name"},
        {ROW(", \"let\": {\"\": 1}"), 1, "can't be a name"},
        {ROW(", \"let\": {\"b\": []}"), 1, "must be an expression"},
        {GEMM(""), 1, "needs \"m\""},
        {GEMM(", \"m\": \"n\", \"n\": 1, \"k\": 1"), 1, "n is not known here"},
        {GEMM(SIZES ", \"d\": 64"), 1, "\"d\" is no role of a row of kind matmul"},
        {GEMM(SIZES ", \"weight\": 0"), 1, "index of a pointer"},
        {GEMM(SIZES ", \"weight\": 2"), 1, "index of a pointer"},
        {GEMM(SIZES ", \"weight_format\": \"q4_k\""), 1, "q4_k is not known here"},
        {GEMM(SIZES ", \"weight_format\": \"'int8-dp4a'\""), 1, "'int8-dp4a' is no format"},
        {GEMM(SIZES ", \"path\": \"a0 == 1 ? 'int8' : 'q4_K'\""), 1, "'q4_K' is no path"},
        {GEMM(SIZES ", \"path\": 5"), 1, "gives a number where a text"},
        {GEMM(SIZES ", \"experts\": true"), 1, "needs \"matrices_least\""},
        {"{\"kernel\": \"k\", \"types\": [], \"kind\": \"attention\", \"n_q\": 1, \"n_kv\": 1, \"d\": 64, \"queries\": "
         "1, "
         "\"keys\": 1, \"splits\": 2}",
         1, "\"splits\" needs"},
        {ROW(", \"example\": \"k\""), 1, "taken apart"},
        {ROW(", \"example\": \"_Z1kii\""), 1, "does not fit its own"},
        {ROW(", \"example\": \"_Z1lifP\""), 1, ""},
        {ROW(", \"version\": \"\""), 1, "\"version\" must be a text"},
        {ROW(", \"\\u001b[31m\": 1"), 1, "\"?[31m\" is no member"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char error[LAUNCH_TABLE_ERROR_BYTES] = "", start[64];
        struct launch_table_file *file = parse(cases[i].text, error);
        snprintf(start, sizeof start, "launch table 'rows.jsonl', line %d: ", cases[i].line);
        if (file || strncmp(error, start, strlen(start)) || !strstr(error, cases[i].error) || strchr(error, '\n'))
            fail_msg("%s is %s: '%s'", cases[i].text, file ? "taken" : "refused", error);
    }
}

/* A user's rows come first, and are forgotten again. */
static void test_user_first(void **state)
{
    char error[LAUNCH_TABLE_ERROR_BYTES];
    size_t before, count;
    (void)state;
    const struct launch_row *const *rows = launch_table_all(&before);
    char *kernel = strdup(rows[0]->kernel), text[512];
    snprintf(text, sizeof text, "\n{\"kernel\": \"%s\", \"types\": [], \"kind\": \"other\"}\n", kernel);
    struct launch_table_file *file = parse(text, error);
    assert_non_null(file);
    launch_table_set_user_file(file);
    rows = launch_table_rows(kernel, &count);
    assert_true(count >= 2 && rows[0]->users && !rows[1]->users);
    assert_string_equal(launch_row_place(rows[0]), "rows.jsonl:2");
    assert_null(launch_row_source(rows[0]));
    launch_table_set_user_file(NULL);
    launch_table_all(&count);
    assert_int_equal(count, before);
    launch_table_file_free(file);
    free(kernel);
}

static void test_no_file(void **state)
{
    char error[LAUNCH_TABLE_ERROR_BYTES];
    (void)state;
    assert_null(launch_table_file_read("/nowhere/rows.jsonl", error));
    assert_string_equal(error, "launch table '/nowhere/rows.jsonl' can't be read: No such file or directory");
    assert_null(launch_table_file_read("/", error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_built_in),    cmocka_unit_test(test_built_in_reached), cmocka_unit_test(test_user_rows),
        cmocka_unit_test(test_user_errors), cmocka_unit_test(test_user_first),       cmocka_unit_test(test_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
