/* SPDX-License-Identifier: Apache-2.0 */
/* The one observer of the core: hands each event to the subscriber's callbacks and to the activity records. */
#include "stand_in.h"

#include <stdatomic.h>

static void on_api_enter(struct simgpu_api_call *call)
{
    records_api_enter(call);
    callbacks_api(call, &call->correlation_data, CUPTI_API_ENTER);
}

static void on_api_exit(struct simgpu_api_call *call)
{
    callbacks_api(call, &call->correlation_data, CUPTI_API_EXIT);
    records_api_exit(call);
}

static void on_resource(const struct simgpu_resource_notice *notice)
{
    if (notice->event == SIMGPU_CONTEXT_CREATED)
        records_context(notice->context);
    callbacks_resource(notice);
}

static const struct simgpu_observer observer = {
    .api_enter = on_api_enter,
    .api_exit = on_api_exit,
    .activity = records_activity,
    .graph = callbacks_graph,
    .resource = on_resource,
};

static atomic_bool installed;

void observer_install(void)
{
    if (!atomic_exchange(&installed, true))
        simgpu_observe(&observer);
}

void observer_remove(void)
{
    if (atomic_exchange(&installed, false))
        simgpu_observe(NULL);
}
