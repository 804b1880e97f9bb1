/* SPDX-License-Identifier: Apache-2.0 */
/* What nodes of graphs serve whose launches have no record any more. */
#ifndef CLASSIFY_HELPER_NODES_H
#define CLASSIFY_HELPER_NODES_H

#include "classify/operator_join.h"

/* After the last record, before graph_replays_end(). */
void helper_nodes_charge(struct operator_join *join);

#endif
