/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of cupti_calls.def as other clients call them, through the PLT or by look-up, and what is done around each. */
#include "preload/cupti_clients.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cupti/other_clients.h"
#include "preload/elf_symbol.h"
#include "preload/entries.h"
#include "preload/preload.h"
#include "preload/real_symbol.h"

bool cupti_clients_share(const void *params)
{
    enum { ALLOW_MULTIPLE_AT = 32 }; /* allowMultipleSubscribers, from CUDA 13.2 on */
    size_t struct_size = 0;
    if (params)
        memcpy(&struct_size, params, sizeof struct_size);
    return struct_size > ALLOW_MULTIPLE_AT && ((const uint8_t *)params)[ALLOW_MULTIPLE_AT] == 1;
}

bool cupti_clients_before(const char *function, const void *caller, bool shares)
{
    int saved_errno = errno;
    Dl_info info;
    struct link_map *map = NULL;
    bool known = dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) && map;
    bool inside = known && !strncmp(elf_symbol_soname(map), "libcupti.so.", sizeof "libcupti.so." - 1);
    if (!inside)
        other_clients_before(function, known ? info.dli_fname : NULL, shares);
    errno = saved_errno;
    return !inside;
}

void cupti_clients_after(const char *function, bool shares, int result)
{
    int saved_errno = errno;
    other_clients_after(function, shares, result);
    errno = saved_errno;
}

/* clang-format off */

/* ---- prototypes ---- */
#define CLIENT(symbol, parameters, arguments, shares) PRELOAD_EXPORT int symbol parameters;
#include "preload/cupti_calls.def"

/* ---- bodies ---- */
#define CLIENT(symbol, parameters, arguments, shares_)                                                                   \
    int symbol parameters                                                                                                \
    {                                                                                                                    \
        int (*real) parameters = real_symbol_get(ENTRY_##symbol, __builtin_return_address(0));                           \
        if (!real)                                                                                                       \
            return CUPTI_CLIENTS_MISSING;                                                                                \
        const bool shares = (shares_);                                                                                   \
        bool counts = cupti_clients_before(#symbol, __builtin_return_address(0), shares);                                \
        int result = real arguments;                                                                                     \
        if (counts)                                                                                                      \
            cupti_clients_after(#symbol, shares, result);                                                                \
        return result;                                                                                                   \
    }
#include "preload/cupti_calls.def"

/* clang-format on */
