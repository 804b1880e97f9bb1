/* SPDX-License-Identifier: Apache-2.0 */
/* Which parameters of a kernel there are and how much of each is kept: a plan, made once for each kernel from its mangled
 * name, and from what the driver says of sizes; and the copy of a launch's values by it. Nothing here is decided by what the
 * kernel means: that is for classify/. */
#ifndef PRELOAD_PARAMETER_PLAN_H
#define PRELOAD_PARAMETER_PLAN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/kernel_names.h"
#include "trace/trace.h"
#include "trace/trace_writer.h"

enum {
    PARAMETER_PLANS_MOST = 4096, /* kernels of a process; those beyond have none, and are counted */
    PARAMETER_INNER_MOST = 24,   /* addresses in structs, of one kernel; of the rest nothing is kept */
    PARAMETER_UNKNOWN_STRUCT_MOST =
        128, /* bytes of a struct of whose layout nothing is known; a larger one is not kept */
};

/* What a launch pays for each time is its hash, over the values as they lie, in the order of their sizes: ORDER holds the numbers
 * of pointers, then of values of 4, 8, 12 and other bytes, those of 4 and 8 filled up with one that was there to whole
 * sixteens; then number and offset of each address inside a struct. */
struct parameter_plan {
    uint64_t name_id;
    uint8_t pointers, fours, eights, twelves, others, inner; /* in ORDER; fours and eights by sixteen bytes */
    uint8_t order[TRACE_PARAMETERS_MOST + 4 + 2 * PARAMETER_INNER_MOST];
    uint32_t count;
    uint32_t source; /* enum trace_plan_source */
    uint32_t value_bytes;
    struct trace_parameter parameter[TRACE_PARAMETERS_MOST];
};

/* One launch's values, in the order of the parameters. */
struct parameter_values {
    uint64_t pointer[TRACE_LAUNCH_POINTERS];
    uint32_t null_pointers;
    _Alignas(16) unsigned char value[TRACE_VALUE_BYTES_MOST];
};

/* Before the first launch. Off: no kernel has a plan. */
void parameter_plan_configure(bool on);

/* After a launch of KEY (see kernel_names.h) through entry ENTRY succeeded: makes the kernel's plan, unless it was decided that
 * it has none. */
enum parameter_plan_state { /* where there is one, it is its address; all others but 0 are odd */
                            PARAMETER_PLAN_UNDECIDED = 0,
                            PARAMETER_PLAN_NONE = 1,
                            PARAMETER_PLAN_IN_THE_MAKING = 3,
};
const struct parameter_plan *parameter_plan_decide(const void *key, unsigned entry);

/* The kernel's plan if it has one by now; *STATE: what is known if not. */
static inline const struct parameter_plan *parameter_plan_find(const void *key, uint64_t *state)
{
    const _Atomic uint64_t *place = kernel_names_plan(key);
    *state = place ? atomic_load_explicit(place, memory_order_acquire) : PARAMETER_PLAN_NONE;
    return __builtin_expect(*state & 1, 0) ? NULL : (const void *)(uintptr_t)*state;
}

/* Before what goes by it is written: the plan in the trace, once a process. False: it could not be written. */
bool parameter_plan_write(struct trace_thread *thread, const struct parameter_plan *plan);

/* As in trace_hash(), with a constant that needs no register. */
static inline uint64_t parameter_fold(uint64_t hash, uint64_t left, uint64_t right)
{
    return trace_hash_fold(left ^ (uint64_t)INT64_C(-0x6167c4db), right ^ hash);
}

static inline uint64_t parameter_four(void *const *parameters, unsigned number)
{
    uint32_t word;
    __builtin_memcpy(&word, parameters[number], sizeof word);
    return word;
}

static inline uint64_t parameter_eight(void *const *parameters, unsigned number)
{
    uint64_t word;
    __builtin_memcpy(&word, parameters[number], sizeof word);
    return word;
}

/* Of values of other sizes. */
uint64_t parameter_plan_hash_others(const struct parameter_plan *plan, void *const *parameters, const uint8_t *order,
                                    uint64_t hash);

/* PARAMETERS: as they were passed to a launch that succeeded, so the library has read every one of them. Hash of SEED and of all
 * values but the addresses, of which the first that are not NULL come first in POINTER. Never 0. */
enum { PARAMETER_POINTER_ROOM = TRACE_POINTERS_MOST + TRACE_LAUNCH_POINTERS };
static inline __attribute__((always_inline)) uint64_t parameter_plan_hash(const struct parameter_plan *plan,
                                                                          void *const *parameters, uint64_t seed,
                                                                          uint64_t pointer[PARAMETER_POINTER_ROOM])
{
    const uint8_t *at = plan->order;
    uint64_t hash = seed, set = 0, trail = 0;
    for (unsigned i = 0; i < TRACE_LAUNCH_POINTERS; i++)
        pointer[i] = 0;
    /* Where the NULLs are: sums of 1, 3, 7, 15 and so on, each at most once, are told apart; there are at most 56. */
    for (unsigned n = plan->pointers; n; n--, at++) {
        uint64_t address = parameter_eight(parameters, *at);
        pointer[set] = address;
        set += address != 0;
        trail = 2 * trail + set;
    }
    pointer[set] = 0;
    for (unsigned n = plan->fours; n; n--, at += 4)
        hash = parameter_fold(hash, parameter_four(parameters, at[0]) | parameter_four(parameters, at[1]) << 32,
                              parameter_four(parameters, at[2]) | parameter_four(parameters, at[3]) << 32);
    for (unsigned n = plan->eights; n; n--, at += 2)
        hash = parameter_fold(hash, parameter_eight(parameters, at[0]), parameter_eight(parameters, at[1]));
    for (unsigned n = plan->twelves; n; n--, at++) {
        uint32_t last;
        __builtin_memcpy(&last, (const char *)parameters[*at] + 8, sizeof last);
        hash = parameter_fold(hash, parameter_eight(parameters, *at), last);
    }
    if (__builtin_expect(plan->others, 0)) {
        hash = parameter_plan_hash_others(plan, parameters, at, hash);
        at += plan->others;
    }
    for (unsigned n = plan->inner; n; n--, at += 2) {
        uint64_t address;
        __builtin_memcpy(&address, (const char *)parameters[at[0]] + at[1], sizeof address);
        set += address != 0;
        trail = 2 * trail + set;
    }
    return parameter_fold(hash, trail, 0) | 1;
}

/* False: one is not there. */
bool parameter_plan_take(const struct parameter_plan *plan, void *const *parameters, struct parameter_values *values);

/* A launch shape with VALUES behind it, CONTENT zeroed from its values on; returns the bytes, a multiple of 8. */
struct launch_content {
    struct trace_launch_shape shape;
    unsigned char room[TRACE_VALUE_BYTES_MOST + TRACE_VALUE_BYTES_MOST / 16 + 16];
};
uint32_t parameter_plan_fill(const struct parameter_plan *plan, const struct parameter_values *values,
                             struct launch_content *content);

/* Kernels for whose plan there was no room. */
unsigned long parameter_plan_lost(void);

/* For tests: what is made of a name alone, SIZES of the parameters as the driver tells them (NULL: it does not). False: no
 * plan. */
bool parameter_plan_make(const char *name, const uint16_t *sizes, struct parameter_plan *plan);

#endif
