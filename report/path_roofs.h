/* SPDX-License-Identifier: Apache-2.0 */
/* The roofs that a picture of a device needs: those of the paths that were used, paths of one peak together. */
#ifndef REPORT_PATH_ROOFS_H
#define REPORT_PATH_ROOFS_H

#include <stdbool.h>
#include <stddef.h>

#include "classify/session.h"

enum { PATH_ROOFS_NAME_BYTES = 80 };

struct path_roof {
    char name[PATH_ROOFS_NAME_BYTES];   /* "bf16, fp16": paths, as --peak calls them */
    double time_ns;                     /* of operators under it */
    struct roof kinds[ROOF_KIND_COUNT]; /* specification, achievable, at the clock held; NAN where not known */
};

/* Operators of DEVICE whose work is known, most time first. Returns how many there are in ROOFS, of GPU_PATH_COUNT. A peak that
 * is not known is a roof as well: its flops_per_second are NAN. */
size_t path_roofs(const struct session *session, int device, struct path_roof *roofs);

#endif
