/* SPDX-License-Identifier: Apache-2.0 */
/* What CUPTI tells of graphs while they are made: nodes created, copied, updated, destroyed; into graph_nodes. */
#ifndef CUPTI_GRAPH_EVENTS_H
#define CUPTI_GRAPH_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "cupti/cupti_library.h"

/* Switches on what this CUPTI has of it: calls that make and change executables, and NODES, if those are asked for. False:
 * those are not told of. */
bool graph_events_enable(const struct cupti_library *library, void *subscriber, bool nodes);

/* Nothing comes from CUPTI any more. */
void graph_events_end(void);

/* CUPTI tells when an executable is updated: the program's own call need not be looked at. */
bool graph_events_sees_updates(void);

/* Callbacks, on the thread that makes the call, inside it. */
void graph_events_resource(uint32_t cbid, const struct cupti_resource_data *data);
void graph_events_call(int domain, uint32_t cbid, const struct cupti_callback_data *call);
void graph_events_launched(const struct cupti_callback_data *call); /* at the exit of a graph's launch */

#endif
