/* SPDX-License-Identifier: Apache-2.0 */
/* What a shell may start: looks names up, has a thread, a child by vfork() and one by fork(); prints what came of it and exits
 * with 3. For any C library. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void *look_up(void *argument)
{
    (void)argument;
    return dlsym(RTLD_DEFAULT, "puts");
}

static int end_of(pid_t child)
{
    int status = -1;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
    pthread_t thread;
    void *found = NULL, *program = dlopen(NULL, RTLD_LAZY);
    printf("%d", program && !dlsym(program, "no_such_function") && dlerror() && !dlerror());
    printf(" %d",
           !pthread_create(&thread, NULL, look_up, NULL) && !pthread_join(thread, &found) && found == (void *)puts);
    printf(" %d", dlopen("no_such_library.so", RTLD_NOW) == NULL && dlerror() != NULL);
    fflush(stdout);
    pid_t child = vfork();
    if (child == 0)
        _exit(4);
    printf(" %d", end_of(child));
    fflush(stdout);
    child = fork();
    if (child == 0)
        _exit(5);
    printf(" %d\n", end_of(child));
    return 3;
}
