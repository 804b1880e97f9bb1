/* SPDX-License-Identifier: Apache-2.0 */
/* Any name, any rows of a user's, any parameters: what is read holds what the table promises, what isn't says why.
 * Input: a name up to the first line's end; rows up to a NUL; grid and block; then a byte a parameter (its first bit: a
 * pointer is NULL; its last: the parameter's size is not as its type says) and what its value is made of. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "classify/launch_decode.h"
#include "classify/launch_table.h"
#include "trace/kernel_signature.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            abort();                                                                                                   \
    } while (0)

struct input {
    const uint8_t *at, *end;
};

static void take(struct input *input, void *out, size_t bytes)
{
    size_t left = (size_t)(input->end - input->at), there = bytes < left ? bytes : left;
    memset(out, 0, bytes);
    memcpy(out, input->at, there);
    input->at += there;
}

/* Up to a byte STOP, or the end; to be freed. */
static char *take_text(struct input *input, char stop)
{
    size_t left = (size_t)(input->end - input->at);
    const uint8_t *found = memchr(input->at, stop, left);
    size_t length = found ? (size_t)(found - input->at) : left;
    char *text = malloc(length + 1);
    CHECK(text);
    memcpy(text, input->at, length);
    text[length] = '\0';
    input->at += length + (found != NULL);
    return text;
}

struct launch {
    struct launch_parameters parameters;
    union {
        struct trace_parameter_plan plan;
        unsigned char
            bytes[sizeof(struct trace_parameter_plan) + TRACE_PARAMETERS_MOST * sizeof(struct trace_parameter)];
    };
};

static void add_parameter(struct launch *launch, struct input *input, unsigned typed_bytes, bool is_pointer,
                          unsigned *pointers)
{
    struct trace_parameter *p = &launch->plan.parameter[launch->plan.count++];
    uint8_t flags;
    take(input, &flags, 1);
    p->bytes = (uint16_t)(typed_bytes + (flags >> 7));
    p->kind = TRACE_PARAMETER_VALUE;
    if (is_pointer && *pointers < TRACE_POINTERS_MOST) {
        p->kind = TRACE_PARAMETER_POINTER;
        launch->parameters.null_pointers |= (uint32_t)(flags & 1) << (*pointers)++;
        return;
    }
    unsigned kept = typed_bytes ? typed_bytes : flags >> 1 & 63;
    if (launch->parameters.value_bytes + ((kept + 3) & ~3u) > TRACE_VALUE_BYTES_MOST)
        return;
    p->kept = (uint16_t)(p->bytes && kept > p->bytes ? p->bytes : kept);
    take(input, launch->parameters.values + launch->parameters.value_bytes, p->kept);
    launch->parameters.value_bytes += (p->kept + 3u) & ~3u;
}

static void make_launch(struct launch *launch, struct input *input, const char *name)
{
    struct kernel_signature signature;
    unsigned pointers = 0;
    memset(launch, 0, sizeof *launch);
    launch->parameters.plan = &launch->plan;
    if (!kernel_signature_parse(name, &signature))
        return;
    for (unsigned i = 0; i < signature.parameter_count; i++)
        add_parameter(launch, input, signature.parameter_bytes[i], signature.parameter_is_pointer[i], &pointers);
    CHECK(launch_plan_holds(&launch->plan));
}

static void check_matmul(const struct launch_decode *d)
{
    struct work work;
    launch_decode_work(d, &work);
    CHECK(d->m >= 1 && d->n >= 1 && d->k >= 1 && d->batch >= 1 && d->weights >= 1);
    CHECK(d->matrices_least >= 1 && d->matrices_least <= d->matrices_most && d->activations >= 1);
    CHECK(work.shape_known && work.flops > 0 && isfinite(work.flops));
    CHECK(isnan(work.bytes) || (work.bytes > 0 && launch_decode_bytes_least(d) <= work.bytes));
}

static void check_attention(const struct launch_decode *d)
{
    struct attention_model model;
    struct attention_work work;
    launch_decode_attention(d, &model);
    attention_work(&model, &work);
    CHECK(d->n_q >= 1 && d->n_kv >= 1 && d->n_q % d->n_kv == 0 && d->d >= 1 && d->d_v >= 1);
    CHECK(d->queries >= 1 && d->keys >= 1 && d->sequences >= 1);
    CHECK(work.flops > 0 && isfinite(work.flops) && !(work.bytes <= 0));
}

static void check(const struct launch_decode *d)
{
    CHECK((d->reading == LAUNCH_READ) == !*d->problem);
    CHECK(d->reading != LAUNCH_READ || d->row);
    if (d->reading != LAUNCH_READ || d->kind == LAUNCH_OTHER || d->kind == LAUNCH_HELPER)
        CHECK(d->provenance == TRACE_NONE);
    else if (d->kind == LAUNCH_MATMUL)
        check_matmul(d);
    else
        check_attention(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, data + size};
    char error[LAUNCH_TABLE_ERROR_BYTES], *name = take_text(&input, '\n'), *rows = take_text(&input, '\0');
    uint32_t grid[3], block[3];
    struct launch launch;
    struct launch_decode decode;
    struct launch_table_file *file = launch_table_file_parse("rows", rows, strlen(rows), true, error);
    CHECK((file != NULL) == !*error && !strchr(error, '\n'));
    launch_table_set_user_file(file);
    take(&input, grid, sizeof grid);
    take(&input, block, sizeof block);
    make_launch(&launch, &input, name);
    launch_decode(name, grid, block, &launch.parameters, &decode);
    check(&decode);
    launch_decode(name, NULL, NULL, NULL, &decode);
    check(&decode);
    launch_table_set_user_file(NULL);
    launch_table_file_free(file);
    free(name);
    free(rows);
    return 0;
}
