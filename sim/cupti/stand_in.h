/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the CUPTI stand-in share. The observer (observer.c) hears from the core; callbacks.c tells the
 * subscriber, records.c makes activity records, buffers.c holds and delivers them. No function of the core is called
 * while a lock is held here. */
#ifndef SIM_CUPTI_STAND_IN_H
#define SIM_CUPTI_STAND_IN_H

#include "sim/core/simgpu.h"

#include <cupti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The newest record structs of this CUDA version, which are the only ones that its CUPTI makes. */
#if CUPTI_API_VERSION >= 130001
#define KERNEL_RECORD  CUpti_ActivityKernel10
#define CONTEXT_RECORD CUpti_ActivityContext3
#define MEMCPY_RECORD  CUpti_ActivityMemcpy6
#define DEVICE_RECORD  CUpti_ActivityDevice5
#elif CUPTI_API_VERSION >= 26
#define KERNEL_RECORD  CUpti_ActivityKernel9
#define CONTEXT_RECORD CUpti_ActivityContext3
#define MEMCPY_RECORD  CUpti_ActivityMemcpy6
#define DEVICE_RECORD  CUpti_ActivityDevice5
#elif CUPTI_API_VERSION == 18
#define KERNEL_RECORD  CUpti_ActivityKernel8
#define CONTEXT_RECORD CUpti_ActivityContext
#define MEMCPY_RECORD  CUpti_ActivityMemcpy5
#define DEVICE_RECORD  CUpti_ActivityDevice4
#else
#error "which are the newest records of this CUPTI?"
#endif
#define PEER_RECORD     CUpti_ActivityMemcpyPtoP4
#define MEMSET_RECORD   CUpti_ActivityMemset4
#define API_RECORD      CUpti_ActivityAPI
#define EXTERNAL_RECORD CUpti_ActivityExternalCorrelation

/* Remembers RESULT for cuptiGetLastError and passes it on. */
CUptiResult result_done(CUptiResult result);

/* The first line of an entry point: an injected fault of that name is returned instead. */
#define DOOR()                                                                                                         \
    do {                                                                                                               \
        int fault_ = simgpu_fault(__func__);                                                                           \
        if (fault_)                                                                                                    \
            return result_done((CUptiResult)fault_);                                                                   \
    } while (0)

/* ---- observer.c ---- */
void observer_install(void); /* from now on the core tells us; once */
void observer_remove(void);

/* ---- callbacks.c ---- */
void callbacks_api(const struct simgpu_api_call *call, uint64_t *correlation_data, CUpti_ApiCallbackSite site);
void callbacks_graph(const struct simgpu_graph_notice *notice);
void callbacks_resource(const struct simgpu_resource_notice *notice);
void callbacks_reset(void);
/* HOLDER: the name of who is subscribed already, if that is why it failed. */
CUptiResult callbacks_subscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *userdata,
                                const char *name, const char **holder);

/* ---- records.c ---- */
void records_api_enter(const struct simgpu_api_call *call);
void records_api_exit(const struct simgpu_api_call *call);
void records_activity(const struct simgpu_activity *activity);
void records_context(void *context);
void records_disable_all(void);
uint32_t records_correlation(uint32_t correlation_id); /* as records have it, see SIMGPU_CUPTI_SHIFT_CORRELATION */

/* ---- buffers.c ---- */
void buffers_put(const void *record, size_t bytes);
void buffers_prepare(void); /* asks the client for a buffer if none is held, as the first launch does */
size_t buffers_record_bytes(const CUpti_Activity *record); /* 0: none of ours */

/* ---- clock.c ---- */
uint64_t clock_convert(uint64_t realtime_ns); /* to the unit of the client's timestamp callback, if it has one */
bool attribute_zeroed_buffers(void);
CUpti_ActivityThreadIdType thread_id_type(void);

/* ---- external.c ---- */
void external_records(uint32_t correlation_id); /* one per kind of the thread's stacks */

/* ---- generated ---- */
struct callback_name {
    uint32_t cbid;
    const char *name;
};
extern const struct callback_name driver_callback_names[], runtime_callback_names[], result_names[];
extern const unsigned driver_callback_names_count, runtime_callback_names_count, result_names_count;

#endif
