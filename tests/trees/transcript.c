/* SPDX-License-Identifier: Apache-2.0 */
/* A program that writes down what it can see of itself, one line "ASPECT TEXT" each: `transcript ENDING`. It makes calls of
 * every kind with errno and the floating-point environment set before each, also from an exit handler and from a destructor
 * of thread-local data, and then ends by return, exit, _exit, quick_exit, pthread_exit, abort, kill or fault. */
#include "gemms.h"

#include <dirent.h>
#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void __cudaRegisterFunction(void **handle, const char *stub, char *device_stub, const char *name, int thread_limit,
                            uint3 *thread_id, uint3 *block_id, dim3 *block, dim3 *grid, int *warp_size);

enum { ERRNO_BEFORE = 77 };

static struct gemms gemms;

static void tell(const char *format, ...)
{
    char line[4096];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length > 0 && write(STDOUT_FILENO, line, (size_t)length) != length)
        _exit(98);
}

static void kernel_stub(void)
{
}

static int launch(void)
{
    return cudaLaunchKernel((const void *)kernel_stub, (dim3){1, 1, 1}, (dim3){32, 1, 1}, NULL, 0, gemms.stream);
}

static int refused(void)
{
    struct gemms none = {0};
    return gemms_ex(&none, 8, 8, 8);
}

static int wrong_size(void)
{
    return gemms_ex(&gemms, -1, 8, 8);
}

static int ex(void)
{
    return gemms_ex(&gemms, 64, 32, 16);
}

static int sgemm(void)
{
    return gemms_sgemm(&gemms, 16, 8, 4);
}

static int lt(void)
{
    return gemms_lt(&gemms, 32, 16, 8);
}

static const struct {
    const char *name;
    int (*call)(void);
} kinds[] = {{"ex", ex},         {"sgemm", sgemm},     {"lt", lt},
             {"launch", launch}, {"refused", refused}, {"wrong_size", wrong_size}};

/* The first of each kind starts things; the tenth is on the usual path. */
static void call_all(const char *where)
{
    for (size_t i = 0; i < 10 * sizeof kinds / sizeof kinds[0]; i++) {
        size_t kind = i / 10;
        feclearexcept(FE_ALL_EXCEPT);
        feraiseexcept(FE_INEXACT);
        fesetround(FE_UPWARD);
        errno = ERRNO_BEFORE;
        int result = kinds[kind].call(), after = errno, flags = fetestexcept(FE_ALL_EXCEPT), rounding = fegetround();
        fesetround(FE_TONEAREST);
        tell("results %s %s %d\n", where, kinds[kind].name, result);
        tell("errno %s %s %d\n", where, kinds[kind].name, after);
        tell("fenv %s %s %#x %#x\n", where, kinds[kind].name, flags, rounding);
    }
    tell("sticky_error %s %d\n", where, (int)cudaPeekAtLastError());
}

static int by_number(const void *left, const void *right)
{
    return *(const int *)left - *(const int *)right;
}

static void tell_descriptors(const char *where)
{
    int open_now[256], count = 0;
    DIR *folder = opendir("/proc/thread-self/fd");
    for (const struct dirent *entry; folder && count < 256 && (entry = readdir(folder));)
        if (*entry->d_name != '.' && atoi(entry->d_name) != dirfd(folder))
            open_now[count++] = atoi(entry->d_name);
    closedir(folder);
    qsort(open_now, (size_t)count, sizeof *open_now, by_number);
    for (int i = 0; i < count; i++)
        tell("descriptors %s %d\n", where, open_now[i]);
}

static void tell_signals(const char *where)
{
    sigset_t mask, pending;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    sigpending(&pending);
    for (int number = 1; number <= SIGRTMAX; number++) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_DFL)
            tell("dispositions %s %d %s %#x\n", where, number, action.sa_handler == SIG_IGN ? "ignored" : "handled",
                 action.sa_flags);
        if (sigismember(&mask, number) == 1)
            tell("mask %s %d\n", where, number);
        if (sigismember(&pending, number) == 1)
            tell("pending %s %d\n", where, number);
    }
}

/* `env` says what a child gets; the harness leaves out what is documented. */
static void tell_children(const char *where)
{
    char line[8192];
    FILE *child = popen("env", "r");
    while (child && fgets(line, sizeof line, child))
        tell("children %s %s", where, line);
    tell("children %s ended %d\n", where, child ? pclose(child) : -1);
}

static void tell_rest(const char *where)
{
    char folder[4096];
    mode_t mask = umask(0);
    umask(mask);
    tell("umask %s %#o\n", where, (unsigned)mask);
    tell("folder %s %s\n", where, getcwd(folder, sizeof folder) ? folder : "none");
    tell("process %s group %d session %d nice %d\n", where, getpgrp() == getpid(), getsid(0) == getpid(), nice(0));
}

static void look(const char *where)
{
    tell_descriptors(where);
    tell_signals(where);
    tell_rest(where);
    tell_children(where);
}

static void at_exit(void)
{
    call_all("atexit");
    look("atexit");
}

static void at_thread_end(void *unused)
{
    (void)unused;
    call_all("tls_destructor");
}

static void *thread(void *key)
{
    pthread_setspecific(*(pthread_key_t *)key, key);
    call_all("thread");
    return NULL;
}

static void handled(int number)
{
    tell("handler %d\n", number);
    call_all("handler");
}

static void end(const char *how)
{
    if (!strcmp(how, "exit"))
        exit(5);
    if (!strcmp(how, "_exit"))
        _exit(6);
    if (!strcmp(how, "quick_exit"))
        quick_exit(7);
    if (!strcmp(how, "pthread_exit"))
        pthread_exit(NULL);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "kill"))
        raise(SIGKILL);
    if (!strcmp(how, "fault"))
        raise(SIGSEGV);
}

int main(int count, char **arguments)
{
    static char name[] = "transcript_kernel";
    static pthread_key_t key;
    pthread_t other;
    tell("errno main start %d\n", errno);
    if (count != 2)
        return 2;
    look("start");
    signal(SIGUSR1, handled);
    signal(SIGPIPE, SIG_IGN);
    atexit(at_exit);
    __cudaRegisterFunction(NULL, (const char *)kernel_stub, name, name, -1, NULL, NULL, NULL, NULL, NULL);
    if (!gemms_open(&gemms))
        return 3;
    call_all("main");
    raise(SIGUSR1);
    pthread_key_create(&key, at_thread_end);
    if (pthread_create(&other, NULL, thread, &key) != 0 || pthread_join(other, NULL) != 0)
        return 4;
    look("end");
    end(arguments[1]);
    return 8;
}
