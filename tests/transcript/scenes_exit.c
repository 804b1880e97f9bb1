/* SPDX-License-Identifier: Apache-2.0 */
/* Scenes of leaving: threads that are still there when main() returns, and destructors of all kinds that call cuBLAS after
 * everything else has ended. */
#include "subject.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 64, CALLS = 5 };

void __cxa_thread_atexit_impl(void (*destructor)(void *object), void *object, void *library);
extern void *__dso_handle;

static pthread_barrier_t all_called;
static pthread_key_t key;

static int calls_of(struct gemms *own, int index)
{
    int wrong = 0;
    for (int i = 0; i < CALLS; i++)
        wrong += gemms_ex(own, 16 * (index + 1), 8, 64) != CUBLAS_STATUS_SUCCESS;
    return wrong;
}

/* ---- threads that are there when main() returns ---- */

static int wrong_calls;
static bool goes_on;

static void *stay(void *argument)
{
    struct gemms own = {0};
    int index = (int)(intptr_t)argument;
    int wrong = gemms_open(&own) ? calls_of(&own, index) : 1;
    __atomic_fetch_add(&wrong_calls, wrong, __ATOMIC_RELAXED);
    pthread_barrier_wait(&all_called);
    while (goes_on)
        gemms_ex(&own, 16 * (index + 1), 8, 64);
    for (;;)
        pause();
    return NULL;
}

static int leave_threads(bool calling)
{
    goes_on = calling;
    pthread_barrier_init(&all_called, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, stay, (void *)(intptr_t)i) != 0 || pthread_detach(thread) != 0)
            return 4;
    }
    pthread_barrier_wait(&all_called);
    tell("results wrong %d\n", wrong_calls);
    return 8;
}

int scene_threads(const char *unused)
{
    (void)unused;
    return leave_threads(false);
}

int scene_calling(const char *unused)
{
    (void)unused;
    return leave_threads(true);
}

/* ---- destructors ---- */

static void call_and_destroy(void *object)
{
    struct gemms *own = object;
    int wrong = calls_of(own, 1);
    wrong += cublasDestroy(own->blas) != CUBLAS_STATUS_SUCCESS;
    wrong += cublasLtDestroy(own->lt) != CUBLAS_STATUS_SUCCESS;
    if (wrong)
        tell("results destructor %d\n", wrong);
    free(own);
}

static struct gemms *opened(void)
{
    struct gemms *own = calloc(1, sizeof *own);
    if (!own || !gemms_open(own))
        abort();
    return own;
}

static void *run_destructors(void *unused)
{
    pthread_setspecific(key, opened());
    __cxa_thread_atexit_impl(call_and_destroy, opened(), &__dso_handle);
    return unused;
}

static void at_exit(void)
{
    CALL("atexit", "ex", gemms_ex(&gemms, 8, 8, 8));
    CALL("atexit", "destroy", cublasDestroy(gemms.blas));
    look("atexit");
}

__attribute__((destructor)) static void unloaded(void)
{
    if (key)
        CALL("destructor", "lt", gemms_lt(&gemms, 8, 8, 8));
}

int scene_destructors(const char *unused)
{
    (void)unused;
    atexit(at_exit); /* before the first call: it runs after all handlers that come with that */
    pthread_key_create(&key, call_and_destroy);
    if (!gemms_open(&gemms))
        return 3;
    for (int i = 0; i < 8; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, run_destructors, NULL) != 0 || pthread_join(thread, NULL) != 0)
            return 4;
    }
    __cxa_thread_atexit_impl(call_and_destroy, opened(), &__dso_handle);
    return 8;
}
