/* SPDX-License-Identifier: Apache-2.0 */
/* What a cubin, an ELF file, tells of a kernel's parameters. */
#ifndef SIM_CORE_CUBIN_H
#define SIM_CORE_CUBIN_H

#include "sim/core/image.h"

/* Sizes and offsets of KERNEL's parameters, to be freed; -1: CUBIN doesn't tell. BYTES 0: its size is unknown. */
int cubin_parameters(const void *cubin, size_t bytes, const char *kernel, struct image_param **parameters);

#endif
