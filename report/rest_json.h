/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows that a JSON tree leaves out come to (JSON.md, `cut`). Sums are of all rows behind the last one shown; where fewer
 * are shown the next time, no more than those between are added. */
#ifndef REPORT_REST_JSON_H
#define REPORT_REST_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/roofline.h"
#include "classify/session.h"
#include "report/operator_rows.h"

enum { REST_BOUNDS = BOUND_OVERHEAD + 1 };

struct rest {
    size_t from, count; /* the rows from FROM on, COUNT of them */
    bool calls_known, executed, counted, timed;
    uint64_t calls, executions, kernels, time_ns;
    double flops, bytes, t_roof_ns, gain_ns;
    uint64_t count_of[REST_BOUNDS], time_ns_of[REST_BOUNDS];
    bool timed_of[REST_BOUNDS];
};

struct rest rest_of_none(size_t rows); /* of so many rows none is left out */

/* The key of `cut`, all rows from SHOWN on; new references, null: there are none. */
json_t *rest_json_operators(struct rest *rest, const struct session *session, size_t shown);
json_t *rest_json_weights(struct rest *rest, const struct session *session, size_t shown);
json_t *rest_json_kernels(struct rest *rest, const struct session *session, const struct operator_rows *kernels,
                          size_t shown);

#endif
