/* SPDX-License-Identifier: Apache-2.0 */
/* What the operator table shows of a row whose launches were read: those of a matmul as of a library call, those of an
 * attention as the product Q K^T that it begins with. */
#ifndef REPORT_LAUNCH_CELLS_H
#define REPORT_LAUNCH_CELLS_H

#include <stdint.h>

#include "classify/session.h"

enum launch_size { LAUNCH_SIZE_M, LAUNCH_SIZE_N, LAUNCH_SIZE_K };

/* OP's launches are read (launch_of_operator_is_read()). Each cell has TEXT_TABLE_CELL_BYTES. */
void launch_cells_kind(const struct operator_row *op, char *cell); /* the kernel, and what its sizes don't say */
void launch_cells_size(const struct operator_row *op, enum launch_size size, char *cell);
int64_t launch_cells_size_value(const struct operator_row *op, enum launch_size size); /* negative: not known */
void launch_cells_types(const struct operator_row *op, char *cell);
const char *launch_cells_source(const struct operator_row *op); /* for FLAGS; NULL: nothing that FLAGS doesn't say */

#endif
