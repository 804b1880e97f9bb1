/* SPDX-License-Identifier: Apache-2.0 */
/* The clients' activity buffers. One is asked for at the first record and filled; a full one goes to a worker thread of
 * our own, which hands it to the client; a flush hands over what is there. A client that gives no buffer, or one too
 * small, loses records, which are counted. The client's callbacks run without our lock, as they may take theirs. */
#include "stand_in.h"

#include "sim/core/device.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct buffer {
    uint8_t *bytes;
    size_t size, used;
    unsigned client;
    pthread_t thread; /* whose it is where each thread has its own */
    bool shared;      /* filled by all threads */
    struct buffer *next;
};

/* Client 0 is the whole process, as before 13.2; the others are subscribers with buffers of their own. */
struct client {
    CUpti_BuffersCallbackRequestFunc request;
    CUpti_BuffersCallbackCompleteFunc complete;
    struct scoped_callbacks scoped; /* instead of both, for a subscriber */
    size_t dropped;
    bool requesting;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t delivery = PTHREAD_MUTEX_INITIALIZER; /* held while a client's completion callback runs */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;    /* the queue, the period, a request that ended */
static struct client clients[CLIENTS_MOST];
static struct buffer *filling; /* those that are being filled */
static struct buffer *queue_first, **queue_end = &queue_first;
static bool worker_runs;
static uint32_t period_ms;
static __thread bool in_client; /* this thread is inside one of the client's buffer callbacks */

/* In a forked child the worker is gone and the buffers belong to the parent's client state. */
static void after_fork(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_mutex_init(&delivery, NULL);
    pthread_cond_init(&changed, NULL);
    filling = queue_first = NULL;
    queue_end = &queue_first;
    worker_runs = false;
    period_ms = 0;
    for (unsigned i = 0; i < CLIENTS_MOST; i++) {
        clients[i].requesting = false;
        clients[i].dropped = 0;
    }
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, after_fork);
}

/* ---- delivery ---- */

static void hand_over(const struct client *client, const struct buffer *buffer)
{
    in_client = true;
    if (client->scoped.complete)
        scope_complete(&client->scoped, buffer->bytes, buffer->size, buffer->used);
    else if (client->complete)
        client->complete(NULL, 0, buffer->bytes, buffer->size, buffer->used);
    in_client = false;
}

/* Takes the lock itself. One thread at a time delivers, so that buffers arrive in order. */
static void drain(void)
{
    pthread_mutex_lock(&delivery);
    for (;;) {
        struct buffer *buffer;
        struct client client = {0};

        pthread_mutex_lock(&lock);
        buffer = queue_first;
        if (buffer) {
            client = clients[buffer->client];
            queue_first = buffer->next;
            if (!queue_first)
                queue_end = &queue_first;
        }
        pthread_mutex_unlock(&lock);
        if (!buffer)
            break;
        hand_over(&client, buffer);
        free(buffer);
    }
    pthread_mutex_unlock(&delivery);
}

static struct timespec after_ms(uint32_t milliseconds)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += milliseconds / 1000;
    until.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    return until;
}

/* With a period set the worker also collects finished work; like the real one it delivers full buffers only. */
static void *work(void *unused)
{
    (void)unused;
    for (;;) {
        bool collect = false;

        pthread_mutex_lock(&lock);
        while (!queue_first && !collect) {
            if (period_ms) {
                struct timespec until = after_ms(period_ms);

                collect = pthread_cond_timedwait(&changed, &lock, &until) == ETIMEDOUT;
            } else {
                pthread_cond_wait(&changed, &lock);
            }
        }
        pthread_mutex_unlock(&lock);
        if (collect)
            simgpu_deliver();
        drain();
    }
    return NULL;
}

