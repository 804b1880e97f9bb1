/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the simulated GPU's ledger in the process that fills it: the last call of a name and the kernels under it. */
#ifndef TESTS_SIM_BLAS_LEDGER_H
#define TESTS_SIM_BLAS_LEDGER_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* Before the first CUDA call: a fresh ledger, and a device described by TEXT (NULL: the unit device). */
void ledger_use(const char *device_text);
/* Everything so far, an array of lines; the caller releases it. */
json_t *ledger_read(void);
/* Forgets all lines so far. */
void ledger_reset(void);

/* Lines of TYPE, and of FUNCTION if it is a call's; borrowed from LINES. */
json_t *ledger_line(json_t *lines, const char *type, const char *function, size_t nth);
size_t ledger_count(json_t *lines, const char *type, const char *function);

#endif
