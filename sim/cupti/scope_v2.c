/* SPDX-License-Identifier: Apache-2.0 */
/* What is for one subscriber: subscribing by name (13.0), kinds, buffers and ids of its own (13.2, 13.3). A process uses
 * either these or the functions for the whole process; the first that comes decides, and the others are refused. Structs are
 * the public headers' of 13.4, which those here may be too old to have. */
#include "stand_in.h"

#include <stdio.h>
#include <string.h>

struct subscriber_params { /* CUpti_SubscriberParams, 32 bytes before 13.2 */
    size_t struct_size;
    const char *name;
    char *old_name;
    size_t old_name_size;
    uint8_t allow_several, padding[7];
};
enum { PARAMS_BYTES = 32 };

/* Of those who share, the first's name is told though it isn't in the way. */
static CUptiResult subscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *userdata, void *given)
{
    struct subscriber_params params = {0};
    const char *holder = NULL;
    CUptiResult result;

    if (!given)
        return CUPTI_ERROR_INVALID_PARAMETER;
    memcpy(&params, given, PARAMS_BYTES);
    if (params.struct_size < PARAMS_BYTES)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (params.struct_size >= sizeof params && release_now()->number >= CUPTI_SUBSCRIBER_SCOPE)
        memcpy(&params, given, sizeof params);
    result = callbacks_subscribe(handle, callback, userdata, params.name, params.allow_several, &holder);
    if (holder && params.old_name && params.old_name_size > 0)
        snprintf(params.old_name, params.old_name_size, "%s", holder);
    if (result == CUPTI_SUCCESS && params.allow_several && !scope_is_subscriber()) {
        cuptiUnsubscribe(*handle);
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    }
    return result;
}

/* The subscriber's number, or what to return. */
#define CLIENT_OF(handle)                                                                                              \
    callbacks_client(handle);                                                                                          \
    if (!callbacks_client(handle))                                                                                     \
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);                                                             \
    if (!scope_is_subscriber())                                                                                        \
    return result_done(CUPTI_ERROR_NOT_COMPATIBLE)

#define LATER(...)                                                                                                     \
    CUptiResult CUPTIAPI __VA_ARGS__;                                                                                  \
    CUptiResult CUPTIAPI __VA_ARGS__

CUptiResult CUPTIAPI cuptiSubscribe_v2(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *userdata,
                                       CUpti_SubscriberParams *params)
{
    DOOR_SINCE(CUPTI_NAMED_SUBSCRIBERS);
    return result_done(subscribe(handle, callback, userdata, params));
}

LATER(cuptiActivityEnable_v2(CUpti_SubscriberHandle handle, CUpti_ActivityKind kind, void *config))
{
    (void)config; /* which fields of user-defined records: none here */
    DOOR_SINCE(CUPTI_SUBSCRIBER_SCOPE);
    unsigned client = CLIENT_OF(handle);
    return result_done(records_switch(client, kind, true));
}

LATER(cuptiActivityEnableAndDump_v2(CUpti_SubscriberHandle handle, CUpti_ActivityKind kind, void *config))
{
    (void)config;
    DOOR_SINCE(CUPTI_SUBSCRIBER_SCOPE);
    unsigned client = CLIENT_OF(handle);
    return result_done(records_switch(client, kind, true));
}

LATER(cuptiActivityDisable_v2(CUpti_SubscriberHandle handle, CUpti_ActivityKind kind, void *config))
{
    (void)config;
    DOOR_SINCE(CUPTI_SUBSCRIBER_SCOPE);
    unsigned client = CLIENT_OF(handle);
    return result_done(records_switch(client, kind, false));
}

LATER(cuptiActivityRegisterCallbacks_v2(CUpti_SubscriberHandle handle,
                                        void (*request)(uint8_t **, size_t *, size_t *, void *),
                                        void (*complete)(uint8_t *, size_t, size_t, void *)))
{
    DOOR_SINCE(CUPTI_SUBSCRIBER_SCOPE);
    unsigned client = CLIENT_OF(handle);
    if (!request || !complete)
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    buffers_register(client, &(struct scoped_callbacks){request, complete, handle});
    return CUPTI_SUCCESS;
}

LATER(cuptiActivityGetAttribute_v2(CUpti_SubscriberHandle handle, CUpti_ActivityAttribute id, size_t *bytes,
                                   void *value))
{
    DOOR_SINCE(CUPTI_SUBSCRIBER_SCOPE);
    if (!callbacks_client(handle))
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    return cuptiActivityGetAttribute(id, bytes, value);
}

LATER(cuptiActivitySetAttribute_v2(CUpti_SubscriberHandle handle, CUpti_ActivityAttribute id, size_t *bytes,
                                   void *value))
{
    DOOR_SINCE(CUPTI_SUBSCRIBER_SCOPE);
    if (!callbacks_client(handle))
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    return cuptiActivitySetAttribute(id, bytes, value);
}

/* Clients by bits: HANDLE's, or all of them for NULL. False: HANDLE is nobody's. */
static bool clients_of(CUpti_SubscriberHandle handle, unsigned *clients)
{
    *clients = handle ? 1u << callbacks_client(handle) : ~0u;
    return !handle || callbacks_client(handle);
}

