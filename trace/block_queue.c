/* SPDX-License-Identifier: Apache-2.0 */
/* A stalled producer hides what was pushed after it and a stalled consumer keeps its cell from being filled again; neither
 * makes anybody wait: the other side sees "empty" or "full" and goes on. */
#include "trace/block_queue.h"

#include <stddef.h>

void block_queue_init(struct block_queue *queue, struct block_queue_cell *cells, uint64_t capacity)
{
    queue->cells = cells;
    queue->mask = capacity - 1;
    queue->tail = queue->head = 0;
    for (uint64_t i = 0; i < capacity; i++) {
        cells[i].ticket = i;
        cells[i].block = NULL;
    }
}

bool block_queue_push(struct block_queue *queue, void *block)
{
    uint64_t position = __atomic_load_n(&queue->tail, __ATOMIC_RELAXED);
    for (;;) {
        struct block_queue_cell *cell = &queue->cells[position & queue->mask];
        int64_t ahead = (int64_t)(__atomic_load_n(&cell->ticket, __ATOMIC_ACQUIRE) - position);
        if (ahead < 0)
            return false;
        if (ahead > 0) {
            position = __atomic_load_n(&queue->tail, __ATOMIC_RELAXED);
            continue;
        }
        if (__atomic_compare_exchange_n(&queue->tail, &position, position + 1, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
            __atomic_store_n(&cell->block, block, __ATOMIC_RELAXED);
            __atomic_store_n(&cell->ticket, position + 1, __ATOMIC_RELEASE);
            return true;
        }
    }
}

void *block_queue_pop(struct block_queue *queue)
{
    uint64_t position = __atomic_load_n(&queue->head, __ATOMIC_RELAXED);
    for (;;) {
        struct block_queue_cell *cell = &queue->cells[position & queue->mask];
        int64_t ahead = (int64_t)(__atomic_load_n(&cell->ticket, __ATOMIC_ACQUIRE) - (position + 1));
        if (ahead < 0)
            return NULL;
        if (ahead > 0) {
            position = __atomic_load_n(&queue->head, __ATOMIC_RELAXED);
            continue;
        }
        if (__atomic_compare_exchange_n(&queue->head, &position, position + 1, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
            void *block = __atomic_load_n(&cell->block, __ATOMIC_RELAXED);
            __atomic_store_n(&cell->ticket, position + queue->mask + 1, __ATOMIC_RELEASE);
            return block;
        }
    }
}

uint64_t block_queue_count(const struct block_queue *queue)
{
    uint64_t head = __atomic_load_n(&queue->head, __ATOMIC_RELAXED);
    uint64_t tail = __atomic_load_n(&queue->tail, __ATOMIC_RELAXED);
    return tail > head ? tail - head : 0;
}
