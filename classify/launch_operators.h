/* SPDX-License-Identifier: Apache-2.0 */
/* Launches whose parameters were read, as rows of a session: shapes of one meaning are one operator, what serves another is
 * part of that, and everything else is a row by its kernel's name that says why. */
#ifndef CLASSIFY_LAUNCH_OPERATORS_H
#define CLASSIFY_LAUNCH_OPERATORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/execution_book.h"
#include "classify/sampled_rows.h"

struct operator_row;
struct session;
struct session_merge;

/* Index of the row of a name or a shape, NAME_ID where the shape has none of its own; made on first use. */
size_t launch_operators_at(struct session_merge *merge, struct operator_join *join, struct graph_use use,
                           uint64_t name_id, int device);

/* A shape whose launches were read: a product or an attention; one that serves other operators. */
bool launch_operators_is_operator(struct operator_join *join, struct graph_use use);
bool launch_operators_is_helper(struct operator_join *join, struct graph_use use);

/* Launches by how far they were read, into the session's coverage. */
void launch_operators_cover(struct session *session, struct operator_join *join, const struct execution_book *book,
                            const struct sampled_rows *sampled);

/* What ROW is by its launches, its name and family known: kind, provenance. False: its name is all there is. */
bool launch_operators_classify(struct operator_row *row);

#endif
