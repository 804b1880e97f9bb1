/* SPDX-License-Identifier: Apache-2.0 */
/* One row for each kind, direction and pair of devices. */
#include "classify/copy_sums.h"

#include <stdlib.h>

#include "classify/allocate.h"
#include "classify/operator_join.h"

/* clang-format off */
/* CUpti_ActivityMemcpyKind, CUPTI's documentation, "enum CUpti_ActivityMemcpyKind". */
static const struct {
    const char *name;
    int memory_accesses;
} directions[] = {
    [0] = {"unknown", 0},
    [1] = {"HtoD", 0},
    [2] = {"DtoH", 0},
    [3] = {"HtoA", 0}, /* A: a CUDA array */
    [4] = {"AtoH", 0},
    [5] = {"AtoA", 2},
    [6] = {"AtoD", 2},
    [7] = {"DtoA", 2},
    [8] = {"DtoD", 2},
    [9] = {"HtoH", 0},
    [COPY_DIRECTION_PEERS] = {"PtoP", 0},
};
/* clang-format on */
enum { DIRECTIONS = sizeof directions / sizeof directions[0] };

struct copy_sum copy_sum_of(const struct trace_copy *copy)
{
    struct copy_sum sum = {.kind = copy->kind,
                           .direction = copy->direction < DIRECTIONS ? copy->direction : COPY_DIRECTION_UNKNOWN,
                           .from = -1,
                           .to = -1,
                           .copies = 1,
                           .bytes = copy->bytes,
                           .ns = copy->end_ns - copy->start_ns};
    bool told = copy->record.size >= sizeof *copy; /* since 1.5 */
    if (copy->kind == TRACE_COPY_MEMCPY && told && copy->is_peer == 1) {
        sum.direction = COPY_DIRECTION_PEERS;
        sum.from = copy->from_device;
        sum.to = copy->to_device;
    }
    return sum;
}

static bool same_row(const struct copy_sum *a, const struct copy_sum *b)
{
    return a->kind == b->kind && a->direction == b->direction && a->from == b->from && a->to == b->to;
}

void copy_sums_add(struct copy_sums *sums, const struct copy_sum *more)
{
    struct copy_sum key = *more;
    size_t i = 0;
    while (i < sums->count && !same_row(&sums->rows[i], &key))
        i++;
    if (i == sums->count && sums->count >= COPY_SUMS_MOST - 2) { /* two kinds have a row for what is beyond */
        key.kind = key.kind == TRACE_COPY_MEMSET ? TRACE_COPY_MEMSET : TRACE_COPY_MEMCPY;
        key.direction = COPY_DIRECTION_UNKNOWN;
        key.from = key.to = -1;
        for (i = 0; i < sums->count && !same_row(&sums->rows[i], &key);)
            i++;
    }
    if (i == sums->count) {
        sums->rows = allocate_grow(sums->rows, sums->count, &sums->capacity, sizeof *sums->rows);
        sums->rows[sums->count++] =
            (struct copy_sum){.kind = key.kind, .direction = key.direction, .from = key.from, .to = key.to};
    }
    sum_add(&sums->rows[i].copies, more->copies);
    sum_add(&sums->rows[i].bytes, more->bytes);
    sum_add(&sums->rows[i].ns, more->ns);
}

void copy_sums_free(struct copy_sums *sums)
{
    free(sums->rows);
    *sums = (struct copy_sums){0};
}

static int compare_rows(const void *a, const void *b)
{
    const struct copy_sum *x = a, *y = b;
    if (x->ns != y->ns)
        return (x->ns < y->ns) - (x->ns > y->ns);
    if (x->kind != y->kind)
        return (x->kind > y->kind) - (x->kind < y->kind);
    if (x->direction != y->direction)
        return (x->direction > y->direction) - (x->direction < y->direction);
    return x->from != y->from ? (x->from > y->from) - (x->from < y->from) : (x->to > y->to) - (x->to < y->to);
}

void copy_sums_sort(struct copy_sums *sums)
{
    if (sums->count)
        qsort(sums->rows, sums->count, sizeof *sums->rows, compare_rows);
}

const char *copy_sum_name(const struct copy_sum *sum)
{
    if (sum->kind == TRACE_COPY_MEMSET)
        return "memset";
    return directions[sum->direction < DIRECTIONS ? sum->direction : COPY_DIRECTION_UNKNOWN].name;
}

int copy_sum_memory_accesses(const struct copy_sum *sum)
{
    if (sum->kind == TRACE_COPY_MEMSET)
        return 1;
    return sum->kind == TRACE_COPY_MEMCPY && sum->direction < DIRECTIONS ? directions[sum->direction].memory_accesses
                                                                         : 0;
}
