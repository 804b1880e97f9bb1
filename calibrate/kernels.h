/* SPDX-License-Identifier: Apache-2.0 */
/* Three small kernels as PTX text, which every driver compiles for its GPU: one that copies, one that reads, one that does
 * nothing. */
#ifndef CALIBRATE_KERNELS_H
#define CALIBRATE_KERNELS_H

#include "calibrate/cuda.h"

/* Each thread moves 16 bytes at a time, four of them in flight; the grid strides over the bytes. */
#define KERNEL_COPY  "rooftap_copy"  /* (to, from, bytes): bytes is a multiple of 16 */
#define KERNEL_READ  "rooftap_read"  /* (hardly ever written: 4 bytes, from, bytes) */
#define KERNEL_EMPTY "rooftap_empty" /* () */

struct kernels {
    void *copy, *read, *empty;
};

/* False: CUDA->error tells why. */
bool kernels_load(struct cuda *cuda, struct kernels *kernels);

#endif
