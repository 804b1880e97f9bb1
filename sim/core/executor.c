/* SPDX-License-Identifier: Apache-2.0 */
/* Host functions run on a thread of the core's own, in the order they were enqueued, and so does what a stream was
 * given after one. Everything else happens at once on the caller's thread. */
#include "sim/core/state.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct task {
    struct simgpu_work work;
    uint64_t ticket;
    struct task *next;
};

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct task *first, **last;
    uint64_t pushed, done;
    bool started;
} queue = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .last = &queue.first};

static void *run(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&queue.mutex);
    for (;;) {
        while (!queue.first)
            pthread_cond_wait(&queue.changed, &queue.mutex);
        struct task *task = queue.first;
        queue.first = task->next;
        if (!queue.first)
            queue.last = &queue.first;
        pthread_mutex_unlock(&queue.mutex);
        work_perform(&task->work);
        work_release(&task->work);
        pthread_mutex_lock(&queue.mutex);
        __atomic_store_n(&queue.done, task->ticket, __ATOMIC_RELEASE);
        free(task);
        pthread_cond_broadcast(&queue.changed);
    }
    return NULL;
}

/* Signals belong to the program's own threads. */
static int start(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    int failed = pthread_create(&thread, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed)
        return SIMGPU_OUT_OF_MEMORY;
    pthread_detach(thread);
    return SIMGPU_SUCCESS;
}

int executor_push(const struct simgpu_work *work, uint64_t *ticket)
{
    struct task *task = calloc(1, sizeof *task);
    if (!task)
        return SIMGPU_OUT_OF_MEMORY;
    int result = work_copy(&task->work, work);
    pthread_mutex_lock(&queue.mutex);
    if (!result && !queue.started) {
        result = start();
        queue.started = !result;
    }
    if (!result) {
        task->ticket = *ticket = ++queue.pushed;
        *queue.last = task;
        queue.last = &task->next;
        pthread_cond_broadcast(&queue.changed);
    }
    pthread_mutex_unlock(&queue.mutex);
    if (result)
        free(task);
    return result;
}

bool executor_done(uint64_t ticket)
{
    return __atomic_load_n(&queue.done, __ATOMIC_ACQUIRE) >= ticket;
}

uint64_t executor_last(void)
{
    pthread_mutex_lock(&queue.mutex);
    uint64_t last = queue.pushed;
    pthread_mutex_unlock(&queue.mutex);
    return last;
}

void executor_wait(uint64_t ticket)
{
    if (executor_done(ticket))
        return;
    pthread_mutex_lock(&queue.mutex);
    while (queue.done < ticket)
        pthread_cond_wait(&queue.changed, &queue.mutex);
    pthread_mutex_unlock(&queue.mutex);
}
