/* SPDX-License-Identifier: Apache-2.0 */
/* Decides about names of our tables. A look-up in the order of the libraries (RTLD_DEFAULT, RTLD_NEXT, the program's own
 * handle) comes upon our exported wrapper, whether or not there is such a function without us: then what is behind us
 * decides. The C library keeps who asks by return address; what depends on that is left to a jump, never guessed. */
#include "preload/symbol_lookup.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "preload/driver_entries.h"
#include "preload/elf_symbol.h"
#include "preload/entries.h"
#include "preload/preload.h"
#include "preload/real_dlsym.h"
#include "preload/real_symbol.h"
#include "preload/settings.h"
#include "preload/vendor_libraries.h"

struct symbol_thunk_slot symbol_thunk_slots[SYMBOL_THUNKS];

/* ---- what is watched ---- */

enum watch { WATCH_UNKNOWN, WATCH_ON, WATCH_OFF, WATCH_LOST /* wanted, but what is behind us isn't known */ };
static _Atomic int watch;

static enum watch watch_now(void)
{
    int now = atomic_load_explicit(&watch, memory_order_relaxed);
    if (now == WATCH_UNKNOWN) {
        struct settings settings;
        settings_read(&settings);
        now = !settings.lookup || settings.disable ? WATCH_OFF : real_dlsym_is_known() ? WATCH_ON : WATCH_LOST;
        atomic_store_explicit(&watch, now, memory_order_relaxed);
    }
    return (enum watch)now;
}

static bool is_watched(void)
{
    return watch_now() == WATCH_ON && !atomic_load_explicit(&preload_off, memory_order_relaxed);
}

bool symbol_lookup_is_on(void)
{
    return is_watched() && real_dlsym_prepare();
}

bool symbol_lookup_is_lost(void)
{
    return watch_now() == WATCH_LOST;
}

/* ---- names: a table of ids by hash, filled at the first look-up that may be ours ---- */

enum { NAME_PLACES = 4096, NAME_LONGEST = 63 };
_Static_assert(NAME_PLACES > 4 * ENTRY_COUNT, "looking for what is not there ends soon");

static _Atomic uint16_t name_places[NAME_PLACES];
static _Atomic bool names_are_there;

