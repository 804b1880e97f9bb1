/* SPDX-License-Identifier: Apache-2.0 */
/* Prototypes of the second form: cupti_callbacks.h and cupti_activity.h of CUDA 13.3 to 13.5. A kind without a configuration
 * gives the records that the first form gives. */
#include "cupti/subscription.h"

#include <stdatomic.h>

enum { KINDS = 64, FLUSH_FORCED = 1 };

struct subscriber_params { /* CUpti_SubscriberParams from CUDA 13.2 on */
    size_t struct_size;
    const char *name;
    char *old_name;
    size_t old_name_bytes;
    uint8_t allow_multiple_subscribers;
    uint8_t padding[7];
};
_Static_assert(sizeof(struct subscriber_params) == 40, "40 bytes from 13.2 on");

enum { OLD_NAME_BYTES = 64 }; /* CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN */

static const struct cupti_library *cupti;
static void *handle;
static bool shared_form;
static char old_name[OLD_NAME_BYTES];
static _Atomic uint64_t kinds_enabled; /* one bit each */
static cupti_buffer_requested *buffer_requested;
static cupti_buffer_completed *buffer_completed;

bool subscription_may_share(const struct cupti_library *library)
{
    return library->cuptiSubscribe_v2 && library->cuptiActivityRegisterCallbacks_v2 &&
           library->cuptiActivityEnable_v2 && library->cuptiActivityDisable_v2 &&
           library->cuptiActivityGetNextRecord_v2 && library->cuptiActivityGetNumDroppedRecords_v2 &&
           library->cuptiGetTimestamp_v2;
}

int subscription_open(const struct cupti_library *library, bool shared, cupti_callback *callback)
{
    struct subscriber_params params = {.struct_size = sizeof params,
                                       .name = "rooftap",
                                       .old_name = old_name,
                                       .old_name_bytes = sizeof old_name,
                                       .allow_multiple_subscribers = 1};
    void *opened = NULL;
    cupti = library;
    int result = shared ? cupti->cuptiSubscribe_v2(&opened, callback, NULL, &params)
                        : cupti->cuptiSubscribe(&opened, callback, NULL);
    old_name[sizeof old_name - 1] = '\0';
    if (result != CUPTI_OK)
        return result;
    handle = opened;
    shared_form = shared;
    return CUPTI_OK;
}

bool subscription_is_shared(void)
{
    return shared_form;
}

void *subscription_handle(void)
{
    return handle;
}

const char *subscription_refused_by(void)
{
    return old_name;
}

/* ---- activities ---- */

static void requested_shared(uint8_t **buffer, size_t *size, size_t *max_records, void *info)
{
    (void)info;
    buffer_requested(buffer, size, max_records);
}

static void completed_shared(uint8_t *buffer, size_t size, size_t valid_size, void *info)
{
    (void)info;
    buffer_completed(NULL, 0, buffer, size, valid_size);
}

int subscription_register(cupti_buffer_requested *requested, cupti_buffer_completed *completed)
{
    buffer_requested = requested;
    buffer_completed = completed;
    return shared_form ? cupti->cuptiActivityRegisterCallbacks_v2(handle, requested_shared, completed_shared)
                       : cupti->cuptiActivityRegisterCallbacks(requested, completed);
}

int subscription_enable(int kind)
{
    int result = shared_form ? cupti->cuptiActivityEnable_v2(handle, kind, NULL) : cupti->cuptiActivityEnable(kind);
    if (result == CUPTI_OK && kind < KINDS)
        atomic_fetch_or(&kinds_enabled, 1ull << kind);
    return result;
}

int subscription_disable(int kind)
{
    if (kind < KINDS)
        atomic_fetch_and(&kinds_enabled, ~(1ull << kind));
    return shared_form ? cupti->cuptiActivityDisable_v2(handle, kind, NULL) : cupti->cuptiActivityDisable(kind);
}

int subscription_next_record(uint8_t *buffer, size_t valid_bytes, struct cupti_record **record)
{
    if (!shared_form)
        return cupti->cuptiActivityGetNextRecord(buffer, valid_bytes, record);
    return handle ? cupti->cuptiActivityGetNextRecord_v2(handle, buffer, valid_bytes, record) : CUPTI_NOT_COMPATIBLE;
}

bool subscription_take_dropped(uint64_t *dropped)
{
    size_t count = 0;
    int result = shared_form ? cupti->cuptiActivityGetNumDroppedRecords_v2(handle, NULL, 0, &count)
                             : cupti->cuptiActivityGetNumDroppedRecords(NULL, 0, &count);
    *dropped = result == CUPTI_OK ? count : 0;
    return result == CUPTI_OK;
}

uint64_t subscription_timestamp(void)
{
    uint64_t ns = 0;
    int result = shared_form ? cupti->cuptiGetTimestamp_v2(handle, &ns) : cupti->cuptiGetTimestamp(&ns);
    return result == CUPTI_OK ? ns : 0;
}

bool subscription_may_push(void)
{
    return shared_form
               ? cupti->cuptiActivityPushExternalCorrelationId_v2 && cupti->cuptiActivityPopExternalCorrelationId_v2
               : cupti->cuptiActivityPushExternalCorrelationId && cupti->cuptiActivityPopExternalCorrelationId;
}

int subscription_push(uint64_t id)
{
    return shared_form ? cupti->cuptiActivityPushExternalCorrelationId_v2(handle, CUPTI_EXTERNAL_CUSTOM2, id)
                       : cupti->cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CUSTOM2, id);
}

int subscription_pop(void)
{
    uint64_t popped = 0;
    return shared_form ? cupti->cuptiActivityPopExternalCorrelationId_v2(handle, CUPTI_EXTERNAL_CUSTOM2, &popped)
                       : cupti->cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CUSTOM2, &popped);
}

/* ---- the end ---- */

/* Forced, the second flush also takes back what is not complete: else another client's records would land in our buffers, and
 * it would be handed memory that it does not know. Not where others share: a flush is everybody's, and each has its own. */
void subscription_stop(void)
{
    uint64_t kinds = atomic_load(&kinds_enabled);
    if (!kinds)
        return;
    cupti->cuptiActivityFlushAll(0);
    for (int kind = 0; kind < KINDS; kind++)
        if (kinds & 1ull << kind)
            subscription_disable(kind);
    if (!shared_form)
        cupti->cuptiActivityFlushAll(FLUSH_FORCED);
}

void subscription_close(void)
{
    void *closing = handle;
    handle = NULL;
    if (closing)
        cupti->cuptiUnsubscribe(closing);
}
