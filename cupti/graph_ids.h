/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers by which graphs, their nodes and executables are told: those of CUPTI's records, as far as somebody gives them out.
 * A node's is its graph's in the upper half and its own in the lower one, which copies of the graph keep (so PyTorch's
 * torch/cuda/_graph_annotations.py relies on it); graph_ids_node() finds out where that does not hold. */
#ifndef CUPTI_GRAPH_IDS_H
#define CUPTI_GRAPH_IDS_H

#include <stdbool.h>
#include <stdint.h>

#include "cupti/cuda_driver.h"
#include "cupti/cupti_library.h"

enum graph_ids_source {
    GRAPH_IDS_NONE = 0,
    GRAPH_IDS_CUPTI,  /* cuptiGetGraphNodeId() and its like */
    GRAPH_IDS_DRIVER, /* cuGraphNodeGetToolsId() and its like, from CUDA 13.1: the same numbers */
    GRAPH_IDS_OWN,    /* nobody's, so no record has them: good for counting launches */
};

/* LIBRARY: NULL where CUPTI is not ours to call. Who asks first decides for the process, except that CUPTI, which has the
 * same numbers as the driver, may follow it. */
enum graph_ids_source graph_ids_open(const struct cupti_library *library, const struct cuda_driver *driver);
enum graph_ids_source graph_ids_source(void);

/* Of handles that live. False, 0: nobody knows it. None of these is a call that a capture forbids. */
bool graph_ids_node(void *node, uint64_t *id);
uint32_t graph_ids_graph(void *graph);
uint32_t graph_ids_executable(void *executable);

/* The same, and numbers of our own come into being for what has none. NUMBER: what a new node of the graph gets. */
uint32_t graph_ids_graph_seen(void *graph);
uint32_t graph_ids_executable_seen(void *executable);
bool graph_ids_node_seen(void *node, uint32_t graph_id, uint32_t number, uint64_t *id);

/* The handle is about to be destroyed, and may come back as another's. */
void graph_ids_forget(void *handle);

/* A node's upper half was not its graph's number: what is copied or updated as a whole can't be followed by numbers. */
bool graph_ids_layout_differs(void);

#endif
