/* SPDX-License-Identifier: Apache-2.0 */
/* Each sample is kept as the record that will be written, so a file of them is as large as their table. */
#include "collect/record_samples.h"

#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "trace/record_types.h"

enum { RECORD_BYTES = sizeof(struct trace_kernel), SHAPE_BYTES = sizeof(struct trace_launch_shape) };

struct record_sample {
    struct trace_sample head;
    unsigned char bytes[RECORD_BYTES + SHAPE_BYTES];
};

_Static_assert(sizeof(struct trace_call) <= RECORD_BYTES && sizeof(struct trace_copy) <= RECORD_BYTES &&
                   sizeof(struct trace_launch) + SHAPE_BYTES <= RECORD_BYTES + SHAPE_BYTES &&
                   sizeof(struct record_sample) == sizeof(struct trace_sample) + RECORD_BYTES + SHAPE_BYTES,
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
    if (item->shape) {
        struct trace_record *shape = (struct trace_record *)(sample->bytes + bytes);
        sample->head.content_id = item->shape->id;
        sample->head.content_bytes = SHAPE_BYTES;
        memcpy(shape, item->shape, SHAPE_BYTES);
        shape->size = SHAPE_BYTES;
        shape->commit = 0;
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
        struct record_sample sample = samples->samples[i];
        struct trace_record *record = &sample.head.record;
        record->type = TRACE_RECORD_SAMPLE;
        record->size = (uint16_t)(sizeof sample.head + sample.head.record_bytes + sample.head.content_bytes);
        put(context, NULL, record);
    }
}

void record_samples_close(struct record_samples *samples)
{
    free(samples->samples);
    *samples = (struct record_samples){0};
}
