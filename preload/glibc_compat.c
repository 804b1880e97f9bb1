/* SPDX-License-Identifier: Apache-2.0 */
/* glibc 2.32 to 2.34 moved these functions into libc, or made functions of inlines, under new versions. Linked as they are,
 * the library would not load on older systems than the one it was built on. The linker's --wrap sends every call of this
 * library here, where the old versions are asked for; old and new systems have them. A test holds the newest one needed.
 * dlsym() and its like are in real_dlsym.c.
 * WRAP(name, oldest version on x86-64, on aarch64, result, (parameters), (arguments)); names are repeated in CMakeLists.txt. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>

#if defined(__x86_64__)
#define OLD(x86_64, aarch64) x86_64
enum { STAT_VERSION = 1 }; /* _STAT_VER, gone from the headers */
#elif defined(__aarch64__)
#define OLD(x86_64, aarch64) aarch64
enum { STAT_VERSION = 0 };
#else
#error "which versions are the oldest on this architecture?"
#endif

#define WRAP(name, x86_64, aarch64, result, parameters, arguments)                                                     \
    result old_##name parameters;                                                                                      \
    __asm__(".symver old_" #name ", " #name "@GLIBC_" OLD(x86_64, aarch64));                                           \
    result __wrap_##name parameters;                                                                                   \
    result __wrap_##name parameters                                                                                    \
    {                                                                                                                  \
        return old_##name arguments;                                                                                   \
    }

/* clang-format off */
WRAP(dlclose, "2.2.5", "2.17", int, (void *handle), (handle))
WRAP(dladdr,  "2.2.5", "2.17", int, (const void *address, Dl_info *info), (address, info))
WRAP(dlinfo,  "2.3.3", "2.17", int, (void *handle, int request, void *info), (handle, request, info))
WRAP(pthread_create, "2.2.5", "2.17", int, (pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument), (thread, attributes, run, argument))
WRAP(pthread_join, "2.2.5", "2.17", int, (pthread_t thread, void **result), (thread, result))
WRAP(pthread_detach, "2.2.5", "2.17", int, (pthread_t thread), (thread))
WRAP(pthread_sigmask, "2.2.5", "2.17", int, (int how, const sigset_t *set, sigset_t *before), (how, set, before))
WRAP(pthread_attr_setstacksize, "2.2.5", "2.17", int, (pthread_attr_t *attributes, size_t bytes), (attributes, bytes))
WRAP(pthread_condattr_setclock, "2.3.3", "2.17", int, (pthread_condattr_t *attributes, clockid_t clock), (attributes, clock))
WRAP(pthread_key_create, "2.2.5", "2.17", int, (pthread_key_t *key, void (*destroy)(void *)), (key, destroy))
WRAP(pthread_getspecific, "2.2.5", "2.17", void *, (pthread_key_t key), (key))
WRAP(pthread_setspecific, "2.2.5", "2.17", int, (pthread_key_t key, const void *value), (key, value))
WRAP(pthread_setname_np, "2.12", "2.17", int, (pthread_t thread, const char *name), (thread, name))
WRAP(pthread_once, "2.2.5", "2.17", int, (pthread_once_t *once, void (*run)(void)), (once, run))

WRAP(__xstat,  "2.2.5", "2.17", int, (int version, const char *path, struct stat *status), (version, path, status))
WRAP(__fxstat, "2.2.5", "2.17", int, (int version, int fd, struct stat *status), (version, fd, status))
/* clang-format on */

/* Not every C library has these. Where musl's loader comes upon this library, in a program that a shell started under our
 * LD_PRELOAD, a name that it can't find would keep the program from running. There nothing is hooked (real_dlsym.c). */
int old_dladdr1(const void *address, Dl_info *info, void **extra, int flags) __attribute__((weak));
__asm__(".symver old_dladdr1, dladdr1@GLIBC_" OLD("2.3.3", "2.17"));
int __wrap_dladdr1(const void *address, Dl_info *info, void **extra, int flags);
int __wrap_dladdr1(const void *address, Dl_info *info, void **extra, int flags)
{
    return old_dladdr1 ? old_dladdr1(address, info, extra, flags) : 0;
}

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
    return __wrap___xstat(STAT_VERSION, path, status);
}

int __wrap_fstat(int fd, struct stat *status)
{
    return __wrap___fxstat(STAT_VERSION, fd, status);
}
