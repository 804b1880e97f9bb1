/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel's mangled name tells of its parameters. */
#ifndef SIM_CORE_SIGNATURE_H
#define SIM_CORE_SIGNATURE_H

#include "sim/core/image.h"

/* Looks for a demangler in the process. Not to be called with the core's lock held: the loader has one of its own. */
void signature_prepare(void);
/* Sizes and offsets of the parameters in NAME, to be freed; -1: a type's size isn't known, or there is no demangler. */
int signature_parameters(const char *name, struct image_param **parameters);

#endif
