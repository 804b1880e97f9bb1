/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptor decoding against a libcublasLt: `test_lt_shapes [LIBRARY]`. Descriptors need neither device nor driver, so the
 * real library can be asked too. Attribute numbers are written out as cublasLt.h has them. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "preload/lt_shapes.h"

static const char *library = "libcublasLt.so.13";
static void *lt;
static int (*desc_create)(cublasLtMatmulDesc_t *, int, int), (*desc_destroy)(cublasLtMatmulDesc_t),
    (*desc_set)(cublasLtMatmulDesc_t, int, const void *, size_t);
static int (*layout_create)(cublasLtMatrixLayout_t *, int, uint64_t, uint64_t, int64_t),
    (*layout_destroy)(cublasLtMatrixLayout_t), (*layout_set)(cublasLtMatrixLayout_t, int, const void *, size_t),
    (*layout_init)(cublasLtMatrixLayout_t, size_t, int, uint64_t, uint64_t, int64_t);
static size_t (*version)(void);

static int open_library(void **state)
{
    (void)state;
    lt = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!lt) {
        fprintf(stderr, "%s\n", dlerror());
        return -1;
    }
    *(void **)&desc_create = dlsym(lt, "cublasLtMatmulDescCreate");
    *(void **)&desc_destroy = dlsym(lt, "cublasLtMatmulDescDestroy");
    *(void **)&desc_set = dlsym(lt, "cublasLtMatmulDescSetAttribute");
    *(void **)&layout_create = dlsym(lt, "cublasLtMatrixLayoutCreate");
    *(void **)&layout_destroy = dlsym(lt, "cublasLtMatrixLayoutDestroy");
    *(void **)&layout_set = dlsym(lt, "cublasLtMatrixLayoutSetAttribute");
    *(void **)&layout_init = dlsym(lt, "cublasLtMatrixLayoutInit_internal");
    *(void **)&version = dlsym(lt, "cublasLtGetVersion");
    return desc_create && desc_set && layout_create && layout_set && layout_init ? 0 : -1;
}

static const void *real(void)
{
    return (const void *)(uintptr_t)dlsym(lt, "cublasLtMatmul");
}

static void set32(cublasLtMatmulDesc_t desc, int attribute, int value)
{
    assert_int_equal(desc_set(desc, attribute, &value, 4), 0);
}

static void set64(cublasLtMatmulDesc_t desc, int attribute, int64_t value)
{
    assert_int_equal(desc_set(desc, attribute, &value, 8), 0);
}

static struct trace_signature blank(void)
{
    struct trace_signature s;
    memset(&s, 0, sizeof s);
    s.flags = TRACE_SIGNATURE_ARGS_NOT_READ;
    s.m = s.n = s.k = s.batch = -1;
    s.type_bias = s.type_aux = -1;
    for (int i = 0; i < 4; i++)
        s.type[i] = s.scale_mode[i] = -1, s.ld[i] = s.batch_stride[i] = -1;
    return s;
}

static struct lt_descriptors make(int compute, int scale, int type_ab, int type_cd, int transa)
{
    struct lt_descriptors d;
    assert_int_equal(desc_create(&d.desc, compute, scale), 0);
    set32(d.desc, 3, transa);
    assert_int_equal(layout_create(&d.layout[0], type_ab, transa ? 48 : 80, transa ? 80 : 48, 112), 0);
    assert_int_equal(layout_create(&d.layout[1], type_ab, 48, 96, 128), 0);
    assert_int_equal(layout_create(&d.layout[2], type_cd, 80, 96, 144), 0);
    assert_int_equal(layout_create(&d.layout[3], type_cd, 80, 96, 160), 0);
    return d;
}

static void destroy(struct lt_descriptors *d)
{
    desc_destroy(d->desc);
    lt_shapes_forget(d->desc);
    for (int i = 0; i < 4; i++) {
        layout_destroy(d->layout[i]);
        lt_shapes_forget(d->layout[i]);
    }
}

static void assert_sizes(const struct trace_signature *s, int64_t m, int64_t n, int64_t k)
{
    assert_int_equal(s->m, m);
    assert_int_equal(s->n, n);
    assert_int_equal(s->k, k);
}

