/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels that serve other operators come to, as part of those (README.md has the rule). */
#ifndef CLASSIFY_HELPER_SHARES_H
#define CLASSIFY_HELPER_SHARES_H

#include <stdint.h>

#include "classify/execution_book.h"
#include "classify/sampled_rows.h"

struct session_merge;

/* Of so many launches or executions of USE those that serve no operator that is known: all, unless it is a helper. */
uint64_t helper_shares_uncharged_launches(struct operator_join *join, struct graph_use use, uint64_t launches);
uint64_t helper_shares_uncharged(struct operator_join *join, struct graph_use use, uint64_t executions);

/* Kernels of helpers, to the operators that they serve; after the kernels of those. What is left of a helper is a row by its
 * name. */
void helper_shares_add(struct session_merge *merge, struct operator_join *join, const int *device_of,
                       const struct execution_book *book, const struct sampled_rows *sampled);

#endif
