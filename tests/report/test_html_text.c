/* SPDX-License-Identifier: Apache-2.0 */
/* What a stranger's text becomes in markup. Expectations are HTML's five letters, RFC 3629 and XML 1.0's Char. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/html_text.h"

#define LOST "\xef\xbf\xbd"

static char *printed(const char *text, size_t bytes)
{
    char *result = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&result, &length);
    assert_non_null(out);
    html_text_print_cut(out, text, bytes);
    assert_int_equal(fclose(out), 0);
    return result;
}

static void expect(const char *text, size_t bytes, const char *expected)
{
    char *result = printed(text, bytes);
    assert_string_equal(result, expected);
    free(result);
}

static void test_markup(void **state)
{
    (void)state;
    expect("gemm<float, 4>", SIZE_MAX, "gemm&lt;float, 4&gt;");
    expect("\"><script>alert('x')</script>&amp;", SIZE_MAX,
           "&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;amp;");
    expect("-->]]><!--", SIZE_MAX, "--&gt;]]&gt;&lt;!--");
    expect("plain", SIZE_MAX, "plain");
    expect("", SIZE_MAX, "");
    expect(NULL, SIZE_MAX, "");
}

static void test_characters(void **state)
{
    (void)state;
    expect("a\x01\x1b[31mb\r\x7f", SIZE_MAX, "a" LOST LOST "[31mb" LOST LOST);
    expect("a\tb\nc", SIZE_MAX, "a\tb\nc");
    expect("\xc2\x85", SIZE_MAX, LOST);                          /* U+0085, a control */
    expect("\xe2\x80\xa8\xe2\x80\xa9", SIZE_MAX, LOST LOST);     /* U+2028, U+2029 */
    expect("\xe2\x80\xae\xe2\x81\xa6", SIZE_MAX, LOST LOST);     /* U+202E, U+2066: turn the direction */
    expect("\xe2\x80\x8b\xef\xbb\xbf", SIZE_MAX, LOST LOST);     /* zero width, byte order mark */
    expect("\xef\xbf\xbe\xf0\x9f\xbf\xbf", SIZE_MAX, LOST LOST); /* U+FFFE, U+1FFFF: no characters */
    expect("\xff\xc0\xaf\xed\xa0\x80", SIZE_MAX, LOST LOST LOST LOST LOST LOST); /* none, overlong, surrogate */
    expect("\xe4\xb8", SIZE_MAX, LOST LOST);                                     /* cut off */
    expect("\xe4\xb8\xad \xf0\x9f\x98\x80", SIZE_MAX, "\xe4\xb8\xad \xf0\x9f\x98\x80");
}

static void test_cut(void **state)
{
    (void)state;
    expect("abcdef", 6, "abcdef");
    expect("abcdef", 5, "abcde\xe2\x80\xa6");
    expect("<<<", 2, "&lt;&lt;\xe2\x80\xa6"); /* of the text, not of what it becomes */
    expect("a\xe4\xb8\xad", 3, "a\xe2\x80\xa6");
    expect("a\xe4\xb8\xad", 4, "a\xe4\xb8\xad");
    expect("a", 0, "\xe2\x80\xa6");
    expect("", 0, "");
}

/* No byte, wherever it stands, leaves a letter of markup, a control or half a character. */
static void test_every_pair_of_bytes(void **state)
{
    (void)state;
    for (int a = 1; a < 256; a++)
        for (int b = 1; b < 256; b++) {
            const char text[] = {(char)a, (char)b, '\0'};
            char *result = printed(text, SIZE_MAX);
            for (const char *p = result; *p; p++) {
                assert_null(strchr("<>\"'", *p));
                assert_true((unsigned char)*p >= 0x20 || *p == '\t' || *p == '\n');
                assert_true(*p != 0x7f);
                if (*p == '&')
                    assert_non_null(strchr(p, ';'));
            }
            free(result);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_markup),
        cmocka_unit_test(test_characters),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_every_pair_of_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
