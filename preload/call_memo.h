/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread remembers of its calls, so that one that asks the same again costs a comparison: by what was asked, where
 * in the thread's block the signature or launch shape lies. Kept in the thread's scratch; no other thread sees it, and a
 * signal handler's calls don't either, since nobody is inside two recorded calls of a kind at a time (preload/depth.h). */
#ifndef PRELOAD_CALL_MEMO_H
#define PRELOAD_CALL_MEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/trace_thread.h"

/* What a cuBLAS call passes by value; what its scalars are follows from it. */
struct call_shape {
    int64_t m, n, k, batch, ld[3];
    uint64_t facts; /* call_facts() */
    int32_t type[3], type_compute;
    int64_t batch_stride[3]; /* not set before it is needed where there are none */
};

/* What the library said after the call, and what alpha and beta are. */
struct call_answers {
    uint64_t modes;   /* math mode, pointer mode << 32, and CALL_SCALARS_CLASSIFIED */
    uint64_t scalars; /* the bits of alpha, of beta << 32, both float; or, CLASSIFIED, enum trace_scalar of each */
};
enum { CALL_MEMO_VECTOR_BYTES = 80 /* of a shape, up to the strides */ };
#define CALL_SCALARS_CLASSIFIED (1ull << 40)

struct call_memo {
    _Alignas(64) struct call_shape shape;
    struct call_answers answers;
    uint64_t place; /* of the signature */
};

struct lt_memo {
    uint64_t sequence; /* of the remembered descriptors, see lt_shapes_find() */
    uint64_t answers;
    uint64_t place;
    uint64_t zero;
};

/* What a launch passes by value, in words as they are compared. Sizes are zero with a config, which is read once the
 * launch succeeded. */
struct launch_shape {
    const void *kernel;                         /* key of its name */
    uint64_t entry_shared;                      /* entry, dynamic shared bytes << 32 */
    uint64_t grid_xy, block_xy, grid_z_block_z; /* paired as a dim3 is passed: else a load would span two stores */
    uint64_t names;                             /* kernel_names_version(): the key may come to mean another name */
};

static inline uint64_t memo_pair(uint32_t low, uint32_t high)
{
    return low | (uint64_t)high << 32;
}

struct launch_memo {
    _Alignas(64) struct launch_shape shape;
    uint64_t place; /* of the launch shape */
};

/* Of a launch whose parameters' values are kept: by the hash of these and of all of its shape. */
struct values_memo {
    uint64_t hash; /* 0: none */
    uint64_t place;
};

enum { CALL_MEMOS = 128, LT_MEMOS = 512, LAUNCH_MEMOS = 256, VALUES_MEMOS = 512 }; /* all but LT in sets of two */

struct call_memory {
    struct call_memo call[CALL_MEMOS];
    struct launch_memo launch[LAUNCH_MEMOS];
    struct lt_memo lt[LT_MEMOS];
    struct values_memo values[VALUES_MEMOS];
};

_Static_assert(offsetof(struct call_shape, batch_stride) == CALL_MEMO_VECTOR_BYTES, "call_memo_is()");
_Static_assert(sizeof(struct call_shape) == 104 && sizeof(struct call_memo) == 128, "two cache lines, no padding");
_Static_assert(sizeof(struct launch_shape) == 48 && sizeof(struct launch_memo) == 64, "a cache line");
_Static_assert(sizeof(struct call_memory) <= TRACE_SCRATCH_BYTES, "scratch");

static inline struct call_memory *call_memory(struct trace_thread *thread)
{
    return trace_thread_scratch(thread);
}

/* Says that OBJECT is in memory, once and for all: else the compiler keeps its parts in a second place too. */
#define MEMO_SETTLE(object) __asm__("" : "+m"(object))

typedef uint64_t memo_words __attribute__((vector_size(16), may_alias));

/* Both aligned to 16; BYTES: a constant, a multiple of 16. Without a branch: what is compared is nearly always equal. */
static inline __attribute__((always_inline)) bool memo_equal(const void *left, const void *right, unsigned bytes)
{
    const memo_words *a = left, *b = right;
    memo_words differ = a[0] ^ b[0];
#if !defined(__clang__)
#pragma GCC unroll 8
#endif
    for (unsigned i = 1; i < bytes / 16; i++)
        differ |= a[i] ^ b[i];
    return (differ[0] | differ[1]) == 0;
}

static inline uint64_t memo_mix(uint64_t hash)
{
    return hash * 0x9e3779b97f4a7c15ull >> 32;
}

/* The first of the two places where SHAPE may be. Not every field takes part: two that differ only elsewhere fit in. */
static inline __attribute__((always_inline)) struct call_memo *call_memo_set(struct call_memory *memory,
                                                                             const struct call_shape *shape)
{
    uint64_t hash = shape->facts + (uint64_t)shape->m * 0x165667b1u + (uint64_t)shape->n * 0x27d4eb2fu +
                    (uint64_t)shape->k * 0x5bd1e995u;
    return &memory->call[memo_mix(hash) % (CALL_MEMOS / 2) * 2];
}

/* STRIDED: if not, SHAPE has no strides, and so has no other of the same facts. */
static inline __attribute__((always_inline)) bool
call_memo_is(const struct call_memo *memo, const struct call_shape *shape, struct call_answers answers, bool strided)
{
    const int64_t *there = memo->shape.batch_stride, *here = shape->batch_stride;
    bool same = memo->answers.modes == answers.modes && memo->answers.scalars == answers.scalars &&
                memo_equal(&memo->shape, shape, CALL_MEMO_VECTOR_BYTES);
    return same && (!strided || (there[0] == here[0] && there[1] == here[1] && there[2] == here[2]));
}

/* Told apart by more than where it leads to: the start of other hashes too. */
static inline __attribute__((always_inline)) uint64_t launch_memo_hash(const struct launch_shape *shape)
{
    return (uint64_t)(uintptr_t)shape->kernel + shape->grid_xy * 0x165667b1u + shape->block_xy * 0x27d4eb2fu +
           shape->grid_z_block_z * 0x5bd1e995u;
}

static inline __attribute__((always_inline)) struct launch_memo *launch_memo_at(struct call_memory *memory,
                                                                                uint64_t hash)
{
    return &memory->launch[memo_mix(hash) % (LAUNCH_MEMOS / 2) * 2];
}

static inline __attribute__((always_inline)) struct launch_memo *launch_memo_set(struct call_memory *memory,
                                                                                 const struct launch_shape *shape)
{
    return launch_memo_at(memory, launch_memo_hash(shape));
}

static inline __attribute__((always_inline)) bool launch_memo_is(const struct launch_memo *memo,
                                                                 const struct launch_shape *shape)
{
    const struct launch_shape *there = &memo->shape;
    return __builtin_expect(there->kernel == shape->kernel, 1) &&
           !((there->entry_shared ^ shape->entry_shared) | (there->grid_xy ^ shape->grid_xy) |
             (there->block_xy ^ shape->block_xy) | (there->grid_z_block_z ^ shape->grid_z_block_z) |
             (there->names ^ shape->names));
}

#endif
