/* SPDX-License-Identifier: Apache-2.0 */
/* Time and settings: timestamps (CLOCK_REALTIME, or the unit of a callback that the client registers), attributes and
 * the form of thread ids. */
#include "stand_in.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static _Atomic(CUpti_TimestampCallbackFunc) timestamp_callback;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int id_type = CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT;

struct anchor {
    uint64_t realtime_ns, client;
};
static struct anchor first, last;

static struct anchor anchor_now(CUpti_TimestampCallbackFunc callback)
{
    uint64_t before = simgpu_now_ns();
    uint64_t client = callback();

    return (struct anchor){before + (simgpu_now_ns() - before) / 2, client};
}

/* CUPTI's own clock as faults make it: ahead by so many ns, and more the longer the process runs. */
static uint64_t own_clock(uint64_t realtime_ns)
{
    static atomic_ullong begun;
    unsigned long long none = 0;

    if (!fault_on(FAULT_SKEW) && !fault_on(FAULT_DRIFT))
        return realtime_ns;
    atomic_compare_exchange_strong(&begun, &none, realtime_ns);
    return realtime_ns + (uint64_t)fault_value(FAULT_SKEW) +
           (uint64_t)((int64_t)(realtime_ns - atomic_load(&begun)) * fault_value(FAULT_DRIFT) / 1000000);
}

uint64_t clock_of_records(uint64_t realtime_ns)
{
    return clock_convert(realtime_ns) - (uint64_t)fault_value(FAULT_EARLY);
}

CUptiResult CUPTIAPI cuptiGetTimestamp(uint64_t *timestamp)
{
    CUpti_TimestampCallbackFunc callback = atomic_load(&timestamp_callback);

    DOOR();
    if (!timestamp)
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    *timestamp = callback ? callback() : own_clock(simgpu_now_ns());
    return CUPTI_SUCCESS;
}

/* Two anchors, a millisecond or more apart, tie the client's unit to nanoseconds. */
CUptiResult CUPTIAPI cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc callback)
{
    DOOR();
    if (!callback)
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    pthread_mutex_lock(&lock);
    first = last = anchor_now(callback);
    while (last.realtime_ns < first.realtime_ns + 1000000)
        last = anchor_now(callback);
    pthread_mutex_unlock(&lock);
    atomic_store(&timestamp_callback, callback);
    return CUPTI_SUCCESS;
}

uint64_t clock_convert(uint64_t realtime_ns)
{
    CUpti_TimestampCallbackFunc callback = atomic_load(&timestamp_callback);
    struct anchor from, to;
    double per_ns;

    if (!callback)
        return own_clock(realtime_ns);
    pthread_mutex_lock(&lock);
    if (simgpu_now_ns() > last.realtime_ns + 10000000)
        last = anchor_now(callback);
    from = first;
    to = last;
    pthread_mutex_unlock(&lock);
    per_ns = (double)(to.client - from.client) / (double)(to.realtime_ns - from.realtime_ns);
    /* From the nearer anchor, so that the double's error stays small. */
    return (uint64_t)((int64_t)to.client + (int64_t)((double)(int64_t)(realtime_ns - to.realtime_ns) * per_ns));
}

/* ---- attributes: kept and given back; only the zeroed buffers one changes what happens here ---- */

enum { PER_THREAD_BUFFERS = 9 /* CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, of 12.3 */ };

static struct attribute {
    unsigned id; /* CUpti_ActivityAttribute */
    size_t bytes;
    uint64_t value; /* the defaults are those of cupti_activity.h */
} attributes[] = {
    {CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, sizeof(size_t), 3200000},
    {CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_CDP, sizeof(size_t), 8388608},
    {CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, sizeof(size_t), 250},
    {CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_POOL_SIZE, sizeof(size_t), 25000},
    {CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_POOL_LIMIT, sizeof(size_t), 250},
    {CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, sizeof(uint8_t), 0},
    {CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE, sizeof(size_t), 3},
    {CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_PRE_ALLOCATE_VALUE, sizeof(size_t), 3},
    {CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED, sizeof(uint8_t), 0},
    {PER_THREAD_BUFFERS, sizeof(uint8_t), 0}, /* 1 from 13.0 on */
};

static void set_release_defaults(void)
{
    attributes[sizeof attributes / sizeof *attributes - 1].value = release_now()->number >= CUPTI_BUFFERS_BY_THREAD;
}

/* With the lock held. NULL: the release has none of that number. */
static struct attribute *attribute_of(unsigned id)
{
    static bool ready;

    if (!ready)
        set_release_defaults();
    ready = true;
    if (id == PER_THREAD_BUFFERS && release_now()->number < CUPTI_PER_THREAD_ATTRIBUTE)
        return NULL;
    for (unsigned i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (attributes[i].id == id)
            return &attributes[i];
    return NULL;
}

bool attribute_zeroed_buffers(void)
{
    bool zeroed;

    pthread_mutex_lock(&lock);
    zeroed = attribute_of(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER)->value != 0;
    pthread_mutex_unlock(&lock);
    return zeroed;
}

bool attribute_buffers_by_thread(void)
{
    bool by_thread;

    pthread_mutex_lock(&lock);
    by_thread = attribute_of(PER_THREAD_BUFFERS) && attribute_of(PER_THREAD_BUFFERS)->value != 0;
    pthread_mutex_unlock(&lock);
    return by_thread;
}

/* Into VALUE, or out of it. */
static CUptiResult move_attribute(unsigned id, size_t *bytes, void *value, bool in)
{
    struct attribute *attribute;
    CUptiResult result = CUPTI_SUCCESS;

    pthread_mutex_lock(&lock);
    attribute = attribute_of(id);
    if (!attribute || !bytes || !value) {
        result = CUPTI_ERROR_INVALID_PARAMETER;
    } else if (*bytes < attribute->bytes) {
        result = CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
    } else if (in) {
        attribute->value = 0;
        memcpy(&attribute->value, value, attribute->bytes);
    } else {
        memcpy(value, &attribute->value, attribute->bytes);
    }
    if (result == CUPTI_SUCCESS)
        *bytes = attribute->bytes;
    pthread_mutex_unlock(&lock);
    return result_done(result);
}

CUptiResult CUPTIAPI cuptiActivityGetAttribute(CUpti_ActivityAttribute id, size_t *bytes, void *value)
{
    DOOR();
    return move_attribute(id, bytes, value, false);
}

CUptiResult CUPTIAPI cuptiActivitySetAttribute(CUpti_ActivityAttribute id, size_t *bytes, void *value)
{
    DOOR();
    return move_attribute(id, bytes, value, true);
}

/* ---- thread ids ---- */

CUpti_ActivityThreadIdType thread_id_type(void)
{
    return (CUpti_ActivityThreadIdType)atomic_load_explicit(&id_type, memory_order_relaxed);
}

CUptiResult CUPTIAPI cuptiSetThreadIdType(CUpti_ActivityThreadIdType type)
{
    DOOR();
    if (type != CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT && type != CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM)
        return result_done(CUPTI_ERROR_NOT_SUPPORTED);
    atomic_store(&id_type, (int)type);
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetThreadIdType(CUpti_ActivityThreadIdType *type)
{
    DOOR();
    if (!type)
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    *type = thread_id_type();
    return CUPTI_SUCCESS;
}
