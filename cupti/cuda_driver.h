/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA driver as the application mapped it. Never loads it and never initialises it. */
#ifndef CUPTI_CUDA_DRIVER_H
#define CUPTI_CUDA_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cuda_driver {
#define FUNCTION(name, needed, parameters) int(*name) parameters;
#include "cupti/cuda_driver_functions.def"
#undef FUNCTION
};

enum { CUDA_CAPTURE_RELAXED = 2 }; /* CU_STREAM_CAPTURE_MODE_RELAXED */

/* The mapped driver's functions; NULL if libcuda.so.1 is not mapped in this process (yet) or lacks what is needed. */
const struct cuda_driver *cuda_driver_mapped(void);

/* The same without looking for it: NULL as well if nobody looked since it was mapped. No lock. */
const struct cuda_driver *cuda_driver_bound(void);

/* The application's own cuInit() has returned 0: asked by a function that needs it and does nothing else. */
bool cuda_driver_is_initialized(const struct cuda_driver *driver);

#endif
