/* SPDX-License-Identifier: Apache-2.0 */
/* Three ways, the cheapest first. RTLD_NEXT finds what the program is linked to, but is blind where libraries were opened
 * RTLD_LOCAL, as Python opens all of them. RTLD_NOLOAD finds those by the names that NVIDIA gives them. Last, the library
 * that called us must have the function among its own dependencies, whatever these are called. */
#include "preload/real_symbol.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <time.h>

#include "preload/elf_symbol.h"
#include "preload/vendor_libraries.h"

enum {
    COPIES = 32,  /* more than any process has; one too many is asked for without being remembered */
    CALLERS = 64, /* libraries whose calls are told apart; the same */
    SAME_STACK_BYTES = 1 << 20,
    SETTLED_SECONDS = 2,
};

_Atomic(void *) real_symbol_table[SYMBOL_COUNT];
_Thread_local struct real_symbol_pending real_symbol_pending __attribute__((tls_model("initial-exec")));
_Atomic int real_symbol_getters;
static _Atomic unsigned long missing_count;

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
    const char *const *soname = vendor_library_sonames(name);
    for (; soname && *soname; soname++) {
        void *symbol = find_in_loaded(name, *soname);
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
    _Atomic bool reached; /* one of its functions was found for a caller */
    _Atomic(void *) asked[SYMBOL_COUNT - ENTRY_COUNT];
};

static struct copy copies[COPIES];
static _Atomic bool callers_matter; /* there are two copies of one library: which is called depends on who calls */

/* What a calling library gets. Holds until something is loaded, for what comes may lie where this library was. */
struct caller {
    _Atomic unsigned sequence; /* 0: free; odd: being set */
    unsigned loads;
    uintptr_t start, end;
    _Atomic(void *) real[ENTRY_COUNT];
};

static struct caller callers[CALLERS];

static struct copy *copy_at(uintptr_t address)
{
    for (int i = 0; i < COPIES; i++)
        if (atomic_load_explicit(&copies[i].state, memory_order_acquire) == COPY_READY && copies[i].start <= address &&
            address < copies[i].end)
            return &copies[i];
    return NULL;
}

static void note_reached(const void *symbol)
{
    struct copy *copy = copy_at((uintptr_t)symbol);
    if (copy)
        atomic_store_explicit(&copy->reached, true, memory_order_relaxed);
}

bool real_symbol_is_reached(uintptr_t start, uintptr_t end)
{
    for (int i = 0; i < COPIES; i++)
        if (atomic_load_explicit(&copies[i].state, memory_order_acquire) == COPY_READY && start <= copies[i].start &&
            copies[i].start < end && atomic_load_explicit(&copies[i].reached, memory_order_relaxed))
            return true;
    return false;
}

static uintptr_t end_of(const struct dl_phdr_info *library)
{
    uintptr_t end = 0;
    for (int i = 0; i < library->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &library->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && part->p_vaddr + part->p_memsz > end)
            end = part->p_vaddr + part->p_memsz;
    }
    return library->dlpi_addr + end;
}

