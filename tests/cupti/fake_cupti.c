/* SPDX-License-Identifier: Apache-2.0 */
/* libcupti.so.13 for the tests of cupti/: a buffer per thread, records by offset, and any function may be told to refuse. */
#include "tests/cupti/fake_cupti.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { OK = 0, MAX_LIMIT = 12, FUNCTIONS = 32, CBIDS = 1024, KINDS = 64, DOMAINS = 4, THREADS = 128, STACK = 16 };

typedef void callback(void *user, int domain, uint32_t cbid, const void *data);
typedef void requested(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

static struct function {
    const char *name;
    _Atomic int result;
    _Atomic unsigned calls;
} functions[FUNCTIONS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic unsigned early;
static _Atomic uint32_t next_correlation = 1;
static uint32_t api_version = 130001;
static size_t kernel_bytes = 216;
static callback *_Atomic subscriber;
static void *_Atomic subscriber_user;
static requested *_Atomic on_requested;
static completed *_Atomic on_completed;
static _Atomic bool callbacks_on[DOMAINS][CBIDS], kinds_on[KINDS], flush_blocks, flush_delivers = true;
static _Atomic bool first_period_only, kernels_over;
static _Atomic int kind_refusals[KINDS];
static _Atomic uint64_t warm_up_ns, kernels_on_ns;
static _Atomic size_t dropped;

struct thread_buffer { /* of one thread; flushing takes it under the lock */
    uint8_t *bytes;
    size_t size, used;
    bool taken;
};
static struct thread_buffer buffers[THREADS];
static _Thread_local struct thread_buffer *own;
static _Thread_local uint64_t external[STACK];
static _Thread_local unsigned external_depth;

int cuDeviceGetCount(int *count);

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Another thread may have held it when the process forked. */
static void renew_lock(void)
{
    pthread_mutex_init(&lock, NULL);
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, renew_lock);
}

static struct function *function_of(const char *name)
{
    pthread_mutex_lock(&lock);
    struct function *f = functions;
    while (f->name && strcmp(f->name, name) != 0)
        f++;
    if (!f->name)
        f->name = name;
    pthread_mutex_unlock(&lock);
    return f;
}

static int enter(const char *name)
{
    int devices = 0;
    struct function *f = function_of(name);
    f->calls++;
    if (cuDeviceGetCount(&devices) != 0)
        early++;
    return f->result;
}
/* The form without a subscriber, and the other, exclude each other. */
static _Atomic int stranger; /* enum fake_stranger */
static bool is_shared;
#define NOT_SHARED()                                                                                                   \
    do {                                                                                                               \
        if (is_shared)                                                                                                 \
            return 14;                                                                                                 \
    } while (0)
#define ENTER()                                                                                                        \
    do {                                                                                                               \
        int refused = enter(__func__);                                                                                 \
        if (refused)                                                                                                   \
            return refused;                                                                                            \
    } while (0)

FAKE_API void fake_cupti_set_result(const char *function, int result)
{
    function_of(function)->result = result;
}

FAKE_API unsigned fake_cupti_calls(const char *function)
{
    return function_of(function)->calls;
}

FAKE_API unsigned fake_cupti_calls_before_init(void)
{
    return early;
}

FAKE_API void fake_cupti_set_version(uint32_t version, size_t bytes)
{
    api_version = version;
    kernel_bytes = bytes;
}

FAKE_API void fake_cupti_first_period_only(bool on)
{
    first_period_only = on;
}

FAKE_API void fake_cupti_refuse_kind(int kind, int result)
{
    kind_refusals[kind] = result;
}

FAKE_API void fake_cupti_warm_up(uint64_t ns)
{
    warm_up_ns = ns;
}

FAKE_API bool fake_cupti_kind_enabled(int kind)
{
    return kinds_on[kind];
}

/* Whom the code under test must not end: other clients, and itself. */
FAKE_API int cuptiFinalize(void);
int cuptiFinalize(void)
{
    _exit(98);
}

/* ---- the client's side ---- */

FAKE_API int cuptiGetVersion(uint32_t *version);
FAKE_API int cuptiGetTimestamp(uint64_t *timestamp);
FAKE_API int cuptiSubscribe(void **handle, callback *function, void *user);
FAKE_API int cuptiUnsubscribe(void *handle);
FAKE_API int cuptiEnableCallback(uint32_t enable, void *handle, int domain, uint32_t cbid);
FAKE_API int cuptiActivityRegisterCallbacks(requested *request, completed *complete);
FAKE_API int cuptiActivityEnable(int kind);
FAKE_API int cuptiActivityDisable(int kind);
FAKE_API int cuptiActivityFlushAll(uint32_t flag);
FAKE_API int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, uint8_t **record);
FAKE_API int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *count);
FAKE_API int cuptiActivityPushExternalCorrelationId(int kind, uint64_t id);
FAKE_API int cuptiActivityPopExternalCorrelationId(int kind, uint64_t *id);
FAKE_API int cuptiGetGraphNodeId(void *node, uint64_t *id);
FAKE_API int cuptiGetGraphId(void *graph, uint32_t *id);
FAKE_API int cuptiGetGraphExecId(void *exec, uint32_t *id);

