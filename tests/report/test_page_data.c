/* SPDX-License-Identifier: Apache-2.0 */
/* JSON inside a page: whatever texts hold, it ends no script, and it is the same JSON. */
#include "report/page_data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEAD "<script type=\"application/json\" id=\"data\">"
#define TAIL "</script>"

/* What is between the tags; the caller frees. */
static char *printed(const json_t *root)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    assert_true(page_data_print(root, out));
    fclose(out);
    assert_true(bytes >= strlen(HEAD) + strlen(TAIL));
    assert_memory_equal(text, HEAD, strlen(HEAD));
    assert_string_equal(text + bytes - strlen(TAIL), TAIL);
    text[bytes - strlen(TAIL)] = '\0';
    memmove(text, text + strlen(HEAD), bytes - strlen(HEAD) - strlen(TAIL) + 1);
    return text;
}

static void expect(const char *value, const char *json)
{
    json_t *root = json_pack("{s:s}", "k", value);
    char *text = printed(root), expected[512];
    snprintf(expected, sizeof expected, "{\"k\":\"%s\"}", json);
    assert_string_equal(text, expected);
    json_t *again = json_loads(text, 0, NULL);
    assert_true(json_equal(root, again));
    json_decref(again);
    json_decref(root);
    free(text);
}

static void what_ends_a_script_is_escaped(void **state)
{
    (void)state;
    expect("</script><script>alert(1)</script>",
           "\\u003c/script\\u003e\\u003cscript\\u003ealert(1)\\u003c/script\\u003e");
    expect("<!--<ScRiPt", "\\u003c!--\\u003cScRiPt");
    expect("]]>&amp;", "]]\\u003e\\u0026amp;");
}

static void ends_of_lines_are_escaped(void **state)
{
    (void)state;
    expect("a\xe2\x80\xa8"
           "b\xe2\x80\xa9",
           "a\\u2028b\\u2029");
    expect("\n\r\x01\x7f", "\\n\\r\\u0001\x7f");
}

static void neighbours_stay(void **state)
{
    (void)state;
    expect("\xe2\x80\xa7\xe2\x80\xaa\xe2\x82\xac", "\xe2\x80\xa7\xe2\x80\xaa\xe2\x82\xac"); /* U+2027, U+202A, U+20AC */
    expect("\"\\'", "\\\"\\\\'");
    expect("", "");
}

static void keys_are_escaped_too(void **state)
{
    (void)state;
    json_t *root = json_pack("{s:{s:i}}", "<", "</script>", 1);
    char *text = printed(root);
    assert_string_equal(text, "{\"\\u003c\":{\"\\u003c/script\\u003e\":1}}");
    json_decref(root);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_ends_a_script_is_escaped),
        cmocka_unit_test(ends_of_lines_are_escaped),
        cmocka_unit_test(neighbours_stay),
        cmocka_unit_test(keys_are_escaped_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
