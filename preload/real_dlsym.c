/* SPDX-License-Identifier: Apache-2.0 */
/* Since glibc 2.34 these functions are in libc.so.6, before that in libdl.so.2, which a program that looks names up was
 * linked with, or a library that it has opened. The list of what is loaded starts with the program and holds its start-up
 * libraries in front, which never go away; the walk mostly ends before it leaves them, or, where no such library is known,
 * looks through all of them as the loader did: what it finds is fit to pass a host's look-up on, but what stands there
 * isn't known. */
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

/* This library's own, by its dynamic section, where the loader can't be asked for it: musl's has no dladdr1(), and before
 * glibc 2.34 that is where dlsym() is. */
static int note_list(struct dl_phdr_info *program, size_t bytes, void *list)
{
    (void)bytes;
    for (int i = 0; i < program->dlpi_phnum; i++) {
        if (program->dlpi_phdr[i].p_type != PT_DYNAMIC)
            continue;
        const ElfW(Dyn) *d = (const ElfW(Dyn) *)(program->dlpi_addr + program->dlpi_phdr[i].p_vaddr);
        for (; d->d_tag != DT_NULL; d++)
            if (d->d_tag == DT_DEBUG && d->d_un.d_ptr)
                *(struct link_map **)list = ((const struct r_debug *)d->d_un.d_ptr)->r_map;
    }
    return 1; /* the program is the first, and the one that debuggers ask */
}

static struct link_map *own_map(void)
{
    static struct link_map *own;
    struct link_map *map = __atomic_load_n(&own, __ATOMIC_RELAXED);
    if (map)
        return map;
    dl_iterate_phdr(note_list, &map);
    while (map && map->l_ld != _DYNAMIC)
        map = map->l_next;
    __atomic_store_n(&own, map, __ATOMIC_RELAXED);
    return map;
}

/* What the C library calls itself where these functions are found. A test builds this library with other names. */
#ifndef REAL_DLSYM_C_LIBRARIES
#define REAL_DLSYM_C_LIBRARIES "libc.so.", "libdl.so."
#endif

static bool is_c_library(const struct link_map *map)
{
    static const char *const names[] = {REAL_DLSYM_C_LIBRARIES};
    const char *soname = elf_symbol_soname(map);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strncmp(soname, names[i], strlen(names[i])))
            return true;
    return false;
}

static bool is_whole(const struct real_dlsym *found)
{
    return found->dlsym && found->dlvsym && found->dlerror && found->dlopen;
}

static void take(const struct link_map *map, struct real_dlsym *found)
{
    void **const to[] = {(void **)&found->dlsym, (void **)&found->dlvsym, (void **)&found->dlerror,
                         (void **)&found->dlopen};
    static const char *const names[] = {"dlsym", "dlvsym", "dlerror", "dlopen"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!*to[i])
            *to[i] = elf_symbol_find(map, names[i]);
}

static void *find_no_version(void *handle, const char *name, const char *version)
{
    (void)handle, (void)name, (void)version;
    return NULL;
}

/* All four of one C library; else those that the host itself would have been bound to: the first of each. */
static bool find(const struct link_map *own, struct real_dlsym *found)
{
    const struct link_map *first = own;
    struct real_dlsym any = {0};
    while (first && first->l_prev)
        first = first->l_prev;
    for (const struct link_map *map = first; map; map = map->l_next) {
        struct real_dlsym here = {0};
        if (map == own)
            continue;
        take(map, is_c_library(map) ? &here : &any);
        if (is_whole(&here)) {
            here.is_known = true;
            *found = here;
            return true;
        }
    }
    if (!any.dlvsym) /* as in musl: nobody is bound to it then */
        any.dlvsym = find_no_version;
    *found = any;
    return is_whole(found);
}

/* NAME as it is after this library; FOUND if there is nothing else. */
static void *next(const struct link_map *own, const char *name, void *found)
{
    void *symbol = found == (void *)find_no_version ? NULL : real_dlsym.dlsym(RTLD_NEXT, name);
    return symbol && map_of(symbol) != own ? symbol : found;
}

bool real_dlsym_prepare(void)
{
    if (__atomic_load_n(&real_dlsym_next.dlsym, __ATOMIC_ACQUIRE))
        return true;
    struct real_dlsym found;
    const struct link_map *own = own_map();
    if (!own || !find(own, &found))
        return false;
    /* Threads that come here together store the same. */
    __atomic_store_n(&real_dlsym.dlvsym, found.dlvsym, __ATOMIC_RELAXED);
    __atomic_store_n(&real_dlsym.dlerror, found.dlerror, __ATOMIC_RELAXED);
    __atomic_store_n(&real_dlsym.dlopen, found.dlopen, __ATOMIC_RELAXED);
    __atomic_store_n(&real_dlsym.is_known, found.is_known, __ATOMIC_RELAXED);
    __atomic_store_n(&real_dlsym.dlsym, found.dlsym, __ATOMIC_RELEASE);
    struct real_dlsym after;
    *(void **)&after.dlvsym = next(own, "dlvsym", *(void **)&found.dlvsym);
    *(void **)&after.dlerror = next(own, "dlerror", *(void **)&found.dlerror);
    *(void **)&after.dlopen = next(own, "dlopen", *(void **)&found.dlopen);
    *(void **)&after.dlsym = next(own, "dlsym", *(void **)&found.dlsym);
    __atomic_store_n(&real_dlsym_next.dlvsym, after.dlvsym, __ATOMIC_RELAXED);
    __atomic_store_n(&real_dlsym_next.dlerror, after.dlerror, __ATOMIC_RELAXED);
    __atomic_store_n(&real_dlsym_next.dlopen, after.dlopen, __ATOMIC_RELAXED);
    __atomic_store_n(&real_dlsym_next.is_known, found.is_known, __ATOMIC_RELAXED);
    __atomic_store_n(&real_dlsym_next.dlsym, after.dlsym, __ATOMIC_RELEASE);
    return true;
}

bool real_dlsym_is_known(void)
{
    return real_dlsym_prepare() && __atomic_load_n(&real_dlsym.is_known, __ATOMIC_RELAXED);
}

void *real_dlsym_in_libc(const char *name)
{
    const struct link_map *map = own_map();
    while (map && map->l_prev)
        map = map->l_prev;
    while (map && strncmp(elf_symbol_soname(map), "libc.so.", 8) != 0)
        map = map->l_next;
    return map ? elf_symbol_find(map, name) : NULL;
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