int cuptiGetVersion(uint32_t *version)
{
    ENTER();
    *version = api_version;
    return OK;
}

int cuptiGetTimestamp(uint64_t *timestamp)
{
    ENTER();
    NOT_SHARED();
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    *timestamp = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
    return OK;
}

int cuptiSubscribe(void **handle, callback *function, void *user)
{
    ENTER();
    if (subscriber || stranger)
        return 39;
    subscriber_user = user;
    subscriber = function;
    *handle = &subscriber;
    return OK;
}

int cuptiUnsubscribe(void *handle)
{
    ENTER();
    (void)handle;
    subscriber = NULL;
    for (unsigned i = 0; i < DOMAINS; i++)
        for (unsigned cbid = 0; cbid < CBIDS; cbid++)
            callbacks_on[i][cbid] = false;
    is_shared = false;
    return OK;
}

int cuptiEnableCallback(uint32_t enable, void *handle, int domain, uint32_t cbid)
{
    ENTER();
    bool too_new = domain == 3 && cbid > 20 && api_version < 130001;
    if (handle != &subscriber || domain < 1 || domain >= DOMAINS || cbid >= CBIDS || too_new)
        return 1;
    callbacks_on[domain][cbid] = enable;
    return OK;
}

int cuptiActivityRegisterCallbacks(requested *request, completed *complete)
{
    ENTER();
    NOT_SHARED();
    on_requested = request;
    on_completed = complete;
    return OK;
}

int cuptiActivityEnable(int kind)
{
    ENTER();
    NOT_SHARED();
    if (kind_refusals[kind])
        return kind_refusals[kind];
    kernels_on_ns = kind == 10 && !kinds_on[kind] ? now_ns() : kernels_on_ns;
    kinds_on[kind] = true;
    return OK;
}

static _Atomic unsigned late_write_ms, late_writes;

