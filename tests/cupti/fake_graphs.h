/* SPDX-License-Identifier: Apache-2.0 */
/* The part of libcuda.so.1's stand-in that captures: streams, graphs of nodes, their numbers. While a stream captures, every
 * call of the driver is noted by name, and each but those that a capture may be asked by is an offence: the real driver
 * answers it with an error and gives the capture up. */
#ifndef TESTS_CUPTI_FAKE_GRAPHS_H
#define TESTS_CUPTI_FAKE_GRAPHS_H

#include "tests/cupti/fake_cupti.h"

enum { FAKE_NODE_KERNEL = 0, FAKE_NODE_MEMSET = 2, FAKE_NODE_GRAPH = 4 };

FAKE_API void *fake_graphs_stream(void);
FAKE_API void fake_graphs_begin(void *stream); /* begins a capture into a new graph */
FAKE_API void *fake_graphs_end(void *stream);  /* the graph */

/* The stream's next node, after what it ends in. */
FAKE_API void *fake_graphs_add(void *stream, int type);
FAKE_API void fake_graphs_fork(void *to, void *from); /* an event of FROM that TO waits for */

FAKE_API void *fake_graphs_graph(void *stream); /* that it captures into */
FAKE_API uint32_t fake_graphs_id(void *graph);
FAKE_API uint64_t fake_graphs_node_id(void *node);
FAKE_API void *fake_graphs_executable(void *graph);   /* its id is another graph's */
FAKE_API void fake_graphs_set_layout(unsigned shift); /* of ids: the graph's number times this; 1: as everywhere */

FAKE_API unsigned fake_graphs_calls(const char *function); /* made while something captured */
FAKE_API unsigned fake_graphs_offences(void);              /* of those, by others */
FAKE_API void fake_graphs_note(const char *function);      /* by the rest of the stand-in: FUNCTION is being called */

#endif
