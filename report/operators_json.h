/* SPDX-License-Identifier: Apache-2.0 */
/* JSON of the rows of the operator tables: each different call and kernel, and the same merged by name. New references. */
#ifndef REPORT_OPERATORS_JSON_H
#define REPORT_OPERATORS_JSON_H

#include <jansson.h>
#include <stdbool.h>

#include "report/columns.h"
#include "report/demangle.h"
#include "report/json_cut.h"
#include "report/operator_rows.h"

json_t *operators_json(struct json_cut *cut, const struct column_source *source, struct demangler *demangler);
/* ROWS: of operator_rows_by_kernel(). */
json_t *operators_json_kernels(struct json_cut *cut, const struct column_source *source,
                               const struct operator_rows *rows, struct demangler *demangler);

/* M, N, K, batch, the operand that is a weight, types, and as the library was called. */
void operators_json_set_shape(json_t *object, const struct operator_row *op);
/* How many of its executions its time covers is known: the key `executions`. */
bool operators_json_executed(const struct operator_row *op);

#endif