/* With the lock held. The worker takes no signal that is meant for the program. */
static void start_worker(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;

    if (worker_runs)
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    worker_runs = pthread_create(&thread, &attributes, work, NULL) == 0;
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* With the lock held: BUFFER joins the queue. */
static void enqueue(struct buffer *buffer)
{
    struct buffer **link = &filling;

    while (*link != buffer)
        link = &(*link)->next;
    *link = buffer->next;
    buffer->next = NULL;
    *queue_end = buffer;
    queue_end = &buffer->next;
    start_worker();
    pthread_cond_broadcast(&changed);
}

/* ---- filling ---- */

/* With the lock held. NULL: CLIENT has given none. */
static struct buffer *current_of(unsigned client, bool by_thread)
{
    struct buffer *buffer = filling;

    while (buffer && (buffer->client != client || (!buffer->shared && !by_thread) ||
                      (by_thread && (buffer->shared || !pthread_equal(buffer->thread, pthread_self())))))
        buffer = buffer->next;
    return buffer;
}

/* With the lock held, which is let go while the client is asked. */
static void obtain_current(unsigned number, bool by_thread)
{
    struct client *client = &clients[number];
    struct buffer *buffer;
    uint8_t *bytes = NULL;
    size_t size = 0, max_records = 0;

    while (client->requesting)
        pthread_cond_wait(&changed, &lock);
    if (current_of(number, by_thread) || (!client->request && !client->scoped.request))
        return;
    client->requesting = true;
    pthread_mutex_unlock(&lock);
    in_client = true;
    if (client->scoped.request)
        scope_request(&client->scoped, &bytes, &size, &max_records);
    else
        client->request(&bytes, &size, &max_records);
    in_client = false;
    if (bytes && !attribute_zeroed_buffers())
        memset(bytes, 0, size);
    buffer = bytes ? calloc(1, sizeof *buffer) : NULL;
    pthread_mutex_lock(&lock);
    client->requesting = false;
    if (buffer) {
        *buffer = (struct buffer){.bytes = bytes,
                                  .size = size,
                                  .client = number,
                                  .thread = pthread_self(),
                                  .shared = !by_thread,
                                  .next = filling};
        filling = buffer;
    }
    pthread_cond_broadcast(&changed);
}

void buffers_prepare(void)
{
    bool by_thread = attribute_buffers_by_thread();
    uint8_t wanted = records_device_clients();

    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < CLIENTS_MOST; i++)
        if (wanted & 1u << i && !current_of(i, by_thread))
            obtain_current(i, by_thread);
    pthread_mutex_unlock(&lock);
}

/* SIMGPU_CUPTI_DROP_EVERY=n: every nth record is lost. With the lock held. */
static bool drop_this_one(void)
{
    static long every = -1, count;

    if (every < 0) {
        const char *text = getenv("SIMGPU_CUPTI_DROP_EVERY");

        every = text ? atol(text) : 0;
        if (every < 0)
            every = 0;
    }
    return every > 0 && ++count % every == 0;
}

/* BUFFER holds records already and has no room for BYTES more. */
static bool is_full(const struct buffer *buffer, size_t bytes)
{
    return buffer && buffer->used > 0 && buffer->size - buffer->used < bytes;
}

/* With the lock held. Again where other threads filled what was obtained while this one waited for it. */
static struct buffer *room_for(unsigned client, size_t bytes, bool by_thread)
{
    struct buffer *buffer;

    do {
        buffer = current_of(client, by_thread);
        if (is_full(buffer, bytes)) {
            enqueue(buffer);
            buffer = NULL;
        }
        if (!buffer)
            obtain_current(client, by_thread);
        buffer = current_of(client, by_thread);
    } while (is_full(buffer, bytes));
    return buffer && buffer->size - buffer->used >= bytes ? buffer : NULL;
}

void buffers_put(const void *record, size_t bytes)
{
    uint32_t kind = ((const CUpti_Activity *)record)->kind;
    size_t packed = release_record_bytes(kind), copied;
    bool by_thread = attribute_buffers_by_thread();
    uint8_t to = records_clients(kind);

    packed = packed ? packed : bytes;
    copied = bytes < packed ? bytes : packed;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < CLIENTS_MOST; i++) {
        struct buffer *buffer;

        if (!(to & 1u << i) || (!clients[i].request && !clients[i].scoped.request))
            continue;
        buffer = drop_this_one() ? NULL : room_for(i, packed, by_thread);
        if (!buffer) {
            clients[i].dropped++;
            continue;
        }
        memcpy(buffer->bytes + buffer->used, record, copied);
        memset(buffer->bytes + buffer->used + copied, 0, packed - copied);
        buffer->used += packed;
    }
    pthread_mutex_unlock(&lock);
}

/* ---- SIMGPU_CUPTI_FAULT=late-write: what a client was told to be off writes on ---- */

static void *write_late(void *unused)
{
    int64_t ms = fault_value(FAULT_LATE_WRITE);
    struct timespec pause = {ms / 1000, ms % 1000 * 1000000};

    (void)unused;
    nanosleep(&pause, NULL);
    pthread_mutex_lock(&lock);
    for (struct buffer *buffer = filling; buffer; buffer = buffer->next)
        memset(buffer->bytes + buffer->used, 0xc6, buffer->size - buffer->used);
    pthread_mutex_unlock(&lock);
    return NULL;
}

