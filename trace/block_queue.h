/* SPDX-License-Identifier: Apache-2.0 */
/* Bounded queue of block addresses, any number of producers and consumers, no lock (D. Vyukov's scheme: each cell carries
 * a ticket, so a cell that was emptied and filled again can't be taken for the old one). Memory is given by the owner. */
#ifndef TRACE_BLOCK_QUEUE_H
#define TRACE_BLOCK_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct block_queue_cell {
    uint64_t ticket;
    void *block;
};

struct block_queue {
    struct block_queue_cell *cells;
    uint64_t mask;
    _Alignas(64) uint64_t tail; /* next to fill */
    _Alignas(64) uint64_t head; /* next to take */
};

/* CAPACITY is a power of two. */
void block_queue_init(struct block_queue *queue, struct block_queue_cell *cells, uint64_t capacity);
bool block_queue_push(struct block_queue *queue, void *block); /* false: full */
void *block_queue_pop(struct block_queue *queue);              /* NULL: empty */
uint64_t block_queue_count(const struct block_queue *queue);   /* of a moment ago */

#endif