static void *write_late(void *unused)
{
    usleep(late_write_ms * 1000);
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_mutex_lock(&lock);
        if (buffers[i].bytes) {
            memset(buffers[i].bytes + buffers[i].used, 0xa5, buffers[i].size - buffers[i].used);
            late_writes++;
        }
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

FAKE_API void fake_cupti_write_late(unsigned milliseconds)
{
    late_write_ms = milliseconds;
}

FAKE_API unsigned fake_cupti_late_writes(void)
{
    return late_writes;
}

int cuptiActivityDisable(int kind)
{
    ENTER();
    NOT_SHARED();
    kinds_on[kind] = false;
    pthread_t writer;
    if (late_write_ms && pthread_create(&writer, NULL, write_late, NULL) == 0)
        pthread_detach(writer);
    kernels_over |= kind == 10 && first_period_only;
    return OK;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *count)
{
    ENTER();
    NOT_SHARED();
    (void)context, (void)stream;
    *count = atomic_exchange(&dropped, 0); /* reading resets */
    return OK;
}

int cuptiActivityPushExternalCorrelationId(int kind, uint64_t id)
{
    ENTER();
    NOT_SHARED();
    if (kind != 5 || external_depth == STACK)
        return 1;
    external[external_depth++] = id;
    return OK;
}

int cuptiActivityPopExternalCorrelationId(int kind, uint64_t *id)
{
    ENTER();
    NOT_SHARED();
    if (kind != 5 || external_depth == 0)
        return 18;
    *id = external[--external_depth];
    return OK;
}

int cuptiGetGraphNodeId(void *node, uint64_t *id)
{
    ENTER();
    memcpy(id, node, sizeof *id);
    return OK;
}

int cuptiGetGraphId(void *graph, uint32_t *id)
{
    ENTER();
    memcpy(id, graph, sizeof *id);
    return OK;
}

int cuptiGetGraphExecId(void *exec, uint32_t *id)
{
    ENTER();
    memcpy(id, exec, sizeof *id);
    return OK;
}

FAKE_API uint64_t fake_cupti_top_external(void)
{
    return external_depth ? external[external_depth - 1] : 0;
}

/* ---- launches ---- */

FAKE_API void fake_cupti_set_next_correlation(uint32_t id)
{
    next_correlation = id;
}

static void tell(int domain, uint32_t cbid, const void *data)
{
    callback *function = subscriber;
    if (function && callbacks_on[domain][cbid])
        function(subscriber_user, domain, cbid, data);
}

static void call_back(uint32_t cbid, uint32_t site, uint32_t correlation_id, const char *symbol)
{
    uint8_t data[72] = {0};
    memcpy(data, &site, 4);
    memcpy(data + 32, &symbol, 8);
    memcpy(data + 64, &correlation_id, 4);
    tell(1, cbid, data);
}

FAKE_API bool fake_cupti_is_subscribed(void)
{
    return subscriber != NULL;
}

FAKE_API bool fake_cupti_callback_enabled(int domain, uint32_t cbid)
{
    return callbacks_on[domain][cbid];
}

FAKE_API void fake_cupti_graph(uint32_t cbid, const struct fake_graph_data *graph)
{
    const void *resource[3] = {NULL, NULL, graph};
    tell(3, cbid, resource);
}

FAKE_API void fake_cupti_side(int domain, uint32_t cbid, uint32_t site, uint32_t correlation_id, const void *params,
                              int result)
{
    uint8_t data[72] = {0};
    const int *returned = &result;
    memcpy(data, &site, 4);
    memcpy(data + 16, &params, 8);
    memcpy(data + 24, &returned, 8);
    memcpy(data + 64, &correlation_id, 4);
    tell(domain, cbid, data);
}

FAKE_API void fake_cupti_launch_node(const char *symbol, void *node)
{
    uint32_t id = next_correlation++;
    call_back(307, 0, id, symbol);
    fake_cupti_graph(13, &(struct fake_graph_data){.node = node});
    call_back(307, 1, id, symbol);
}

FAKE_API uint32_t fake_cupti_launch(uint32_t cbid)
{
    uint32_t id = next_correlation++;
    call_back(cbid, 0, id, "gemm");
    call_back(cbid, 1, id, "gemm");
    return id;
}

/* ---- records and buffers ---- */

static size_t record_bytes(uint32_t kind)
{
    return kind == 10   ? kernel_bytes
           : kind == 1  ? 96
           : kind == 2  ? 88
           : kind == 39 ? 24
           : kind == 51 ? 56
           : kind == 60 ? 40
                        : 0;
}

static int next_record(uint8_t *buffer, size_t valid, uint8_t **record)
{
    uint32_t kind = 0;
    uint8_t *next = buffer;
    if (*record) {
        memcpy(&kind, *record, 4);
        next = *record + record_bytes(kind);
    }
    if (next >= buffer + valid)
        return MAX_LIMIT;
    memcpy(&kind, next, 4);
    if (!record_bytes(kind))
        return 21;
    *record = next;
    return OK;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, uint8_t **record)
{
    ENTER();
    NOT_SHARED();
    return next_record(buffer, valid, record);
}

struct hand_back {
    uint8_t *bytes;
    size_t size, used;
};

static void *hand_back_now(void *argument)
{
    struct hand_back *b = argument;
    completed *function = on_completed;
    if (function)
        function(NULL, 0, b->bytes, b->size, b->used);
    return NULL;
}

/* As CUPTI does, from a thread that the application doesn't know. */
static void hand_back_elsewhere(struct hand_back b)
{
    pthread_t thread;
    pthread_create(&thread, NULL, hand_back_now, &b);
    pthread_join(thread, NULL);
}

static struct hand_back take_buffer(struct thread_buffer *buffer)
{
    struct hand_back b = {buffer->bytes, buffer->size, buffer->used};
    buffer->bytes = NULL;
    buffer->used = 0;
    return b;
}

static void append(const uint8_t *record, size_t bytes)
{
    struct hand_back full = {NULL, 0, 0};
    pthread_mutex_lock(&lock);
    if (!own) {
        own = buffers;
        while (own->taken)
            own++;
        own->taken = true;
    }
    if (own->bytes && own->size - own->used < bytes)
        full = take_buffer(own);
    requested *function = on_requested;
    pthread_mutex_unlock(&lock);
    if (full.bytes)
        hand_back_elsewhere(full);
    pthread_mutex_lock(&lock);
    if (!own->bytes && function) {
        size_t max_records = 0;
        function(&own->bytes, &own->size, &max_records);
        if (!own->bytes || ((uintptr_t)own->bytes & 7))
            _exit(99); /* what crashed real versions */
    }
    if (own->bytes) {
        memcpy(own->bytes + own->used, record, bytes);
        own->used += bytes;
    }
    pthread_mutex_unlock(&lock);
}

static void put(uint8_t *record, size_t offset, const void *value, size_t bytes)
{
    memcpy(record + offset, value, bytes);
}

FAKE_API void fake_cupti_kernel(const struct fake_kernel *k)
{
    uint8_t r[256];
    uint32_t kind = 10, device = 0, context = 1, dims[6] = {8, 4, 2, 128, 1, 1}, shared[2] = {512, 4096};
    uint16_t registers = 96;
    uint64_t node = k->node_id ? k->node_id : k->graph_id ? (uint64_t)k->graph_id << 32 | 7 : 0;
    memset(r, 0xaa, sizeof r); /* what lies between and behind the fields means nothing */
    put(r, 0, &kind, 4), put(r, 6, &registers, 2), put(r, 16, &k->start_ns, 8), put(r, 24, &k->end_ns, 8);
    put(r, 40, &device, 4), put(r, 44, &context, 4), put(r, 48, &k->stream, 4), put(r, 52, dims, 24);
    put(r, 76, shared, 8), put(r, 92, &k->correlation_id, 4), put(r, 104, &k->name, 8);
    put(r, 144, &node, 8), put(r, 156, &k->graph_id, 4), put(r, 240, &k->source_node_id, 8);
    if (kinds_on[kind] && !kernels_over && now_ns() >= kernels_on_ns + warm_up_ns)
        append(r, kernel_bytes);
}

FAKE_API void fake_cupti_copy(uint32_t kind, uint64_t bytes, uint64_t start_ns, uint64_t end_ns)
{
    uint8_t r[96] = {0};
    uint32_t stream = 7;
    put(r, 0, &kind, 4), put(r, 8, &bytes, 8), put(r, 16, &start_ns, 8), put(r, 24, &end_ns, 8), put(r, 40, &stream, 4);
    r[4] = 1; /* host to device; for a memset the value */
    if (kinds_on[kind])
        append(r, record_bytes(kind));
}

/* CUpti_ActivityGraphTrace2. */
FAKE_API void fake_cupti_graph_run(uint32_t correlation_id, uint32_t graph_id, uint64_t start_ns, uint64_t end_ns)
{
    uint8_t r[56] = {0};
    const uint32_t kind = 51, device = 3, context = 4, stream = 7;
    put(r, 0, &kind, 4), put(r, 4, &correlation_id, 4), put(r, 8, &start_ns, 8), put(r, 16, &end_ns, 8);
    put(r, 24, &device, 4), put(r, 28, &graph_id, 4), put(r, 32, &context, 4), put(r, 36, &stream, 4);
    append(r, sizeof r);
}

FAKE_API void fake_cupti_unknown(uint32_t kind)
{
    uint8_t r[40] = {0};
    put(r, 0, &kind, 4);
    append(r, sizeof r);
}

FAKE_API void fake_cupti_external(uint32_t correlation_id, uint64_t external_id)
{
    uint8_t r[24] = {0};
    uint32_t kind = 39, external_kind = 5;
    put(r, 0, &kind, 4), put(r, 4, &external_kind, 4), put(r, 8, &external_id, 8), put(r, 16, &correlation_id, 4);
    if (kinds_on[kind])
        append(r, sizeof r);
}

FAKE_API void fake_cupti_drop(size_t records)
{
    dropped += records;
}

FAKE_API void fake_cupti_hand_back(void)
{
    pthread_mutex_lock(&lock);
    struct hand_back b = own ? take_buffer(own) : (struct hand_back){NULL, 0, 0};
    pthread_mutex_unlock(&lock);
    if (b.bytes)
        hand_back_elsewhere(b);
}

FAKE_API void fake_cupti_flush_delivers(bool on)
{
    flush_delivers = on;
}

FAKE_API void fake_cupti_block_flush(bool on)
{
    flush_blocks = on;
}

int cuptiActivityFlushAll(uint32_t flag)
{
    ENTER();
    (void)flag;
    while (flush_blocks)
        usleep(1000);
    for (unsigned i = 0; flush_delivers && i < THREADS; i++) {
        pthread_mutex_lock(&lock);
        struct hand_back b = buffers[i].bytes ? take_buffer(&buffers[i]) : (struct hand_back){NULL, 0, 0};
        pthread_mutex_unlock(&lock);
        if (b.bytes)
            hand_back_elsewhere(b);
    }
    return OK;
}

/* ---- several clients beside each other: as from CUDA 13.3 on ---- */

FAKE_API void fake_cupti_set_stranger(int who)
{
    stranger = who;
}

#ifdef FAKE_CUPTI_SHARED
struct subscriber_params { /* CUpti_SubscriberParams */
    size_t struct_size;
    const char *name;
    char *old_name;
    size_t old_name_bytes;
    uint8_t allow_multiple;
};
typedef void requested_v2(uint8_t **buffer, size_t *size, size_t *max_records, void *info);
typedef void completed_v2(uint8_t *buffer, size_t size, size_t valid, void *info);

static requested_v2 *on_requested_v2;
static completed_v2 *on_completed_v2;

static void request_v2(uint8_t **buffer, size_t *size, size_t *max_records)
{
    size_t info = sizeof info;
    on_requested_v2(buffer, size, max_records, &info);
}

static void complete_v2(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    size_t info[4] = {sizeof info};
    (void)context, (void)stream;
    on_completed_v2(buffer, size, valid, info);
}

FAKE_API int cuptiSubscribe_v2(void **handle, callback *function, void *user, struct subscriber_params *params);
FAKE_API int cuptiActivityRegisterCallbacks_v2(void *handle, requested_v2 *request, completed_v2 *complete);
FAKE_API int cuptiActivityEnable_v2(void *handle, int kind, void *config);
FAKE_API int cuptiActivityDisable_v2(void *handle, int kind, void *config);
FAKE_API int cuptiActivityGetNextRecord_v2(void *handle, uint8_t *buffer, size_t valid, uint8_t **record);
FAKE_API int cuptiActivityGetNumDroppedRecords_v2(void *handle, void *context, uint32_t stream, size_t *count);
FAKE_API int cuptiGetTimestamp_v2(void *handle, uint64_t *timestamp);

int cuptiSubscribe_v2(void **handle, callback *function, void *user, struct subscriber_params *params)
{
    ENTER();
    if (!params || params->struct_size < 40 || !params->allow_multiple)
        return 1;
    if (stranger && params->old_name && params->old_name_bytes >= 64)
        snprintf(params->old_name, params->old_name_bytes, "CUPTI for stranger");
    if (subscriber || stranger == FAKE_STRANGER_ALONE)
        return 39;
    subscriber_user = user;
    subscriber = function;
    is_shared = true;
    *handle = &subscriber;
    return OK;
}

#define SHARED_ONLY()                                                                                                  \
    do {                                                                                                               \
        if (!is_shared || handle != &subscriber)                                                                       \
            return 14;                                                                                                 \
    } while (0)

int cuptiActivityRegisterCallbacks_v2(void *handle, requested_v2 *request, completed_v2 *complete)
{
    ENTER();
    SHARED_ONLY();
    on_requested_v2 = request;
    on_completed_v2 = complete;
    on_requested = request_v2;
    on_completed = complete_v2;
    return OK;
}

int cuptiActivityEnable_v2(void *handle, int kind, void *config)
{
    ENTER();
    SHARED_ONLY();
    kinds_on[kind] = !config;
    return OK;
}

int cuptiActivityDisable_v2(void *handle, int kind, void *config)
{
    ENTER();
    (void)config;
    SHARED_ONLY();
    kinds_on[kind] = false;
    kernels_over |= kind == 10 && first_period_only;
    return OK;
}

int cuptiActivityGetNextRecord_v2(void *handle, uint8_t *buffer, size_t valid, uint8_t **record)
{
    ENTER();
    SHARED_ONLY();
    return next_record(buffer, valid, record);
}

int cuptiActivityGetNumDroppedRecords_v2(void *handle, void *context, uint32_t stream, size_t *count)
{
    ENTER();
    (void)context, (void)stream;
    SHARED_ONLY();
    *count = atomic_exchange(&dropped, 0);
    return OK;
}

int cuptiGetTimestamp_v2(void *handle, uint64_t *timestamp)
{
    ENTER();
    SHARED_ONLY();
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    *timestamp = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
    return OK;
}
#endif
