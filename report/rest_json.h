/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows that a JSON tree leaves out come to (JSON.md, `cut`): one pass over structs. New references; null: nothing is
 * left out. */
#ifndef REPORT_REST_JSON_H
#define REPORT_REST_JSON_H

#include <jansson.h>
#include <stddef.h>

#include "classify/session.h"
#include "report/operator_rows.h"

/* Of the rows from the SHOWN-th on. */
json_t *rest_json_operators(const struct session *session, size_t shown);
json_t *rest_json_weights(const struct session *session, size_t shown);
json_t *rest_json_kernels(const struct session *session, const struct operator_rows *kernels, size_t shown);

#endif
