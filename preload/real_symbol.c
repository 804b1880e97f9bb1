/* SPDX-License-Identifier: Apache-2.0 */
/* Three ways, the cheapest first. RTLD_NEXT finds what the program is linked to, but is blind where libraries were opened
 * RTLD_LOCAL, as Python opens all of them. RTLD_NOLOAD finds those by the names that NVIDIA gives them. Last, the library
 * that called us must have the function among its own dependencies, whatever these are called. */
#include "preload/real_symbol.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

_Atomic(void *) real_symbol_table[SYMBOL_COUNT];
static _Atomic unsigned long missing_count;

struct vendor_library {
    const char *prefix;     /* of the functions in it; the first row that fits holds */
    const char *sonames[4]; /* newest first */
};

/* clang-format off */
static const struct vendor_library vendor_libraries[] = {
    {"cublasLt", {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"}},
    {"cublas",   {"libcublas.so.13",   "libcublas.so.12",   "libcublas.so.11"}},
    {"__cuda",   {"libcudart.so.13",   "libcudart.so.12",   "libcudart.so.11.0"}},
    {"cuda",     {"libcudart.so.13",   "libcudart.so.12",   "libcudart.so.11.0"}},
    {"cu",       {"libcuda.so.1"}},
};
/* clang-format on */

static const struct vendor_library *library_of(const char *name)
{
    for (size_t i = 0; i < sizeof vendor_libraries / sizeof vendor_libraries[0]; i++)
        if (!strncmp(name, vendor_libraries[i].prefix, strlen(vendor_libraries[i].prefix)))
            return &vendor_libraries[i];
    return NULL;
}

/* SYMBOL unless it is NULL or lies in this library. */
static void *foreign(void *symbol)
{
    Dl_info found, own;
    if (!symbol || !dladdr(symbol, &found))
        return NULL;
    if (dladdr((void *)&real_symbol_table, &own) && own.dli_fbase == found.dli_fbase)
        return NULL;
    return symbol;
}

static void *find_in_loaded(const char *name, const char *library)
{
    void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle)
        return NULL;
    void *symbol = foreign(dlsym(handle, name));
    dlclose(handle);
    return symbol;
}

static void *find_by_soname(const char *name)
{
    const struct vendor_library *library = library_of(name);
    for (size_t i = 0; library && i < 4 && library->sonames[i]; i++) {
        void *symbol = find_in_loaded(name, library->sonames[i]);
        if (symbol)
            return symbol;
    }
    return NULL;
}

/* dlsym() on a library searches it and what it depends on, never us: nothing depends on a preloaded library. */
static void *find_near(const char *name, const void *near)
{
    Dl_info info;
    struct link_map *map = NULL;
    if (!near || !dladdr1(near, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return NULL;
    return find_in_loaded(name, map->l_name && *map->l_name ? map->l_name : NULL);
}

/* A host may close the library and open it again elsewhere: what we point to has to stay. */
static void pin(const void *symbol)
{
    Dl_info info;
    struct link_map *map = NULL;
    if (dladdr1(symbol, &info, (void **)&map, RTLD_DL_LINKMAP) && map && map->l_name && *map->l_name) {
        void *handle = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
        if (handle)
            dlclose(handle);
    }
}

void *real_symbol_find(unsigned id, const void *near)
{
    int saved_errno = errno;
    const char *name = entry_name(id);
    void *symbol = NULL;
    if (id >= ENTRY_COUNT) /* asked: of the very library whose function was called */
        symbol = find_near(name, near);
    if (!symbol)
        symbol = foreign(dlsym(RTLD_NEXT, name));
    if (!symbol)
        symbol = find_by_soname(name);
    if (!symbol)
        symbol = find_near(name, near);
    if (symbol) {
        pin(symbol);
        atomic_store_explicit(&real_symbol_table[id], symbol, memory_order_release);
    } else {
        atomic_fetch_add_explicit(&missing_count, 1, memory_order_relaxed);
    }
    dlerror(), dlerror(); /* what our misses left there is not the host's; the second frees it */
    errno = saved_errno;
    return symbol;
}

unsigned long real_symbol_missing(void)
{
    return atomic_load_explicit(&missing_count, memory_order_relaxed);
}