LATER(cuptiActivityGetEnabledKinds(CUpti_SubscriberHandle handle, CUpti_ActivityKind *kinds, uint32_t *room,
                                   uint32_t *count))
{
    unsigned clients;

    DOOR_SINCE(CUPTI_SUBSCRIBER_SCOPE);
    if (!count || (kinds && !room) || !clients_of(handle, &clients))
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    *count = 0;
    for (int kind = 1; kind < CUPTI_ACTIVITY_KIND_COUNT; kind++)
        if (records_clients((CUpti_ActivityKind)kind) & clients) {
            if (kinds && *count < *room)
                kinds[*count] = (CUpti_ActivityKind)kind;
            ++*count;
        }
    return CUPTI_SUCCESS;
}

LATER(cuptiGetEnabledCallbacks(CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain, CUpti_CallbackId *ids,
                               uint32_t *room, uint32_t *count))
{
    unsigned clients;

    DOOR_SINCE(CUPTI_SUBSCRIBER_SCOPE);
    if (!count || (ids && !room) || !clients_of(handle, &clients))
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    *count = callbacks_enabled(clients, domain, ids, room ? *room : 0);
    return CUPTI_SUCCESS;
}

LATER(cuptiActivityGetStructSize(CUpti_ActivityKind kind, uint32_t version, size_t *bytes))
{
    CUpti_Activity record = {.kind = kind};

    DOOR_SINCE(CUPTI_SUBSCRIBER_SCOPE);
    if (!bytes)
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    if (version && version != release_now()->api_version) /* sizes of other releases: not kept here */
        return result_done(CUPTI_ERROR_NOT_SUPPORTED);
    *bytes = release_record_bytes(kind) ? release_record_bytes(kind) : buffers_record_bytes(&record);
    return result_done(*bytes ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_KIND);
}

LATER(cuptiActivityGetNextRecord_v2(CUpti_SubscriberHandle handle, uint8_t *buffer, size_t valid,
                                    CUpti_Activity **record))
{
    DOOR_SINCE(CUPTI_SEVERAL_SUBSCRIBERS);
    if (!callbacks_client(handle))
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    return cuptiActivityGetNextRecord(buffer, valid, record);
}

LATER(cuptiActivityGetNumDroppedRecords_v2(CUpti_SubscriberHandle handle, CUcontext context, uint32_t stream,
                                           size_t *count))
{
    (void)context, (void)stream;
    DOOR_SINCE(CUPTI_SEVERAL_SUBSCRIBERS);
    unsigned client = CLIENT_OF(handle);
    return result_done(count ? buffers_dropped(client, count) : CUPTI_ERROR_INVALID_PARAMETER);
}

/* The stacks are one for all subscribers here. */
LATER(cuptiActivityPushExternalCorrelationId_v2(CUpti_SubscriberHandle handle, CUpti_ExternalCorrelationKind kind,
                                                uint64_t id))
{
    DOOR_SINCE(CUPTI_SEVERAL_SUBSCRIBERS);
    unsigned client = CLIENT_OF(handle);
    (void)client;
    return external_push(kind, id);
}

LATER(cuptiActivityPopExternalCorrelationId_v2(CUpti_SubscriberHandle handle, CUpti_ExternalCorrelationKind kind,
                                               uint64_t *last_id))
{
    DOOR_SINCE(CUPTI_SEVERAL_SUBSCRIBERS);
    unsigned client = CLIENT_OF(handle);
    (void)client;
    return external_pop(kind, last_id);
}

LATER(cuptiGetTimestamp_v2(CUpti_SubscriberHandle handle, uint64_t *timestamp))
{
    DOOR_SINCE(CUPTI_SEVERAL_SUBSCRIBERS);
    if (!callbacks_client(handle))
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    return cuptiGetTimestamp(timestamp);
}

LATER(cuptiActivityEnableDriverApi_v2(CUpti_SubscriberHandle handle, CUpti_CallbackId cbid, uint8_t enable))
{
    DOOR_SINCE(CUPTI_SEVERAL_SUBSCRIBERS);
    unsigned client = CLIENT_OF(handle);
    return result_done(records_switch_api(client, CUPTI_CB_DOMAIN_DRIVER_API, cbid, enable));
}

LATER(cuptiActivityEnableRuntimeApi_v2(CUpti_SubscriberHandle handle, CUpti_CallbackId cbid, uint8_t enable))
{
    DOOR_SINCE(CUPTI_SEVERAL_SUBSCRIBERS);
    unsigned client = CLIENT_OF(handle);
    return result_done(records_switch_api(client, CUPTI_CB_DOMAIN_RUNTIME_API, cbid, enable));
}

LATER(cuptiIsTracingSessionRunning(uint8_t *running))
{
    DOOR_SINCE(CUPTI_SEVERAL_SUBSCRIBERS);
    if (!running)
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    *running = scope_is_taken();
    return CUPTI_SUCCESS;
}
