/* SPDX-License-Identifier: Apache-2.0 */
/* The client's activity buffers. One is asked for at the first record and filled; a full one goes to a worker thread of
 * our own, which hands it to the client; a flush hands over what is there. A client that gives no buffer, or one too
 * small, loses records, which are counted. The client's callbacks run without our lock, as they may take theirs. */
#include "stand_in.h"

#include "sim/core/device.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct buffer {
    uint8_t *bytes;
    size_t size, used;
    struct buffer *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t delivery = PTHREAD_MUTEX_INITIALIZER; /* held while a client's completion callback runs */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;    /* the queue, the period, a request that ended */
static CUpti_BuffersCallbackRequestFunc request_buffer;
static CUpti_BuffersCallbackCompleteFunc complete_buffer;
static struct buffer current;
static struct buffer *queue_first, **queue_end = &queue_first;
static bool requesting, worker_runs;
static uint32_t period_ms;
static size_t dropped;
static __thread bool in_client; /* this thread is inside one of the client's buffer callbacks */

/* In a forked child the worker is gone and the buffers belong to the parent's client state. */
static void after_fork(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_mutex_init(&delivery, NULL);
    pthread_cond_init(&changed, NULL);
    current = (struct buffer){0};
    queue_first = NULL;
    queue_end = &queue_first;
    requesting = worker_runs = false;
    period_ms = 0;
    dropped = 0;
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, after_fork);
}

/* ---- delivery ---- */

/* Takes the lock itself. One thread at a time delivers, so that buffers arrive in order. */
static void drain(void)
{
    pthread_mutex_lock(&delivery);
    for (;;) {
        struct buffer *buffer;
        CUpti_BuffersCallbackCompleteFunc complete;

        pthread_mutex_lock(&lock);
        buffer = queue_first;
        complete = complete_buffer;
        if (buffer) {
            queue_first = buffer->next;
            if (!queue_first)
                queue_end = &queue_first;
        }
        pthread_mutex_unlock(&lock);
        if (!buffer)
            break;
        in_client = true;
        if (complete)
            complete(NULL, 0, buffer->bytes, buffer->size, buffer->used);
        in_client = false;
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

/* With the lock held: the current buffer joins the queue. */
static void enqueue_current(void)
{
    struct buffer *full = malloc(sizeof *full);

    if (!full)
        return; /* stays current; its records are not lost */
    *full = current;
    full->next = NULL;
    *queue_end = full;
    queue_end = &full->next;
    current = (struct buffer){0};
    start_worker();
    pthread_cond_broadcast(&changed);
}

/* ---- filling ---- */

/* With the lock held, which is let go while the client is asked. */
static void obtain_current(void)
{
    CUpti_BuffersCallbackRequestFunc request = request_buffer;
    uint8_t *bytes = NULL;
    size_t size = 0, max_records = 0;

    while (requesting)
        pthread_cond_wait(&changed, &lock);
    if (current.bytes || !request)
        return;
    requesting = true;
    pthread_mutex_unlock(&lock);
    in_client = true;
    request(&bytes, &size, &max_records);
    in_client = false;
    if (bytes && !attribute_zeroed_buffers())
        memset(bytes, 0, size);
    pthread_mutex_lock(&lock);
    requesting = false;
    if (bytes)
        current = (struct buffer){bytes, size, 0, NULL};
    pthread_cond_broadcast(&changed);
}

void buffers_prepare(void)
{
    pthread_mutex_lock(&lock);
    if (!current.bytes)
        obtain_current();
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

/* The current buffer holds records already and has no room for BYTES more. With the lock held. */
static bool current_is_full(size_t bytes)
{
    return current.bytes && current.used > 0 && current.size - current.used < bytes;
}

void buffers_put(const void *record, size_t bytes)
{
    pthread_mutex_lock(&lock);
    if (!request_buffer) {
        pthread_mutex_unlock(&lock);
        return;
    }
    if (drop_this_one()) {
        dropped++;
        pthread_mutex_unlock(&lock);
        return;
    }
    /* Again where other threads filled what was obtained while this one waited for it. */
    do {
        if (current_is_full(bytes))
            enqueue_current();
        if (!current.bytes)
            obtain_current();
    } while (current_is_full(bytes));
    if (current.bytes && current.size - current.used >= bytes) {
        memcpy(current.bytes + current.used, record, bytes);
        current.used += bytes;
    } else {
        dropped++;
    }
    pthread_mutex_unlock(&lock);
}

/* ---- the client's side ---- */

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                                    CUpti_BuffersCallbackCompleteFunc complete)
{
    DOOR();
    if (!request || !complete)
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    pthread_mutex_lock(&lock);
    request_buffer = request;
    complete_buffer = complete;
    pthread_mutex_unlock(&lock);
    observer_install();
    return CUPTI_SUCCESS;
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
    if (current.bytes && current.used > 0)
        enqueue_current();
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
    pthread_mutex_lock(&lock);
    *count = dropped;
    dropped = 0;
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
    default:
        return 0;
    }
}

CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, CUpti_Activity **record)
{
    uint8_t *next = buffer;

    DOOR();
    if (!buffer || !record)
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    if (*record) {
        size_t bytes = buffers_record_bytes(*record);

        if (bytes == 0)
            return result_done(CUPTI_ERROR_INVALID_KIND);
        next = (uint8_t *)*record + bytes;
    }
    if (next < buffer || next >= buffer + valid)
        return result_done(CUPTI_ERROR_MAX_LIMIT_REACHED);
    if (buffers_record_bytes((CUpti_Activity *)next) == 0)
        return result_done(CUPTI_ERROR_INVALID_KIND);
    *record = (CUpti_Activity *)next;
    return CUPTI_SUCCESS;
}
