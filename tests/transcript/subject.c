/* SPDX-License-Identifier: Apache-2.0 */
/* `subject SCENE [ARGUMENT]`: a program that writes down what it can see of itself. Scene `ending` makes calls of every kind,
 * also from an exit handler, a signal handler, a thread and a destructor of thread-local data, and ends as ARGUMENT says. */
#include "subject.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

void __cudaRegisterFunction(void **handle, const char *stub, char *device_stub, const char *name, int thread_limit,
                            uint3 *thread_id, uint3 *block_id, dim3 *block, dim3 *grid, int *warp_size);

struct gemms gemms;

void tell(const char *format, ...)
{
    char line[8192];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length > 0 && write(STDOUT_FILENO, line, (size_t)length) != length)
        _exit(98);
}

/* ---- calls ---- */

void call_begin(void)
{
    feclearexcept(FE_ALL_EXCEPT);
    feraiseexcept(FE_UNDERFLOW);
    fesetround(FE_UPWARD);
    errno = ERRNO_BEFORE;
}

void call_end(const char *where, const char *name, int result)
{
    int after = errno, flags = fetestexcept(FE_ALL_EXCEPT), rounding = fegetround();
    unsigned control = 0;
#ifdef __x86_64__
    unsigned short x87 = 0;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    control = (unsigned)x87 << 16 | (_mm_getcsr() & 0xffc0); /* with masks, flush to zero and denormals; no flags */
#endif
    fesetround(FE_TONEAREST);
    tell("results %s %s %d\n", where, name, result);
    tell("errno %s %s %d\n", where, name, after);
    tell("fenv %s %s %#x %#x %#x\n", where, name, (unsigned)flags, (unsigned)rounding, control);
}

void tell_sticky_error(const char *where)
{
    tell("sticky_error %s %d\n", where, (int)cudaPeekAtLastError());
}

static void kernel_stub(void)
{
}

const void *const registered_kernel = (const void *)kernel_stub;

static void register_kernel(void)
{
    static char name[] = "transcript_kernel";
    __cudaRegisterFunction(NULL, (const char *)kernel_stub, name, name, -1, NULL, NULL, NULL, NULL, NULL);
}

int launch(void)
{
    return cudaLaunchKernel((const void *)kernel_stub, (dim3){1, 1, 1}, (dim3){32, 1, 1}, NULL, 0, gemms.stream);
}

int refused(void)
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

/* The first of each kind starts things; the tenth is on the usual path. */
void call_all(const char *where)
{
    static const struct {
        const char *name;
        int (*call)(void);
    } kinds[] = {{"ex", ex},         {"sgemm", sgemm},     {"lt", lt},
                 {"launch", launch}, {"refused", refused}, {"wrong_size", wrong_size}};
    for (size_t i = 0; i < 10 * sizeof kinds / sizeof kinds[0]; i++)
        CALL(where, kinds[i / 10].name, kinds[i / 10].call());
    tell_sticky_error(where);
}

/* ---- endings ---- */

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

int scene_ending(const char *how)
{
    static pthread_key_t key;
    pthread_t other;
    signal(SIGUSR1, handled);
    signal(SIGPIPE, SIG_IGN);
    atexit(at_exit);
    if (!gemms_open(&gemms))
        return 3;
    call_all("main");
    raise(SIGUSR1);
    pthread_key_create(&key, at_thread_end);
    if (pthread_create(&other, NULL, thread, &key) != 0 || pthread_join(other, NULL) != 0)
        return 4;
    look("end");
    end(how ? how : "return");
    return 8;
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        int (*run)(const char *argument);
    } scenes[] = {{"ending", scene_ending},   {"threads", scene_threads},
                  {"calling", scene_calling}, {"destructors", scene_destructors},
                  {"errors", scene_errors},   {"capture", scene_capture},
                  {"large", scene_large},     {"handlers", scene_handlers},
                  {"jumps", scene_jumps},     {"late", scene_late},
                  {"loading", scene_loading}};
    tell("errno main start %d\n", errno);
    tell("fenv main start %#x %#x\n", (unsigned)fetestexcept(FE_ALL_EXCEPT), (unsigned)fegetround());
    look("start");
    register_kernel();
    for (size_t i = 0; count > 1 && i < sizeof scenes / sizeof scenes[0]; i++)
        if (!strcmp(scenes[i].name, arguments[1]))
            return scenes[i].run(arguments[2]);
    fprintf(stderr, "usage: subject SCENE [ARGUMENT]\n");
    return 2;
}
