/* SPDX-License-Identifier: Apache-2.0 */
/* Names taken apart, against what c++filt spells of them (kernel_names.tsv) and against types read by hand off llama.cpp's
 * sources; then names that are cut off or broken, each in memory of its exact size.
 * With --spell: what is understood of the names on stdin, whole, for sweep_names.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/kernel_signature.h"
#include "trace/mangled_tree.h"

static struct kernel_signature signature;
static struct mangled_tree tree;

struct expected {
    const char *name, *base, *arguments, *parameters; /* joined by "|" */
    const char *bytes;                                /* of parameters: 'p' pointer, a digit, 'c' 12, '?' not known */
};

/* clang-format off */
static const struct expected table[] = {
    /* g++: back references to what was first met as "auto" of a lambda are the function's own parameters */
    {"_Z6kernelIiZ4hostvEUlT_T0_E_EvS1_i", "kernel", "int|host()::{lambda(auto:1, auto:2)#1}",
     "host()::{lambda(auto:1, auto:2)#1}|int", "?4"},
    {"_Z7kernel2IiZ5host2vEUlT_PT0_E_EvS2_i", "kernel2", "int|host2()::{lambda(auto:1, auto:2*)#1}",
     "host2()::{lambda(auto:1, auto:2*)#1}*|int", "p4"},
    /* ggml/src/ggml-cuda/mmvq.cu, llama.cpp 0c1e57098 */
    {"_ZL13mul_mat_vec_qIL9ggml_type12ELi1ELb1ELb0ELb0EEvPKvS2_PKi31ggml_cuda_mm_fusion_args_devicePfj5uint3jjjS7_jjjS7_jjjj",
     "mul_mat_vec_q", "(ggml_type)12|1|true|false|false",
     "void const*|void const*|int const*|ggml_cuda_mm_fusion_args_device|float*|unsigned int|uint3|unsigned int|unsigned int|"
     "unsigned int|uint3|unsigned int|unsigned int|unsigned int|uint3|unsigned int|unsigned int|unsigned int|unsigned int",
     "ppp?p4c444c444c4444"},
    /* ggml/src/ggml-cuda/fattn-vec.cuh, same */
    {"_Z18flash_attn_ext_vecILi128ELi1EL9ggml_type1ELS0_1ELb0EEvPKcS2_S2_S2_S2_PKiPfP6float2ffffjfi5uint3iiiiiiiiiiiliiliiiiil",
     "flash_attn_ext_vec", "128|1|(ggml_type)1|(ggml_type)1|false",
     "char const*|char const*|char const*|char const*|char const*|int const*|float*|float2*|float|float|float|float|unsigned int|"
     "float|int|uint3|int|int|int|int|int|int|int|int|int|int|int|long|int|int|long|int|int|int|int|int|long",
     "pppppppp444444" "4c" "44444444444" "844" "844444" "8"},
    /* packs: by elements, empty ones too; T_ as it is now, not as it was met first */
    {"_Z4bindIJiPfEEvDpT_", "bind", "int|float*", "int|float*", "4p"},
    {"_Z4bindIJEEvDpT_", "bind", "", "", ""},
    {"_Z4bindIJifEEvDpPKT_b", "bind", "int|float", "int const*|float const*|bool", "pp1"},
    {"_Z3actI6__halfXadL_Z4siluIfET_RKS2_EEEvPS2_PKS2_i", "act", "__half|&(float silu<float>(float const&))",
     "__half*|__half const*|int", "pp4"},
    {"_Z3sumIJLi1ELin2ELm3EEEvv", "sum", "1|-2|3", "", ""},
    {"_ZN2ns1fILb1EcEEvRT0_OiA4_KT0_", "f", "true|char", "char&|int&&|char const [4]", "pp?"},
    {"_ZN1aL1gE7dim3xyz4dim3PFvPiE", "g", "", "dim3xyz|dim3|void (*)(int*)", "?cp"},
    {"_ZN12_GLOBAL__N_14kernILi3EEEvPf", "kern", "3", "float*", "p"},
    {"_ZN4vllm1kINS_6ParamsIfLi4EEEEEvT_PKS2_", "k", "vllm::Params<float, 4>",
     "vllm::Params<float, 4>|vllm::Params<float, 4> const*", "?p"},
    {"_Z1kB5cxx11iPVKi", "k", "", "int|int const volatile*", "4p"},
    {"_Z1kILin5ELj7ELc65ELDn0EEvv.isra.0", "k", "-5|7|(char)65|(decltype(nullptr))0", "", ""},
    {"_ZZ4mainENKUliE_clEi", "operator()", "", "int", "4"},
    {"_Z1kv", "k", "", "", ""},
    /* What is stepped over: an expression in a type. */
    {"_Z1kILi4EEvN4wrapIXplT_Li1EEEEi", "k", "4", "wrap<?>|int", "?4"},
};
/* clang-format on */

