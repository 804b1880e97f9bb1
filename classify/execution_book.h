/* SPDX-License-Identifier: Apache-2.0 */
/* How often each call and each kernel of one process was executed, timed or not: as the program called it, what was captured
 * left out, and as launches of graphs repeated it. */
#ifndef CLASSIFY_EXECUTION_BOOK_H
#define CLASSIFY_EXECUTION_BOOK_H

#include "classify/operator_join.h"

struct execution_count {
    struct graph_use use; /* as a row of operator_join; of a name: 0 stands for all without one */
    uint64_t executions;
    struct time_slices slices; /* all: executions, those whose time is known */
};

struct execution_book {
    struct execution_count *counts;
    size_t count, capacity;
    struct index_map map;
};

/* After operator_join_end() and join_timing_end(). */
struct execution_book execution_book_of(const struct operator_join *join);
const struct execution_count *execution_book_find(const struct execution_book *book,
                                                  struct graph_use use); /* or NULL */
void execution_book_free(struct execution_book *book);

#endif
