/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of one process that was timed in windows drawn at random: what each took in all. */
#ifndef CLASSIFY_SAMPLED_ROWS_H
#define CLASSIFY_SAMPLED_ROWS_H

#include "classify/execution_book.h"
#include "classify/sampled_time.h"

struct sampled_row {
    bool estimated;           /* false: its time stands as it was timed */
    bool by_wall;             /* nobody counted its executions: by the time that windows were open */
    struct sampled_time time; /* of the whole row, what was timed outside of sampling included */
};

struct sampled_rows {
    struct sampled_row *rows;   /* as join->rows; NULL: nothing was sampled */
    struct sampled_row *graphs; /* as join->replays.graphs: launches that were timed as a whole */
    bool any;                   /* one of them is estimated */
    struct sampled_time sum;    /* variance and freedom of all rows' times together */
};

struct sampled_rows sampled_rows_of(const struct operator_join *join, const struct execution_book *book);
void sampled_rows_free(struct sampled_rows *rows);

#endif
