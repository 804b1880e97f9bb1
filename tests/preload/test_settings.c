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
    const struct setting *wait = settings_find(SETTING_EXIT_WAIT_MS), *lookup = settings_find(SETTING_LOOKUP);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(settings_number(wait, bad[i], &understood), 500);
        assert_false(understood);
    }
    assert_int_equal(settings_number(wait, "0", &understood), 0);
    assert_true(understood);
    assert_true(settings_switch(lookup, "maybe", &understood));
    assert_false(understood);
    assert_false(settings_switch(lookup, "off", &understood));
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

/* ROOFTAP_TIMING was a switch before it was a choice. */
static void a_choice_of_on_and_off_takes_a_switch(void **state)
{
    (void)state;
    bool understood;
    const struct setting *timing = settings_find(SETTING_TIMING);
    static const struct {
        const char *text;
        int place;
    } words[] = {{"auto", SETTING_TIMING_AUTO},
                 {"node", SETTING_TIMING_NODE},
                 {"graph", SETTING_TIMING_GRAPH},
                 {"on", SETTING_TIMING_ON},
                 {"1", SETTING_TIMING_ON},
                 {"true", SETTING_TIMING_ON},
                 {"off", SETTING_TIMING_OFF},
                 {"0", SETTING_TIMING_OFF},
                 {"no", SETTING_TIMING_OFF},
                 {"", SETTING_TIMING_AUTO},
                 {"sampled", SETTING_TIMING_SAMPLED},
                 {"events", SETTING_TIMING_EVENTS}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        assert_int_equal(settings_choice(timing, words[i].text, &understood), words[i].place);
        assert_true(understood);
    }
    assert_int_equal(settings_choice(timing, "maybe", &understood), SETTING_TIMING_AUTO);
    assert_false(understood);
}

static void reads_the_environment(void **state)
{
    (void)state;
    struct settings settings;
    setenv(SETTING_DIR, "relative/folder", 1);
    setenv(SETTING_TIMING, "no", 1);
    setenv(SETTING_EXIT_WAIT_MS, "20", 1);
    setenv(SETTING_DELAY_MS, "1500", 1);
    setenv(SETTING_SAMPLE_BUDGET, "1000001", 1);
    setenv(SETTING_DISABLE, "1", 1);
    setenv(SETTING_JOIN, "external", 1);
    settings_read(&settings);
    assert_int_equal(settings.join, SETTING_JOIN_EXTERNAL);
    assert_null(settings.dir); /* a host that changes its folder would scatter traces */
    assert_int_equal(settings.timing, SETTING_TIMING_OFF);
    assert_true(settings.disable);
    assert_int_equal(settings.exit_wait_ms, 20);
    assert_int_equal(settings.delay_ms, 1500);
    assert_int_equal(settings.duration_ms, 0);
    assert_int_equal(settings.sample_budget_ppm, 5000);
    assert_int_equal(settings.sample_window_us, 1000);
    setenv(SETTING_DIR, "/somewhere", 1);
    unsetenv(SETTING_DISABLE);
    settings_read(&settings);
    assert_string_equal(settings.dir, "/somewhere");
    assert_false(settings.disable);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_is_sound),           cmocka_unit_test(nonsense_means_the_default),
        cmocka_unit_test(a_choice_is_a_whole_word), cmocka_unit_test(a_choice_of_on_and_off_takes_a_switch),
        cmocka_unit_test(reads_the_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
