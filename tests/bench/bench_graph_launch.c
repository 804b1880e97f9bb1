/* SPDX-License-Identifier: Apache-2.0 */
/* Launches graphs: `bench_graph_launch any LAUNCHES` prints the nanoseconds of each, of two executables in turn. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/cupti/fake_cupti.h"

int cudaGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long flags);
int cudaGraphLaunch(void *executable, void *stream);

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int count, char **arguments)
{
    static int graph, stream;
    void *executables[2];
    const long launches = count == 3 ? atol(arguments[2]) : 0;
    fake_cuda_init();
    for (int i = 0; i < 2; i++)
        cudaGraphInstantiateWithFlags(&executables[i], &graph, 0);
    for (int i = 0; i < 100; i++) /* whatever starts has started */
        cudaGraphLaunch(executables[i % 2], &stream);
    const double start = now_ns();
    for (long i = 0; i < launches; i++)
        cudaGraphLaunch(executables[i % 2], &stream);
    printf("%.1f\n", launches ? (now_ns() - start) / (double)launches : 0);
    return launches <= 0;
}
