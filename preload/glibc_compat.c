/* SPDX-License-Identifier: Apache-2.0 */
/* glibc 2.34 moved these functions from libdl and libpthread into libc under a new version. Linked as they are, the library
 * would not load on older systems than the one it was built on. The linker's --wrap sends every call of this library here,
 * where the old versions are asked for; both old and new systems have them. A test holds the newest version needed. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

#if defined(__x86_64__)
#define OLDEST "GLIBC_2.2.5"
#define OLDEST_DLADDR1 "GLIBC_2.3.3"
#elif defined(__aarch64__)
#define OLDEST "GLIBC_2.17"
#define OLDEST_DLADDR1 "GLIBC_2.17"
#else
#error "which version of dlsym is the oldest on this architecture?"
#endif

#define OLD_VERSION(function, version) __asm__(".symver old_" #function ", " #function "@" version)

/* clang-format off */
void *old_dlopen(const char *, int);                    OLD_VERSION(dlopen, OLDEST);
int old_dlclose(void *);                                OLD_VERSION(dlclose, OLDEST);
void *old_dlsym(void *, const char *);                  OLD_VERSION(dlsym, OLDEST);
char *old_dlerror(void);                                OLD_VERSION(dlerror, OLDEST);
int old_dladdr(const void *, Dl_info *);                OLD_VERSION(dladdr, OLDEST);
int old_dladdr1(const void *, Dl_info *, void **, int); OLD_VERSION(dladdr1, OLDEST_DLADDR1);
int old_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *); OLD_VERSION(pthread_create, OLDEST);
int old_pthread_attr_setstacksize(pthread_attr_t *, size_t); OLD_VERSION(pthread_attr_setstacksize, OLDEST);
int old_pthread_sigmask(int, const sigset_t *, sigset_t *);  OLD_VERSION(pthread_sigmask, OLDEST);

void *__wrap_dlopen(const char *, int);
int __wrap_dlclose(void *);
void *__wrap_dlsym(void *, const char *);
char *__wrap_dlerror(void);
int __wrap_dladdr(const void *, Dl_info *);
int __wrap_dladdr1(const void *, Dl_info *, void **, int);
int __wrap_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_attr_setstacksize(pthread_attr_t *, size_t);
int __wrap_pthread_sigmask(int, const sigset_t *, sigset_t *);

void *__wrap_dlopen(const char *file, int mode) { return old_dlopen(file, mode); }
int __wrap_dlclose(void *handle) { return old_dlclose(handle); }
void *__wrap_dlsym(void *handle, const char *name) { return old_dlsym(handle, name); } /* RTLD_NEXT: next after this library */
char *__wrap_dlerror(void) { return old_dlerror(); }
int __wrap_dladdr(const void *address, Dl_info *info) { return old_dladdr(address, info); }
int __wrap_dladdr1(const void *address, Dl_info *info, void **extra, int flags) { return old_dladdr1(address, info, extra, flags); }
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    return old_pthread_create(thread, attributes, run, argument);
}
int __wrap_pthread_attr_setstacksize(pthread_attr_t *attributes, size_t bytes) { return old_pthread_attr_setstacksize(attributes, bytes); }
int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *before) { return old_pthread_sigmask(how, set, before); }
/* clang-format on */
