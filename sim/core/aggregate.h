/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger of long runs: sums in place of lines. */
#ifndef SIM_CORE_AGGREGATE_H
#define SIM_CORE_AGGREGATE_H

#include <stdbool.h>
#include <stdint.h>

bool aggregate_open(char *path); /* takes PATH over */
/* One more of TYPE and NAME, and of FIELDS less what changes from call to call: pointers. */
void aggregate_add(const char *type, const char *name, const char *fields, uint64_t ns);

#endif
