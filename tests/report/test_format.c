/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/format.h"
#include "report/safe_text.h"
#include "report/status_name.h"

static void test_numbers(void **state)
{
    char t[FORMAT_BYTES];
    (void)state;
    assert_string_equal(format_count(t, 0), "0");
    assert_string_equal(format_count(t, 999), "999");
    assert_string_equal(format_count(t, 1000), "1,000");
    assert_string_equal(format_count(t, UINT64_MAX), "18,446,744,073,709,551,615");
    assert_string_equal(format_size(t, -1), "-");
    assert_string_equal(format_size(t, 3584), "3584");
    assert_string_equal(format_share(t, 0.125), "12.5");
    assert_string_equal(format_intensity(t, 162.909), "162.9");
    assert_string_equal(format_intensity(t, 0.9994), "1.0");
    assert_string_equal(format_intensity(t, 3e18), "3e+18");
    assert_string_equal(format_tera(t, 165.2e12), "165.2");
    assert_string_equal(format_tera(t, 4e9), "0.004");
    assert_string_equal(format_giga(t, 1008e9), "1008");
    assert_string_equal(format_giga(t, 1.5e9), "1.5");
    assert_string_equal(format_gain(t, 0), "0");
    assert_string_equal(format_gain(t, 0.00007), "<0.01");
    assert_string_equal(format_gain(t, 0.0068), "0.68");
    assert_string_equal(format_gain(t, 0.09994), "9.99");
    assert_string_equal(format_gain(t, 0.09996), "10.0");
    assert_string_equal(format_gain(t, NAN), "-");
    assert_string_equal(format_bytes(t, 0), "0 B");
    assert_string_equal(format_bytes(t, 999), "999 B");
    assert_string_equal(format_bytes(t, 999.96), "1.0 kB");
    assert_string_equal(format_bytes(t, 3670016), "3.7 MB");
    assert_string_equal(format_bytes(t, 3e15), "3000.0 TB");
    assert_string_equal(format_bytes(t, NAN), "-");
}

static void test_durations(void **state)
{
    char t[FORMAT_BYTES];
    (void)state;
    assert_string_equal(format_duration(t, 0), "0 ns");
    assert_string_equal(format_duration(t, 999), "999 ns");
    assert_string_equal(format_duration(t, 1000), "1.000 us");
    assert_string_equal(format_duration(t, 9999.6), "10.00 us");
    assert_string_equal(format_duration(t, 33876), "33.88 us");
    assert_string_equal(format_duration(t, 999950), "1.000 ms");
    assert_string_equal(format_duration(t, 5300360), "5.300 ms");
    assert_string_equal(format_duration(t, 123456789012.0), "123.5 s");
}

static void test_words(void **state)
{
    (void)state;
    assert_string_equal(format_plural(0, "call", "calls"), "calls");
    assert_string_equal(format_plural(1, "call", "calls"), "call");
    assert_string_equal(format_plural(2, "call", "calls"), "calls");
}

/* Each name once, under a number of its own, and none for the numbers that cuBLAS leaves out. */
static void test_status_names(void **state)
{
    const char *seen[64];
    size_t count = 0;
    (void)state;
    for (int32_t status = -1000; status < 1000; status++) {
        const char *name = status_name(status);
        if (!name)
            continue;
        assert_true(!strncmp(name, "CUBLAS_STATUS_", 14) && count < 64);
        for (size_t i = 0; i < count; i++)
            assert_string_not_equal(name, seen[i]);
        seen[count++] = name;
    }
    assert_int_equal(count, 10);
    assert_string_equal(status_name(7), "CUBLAS_STATUS_INVALID_VALUE");
    assert_string_equal(status_name(15), "CUBLAS_STATUS_NOT_SUPPORTED");
    assert_null(status_name(2));
}

static void test_unknown(void **state)
{
    char t[FORMAT_BYTES];
    (void)state;
    assert_string_equal(format_duration(t, NAN), FORMAT_UNKNOWN);
    assert_string_equal(format_share(t, NAN), FORMAT_UNKNOWN);
    assert_string_equal(format_intensity(t, NAN), FORMAT_UNKNOWN);
    assert_string_equal(format_tera(t, NAN), FORMAT_UNKNOWN);
    assert_string_equal(format_giga(t, NAN), FORMAT_UNKNOWN);
}

static void check_safe(const char *text, const char *utf8, const char *terminal)
{
    char *made = safe_text_utf8(text);
    assert_string_equal(made, utf8);
    free(made);
    made = safe_text_terminal(text);
    assert_string_equal(made, terminal);
    free(made);
}

static void test_safe_text(void **state)
{
    (void)state;
    check_safe("plain", "plain", "plain");
    check_safe("\x1b[2J", "\x1b[2J", "\\x1b[2J");
    check_safe("\xc3\xa9", "\xc3\xa9", "\xc3\xa9");
    check_safe("\xc2\x9b", "\xc2\x9b", "\\x9b"); /* C1: another way to say ESC [ */
    check_safe("\xe2\x80\xae", "\xe2\x80\xae", "\\u{202e}");
    check_safe("\xff", "\xef\xbf\xbd", "\xef\xbf\xbd");
    check_safe("\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd", "\xef\xbf\xbd\xef\xbf\xbd"); /* overlong */
    check_safe("\xf0\x9f\x92", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    check_safe("\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
               "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* above U+10FFFF */
}

static void test_cut(void **state)
{
    char text[32];
    (void)state;
    safe_text_cut(strcpy(text, "0123456789"), 10);
    assert_string_equal(text, "0123456789");
    safe_text_cut(strcpy(text, "0123456789"), 8);
    assert_string_equal(text, "01234...");
    safe_text_cut(strcpy(text, "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"), 4);
    assert_string_equal(text, "\xc3\xa9...");
    safe_text_cut(strcpy(text, "abcdef"), 2);
    assert_string_equal(text, "..");
    safe_text_cut(strcpy(text, "abcdef"), 0);
    assert_string_equal(text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),      cmocka_unit_test(test_durations), cmocka_unit_test(test_words),
        cmocka_unit_test(test_status_names), cmocka_unit_test(test_unknown),   cmocka_unit_test(test_safe_text),
        cmocka_unit_test(test_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
