/* SPDX-License-Identifier: Apache-2.0 */
/* The table of ROOFTAP_* variables, and what nonsense in them means. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "preload/settings.h"

static void table_is_sound(void **state)
{
    (void)state;
    size_t count;
    const struct setting *row = settings_table(&count);
    assert_true(count >= 4);
    for (size_t i = 0; i < count; i++) {
        bool understood;
        assert_int_equal(strncmp(row[i].variable, "ROOFTAP_", 8), 0);
        assert_true(i == 0 || strcmp(row[i - 1].variable, row[i].variable) < 0);
        assert_non_null(row[i].help);
        assert_ptr_equal(settings_find(row[i].variable), &row[i]);
        if (row[i].kind == SETTING_NUMBER) {
            settings_number(&row[i], NULL, &understood);
            assert_true(understood);
        }
        if (row[i].kind == SETTING_SWITCH) {
            settings_switch(&row[i], NULL, &understood);
            assert_true(understood);
        }
        assert_int_equal(row[i].kind == SETTING_CHOICE, row[i].choices != NULL);
        if (row[i].kind == SETTING_CHOICE) {
            settings_choice(&row[i], NULL, &understood);
            assert_true(understood);
        }
    }
    assert_null(settings_find("ROOFTAP_NO_SUCH_THING"));
}

static void nonsense_means_the_default(void **state)
{
    (void)state;
    static const char *const bad[] = {"-1", "1e3", " 5", "600001", "99999999999999999999999", "0x10", "5ms"};
    bool understood;
    const struct setting *wait = settings_find(SETTING_EXIT_WAIT_MS), *timing = settings_find(SETTING_TIMING);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(settings_number(wait, bad[i], &understood), 500);
        assert_false(understood);
    }
    assert_int_equal(settings_number(wait, "0", &understood), 0);
    assert_true(understood);
    assert_true(settings_switch(timing, "maybe", &understood));
    assert_false(understood);
    assert_false(settings_switch(timing, "off", &understood));
    assert_true(understood);
}

static void a_choice_is_a_whole_word(void **state)
{
    (void)state;
    static const char *const bad[] = {"extern", "externally", "EXTERNAL", "auto|correlation", "|", "auto ", "1"};
    bool understood;
    const struct setting *join = settings_find(SETTING_JOIN);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(settings_choice(join, bad[i], &understood), SETTING_JOIN_AUTO);
        assert_false(understood);
    }
    assert_int_equal(settings_choice(join, "", &understood), SETTING_JOIN_AUTO);
    assert_true(understood);
    assert_int_equal(settings_choice(join, "auto", NULL), SETTING_JOIN_AUTO);
    assert_int_equal(settings_choice(join, "correlation", NULL), SETTING_JOIN_CORRELATION);
    assert_int_equal(settings_choice(join, "external", &understood), SETTING_JOIN_EXTERNAL);
    assert_true(understood);
}

static void reads_the_environment(void **state)
{
    (void)state;
    struct settings settings;
    setenv(SETTING_DIR, "relative/folder", 1);
    setenv(SETTING_TIMING, "no", 1);
    setenv(SETTING_EXIT_WAIT_MS, "20", 1);
    setenv(SETTING_DISABLE, "1", 1);
    setenv(SETTING_JOIN, "external", 1);
    settings_read(&settings);
    assert_int_equal(settings.join, SETTING_JOIN_EXTERNAL);
    assert_null(settings.dir); /* a host that changes its folder would scatter traces */
    assert_false(settings.timing);
    assert_true(settings.disable);
    assert_int_equal(settings.exit_wait_ms, 20);
    setenv(SETTING_DIR, "/somewhere", 1);
    unsetenv(SETTING_DISABLE);
    settings_read(&settings);
    assert_string_equal(settings.dir, "/somewhere");
    assert_false(settings.disable);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_is_sound),
        cmocka_unit_test(nonsense_means_the_default),
        cmocka_unit_test(a_choice_is_a_whole_word),
        cmocka_unit_test(reads_the_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
