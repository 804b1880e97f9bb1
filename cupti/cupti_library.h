/* SPDX-License-Identifier: Apache-2.0 */
/* Finds CUPTI and binds its functions. A process must hold one copy only: one that is mapped already always wins. */
#ifndef CUPTI_CUPTI_LIBRARY_H
#define CUPTI_CUPTI_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cupti/cupti_records.h"
#include "cupti/cupti_types.h"

struct cupti_library {
#define FUNCTION(name, needed, parameters) int(*name) parameters;
#include "cupti/cupti_functions.def"
#include "cupti/shared_functions.def"
#undef FUNCTION
    const char *how; /* which of the ways found it, for people */
    char path[512];
    /* CUDA 13.2's copies recurse until the stack ends on the first call of any function while the driver is not
     * initialised. Told by which symbols it has, since asking for its version is such a call. */
    bool needs_initialized_driver;
};

/* Maps and binds; calls nothing in it. DRIVER_VERSION as cuDriverGetVersion() has it (13010), 0 unknown: no copy of a newer
 * major is tried, since it would refuse. PREFERRED: a path from the user, or NULL. False: WHY says it in one line. */
bool cupti_library_find(struct cupti_library *library, int driver_version, const char *preferred, char *why,
                        size_t why_bytes);

#endif
