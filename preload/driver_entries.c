/* SPDX-License-Identifier: Apache-2.0 */
/* Two proofs that an answer has the arguments we know: it is the very function that the library exports under the name of
 * one of our entries, or the version asked for is one whose header we know. */
#include "preload/driver_entries.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "preload/elf_symbol.h"
#include "preload/entries.h"
#include "preload/real_symbol.h"
#include "preload/symbol_lookup.h"

enum { NEWEST_KNOWN_VERSION = 13000, FIRST_PER_THREAD_VERSION = 7000, NEVER = INT32_MAX };

/* From SINCE on and before UNTIL, NAME stands for these entries; ENTRY_NONE: it launches kernels, and we have no wrapper.
 * PFN_* types in cudaTypedefs.h of CUDA 13.0, which has one of them for each version that changed a function. */
struct driver_entry {
    const char *name;
    int since, until;
    unsigned entry, per_thread_entry;
};

/* clang-format off */
static const struct driver_entry driver_entries[] = {
    {"cuLaunchKernel",            4000,  NEVER, ENTRY_cuLaunchKernel,            ENTRY_cuLaunchKernel_ptsz},
    {"cuLaunchKernelEx",          11060, NEVER, ENTRY_cuLaunchKernelEx,          ENTRY_cuLaunchKernelEx_ptsz},
    {"cuLaunchCooperativeKernel", 9000,  NEVER, ENTRY_cuLaunchCooperativeKernel, ENTRY_cuLaunchCooperativeKernel_ptsz},
    {"cuGraphLaunch",             10000, NEVER, ENTRY_cuGraphLaunch,             ENTRY_cuGraphLaunch_ptsz},
    {"cuStreamBeginCapture",      10000, 10010, ENTRY_cuStreamBeginCapture,      ENTRY_cuStreamBeginCapture_ptsz},
    {"cuStreamBeginCapture",      10010, NEVER, ENTRY_cuStreamBeginCapture_v2,   ENTRY_cuStreamBeginCapture_v2_ptsz},
    {"cuStreamBeginCaptureToGraph", 12030, NEVER, ENTRY_cuStreamBeginCaptureToGraph, ENTRY_cuStreamBeginCaptureToGraph_ptsz},
    {"cuStreamEndCapture",        10000, NEVER, ENTRY_cuStreamEndCapture,        ENTRY_cuStreamEndCapture_ptsz},
    {"cuGraphInstantiate",        10000, 11000, ENTRY_cuGraphInstantiate,        ENTRY_cuGraphInstantiate},
    {"cuGraphInstantiate",        11000, 12000, ENTRY_cuGraphInstantiate_v2,     ENTRY_cuGraphInstantiate_v2},
    {"cuGraphInstantiate",        12000, NEVER, ENTRY_cuGraphInstantiateWithFlags, ENTRY_cuGraphInstantiateWithFlags},
    {"cuGraphInstantiateWithFlags", 11040, NEVER, ENTRY_cuGraphInstantiateWithFlags, ENTRY_cuGraphInstantiateWithFlags},
    {"cuGraphInstantiateWithParams", 12000, NEVER, ENTRY_cuGraphInstantiateWithParams, ENTRY_cuGraphInstantiateWithParams_ptsz},
    {"cuGraphExecUpdate",         10020, 12000, ENTRY_cuGraphExecUpdate,         ENTRY_cuGraphExecUpdate},
    {"cuGraphExecUpdate",         12000, NEVER, ENTRY_cuGraphExecUpdate_v2,      ENTRY_cuGraphExecUpdate_v2},
    {"cuGraphExecDestroy",        10000, NEVER, ENTRY_cuGraphExecDestroy,        ENTRY_cuGraphExecDestroy},
    {"cuGraphDestroy",            10000, NEVER, ENTRY_cuGraphDestroy,            ENTRY_cuGraphDestroy},
    {"cuGraphClone",              10000, NEVER, ENTRY_cuGraphClone,              ENTRY_cuGraphClone},
    {"cuGraphAddChildGraphNode",  10000, NEVER, ENTRY_cuGraphAddChildGraphNode,  ENTRY_cuGraphAddChildGraphNode},
    {"cuGraphAddKernelNode",      10000, 12000, ENTRY_cuGraphAddKernelNode,      ENTRY_cuGraphAddKernelNode},
    {"cuGraphAddKernelNode",      12000, NEVER, ENTRY_cuGraphAddKernelNode_v2,   ENTRY_cuGraphAddKernelNode_v2},
    {"cuGraphAddNode",            12020, 12030, ENTRY_cuGraphAddNode,            ENTRY_cuGraphAddNode},
    {"cuGraphAddNode",            12030, NEVER, ENTRY_cuGraphAddNode_v2,         ENTRY_cuGraphAddNode_v2},
    {"cuGraphExecKernelNodeSetParams", 10010, 12000, ENTRY_cuGraphExecKernelNodeSetParams, ENTRY_cuGraphExecKernelNodeSetParams},
    {"cuGraphExecKernelNodeSetParams", 12000, NEVER, ENTRY_cuGraphExecKernelNodeSetParams_v2, ENTRY_cuGraphExecKernelNodeSetParams_v2},
    {"cuGraphExecNodeSetParams",  12020, NEVER, ENTRY_cuGraphExecNodeSetParams,  ENTRY_cuGraphExecNodeSetParams},
    {"cuGraphKernelNodeSetParams", 10000, 12000, ENTRY_cuGraphKernelNodeSetParams, ENTRY_cuGraphKernelNodeSetParams},
    {"cuGraphKernelNodeSetParams", 12000, NEVER, ENTRY_cuGraphKernelNodeSetParams_v2, ENTRY_cuGraphKernelNodeSetParams_v2},
    {"cuGraphNodeSetParams",      12020, NEVER, ENTRY_cuGraphNodeSetParams,      ENTRY_cuGraphNodeSetParams},
    {"cuMemcpyHtoD",              3020,  NEVER, ENTRY_cuMemcpyHtoD_v2,           ENTRY_cuMemcpyHtoD_v2_ptds},
    {"cuMemcpyHtoDAsync",         3020,  NEVER, ENTRY_cuMemcpyHtoDAsync_v2,      ENTRY_cuMemcpyHtoDAsync_v2_ptsz},
    {"cuMemcpyDtoD",              3020,  NEVER, ENTRY_cuMemcpyDtoD_v2,           ENTRY_cuMemcpyDtoD_v2_ptds},
    {"cuMemcpyDtoDAsync",         3020,  NEVER, ENTRY_cuMemcpyDtoDAsync_v2,      ENTRY_cuMemcpyDtoDAsync_v2_ptsz},
    {"cuMemcpy",                  4000,  NEVER, ENTRY_cuMemcpy,                  ENTRY_cuMemcpy_ptds},
    {"cuMemcpyAsync",             4000,  NEVER, ENTRY_cuMemcpyAsync,             ENTRY_cuMemcpyAsync_ptsz},
    {"cuCtxDestroy",              2000,  4000,  ENTRY_cuCtxDestroy,              ENTRY_cuCtxDestroy},
    {"cuCtxDestroy",              4000,  NEVER, ENTRY_cuCtxDestroy_v2,           ENTRY_cuCtxDestroy_v2},
    {"cuDevicePrimaryCtxReset",   7000,  11000, ENTRY_cuDevicePrimaryCtxReset,   ENTRY_cuDevicePrimaryCtxReset},
    {"cuDevicePrimaryCtxReset",   11000, NEVER, ENTRY_cuDevicePrimaryCtxReset_v2, ENTRY_cuDevicePrimaryCtxReset_v2},
    {"cuDevicePrimaryCtxRelease", 7000,  11000, ENTRY_cuDevicePrimaryCtxRelease, ENTRY_cuDevicePrimaryCtxRelease},
    {"cuDevicePrimaryCtxRelease", 11000, NEVER, ENTRY_cuDevicePrimaryCtxRelease_v2, ENTRY_cuDevicePrimaryCtxRelease_v2},
    {"cuGetProcAddress",          11030, 12000, ENTRY_cuGetProcAddress,          ENTRY_cuGetProcAddress},
    {"cuGetProcAddress",          12000, NEVER, ENTRY_cuGetProcAddress_v2,       ENTRY_cuGetProcAddress_v2},
    {"cuLaunch",                                2000, NEVER, ENTRY_NONE, ENTRY_NONE},
    {"cuLaunchGrid",                            2000, NEVER, ENTRY_NONE, ENTRY_NONE},
    {"cuLaunchGridAsync",                       2000, NEVER, ENTRY_NONE, ENTRY_NONE},
    {"cuLaunchCooperativeKernelMultiDevice",    9000, NEVER, ENTRY_NONE, ENTRY_NONE},
};
/* clang-format on */
enum { DRIVER_ENTRIES = sizeof driver_entries / sizeof driver_entries[0] };

