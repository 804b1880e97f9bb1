/* SPDX-License-Identifier: Apache-2.0 */
/* From the mangled name to the table: kernel_names.tsv at 80 columns, names that mean harm, names that look alike. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "classify/allocate.h"
#include "report/demangle.h"
#include "report/row_names.h"
#include "report/safe_text.h"
#include "report/short_name.h"

enum { TABLE_WIDTH = 80 };

static const char plain[] = "_ZN2at6native4fillIfEEvT_", plain_text[] = "void at::native::fill<float>(float)";

static char *shown(struct demangler *demangler, const char *name)
{
    char *text = demangler_name(demangler, name), *safe = safe_text_terminal(text);
    char *result = short_name_within(safe, TABLE_WIDTH);
    free(text);
    free(safe);
    return result;
}

static void test_real_names(void **state)
{
    struct demangler *demangler = demangler_open(DEMANGLE_LIBRARY);
    char line[4096];
    size_t names = 0;
    FILE *file = fopen(KERNEL_NAMES, "r");
    (void)state;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        char *name = strtok(line, "\t\n"), *expected = strtok(NULL, "\t\n");
        if (line[0] == '#')
            continue;
        assert_non_null(expected);
        char *text = shown(demangler, name);
        assert_string_equal(text, expected);
        free(text);
        names++;
    }
    fclose(file);
    demangler_close(demangler);
    assert_true(names >= 25);
}

static void check_demangled(struct demangler *demangler, const char *name, const char *expected)
{
    char *text = demangler_name(demangler, name);
    assert_string_equal(text, expected);
    free(text);
}

static void test_full_names(void **state)
{
    struct demangler *demangler = demangler_open(DEMANGLE_LIBRARY);
    (void)state;
    check_demangled(demangler, plain, plain_text);
    check_demangled(demangler, "cudnn_kernel", "cudnn_kernel");
    check_demangled(demangler, "_ZN2at6nat", "_ZN2at6nat");
    check_demangled(demangler, "", "");
    check_demangled(demangler, "i", "i"); /* a type to the C++ library */
    demangler_close(demangler);
    demangler_close(NULL);
}

static void test_no_library(void **state)
{
    struct demangler *demangler = demangler_open("libthere-is-none.so.6");
    (void)state;
    check_demangled(demangler, plain, plain);
    check_demangled(demangler, plain, plain);
    demangler_close(demangler);
}

/* ---- names that mean harm ---- */

static void put_reference(char **p, unsigned number) /* S_, S0_, S1_ … */
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    *(*p)++ = 'S';
    if (number > 36)
        *(*p)++ = digits[(number - 1) / 36];
    if (number > 0)
        *(*p)++ = digits[(number - 1) % 36];
    *(*p)++ = '_';
}

/* f(X<A, A>, X<X<A, A>, X<A, A>>, …): each parameter is spelled out twice in the next one. 60 of them in 600 bytes would
 * take 2^60 bytes. */
static void make_doubling(char *name, unsigned doublings)
{
    char *p = name + sprintf(name, "_Z1f1XI1AS0_E");
    for (unsigned i = 0; i < doublings; i++) {
        put_reference(&p, 0);
        *p++ = 'I';
        put_reference(&p, 2 + i);
        put_reference(&p, 2 + i);
        *p++ = 'E';
    }
    *p = '\0';
}

static double children_cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void test_doubling(void **state)
{
    struct demangler *demangler = demangler_open(DEMANGLE_LIBRARY);
    char name[2048];
    (void)state;
    make_doubling(name, 3); /* the construction is right: a small one can be read */
    check_demangled(
        demangler, name,
        "f(X<A, A>, X<X<A, A>, X<A, A> >, X<X<X<A, A>, X<A, A> >, X<X<A, A>, X<A, A> > >, "
        "X<X<X<X<A, A>, X<A, A> >, X<X<A, A>, X<A, A> > >, X<X<X<A, A>, X<A, A> >, X<X<A, A>, X<A, A> > > >)");
    make_doubling(name, 60);
    check_demangled(demangler, name, name);
    check_demangled(demangler, plain, plain_text); /* the next name is none the worse for it */
    for (int i = 1; i < DEMANGLE_DEATHS + 100; i++)
        check_demangled(demangler, name, name);
    check_demangled(demangler, plain, plain); /* enough is enough */
    demangler_close(demangler);
    assert_true(children_cpu_seconds() < 10); /* 8 times 0.2 s; 100 deaths would be 20 */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void test_long_text_is_cut(void **state)
{
    struct demangler *demangler = demangler_open(DEMANGLE_LIBRARY);
    char name[2048];
    (void)state;
    make_doubling(name, 14);
    char *text = demangler_name(demangler, name);
    assert_int_equal(strlen(text), DEMANGLE_LONGEST_TEXT);
    assert_string_equal(text + DEMANGLE_LONGEST_TEXT - 3, "...");
    char *brief = short_name_within(text, TABLE_WIDTH);
    assert_true(safe_text_width(brief) <= TABLE_WIDTH);
    free(brief);
    free(text);
    demangler_close(demangler);
}

static void check_survives(struct demangler *demangler, const char *head, const char *repeated, size_t times,
                           const char *tail)
{
    size_t bytes = strlen(head) + times * strlen(repeated) + strlen(tail) + 1;
    char *name = allocate(bytes, 1), *p = stpcpy(name, head);
    for (size_t i = 0; i < times; i++)
        p = stpcpy(p, repeated);
    strcpy(p, tail);
    char *text = shown(demangler, name);
    assert_true(safe_text_width(text) <= TABLE_WIDTH);
    assert_true(*text);
    free(text);
    free(name);
}

static void test_deep_and_long(void **state)
{
    struct demangler *demangler = demangler_open(DEMANGLE_LIBRARY);
    (void)state;
    check_survives(demangler, "_Z1f", "P", 900, "i");
    check_survives(demangler, "_Z1f", "P", 16000, "i");
    check_survives(demangler, "_Z1f", "P", 1 << 20, "i");
    check_survives(demangler, "_Z1fIiEv", "1XI", 200, "i");
    check_survives(demangler, "_ZN1f", "N1XI", 4000, "i");
    check_survives(demangler, "f", "<(", 5000, ")>()");
    check_survives(demangler, "f", "<x", 5000, "(");
    check_survives(demangler, "f<", "cute::C<", 1900, ">()");
    check_survives(demangler, "f<", "{lambda(", 1900, ">()");
    check_survives(demangler, "f<&(", "&(", 1900, ")>()");
    check_survives(demangler, "a::", "b::", 5000, "(int)");
    check_survives(demangler, "", ")", 300, "");
    check_survives(demangler, "_Z", "9", 300, "x");
    check_demangled(demangler, plain, plain_text);
    demangler_close(demangler);
}

/* ---- names in a table ---- */

static void check_rows(const char *const *names, size_t count, size_t width, const char *const *expected)
{
    char **texts = row_names(names, count, width);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(texts[i], expected[i]);
        assert_true(safe_text_width(texts[i]) <= width);
    }
    row_names_free(texts, count);
}

