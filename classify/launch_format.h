/* SPDX-License-Identifier: Apache-2.0 */
/* Formats as rows of the launch table name them: those of weights first, with their scales, then all that tensors are stored
 * in. ggml's types go by their numbers, which template arguments carry. */
#ifndef CLASSIFY_LAUNCH_FORMAT_H
#define CLASSIFY_LAUNCH_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "classify/weight_format.h"

struct launch_format {
    const char *name;
    const struct weight_format *weight; /* NULL: no format of weights */
    double bits;                        /* of one element, scales included */
    int64_t block,
        block_bytes; /* elements and bytes of one of ggml's blocks, 1 and an element's of plain formats; 0: none */
};

/* False: there is no such format. Names are those of weight_formats() and model_formats(). */
bool launch_format_find(const char *name, struct launch_format *format);

/* Its name, static; NULL where ggml has no type of this number. */
const char *launch_format_of_ggml(int64_t type);

#endif
