/* SPDX-License-Identifier: Apache-2.0 */
/* A tool as the driver loads it: says that it was called, and calls the driver from inside cuInit, also from a thread
 * of its own. */
#include <pthread.h>
#include <stdio.h>

#include <cuda.h>

int InitializeInjection(void);

static void *call_driver(void *failed)
{
    int count = 0;
    *(int *)failed = cuInit(0) != CUDA_SUCCESS || cuDeviceGetCount(&count) != CUDA_SUCCESS || count != 1;
    return NULL;
}

int InitializeInjection(void)
{
    int failed = 0, failed_in_thread = 0;
    pthread_t thread;
    call_driver(&failed);
    pthread_create(&thread, NULL, call_driver, &failed_in_thread);
    pthread_join(thread, NULL);
    puts(failed || failed_in_thread ? "injection failed" : "injection called");
    fflush(stdout);
    return 1;
}
