/* SPDX-License-Identifier: Apache-2.0 */
/* What programs of this folder begin with: calls that must succeed, and how compiled code registers its kernels. */
#ifndef TESTS_E2E_PROGRAM_H
#define TESTS_E2E_PROGRAM_H

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

void __cudaRegisterFunction(void **handle, const char *stub, char *device_stub, const char *name, int thread_limit,
                            uint3 *thread_id, uint3 *block_id, dim3 *block, dim3 *grid, int *warp_size);

/* Of any library: 0 is success. */
#define MUST(call)                                                                                                     \
    do {                                                                                                               \
        int result_ = (int)(call);                                                                                     \
        if (result_) {                                                                                                 \
            fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call, result_);                                    \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#endif
