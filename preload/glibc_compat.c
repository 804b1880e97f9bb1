/* SPDX-License-Identifier: Apache-2.0 */
/* glibc 2.32 to 2.34 moved these functions into libc, or made functions of inlines, under new versions. Linked as they are,
 * the library would not load on older systems than the one it was built on. The linker's --wrap sends every call of this
 * library here. dlsym() and its like are in real_dlsym.c.
 *
 * Before 2.34 there are libpthread and libdl beside libc. They are not named as needed, since two more libraries to map are half
 * of what this one costs each of a program's helpers: a process that gets to call CUDA has them, its libraries need them, and
 * in any other this one does nothing. Nor are there references, even weak ones: linked on a new system they name
 * libc.so.6, and before 2.30 a loader that does not find them there looks no further and ends the program (glibc bug 24741). So each
 * is looked for at its first call: in libc's own tables, else in the library that had it.
 * WRAP(name, that library, result, (parameters), (arguments), what is answered where it is not to be had); names are
 * repeated in CMakeLists.txt. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "preload/real_dlsym.h"

#if defined(__x86_64__)
#define OLD(x86_64, aarch64) x86_64
enum { STAT_VERSION = 1 }; /* _STAT_VER, gone from the headers */
#elif defined(__aarch64__)
#define OLD(x86_64, aarch64) aarch64
enum { STAT_VERSION = 0 };
#else
#error "which versions are the oldest on this architecture?"
#endif

#define WRAP(name, library, result, parameters, arguments, missing)                                                    \
    result __wrap_##name parameters;                                                                                   \
    result __wrap_##name parameters                                                                                    \
    {                                                                                                                  \
        static _Atomic(void *) known;                                                                                  \
        result(*function) parameters;                                                                                  \
        *(void **)&function = atomic_load_explicit(&known, memory_order_acquire);                                      \
        if (__builtin_expect(!function, 0))                                                                            \
            *(void **)&function = find(library, #name, &known);                                                        \
        return function ? function arguments : missing;                                                                \
    }
#define LIBDL      "libdl.so.2"
#define LIBPTHREAD "libpthread.so.0"

/* A process that starts without these libraries may get them with its first one of CUDA, and RTLD_LOCAL. Looking for real
 * functions comes by here itself, for what is in libdl: until it has found some, there is none. */
static void *find_late(const char *file, const char *name)
{
    if (!strcmp(file, LIBDL) ? !__atomic_load_n(&real_dlsym.dlsym, __ATOMIC_ACQUIRE) : !real_dlsym_prepare())
        return NULL;
    int saved_errno = errno;
    void *library = real_dlsym.dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
    void *function = library ? real_dlsym.dlsym(library, name) : NULL;
    real_dlsym.dlerror(), real_dlsym.dlerror(); /* what our misses left there is not the host's; the second frees it */
    errno = saved_errno;
    return function;
}

static void *find(const char *file, const char *name, _Atomic(void *) *known)
{
    void *function = real_dlsym_in_libc(name);
    if (!function)
        function = find_late(file, name);
    atomic_store_explicit(known, function, memory_order_release);
    return function;
}

/* clang-format off */
WRAP(dlclose, LIBDL, int, (void *handle), (handle), -1)
WRAP(dladdr,  LIBDL, int, (const void *address, Dl_info *info), (address, info), 0)
WRAP(dladdr1, LIBDL, int, (const void *address, Dl_info *info, void **extra, int flags), (address, info, extra, flags), 0)
WRAP(pthread_create, LIBPTHREAD, int, (pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument), (thread, attributes, run, argument), EAGAIN)
WRAP(pthread_attr_setstacksize, LIBPTHREAD, int, (pthread_attr_t *attributes, size_t bytes), (attributes, bytes), ENOSYS)
WRAP(pthread_condattr_setclock, LIBPTHREAD, int, (pthread_condattr_t *attributes, clockid_t clock), (attributes, clock), ENOSYS)
WRAP(pthread_key_create, LIBPTHREAD, int, (pthread_key_t *key, void (*destroy)(void *)), (key, destroy), EAGAIN)
WRAP(pthread_setspecific, LIBPTHREAD, int, (pthread_key_t key, const void *value), (key, value), ENOMEM)
WRAP(pthread_setname_np, LIBPTHREAD, int, (pthread_t thread, const char *name), (thread, name), ENOSYS)
/* clang-format on */

/* The same for a thread, and in libc at all times; but for how it tells what was wrong. */
int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *before);
int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    int saved_errno = errno, error = sigprocmask(how, set, before) == 0 ? 0 : errno;
    errno = saved_errno;
    return error;
}

/* Functions of libc at all times, which stat() and fstat() were inlines of. */
int __xstat(int version, const char *path, struct stat *status);
int __fxstat(int version, int fd, struct stat *status);
__asm__(".symver __xstat, __xstat@GLIBC_" OLD("2.2.5", "2.17"));
__asm__(".symver __fxstat, __fxstat@GLIBC_" OLD("2.2.5", "2.17"));

/* Not every C library has this one. Where musl's loader comes upon this library, in a program that a shell
 * started under our LD_PRELOAD, a name that it can't find would keep the program from running. There nothing is hooked
 * (real_dlsym.c). */
int __register_atfork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void), void *library)
    __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));
int __wrap_pthread_atfork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void));
int __wrap_pthread_atfork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    return __register_atfork ? __register_atfork(before, in_parent, in_child, &__dso_handle) : ENOSYS;
}

int __wrap_stat(const char *path, struct stat *status);
int __wrap_fstat(int fd, struct stat *status);

int __wrap_stat(const char *path, struct stat *status)
{
    return __xstat(STAT_VERSION, path, status);
}

int __wrap_fstat(int fd, struct stat *status)
{
    return __fxstat(STAT_VERSION, fd, status);
}
