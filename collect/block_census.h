/* SPDX-License-Identifier: Apache-2.0 */
/* What a block of records holds, for who is about to write over it. */
#ifndef COLLECT_BLOCK_CENSUS_H
#define COLLECT_BLOCK_CENSUS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/trace.h"

struct block_census {
    uint64_t calls, failed_calls, launches, kernels, copies;
    uint64_t said_once; /* records that no other block repeats */
    uint64_t
        shapes; /* of launches, with values: said in each block that has such a launch, but nodes of graphs refer to
                         * them for as long as they live */
};

/* Calls VISIT, unless NULL, for each record that is said only once, and for those shapes. */
typedef void block_census_visit(void *context, const struct trace_record *record);
struct block_census block_census_of(const unsigned char *block, block_census_visit *visit, void *context);

#endif
