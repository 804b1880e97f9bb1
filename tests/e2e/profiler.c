/* SPDX-License-Identifier: Apache-2.0 */
/* A profiler of the program's own, as a library: linked to CUPTI, or with functions that it looks up. It counts the kernels that
 * it was told of, and says what CUPTI refused. */
#include "profiler.h"

#include <cupti.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_BYTES = 1 << 16, BUFFERS_MOST = 64 };

struct subscriber_params { /* CUpti_SubscriberParams from CUDA 13.2 on */
    size_t struct_size;
    const char *name;
    char *old_name;
    size_t old_name_bytes;
    uint8_t allow_multiple, padding[7];
};

static struct {
    int (*subscribe)(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *user);
    int (*subscribe_v2)(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *user,
                        struct subscriber_params *params);
    int (*unsubscribe)(CUpti_SubscriberHandle handle);
    int (*registers)(CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete);
    int (*registers_v2)(CUpti_SubscriberHandle handle, void *request, void *complete);
    int (*enable)(CUpti_ActivityKind kind);
    int (*enable_v2)(CUpti_SubscriberHandle handle, CUpti_ActivityKind kind, void *config);
    int (*disable)(CUpti_ActivityKind kind);
    int (*disable_v2)(CUpti_SubscriberHandle handle, CUpti_ActivityKind kind, void *config);
    int (*flush)(uint32_t flag);
    int (*next)(uint8_t *buffer, size_t valid, CUpti_Activity **record);
    int (*next_v2)(CUpti_SubscriberHandle handle, uint8_t *buffer, size_t valid, CUpti_Activity **record);
} cupti;

static enum profiler_way way;
static CUpti_SubscriberHandle subscriber;
static _Atomic long kernels, without_times;

static void *look_up(const char *name)
{
    static void *library;
    if (!library)
        library = dlopen("libcupti.so.13", RTLD_NOW);
    return library ? dlsym(library, name) : NULL;
}

/* Calls through the PLT, which an address that is taken would not be. */
static int linked_subscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *user)
{
    return (int)cuptiSubscribe(handle, callback, user);
}

static int linked_register(CUpti_BuffersCallbackRequestFunc ask, CUpti_BuffersCallbackCompleteFunc complete)
{
    return (int)cuptiActivityRegisterCallbacks(ask, complete);
}

static int linked_enable(CUpti_ActivityKind kind)
{
    return (int)cuptiActivityEnable(kind);
}

static int linked_disable(CUpti_ActivityKind kind)
{
    return (int)cuptiActivityDisable(kind);
}

static void bind_functions(void)
{
#define BIND(member, function) *(void **)&cupti.member = look_up(#function)
    BIND(subscribe, cuptiSubscribe);
    BIND(unsubscribe, cuptiUnsubscribe);
    BIND(registers, cuptiActivityRegisterCallbacks);
    BIND(enable, cuptiActivityEnable);
    BIND(disable, cuptiActivityDisable);
    BIND(flush, cuptiActivityFlushAll);
    BIND(next, cuptiActivityGetNextRecord);
    if (way == PROFILER_SHARED) {
        BIND(subscribe_v2, cuptiSubscribe_v2);
        BIND(registers_v2, cuptiActivityRegisterCallbacks_v2);
        BIND(enable_v2, cuptiActivityEnable_v2);
        BIND(disable_v2, cuptiActivityDisable_v2);
        BIND(next_v2, cuptiActivityGetNextRecord_v2);
    }
#undef BIND
    if (way == PROFILER_LINKED || way == PROFILER_CALLBACKS) {
        cupti.subscribe = linked_subscribe;
        cupti.registers = linked_register;
        cupti.enable = linked_enable;
        cupti.disable = linked_disable;
    }
}

static void called(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data)
{
    (void)user, (void)domain, (void)cbid, (void)data;
}

static uint8_t *_Atomic given[BUFFERS_MOST];

static void request(uint8_t **buffer, size_t *size, size_t *max_records)
{
    *buffer = aligned_alloc(8, BUFFER_BYTES);
    for (unsigned i = 0; i < BUFFERS_MOST; i++) {
        uint8_t *none = NULL;
        if (atomic_compare_exchange_strong(&given[i], &none, *buffer))
            break;
    }
    *size = BUFFER_BYTES;
    *max_records = 0;
}

static int next_record(uint8_t *buffer, size_t valid, CUpti_Activity **record)
{
    return way == PROFILER_SHARED ? cupti.next_v2(subscriber, buffer, valid, record)
                                  : cupti.next(buffer, valid, record);
}

static void take(uint8_t *buffer, size_t valid)
{
    CUpti_Activity *record = NULL;
    while (next_record(buffer, valid, &record) == 0) {
        const CUpti_ActivityKernel5 *kernel = (const void *)record;
        if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
            continue;
        kernels++;
        without_times += !kernel->start || kernel->end < kernel->start;
    }
}

/* Buffers that it did not give are none of its own, as PyTorch's does it. */
static void give_back(uint8_t *buffer, size_t valid)
{
    for (unsigned i = 0; i < BUFFERS_MOST; i++) {
        uint8_t *expected = buffer;
        if (!atomic_compare_exchange_strong(&given[i], &expected, NULL))
            continue;
        take(buffer, valid);
        free(buffer);
        return;
    }
    printf("unknown buffer\n");
}

static void completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    (void)context, (void)stream, (void)size;
    give_back(buffer, valid);
}

static void completed_v2(uint8_t *buffer, size_t size, size_t valid, void *info)
{
    (void)size, (void)info;
    give_back(buffer, valid);
}

static void request_v2(uint8_t **buffer, size_t *size, size_t *max_records, void *info)
{
    (void)info;
    request(buffer, size, max_records);
}

static int refused(const char *what, int result)
{
    if (result)
        printf("%s: %d\n", what, result);
    return result;
}

static int start_shared(void)
{
    struct subscriber_params params = {.struct_size = sizeof params, .name = "e2e", .allow_multiple = 1};
    return refused("cuptiSubscribe_v2", cupti.subscribe_v2(&subscriber, called, NULL, &params)) ||
           refused("cuptiActivityRegisterCallbacks_v2",
                   cupti.registers_v2(subscriber, (void *)(uintptr_t)request_v2, (void *)(uintptr_t)completed_v2)) ||
           refused("cuptiActivityEnable_v2", cupti.enable_v2(subscriber, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, NULL));
}

int profiler_start(enum profiler_way how)
{
    way = how;
    bind_functions();
    if (way == PROFILER_SHARED)
        return start_shared();
    if (way != PROFILER_CALLBACKS && refused("cuptiSubscribe", cupti.subscribe(&subscriber, called, NULL)))
        return 1;
    return refused("cuptiActivityRegisterCallbacks", cupti.registers(request, completed)) ||
           refused("cuptiActivityEnable", cupti.enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
}

long profiler_stop(void)
{
    cupti.flush(0);
    if (way == PROFILER_SHARED)
        cupti.disable_v2(subscriber, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, NULL);
    else
        cupti.disable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    cupti.flush(1);
    if (subscriber)
        cupti.unsubscribe(subscriber);
    return without_times ? -1 : kernels;
}
