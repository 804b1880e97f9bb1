/* SPDX-License-Identifier: Apache-2.0 */
/* Three ways, the cheapest first. RTLD_NEXT finds what the program is linked to, but is blind where libraries were opened
 * RTLD_LOCAL, as Python opens all of them. RTLD_NOLOAD finds those by the names that NVIDIA gives them. Last, the library
 * that called us must have the function among its own dependencies, whatever these are called. */
#include "preload/real_symbol.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

enum {
    COPIES = 32,       /* more than any process has; one too many is asked for without being remembered */
    CALL_SITES = 2048, /* remembered where callers matter; the same */
    SAME_STACK_BYTES = 1 << 20,
};

_Atomic(void *) real_symbol_table[SYMBOL_COUNT];
_Thread_local struct real_symbol_pending real_symbol_pending;
_Atomic int real_symbol_getters;
static _Atomic unsigned long missing_count;

struct vendor_library {
    const char *prefix;     /* of the functions in it; the first row that fits holds */
    const char *named;      /* how its DT_SONAME starts */
    const char *sonames[4]; /* newest first */
};

/* clang-format off */
static const struct vendor_library vendor_libraries[] = {
    {"cublasLt", "libcublasLt.so.", {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"}},
    {"cublas",   "libcublas.so.",   {"libcublas.so.13",   "libcublas.so.12",   "libcublas.so.11"}},
    {"cuda",     "libcudart.so.",   {"libcudart.so.13",   "libcudart.so.12",   "libcudart.so.11.0"}},
    {"__cuda",   "libcudart.so.",   {"libcudart.so.13",   "libcudart.so.12",   "libcudart.so.11.0"}},
    {"cu",       "libcuda.so.",     {"libcuda.so.1"}},
};
/* clang-format on */

enum { VENDOR_LIBRARIES = sizeof vendor_libraries / sizeof vendor_libraries[0] };

static const struct vendor_library *library_of(const char *name)
{
    for (size_t i = 0; i < VENDOR_LIBRARIES; i++)
        if (!strncmp(name, vendor_libraries[i].prefix, strlen(vendor_libraries[i].prefix)))
            return &vendor_libraries[i];
    return NULL;
}

int real_symbol_library_named(const char *soname)
{
    for (int i = 0; i < VENDOR_LIBRARIES; i++)
        if (!strncmp(soname, vendor_libraries[i].named, strlen(vendor_libraries[i].named)))
            return i;
    return -1;
}

int real_symbol_library(const char *function)
{
    const struct vendor_library *library = library_of(function);
    return library ? real_symbol_library_named(library->named) : -1;
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

void *real_symbol_in_named(const char *name)
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

/* ---- copies of libraries ---- */

enum copy_state { COPY_FREE, COPY_BEING_SET, COPY_READY };

struct copy {
    _Atomic int state; /* enum copy_state */
    int kind;
    uintptr_t start, end;
    _Atomic(void *) asked[SYMBOL_COUNT - ENTRY_COUNT];
};

static struct copy copies[COPIES];
static _Atomic bool callers_matter; /* there are two copies of one library: which is called depends on who calls */

/* Remembered for good, the first that come: a place in the program calls the same function every time. */
struct call_site {
    _Atomic(uintptr_t) key; /* return address and id; 0: free */
    _Atomic(void *) real;
};

static struct call_site call_sites[CALL_SITES];

static struct copy *copy_at(uintptr_t address)
{
    for (int i = 0; i < COPIES; i++)
        if (atomic_load_explicit(&copies[i].state, memory_order_acquire) == COPY_READY && copies[i].start <= address &&
            address < copies[i].end)
            return &copies[i];
    return NULL;
}

static uintptr_t end_of(const ElfW(Ehdr) * header)
{
    const ElfW(Phdr) *program = (const void *)((const char *)header + header->e_phoff);
    uintptr_t end = 0;
    for (int i = 0; i < header->e_phnum; i++)
        if (program[i].p_type == PT_LOAD && program[i].p_vaddr + program[i].p_memsz > end)
            end = program[i].p_vaddr + program[i].p_memsz;
    return (uintptr_t)header + end; /* a shared library starts at 0 */
}

static void add_copy(uintptr_t start, int kind)
{
    for (int i = 0; i < COPIES; i++) {
        int is_free = COPY_FREE;
        if (!atomic_compare_exchange_strong(&copies[i].state, &is_free, COPY_BEING_SET))
            continue;
        copies[i].start = start;
        copies[i].end = end_of((const void *)start);
        copies[i].kind = kind;
        atomic_store_explicit(&copies[i].state, COPY_READY, memory_order_release);
        return;
    }
}

/* From here on nothing is remembered for all callers. */
static void tell_callers_apart(void)
{
    atomic_store(&callers_matter, true);
    atomic_store(&real_symbol_getters, GETTERS_PER_LIBRARY);
    for (unsigned id = 1; id < ENTRY_COUNT; id++)
        atomic_store(&real_symbol_table[id], NULL);
}

void real_symbol_note_copy(const void *symbol, int kind)
{
    Dl_info info;
    if (kind < 0 || copy_at((uintptr_t)symbol) || !dladdr(symbol, &info))
        return;
    add_copy((uintptr_t)info.dli_fbase, kind);
    for (int i = 0; i < COPIES; i++)
        if (atomic_load(&copies[i].state) == COPY_READY && copies[i].kind == kind &&
            copies[i].start != (uintptr_t)info.dli_fbase)
            tell_callers_apart();
}

static struct call_site *call_site_of(uintptr_t key)
{
    size_t first = (key * 0x9e3779b97f4a7c15) >> 53;
    for (size_t i = 0; i < 8; i++) {
        struct call_site *site = &call_sites[(first + i) % CALL_SITES];
        uintptr_t seen = 0;
        if (atomic_load(&site->key) == key || atomic_compare_exchange_strong(&site->key, &seen, key) || seen == key)
            return site;
    }
    return NULL;
}

/* ---- looking ---- */

static void *search(unsigned id, const void *near, bool near_first)
{
    const char *name = entry_name(id);
    void *symbol = near_first ? find_near(name, near) : NULL;
    if (!symbol)
        symbol = foreign(dlsym(RTLD_NEXT, name));
    if (!symbol)
        symbol = real_symbol_in_named(name);
    if (!symbol)
        symbol = find_near(name, near);
    return symbol;
}

static void *find_for_caller(unsigned id, const void *near)
{
    struct call_site *site = call_site_of((uintptr_t)near << 16 ^ id);
    void *symbol = site ? atomic_load(&site->real) : NULL;
    if (symbol)
        return symbol;
    symbol = search(id, near, true);
    if (symbol)
        pin(symbol);
    if (site)
        atomic_store(&site->real, symbol);
    return symbol;
}

static void *find_for_all(unsigned id, const void *near)
{
    /* What we only ask: of the very library whose function was called. */
    void *symbol = search(id, near, id >= ENTRY_COUNT);
    if (!symbol)
        return NULL;
    pin(symbol);
    atomic_store_explicit(&real_symbol_table[id], symbol, memory_order_release);
    if (id < ENTRY_COUNT)
        real_symbol_note_copy(symbol, real_symbol_library(entry_name(id)));
    if (id < ENTRY_COUNT && atomic_load(&callers_matter)) /* this was the second copy, or another thread's just now */
        atomic_store(&real_symbol_table[id], NULL);
    return symbol;
}

void *real_symbol_find(unsigned id, const void *near)
{
    int saved_errno = errno;
    bool apart = id < ENTRY_COUNT && atomic_load_explicit(&callers_matter, memory_order_acquire);
    void *symbol = apart ? find_for_caller(id, near) : find_for_all(id, near);
    if (!symbol)
        atomic_fetch_add_explicit(&missing_count, 1, memory_order_relaxed);
    dlerror(), dlerror(); /* what our misses left there is not the host's; the second frees it */
    errno = saved_errno;
    return symbol;
}

void *real_symbol_ask(unsigned id, const void *near)
{
    if (!atomic_load_explicit(&callers_matter, memory_order_acquire)) {
        void *known = real_symbol_known(id);
        return known ? known : real_symbol_find(id, near);
    }
    struct copy *copy = copy_at((uintptr_t)near);
    void *symbol = copy ? atomic_load(&copy->asked[id - ENTRY_COUNT]) : NULL;
    if (symbol)
        return symbol;
    int saved_errno = errno;
    symbol = find_near(entry_name(id), near);
    if (copy)
        atomic_store(&copy->asked[id - ENTRY_COUNT], symbol);
    dlerror(), dlerror();
    errno = saved_errno;
    return symbol;
}

/* A signal handler may come in between thunk and wrapper, and it runs below; what is pending then is not its own. One that
 * lies below this wrapper is of a call that never arrived. */
void *real_symbol_take(void *real, uintptr_t frame)
{
    struct real_symbol_pending *pending = &real_symbol_pending;
    if (pending->stack == frame)
        real = pending->real;
    else if (frame - pending->stack > SAME_STACK_BYTES)
        return real;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    pending->stack = 0;
    return real;
}

unsigned long real_symbol_missing(void)
{
    return atomic_load_explicit(&missing_count, memory_order_relaxed);
}
