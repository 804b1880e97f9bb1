/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the operator table: a session's operators, its weights, or operators merged by name; in the order that was
 * asked for. */
#ifndef REPORT_OPERATOR_ROWS_H
#define REPORT_OPERATOR_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/session.h"
#include "report/view.h"

/* Operators of one function or kernel name. */
struct kernel_row {
    struct operator_row
        op;        /* sums; only what is the same in all of them otherwise. The first member: columns rely on it */
    size_t shapes; /* operators in it */
    bool mixed;    /* of different classes */
    bool kinds;    /* of different kinds */
    size_t place;  /* longest time first */
};

#define OPERATOR_ROWS_NONE UINT32_MAX

struct operator_rows {
    const void **rows; /* as view->by says: what enum columns_of names */
    size_t count, shown;
    struct kernel_row *merged; /* those of COLUMNS_OF_KERNEL, in the order of their longest operators; NULL: owned
                                * by others, or rows of another kind */
    uint32_t *kernel_of;       /* by operator: index in MERGED, or OPERATOR_ROWS_NONE; NULL without MERGED */
};

struct operator_rows operator_rows_of(const struct column_source *source, const struct view *view);
/* By kernel, longest time first, of those operators that KEEP accepts. */
struct operator_rows operator_rows_by_kernel(const struct session *session,
                                             bool (*keep)(const struct operator_row *op));

/* What can be summed of the rows that are not shown: of calls that nobody counted there is no sum. */
struct operator_rest {
    bool calls_known, timed;
    uint64_t calls, time_ns;
};
struct operator_rest operator_rows_rest(const struct view *view, const struct operator_rows *rows);
void operator_rows_free(struct operator_rows *rows);

#endif
