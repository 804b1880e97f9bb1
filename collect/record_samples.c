/* SPDX-License-Identifier: Apache-2.0 */
/* Each sample is kept as the record that will be written, but for the shape of a launch, whose values may take more room than
 * all the rest. */
#include "collect/record_samples.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "trace/launch_values.h"
#include "trace/record_types.h"

enum { RECORD_BYTES = sizeof(struct trace_kernel) };

struct record_sample {
    struct trace_sample head;
    unsigned char bytes[RECORD_BYTES];
    struct trace_launch_shape *shape; /* of a launch, of head.content_bytes; else NULL */
};

_Static_assert(sizeof(struct trace_call) <= RECORD_BYTES && sizeof(struct trace_copy) <= RECORD_BYTES &&
                   sizeof(struct trace_launch) + sizeof(struct trace_launch_pointers) <= RECORD_BYTES &&
                   offsetof(struct record_sample, bytes) == sizeof(struct trace_sample),
               "a sample holds any of them");

void record_samples_open(struct record_samples *samples, uint64_t seed)
{
    *samples = (struct record_samples){.state = seed};
    samples->samples = allocate(RECORD_SAMPLES, sizeof *samples->samples);
}

/* splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). */
static uint64_t next_random(struct record_samples *samples)
{
    uint64_t z = samples->state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

/* Below LIMIT; how far from even is below LIMIT / 2^64. */
static uint64_t random_below(struct record_samples *samples, uint64_t limit)
{
    __extension__ typedef unsigned __int128 product;
    return (uint64_t)((product)next_random(samples) * limit >> 64);
}

static void fill(struct record_sample *sample, const struct trace_item *item)
{
    const struct trace_record *record = item->record;
    const struct trace_block_header *block = item->block;
    uint32_t bytes = record->size < RECORD_BYTES ? record->size : RECORD_BYTES; /* a newer version's may be longer */
    free(sample->shape);
    *sample = (struct record_sample){.head = {
                                         .tid = block->tid,
                                         .record_bytes = bytes,
                                         .ticks_per_second = block->ticks_per_second,
                                         .anchor_ticks = block->anchor_ticks,
                                         .anchor_realtime_ns = block->anchor_realtime_ns,
                                     }};
    memcpy(sample->bytes, record, bytes);
    ((struct trace_record *)sample->bytes)->size = (uint16_t)bytes;
    ((struct trace_record *)sample->bytes)->commit = 0;
    if (item->signature)
        sample->head.content_id = item->signature->id;
    if (item->shape && item->shape->record.size <= LAUNCH_SHAPE_BYTES_MOST) {
        sample->head.content_id = item->shape->id;
        sample->head.content_bytes = item->shape->record.size;
        sample->shape = allocate(1, item->shape->record.size);
        memcpy(sample->shape, item->shape, item->shape->record.size);
        sample->shape->record.commit = 0;
    }
}

void record_samples_offer(struct record_samples *samples, const struct trace_item *item)
{
    if (!record_type_is_sampled(item->record->type))
        return;
    uint64_t at = samples->offered++;
    if (at < RECORD_SAMPLES)
        samples->count++;
    else
        at = random_below(samples, samples->offered);
    if (at < RECORD_SAMPLES)
        fill(&samples->samples[at], item);
}

void record_samples_write(const struct record_samples *samples, join_sums_put *put, void *context)
{
    for (uint32_t i = 0; i < samples->count; i++) {
        const struct record_sample *sample = &samples->samples[i];
        union {
            struct trace_sample head;
            unsigned char bytes[sizeof(struct trace_sample) + RECORD_BYTES + LAUNCH_SHAPE_BYTES_MOST];
        } out;
        const size_t fixed = sizeof out.head + sample->head.record_bytes;
        memcpy(&out, sample, fixed);
        if (sample->shape)
            memcpy(out.bytes + fixed, sample->shape, sample->head.content_bytes);
        out.head.record.type = TRACE_RECORD_SAMPLE;
        out.head.record.size = (uint16_t)(fixed + sample->head.content_bytes);
        put(context, NULL, &out.head.record);
    }
}

void record_samples_close(struct record_samples *samples)
{
    for (uint32_t i = 0; samples->samples && i < RECORD_SAMPLES; i++)
        free(samples->samples[i].shape);
    free(samples->samples);
    *samples = (struct record_samples){0};
}
