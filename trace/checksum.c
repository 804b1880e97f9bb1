/* SPDX-License-Identifier: Apache-2.0 */
/* Four independent multiply lanes: a block of 64 KiB is checked in a few microseconds, by the helper thread in the host and
 * once a block in the reader. Drawn in FORMAT.md; a change is a new major version. */
#include "trace/checksum.h"

#include <stddef.h>
#include <string.h>

static const uint64_t multiplier = 0x9fb21c651e98df25ull;

static uint64_t mix(uint64_t lane, uint64_t word)
{
    lane = (lane ^ word) * multiplier;
    return lane << 29 | lane >> 35;
}

static void add_words(uint64_t lane[4], const uint64_t *word, uint32_t words)
{
    uint64_t a = lane[0], b = lane[1], c = lane[2], d = lane[3];
    uint32_t i = 0;
    for (; words - i >= 4; i += 4) {
        a = mix(a, word[i]);
        b = mix(b, word[i + 1]);
        c = mix(c, word[i + 2]);
        d = mix(d, word[i + 3]);
    }
    for (; i < words; i++)
        a = mix(a, word[i]);
    lane[0] = a, lane[1] = b, lane[2] = c, lane[3] = d;
}

uint64_t trace_checksum(const struct trace_block_header *block, uint32_t used_bytes)
{
    union {
        struct trace_block_header header;
        uint64_t word[TRACE_HEADER_BYTES / 8];
    } head;
    uint64_t lane[4] = {0x9e3779b97f4a7c15ull, 0xc2b2ae3d27d4eb4full, 0x165667b19e3779f9ull, used_bytes};
    head.header = *block;
    head.header.state = 0;
    head.header.checksum = 0;
    add_words(lane, head.word, TRACE_HEADER_BYTES / 8);
    add_words(lane, (const uint64_t *)(const void *)block + TRACE_HEADER_BYTES / 8,
              (used_bytes - TRACE_HEADER_BYTES) / 8);
    return mix(mix(mix(mix(lane[0], lane[1]), lane[2]), lane[3]), used_bytes);
}
