/* SPDX-License-Identifier: Apache-2.0 */
/* `family CUBLAS`: a tree of processes, each of which opens cuBLAS itself and calls it M times by a pointer that it looked
 * up, M another for each: parent 1, fork 2, fork and exec of itself 3, posix_spawn 4, vfork and exec 5, a grandchild that
 * fork()s off the child of fork 6. The parent prints the version of the C library that it runs with. */
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char *program, *cublas;

static int call(int times)
{
    static const float one = 1, zero = 0;
    static float matrix[64];
    int (*create)(void **);
    int (*gemm)(void *, int, int, int, int, int, const void *, const void *, int, int, const void *, int, int,
                const void *, void *, int, int, int, int);
    void *library = dlopen(cublas, RTLD_NOW | RTLD_LOCAL), *handle;
    if (!library)
        return 1;
    *(void **)&create = dlsym(library, "cublasCreate_v2");
    *(void **)&gemm = dlsym(library, "cublasGemmEx");
    int status = create(&handle);
    for (int i = 0; i < times; i++)
        status |=
            gemm(handle, 0, 0, times, 2, 3, &one, matrix, 0, times, matrix, 0, 3, &zero, matrix, 0, times, 68, -1);
    return status;
}

static int ended(pid_t child)
{
    int status = -1;
    return child > 0 && waitpid(child, &status, 0) == child ? status : 1;
}

static int fork_twice(void)
{
    pid_t child = fork();
    if (child == 0) {
        int status = call(2);
        pid_t grandchild = fork();
        if (grandchild == 0)
            exit(call(6));
        exit(status || ended(grandchild));
    }
    return ended(child);
}

static int exec_itself(pid_t child, char *times)
{
    char *const arguments[] = {program, cublas, times, NULL};
    if (child == 0) {
        execv(program, arguments);
        _exit(127);
    }
    return ended(child);
}

static int spawn(char *times)
{
    char *const arguments[] = {program, cublas, times, NULL};
    pid_t child = -1;
    return posix_spawn(&child, program, NULL, NULL, arguments, environ) || ended(child);
}

int main(int count, char **arguments)
{
    if (count < 2)
        return 2;
    program = arguments[0], cublas = arguments[1];
    if (count > 2)
        return call(atoi(arguments[2]));
    int status = call(1) || fork_twice() || exec_itself(fork(), "3") || spawn("4") || exec_itself(vfork(), "5");
    printf("%s, status %d\n", gnu_get_libc_version(), status);
    return status;
}
