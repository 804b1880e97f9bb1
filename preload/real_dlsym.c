/* SPDX-License-Identifier: Apache-2.0 */
/* Since glibc 2.34 these functions are in libc.so.6, before that in libdl.so.2; both are loaded with the program, since this
 * library needs them. The list of what is loaded starts with the program and holds its start-up libraries in front, which
 * never go away; the walk ends before it leaves them. */
#include "preload/real_dlsym.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "preload/elf_symbol.h"

struct real_dlsym real_dlsym, real_dlsym_next;

static struct link_map *map_of(const void *address)
{
    Dl_info info;
    struct link_map *map = NULL;
    return dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

static bool take(const struct link_map *map, struct real_dlsym *found)
{
    *(void **)&found->dlsym = elf_symbol_find(map, "dlsym");
    *(void **)&found->dlvsym = elf_symbol_find(map, "dlvsym");
    *(void **)&found->dlerror = elf_symbol_find(map, "dlerror");
    *(void **)&found->dlopen = elf_symbol_find(map, "dlopen");
    return found->dlsym && found->dlvsym && found->dlerror && found->dlopen;
}

static bool is_c_library(const struct link_map *map)
{
    const char *soname = elf_symbol_soname(map);
    return !strncmp(soname, "libc.so.", 8) || !strncmp(soname, "libdl.so.", 9);
}

static bool find(const struct link_map *own, struct real_dlsym *found)
{
    const struct link_map *map = own;
    while (map && map->l_prev)
        map = map->l_prev;
    for (; map; map = map->l_next)
        if (map != own && is_c_library(map) && take(map, found))
            return true;
    return false;
}

/* NAME as it is after this library; FOUND if there is nothing else. */
static void *next(const struct link_map *own, const char *name, void *found)
{
    void *symbol = real_dlsym.dlsym(RTLD_NEXT, name);
    return symbol && map_of(symbol) != own ? symbol : found;
}

bool real_dlsym_prepare(void)
{
    if (__atomic_load_n(&real_dlsym_next.dlsym, __ATOMIC_ACQUIRE))
        return true;
    struct real_dlsym found;
    const struct link_map *own = map_of(&real_dlsym);
    if (!own || !find(own, &found))
        return false;
    /* Threads that come here together store the same. */
    __atomic_store_n(&real_dlsym.dlvsym, found.dlvsym, __ATOMIC_RELAXED);
    __atomic_store_n(&real_dlsym.dlerror, found.dlerror, __ATOMIC_RELAXED);
    __atomic_store_n(&real_dlsym.dlopen, found.dlopen, __ATOMIC_RELAXED);
    __atomic_store_n(&real_dlsym.dlsym, found.dlsym, __ATOMIC_RELEASE);
    struct real_dlsym after;
    *(void **)&after.dlvsym = next(own, "dlvsym", *(void **)&found.dlvsym);
    *(void **)&after.dlerror = next(own, "dlerror", *(void **)&found.dlerror);
    *(void **)&after.dlopen = next(own, "dlopen", *(void **)&found.dlopen);
    *(void **)&after.dlsym = next(own, "dlsym", *(void **)&found.dlsym);
    __atomic_store_n(&real_dlsym_next.dlvsym, after.dlvsym, __ATOMIC_RELAXED);
    __atomic_store_n(&real_dlsym_next.dlerror, after.dlerror, __ATOMIC_RELAXED);
    __atomic_store_n(&real_dlsym_next.dlopen, after.dlopen, __ATOMIC_RELAXED);
    __atomic_store_n(&real_dlsym_next.dlsym, after.dlsym, __ATOMIC_RELEASE);
    return true;
}

/* ---- this library's own calls, which the linker's --wrap sends here ---- */

void *__wrap_dlsym(void *handle, const char *name);
void *__wrap_dlvsym(void *handle, const char *name, const char *version);
char *__wrap_dlerror(void);
void *__wrap_dlopen(const char *file, int mode);

void *__wrap_dlsym(void *handle, const char *name) /* RTLD_NEXT: after this library */
{
    return real_dlsym_prepare() ? real_dlsym.dlsym(handle, name) : NULL;
}

void *__wrap_dlvsym(void *handle, const char *name, const char *version)
{
    return real_dlsym_prepare() ? real_dlsym.dlvsym(handle, name, version) : NULL;
}

char *__wrap_dlerror(void)
{
    return real_dlsym_prepare() ? real_dlsym.dlerror() : NULL;
}

void *__wrap_dlopen(const char *file, int mode)
{
    return real_dlsym_prepare() ? real_dlsym.dlopen(file, mode) : NULL;
}
