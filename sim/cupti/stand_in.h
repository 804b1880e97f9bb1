/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the CUPTI stand-in share. The observer (observer.c) hears from the core; callbacks.c tells the
 * subscriber, records.c makes activity records, buffers.c holds and delivers them. No function of the core is called
 * while a lock is held here. */
#ifndef SIM_CUPTI_STAND_IN_H
#define SIM_CUPTI_STAND_IN_H

#include "faults.h"
#include "sim/core/simgpu.h"
#include "versions.h"

#include <cupti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Records in the newest form that any release makes, which begins with each older one's: cut to the release's size as they
 * are put (versions.c). Offsets are those of the debug information of CUPTI 13.4; tests/sim_cupti compares them with headers. */
struct kernel_record { /* CUpti_ActivityKernel13 */
    CUpti_ActivityKind kind;
    uint8_t cacheConfig, sharedMemoryConfig;
    uint16_t registersPerThread;
    uint32_t partitionedGlobalCacheRequested, partitionedGlobalCacheExecuted;
    uint64_t start, end, completed;
    uint32_t deviceId, contextId, streamId;
    int32_t gridX, gridY, gridZ, blockX, blockY, blockZ;
    int32_t staticSharedMemory, dynamicSharedMemory;
    uint32_t localMemoryPerThread, localMemoryTotal, correlationId;
    int64_t gridId;
    const char *name;
    void *reserved0;
    uint64_t queued, submitted;
    uint8_t launchType, isSharedMemoryCarveoutRequested, sharedMemoryCarveoutRequested, padding;
    uint32_t sharedMemoryExecuted;
    uint64_t graphNodeId;
    uint32_t shmemLimitConfig, graphId;
    void *pAccessPolicyWindow;
    uint32_t channelID, channelType;
    uint32_t clusterX, clusterY, clusterZ, clusterSchedulingPolicy;
    uint64_t localMemoryTotal_v2;
    uint32_t maxPotentialClusterSize, maxActiveClusters;
    uint8_t isDeviceLaunched, padding3[7];
    int32_t priority;
    uint32_t padding4, executionModel, padding5, sourceGraphId, padding6;
    uint64_t sourceGraphNodeId;
};

struct memcpy_record { /* CUpti_ActivityMemcpy7 */
    CUpti_ActivityKind kind;
    uint8_t copyKind, srcKind, dstKind, flags;
    uint64_t bytes, start, end;
    uint32_t deviceId, contextId, streamId, correlationId, runtimeCorrelationId, pad;
    void *reserved0;
    uint64_t graphNodeId;
    uint32_t graphId, channelID, channelType, pad2;
    uint64_t copyCount;
    uint32_t sourceGraphId, pad3;
    uint64_t sourceGraphNodeId;
};

struct memset_record { /* CUpti_ActivityMemset5 */
    CUpti_ActivityKind kind;
    uint32_t value;
    uint64_t bytes, start, end;
    uint32_t deviceId, contextId, streamId, correlationId;
    uint16_t flags, memoryKind;
    uint32_t pad;
    void *reserved0;
    uint64_t graphNodeId;
    uint32_t graphId, channelID, channelType, pad2, sourceGraphId, pad3;
    uint64_t sourceGraphNodeId;
};

struct context_record { /* CUpti_ActivityContext4 */
    CUpti_ActivityKind kind;
    uint32_t contextId, deviceId;
    uint16_t computeApiKind, nullStreamId;
    uint32_t parentContextId;
    uint8_t isGreenContext, padding;
    uint16_t numMultiprocessors;
    uint32_t cigMode, padding2;
    uint64_t processId;
};

struct graph_record { /* CUpti_ActivityGraphTrace2 */
    CUpti_ActivityKind kind;
    uint32_t correlationId;
    uint64_t start, end;
    uint32_t deviceId, graphId, contextId, streamId;
    void *reserved;
    uint32_t endDeviceId, endContextId;
};

#define KERNEL_RECORD  struct kernel_record
#define CONTEXT_RECORD struct context_record
#define MEMCPY_RECORD  struct memcpy_record
#define MEMSET_RECORD  struct memset_record
#if CUPTI_API_VERSION == 18
#define DEVICE_RECORD CUpti_ActivityDevice4
#else
#define DEVICE_RECORD CUpti_ActivityDevice5 /* what later ones add stays zero */
#endif
#define PEER_RECORD     CUpti_ActivityMemcpyPtoP4
#define API_RECORD      CUpti_ActivityAPI
#define EXTERNAL_RECORD CUpti_ActivityExternalCorrelation

enum { CLIENTS_MOST = 5 };

/* Remembers RESULT for cuptiGetLastError and passes it on. */
CUptiResult result_done(CUptiResult result);

