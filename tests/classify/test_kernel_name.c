/* SPDX-License-Identifier: Apache-2.0 */
/* The identifiers in names: what c++filt prints of the mangled ones stands beside them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "classify/kernel_name.h"

static const struct {
    const char *name, *function, *words; /* the words with a blank behind each */
} names[] = {
    {"_ZN4vllm15rms_norm_kernelIN3c104HalfEEEvPT_PKS3_lS6_fii", "rms_norm_kernel", "vllm rms_norm_kernel c10 Half "},
    {"void vllm::rms_norm_kernel<c10::Half>(c10::Half*, c10::Half const*, long)", "rms_norm_kernel",
     "void vllm rms_norm_kernel c10 Half c10 Half c10 Half const long "},
    /* void axpy<(Kind)12, (ns::Mode)0, true, -3>(__half*): values of named types are no lengths of identifiers. */
    {"_Z4axpyIL4Kind12ELN2ns4ModeE0ELb1ELin3EEvP6__half", "axpy", "axpy Kind ns Mode __half "},
    /* f<g()::{lambda()#1}::operator()() const::{lambda(Half)#4}>: nor are the numbers of lambdas. */
    {"_Z1fIZZ1gvENKUlvE_clEvEUl4HalfE3_EvT_", "f", "f g Half "},
    {"_ZL13mul_mat_vec_qIfEvPKT_", "mul_mat_vec_q", "mul_mat_vec_q "},
    {"_ZN12_GLOBAL__N_13ns26kernelE1A", "kernel", "_GLOBAL__N_1 ns2 kernel A "},
    {"_ZN6TraitsILi3EE6kernelEiPf", "kernel", "Traits kernel "},
    {"_ZN7cutlass13device_kernelIN5flash16FlashAttnFwdS", "device_kernel",
     "cutlass device_kernel flash FlashAttnFwdS "},
    {"(anonymous namespace)::f(int)", "f", "anonymous namespace f int "},
    {"void ns::(anonymous namespace)::g<A<(B)1> >(C (*)(int))", "g", "void ns anonymous namespace g A B C int "},
    {"triton_poi_fused_add_0", "triton_poi_fused_add_0", "triton_poi_fused_add_0 "},
    {"_ZN4vllm5topk_Efoo.cold", "topk_", "vllm topk_ "},
    {"_Z", "_Z", ""},
    {"", "", ""},
};

static void test_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char words[512] = "", *end = words;
        struct kernel_word function = kernel_name_function(names[i].name), word;
        struct kernel_name_walk walk;
        if (function.bytes != strlen(names[i].function) || strncmp(function.begin, names[i].function, function.bytes))
            fail_msg("the function of %s is '%.*s'", names[i].name, (int)function.bytes, function.begin);
        kernel_name_walk_begin(&walk, names[i].name);
        while (kernel_name_walk_next(&walk, &word))
            end += sprintf(end, "%.*s ", (int)word.bytes, word.begin);
        assert_string_equal(words, names[i].words);
    }
}

static const struct {
    const char *word, *pattern;
    bool matches;
} patterns[] = {
    {"all_reduce_kernel", "*all|reduce*", true},
    {"ncclAllReduce", "*all|reduce*", true},
    {"smallreduce", "*all|reduce*", false},
    {"FillFunctor", "*|fill|*", true},
    {"prefill", "*|fill|*", false},
    {"fill", "|fill|", true},
    {"fused_fill", "*|fill|*", true},
    {"QKNormRope", "*|norm|*", true},
    {"RMSNorm", "*|norm|*", true},
    {"normal_fill", "*|norm|*", false},
    {"l2norm", "*|norm", true},
    {"s16816gemm", "*|gemm", true},
    {"FLASH_fwd", "flash_fwd*", true},
    {"my_flash_fwd", "flash_fwd*", false},
    {"abab", "*ab", true},
    {"abac", "*ab", false},
    {"aaab", "a*a*b", true},
    {"", "*", true},
    {"", "", true},
    {"a", "", false},
    {"", "a", false},
    {"abc", "***c*", true},
    {"a_b", "a|b", true},
    {"ab", "a|b", false},
};

static void test_patterns(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        struct kernel_word word = {patterns[i].word, strlen(patterns[i].word)};
        if (kernel_word_matches(word, patterns[i].pattern) != patterns[i].matches)
            fail_msg("'%s' and '%s'", patterns[i].word, patterns[i].pattern);
    }
}

/* Strangers' names: any bytes, any length, any nesting. Each walk ends, and every word lies in its name. */
static void test_hostile_names(void **state)
{
    static const char alphabet[] = "_ZNIEJXLSTUlDAFt0123456789abn<>(){}:,*& .\xff\xc3\x01gemm";
    enum { LONGEST = 70000, NAMES = 3000 };
    char *name = malloc(LONGEST + 1);
    uint32_t random = 12345;
    (void)state;
    assert_non_null(name);
    for (int i = 0; i < NAMES; i++) {
        size_t bytes = i < 8 ? LONGEST : (size_t)(i % 200);
        for (size_t j = 0; j < bytes; j++) {
            random = random * 1664525u + 1013904223u;
            name[j] = i == 0 ? 'N' : i == 1 ? '<' : i == 2 ? '9' : alphabet[(random >> 16) % (sizeof alphabet - 1)];
        }
        name[bytes] = '\0';
        if (i % 2 == 0 && bytes > 1)
            memcpy(name, "_Z", 2);
        struct kernel_word function = kernel_name_function(name), word;
        struct kernel_name_walk walk;
        assert_true(function.begin >= name && function.begin + function.bytes <= name + bytes);
        kernel_name_walk_begin(&walk, name);
        while (kernel_name_walk_next(&walk, &word)) {
            assert_true(word.bytes && word.begin >= name && word.begin + word.bytes <= name + bytes);
            kernel_word_matches(word, "*a|b*c*");
        }
    }
    free(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_hostile_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
