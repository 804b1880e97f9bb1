/* SPDX-License-Identifier: Apache-2.0 */
/* What a mapped library depends on, read from a thread that does not hold it: it may be unmapped meanwhile, and then
 * nothing is known of it. */
#ifndef PRELOAD_LOADED_IMAGE_H
#define PRELOAD_LOADED_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the program or library whose first mapping is at START has a DT_NEEDED that MATCHES. False: no, or not known. */
bool loaded_image_needs(uintptr_t start, bool (*matches)(const char *soname));

#endif
