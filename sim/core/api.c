/* SPDX-License-Identifier: Apache-2.0 */
/* Doors of the API: correlation ids, the one observer, and the rule that calls made inside an observer's callback are
 * not observed themselves. */
#include "sim/core/device.h"
#include "sim/core/state.h"

static const struct simgpu_observer *current_observer;
static uint32_t last_correlation;

static __thread struct {
    unsigned depth;
    uint32_t correlation;
    bool observing;
} door;

void simgpu_observe(const struct simgpu_observer *observer)
{
    __atomic_store_n(&current_observer, observer, __ATOMIC_RELEASE);
}

const struct simgpu_observer *api_observer(void)
{
    return __atomic_load_n(&current_observer, __ATOMIC_ACQUIRE);
}

void *api_enter_observer(void)
{
    const struct simgpu_observer *observer = api_observer();
    if (!observer || door.observing)
        return NULL;
    door.observing = true;
    return (void *)observer;
}

void api_leave_observer(void)
{
    door.observing = false;
}

void api_resource(const struct simgpu_resource_notice *notice)
{
    const struct simgpu_observer *observer = api_enter_observer();
    if (!observer)
        return;
    if (observer->resource)
        observer->resource(notice);
    api_leave_observer();
}

static uint32_t fresh_correlation(void)
{
    return __atomic_add_fetch(&last_correlation, 1, __ATOMIC_RELAXED);
}

uint32_t api_correlation(void)
{
    return door.depth ? door.correlation : fresh_correlation();
}

void simgpu_api_enter(struct simgpu_api_call *call)
{
    if (door.depth++ == 0)
        door.correlation = fresh_correlation();
    call->correlation_id = door.correlation;
    const struct simgpu_observer *observer = api_enter_observer();
    if (!observer)
        return;
    call->context = simgpu_context_current();
    call->start_ns = simgpu_now_ns();
    if (observer->api_enter)
        observer->api_enter(call);
    api_leave_observer();
}

void simgpu_api_exit(struct simgpu_api_call *call, void *return_value)
{
    door.depth--;
    simgpu_ledger_api(call, *(const int *)return_value);
    if (!call->start_ns) /* the observer came in between, or the call is an observer's own */
        return;
    const struct simgpu_observer *observer = api_enter_observer();
    if (!observer)
        return;
    call->return_value = return_value;
    call->end_ns = simgpu_now_ns();
    if (observer->api_exit)
        observer->api_exit(call);
    api_leave_observer();
}