static void join(char *into, size_t room, const char *const *texts, unsigned count)
{
    into[0] = '\0';
    for (unsigned i = 0; i < count; i++) {
        assert_true(strlen(into) + strlen(texts[i]) + 2 < room);
        strcat(strcat(into, i ? "|" : ""), texts[i]);
    }
}

static unsigned expected_bytes(char code)
{
    return code == 'p' ? 8 : code == 'c' ? 12 : code == '?' ? 0 : (unsigned)(code - '0');
}

static void names_are_taken_apart(void **state)
{
    (void)state;
    char text[8192];
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (!kernel_signature_parse(table[i].name, &signature))
            fail_msg("not read: %s", table[i].name);
        assert_string_equal(signature.base, table[i].base);
        join(text, sizeof text, signature.argument, signature.argument_count);
        assert_string_equal(text, table[i].arguments);
        join(text, sizeof text, signature.parameter, signature.parameter_count);
        assert_string_equal(text, table[i].parameters);
        assert_int_equal(strlen(table[i].bytes), signature.parameter_count);
        for (unsigned p = 0; p < signature.parameter_count; p++) {
            assert_int_equal(signature.parameter_bytes[p], expected_bytes(table[i].bytes[p]));
            assert_int_equal(signature.parameter_is_pointer[p], table[i].bytes[p] == 'p');
        }
    }
}

static void others_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {
        "",
        "_",
        "_Z",
        "ampere_sgemm_128x64_tn",
        "_Z3fo",
        "_Z3foo",
        "_Z3fooi_",
        "_Z3fooS_",
        "_Z3fooS5_i",
        "_ZN3fooE",
        "_Z1fI",
        "_Z1fIiEv",
        "_Z1fIiEvT",
        "_ZTV1A",
        "_ZGV1a",
        "_Z99999999999999999999foov",
        "_Z1fPPPP",
        "_Z1fLi",
        "_Z4bindIJiEEvDpi", /* no pack to expand */
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (kernel_signature_parse(names[i], &signature))
            fail_msg("read: %s", names[i]);
}

static void too_much_is_refused(void **state)
{
    (void)state;
    char name[30000] = "_Z1f";
    memset(name + 4, 'P', 20000);
    strcpy(name + 20004, "i");
    assert_false(kernel_signature_parse(name, &signature));
    strcpy(name + 2000, "i"); /* short enough, too deep */
    assert_false(kernel_signature_parse(name, &signature));
    strcpy(name, "_Z1f");
    memset(name + 4, 'i', KERNEL_SIGNATURE_PARAMETERS_MOST);
    strcpy(name + 4 + KERNEL_SIGNATURE_PARAMETERS_MOST, "");
    assert_true(kernel_signature_parse(name, &signature));
    strcat(name, "i");
    assert_false(kernel_signature_parse(name, &signature));
}

/* A template parameter that stands in its own argument would be spelled for ever, and each "sr" may be read in two ways, of
 * which the second is tried when the first fails: 2 to the 50th here. Both end. */
static void what_never_ends_is_given_up(void **state)
{
    (void)state;
    static const char *const never[] = {"_Z1fIKT_EvPT_", "_Z1fIVT_EvPKT_", "_Z1fIRT_EvT_",
                                        "_Z1fIOT_EvRT_", "_Z1fIPT_EvT_",   "_Z1fIJKT_EEvDpPT_"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
        assert_true(kernel_signature_parse(never[i], &signature));
        assert_string_equal(signature.base, "f");
        assert_int_equal(signature.parameter_count, 1);
        assert_string_equal(signature.parameter[0], "?");
    }
    char name[400] = "_Z1fI";
    for (int i = 0; i < 50; i++)
        strcat(name, "Xsr1aI");
    assert_false(kernel_signature_parse(name, &signature));
}

/* A type that doubles with each parameter: the text has no room for the last ones, and what follows is still told. */
static void a_type_too_long_to_spell_is_a_question_mark(void **state)
{
    (void)state;
    char name[1000] = "_Z1k1AIiiE"; /* S_ is A, S0_ A<int, int> */
    for (unsigned i = 0; i < 16; i++)
        sprintf(name + strlen(name), "S_IS%X_S%X_E", i, i);
    strcat(name, "Pf");
    assert_true(kernel_signature_parse(name, &signature));
    assert_int_equal(signature.parameter_count, 18);
    assert_string_equal(signature.parameter[1], "A<A<int, int>, A<int, int> >");
    assert_string_equal(signature.parameter[16], "?");
    assert_string_equal(signature.parameter[17], "float*");
    assert_true(signature.parameter_is_pointer[17]);
}

