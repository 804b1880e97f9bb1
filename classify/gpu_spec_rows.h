/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in rows, for gpu_specs.c alone; all others look rows up through classify/gpu_specs.h. */
#ifndef CLASSIFY_GPU_SPEC_ROWS_H
#define CLASSIFY_GPU_SPEC_ROWS_H

#include "classify/gpu_specs.h"

extern const struct gpu_spec gpu_spec_rows[];
extern const size_t gpu_spec_row_count;

#endif
