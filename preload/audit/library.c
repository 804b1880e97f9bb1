/* SPDX-License-Identifier: Apache-2.0 */
/* librooftap-audit.so, for LD_AUDIT: the loader asks it about every function that is bound (rtld-audit(7)), also where a
 * library was opened RTLD_DEEPBIND and so never sees a preload. What would be bound to one of NVIDIA's libraries from
 * outside of them is offered to librooftap.so, which has the hooks. The program's own namespace only: another one
 * (dlmopen) has another C library, whose threads' data would be mixed up with that of the first.
 *
 * No C library here: the loader would map another one for this namespace. Nothing is stored but two addresses. */
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "preload/audit_gate.h"
#include "preload/elf_symbol.h"
#include "preload/vendor_libraries.h"

#define EXPORT __attribute__((visibility("default")))

/* LAV_CURRENT was 1 until glibc 2.34 and is 2 since; the difference is in registers that are not looked at here. */
enum { NEWEST_KNOWN_VERSION = 2 };

static audit_gate_loaded *loaded;
static audit_gate_binding *binding;

EXPORT unsigned la_version(unsigned version)
{
    return version <= NEWEST_KNOWN_VERSION ? version : 0; /* 0: the loader goes on without us */
}

static void take_gate(const struct link_map *map)
{
    void *loaded_there = elf_symbol_find(map, AUDIT_GATE_LOADED),
         *binding_there = elf_symbol_find(map, AUDIT_GATE_BINDING);
    if (!loaded_there || !binding_there)
        return; /* of another version */
    __atomic_store_n((void **)&loaded, loaded_there, __ATOMIC_RELEASE);
    __atomic_store_n((void **)&binding, binding_there, __ATOMIC_RELEASE);
}

static void tell_loaded(void)
{
    audit_gate_loaded *tell = __atomic_load_n(&loaded, __ATOMIC_ACQUIRE);
    if (tell)
        tell();
}

/* What a library's cookie says. The flags that la_objopen() returns don't do: of a dlsym() the loader tells where either
 * of them is set (glibc 2.36, elf/dl-audit.c), and this library's own look-ups would lead back to it. */
enum { COOKIE_ASKS = 1, COOKIE_LIBRARY = 2 }; /* or several of the latter: which of NVIDIA's it is, from 1 */

EXPORT unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
    const char *soname = elf_symbol_soname(map);
    int kind = vendor_library_named(soname);
    *cookie = 0;
    if (namespace != LM_ID_BASE)
        return 0;
    if (!strcmp(soname, "librooftap.so")) {
        take_gate(map);
        tell_loaded();
        return 0;
    }
    if (kind >= 0) {
        tell_loaded();
        *cookie = COOKIE_LIBRARY * (uintptr_t)(kind + 1);
        return LA_FLG_BINDTO;
    }
    if (vendor_library_is(soname))
        return 0;
    *cookie = COOKIE_ASKS;
    return LA_FLG_BINDFROM;
}

#if __ELF_NATIVE_CLASS != 64
#error "la_symbind32() is not here"
#endif

EXPORT uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to, unsigned *flags,
                              const char *name)
{
    (void)index;
    *flags |= LA_SYMB_NOPLTENTER | LA_SYMB_NOPLTEXIT;
    audit_gate_binding *ask = __atomic_load_n(&binding, __ATOMIC_ACQUIRE);
    bool concerns_us = *from == COOKIE_ASKS && *to && symbol->st_value &&
                       *to == COOKIE_LIBRARY * (uintptr_t)(vendor_library_of(name) + 1);
    void *hook = ask && concerns_us ? ask(name, (void *)symbol->st_value) : NULL;
    return hook ? (uintptr_t)hook : symbol->st_value;
}