/* ---- names of the field ---- */

static char line[1 << 16];

static FILE *open_names(void)
{
    FILE *file = fopen(KERNEL_NAMES, "r");
    assert_non_null(file);
    return file;
}

/* False at the end. */
static bool next_name(FILE *file, const char **demangled)
{
    do {
        if (!fgets(line, sizeof line, file))
            return false;
    } while (line[0] == '#');
    line[strcspn(line, "\n")] = '\0';
    char *tab = strchr(line, '\t');
    assert_non_null(tab);
    *tab = '\0';
    *demangled = tab + 1;
    return true;
}

static void are_spelled_as_binutils_does(void **state)
{
    (void)state;
    static char text[1 << 16];
    const char *demangled;
    FILE *file = open_names();
    unsigned count = 0;
    for (; next_name(file, &demangled); count++) {
        assert_true(mangled_parse(line, &tree));
        int bytes = mangled_print(&tree, tree.root, (struct mangled_scope){0, MANGLED_NO_ELEMENT}, text, sizeof text);
        assert_int_equal(bytes, (int)strlen(text));
        assert_string_equal(text, demangled);
    }
    assert_true(count > 300);
    fclose(file);
}

/* "(" and all parameters as the signature has them and ")" end what c++filt spells. */
static void parameters_are_those_that_binutils_spells(void **state)
{
    (void)state;
    static char text[1 << 15];
    const char *demangled;
    FILE *file = open_names();
    while (next_name(file, &demangled)) {
        assert_true(kernel_signature_parse(line, &signature));
        strcpy(text, "(");
        for (unsigned i = 0; i < signature.parameter_count; i++)
            strcat(strcat(text, i ? ", " : ""), signature.parameter[i]);
        strcat(text, ")");
        assert_true(strlen(text) < strlen(demangled));
        assert_string_equal(demangled + strlen(demangled) - strlen(text), text);
        const char *base = strstr(demangled, signature.base);
        assert_true(base && base[strlen(signature.base)] && strchr("<([", base[strlen(signature.base)]));
    }
    fclose(file);
}

/* ---- anything ---- */

static void parse_copy(const char *name, size_t bytes, size_t change, char to)
{
    char *copy = malloc(bytes + 1); /* so that a read behind it is seen */
    assert_non_null(copy);
    memcpy(copy, name, bytes);
    copy[bytes] = '\0';
    if (change < bytes)
        copy[change] = to;
    if (kernel_signature_parse(copy, &signature)) {
        assert_non_null(signature.base);
        for (unsigned i = 0; i < signature.parameter_count; i++)
            assert_true(signature.parameter[i] >= signature.text &&
                        signature.parameter[i] < signature.text + sizeof signature.text);
    }
    free(copy);
}

static void broken_names_do_no_harm(void **state)
{
    (void)state;
    static const char letters[] = "_0139ABCDEFGIJKLMNOPRSTUXZabcdefiklmnoprstvxyz.";
    const char *demangled;
    FILE *file = open_names();
    unsigned random = 1;
    while (next_name(file, &demangled)) {
        size_t bytes = strlen(line);
        for (size_t cut = 0; cut < bytes; cut += 1 + cut / 64)
            parse_copy(line, cut, bytes, 0);
        for (unsigned i = 0; i < 64; i++) {
            random = random * 1664525 + 1013904223;
            parse_copy(line, bytes, 2 + (random >> 8) % (bytes - 2), letters[(random >> 4) % (sizeof letters - 1)]);
        }
    }
    fclose(file);
}

static int spell_stdin(void)
{
    static char text[1 << 20];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        bool fits = mangled_parse(line, &tree) &&
                    mangled_print(&tree, tree.root, (struct mangled_scope){0, -1}, text, sizeof text) >= 0;
        puts(fits ? text : line);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_taken_apart),
        cmocka_unit_test(others_are_refused),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(what_never_ends_is_given_up),
        cmocka_unit_test(a_type_too_long_to_spell_is_a_question_mark),
        cmocka_unit_test(are_spelled_as_binutils_does),
        cmocka_unit_test(parameters_are_those_that_binutils_spells),
        cmocka_unit_test(broken_names_do_no_harm),
    };
    if (argc == 2 && !strcmp(argv[1], "--spell"))
        return spell_stdin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
