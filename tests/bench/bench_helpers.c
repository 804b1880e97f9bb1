/* SPDX-License-Identifier: Apache-2.0 */
/* What the library costs processes that never use CUDA: `bench_helpers LIBRARY [COUNT [ROUNDS]]` starts COUNT (300) of its
 * own short children at once, with LIBRARY preloaded and without by turns, ROUNDS (15) times, and prints the ratio of the
 * least disturbed rounds and the microseconds a child that lie between; the same of the processor time that the children had,
 * which what else runs on the machine disturbs less. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Of all children that have ended. */
static double processor_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* From the first start to the last end; -1 if a child did not end with 0. */
static double round_of(const char *self, int count)
{
    char *arguments[] = {(char *)self, NULL};
    double start = seconds();
    for (int i = 0; i < count; i++) {
        pid_t child;
        if (posix_spawn(&child, self, NULL, NULL, arguments, environ) != 0)
            return -1;
    }
    for (int i = 0; i < count; i++) {
        int status;
        if (wait(&status) < 0 || status != 0)
            return -1;
    }
    return seconds() - start;
}

int main(int argc, char **argv)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    int count = argc > 2 ? atoi(argv[2]) : 300, rounds = argc > 3 ? atoi(argv[3]) : 15;
    double least[2] = {1e9, 1e9}, least_processor[2] = {1e9, 1e9};
    if (argc == 1)
        return 0; /* the helper itself */
    if (length <= 0 || count < 1 || rounds < 1)
        return 2;
    self[length] = '\0';
    for (int i = 0; i < 2 * rounds; i++) {
        if (i % 2)
            setenv("LD_PRELOAD", argv[1], 1);
        else
            unsetenv("LD_PRELOAD");
        double before = processor_seconds(), took = round_of(self, count), processor = processor_seconds() - before;
        if (took < 0) {
            fprintf(stderr, "a child failed\n");
            return 1;
        }
        if (took < least[i % 2])
            least[i % 2] = took;
        if (processor < least_processor[i % 2])
            least_processor[i % 2] = processor;
    }
    printf("%d processes at once: %.3f of the time without the library, %.0f us more each; %.3f of the processor time, "
           "%.0f us "
           "more each\n",
           count, least[1] / least[0], (least[1] - least[0]) / count * 1e6, least_processor[1] / least_processor[0],
           (least_processor[1] - least_processor[0]) / count * 1e6);
    return 0;
}
