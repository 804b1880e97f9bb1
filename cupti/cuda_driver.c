/* SPDX-License-Identifier: Apache-2.0 */
/* Binds the driver's functions in the copy that is mapped already. */
#include "cupti/cuda_driver.h"

#include <dlfcn.h>
#include <stdatomic.h>

static struct cuda_driver driver_functions;
static _Atomic int driver_state; /* 0 not bound, 1 being bound, 2 bound */

static bool bind_functions(struct cuda_driver *driver, void *handle)
{
    bool complete = true;
#define FUNCTION(name, needed, parameters)                                                                             \
    *(void **)&driver->name = dlsym(handle, #name);                                                                    \
    complete = complete && (!(needed) || driver->name);
#include "cupti/cuda_driver_functions.def"
#undef FUNCTION
    return complete;
}

const struct cuda_driver *cuda_driver_bound(void)
{
    return atomic_load_explicit(&driver_state, memory_order_acquire) == 2 ? &driver_functions : NULL;
}

const struct cuda_driver *cuda_driver_mapped(void)
{
    if (cuda_driver_bound())
        return &driver_functions;
    int unbound = 0;
    if (!atomic_compare_exchange_strong(&driver_state, &unbound, 1))
        return unbound == 2 ? &driver_functions : NULL;
    /* The handle is kept: RTLD_NOLOAD took a reference, so the driver can't be unmapped under us. */
    void *handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    bool bound = handle && bind_functions(&driver_functions, handle);
    if (handle && !bound)
        dlclose(handle);
    dlerror(), dlerror(); /* what our misses left there is not the host's; the second frees it */
    atomic_store_explicit(&driver_state, bound ? 2 : 0, memory_order_release);
    return bound ? &driver_functions : NULL;
}

bool cuda_driver_is_initialized(const struct cuda_driver *driver)
{
    int count = 0;
    return driver && driver->cuDeviceGetCount(&count) == 0;
}
