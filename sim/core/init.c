/* SPDX-License-Identifier: Apache-2.0 */
/* cuInit: once per process, never in a forked child, and the moment at which CUDA_INJECTION64_PATH is loaded. */
#include "sim/core/device.h"
#include "sim/core/state.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define INJECTION_WAIT_S 1 /* others wait so long for the injection, which may itself wait for a thread of its own */

enum { NO_DEVICE = 100 }; /* CUDA_ERROR_NO_DEVICE */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t injected = PTHREAD_COND_INITIALIZER;
static enum { NOT_YET, INJECTING, READY } state;
static pthread_t injecting_thread;
static int forked, poison, initialised;

bool simgpu_forked(void)
{
    return __atomic_load_n(&forked, __ATOMIC_RELAXED);
}

bool simgpu_initialised(void)
{
    return __atomic_load_n(&initialised, __ATOMIC_ACQUIRE);
}

void simgpu_poison(int result)
{
    int none = 0;
    __atomic_compare_exchange_n(&poison, &none, result, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

int simgpu_poisoned(void)
{
    return __atomic_load_n(&poison, __ATOMIC_RELAXED);
}

static void in_child(void)
{
    __atomic_store_n(&forked, 1, __ATOMIC_RELAXED);
}

static void load_injection(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    if (!path || !*path)
        return;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "simgpu: CUDA_INJECTION64_PATH: %s\n", dlerror());
        return;
    }
    int (*initialise)(void);
    *(void **)&initialise = dlsym(library, "InitializeInjection");
    if (initialise)
        initialise();
    else
        fprintf(stderr, "simgpu: CUDA_INJECTION64_PATH: %s has no InitializeInjection\n", path);
}

static void wait_for_injection(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += INJECTION_WAIT_S;
    while (state == INJECTING && !pthread_cond_timedwait(&injected, &lock, &until))
        ;
}

/* The real runtime reaches the device through libcuda.so.1, so a process that uses CUDA has it mapped; tools look for it. */
static void map_driver(void)
{
    if (!dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL))
        dlerror();
}

static int first_init(void)
{
    if (simgpu_device_broken())
        return SIMGPU_NOT_INITIALIZED;
    if (!simgpu_device_count())
        return NO_DEVICE;
    pthread_atfork(NULL, NULL, in_child);
    state = INJECTING;
    injecting_thread = pthread_self();
    ledger_start();
    __atomic_store_n(&initialised, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
    map_driver();
    load_injection();
    pthread_mutex_lock(&lock);
    state = READY;
    pthread_cond_broadcast(&injected);
    pthread_mutex_unlock(&lock);
    api_resource(&(struct simgpu_resource_notice){.event = SIMGPU_INIT_FINISHED});
    pthread_mutex_lock(&lock);
    return SIMGPU_SUCCESS;
}

int simgpu_init(void)
{
    if (simgpu_forked())
        return SIMGPU_NOT_INITIALIZED;
    static int ready;
    if (__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
        return SIMGPU_SUCCESS;
    int result = SIMGPU_SUCCESS;
    pthread_mutex_lock(&lock);
    if (state == NOT_YET)
        result = first_init();
    else if (state == INJECTING && !pthread_equal(injecting_thread, pthread_self()))
        wait_for_injection();
    if (state == READY)
        __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
    return result;
}