static void sizes_and_types(void **state)
{
    (void)state;
    for (int transa = 0; transa < 3; transa++) {
        struct lt_descriptors d = make(68, 0, 14, 14, transa);
        struct trace_signature s = blank();
        lt_shapes_read(&d, real(), &s);
        assert_sizes(&s, 80, 96, 48);
        assert_int_equal(s.flags, 0);
        assert_int_equal(s.trans_a, transa);
        assert_int_equal(s.trans_b, 0);
        assert_int_equal(s.type[0], 14);
        assert_int_equal(s.type[3], 14);
        assert_int_equal(s.type_compute, 68);
        assert_int_equal(s.type_scale, 0);
        assert_int_equal(s.ld[0], 112);
        assert_int_equal(s.ld[1], 128);
        assert_int_equal(s.ld[2], 144);
        assert_int_equal(s.ld[3], 160);
        assert_int_equal(s.batch, 1);
        assert_int_equal(s.batch_mode, TRACE_BATCH_NONE);
        assert_int_equal(s.epilogue, 1);
        assert_int_equal(s.pointer_mode, 0);
        for (int i = 0; i < 4; i++) {
            assert_int_equal(s.order[i], 0);
            assert_int_equal(s.scale_mode[i], -1);
        }
        destroy(&d);
    }
}

static void epilogue_bias_aux(void **state)
{
    (void)state;
    struct lt_descriptors d = make(68, 0, 14, 14, 1);
    struct trace_signature s = blank();
    set32(d.desc, 7, 4 | 32 | 128); /* GELU_AUX_BIAS */
    set64(d.desc, 8, 0x7f0000001000);
    set32(d.desc, 26, 0);
    set64(d.desc, 11, 0x7f0000002000);
    set64(d.desc, 12, 176);
    lt_shapes_read(&d, real(), &s);
    assert_int_equal(s.epilogue, 164);
    assert_int_equal(s.flags, TRACE_SIGNATURE_BIAS | TRACE_SIGNATURE_AUX);
    assert_int_equal(s.type_bias, 0);
    assert_int_equal(s.aux_ld, 176);
    destroy(&d);
}

static void batches(void **state)
{
    (void)state;
    struct lt_descriptors d = make(68, 0, 2, 2, 0);
    struct trace_signature s = blank();
    const int count = 6;
    const int64_t stride[4] = {0, 10007, 10009, 10037};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(layout_set(d.layout[i], 5, &count, 4), 0);
        assert_int_equal(layout_set(d.layout[i], 6, &stride[i], 8), 0);
    }
    lt_shapes_read(&d, real(), &s);
    assert_int_equal(s.batch, 6);
    assert_int_equal(s.batch_mode, TRACE_BATCH_STRIDED);
    for (int i = 0; i < 4; i++)
        assert_int_equal(s.batch_stride[i], stride[i]);
    destroy(&d);
}

static void batches_of_pointers_and_groups(void **state)
{
    (void)state;
    struct lt_descriptors d = make(68, 0, 2, 2, 0);
    struct trace_signature s = blank();
    const int count = 6, pointers = 1, grouped = 2;
    int known = 0;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(layout_set(d.layout[i], 5, &count, 4), 0);
        known += layout_set(d.layout[i], 8, &pointers, 4) == 0;
    }
    if (known) { /* before 12.9 there is no such attribute */
        lt_shapes_read(&d, real(), &s);
        assert_int_equal(s.batch_mode, TRACE_BATCH_POINTERS);
        assert_int_equal(s.batch, 6);
        assert_sizes(&s, 80, 96, 48);
        assert_int_equal(s.flags, 0);
    }
    known = 0;
    for (int i = 0; i < 4; i++) {
        known += layout_set(d.layout[i], 8, &grouped, 4) == 0;
        lt_shapes_forget(d.layout[i]);
    }
    if (known) { /* since 13.1: sizes are on the device, whatever the layout says of rows and columns */
        s = blank();
        lt_shapes_read(&d, real(), &s);
        assert_int_equal(s.batch_mode, TRACE_BATCH_GROUPED);
        assert_sizes(&s, -1, -1, -1);
        assert_int_equal(s.flags, TRACE_SIGNATURE_ARGS_NOT_READ);
        assert_int_equal(s.type[0], 2);
    }
    destroy(&d);
}

/* An interleaved matrix beside two in planes; where the type is real nobody asks. */
static void planes(void **state)
{
    (void)state;
    struct lt_descriptors d = make(68, 4, 6, 6, 0);
    struct trace_signature s = blank();
    const int64_t offset = 1 << 20;
    assert_int_equal(layout_set(d.layout[0], 7, &offset, 8), 0);
    assert_int_equal(layout_set(d.layout[3], 7, &offset, 8), 0);
    lt_shapes_read(&d, real(), &s);
    assert_int_equal(s.type[0], 6);
    assert_int_equal(s.plane_offset[0], offset);
    assert_int_equal(s.plane_offset[1], 0);
    assert_int_equal(s.plane_offset[2], 0);
    assert_int_equal(s.plane_offset[3], offset);
    destroy(&d);
}