static void add_copy(uintptr_t start, uintptr_t end, int kind)
{
    for (int i = 0; i < COPIES; i++) {
        int is_free = COPY_FREE;
        if (!atomic_compare_exchange_strong(&copies[i].state, &is_free, COPY_BEING_SET))
            continue;
        copies[i].start = start;
        copies[i].end = end;
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

static const char *soname_of(const struct dl_phdr_info *library)
{
    struct link_map map = {.l_addr = library->dlpi_addr, .l_name = (char *)(uintptr_t)library->dlpi_name};
    for (int i = 0; i < library->dlpi_phnum; i++)
        if (library->dlpi_phdr[i].p_type == PT_DYNAMIC)
            map.l_ld = (void *)(library->dlpi_addr + library->dlpi_phdr[i].p_vaddr);
    return elf_symbol_soname(&map);
}

static int note_copy(struct dl_phdr_info *library, size_t bytes, void *unused)
{
    (void)bytes, (void)unused;
    int kind = library->dlpi_addr ? vendor_library_named(soname_of(library)) : -1;
    if (kind < 0 || copy_at(library->dlpi_addr))
        return 0;
    for (int i = 0; i < COPIES; i++)
        if (atomic_load(&copies[i].state) == COPY_READY && copies[i].kind == kind)
            tell_callers_apart();
    add_copy(library->dlpi_addr, end_of(library), kind);
    return 0;
}

/* ---- loading ---- */

static _Atomic unsigned loads_begun, loads_seen, loads_settled;
static _Atomic long last_load_seconds;
static _Atomic bool looked_at_all;
static _Atomic bool table_holds_some;

static long now_seconds(void)
{
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (long)now.tv_sec;
}

void real_symbol_before_load(void)
{
    atomic_store(&last_load_seconds, now_seconds());
    atomic_fetch_add(&loads_begun, 1);
    if (!atomic_exchange(&table_holds_some, false))
        return;
    for (unsigned id = 1; id < ENTRY_COUNT; id++)
        atomic_store_explicit(&real_symbol_table[id], NULL, memory_order_relaxed);
}

void real_symbol_look_for_copies(void)
{
    Dl_info info;
    bool settled = now_seconds() - atomic_load(&last_load_seconds) > SETTLED_SECONDS;
    unsigned begun = atomic_load(&loads_begun);
    bool is_known = atomic_load(&looked_at_all) && atomic_load(&loads_seen) == begun;
    if (is_known && (!settled || atomic_load(&loads_settled) == begun))
        return;
    dladdr((void *)&copies, &info); /* waits for a load of another thread to end */
    dl_iterate_phdr(note_copy, NULL);
    atomic_store(&loads_seen, begun);
    atomic_store(&looked_at_all, true);
    if (settled)
        atomic_store(&loads_settled, begun);
}

static _Atomic bool copies_may_have_come; /* of which only a call through a thunk may tell */

void real_symbol_after_load(void)
{
    real_symbol_before_load();
    atomic_store(&copies_may_have_come, true);
}

/* There is one copy, and none on its way. A load that another thread has begun may be of another copy until it was seen to
 * have ended, which nothing tells for certain: until some time has passed, callers are told apart. */
static bool callers_are_alike(void)
{
    return !atomic_load_explicit(&callers_matter, memory_order_acquire) &&
           atomic_load(&loads_settled) == atomic_load(&loads_begun);
}

/* ---- callers ---- */

static struct caller *caller_known(uintptr_t near, unsigned loads, unsigned *sequence)
{
    for (int i = 0; i < CALLERS; i++) {
        struct caller *caller = &callers[i];
        *sequence = atomic_load_explicit(&caller->sequence, memory_order_acquire);
        if (*sequence && !(*sequence & 1) && caller->loads == loads && caller->start <= near && near < caller->end)
            return caller;
    }
    return NULL;
}

struct range {
    uintptr_t near, start, end;
};

static int find_range(struct dl_phdr_info *library, size_t bytes, void *context)
{
    (void)bytes;
    struct range *range = context;
    bool is_here = false;
    uintptr_t start = UINTPTR_MAX;
    for (int i = 0; i < library->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &library->dlpi_phdr[i];
        uintptr_t from = library->dlpi_addr + part->p_vaddr;
        if (part->p_type != PT_LOAD)
            continue;
        is_here |= range->near - from < part->p_memsz;
        start = from < start ? from : start;
    }
    if (is_here)
        range->start = start, range->end = end_of(library);
    return is_here;
}

static struct caller *caller_add(uintptr_t near, unsigned loads, unsigned *sequence)
{
    struct range range = {.near = near};
    if (!dl_iterate_phdr(find_range, &range))
        return NULL;
    for (int i = 0; i < CALLERS; i++) {
        struct caller *caller = &callers[i];
        unsigned seen = atomic_load(&caller->sequence);
        if (seen & 1 || (seen && caller->loads == loads) ||
            !atomic_compare_exchange_strong(&caller->sequence, &seen, seen + 1))
            continue;
        for (unsigned id = 0; id < ENTRY_COUNT; id++)
            atomic_store_explicit(&caller->real[id], NULL, memory_order_relaxed);
        caller->loads = loads;
        caller->start = range.start;
        caller->end = range.end;
        *sequence = seen + 2;
        atomic_store(&caller->sequence, *sequence);
        return caller;
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
    unsigned loads = atomic_load(&loads_begun), sequence;
    struct caller *caller = caller_known((uintptr_t)near, loads, &sequence);
    void *symbol = caller ? atomic_load(&caller->real[id]) : NULL;
    if (symbol && atomic_load(&caller->sequence) == sequence)
        return symbol;
    if (!caller)
        caller = caller_add((uintptr_t)near, loads, &sequence);
    symbol = search(id, near, true);
    if (!symbol)
        return NULL;
    pin(symbol);
    note_reached(symbol);
    if (caller) {
        atomic_store(&caller->real[id], symbol);
        if (atomic_load(&caller->sequence) != sequence) /* it is another library's by now */
            atomic_store(&caller->real[id], NULL);
    }
    return symbol;
}

bool real_symbol_claim(unsigned id, void *real)
{
    void *nothing = NULL;
    if (id < ENTRY_COUNT && !callers_are_alike())
        return false;
    note_reached(real);
    bool claimed = atomic_compare_exchange_strong(&real_symbol_table[id], &nothing, real) || nothing == real;
    atomic_store(&table_holds_some, true);
    if (id < ENTRY_COUNT && !callers_are_alike()) /* since just now */
        atomic_store(&real_symbol_table[id], NULL);
    return claimed;
}

static void *find_for_all(unsigned id, const void *near)
{
    /* What we only ask: of the very library whose function was called. */
    void *symbol = search(id, near, id >= ENTRY_COUNT);
    if (!symbol)
        return NULL;
    pin(symbol);
    real_symbol_claim(id, symbol);
    return symbol;
}

void *real_symbol_find(unsigned id, const void *near)
{
    int saved_errno = errno;
    if (id < ENTRY_COUNT)
        real_symbol_look_for_copies();
    bool alike = id >= ENTRY_COUNT || callers_are_alike();
    void *symbol = alike ? find_for_all(id, near) : find_for_caller(id, near);
    if (!symbol)
        atomic_fetch_add_explicit(&missing_count, 1, memory_order_relaxed);
    dlerror(), dlerror(); /* what our misses left there is not the host's; the second frees it */
    errno = saved_errno;
    return symbol;
}

void *real_symbol_ask_slowly(unsigned id, const void *near)
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
    if (__builtin_expect(atomic_load_explicit(&copies_may_have_come, memory_order_relaxed), 0)) {
        int saved_errno = errno;
        atomic_store(&copies_may_have_come, false); /* first: another may come while we look */
        real_symbol_look_for_copies();
        errno = saved_errno;
    }
    return real;
}

unsigned long real_symbol_missing(void)
{
    return atomic_load_explicit(&missing_count, memory_order_relaxed);
}
