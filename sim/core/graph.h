/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: templates made of nodes, and executables made from them. Wrong handles are errors, not crashes. */
#ifndef SIM_CORE_GRAPH_H
#define SIM_CORE_GRAPH_H

#include "sim/core/work.h"

SIMGPU_API int simgpu_graph_create(struct simgpu_graph **graph);
SIMGPU_API int simgpu_graph_destroy(struct simgpu_graph *graph);
SIMGPU_API int simgpu_graph_copy(struct simgpu_graph *graph, struct simgpu_graph **copy);
SIMGPU_API int simgpu_graph_add(struct simgpu_graph *graph, struct simgpu_node *const *dependencies, size_t count,
                                const struct simgpu_work *work, struct simgpu_node **node);

enum simgpu_graph_list { SIMGPU_GRAPH_NODES, SIMGPU_GRAPH_ROOTS };
/* As the vendor's getters: NODES NULL: only the count; else up to *COUNT of them, the rest NULL. */
SIMGPU_API int simgpu_graph_list(struct simgpu_graph *graph, enum simgpu_graph_list which, struct simgpu_node **nodes,
                                 size_t *count);
SIMGPU_API int simgpu_graph_edges(struct simgpu_graph *graph, struct simgpu_node **from, struct simgpu_node **to,
                                  size_t *count);
SIMGPU_API int simgpu_node_dependencies(struct simgpu_node *node, struct simgpu_node **nodes, size_t *count);
SIMGPU_API int simgpu_node_dependents(struct simgpu_node *node, struct simgpu_node **nodes, size_t *count);
SIMGPU_API int simgpu_graph_connect(struct simgpu_graph *graph, struct simgpu_node *const *from,
                                    struct simgpu_node *const *to, size_t count, bool remove);

/* WORK points into the node and is good until it changes. */
SIMGPU_API int simgpu_node_work(struct simgpu_node *node, struct simgpu_work *work);
SIMGPU_API int simgpu_node_change(struct simgpu_node *node, const struct simgpu_work *work);
SIMGPU_API int simgpu_node_destroy(struct simgpu_node *node);
SIMGPU_API int simgpu_node_find_in_copy(struct simgpu_node *original, struct simgpu_graph *copy,
                                        struct simgpu_node **found);

SIMGPU_API int simgpu_exec_create(struct simgpu_graph *graph, uint64_t flags, struct simgpu_exec **exec);
SIMGPU_API int simgpu_exec_destroy(struct simgpu_exec *exec);
/* DRIVER_CBID as simgpu_launch's: 514 cuGraphLaunch; 0: the caller is the driver's own door. */
SIMGPU_API int simgpu_exec_launch(struct simgpu_exec *exec, struct simgpu_stream *stream, uint32_t driver_cbid);
SIMGPU_API bool simgpu_exec_valid(struct simgpu_exec *exec);
SIMGPU_API uint64_t simgpu_exec_flags(const struct simgpu_exec *exec);
/* REASON: CUgraphExecUpdateResult; NODE: where it stopped. */
SIMGPU_API int simgpu_exec_update(struct simgpu_exec *exec, struct simgpu_graph *graph, struct simgpu_node **node,
                                  int *reason);
/* NODE is the template's; the executable's node of the same local id is meant. */
SIMGPU_API int simgpu_exec_change(struct simgpu_exec *exec, struct simgpu_node *node, const struct simgpu_work *work);
SIMGPU_API int simgpu_exec_enable(struct simgpu_exec *exec, struct simgpu_node *node, const bool *enable,
                                  bool *enabled);

/* A handle for a conditional node of GRAPH. Without a default (ASSIGN) its value is 1: kernels that would set it do nothing. */
SIMGPU_API int simgpu_conditional_create(struct simgpu_graph *graph, unsigned default_value, bool assign,
                                         uint64_t *handle);

/* Objects that live as long as the graphs that hold them. */
struct user_object;
SIMGPU_API int simgpu_user_object_create(void *data, void (*destroy)(void *data), unsigned count,
                                         struct user_object **object);
SIMGPU_API int simgpu_user_object_count(struct user_object *object, int change);
SIMGPU_API int simgpu_graph_hold(struct simgpu_graph *graph, struct user_object *object, unsigned count, bool move);
SIMGPU_API int simgpu_graph_let_go(struct simgpu_graph *graph, struct user_object *object, unsigned count);

#endif
