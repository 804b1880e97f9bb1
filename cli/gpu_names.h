/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs by the names that people type. */
#ifndef CLI_GPU_NAMES_H
#define CLI_GPU_NAMES_H

#include "classify/gpu_specs.h"

/* Upper and lower case alike. NULL: one line has been printed, with the names that come near. */
const struct gpu_spec *gpu_names_find(const char *name, const char *command);

#endif
