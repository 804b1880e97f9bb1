/* SPDX-License-Identifier: Apache-2.0 */
/* Scenes of loading: a library that comes late and is closed again, and threads that open and close one all the time while
 * others call. */
#include "subject.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

enum { LOADERS = 4, CALLERS = 4, LOADS = 300, CALLS = 1000 };

/* SUBJECT_LATE names a library, of which only one of two runs' is the shim or pulls it in. */
int scene_late(const char *when)
{
    const char *path = getenv("SUBJECT_LATE");
    if (when && (!gemms_open(&gemms) || gemms_ex(&gemms, 8, 8, 8) != 0))
        return 3;
    for (int i = 0; i < 3; i++) {
        void *library = path ? dlopen(path, RTLD_NOW | (i == 1 ? RTLD_LOCAL : RTLD_GLOBAL)) : NULL;
        if (!library) {
            tell("results not opened: %s\n", path ? dlerror() : "SUBJECT_LATE is not set");
            return 4;
        }
        if (!gemms.blas && !gemms_open(&gemms))
            return 3;
        call_all("opened");
        tell("results closed %d\n", dlclose(library));
        call_all("closed");
    }
    look("end");
    return 8;
}

static const char *loaded;
static int wrong_loads, wrong_calls;

static void *load(void *unused)
{
    for (int i = 0; i < LOADS; i++) {
        void *library = dlopen(loaded, RTLD_NOW | RTLD_LOCAL);
        int (*answer)(void);
        *(void **)&answer = library ? dlsym(library, "module_answer") : NULL;
        bool good = answer && answer() == 42 && !dlsym(library, "no_such_function") && dlclose(library) == 0;
        __atomic_fetch_add(&wrong_loads, !good, __ATOMIC_RELAXED);
    }
    return unused;
}

static void *call(void *argument)
{
    struct gemms own = {0};
    int index = (int)(intptr_t)argument, wrong = !gemms_open(&own);
    for (int i = 0; i < CALLS && !wrong; i++)
        wrong +=
            gemms_ex(&own, 16 * (index + 1), 1 + i % 128, 8) != 0 || (i % 10 == 0 && gemms_lt(&own, 16, 8, 8) != 0);
    __atomic_fetch_add(&wrong_calls, wrong, __ATOMIC_RELAXED);
    return NULL;
}

int scene_loading(const char *module)
{
    pthread_t threads[LOADERS + CALLERS];
    loaded = module;
    for (int i = 0; i < LOADERS + CALLERS; i++)
        if (pthread_create(&threads[i], NULL, i < LOADERS ? load : call, (void *)(intptr_t)(i - LOADERS)) != 0)
            return 4;
    for (int i = 0; i < LOADERS + CALLERS; i++)
        pthread_join(threads[i], NULL);
    tell("results wrong loads %d, wrong calls %d\n", wrong_loads, wrong_calls);
    look("end");
    return 8;
}
