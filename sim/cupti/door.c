/* SPDX-License-Identifier: Apache-2.0 */
/* What stands before each entry point: faults, functions that the release has not yet, and what releases do without a
 * driver that works. */
#include "stand_in.h"

#include "sim/core/device.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>

static atomic_bool finalized;

void door_finalized(void)
{
    atomic_store(&finalized, true);
}

/* As measured with each release's package on a machine without a driver; RegisterCallbacks, timestamps and the version
 * work there until 13.3, from which on nothing does. */
static bool needs_driver(const char *function)
{
    static const char *const names[] = {"cuptiSubscribe",
                                        "cuptiSubscribe_v2",
                                        "cuptiActivityEnable",
                                        "cuptiActivityEnable_v2",
                                        "cuptiActivityEnableContext",
                                        "cuptiActivityFlushAll",
                                        "cuptiActivityFlushPeriod",
                                        "cuptiActivityGetAttribute",
                                        "cuptiActivitySetAttribute",
                                        "cuptiActivityRegisterTimestampCallback"};

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], function))
            return true;
    return false;
}

static int without_driver(const char *function)
{
    uint32_t release = release_now()->number;

    if (release >= CUPTI_STRINGS_UNSTARTED)
        return CUPTI_ERROR_UNKNOWN;
    if (!needs_driver(function))
        return CUPTI_SUCCESS;
    return release >= 1300 ? CUPTI_ERROR_UNKNOWN : CUPTI_ERROR_NOT_INITIALIZED;
}

/* 13.2 calls itself for ever where no driver works: its first function, whichever, ends the process. */
static void crash_if_it_would(void)
{
    bool unstarted = release_now()->number == CUPTI_CRASH_UNSTARTED && !simgpu_initialised();
    bool poisoned = fault_on(FAULT_POISONED) && atomic_load(&finalized);

    if (unstarted || poisoned)
        raise(SIGSEGV);
}

int door_refuses(const char *function, uint32_t release)
{
    int fault = simgpu_fault(function);

    if (fault)
        return fault;
    crash_if_it_would();
    if (fault_on(FAULT_STUB) && (fault = without_driver(function)))
        return fault;
    if (fault_on(FAULT_NEWER) && needs_driver(function))
        return CUPTI_ERROR_NOT_INITIALIZED;
    return release > release_now()->number ? CUPTI_ERROR_NOT_SUPPORTED
                                           : CUPTI_SUCCESS; /* quietly: it is asked for to see */
}
