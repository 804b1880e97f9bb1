/* SPDX-License-Identifier: Apache-2.0 */
/* A program with a profiler of its own: `e2e_profiled LIBRARY WAY OPEN BEFORE DURING AFTER [THREADS]` makes so many calls before the
 * profiler starts, while it runs, and after. WAY: linked, named, callbacks, shared, none; OPEN: plain, deepbind. Prints how many
 * kernels the profiler saw; exits with 1 if it is refused. BEFORE 0: it starts before anything of CUDA is called.
 * With THREADS it leaves while so many threads go on making calls. */
#include "gemms.h"
#include "profiler.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const ways[] = {"linked", "named", "callbacks", "shared"};

static void run(struct gemms *gemms, int count)
{
    for (int i = 0; i < count; i++)
        if (gemms_ex(gemms, 64, 32, 16) != CUBLAS_STATUS_SUCCESS)
            exit(3);
    cudaDeviceSynchronize();
}

static int way_named(const char *name)
{
    for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++)
        if (!strcmp(ways[i], name))
            return (int)i;
    return -1;
}

static void *open_profiler(const char *path, bool deep)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | (deep ? RTLD_DEEPBIND : 0));
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    return library;
}

static _Atomic int at_work;

static void *call_on(void *unused)
{
    struct gemms gemms;
    if (!gemms_open(&gemms))
        exit(3);
    at_work++;
    while (gemms_ex(&gemms, 64, 32, 16) == CUBLAS_STATUS_SUCCESS) /* the driver may be gone before the process is */
        usleep(200);
    return unused;
}

static void start_threads(int count)
{
    pthread_t thread;
    for (int i = 0; i < count; i++)
        if (pthread_create(&thread, NULL, call_on, NULL) || pthread_detach(thread))
            exit(3);
    while (at_work < count)
        usleep(1000);
}

int main(int argc, char **argv)
{
    struct gemms gemms;
    int (*start)(enum profiler_way) = NULL;
    long (*stop)(void) = NULL;
    if (argc != 7 && argc != 8)
        return 2;
    int way = way_named(argv[2]);
    void *profiler = open_profiler(argv[1], !strcmp(argv[3], "deepbind"));
    *(void **)&start = dlsym(profiler, "profiler_start");
    *(void **)&stop = dlsym(profiler, "profiler_stop");
    if (atoi(argv[4]) > 0) {
        if (!gemms_open(&gemms))
            return 3;
        run(&gemms, atoi(argv[4]));
    }
    if (way >= 0 && start((enum profiler_way)way))
        return 1;
    if (atoi(argv[4]) == 0 && !gemms_open(&gemms))
        return 3;
    run(&gemms, atoi(argv[5]));
    if (way >= 0)
        printf("saw %ld\n", stop());
    run(&gemms, atoi(argv[6]));
    if (argc == 8)
        start_threads(atoi(argv[7]));
    return 0;
}
