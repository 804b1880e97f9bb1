/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors are opaque and their layout differs between versions, so they are read with the public getters, some forty
 * of them, 6 to 15 ns each. A program that keeps its descriptors pays for that once: the answer stays in a fixed table,
 * keyed by the five addresses. It is good as long as none of the five was made, changed or destroyed since (the interposed
 * functions say so), and, since a descriptor is a plain struct that may be copied or be changed through a function pointer
 * that we never saw, as long as the bytes that every version has are the same.
 *
 * A line of the table is read under a sequence lock that readers don't write to and writers only try: whoever does not get
 * a consistent line asks the getters. */
#include "preload/lt_shapes.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "preload/real_symbol.h"

enum { LT_A, LT_B, LT_C, LT_D, LT_LAYOUTS };

/* Sizes of cublasLtMatrixLayoutOpaque_t and cublasLtMatmulDescOpaque_t in the versions in which they are smallest (11.8). */
enum { LAYOUT_WORDS = 8, DESC_WORDS = 23 };

/* ---- reading ---- */

/* Attribute numbers and exact sizes of cublasLt.h, the same in 11.8 to 13.x where they exist. The library takes no other
 * size. FALLBACK: what holds where the version does not know the attribute. */
struct lt_attribute {
    int number;
    uint8_t bytes;
    int64_t fallback;
};

/* clang-format off */
static const struct lt_attribute
    layout_type         = {0, 4, TRACE_UNKNOWN},
    layout_order        = {1, 4, 0},
    layout_rows         = {2, 8, TRACE_UNKNOWN},
    layout_cols         = {3, 8, TRACE_UNKNOWN},
    layout_ld           = {4, 8, TRACE_UNKNOWN},
    layout_batch_count  = {5, 4, 1},
    layout_batch_stride = {6, 8, 0},
    layout_plane_offset = {7, 8, 0}, /* bytes; 0: not planar */
    layout_batch_mode   = {8, 4, 0}; /* 0 strided, 1 array of pointers, 2 grouped */

static const struct lt_attribute
    desc_compute_type = {0, 4, TRACE_UNKNOWN},
    desc_scale_type   = {1, 4, TRACE_UNKNOWN},
    desc_pointer_mode = {2, 4, TRACE_U8_UNKNOWN},
    desc_trans_a      = {3, 4, TRACE_U8_UNKNOWN},
    desc_trans_b      = {4, 4, TRACE_U8_UNKNOWN},
    desc_epilogue     = {7, 4, TRACE_UNKNOWN},
    desc_bias_pointer = {8, 8, 0},
    desc_aux_pointer  = {11, 8, 0},
    desc_aux_ld       = {12, 8, TRACE_UNKNOWN},
    desc_aux_type     = {22, 4, TRACE_UNKNOWN},
    desc_bias_type    = {26, 4, TRACE_UNKNOWN};

static const struct lt_attribute
    desc_scale_pointer[LT_LAYOUTS] = {{17, 8, 0}, {18, 8, 0}, {19, 8, 0}, {20, 8, 0}},
    desc_scale_mode[LT_LAYOUTS]    = {{31, 4, 0}, {32, 4, 0}, {33, 4, 0}, {34, 4, 0}}; /* before 12.8: one float */
/* clang-format on */

enum lt_batch_mode { LT_BATCH_STRIDED = 0, LT_BATCH_POINTERS = 1, LT_BATCH_GROUPED = 2 };

typedef cublasStatus_t lt_getter(const void *descriptor, int attribute, void *value, size_t bytes, size_t *written);

static int64_t ask(lt_getter *getter, const void *descriptor, const struct lt_attribute *attribute)
{
    union {
        int32_t narrow;
        int64_t wide;
    } value = {.wide = 0};
    size_t written = 0;
    if (getter(descriptor, attribute->number, &value, attribute->bytes, &written) != VENDOR_SUCCESS)
        return attribute->fallback;
    return attribute->bytes == 4 ? value.narrow : value.wide;
}

static uint8_t small(int64_t value)
{
    return value >= 0 && value < (int64_t)TRACE_U8_UNKNOWN ? (uint8_t)value : (uint8_t)TRACE_U8_UNKNOWN;
}

struct matrix {
    int64_t rows, cols;
};

static bool is_complex(int type)
{
    return type == VENDOR_C_16F || type == VENDOR_C_32F || type == VENDOR_C_64F || type == VENDOR_C_16BF ||
           type == VENDOR_C_8I || type == VENDOR_C_32I;
}

