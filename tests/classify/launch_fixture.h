/* SPDX-License-Identifier: Apache-2.0 */
/* A launch's parameters as a trace keeps them, made one after another. */
#ifndef TESTS_CLASSIFY_LAUNCH_FIXTURE_H
#define TESTS_CLASSIFY_LAUNCH_FIXTURE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "trace/launch_values.h"

struct launch_fixture {
    struct launch_parameters parameters;
    unsigned pointers;
    union {
        struct trace_parameter_plan plan;
        unsigned char
            bytes[sizeof(struct trace_parameter_plan) + TRACE_PARAMETERS_MOST * sizeof(struct trace_parameter)];
    };
};

static inline void fixture_begin(struct launch_fixture *fixture)
{
    memset(fixture, 0, sizeof *fixture);
    fixture->parameters.plan = &fixture->plan;
}

static inline void fixture_pointer(struct launch_fixture *fixture, int set)
{
    fixture->plan.parameter[fixture->plan.count++] =
        (struct trace_parameter){.bytes = 8, .kind = TRACE_PARAMETER_POINTER};
    fixture->parameters.null_pointers |= set ? 0 : UINT32_C(1) << fixture->pointers;
    fixture->pointers++;
}

/* KEPT of its BYTES. */
static inline void fixture_bytes(struct launch_fixture *fixture, const void *value, unsigned bytes, unsigned kept)
{
    fixture->plan.parameter[fixture->plan.count++] =
        (struct trace_parameter){.bytes = (uint16_t)bytes, .kept = (uint16_t)kept, .kind = TRACE_PARAMETER_VALUE};
    memcpy(fixture->parameters.values + fixture->parameters.value_bytes, value, kept);
    fixture->parameters.value_bytes += (kept + 3) & ~3u;
}

static inline void fixture_u32(struct launch_fixture *fixture, uint32_t value)
{
    fixture_bytes(fixture, &value, 4, 4);
}

static inline void fixture_i64(struct launch_fixture *fixture, int64_t value)
{
    fixture_bytes(fixture, &value, 8, 8);
}

/* ggml's fastdiv: a multiplier and a shift that nobody reads here, and the plain value. */
static inline void fixture_fastdiv(struct launch_fixture *fixture, uint32_t value)
{
    const uint32_t words[3] = {0x80000000u, 3, value};
    fixture_bytes(fixture, words, 12, 12);
}

#endif
