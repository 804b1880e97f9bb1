/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel, a launch or a node of a graph is a row of. */
#ifndef CLASSIFY_GRAPH_USE_H
#define CLASSIFY_GRAPH_USE_H

#include <stdint.h>

/* Of a kernel's name, of a library call's signature, or of the shape of a launch with values. */
enum graph_use_of { USE_NAME, USE_CALL, USE_SHAPE, USE_COUNT };

struct graph_use {
    enum graph_use_of of;
    uint64_t id; /* of a name: 0: not known */
};

#endif
