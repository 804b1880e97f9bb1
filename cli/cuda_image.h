/* SPDX-License-Identifier: Apache-2.0 */
/* What of CUDA a program or a library has inside, where LD_PRELOAD can't come between. */
#ifndef CLI_CUDA_IMAGE_H
#define CLI_CUDA_IMAGE_H

#include <stdbool.h>

struct cuda_image {
    bool kernels; /* made by the CUDA compiler: it has a .nv_fatbin */
    bool runtime; /* CUDA's runtime is inside */
    bool blas;    /* cuBLAS or cuBLASLt is inside; a stripped one can't be seen */
    bool stripped;
};

/* False: no ELF file of this word size that can be read. */
bool cuda_image_examine(const char *path, struct cuda_image *found);

#endif
