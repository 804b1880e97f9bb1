/* SPDX-License-Identifier: Apache-2.0 */
/* Whom a kernel serves by the order of calls, where that depends on what came before: numbers of 16 bits made wider are the
 * last product's output, or what the next one reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "classify/helper_charge.h"

enum { CUDA_R_32F = 0, CUDA_R_16F = 2, CUDA_R_16BF = 14 };

static const struct trace_block_header block = {.tid = 1, .sequence = 1};

static void add_gemm(struct helper_charges *charges, uint64_t id, int32_t output)
{
    const struct trace_signature call = {.kind = TRACE_CALL_GEMM, .type = {CUDA_R_16F, CUDA_R_16F, output, output}};
    helper_charges_add(charges, &(struct helper_event){.block = &block,
                                                       .served = {true, false},
                                                       .read = true,
                                                       .narrow = helper_charge_is_narrow(&call),
                                                       .use = {USE_CALL, id}});
}

static void add_attention(struct helper_charges *charges, uint64_t shape)
{
    helper_charges_add(charges, &(struct helper_event){
                                    .block = &block, .served = {false, true}, .read = true, .use = {USE_SHAPE, shape}});
}

static void add_conversion(struct helper_charges *charges, uint64_t shape)
{
    helper_charges_add(charges, &(struct helper_event){
                                    .block = &block, .use = {USE_SHAPE, shape}, .helper = LAUNCH_SERVES_LAST_OUTPUT});
}

static void assert_serves(const struct helper_charges *charges, uint64_t shape, struct graph_use served)
{
    const struct helper_pair *pair = helper_charges_of_shape(charges, shape);
    assert_non_null(pair);
    assert_int_equal(pair->served.id, served.id);
    assert_int_equal(pair->served.of, served.of);
    assert_int_equal(pair->launches, 1);
    assert_null(helper_charges_next(charges, pair));
}

/* llama.cpp without a flash kernel: a product in fp16, its output, then K from the cache for a product in fp32. */
static void output_of_the_last(void **state)
{
    struct helper_charges charges = {0};
    (void)state;
    add_gemm(&charges, 100, CUDA_R_16F);
    add_conversion(&charges, 1);
    add_conversion(&charges, 2);
    add_gemm(&charges, 200, CUDA_R_32F);
    assert_serves(&charges, 1, (struct graph_use){USE_CALL, 100});
    assert_serves(&charges, 2, (struct graph_use){USE_CALL, 200});
    helper_charges_free(&charges);
}

/* llama.cpp on a GPU without bf16: each weight is made fp32 before its product, right behind the one before. */
static void weights_of_the_next(void **state)
{
    struct helper_charges charges = {0};
    (void)state;
    for (uint64_t i = 0; i < 3; i++) {
        add_conversion(&charges, 1 + i);
        add_gemm(&charges, 100 + i, CUDA_R_32F);
    }
    for (uint64_t i = 0; i < 3; i++)
        assert_serves(&charges, 1 + i, (struct graph_use){USE_CALL, 100 + i});
    helper_charges_free(&charges);
}

static void nothing_before_or_something_between(void **state)
{
    struct helper_charges charges = {0};
    (void)state;
    add_conversion(&charges, 1);
    add_attention(&charges, 50);
    add_gemm(&charges, 100, CUDA_R_16BF);
    add_attention(&charges, 51); /* not what an output waits for */
    add_conversion(&charges, 2);
    add_gemm(&charges, 101, CUDA_R_16F);
    add_gemm(&charges, 102, CUDA_R_32F); /* took the output as it was */
    add_conversion(&charges, 3);
    add_attention(&charges, 52);
    assert_serves(&charges, 1, (struct graph_use){USE_SHAPE, 50});
    assert_serves(&charges, 2, (struct graph_use){USE_CALL, 100});
    assert_serves(&charges, 3, (struct graph_use){USE_SHAPE, 52});
    helper_charges_free(&charges);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_of_the_last),
        cmocka_unit_test(weights_of_the_next),
        cmocka_unit_test(nothing_before_or_something_between),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