void buffers_switched_off(unsigned client)
{
    pthread_t thread;

    (void)client;
    if (fault_on(FAULT_LATE_WRITE) && !pthread_create(&thread, NULL, write_late, NULL))
        pthread_detach(thread);
}

/* ---- the client's side ---- */

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                                    CUpti_BuffersCallbackCompleteFunc complete)
{
    DOOR();
    if (!scope_is_process())
        return result_done(CUPTI_ERROR_NOT_COMPATIBLE);
    if (!request || !complete)
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    pthread_mutex_lock(&lock);
    clients[0].request = request;
    clients[0].complete = complete;
    pthread_mutex_unlock(&lock);
    observer_install();
    return CUPTI_SUCCESS;
}

void buffers_register(unsigned client, const struct scoped_callbacks *callbacks)
{
    pthread_mutex_lock(&lock);
    clients[client].scoped = *callbacks;
    pthread_mutex_unlock(&lock);
    observer_install();
}

/* Everything that has ended by now is delivered; on the virtual clock that is all that was enqueued. A forced flush
 * has nothing more to give: unfinished work has no record yet. Refused where the documentation forbids it: inside the
 * client's buffer callbacks. */
CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t flag)
{
    (void)flag;
    DOOR();
    if (in_client)
        return result_done(CUPTI_ERROR_INVALID_OPERATION);
    if (!simgpu_forked())
        simgpu_flush();
    pthread_mutex_lock(&lock);
    for (struct buffer *buffer = filling, *next; buffer; buffer = next) {
        next = buffer->next;
        if (buffer->used > 0)
            enqueue(buffer);
    }
    pthread_mutex_unlock(&lock);
    drain();
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityFlushPeriod(uint32_t milliseconds)
{
    DOOR();
    pthread_mutex_lock(&lock);
    period_ms = milliseconds;
    if (period_ms)
        start_worker();
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *count)
{
    (void)context;
    (void)stream;
    DOOR();
    if (!count)
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    return result_done(buffers_dropped(0, count));
}

/* SIMGPU_CUPTI_FAULT=dropped-unknown: the first query fails, the second tells of so many. */
CUptiResult buffers_dropped(unsigned client, size_t *count)
{
    static atomic_uint queries;

    if (fault_on(FAULT_DROPPED_UNKNOWN)) {
        unsigned query = atomic_fetch_add(&queries, 1);

        if (query == 0)
            return CUPTI_ERROR_NOT_COMPATIBLE;
        *count = query == 1 ? (size_t)fault_value(FAULT_DROPPED_UNKNOWN) : 0;
        return CUPTI_SUCCESS;
    }
    pthread_mutex_lock(&lock);
    *count = clients[client].dropped;
    clients[client].dropped = 0;
    pthread_mutex_unlock(&lock);
    return CUPTI_SUCCESS;
}

size_t buffers_record_bytes(const CUpti_Activity *record)
{
    switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return sizeof(KERNEL_RECORD);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        return sizeof(MEMCPY_RECORD);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
        return sizeof(PEER_RECORD);
    case CUPTI_ACTIVITY_KIND_MEMSET:
        return sizeof(MEMSET_RECORD);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
        return sizeof(API_RECORD);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
        return sizeof(EXTERNAL_RECORD);
    case CUPTI_ACTIVITY_KIND_DEVICE:
        return sizeof(DEVICE_RECORD);
    case CUPTI_ACTIVITY_KIND_CONTEXT:
        return sizeof(CONTEXT_RECORD);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
        return sizeof(struct graph_record);
    default:
        return 0;
    }
}

static size_t packed_bytes(const CUpti_Activity *record)
{
    size_t bytes = release_record_bytes(record->kind);

    return bytes ? bytes : buffers_record_bytes(record);
}

CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, CUpti_Activity **record)
{
    uint8_t *next = buffer;

    DOOR();
    if (!buffer || !record)
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    if (*record) {
        size_t bytes = packed_bytes(*record);

        if (bytes == 0)
            return result_done(CUPTI_ERROR_INVALID_KIND);
        next = (uint8_t *)*record + bytes;
    }
    if (next < buffer || next >= buffer + valid)
        return result_done(CUPTI_ERROR_MAX_LIMIT_REACHED);
    if (packed_bytes((CUpti_Activity *)next) == 0)
        return result_done(CUPTI_ERROR_INVALID_KIND);
    *record = (CUpti_Activity *)next;
    return CUPTI_SUCCESS;
}