static unsigned hash_of(const char *name, size_t *length) /* *LENGTH above NAME_LONGEST: none of ours */
{
    uint32_t hash = 2166136261u;
    size_t i = 0;
    for (; name[i] && i <= NAME_LONGEST; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    *length = i;
    return (hash ^ hash >> 15) % NAME_PLACES;
}

/* Threads that fill it together put each id in the same place, since all do it in the same order. */
static void fill_names(void)
{
    for (unsigned id = 1; id < ENTRY_COUNT; id++) {
        size_t length;
        unsigned place = hash_of(entry_name(id), &length);
        for (uint16_t seen; (seen = atomic_load(&name_places[place])) != 0 && seen != id;)
            place = (place + 1) % NAME_PLACES;
        atomic_store(&name_places[place], (uint16_t)id);
    }
    atomic_store_explicit(&names_are_there, true, memory_order_release);
}

static unsigned id_of(const char *name)
{
    size_t length;
    unsigned place = hash_of(name, &length), id;
    if (length > NAME_LONGEST)
        return ENTRY_NONE;
    if (!atomic_load_explicit(&names_are_there, memory_order_acquire))
        fill_names();
    for (; (id = atomic_load_explicit(&name_places[place], memory_order_relaxed)) != 0;
         place = (place + 1) % NAME_PLACES)
        if (!strcmp(entry_name(id), name))
            return id;
    return ENTRY_NONE;
}

/* ---- who is where ---- */

static const struct link_map *last_at_start; /* of those that the program was started with, none of which ever goes */

static const struct link_map *map_of(const void *address)
{
    Dl_info info;
    struct link_map *map = NULL;
    return dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

static const struct link_map *own_map(void)
{
    static _Atomic(const struct link_map *) own;
    const struct link_map *map = atomic_load_explicit(&own, memory_order_relaxed);
    if (!map) {
        map = map_of(&symbol_thunk_slots);
        atomic_store_explicit(&own, map, memory_order_relaxed);
    }
    return map;
}

__attribute__((constructor)) static void note_start(void)
{
    int saved_errno = errno;
    const struct link_map *map = own_map();
    while (map && map->l_next)
        map = map->l_next;
    last_at_start = map;
    errno = saved_errno;
}

static const struct link_map *first_map(void)
{
    const struct link_map *map = own_map();
    while (map && map->l_prev)
        map = map->l_prev;
    return map;
}

/* Before our constructor has run, only the part up to ourselves is known to stay. */
static bool is_from_start(const struct link_map *map)
{
    const struct link_map *last = last_at_start ? last_at_start : own_map();
    for (const struct link_map *m = first_map(); m; m = m == last ? NULL : m->l_next)
        if (m == map)
            return true;
    return false;
}

/* MAP comes before this library, and nothing between the two defines NAME. */
static bool meets_us_next(const struct link_map *map, const char *name)
{
    const struct link_map *m = first_map(), *own = own_map();
    while (m && m != map && m != own)
        m = m->l_next;
    if (!m || m == own)
        return false;
    for (m = m->l_next; m && m != own; m = m->l_next)
        if (elf_symbol_find(m, name))
            return false;
    return m == own;
}

static bool is_vendor(const struct link_map *map)
{
    return vendor_library_is(elf_symbol_soname(map));
}

/* ---- wrappers and thunks ---- */

/* clang-format off */
#define ADDRESS(symbol) extern const char address_##symbol[] __asm__(#symbol);
#define CALL(symbol, ...)                    ADDRESS(symbol)
#define CALL_LEGACY(symbol, ...)             ADDRESS(symbol)
#define DESCRIPTOR(symbol, ...)              ADDRESS(symbol)
#define LAUNCH(result, missing, symbol, ...) ADDRESS(symbol)
#define NOTED(result, missing, symbol, ...)  ADDRESS(symbol)
#define LOOKUP(result, missing, symbol, ...) ADDRESS(symbol)
#include "preload/cublas_calls.def"
#include "preload/launch_calls.def"
#include "preload/lookup_calls.def"
#define CLIENT(symbol, ...)                  ADDRESS(symbol)
#include "preload/cupti_calls.def"
#define COPY(result, missing, symbol, ...)   ADDRESS(symbol)
#define ENDS(result, missing, symbol, ...)   ADDRESS(symbol)
#include "preload/copy_calls.def"
#define GRAPH(result, missing, symbol, ...)  ADDRESS(symbol)
#include "preload/capture_calls.def"

static const char *const wrappers[ENTRY_COUNT] = {
#define CALL(symbol, ...)                    [ENTRY_##symbol] = address_##symbol,
#define CALL_LEGACY(symbol, ...)             [ENTRY_##symbol] = address_##symbol,
#define DESCRIPTOR(symbol, ...)              [ENTRY_##symbol] = address_##symbol,
#define LAUNCH(result, missing, symbol, ...) [ENTRY_##symbol] = address_##symbol,
#define NOTED(result, missing, symbol, ...)  [ENTRY_##symbol] = address_##symbol,
#define LOOKUP(result, missing, symbol, ...) [ENTRY_##symbol] = address_##symbol,
#include "preload/cublas_calls.def"
#include "preload/launch_calls.def"
#include "preload/lookup_calls.def"
#define CLIENT(symbol, ...)                  [ENTRY_##symbol] = address_##symbol,
#include "preload/cupti_calls.def"
#define COPY(result, missing, symbol, ...)   [ENTRY_##symbol] = address_##symbol,
#define ENDS(result, missing, symbol, ...)   [ENTRY_##symbol] = address_##symbol,
#include "preload/copy_calls.def"
#define GRAPH(result, missing, symbol, ...)  [ENTRY_##symbol] = address_##symbol,
#include "preload/capture_calls.def"
};

static const char *const missing_names[ENTRY_COUNT] = {
#define CALL(symbol, ...)                    [ENTRY_##symbol] = #symbol SYMBOL_MISSING_MARK,
#define CALL_LEGACY(symbol, ...)             [ENTRY_##symbol] = #symbol SYMBOL_MISSING_MARK,
#define DESCRIPTOR(symbol, ...)              [ENTRY_##symbol] = #symbol SYMBOL_MISSING_MARK,
#define LAUNCH(result, missing, symbol, ...) [ENTRY_##symbol] = #symbol SYMBOL_MISSING_MARK,
#define NOTED(result, missing, symbol, ...)  [ENTRY_##symbol] = #symbol SYMBOL_MISSING_MARK,
#define LOOKUP(result, missing, symbol, ...) [ENTRY_##symbol] = #symbol SYMBOL_MISSING_MARK,
#include "preload/cublas_calls.def"
#include "preload/launch_calls.def"
#include "preload/lookup_calls.def"
#define CLIENT(symbol, ...)                  [ENTRY_##symbol] = #symbol SYMBOL_MISSING_MARK,
#include "preload/cupti_calls.def"
#define COPY(result, missing, symbol, ...)   [ENTRY_##symbol] = #symbol SYMBOL_MISSING_MARK,
#define ENDS(result, missing, symbol, ...)   [ENTRY_##symbol] = #symbol SYMBOL_MISSING_MARK,
#include "preload/copy_calls.def"
#define GRAPH(result, missing, symbol, ...)  [ENTRY_##symbol] = #symbol SYMBOL_MISSING_MARK,
#include "preload/capture_calls.def"
};

/* clang-format on */

static void *wrapper_of(unsigned id)
{
    return (void *)(uintptr_t)wrappers[id];
}

static void *thunk_of(size_t i)
{
    return (void *)(uintptr_t)(symbol_thunks + i * SYMBOL_THUNK_BYTES);
}

/* The thunk that leads to wrapper ID for REAL. A thunk stays what it is: hosts keep pointers. NULL: none is left. */
static void *thunk_for(unsigned id, void *real)
{
    const void *wrapper = wrappers[id];
    for (size_t i = 0; i < SYMBOL_THUNKS; i++) {
        struct symbol_thunk_slot *slot = &symbol_thunk_slots[i];
        const void *seen = NULL;
        void *holds = __atomic_load_n(&slot->real, __ATOMIC_ACQUIRE);
        if (!holds)
            __atomic_compare_exchange_n(&slot->real, &holds, real, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
        if (holds && holds != real)
            continue;
        if (__atomic_compare_exchange_n(&slot->wrapper, &seen, wrapper, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
            seen == wrapper)
            return thunk_of(i);
    }
    return NULL;
}

/* REAL is what a linked program calls: the first NAME behind us, of the libraries that were there at the start. */
static bool is_next(const char *name, const void *real)
{
    for (const struct link_map *m = own_map()->l_next; m && last_at_start; m = m == last_at_start ? NULL : m->l_next) {
        const void *symbol = elf_symbol_find(m, name);
        if (symbol)
            return symbol == real;
    }
    return false;
}

/* Then a pointer that was looked up has to be the one that the program compiled in. */
static bool is_called_by_all(unsigned id, void *real)
{
    void *known = real_symbol_known(id);
    if (known == real)
        return true;
    return !known && is_next(entry_name(id), real) && real_symbol_claim(id, real);
}

static void *stand_before(unsigned id, void *real)
{
    real_symbol_look_for_copies();
    if (is_called_by_all(id, real))
        return wrapper_of(id);
    void *thunk = thunk_for(id, real);
    if (!thunk)
        driver_entries_escaped(entry_name(id));
    return thunk;
}

void *symbol_lookup_thunk(const char *name, void *real)
{
    unsigned id = id_of(name);
    void *thunk = id == ENTRY_NONE ? NULL : thunk_for(id, real);
    if (id != ENTRY_NONE && !thunk)
        driver_entries_escaped(entry_name(id));
    return thunk;
}

bool symbol_lookup_leads_into(uintptr_t start, uintptr_t end)
{
    for (size_t i = 0; i < SYMBOL_THUNKS; i++) {
        uintptr_t real = (uintptr_t)__atomic_load_n(&symbol_thunk_slots[i].real, __ATOMIC_ACQUIRE);
        if (!real)
            break; /* they are taken in order */
        if (start <= real && real < end)
            return true;
    }
    return false;
}

bool symbol_lookup_is_vendor(const void *caller)
{
    const struct link_map *map = map_of(caller);
    return map && is_vendor(map);
}

void *symbol_lookup_wrapper(unsigned id, void *real, const void *caller)
{
    const struct link_map *owner = map_of(real);
    if (!is_watched() || !owner || owner == own_map() || symbol_lookup_is_vendor(caller))
        return NULL;
    int kind = vendor_library_named(elf_symbol_soname(owner));
    return kind >= 0 && kind == vendor_library_of(entry_name(id)) ? stand_before(id, real) : NULL;
}

/* ---- answers ---- */

struct question {
    void *handle;
    const char *name, *version; /* version: NULL if none was asked for */
    const struct link_map *caller;
    unsigned id;
};

static struct symbol_answer as_it_is(const struct question *q)
{
    return (struct symbol_answer){NULL, q->name};
}

/* Without us there is no such function. */
static struct symbol_answer missing(const struct question *q)
{
    return (struct symbol_answer){NULL, q->version ? q->name : missing_names[q->id]};
}

static struct symbol_answer found(void *symbol)
{
    real_dlsym.dlerror(), real_dlsym.dlerror(); /* what tries left there; the second frees it */
    return (struct symbol_answer){symbol, NULL};
}

static void *ask(const struct question *q, void *handle)
{
    return q->version ? real_dlsym.dlvsym(handle, q->name, q->version) : real_dlsym.dlsym(handle, q->name);
}

/* REAL is what the C library has to say without us; OTHERWISE: what if it is no function of NVIDIA's. */
static struct symbol_answer answer_with(const struct question *q, void *real, void *otherwise)
{
    const struct link_map *owner = map_of(real);
    if (!owner || owner == q->caller || (q->caller && is_vendor(q->caller)))
        return found(real);
    int kind = vendor_library_named(elf_symbol_soname(owner));
    if (kind < 0 || kind != vendor_library_of(q->name))
        return found(otherwise);
    void *wrapper = stand_before(q->id, real);
    return found(wrapper ? wrapper : real);
}

/* A library that was opened RTLD_LOCAL sees what it was linked to. */
static void *ask_near_caller(const struct question *q)
{
    if (!q->caller || !q->caller->l_name || !*q->caller->l_name)
        return NULL;
    void *handle = dlopen(q->caller->l_name, RTLD_LAZY | RTLD_NOLOAD);
    void *symbol = handle ? ask(q, handle) : NULL;
    if (handle)
        dlclose(handle);
    return symbol && map_of(symbol) != own_map() ? symbol : NULL;
}

/* The order of the libraries leads to us: what is behind? */
static struct symbol_answer answer_behind(const struct question *q)
{
    void *real = ask(q, RTLD_NEXT);
    if (!real && q->handle == RTLD_DEFAULT)
        real = ask_near_caller(q);
    /* Opened with others as their dependency, it sees theirs too, and we don't know whose. */
    if (!real && !q->version && q->handle == RTLD_DEFAULT && q->caller && !is_from_start(q->caller))
        real = real_symbol_in_named(q->name);
    if (!real)
        return missing(q);
    return answer_with(q, real, q->version ? real : wrapper_of(q->id));
}

static struct symbol_answer answer_default(const struct question *q)
{
    void *first = ask(q, RTLD_DEFAULT); /* versioned, it is never one of ours */
    if (q->version)
        return first ? answer_with(q, first, first) : answer_behind(q);
    return first && map_of(first) == own_map() ? answer_behind(q) : as_it_is(q);
}

static struct symbol_answer answer_next(const struct question *q)
{
    return q->caller && meets_us_next(q->caller, q->name) ? answer_behind(q) : as_it_is(q);
}

static struct symbol_answer answer_handle(const struct question *q)
{
    void *real =
        q->version ? real_dlsym_next.dlvsym(q->handle, q->name, q->version) : real_dlsym_next.dlsym(q->handle, q->name);
    if (!real)
        return (struct symbol_answer){NULL,
                                      NULL}; /* with an error text that names the handle's library, as it should */
    return map_of(real) == own_map() ? answer_behind(q) : answer_with(q, real, real);
}

static struct symbol_answer answer(void *handle, const char *name, const char *version, const void *caller)
{
    unsigned id = id_of(name);
    struct question q = {.handle = handle, .name = name, .version = version, .id = id};
    if (id == ENTRY_NONE || !is_watched() || !real_dlsym_prepare())
        return as_it_is(&q);
    int saved_errno = errno;
    q.caller = map_of(caller);
    struct symbol_answer result = handle == RTLD_DEFAULT ? answer_default(&q)
                                  : handle == RTLD_NEXT  ? answer_next(&q)
                                                         : answer_handle(&q);
    errno = saved_errno;
    return result;
}

struct symbol_answer symbol_lookup(void *handle, const char *name, const void *caller)
{
    return answer(handle, name, NULL, caller);
}

/* Without a version the C library says what is wrong. */
struct symbol_answer symbol_lookup_version(void *handle, const char *name, const char *version, const void *caller)
{
    return version ? answer(handle, name, version, caller) : (struct symbol_answer){NULL, name};
}

char *symbol_lookup_error(char *text)
{
    size_t length = text ? strlen(text) : 0, mark = strlen(SYMBOL_MISSING_MARK);
    if (length > mark && !strcmp(text + length - mark, SYMBOL_MISSING_MARK))
        text[length - mark] = '\0';
    return text;
}
