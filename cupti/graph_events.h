/* SPDX-License-Identifier: Apache-2.0 */
/* What CUPTI tells of graphs while they are made: nodes created, copied, updated, destroyed; into graph_nodes. */
#ifndef CUPTI_GRAPH_EVENTS_H
#define CUPTI_GRAPH_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "cupti/cupti_library.h"

/* Switches on what this CUPTI has of it. False: captured kernels can't be followed. */
bool graph_events_enable(const struct cupti_library *library, void *subscriber);

/* Callbacks, on the thread that makes the call, inside it. */
void graph_events_resource(uint32_t cbid, const struct cupti_resource_data *data);
void graph_events_call(int domain, uint32_t cbid, const struct cupti_callback_data *call);

#endif
