/* SPDX-License-Identifier: Apache-2.0 */
/* A few buffers at most, so a list is looked through. */
#include "classify/live_lengths.h"

#include <math.h>
#include <stdlib.h>

#include "classify/allocate.h"
#include "classify/operator_join.h"

const char *live_lengths_how_name(uint32_t how)
{
    return how == TRACE_LENGTHS_COPIED ? "copied" : how == TRACE_LENGTHS_READ ? "read" : NULL;
}

void live_lengths_add_sum(struct live_lengths *lengths, const struct trace_sum_lengths *sum)
{
    size_t i = 0;
    while (i < lengths->count &&
           (lengths->rows[i].address != sum->address || lengths->rows[i].graph_id != sum->graph_id ||
            lengths->rows[i].how != sum->how || lengths->rows[i].count != sum->count ||
            lengths->rows[i].cumulative != sum->cumulative))
        i++;
    if (i == LIVE_LENGTHS_MOST) {
        sum_add(&lengths->beyond, 1);
        return;
    }
    if (i == lengths->count) {
        lengths->rows = allocate_grow(lengths->rows, lengths->count, &lengths->capacity, sizeof *lengths->rows);
        lengths->rows[lengths->count++] = *sum;
        return;
    }
    struct trace_sum_lengths *row = &lengths->rows[i];
    row->call_id = sum->call_id;
    row->least = sum->least < row->least ? sum->least : row->least;
    row->most = sum->most > row->most ? sum->most : row->most;
    sum_add(&row->launches, sum->launches);
    row->total += sum->total;
}

void live_lengths_add(struct live_lengths *lengths, const struct trace_lengths *record)
{
    if (!record->count || !record->launches)
        return;
    live_lengths_add_sum(lengths, &(struct trace_sum_lengths){
                                      .call_id = record->call_id,
                                      .address = record->address,
                                      .how = record->how,
                                      .graph_id = record->graph_id,
                                      .count = record->count,
                                      .cumulative = record->cumulative,
                                      .least = record->least,
                                      .most = record->most,
                                      .launches = record->launches <= INT64_MAX ? record->launches : INT64_MAX,
                                      .total = (double)record->sum * (double)record->launches,
                                  });
}

double live_lengths_mean(const struct trace_sum_lengths *row)
{
    const double lengths = (double)row->launches * row->count;
    return lengths > 0 ? row->total / lengths : NAN;
}

void live_lengths_free(struct live_lengths *lengths)
{
    free(lengths->rows);
    *lengths = (struct live_lengths){0};
}
