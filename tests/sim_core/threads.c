/* SPDX-License-Identifier: Apache-2.0 */
/* Four threads launch at once, on streams of their own and one in common: nothing is lost, nothing overlaps on a
 * stream, and each thread's per-thread default stream is its own. */
#include "ledger_reader.h"

#include <pthread.h>

#define LEDGER "threads.ledger"
enum { THREADS = 4 };
static unsigned launches = 100000;
static const void *kernel;
static cudaStream_t common;

cudaError_t cudaLaunchKernel_ptsz(const void *function, dim3 grid, dim3 block, void **args, size_t shared,
                                  cudaStream_t stream);

static void *launch_many(void *failed)
{
    cudaStream_t own;
    cudaEvent_t event;
    dim3 one = {1, 1, 1};
    unsigned wrong = cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking) != cudaSuccess;
    wrong += cudaEventCreate(&event) != cudaSuccess;
    for (unsigned i = 0; i < launches; i++) {
        cudaStream_t stream = i % 16 == 0 ? common : own;
        if (i % 16 == 1)
            wrong += cudaLaunchKernel_ptsz(kernel, one, one, NULL, 0, NULL) != cudaSuccess;
        else
            wrong += cudaLaunchKernel(kernel, one, one, NULL, 0, stream) != cudaSuccess;
        if (i % 1024 == 0) {
            wrong += cudaEventRecord(event, own) != cudaSuccess;
            wrong += cudaStreamWaitEvent(common, event, 0) != cudaSuccess;
            wrong += cudaStreamSynchronize(own) != cudaSuccess;
        }
    }
    wrong += cudaStreamSynchronize(own) != cudaSuccess || cudaStreamDestroy(own) != cudaSuccess;
    wrong += cudaEventDestroy(event) != cudaSuccess;
    *(unsigned *)failed = wrong;
    return NULL;
}

/* Half a million lines: a JSON reader would take longer than what is tested. */
static uint64_t number_in(const char *line, const char *key)
{
    const char *place = strstr(line, key);
    assert_non_null(place);
    return strtoull(place + strlen(key), NULL, 10);
}

static void nothing_is_lost(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    unsigned failed[THREADS];
    OK(cudaStreamCreateWithFlags(&common, cudaStreamNonBlocking));
    for (int i = 0; i < THREADS; i++)
        OK(pthread_create(&threads[i], NULL, launch_many, &failed[i]));
    for (int i = 0; i < THREADS; i++) {
        OK(pthread_join(threads[i], NULL));
        assert_int_equal(failed[i], 0);
    }
    OK(cudaDeviceSynchronize());

    enum { STREAMS = 64 };
    uint64_t last_end[STREAMS] = {0}, seq = 0;
    unsigned on_stream[STREAMS] = {0}, used = 0, lines = 0;
    char line[1024];
    FILE *ledger = fopen(LEDGER, "r");
    assert_non_null(ledger);
    while (fgets(line, sizeof line, ledger)) {
        if (!strstr(line, "\"kernel\""))
            continue;
        uint64_t stream = number_in(line, "\"stream\":");
        assert_true(stream < STREAMS);
        assert_true(number_in(line, "\"seq\":") > seq);
        assert_true(number_in(line, "\"start\":") >= last_end[stream]);
        seq = number_in(line, "\"seq\":");
        last_end[stream] = number_in(line, "\"end\":");
        used += !on_stream[stream]++;
        lines++;
    }
    fclose(ledger);
    assert_int_equal(lines, THREADS * launches);
    assert_int_equal(used, 1 + 2 * THREADS); /* the common one, each thread's own and its default one */
}

int main(int count, char **arguments)
{
    if (count > 1)
        launches = (unsigned)atoi(arguments[1]);
    ledger_use(LEDGER);
    kernel = stub_of("threaded");
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_lost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