static void test_bytes_are_made_safe(void **state)
{
    /* The second demangles, to a name with an escape sequence and a broken byte in it. */
    static const char *const names[] = {"a\x1b[2Jb",
                                        "_Z5a\x1b"
                                        "b\xff"
                                        "cIfEvv",
                                        NULL};
    static const char *const expected[] = {"a\\x1b[2Jb",
                                           "a\\x1bb\xef\xbf\xbd"
                                           "c<fp32>",
                                           "(name not known)"};
    (void)state;
    check_rows(names, 3, 60, expected);
}

/* The short form leaves out what these differ in. */
static void test_different_names_look_different(void **state)
{
    static const char *const names[] = {
        "_ZN1a1kIfEEvT_",
        "_ZN1b1kIfEEvT_",
        "_ZN1a1kIfEEvT_",
        "_ZN2at6native29vectorized_elementwise_kernelILi8ENS0_11FillFunctorIfEESt5arrayIPcLm1EELb0EEEviT0_T1_",
        "_ZN2at6native29vectorized_elementwise_kernelILi8ENS0_11FillFunctorIfEESt5arrayIPcLm1EELb1EEEviT0_T1_",
    };
    static const char *const expected[] = {
        "void a::k<float>(float)",
        "void b::k<float>(float)",
        "void a::k<float>(float)",
        "vectorized_elementwise_kernel<8, FillFunctor<fp32>, array<char*, 1>, false>",
        "vectorized_elementwise_kernel<8, FillFunctor<fp32>, array<char*, 1>, true>",
    };
    static const char *const narrow[] = {
        "void a::k<float>(float)",      "void b::k<float>(float)",      "void a::k<float>(float)",
        "vectorized_elem...1>, false>", "vectorized_elem... 1>, true>",
    };
    (void)state;
    check_rows(names, 5, 80, expected);
    char **texts = row_names(names, 5, 30);
    for (int i = 0; i < 3; i++)
        assert_string_equal(texts[i], narrow[i]);
    assert_string_not_equal(texts[3], texts[4]);
    row_names_free(texts, 5);
}

static void test_cuts(void **state)
{
    char text[64];
    (void)state;
    safe_text_cut_middle(strcpy(text, "0123456789abcdefghij"), 20);
    assert_string_equal(text, "0123456789abcdefghij");
    safe_text_cut_middle(strcpy(text, "0123456789abcdefghij"), 15);
    assert_string_equal(text, "01234567...ghij");
    safe_text_cut_middle(strcpy(text, "0123456789abcdefghij"), 5);
    assert_string_equal(text, "01...");
    safe_text_cut_around(strcpy(text, "0123456789abcdefghijklmnopqrstuvwxyz"), 24, 33);
    assert_string_equal(text, "01234567...nopqrstuvwxyz");
    safe_text_cut_around(strcpy(text, "0123456789abcdefghijklmnopqrstuvwxyz+-*/"), 24, 16);
    assert_string_equal(text, "01234567...defghijklm...");
    safe_text_cut_around(strcpy(text, "0123456789abcdefghijklmnopqrstuvwxyz"), 24, 3);
    assert_string_equal(text, "0123456789abcdefghijk...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_real_names),
        cmocka_unit_test(test_full_names),
        cmocka_unit_test(test_no_library),
        cmocka_unit_test(test_doubling),
        cmocka_unit_test(test_long_text_is_cut),
        cmocka_unit_test(test_deep_and_long),
        cmocka_unit_test(test_bytes_are_made_safe),
        cmocka_unit_test(test_different_names_look_different),
        cmocka_unit_test(test_cuts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
