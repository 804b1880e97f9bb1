/* SPDX-License-Identifier: Apache-2.0 */
/* `bench_lookup NAME REPEATS`: looks NAME up in the C library of mathematics, again and again; prints ns a look-up. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int count, char **arguments)
{
    if (count < 3)
        return 2;
    long repeats = atol(arguments[2]);
    void *volatile found; /* or not */
    void *handle = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
    double start = now_ns();
    for (long i = 0; i < repeats; i++)
        found = dlsym(handle, arguments[1]);
    (void)found;
    printf("%.1f\n", (now_ns() - start) / (double)repeats);
    return 0;
}
