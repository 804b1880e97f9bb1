/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of tables that have one row a weight. */
#ifndef REPORT_WEIGHT_COLUMNS_H
#define REPORT_WEIGHT_COLUMNS_H

#include "report/columns.h"

const struct column *weight_columns(size_t *count);        /* `--by weight` */
const struct column *weight_columns_skinny(size_t *count); /* the skinny list */

#endif