static struct matrix read_layout(lt_getter *getter, const void *layout, int index, struct trace_signature *s)
{
    s->type[index] = (int32_t)ask(getter, layout, &layout_type);
    s->order[index] = (int32_t)ask(getter, layout, &layout_order);
    s->ld[index] = ask(getter, layout, &layout_ld);
    s->plane_offset[index] = is_complex(s->type[index]) ? ask(getter, layout, &layout_plane_offset) : 0;
    int64_t count = ask(getter, layout, &layout_batch_count);
    s->batch_stride[index] = count > 1 ? ask(getter, layout, &layout_batch_stride) : 0;
    if (index == LT_D)
        s->batch = count;
    return (struct matrix){ask(getter, layout, &layout_rows), ask(getter, layout, &layout_cols)};
}

/* Sizes of a grouped batch lie in device memory: not known here. */
static void read_batch_mode(lt_getter *getter, const void *layout_d, struct trace_signature *s)
{
    switch (ask(getter, layout_d, &layout_batch_mode)) {
    case LT_BATCH_STRIDED:
        s->batch_mode = s->batch > 1 ? TRACE_BATCH_STRIDED : TRACE_BATCH_NONE;
        break;
    case LT_BATCH_POINTERS:
        s->batch_mode = TRACE_BATCH_POINTERS;
        break;
    default:
        s->batch_mode = TRACE_BATCH_GROUPED;
        s->m = s->n = s->k = TRACE_UNKNOWN;
        s->flags |= TRACE_SIGNATURE_ARGS_NOT_READ;
        break;
    }
}

static void read_desc(lt_getter *getter, const void *desc, struct trace_signature *s)
{
    s->type_compute = (int32_t)ask(getter, desc, &desc_compute_type);
    s->type_scale = (int32_t)ask(getter, desc, &desc_scale_type);
    s->pointer_mode = small(ask(getter, desc, &desc_pointer_mode));
    s->trans_a = small(ask(getter, desc, &desc_trans_a));
    s->trans_b = small(ask(getter, desc, &desc_trans_b));
    s->epilogue = (int32_t)ask(getter, desc, &desc_epilogue);
    if (ask(getter, desc, &desc_bias_pointer)) {
        s->flags |= TRACE_SIGNATURE_BIAS;
        s->type_bias = (int32_t)ask(getter, desc, &desc_bias_type);
    }
    if (ask(getter, desc, &desc_aux_pointer)) {
        s->flags |= TRACE_SIGNATURE_AUX;
        s->type_aux = (int32_t)ask(getter, desc, &desc_aux_type);
        s->aux_ld = ask(getter, desc, &desc_aux_ld);
    }
    for (int i = 0; i < LT_LAYOUTS; i++)
        if (ask(getter, desc, &desc_scale_pointer[i]))
            s->scale_mode[i] = (int32_t)ask(getter, desc, &desc_scale_mode[i]);
}

static void read_all(const struct lt_descriptors *d, lt_getter *get_desc, lt_getter *get_layout,
                     struct trace_signature *s)
{
    struct matrix matrix[LT_LAYOUTS] = {{TRACE_UNKNOWN, TRACE_UNKNOWN}};
    s->flags &= ~(uint32_t)TRACE_SIGNATURE_ARGS_NOT_READ;
    read_desc(get_desc, d->desc, s);
    for (int i = 0; i < LT_LAYOUTS; i++)
        if (d->layout[i])
            matrix[i] = read_layout(get_layout, d->layout[i], i, s);
    s->m = matrix[LT_D].rows;
    s->n = matrix[LT_D].cols;
    s->k = s->trans_a == TRACE_U8_UNKNOWN ? TRACE_UNKNOWN
           : s->trans_a == VENDOR_OP_N    ? matrix[LT_A].cols
                                          : matrix[LT_A].rows;
    read_batch_mode(get_layout, d->layout[LT_D], s);
}

/* ---- remembering ---- */

#if defined(__clang__)
#define UNROLLED _Pragma("unroll")
#else
#define UNROLLED _Pragma("GCC unroll 32")
#endif

enum {
    GENERATIONS = 4096,
    KEY_WORDS = 2 * (1 + LT_LAYOUTS), /* addresses, generations */
    CONTENT_WORDS = DESC_WORDS + LT_LAYOUTS * LAYOUT_WORDS,
    SHAPE_WORDS = sizeof(struct trace_signature) / 8,
};

