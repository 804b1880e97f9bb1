/* SPDX-License-Identifier: Apache-2.0 */
/* What the library costs a program that starts others, and one that ends. `bench_processes LIBRARY [ROUNDS]` runs itself
 * with LIBRARY preloaded and without by turns, ROUNDS (9) times, and prints for each of the following the least disturbed
 * round with it as a ratio to that without, and the microseconds in between.
 *
 *   fork      fork() and _exit() in the child, in a process that has not called CUDA
 *   recorded  the same in one that has, and is recorded
 *   exec      /bin/true started and waited for
 *   exit      from the end of main() to the end of the process, after some calls of cuBLAS and launches
 *
 * As a worker, `bench_processes --MODE COUNT`, it prints the median of COUNT times in nanoseconds. */
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "preload/cublas_types.h"

int cublasCreate_v2(cublasHandle_t *);
int cublasGemmEx(cublasHandle_t, int, int, int, int, int, const void *, const void *, int, int, const void *, int, int,
                 const void *, void *, int, int, int, int);

extern char **environ;

enum { COUNT_MOST = 1000, CALLS = 2000 };

static double nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

/* ---- workers ---- */

static void call_cublas(void)
{
    cublasHandle_t handle;
    float alpha = 1, beta = 0, matrix[4] = {0};
    if (cublasCreate_v2(&handle) != 0)
        exit(3);
    for (int i = 0; i < CALLS; i++)
        if (cublasGemmEx(handle, 0, 0, 2, 2, 2, &alpha, matrix, 0, 2, matrix, 0, 2, &beta, matrix, 0, 2, 68, -1) != 0)
            exit(3);
}

static pid_t start(const char *path, char *const arguments[])
{
    pid_t child;
    return posix_spawn(&child, path, NULL, NULL, arguments, environ) == 0 ? child : -1;
}

/* Counted by name: see bench_processes.sh. */
void one_child(int executed);
__attribute__((noinline)) void one_child(int executed)
{
    char *arguments[] = {"true", NULL};
    int status = 1;
    pid_t child = executed ? start("/bin/true", arguments) : fork();
    if (child == 0)
        _exit(0);
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        exit(3);
}

static int work(const char *mode, int count)
{
    static double took[COUNT_MOST];
    if (!strcmp(mode, "--recorded") || !strcmp(mode, "--exit"))
        call_cublas();
    for (int i = 0; i < count && strcmp(mode, "--exit") != 0; i++) {
        double before = nanoseconds();
        one_child(!strcmp(mode, "--exec"));
        took[i] = nanoseconds() - before;
    }
    double answer = strcmp(mode, "--exit") != 0 ? median(took, count) : nanoseconds();
    return write(STDOUT_FILENO, &answer, sizeof answer) == sizeof answer ? 0 : 3;
}

/* ---- the driver ---- */

/* What one worker says; of its exit, how long that took. */
static double run(const char *self, const char *mode, const char *count)
{
    char *arguments[] = {(char *)self, (char *)mode, (char *)count, NULL};
    int ends[2], status;
    double answer;
    pid_t child;
    posix_spawn_file_actions_t actions;
    if (pipe2(ends, O_CLOEXEC) != 0)
        exit(2);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    if (posix_spawn(&child, self, &actions, NULL, arguments, environ) != 0)
        exit(2);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    bool told = read(ends[0], &answer, sizeof answer) == sizeof answer;
    close(ends[0]);
    if (waitpid(child, &status, 0) != child || status != 0 || !told) {
        fprintf(stderr, "a process that was to %s failed\n", mode + 2);
        exit(1);
    }
    return strcmp(mode, "--exit") != 0 ? answer : nanoseconds() - answer;
}

static void compare_mode(const char *self, const char *library, const char *mode, const char *count, int rounds)
{
    double least[2] = {1e18, 1e18};
    for (int i = 0; i < 2 * rounds; i++) {
        if (i % 2)
            setenv("LD_PRELOAD", library, 1);
        else
            unsetenv("LD_PRELOAD");
        double took = run(self, mode, count);
        if (took < least[i % 2])
            least[i % 2] = took;
    }
    printf("%s: %.3f of the time without the library, %+.0f us to %.0f\n", mode + 2, least[1] / least[0],
           (least[1] - least[0]) / 1000, least[0] / 1000);
}

int main(int argc, char **argv)
{
    char self[4096];
    if (argc == 3 && argv[1][0] == '-') {
        int count = atoi(argv[2]);
        return count > 0 && count <= COUNT_MOST ? work(argv[1], count) : 2;
    }
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    int rounds = argc > 2 ? atoi(argv[2]) : 9;
    if (length <= 0 || argc < 2 || rounds < 1)
        return 2;
    self[length] = '\0';
    static const char *const modes[][2] = {{"--fork", "100"}, {"--recorded", "100"}, {"--exec", "60"}, {"--exit", "1"}};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        compare_mode(self, argv[1], modes[i][0], modes[i][1], rounds);
    return 0;
}
