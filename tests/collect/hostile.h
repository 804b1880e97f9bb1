/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold for each block that comes out of a ring, whatever bytes are in it. */
#ifndef TESTS_COLLECT_HOSTILE_H
#define TESTS_COLLECT_HOSTILE_H

#include <stdlib.h>
#include <string.h>

#include "collect/ring.h"
#include "trace/ring_snapshot.h"
#include "trace/trace_reader.h"

struct taken {
    uint64_t blocks, slots;
    unsigned char touched; /* so that every byte is looked at */
};

static void hostile_look(struct taken *taken, const unsigned char *block, enum trace_block_kind kind)
{
    struct trace_block_header header;
    memcpy(&header, block, sizeof header);
    if (!trace_block_header_holds(&header) || header.kind != (uint32_t)kind || !header.process_id_hash)
        abort();
    for (size_t i = 0; i < TRACE_BLOCK_BYTES; i += 64)
        taken->touched ^= block[i];
}

static void hostile_records(void *context, const unsigned char *block)
{
    struct taken *taken = context;
    taken->blocks++;
    hostile_look(taken, block, TRACE_BLOCK_RECORDS);
}

static void hostile_slots(void *context, unsigned index, const unsigned char *block)
{
    struct taken *taken = context;
    taken->slots++;
    if (index >= TRACE_SLOT_BLOCKS_MOST)
        abort();
    hostile_look(taken, block, TRACE_BLOCK_SLOTS);
}

/* Drains it as one of a live process, reads it as a report does, then takes the rest. */
static inline void hostile_drain(int folder_fd, const char *folder, const char *name, struct taken *taken)
{
    struct ring ring;
    struct ring_snapshot snapshot;
    struct trace_error error;
    const struct ring_taker taker = {hostile_records, hostile_slots, taken};
    if (!ring_open(&ring, folder_fd, name))
        return;
    ring_drain(&ring, &taker, 1, true);
    ring_drain(&ring, &taker, 2, false);
    if (ring_snapshot_read(&snapshot, folder, name)) {
        struct trace_reader *reader =
            trace_reader_open_parts("/nonexistent", snapshot.blocks, snapshot.bytes, NULL, &error);
        struct trace_item item;
        while (reader && trace_reader_next(reader, &item))
            taken->touched ^= (unsigned char)item.offset;
        trace_reader_close(reader);
        ring_snapshot_free(&snapshot);
    }
    ring_drain_rest(&ring, &taker);
    ring_close(&ring);
}

#endif