struct line {
    _Atomic uint64_t sequence; /* odd: being written; 0: never used */
    _Atomic uint64_t facts;    /* pointer mode << 32, type of the scalars */
    _Atomic uint64_t key[KEY_WORDS];
    _Atomic uint64_t content[CONTENT_WORDS];
    _Atomic uint64_t shape[SHAPE_WORDS];
} __attribute__((aligned(64)));

static struct line lines[LT_SHAPES_LINES];
static _Atomic uint32_t generations[GENERATIONS];
static _Atomic uint64_t found_count, read_count;

static uint64_t mix(uint64_t x)
{
    x *= 0x9e3779b97f4a7c15ull;
    return x ^ x >> 32;
}

static _Atomic uint32_t *generation_of(const void *descriptor)
{
    return &generations[mix((uint64_t)(uintptr_t)descriptor) % GENERATIONS];
}

void lt_shapes_forget(const void *descriptor)
{
    if (descriptor)
        atomic_fetch_add_explicit(generation_of(descriptor), 1, memory_order_release);
}

static const void *part_of(const struct lt_descriptors *d, int index)
{
    return index ? (const void *)d->layout[index - 1] : (const void *)d->desc;
}

static inline uint64_t generation_now(const void *part)
{
    return part ? atomic_load_explicit(generation_of(part), memory_order_acquire) : 0;
}

static inline struct line *line_of(const struct lt_descriptors *d)
{
    /* Addresses only: a change overwrites the line in place. */
    uint64_t h = (uint64_t)(uintptr_t)d->desc + 3 * (uint64_t)(uintptr_t)d->layout[LT_A] +
                 5 * (uint64_t)(uintptr_t)d->layout[LT_B] + 7 * (uint64_t)(uintptr_t)d->layout[LT_C] +
                 9 * (uint64_t)(uintptr_t)d->layout[LT_D];
    return &lines[(mix(h) >> 16) % LT_SHAPES_LINES];
}

/* The address of C may be NULL. */
static inline uint64_t key_difference(const struct line *line, const struct lt_descriptors *d)
{
    uint64_t difference = 0;
    UNROLLED
    for (int i = 0; i <= LT_LAYOUTS; i++) {
        const void *part = part_of(d, i);
        difference |= atomic_load_explicit(&line->key[i], memory_order_relaxed) ^ (uint64_t)(uintptr_t)part;
        difference |= atomic_load_explicit(&line->key[1 + LT_LAYOUTS + i], memory_order_relaxed) ^ generation_now(part);
    }
    return difference;
}

typedef uint64_t opaque_word __attribute__((may_alias));

/* The descriptors' own bytes with those that are remembered. */
static inline __attribute__((always_inline)) uint64_t words_difference(const _Atomic uint64_t *there,
                                                                       const void *descriptor, int words)
{
    const opaque_word *here = descriptor;
    uint64_t difference = 0;
    UNROLLED
    for (int i = 0; i < words; i++)
        difference |= atomic_load_explicit(&there[i], memory_order_relaxed) ^ here[i];
    return difference;
}

static inline uint64_t content_difference(const struct line *line, const struct lt_descriptors *d)
{
    uint64_t difference = words_difference(line->content, d->desc, DESC_WORDS);
    UNROLLED
    for (int i = 0; i < LT_LAYOUTS; i++)
        if (d->layout[i])
            difference |= words_difference(line->content + DESC_WORDS + i * LAYOUT_WORDS, d->layout[i], LAYOUT_WORDS);
    return difference;
}

static bool is_complete(const struct lt_descriptors *d)
{
    return d->desc && d->layout[LT_A] && d->layout[LT_B] && d->layout[LT_D];
}

static struct lt_found found_in(const struct line *line, uint64_t sequence, uint64_t facts)
{
    return (struct lt_found){.sequence = sequence,
                             .line = (uint32_t)(line - lines),
                             .type_scale = (int32_t)facts,
                             .pointer_mode = (uint8_t)(facts >> 32)};
}

/* Sequence of the line if it holds D's shape, else 0. What else of the line was read counts only if still_holds(). */
static inline uint64_t sequence_if_held(const struct line *line, const struct lt_descriptors *d)
{
    uint64_t sequence = atomic_load_explicit(&line->sequence, memory_order_acquire);
    bool same = !(sequence & 1) && sequence && !key_difference(line, d) && !content_difference(line, d);
    return same ? sequence : 0;
}

static inline bool still_holds(const struct line *line, uint64_t sequence)
{
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&line->sequence, memory_order_relaxed) == sequence;
}

