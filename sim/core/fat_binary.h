/* SPDX-License-Identifier: Apache-2.0 */
/* What nvcc puts into a program: a container of cubins and PTX, one of each for as many architectures as asked for. */
#ifndef SIM_CORE_FAT_BINARY_H
#define SIM_CORE_FAT_BINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What of a container a device of ARCHITECTURE (10 * major + minor) takes. */
struct fat_binary {
    const void
        *cubin; /* one that it can run, else any, whose kernels have the same parameters; NULL: none is readable */
    size_t cubin_bytes; /* 0: unknown */
    const char *ptx;    /* readable text; NULL: none, or compressed */
    int ptx_version;    /* the virtual architecture of what would run; 0: nothing here would */
    int binary_version; /* that of its machine code, as it lies here or made from PTX */
};

bool fat_binary_is(const void *image); /* the container, or its wrapper */
bool fat_binary_read(const void *image, int architecture, struct fat_binary *fat_binary); /* false: damaged */

#endif
