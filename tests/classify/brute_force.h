/* SPDX-License-Identifier: Apache-2.0 */
/* What the oracles count with: a set of memory cells that a loop over the real operation touched, each with its bits, and
 * random numbers that are the same on every machine. Nothing of classify/ is used here. */
#ifndef TESTS_CLASSIFY_BRUTE_FORCE_H
#define TESTS_CLASSIFY_BRUTE_FORCE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 1 << 18 }; /* room for what one shape touches; touch() stops the test where it is not enough */

struct touched {
    uint64_t key[CELLS];
    uint32_t round_of[CELLS], round; /* a cell of an earlier round is free */
    uint64_t cells, bits;
};

static inline void touched_clear(struct touched *t)
{
    t->round++;
    t->cells = t->bits = 0;
}

/* Cell ADDRESS of array ARRAY has BITS bits; they count when it is touched for the first time. */
static inline void touch(struct touched *t, unsigned array, uint64_t address, unsigned bits)
{
    uint64_t key = (uint64_t)array << 48 | address;
    uint32_t at = (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> 40) % CELLS;
    while (t->round_of[at] == t->round) {
        if (t->key[at] == key)
            return;
        at = (at + 1) % CELLS;
    }
    if (address >> 48 || ++t->cells > CELLS / 2) {
        fprintf(stderr, "the shape is too large for the oracle\n");
        abort();
    }
    t->round_of[at] = t->round;
    t->key[at] = key;
    t->bits += bits;
}

static inline double touched_bytes(const struct touched *t)
{
    return (double)t->bits / 8;
}

/* splitmix64 */
struct random_numbers {
    uint64_t state;
};

static inline uint64_t random_next(struct random_numbers *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

/* LOW ... HIGH, both included. */
static inline int random_in(struct random_numbers *r, int low, int high)
{
    return low + (int)(random_next(r) % (uint64_t)(high - low + 1));
}

static inline bool random_chance(struct random_numbers *r, int percent)
{
    return random_in(r, 1, 100) <= percent;
}

#endif