/* The first line of an entry point: what an injected fault, or the release, says instead (door.c). */
#define DOOR() DOOR_SINCE(0)
/* The same of a function that came with RELEASE. */
#define DOOR_SINCE(release)                                                                                            \
    do {                                                                                                               \
        int refused_ = door_refuses(__func__, release);                                                                \
        if (refused_)                                                                                                  \
            return result_done((CUptiResult)refused_);                                                                 \
    } while (0)
int door_refuses(const char *function, uint32_t release);
void door_finalized(void);

/* ---- scope.c: subscribers with a scope of their own ---- */
struct scoped_callbacks {
    void (*request)(uint8_t **buffer, size_t *size, size_t *max_records, void *information);
    void (*complete)(uint8_t *buffer, size_t size, size_t valid, void *information);
    CUpti_SubscriberHandle subscriber;
};
bool scope_is_process(void);    /* a call for the whole process may be made, and from now on no others */
bool scope_is_subscriber(void); /* a call for one subscriber likewise */
bool scope_is_taken(void);
void scope_reset(void);
void scope_request(const struct scoped_callbacks *callbacks, uint8_t **buffer, size_t *size, size_t *max_records);
void scope_complete(const struct scoped_callbacks *callbacks, uint8_t *buffer, size_t size, size_t valid);

/* ---- observer.c ---- */
void observer_install(void); /* from now on the core tells us; once */
void observer_remove(void);

/* ---- callbacks.c ---- */
void callbacks_api(const struct simgpu_api_call *call, uint64_t *correlation_data, CUpti_ApiCallbackSite site);
void callbacks_graph(const struct simgpu_graph_notice *notice);
void callbacks_resource(const struct simgpu_resource_notice *notice);
void callbacks_reset(void);
/* HOLDER: the name of who is subscribed already, if that is why it failed. */
/* SEVERAL: others may be beside it, if all want that. HOLDER: the name of the first that is subscribed already, or NULL. */
CUptiResult callbacks_subscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *userdata,
                                const char *name, bool several, const char **holder);
unsigned callbacks_client(CUpti_SubscriberHandle handle); /* its number from 1; 0: not subscribed */
/* How many ids of DOMAIN are on for CLIENTS (bits), of which IDS takes up to ROOM. */
uint32_t callbacks_enabled(unsigned clients, CUpti_CallbackDomain domain, CUpti_CallbackId *ids, uint32_t room);

/* ---- records.c ---- */
void records_api_enter(const struct simgpu_api_call *call);
void records_api_exit(const struct simgpu_api_call *call);
void records_activity(const struct simgpu_activity *activity);
void records_context(void *context);
void records_disable_all(void);
/* A bit for each client that has KIND on; client 0 is the whole process, the others are subscribers of their own scope. */
uint8_t records_clients(CUpti_ActivityKind kind);
uint8_t records_device_clients(void); /* those that have a kind of device work on */
CUptiResult records_switch(unsigned client, CUpti_ActivityKind kind, bool on);
CUptiResult records_switch_api(unsigned client, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, bool on);
void records_disable(unsigned client);
uint32_t records_correlation(uint32_t correlation_id); /* as records have it, see SIMGPU_CUPTI_SHIFT_CORRELATION */

/* ---- buffers.c ---- */
/* To each client whose kind is on (records_clients), cut to the release's size or filled up with zeros. */
void buffers_put(const void *record, size_t bytes);
void buffers_prepare(void);                 /* asks clients for a buffer if none is held, as the first launch does */
void buffers_switched_off(unsigned client); /* a kind was */
void buffers_register(unsigned client, const struct scoped_callbacks *callbacks);
CUptiResult buffers_dropped(unsigned client, size_t *count); /* since it was asked last */
size_t buffers_record_bytes(const CUpti_Activity *record);   /* 0: none of ours */

/* ---- clock.c ---- */
uint64_t clock_convert(uint64_t realtime_ns);    /* to the unit of the client's timestamp callback, if it has one */
uint64_t clock_of_records(uint64_t realtime_ns); /* as clock_convert, and as wrong as faults make records */
bool attribute_zeroed_buffers(void);
bool attribute_buffers_by_thread(void);
CUpti_ActivityThreadIdType thread_id_type(void);

/* ---- external.c ---- */
CUptiResult external_push(CUpti_ExternalCorrelationKind kind, uint64_t id);
CUptiResult external_pop(CUpti_ExternalCorrelationKind kind, uint64_t *last_id);
void external_records(uint32_t correlation_id); /* one per kind of the thread's stacks */

/* ---- generated ---- */
struct callback_name {
    uint32_t cbid;
    const char *name;
};
extern const struct callback_name driver_callback_names[], runtime_callback_names[], result_names[];
extern const unsigned driver_callback_names_count, runtime_callback_names_count, result_names_count;

#endif
