/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the tables of classify/model/: nothing twice, nothing without a source, sizes that agree with one another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>

#include "classify/model/families.h"
#include "classify/model/formats.h"
#include "classify/weight_format.h"

static void families_are_whole(void **state)
{
    (void)state;
    size_t count;
    const struct model_family *rows = model_families(&count);
    assert_true(count >= 18);
    for (size_t i = 0; i < count; i++) {
        assert_non_null(rows[i].title);
        assert_non_null(rows[i].config_class);
        assert_non_null(rows[i].source);
        assert_ptr_equal(model_family_find(rows[i].model_type), &rows[i]); /* also: no model_type twice */
        for (int d = 0; d < FAMILY_DEFAULTS && rows[i].defaults[d].field; d++)
            assert_ptr_equal(model_family_default(&rows[i], rows[i].defaults[d].field), &rows[i].defaults[d]);
    }
    assert_null(model_family_find("lla"));
    assert_null(model_family_find("llama2"));
}

/* A family that can slide says how far where its files do not, but for those whose files always say it. */
static void windows_have_a_size(void **state)
{
    (void)state;
    size_t count;
    const struct model_family *rows = model_families(&count);
    for (size_t i = 0; i < count; i++)
        if (rows[i].window != FAMILY_NO_WINDOW)
            assert_non_null(model_family_default(&rows[i], "sliding_window"));
}

static void formats_agree_with_themselves(void **state)
{
    (void)state;
    size_t count;
    const struct model_format *rows = model_formats(&count);
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(model_format_by_name(rows[i].name), &rows[i]);
        if (rows[i].safetensors)
            assert_ptr_equal(model_format_by_safetensors(rows[i].safetensors), &rows[i]);
        if (rows[i].gguf_type >= 0) {
            assert_ptr_equal(model_format_by_gguf((uint32_t)rows[i].gguf_type), &rows[i]);
            assert_true(rows[i].block > 0);
        }
        if (rows[i].block)
            assert_true(rows[i].bits == rows[i].block_bytes * 8.0 / rows[i].block);
        if (rows[i].uses & MODEL_FORMAT_OPERANDS)
            assert_int_not_equal(rows[i].path, GPU_PATH_UNKNOWN);
    }
}

/* What is in the table of weight formats, too, takes the same bits there. */
static void formats_agree_with_weight_formats(void **state)
{
    (void)state;
    size_t count, weights, compared = 0;
    const struct model_format *rows = model_formats(&count);
    const struct weight_format *others = weight_formats(&weights);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < weights; j++)
            if (!strcasecmp(rows[i].name, others[j].name)) {
                assert_true(rows[i].bits == weight_format_bits(&others[j]));
                compared++;
            }
    assert_true(compared >= 20);
}

static void torch_names_are_read(void **state)
{
    (void)state;
    assert_string_equal(model_format_by_torch("bfloat16")->name, "bf16");
    assert_string_equal(model_format_by_torch("torch.float16")->name, "fp16");
    assert_null(model_format_by_torch("bfloat"));
    assert_null(model_format_by_torch(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(families_are_whole),
        cmocka_unit_test(windows_have_a_size),
        cmocka_unit_test(formats_agree_with_themselves),
        cmocka_unit_test(formats_agree_with_weight_formats),
        cmocka_unit_test(torch_names_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
