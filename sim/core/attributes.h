/* SPDX-License-Identifier: Apache-2.0 */
/* Limits that follow from the compute capability. */
#ifndef SIM_CORE_ATTRIBUTES_H
#define SIM_CORE_ATTRIBUTES_H

#include <stddef.h>

#define SHARED_BYTES_DEFAULT ((size_t)48 << 10)
size_t shared_bytes_optin(void); /* the most a block may have */

#endif
