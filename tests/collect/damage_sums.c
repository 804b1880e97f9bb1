/* SPDX-License-Identifier: Apache-2.0 */
/* damage_sums TRACE COUNT: overwrites words of a trace of sums at random, COUNT times, and opens each as a session: whatever
 * the numbers claim, it is read or refused, and sums don't turn negative. Commit words and seals stay as they are, so that
 * most of the damage reaches the join. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "classify/session.h"
#include "tests/classify/brute_force.h"
#include "trace/checksum.h"

enum { BYTES_MOST = 64 * TRACE_BLOCK_BYTES };

static _Alignas(64) unsigned char original[BYTES_MOST], bytes[BYTES_MOST];

/* Words that a stranger might choose. */
static uint64_t draw_word(struct random_numbers *numbers)
{
    static const uint64_t words[] = {0,         1,          2,          8,          UINT32_MAX,
                                     INT64_MAX, UINT64_MAX, 1ull << 63, 1ull << 48, 0x7ff8000000000000ull};
    int which = random_in(numbers, 0, sizeof words / sizeof words[0]);
    return which < (int)(sizeof words / sizeof words[0]) ? words[which] : random_next(numbers);
}

/* In a record that is committed, behind its header. */
static void damage_block(unsigned char *block, struct random_numbers *numbers)
{
    struct trace_block_header *header = (void *)block;
    uint32_t at = TRACE_HEADER_BYTES;
    if (header->kind != TRACE_BLOCK_RECORDS || header->state != TRACE_BLOCK_SEALED)
        return;
    while (at < header->used_bytes) {
        struct trace_record *record = (void *)(block + at);
        if (record->size > sizeof *record && random_chance(numbers, 5)) {
            uint32_t words = (uint32_t)(record->size / 8 - 1);
            uint64_t word = draw_word(numbers), half = random_next(numbers) % 2;
            unsigned char *place = block + at + 8 + 8 * (random_next(numbers) % words);
            memcpy(place + 4 * half, &word, 8 - 4 * half);
        }
        at += record->size;
    }
    header->checksum = trace_checksum(header, header->used_bytes);
}

static void check(const struct session *session)
{
    for (size_t i = 0; i < session->operator_count; i++)
        if (session->operators[i].time_ns > INT64_MAX || session->operators[i].durations.total > INT64_MAX) {
            fprintf(stderr, "damage_sums: a sum overflowed\n");
            exit(1);
        }
}

int main(int count, char **arguments)
{
    struct random_numbers numbers = {1};
    char path[4096];
    FILE *file = count == 3 ? fopen(arguments[1], "rb") : NULL;
    size_t size = file ? fread(original, 1, sizeof original, file) : 0;
    if (!size || size == sizeof original || size % TRACE_BLOCK_BYTES)
        return 2;
    fclose(file);
    snprintf(path, sizeof path, "%s.damaged.trace", arguments[1]);
    long read = 0, all = atol(arguments[2]);
    for (long i = 0; i < all; i++) {
        struct session_error error;
        memcpy(bytes, original, size);
        for (size_t at = 0; at < size; at += TRACE_BLOCK_BYTES)
            damage_block(bytes + at, &numbers);
        file = fopen(path, "wb");
        if (!file || fwrite(bytes, 1, size, file) != size || fclose(file))
            return 2;
        struct session *session = session_open(path, &error);
        if (session) {
            check(session);
            read++;
        }
        session_close(session);
    }
    unlink(path);
    printf("%ld of %ld were read\n", read, all);
    return read ? 0 : 1;
}
