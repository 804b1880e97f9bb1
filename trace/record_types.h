/* SPDX-License-Identifier: Apache-2.0 */
/* What the reader must know of each record type: one row a type. */
#ifndef TRACE_RECORD_TYPES_H
#define TRACE_RECORD_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/trace.h"

/* Set by a check where the record ends in text. */
struct record_text {
    const char *text;
    uint32_t bytes;
};

struct record_type {
    enum trace_record_type type;
    const char *name;
    uint32_t least_bytes; /* its size in version 1.0: fields are only ever added behind */
    bool is_content;      /* others refer to it by offset; carries the hash of what follows its id */
    /* Which content it refers to by the word behind its header; 0: none. */
    enum trace_record_type refers_to;
    /* Further conditions; NULL: none. The record has at least least_bytes. */
    bool (*check)(const struct trace_record *record, struct record_text *text);
};

extern const struct record_type record_types[];
extern const size_t record_type_count;

/* NULL: a type of a later minor version. */
const struct record_type *record_type_find(uint16_t type);
/* Whether SAMPLE records may hold one. */
bool record_type_is_sampled(uint16_t type);

#endif
