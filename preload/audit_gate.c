/* SPDX-License-Identifier: Apache-2.0 */
/* A binding always leads to a thunk, which says which copy of the library the call is for: which copies there are can only
 * be found out with the loader's lock, and is when the first call comes. */
#include "preload/audit_gate.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#include "preload/preload.h"
#include "preload/real_symbol.h"
#include "preload/settings.h"
#include "preload/symbol_lookup.h"

static _Atomic bool attached, constructed, disabled;

__attribute__((constructor)) static void open_gate(void)
{
    struct settings settings;
    int saved_errno = errno;
    settings_read(&settings);
    atomic_store(&disabled, settings.disable);
    atomic_store(&constructed, true);
    errno = saved_errno;
}

bool audit_gate_is_attached(void)
{
    return atomic_load(&attached);
}

PRELOAD_EXPORT void rooftap_audit_loaded(void)
{
    atomic_store(&attached, true);
    if (atomic_load(&constructed))
        real_symbol_after_load();
}

PRELOAD_EXPORT void *rooftap_audit_binding(const char *name, void *real)
{
    bool off = !atomic_load(&constructed) || atomic_load(&disabled) || atomic_load(&preload_off);
    return off ? NULL : symbol_lookup_thunk(name, real);
}