/* fp8 with a scale per tensor, and, where the version has them, block scales of mxfp8. */
static void scales(void **state)
{
    (void)state;
    struct lt_descriptors d = make(68, 0, 28, 14, 1);
    struct trace_signature s = blank();
    set64(d.desc, 17, 0x7f0000003000);
    set64(d.desc, 18, 0x7f0000004000);
    lt_shapes_read(&d, real(), &s);
    assert_int_equal(s.type[0], 28);
    assert_int_equal(s.scale_mode[0], 0);
    assert_int_equal(s.scale_mode[1], 0);
    assert_int_equal(s.scale_mode[2], -1);
    assert_int_equal(s.scale_mode[3], -1);
    int mode = 2; /* VEC32_UE8M0 */
    if (desc_set(d.desc, 31, &mode, 4) == 0) {
        lt_shapes_forget(d.desc);
        s = blank();
        lt_shapes_read(&d, real(), &s);
        assert_int_equal(s.scale_mode[0], 2);
    }
    destroy(&d);
}

static void int8_and_orders(void **state)
{
    (void)state;
    struct lt_descriptors d = make(72, 10, 3, 10, 1);
    struct trace_signature s = blank();
    const int order[4] = {2, 3, 0, 1}; /* COL32, COL4_4R2_8C, COL, ROW */
    for (int i = 0; i < 4; i++)
        assert_int_equal(layout_set(d.layout[i], 1, &order[i], 4), 0);
    lt_shapes_read(&d, real(), &s);
    assert_int_equal(s.type[0], 3);
    assert_int_equal(s.type[3], 10);
    assert_int_equal(s.type_compute, 72);
    assert_int_equal(s.type_scale, 10);
    for (int i = 0; i < 4; i++)
        assert_int_equal(s.order[i], order[i]);
    assert_sizes(&s, 80, 96, 48); /* order changes what ld means, not rows and columns */
    destroy(&d);
}

/* What is remembered is given back, and forgotten on any change: said, or seen in the bytes. */
static void remembered_and_forgotten(void **state)
{
    (void)state;
    struct lt_descriptors d = make(68, 0, 14, 14, 1);
    struct trace_signature first = blank(), again = blank(), changed = blank();
    struct lt_shapes_counters before = lt_shapes_counters();
    lt_shapes_read(&d, real(), &first);
    lt_shapes_read(&d, real(), &again);
    struct lt_shapes_counters after = lt_shapes_counters();
    assert_int_equal(after.read - before.read, 1);
    assert_int_equal(after.found - before.found, 1);
    assert_memory_equal(&first, &again, sizeof first);

    assert_int_equal(layout_init(d.layout[3], 64, 0, 72, 88, 200), 0); /* nobody said that */
    lt_shapes_read(&d, real(), &changed);
    assert_int_equal(changed.m, 72);
    assert_int_equal(changed.n, 88);
    assert_int_equal(changed.type[3], 0);
    assert_int_equal(changed.ld[3], 200);

    before = lt_shapes_counters();
    lt_shapes_forget(d.desc);
    changed = blank();
    lt_shapes_read(&d, real(), &changed);
    assert_int_equal(lt_shapes_counters().read - before.read, 1);
    destroy(&d);
}

static void missing_descriptors(void **state)
{
    (void)state;
    struct lt_descriptors d = make(68, 0, 14, 14, 1), without;
    for (int i = 0; i < 4; i++) {
        struct trace_signature s = blank();
        without = d;
        if (i == 2) {
            without.layout[2] = NULL;
            lt_shapes_read(&without, real(), &s);
            assert_sizes(&s, 80, 96, 48);
            assert_int_equal(s.type[2], -1);
            continue;
        }
        without.layout[i] = NULL;
        lt_shapes_read(&without, real(), &s);
        assert_int_equal(s.flags, TRACE_SIGNATURE_ARGS_NOT_READ);
        assert_int_equal(s.m, -1);
    }
    struct trace_signature s = blank();
    without = d;
    without.desc = NULL;
    lt_shapes_read(&without, real(), &s);
    assert_int_equal(s.flags, TRACE_SIGNATURE_ARGS_NOT_READ);
    destroy(&d);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_and_types),
        cmocka_unit_test(epilogue_bias_aux),
        cmocka_unit_test(batches),
        cmocka_unit_test(batches_of_pointers_and_groups),
        cmocka_unit_test(planes),
        cmocka_unit_test(scales),
        cmocka_unit_test(int8_and_orders),
        cmocka_unit_test(remembered_and_forgotten),
        cmocka_unit_test(missing_descriptors),
    };
    if (count > 1)
        library = arguments[1];
    return cmocka_run_group_tests(tests, open_library, NULL);
}