static _Atomic unsigned escaped_count;
static _Atomic(const char *) escaped_names[32]; /* each once; more are counted only */

unsigned driver_entries_find(const char *name, int version, int per_thread)
{
    for (int i = 0; i < DRIVER_ENTRIES && version <= NEWEST_KNOWN_VERSION; i++) {
        const struct driver_entry *row = &driver_entries[i];
        if (!strcmp(row->name, name) && row->since <= version && version < row->until)
            return per_thread && version >= FIRST_PER_THREAD_VERSION ? row->per_thread_entry : row->entry;
    }
    return ENTRY_NONE;
}

static const struct driver_entry *named(const char *name)
{
    for (int i = 0; i < DRIVER_ENTRIES; i++)
        if (!strcmp(driver_entries[i].name, name))
            return &driver_entries[i];
    return NULL;
}

/* FUNCTION is exported under the name of one of the entries that NAME may stand for. */
static unsigned exported_as(const char *name, const void *function)
{
    Dl_info info;
    struct link_map *map = NULL;
    if (!dladdr1(function, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return ENTRY_NONE;
    for (int i = 0; i < DRIVER_ENTRIES; i++) {
        const struct driver_entry *row = &driver_entries[i];
        if (strcmp(row->name, name) != 0 || row->entry == ENTRY_NONE)
            continue;
        if (elf_symbol_find(map, entry_name(row->entry)) == function)
            return row->entry;
        if (elf_symbol_find(map, entry_name(row->per_thread_entry)) == function)
            return row->per_thread_entry;
    }
    return ENTRY_NONE;
}

void driver_entries_escaped(const char *name)
{
    for (unsigned i = 0; i < sizeof escaped_names / sizeof escaped_names[0]; i++) {
        const char *seen = NULL;
        if (atomic_compare_exchange_strong(&escaped_names[i], &seen, name))
            break;
        if (!strcmp(seen, name))
            return;
    }
    atomic_fetch_add(&escaped_count, 1);
}

unsigned driver_entries_list_escaped(char *text, size_t bytes)
{
    size_t used = 0;
    if (bytes)
        *text = '\0';
    for (unsigned i = 0; i < sizeof escaped_names / sizeof escaped_names[0]; i++) {
        const char *name = atomic_load(&escaped_names[i]);
        int length = name ? snprintf(text + used, bytes - used, "%s%s", used ? ", " : "", name) : -1;
        if (length < 0 || (size_t)length >= bytes - used)
            break;
        used += (size_t)length;
    }
    return atomic_load(&escaped_count);
}

static void replace(const struct driver_entry *row, void **function, int version, int per_thread, const void *real,
                    const void *caller)
{
    unsigned entry = exported_as(row->name, *function);
    if (entry == ENTRY_NONE && version == 0) {
        int (*runtime_version)(int *) = real_symbol_ask(ASKED_cudaRuntimeGetVersion, real);
        if (!runtime_version || runtime_version(&version) != 0)
            version = NEVER;
    }
    if (entry == ENTRY_NONE)
        entry = driver_entries_find(row->name, version, per_thread);
    if (entry == ENTRY_NONE) {
        driver_entries_escaped(row->name);
        return;
    }
    void *wrapper = symbol_lookup_wrapper(entry, *function, caller);
    if (wrapper)
        *function = wrapper;
}

void driver_entries_given(const char *name, void **function, int version, int per_thread, const void *real,
                          const void *caller)
{
    const struct driver_entry *row = name && function && *function ? named(name) : NULL;
    if (!row || !symbol_lookup_is_on() || symbol_lookup_is_vendor(caller))
        return;
    int saved_errno = errno;
    replace(row, function, version, per_thread, real, caller);
    errno = saved_errno;
}
