/* SPDX-License-Identifier: Apache-2.0 */
/* What a report does on a terminal, made of a pseudo-terminal: colour where it is wanted, and nothing told by colour
 * alone; rows that fit. And every {word} of the advice is known. */
#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "classify/advice.h"
#include "report/advice_text.h"
#include "report/colour.h"
#include "report/report_text.h"

/* A terminal, as a stream; its other end stays open in *MASTER. */
static FILE *open_terminal(int *master)
{
    int slave;
    assert_int_equal(openpty(master, &slave, NULL, NULL, NULL), 0);
    return fdopen(slave, "w");
}

static void check_colour(const char *term, const char *no_color, bool expected)
{
    int master;
    FILE *terminal = open_terminal(&master);
    if (term)
        setenv("TERM", term, 1);
    else
        unsetenv("TERM");
    if (no_color)
        setenv("NO_COLOR", no_color, 1);
    else
        unsetenv("NO_COLOR");
    if (colour_wanted(terminal) != expected)
        fail_msg("TERM=%s NO_COLOR=%s: expected %d", term ? term : "(unset)", no_color ? no_color : "(unset)",
                 expected);
    fclose(terminal);
    close(master);
}

static void test_when_coloured(void **state)
{
    (void)state;
    check_colour("xterm", NULL, true);
    check_colour("xterm", "", true); /* no-color.org: when present and not an empty string */
    check_colour("xterm", "1", false);
    check_colour("xterm", "0", false);
    check_colour("dumb", NULL, false);
    check_colour("", NULL, false);
    check_colour(NULL, NULL, false);
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    FILE *file = tmpfile();
    assert_false(colour_wanted(file));
    fclose(file);
}

/* One GEMM and one kernel without a shape, as structs. */
static char *report_of(bool colours, size_t width)
{
    static const struct gpu_spec unit = {.key = "test",
                                         .source = "a test",
                                         .confidence = "exact",
                                         .bytes_per_second = 1e12,
                                         .flops_per_second = {[GPU_PATH_BF16] = 100e12}};
    struct session_device device = {.described = true,
                                    .roofs = {&unit, 1, 1},
                                    .busy = {.known = true, .covered_ns = 1000000, .last_ns = 1000000},
                                    .clocks = {.sm_hz = 0.0 / 0.0}};
    struct operator_row operators[2] = {0};
    struct number_format bf16 = {.type = NUMBER_BF16, .bits = 16};
    operators[0] = (struct operator_row){.kind = OPERATOR_GEMM,
                                         .name = (char *)"cublasGemmEx",
                                         .of_call = true,
                                         .calls_known = true,
                                         .calls = 1,
                                         .executions = 1,
                                         .kernels = 1,
                                         .timed = true,
                                         .time_ns = 900000,
                                         .share = 0.9,
                                         .shape_source = TRACE_EXACT};
    operators[0].work = (struct work){.shape_known = true,
                                      .m = 8,
                                      .n = 4096,
                                      .k = 4096,
                                      .path = GPU_PATH_BF16,
                                      .type = {bf16, bf16, bf16, bf16},
                                      .batch = 1};
    operators[0].roofline =
        (struct roofline){.intensity = 8, .ridge = 100, .bound = BOUND_MEMORY, .roof_fraction = 0.5};
    operators[1] = (struct operator_row){.kind = OPERATOR_OTHER,
                                         .name = (char *)"my_kernel",
                                         .kernels = 1,
                                         .timed = true,
                                         .time_ns = 100000,
                                         .share = 0.1,
                                         .shape_source = TRACE_NAME_ONLY};
    struct session session = {
        .path = (char *)"SESSION", .devices = &device, .device_count = 1, .operators = operators, .operator_count = 2};
    session.coverage.gpu_time_ns = 1000000;
    session.coverage.kernels_known = true;
    session.step.intensity = 0.0 / 0.0;
    struct view view = {.rows = SIZE_MAX, .width = width, .fit = true, .colours = colours};
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    assert_true(report_text(&session, &view, out));
    fclose(out);
    return text;
}

static void strip_colours(char *text)
{
    char *to = text;
    for (const char *from = text; *from;) {
        if (*from == '\033')
            from += strcspn(from, "m") + 1;
        else
            *to++ = *from++;
    }
    *to = '\0';
}

static void test_colour_tells_nothing_more(void **state)
{
    (void)state;
    char *plain = report_of(false, 120), *coloured = report_of(true, 120);
    assert_null(strchr(plain, '\033'));
    assert_non_null(strstr(coloured, "\033[33mmemory\033[0m"));
    strip_colours(coloured);
    assert_string_equal(plain, coloured);
    free(plain);
    free(coloured);
}

static void test_lines_fit(void **state)
{
    (void)state;
    for (size_t width = 80; width <= 200; width += 10) {
        char *text = report_of(false, width), *rest = text;
        for (char *line; (line = strsep(&rest, "\n"));)
            if (strlen(line) > width)
                fail_msg("%zu columns of %zu: %s", strlen(line), width, line);
        free(text);
    }
}

static void test_words_of_advice(void **state)
{
    size_t count;
    const struct advice_row *rows = advice_rows(&count);
    (void)state;
    for (size_t i = 0; i < count; i++)
        if (!advice_text_knows(&rows[i]))
            fail_msg("%s: a {word} that advice_text.c doesn't know: %s", rows[i].id, rows[i].detail);
    struct advice_row wrong = rows[0];
    wrong.detail = "{no_such_word}";
    assert_false(advice_text_knows(&wrong));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_when_coloured),
        cmocka_unit_test(test_colour_tells_nothing_more),
        cmocka_unit_test(test_lines_fit),
        cmocka_unit_test(test_words_of_advice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