struct lt_found lt_shapes_find(const struct lt_descriptors *d)
{
    const struct lt_found none = {0};
    if (!is_complete(d))
        return none;
    const struct line *line = line_of(d);
    uint64_t sequence = sequence_if_held(line, d);
    if (!sequence)
        return none;
    uint64_t facts = atomic_load_explicit(&line->facts, memory_order_relaxed);
    return still_holds(line, sequence) ? found_in(line, sequence, facts) : none;
}

static struct lt_found recall(const struct line *line, const struct lt_descriptors *d,
                              struct trace_signature *signature)
{
    uint64_t shape[SHAPE_WORDS], sequence = sequence_if_held(line, d);
    if (!sequence)
        return found_in(line, 0, 0);
    for (int i = 0; i < SHAPE_WORDS; i++)
        shape[i] = atomic_load_explicit(&line->shape[i], memory_order_relaxed);
    uint64_t facts = atomic_load_explicit(&line->facts, memory_order_relaxed);
    if (!still_holds(line, sequence))
        return found_in(line, 0, 0);
    memcpy(signature, shape, sizeof shape);
    return found_in(line, sequence, facts);
}

/* What a line will say of the descriptors as they are before the getters are asked. */
struct snapshot {
    uint64_t key[KEY_WORDS], content[CONTENT_WORDS];
};

static void take_snapshot(const struct lt_descriptors *d, struct snapshot *taken)
{
    for (int i = 0; i <= LT_LAYOUTS; i++) {
        const void *part = part_of(d, i);
        taken->key[i] = (uint64_t)(uintptr_t)part;
        taken->key[1 + LT_LAYOUTS + i] = generation_now(part);
    }
    memcpy(taken->content, d->desc, DESC_WORDS * 8);
    for (int i = 0; i < LT_LAYOUTS; i++) {
        uint64_t *to = taken->content + DESC_WORDS + i * LAYOUT_WORDS;
        if (d->layout[i])
            memcpy(to, d->layout[i], LAYOUT_WORDS * 8);
        else
            memset(to, 0, LAYOUT_WORDS * 8);
    }
}

static void store_words(_Atomic uint64_t *to, const uint64_t *from, int words)
{
    for (int i = 0; i < words; i++)
        atomic_store_explicit(&to[i], from[i], memory_order_relaxed);
}

static struct lt_found remember(struct line *line, const struct snapshot *taken,
                                const struct trace_signature *signature)
{
    uint64_t shape[SHAPE_WORDS], facts = (uint64_t)signature->pointer_mode << 32 | (uint32_t)signature->type_scale;
    uint64_t sequence = atomic_load_explicit(&line->sequence, memory_order_relaxed);
    if (sequence & 1 || !atomic_compare_exchange_strong(&line->sequence, &sequence, sequence + 1))
        return found_in(line, 0, 0); /* another thread is at this line */
    atomic_thread_fence(memory_order_release);
    memcpy(shape, signature, sizeof shape);
    store_words(line->key, taken->key, KEY_WORDS);
    store_words(line->content, taken->content, CONTENT_WORDS);
    store_words(line->shape, shape, SHAPE_WORDS);
    atomic_store_explicit(&line->facts, facts, memory_order_relaxed);
    atomic_store_explicit(&line->sequence, sequence + 2, memory_order_release);
    return found_in(line, sequence + 2, facts);
}

static void count(_Atomic uint64_t *counter)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1, memory_order_relaxed);
}

struct lt_found lt_shapes_read(const struct lt_descriptors *d, const void *real, struct trace_signature *signature)
{
    const struct lt_found none = {0};
    struct snapshot taken;
    if (!is_complete(d))
        return none;
    struct line *line = line_of(d);
    struct lt_found found = recall(line, d, signature);
    if (found.sequence) {
        count(&found_count);
        return found;
    }
    lt_getter *get_desc = real_symbol_ask(ASKED_cublasLtMatmulDescGetAttribute, real);
    lt_getter *get_layout = real_symbol_ask(ASKED_cublasLtMatrixLayoutGetAttribute, real);
    if (!get_desc || !get_layout)
        return none;
    count(&read_count);
    take_snapshot(d, &taken);
    read_all(d, get_desc, get_layout, signature);
    return remember(line, &taken, signature);
}

struct lt_shapes_counters lt_shapes_counters(void)
{
    return (struct lt_shapes_counters){atomic_load_explicit(&found_count, memory_order_relaxed),
                                       atomic_load_explicit(&read_count, memory_order_relaxed)};
}
