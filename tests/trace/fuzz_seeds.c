/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_seeds FOLDER: inputs of fuzz_reader to start from, one of each kind of block and record. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "trace/launch_values.h"
#include "trace/record_types.h"
#include "trace_fixture.h"

static void write_seed(const char *folder, const char *name, unsigned char flags, const struct builder *b, size_t last)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    CHECK(file);
    fputc(flags, file);
    for (size_t at = 0; at < b->size; at += TRACE_BLOCK_BYTES) {
        size_t length = at + TRACE_BLOCK_BYTES < b->size ? 1024 : last;
        fputc((int)(length & 255), file);
        fputc((int)(length >> 8), file);
        fwrite(b->bytes + at, 1, length, file);
    }
    CHECK(fclose(file) == 0);
}

/* With values behind it: a word of each width, and two pointers, one of them NULL. */
static uint32_t add_shape(struct builder *b)
{
    static const uint32_t words[4] = {0, 1, 0x1234, 0x12345678};
    union {
        struct trace_launch_shape shape;
        unsigned char bytes[LAUNCH_SHAPE_BYTES_MOST];
    } record = {.shape = {.name_id = 1, .entry = 1, .grid = {1, 1, 1}, .block = {32, 1, 1}}};
    struct trace_launch_values *values = (void *)(record.bytes + sizeof record.shape);
    values->null_pointers = 1;
    values->value_bytes = sizeof words;
    values->packed_bytes = (uint16_t)launch_values_pack(words, sizeof words, values->packed);
    return builder_add(b, TRACE_RECORD_LAUNCH_SHAPE, &record,
                       sizeof record.shape + sizeof *values + values->packed_bytes);
}

/* The plan of that shape's kernel. */
static void add_plan(struct builder *b)
{
    struct {
        struct trace_parameter_plan fixed;
        struct trace_parameter parameter[4];
    } record = {.fixed = {.name_id = 1, .count = 4, .source = TRACE_PLAN_DRIVER},
                .parameter = {{.bytes = 8, .kind = TRACE_PARAMETER_POINTER},
                              {.bytes = 12, .kept = 12, .kind = TRACE_PARAMETER_VALUE},
                              {.bytes = 8, .kind = TRACE_PARAMETER_POINTER},
                              {.bytes = 4, .kept = 4, .kind = TRACE_PARAMETER_VALUE}}};
    builder_add(b, TRACE_RECORD_PARAMETER_PLAN, &record, sizeof record);
}

static void add_one_of_each(struct builder *b)
{
    static const unsigned char zeros[1024];
    uint32_t signature = builder_signature(b, 4), shape = 0;
    for (size_t i = 0; i < record_type_count; i++) {
        const struct record_type *type = &record_types[i];
        if (type->type == TRACE_RECORD_LAUNCH_SHAPE) {
            shape = add_shape(b);
            continue;
        }
        if (type->type == TRACE_RECORD_PARAMETER_PLAN) {
            add_plan(b);
            continue;
        }
        if (type->type >= TRACE_RECORD_SUM_PROCESS) {
            builder_sum(b, (uint16_t)type->type, signature);
            continue;
        }
        if (type->type == TRACE_RECORD_GROUPS) {
            builder_groups(b, 2);
            continue;
        }
        if (type->check && type->type != TRACE_RECORD_DEVICE) {
            builder_text(b, (uint16_t)type->type, "some text");
            continue;
        }
        uint32_t at = builder_add(b, (uint16_t)type->type, zeros, type->least_bytes);
        uint32_t *refers_to = (uint32_t *)(void *)(builder_record(b, at) + 1);
        if (type->refers_to)
            *refers_to = type->refers_to == TRACE_RECORD_SIGNATURE ? signature : shape;
    }
}

int main(int count, char **argument)
{
    CHECK(count == 2);
    for (unsigned char flags = 0; flags < 8; flags++) {
        struct builder b = {0};
        char name[32];
        builder_small(&b, 2);
        builder_block(&b, TRACE_BLOCK_SLOTS);
        memset(builder_record(&b, TRACE_HEADER_BYTES), 1, 512);
        builder_block(&b, TRACE_BLOCK_RECORDS);
        add_one_of_each(&b);
        builder_seal(&b);
        snprintf(name, sizeof name, "seed-%u", flags);
        write_seed(argument[1], name, flags, &b, b.position);
        builder_free(&b);
    }
    return 0;
}
